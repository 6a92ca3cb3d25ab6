/* module_entries.c - the module in a server that lacks an entry: the load is refused, and the log
 * names the entry.
 *
 * The server is this program: a context whose first word finds entries by name.  The first load
 * records which the module asks for; then each of them is missing once. usage: module_entries
 * MODULE
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { OK = 0, ERR = 1, MOST_ENTRIES = 200 };

typedef struct context {
    int (*find)(const char *name, void **to);
} context;
typedef int (*on_load)(context *ctx, void **argv, int argc);
typedef void (*entry)(void);

static char asked[MOST_ENTRIES][64], said[512];
static int n_asked, missing = -1;

static void log_line(context *ctx, const char *level, const char *format, ...)
{
    (void)ctx, (void)level;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
}

/* The first call after all entries are found; the module then ends its load. */
static int name_is_busy(const char *name)
{
    return strcmp(name, "oltr") == 0;
}

static void never_called(void)
{
}

static void give(entry function, void **to)
{
    memcpy(to, &function, sizeof function);
}

static int find(const char *name, void **to)
{
    int at = 0;
    while (at < n_asked && strcmp(asked[at], name) != 0)
        at++;
    if (at == n_asked && n_asked < MOST_ENTRIES)
        snprintf(asked[n_asked++], sizeof asked[0], "%s", name);
    *to = NULL;
    if (at == missing)
        return ERR;
    give(strcmp(name, "RedisModule_Log") == 0                ? (entry)log_line
         : strcmp(name, "RedisModule_IsModuleNameBusy") == 0 ? (entry)name_is_busy
                                                             : never_called,
         to);
    return OK;
}

/* Whether the load is refused, and the log says so if it can. */
static bool refused(on_load load)
{
    context ctx = {find};
    said[0] = 0;
    if (load(&ctx, NULL, 0) != ERR)
        return false;
    bool silent = missing < 0 || strcmp(asked[missing], "RedisModule_Log") == 0;
    return silent ? !said[0] : strstr(said, asked[missing]) != NULL;
}

int main(int argc, char **argv)
{
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    on_load load = NULL;
    void *found = module ? dlsym(module, "RedisModule_OnLoad") : NULL;
    memcpy(&load, &found, sizeof load);
    if (!load) {
        fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: module_entries MODULE");
        return 2;
    }
    bool good = refused(load) && n_asked > 40;
    for (missing = 0; good && missing < n_asked; missing++)
        good = refused(load);
    if (!good)
        fprintf(stderr, "without %s: the load was not refused, or not for that; the log: %s\n",
                missing > 0 ? asked[missing - 1] : "nothing", said);
    else
        printf("each of %d entries refuses the load when it is missing\n", n_asked);
    return !good;
}
