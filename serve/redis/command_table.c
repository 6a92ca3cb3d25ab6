/* command_table.c - every command in one row: name, handler, flags, keys, and what COMMAND DOCS
 * says.
 *
 * The key specs are true: the server checks the rights of users and finds cluster slots by them.
 * Redis 7.0 finds slots by the first spec alone; for the parent of oltr.create, which has the flag
 * getkeys-api, it asks the command.
 */
#include "serve/redis/commands.h"

/* ---- keys */

#define FIRST_ARGUMENT                                                                             \
    .begin_search = RM_BEGIN_AT_INDEX, .begin.index.at = 1, .find_keys = RM_FIND_RANGE,            \
    .find.range = {0, 1, 0}

static const rm_key_spec read_key[] = {{.flags = RM_KEY_RO | RM_KEY_ACCESS, FIRST_ARGUMENT}, {0}};
static const rm_key_spec update_key[] = {{.flags = RM_KEY_RW | RM_KEY_UPDATE, FIRST_ARGUMENT}, {0}};
static const rm_key_spec delete_key[] = {{.flags = RM_KEY_RW | RM_KEY_DELETE, FIRST_ARGUMENT}, {0}};
static const rm_key_spec replace_key[] = {{.flags = RM_KEY_OW | RM_KEY_UPDATE, FIRST_ARGUMENT},
                                          {0}};
static const rm_key_spec create_keys[] = {{.flags = RM_KEY_OW | RM_KEY_INSERT, FIRST_ARGUMENT},
                                          {.notes = "the parent, behind LIKE",
                                           .flags = RM_KEY_RO | RM_KEY_ACCESS,
                                           .begin_search = RM_BEGIN_AT_KEYWORD,
                                           .begin.keyword = {"LIKE", 2},
                                           .find_keys = RM_FIND_RANGE,
                                           .find.range = {0, 1, 0}},
                                          {0}};
static const rm_key_spec no_key[] = {{0}};

/* ---- arguments: name, word in front of it, flags */

#define ARG(label, kind, word, bits, list)                                                         \
    {                                                                                              \
        .name = label, .type = kind, .token = word, .flags = bits, .parts = list                   \
    }
#define STRING(label, word, bits) ARG(label, RM_ARG_STRING, word, bits, NULL)
#define COUNT(label, word, bits) ARG(label, RM_ARG_INTEGER, word, bits, NULL)
#define NUMBER(label, word, bits) ARG(label, RM_ARG_DOUBLE, word, bits, NULL)
#define WORD(label, word, bits) ARG(label, RM_ARG_TOKEN, word, bits, NULL)
#define BLOCK(label, list, bits) ARG(label, RM_ARG_BLOCK, NULL, bits, list)
#define ONE_OF(label, list, bits) ARG(label, RM_ARG_ONE_OF, NULL, bits, list)
#define KEY ARG("key", RM_ARG_KEY, NULL, 0, NULL)
/* clang-format off */
#define END {.name = NULL}
/* clang-format on */
enum { ONCE = 0, MAYBE = RM_OPTIONAL, MANY = RM_MULTIPLE };

static const rm_arg items_args[] = {COUNT("n", "ITEMS", ONCE), STRING("id", NULL, MANY), END};
static const rm_arg fixed_args[] = {COUNT("size", "FIXED", ONCE), STRING("blob", NULL, ONCE), END};
static const rm_arg shown_forms[] = {BLOCK("items", items_args, ONCE),
                                     BLOCK("fixed", fixed_args, ONCE), STRING("rows", "FP32", ONCE),
                                     END};
static const rm_arg list_forms[] = {WORD("all", "ALL", ONCE), BLOCK("items", items_args, ONCE),
                                    BLOCK("fixed", fixed_args, ONCE), STRING("rows", "FP32", ONCE),
                                    END};
static const rm_arg fresh_args[] = {COUNT("most", "FRESH", ONCE), NUMBER("below", NULL, ONCE),
                                    COUNT("least", "LEAST", MAYBE), END};

static const rm_arg rank_args[] = {KEY,
                                   COUNT("k", NULL, ONCE),
                                   ONE_OF("list", list_forms, ONCE),
                                   STRING("seed", "SEED", MAYBE),
                                   WORD("withscores", "WITHSCORES", MAYBE),
                                   WORD("greedy", "GREEDY", MAYBE),
                                   BLOCK("fresh", fresh_args, MAYBE),
                                   END};
