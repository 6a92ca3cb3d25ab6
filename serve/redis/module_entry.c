/* module_entry.c - the one function that the server finds: it registers the type, the commands, the
 * configuration and the counters. */
#include "serve/redis/commands.h"
#include "serve/redis/list_args.h"
#include "serve/redis/module_caps.h"
#include "serve/redis/module_stats.h"
#include "serve/redis/ranker_type.h"

static const int options =
    RM_HANDLE_IO_ERRORS              /* loading stops where reading fails */
    | RM_NO_IMPLICIT_SIGNAL_MODIFIED /* a refused write does not abort a WATCH */
    | RM_HANDLE_REPL_ASYNC_LOAD;     /* old and new models may be in memory at once */

static int refuse_arguments(rm_ctx *ctx)
{
    rm.Log(
        ctx, "warning",
        "oltr takes no arguments: set oltr.max-slots and the others in redis.conf, by CONFIG SET, "
        "or by MODULE LOADEX path CONFIG name value");
    return RM_ERR;
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(rm_ctx *ctx, rm_string **argv,
                                                              int argc);

int RedisModule_OnLoad(rm_ctx *ctx, rm_string **argv, int argc)
{
    (void)argv;
    if (module_api_bind(ctx) != RM_OK || rm.IsModuleNameBusy("oltr"))
        return RM_ERR;
    rm.SetModuleAttribs(ctx, "oltr", OLTR_MODULE_VERSION, RM_API_VERSION);
    if (argc > 0)
        return refuse_arguments(ctx);
    rm.SetModuleOptions(ctx, options);
    rng_register();
    if (ranker_type_register(ctx) != RM_OK || commands_register(ctx) != RM_OK ||
        module_stats_register(ctx) != RM_OK)
        return RM_ERR;
    return module_caps_register(ctx);
}
