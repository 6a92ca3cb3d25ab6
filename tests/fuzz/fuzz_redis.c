/* fuzz_redis.c - any bytes as commands for the Redis module, on a server that the test plays and
 * its replica, with all checks of serve/command_probe.h.
 *
 * An input is a script: one command a line, words between blanks, bytes as \xNN; OLTR. is put
 * before the first word where it is missing, and the word @ is the image of the first key.  An
 * input that begins with byte 1 drives the generator of commands instead.
 */
#include "command_probe.h"
#include "target.h"

#include <ctype.h>

enum { MOST_LINES = 64, MOST_STEPS = 200, LONGEST_WORD = 2048 };

static world *opened(void)
{
    static world w;
    static bool is_open;
    if (!is_open)
        world_open(&w, OLTR_MODULE, 1);
    is_open = true;
    return &w;
}

static int hex(int c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads one word; how many bytes of the line it takes. */
static size_t read_word(const uint8_t *at, size_t size, uint8_t *word, size_t *n)
{
    size_t i = 0;
    for (*n = 0; i < size && at[i] != ' ' && *n < LONGEST_WORD; i++)
        if (at[i] == '\\' && i + 3 < size && at[i + 1] == 'x' && hex(at[i + 2]) >= 0 &&
            hex(at[i + 3]) >= 0) {
            word[(*n)++] = (uint8_t)(16 * hex(at[i + 2]) + hex(at[i + 3]));
            i += 3;
        } else {
            word[(*n)++] = at[i];
        }
    return i;
}

static void add_name(command *c, const uint8_t *word, size_t n)
{
    char name[64];
    bool whole = n > 5 && (memcmp(word, "OLTR.", 5) == 0 || memcmp(word, "oltr.", 5) == 0);
    if (n >= 32)
        n = 32;
    memcpy(name, "OLTR.", 5);
    memcpy(name + (whole ? 0 : 5), word, n);
    add_bytes(c, name, n + (whole ? 0 : 5));
}

static void read_line(world *w, const uint8_t *at, size_t size)
{
    command *c = &w->g.command;
    begin_command(c, "");
    c->n = 0;
    c->changed = true; /* nothing is known of it */
    while (size > 0) {
        uint8_t word[LONGEST_WORD];
        size_t n, used = read_word(at, size, word, &n);
        if (c->n == 0)
            add_name(c, word, n);
        else if (n == 1 && word[0] == '@' && w->image[0].at)
            add_bytes(c, w->image[0].at, w->image[0].size);
        else
            add_bytes(c, word, n);
        used += used < size; /* the blank */
        at += used;
        size -= used;
    }
}

static bool is_command(const world *w)
{
    for (uint32_t i = 0; w->g.command.n > 0 && i < fake_command_count(w->master); i++)
        if (same_text(w->g.command.arg[0], text_of(fake_command_name(w->master, i))))
            return true;
    return false;
}

static void lower_first(command *c)
{
    unsigned char *at = (unsigned char *)(uintptr_t)c->arg[0].bytes;
    for (size_t i = 0; c->n > 0 && i < c->arg[0].size; i++)
        at[i] = (unsigned char)tolower(at[i]);
}

static void run_script(world *w, const uint8_t *data, size_t size)
{
    for (uint32_t line = 0; size > 0 && line < MOST_LINES; line++) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t)(end - data) : size;
        read_line(w, data, n);
        lower_first(&w->g.command);
        if (is_command(w))
            world_run(w);
        n += end != NULL;
        data += n;
        size -= n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    world *w = opened();
    bool drives = size > 0 && data[0] == 1;
    fake_new_chapter("an input of %zu bytes", size);
    world_reset(w, (chooser){.byte = drives ? data + 1 : data, .left = drives ? size - 1 : size});
    if (!drives)
        run_script(w, data, size);
    for (uint32_t i = 0; drives && i < MOST_STEPS && w->g.choose.left > 0; i++)
        world_step(w, 34);
    return 0;
}