static const rm_arg propensity_args[] = {KEY,
                                         COUNT("k", NULL, ONCE),
                                         ONE_OF("list", list_forms, ONCE),
                                         COUNT("draws", "DRAWS", MAYBE),
                                         STRING("seed", "SEED", MAYBE),
                                         WORD("greedy", "GREEDY", MAYBE),
                                         BLOCK("fresh", fresh_args, MAYBE),
                                         END};
static const rm_arg list_args[] = {KEY, ONE_OF("list", list_forms, ONCE), END};

static const rm_arg clicks_args[] = {COUNT("n", "CLICKS", ONCE),
                                     COUNT("position", NULL, MAYBE | MANY), END};
static const rm_arg reward_forms[] = {BLOCK("clicks", clicks_args, ONCE),
                                      NUMBER("reward", "REWARDS", MANY), END};
static const rm_arg mask_args[] = {COUNT("n", "EXAMINED", ONCE),
                                   COUNT("position", NULL, MAYBE | MANY), END};
static const rm_arg seen_forms[] = {COUNT("depth", "SEEN", ONCE), BLOCK("mask", mask_args, ONCE),
                                    END};
static const rm_arg learn_args[] = {KEY,
                                    ONE_OF("list", shown_forms, ONCE),
                                    ONE_OF("feedback", reward_forms, ONCE),
                                    ONE_OF("examined", seen_forms, MAYBE),
                                    NUMBER("weight", "WEIGHTS", MAYBE | MANY),
                                    STRING("lesson", "ID", MAYBE),
                                    END};

static const rm_arg rule_words[] = {WORD("cascade", "CASCADE", ONCE), WORD("last", "LAST", ONCE),
                                    WORD("all", "ALL", ONCE), END};
static const rm_arg pair_args[] = {NUMBER("first", "PRIOR", ONCE), NUMBER("second", NULL, ONCE),
                                   END};
static const rm_arg setting_args[] = {STRING("name", NULL, ONCE), STRING("value", NULL, ONCE), END};
static const rm_arg kind_args[] = {
    STRING("kind", NULL, ONCE),
    COUNT("dim", "DIM", MAYBE),
    COUNT("candidates", "CANDIDATES", MAYBE),
    COUNT("capacity", "CAPACITY", MAYBE),
    COUNT("most", "MAXITEMS", MAYBE),
    COUNT("window", "WINDOW", MAYBE),
    ARG("rule", RM_ARG_ONE_OF, "EXAMINE", MAYBE, rule_words),
    BLOCK("prior", pair_args, MAYBE),
    ARG("parameter", RM_ARG_BLOCK, "SET", MAYBE | MANY, setting_args),
    END};
static const rm_arg like_args[] = {
    {.name = "parent", .type = RM_ARG_KEY, .key_spec = 1, .token = "LIKE"},
    NUMBER("strength", "STRENGTH", MAYBE),
    END};
static const rm_arg create_forms[] = {BLOCK("new", kind_args, ONCE), BLOCK("like", like_args, ONCE),
                                      END};
static const rm_arg create_args[] = {KEY, ONE_OF("model", create_forms, ONCE), END};

static const rm_arg item_prior_args[] = {STRING("id", NULL, ONCE), NUMBER("first", NULL, ONCE),
                                         NUMBER("second", NULL, ONCE), END};
static const rm_arg prior_args[] = {KEY, BLOCK("item", item_prior_args, MANY), END};
static const rm_arg names_args[] = {KEY, STRING("id", NULL, MANY), END};
static const rm_arg trim_args[] = {KEY, COUNT("lessons", "IDLE", ONCE), END};
static const rm_arg scan_args[] = {KEY, COUNT("cursor", NULL, ONCE), COUNT("count", "COUNT", MAYBE),
                                   END};
static const rm_arg forget_args[] = {KEY, NUMBER("keep", NULL, ONCE), STRING("id", "ID", MAYBE),
                                     END};
static const rm_arg merge_args[] = {KEY, STRING("image", NULL, ONCE), STRING("id", "ID", MAYBE),
                                    END};
static const rm_arg dump_args[] = {KEY, COUNT("lessons", "IFNEWER", MAYBE), END};
static const rm_arg load_args[] = {KEY, STRING("image", NULL, ONCE),
                                   WORD("replace", "REPLACE", MAYBE), END};
static const rm_arg info_args[] = {KEY, END};
static const rm_arg kinds_args[] = {STRING("kind", NULL, MAYBE), END};

/* ---- the table */

typedef struct command {
    const char *name;
    rm_handler run;
    const char *flags;
    int arity; /* -n: n or more, the name included */
    const rm_key_spec *keys;
    const rm_arg *args;
    const char *summary, *complexity;
} command;

static const command commands[] = {
    {"oltr.create", create_command, "write deny-oom getkeys-api", -3, create_keys, create_args,
     "Makes a model of a kind, or one whose prior is what another model believes.",
     "O(N), N the items to make room for or of the parent; O(D^2) with D features"},
    {"oltr.rank", rank_command, "readonly", -4, read_key, rank_args,
     "Returns the best k of a list of candidates, best first.",
     "O(N) with N candidates; O(ND + D^2) with D features"},
    {"oltr.learn", learn_command, "write deny-oom", -5, update_key, learn_args,
     "Learns from a shown list and what was clicked; 0 for an id that was learned before.",
     "O(K) with K shown items; O(KD^2) with D features"},
    {"oltr.predict", predict_command, "readonly", -3, read_key, list_args,
     "Returns the mean and the standard deviation of the belief about each candidate.",
     "O(N) with N candidates; O(ND^2) with D features"},
    {"oltr.explain", explain_command, "readonly", -3, read_key, list_args,
     "Returns what is believed about each candidate and how much of it is still the prior.",
     "O(N) with N candidates; O(ND^2) with D features"},
    {"oltr.propensity", propensity_command, "readonly", -4, read_key, propensity_args,
     "Returns the chance of each candidate to be shown, and to be shown first.",
     "O(N^2) with N candidates; with DRAWS as many rankings"},
    {"oltr.prior", prior_command, "write deny-oom", -5, update_key, prior_args,
     "Sets the priors of items; all or none.", "O(1) for one item, else O(N) with N items"},
    {"oltr.rem", rem_command, "write", -3, delete_key, names_args,
     "Removes items with their priors.", "O(M) with M ids"},
    {"oltr.reset", reset_command, "write", -3, delete_key, names_args,
     "Forgets what was learned of items; their priors stay.", "O(M) with M ids"},
    {"oltr.trim", trim_command, "write", 4, delete_key, trim_args,
     "Removes the items that the last lessons did not show.", "O(N) with N items"},
    {"oltr.scan", scan_command, "readonly", -3, read_key, scan_args,
     "Returns the ids of the items, some at a time.", "O(COUNT)"},
    {"oltr.forget", forget_command, "write deny-oom", -3, update_key, forget_args,
     "Moves every belief towards its prior.", "O(N) with N items; O(D^2) with D features"},
    {"oltr.merge", merge_command, "write deny-oom", -3, update_key, merge_args,
     "Adds what the model of an image has learned.", "O(N) with N items; O(D^2) with D features"},
    {"oltr.dump", dump_command, "readonly", -2, read_key, dump_args, "Returns the model as bytes.",
     "O(N) with N items; O(D^2) with D features"},
    {"oltr.load", load_command, "write deny-oom", -3, replace_key, load_args,
     "Makes a model from bytes.", "O(N) with N items; O(D^2) with D features"},
    {"oltr.info", info_command, "readonly fast", 2, read_key, info_args,
     "Returns what a model is and has learned.", "O(1)"},
    {"oltr.kinds", kinds_command, "fast allow-loading allow-stale", -1, no_key, kinds_args,
     "Lists the kinds of models, or describes one.", "O(1)"},
};

static int register_command(rm_ctx *ctx, const command *c)
{
    static const rm_info_version version = {1, sizeof(rm_history), sizeof(rm_key_spec),
                                            sizeof(rm_arg)};
    const rm_command_info info = {.version = &version,
                                  .summary = c->summary,
                                  .complexity = c->complexity,
                                  .since = "0.1.0",
                                  .arity = c->arity,
                                  .key_specs = c->keys,
                                  .args = c->args};
    if (rm.CreateCommand(ctx, c->name, c->run, c->flags, 0, 0, 0) != RM_OK)
        return RM_ERR;
    rm_command *made = rm.GetCommand(ctx, c->name);
    return made ? rm.SetCommandInfo(made, &info) : RM_ERR;
}

int commands_register(rm_ctx *ctx)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (register_command(ctx, &commands[i]) != RM_OK) {
            rm.Log(ctx, "warning", "oltr: the server refused the command %s", commands[i].name);
            return RM_ERR;
        }
    return RM_OK;
}
