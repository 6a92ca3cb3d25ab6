/* model_family.c - the commands of `oltr model`, and the code that they share. */
#define _POSIX_C_SOURCE 200809L
#include "app/verbs/model_family.h"

#include "app/logs/log_input.h"
#include "engine/base/quote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct verb model_verbs[] = {
    {"model create", "MODEL", 1, 1, "make a model: a policy, its items and their priors, in a file",
     "MODEL is the file; the calls since its last checkpoint are in MODEL.log beside it.  `oltr "
     "policies` lists the policies and their parameters, which `--set` takes; it also takes "
     "most_items, window (how many ids of lists are remembered), examine (cascade, last or all), "
     "default_prior (MEAN,SD or A,B of items without a prior), and for policies with features dim "
     "and candidates.\n"
     "Priors are a CSV file with a column item and, in this order of preference, mean and sd, a "
     "and b of Beta(a, b), clicks and impressions, or score_1 to score_M of M offline models.  "
     "They are converted to what the policy takes; items that are not in the file have the "
     "average of it, unless default_prior says otherwise.",
     model_create_options, cmd_model_create, NULL},
    {"model learn", "MODEL FILE...", 2, ANY_NUMBER, "learn from click logs",
     "FILE is an impression log, plain or gzip, `-` for standard input: CSV with the columns "
     "list_id, item, position (from 1), click and optionally examined, reward, time; the same as "
     "JSON lines; or queries and events of User Behavior Insights (UBI 1.3) as JSON lines, in one "
     "file or several (docs/click-logs.md).\n"
     "A list is learned once: its id is remembered, so the same log may be given again.  Nothing "
     "is changed unless every line is good; `--lenient` skips bad lines.  Ctrl-C changes nothing.",
     model_learn_options, cmd_model_learn, NULL},
    {"model rank", "MODEL", 1, 1, "rank items; or answer requests, one JSON object a line",
     "With -k, --items or --items-from, prints one ranking.  Without them, every line of standard "
     "input is a request like {\"k\": 10, \"items\": [\"a\", \"b\"], \"seed\": \"user 7\"} and "
     "every line of the output its answer, {\"items\": [...], \"scores\": [...]}, so that any "
     "language can rank through a pipe.  Without items, all items of the model are ranked.\n"
     "A request may also have greedy, explain, fresh_below, least_fresh, most_fresh, propensity, "
     "draws, features (rows of numbers, of a policy with features), id (of the list in the "
     "decision "
     "log of `--log`; else its seed), and tag, which is copied to the answer.  With `--learn`, "
     "{\"learn\": {\"id\": \"q1\", \"items\": [\"a\", \"b\"], "
     "\"clicks\": [2]}} is learned at once.\n"
     "A bad line is answered by {\"error\": \"line 3: ...\"}; the exit code is then 1.  Without "
     "--learn the model is read once, and nothing is locked.",
     model_rank_options, cmd_model_rank, NULL},
    {"model show", "MODEL", 1, 1, "show what a model believes, as a table and a picture",
     "One line for each item, the best first: mean and standard deviation of the belief, a picture "
     "of them (o is the mean, = one and - two standard deviations, | the mean of the prior), how "
     "often it was examined and the sum of its rewards, and how much of the belief is still its "
     "prior.  Of a policy with features: one line for each feature, the belief about a candidate "
     "that has 1 there and 0 elsewhere.",
     model_show_options, cmd_model_show, NULL},
    {"model prior", "MODEL FILE", 2, 2, "give items another prior, from a CSV file",
     "The columns are those of `oltr model create --prior`.  What was learned of an item stays; "
     "items that the model does not have are added.",
     model_prior_options, cmd_model_prior, NULL},
    {"model remove", "MODEL [ITEM...]", 1, ANY_NUMBER, "forget items and their priors",
     "Items that the model does not have are no error.", model_remove_options, cmd_model_remove,
     NULL},
    {"model reset", "MODEL [ITEM...]", 1, ANY_NUMBER,
     "forget what was learned of items; their priors stay",
     "Items that the model does not have are no error.", model_reset_options, cmd_model_reset,
     NULL},
    {"model trim", "MODEL", 1, 1, "remove the items that the last lists did not show", "",
     model_trim_options, cmd_model_trim, NULL},
    {"model forget", "MODEL", 1, 1, "move what is believed towards the prior",
     "Multiplies everything that was learned by --keep: 0.5 makes an observation count half.  For "
     "a half-life of 30 days, run it every day with --keep 0.977 (0.5^(1/30)) and the date as "
     "--id, so that a day counts once.",
     model_forget_options, cmd_model_forget, NULL},
    {"model merge", "MODEL OTHER...", 2, ANY_NUMBER, "add what other models have learned",
     "Items of the same name are added up; new ones bring their priors.  The others stay as they "
     "are.  All of them are merged, or none.",
     model_merge_options, cmd_model_merge, NULL},
    {"model dump", "MODEL", 1, 1, "write the whole model as JSON",
     "For people and programs to read, with the exact image in base64 beside it.  `oltr model "
     "create NEW --from FILE` makes the same model of it.",
     model_dump_options, cmd_model_dump, NULL},
    {"model check", "MODEL...", 1, ANY_NUMBER, "check that a model and its log are whole",
     "Reads both files, repeats the calls of the log, and tests the invariants of the policy.  "
     "Changes nothing.",
     model_check_options, cmd_model_check, NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL},
};

/* ---- stores */

int model_open(const char *path, bool to_write, uint32_t sync, oltr_store **out)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_store_options options = {.size = sizeof options, .sync = sync, .read_only = !to_write};
    *out = NULL;
    if (access(path, F_OK) != 0)
        return complain(EXIT_USAGE, "%s: %s%s", path, strerror(errno),
                        errno == ENOENT ? "; `oltr model create` makes a model" : "");
    *out = oltr_store_open(path, &options, &error);
    return *out ? EXIT_OK : complain_failed(&error);
}

int model_close(oltr_store *store, int code)
{
    oltr_error error = {OLTR_OK, ""};
    if (oltr_store_close(store, &error) != OLTR_OK && code == EXIT_OK)
        return complain_failed(&error);
    return code;
}

/* ---- names */

static bool add_name(struct model_names *out, const char *text, size_t size)
{
    enum { FIRST = 16 };
    bool is_full = out->n == 0 || (out->n >= FIRST && (out->n & (out->n - 1)) == 0);
    if (is_full) {
        size_t room = out->n < FIRST ? FIRST : 2 * (size_t)out->n;
        oltr_name *name = realloc(out->name, room * sizeof *name);
        if (!name)
            return false;
        out->name = name;
    }
    text_bytes(&out->bytes, text, size);
    out->name[out->n++] = (oltr_name){NULL, (uint32_t)size};
    return !out->bytes.failed;
}

/* The names get their addresses when the bytes do not move any more. */
static void place_names(struct model_names *out)
{
    const char *at = out->bytes.bytes;
    for (uint32_t i = 0; i < out->n; i++) {
        out->name[i].bytes = at;
        at += out->name[i].size;
    }
}

static int bad_name(const char *where, size_t size)
{
    return complain(EXIT_USAGE, "%s: a name has 1 to %d bytes, not %zu", where, OLTR_LONGEST_NAME,
                    size);
}

static int add_list(struct model_names *out, const char *list)
{
    for (const char *at = list;; at++) {
        size_t size = strcspn(at, ",");
        if (size == 0 || size > OLTR_LONGEST_NAME)
            return bad_name("--items", size);
        if (!add_name(out, at, size))
            return complain_no_memory();
        at += size;
        if (*at == '\0')
            return EXIT_OK;
    }
}

static int add_lines(struct model_names *out, struct log_input *in, const char *path)
{
    oltr_error error = {OLTR_OK, ""};
    const char *text;
    char where[160];
    uint64_t line;
    size_t size;
    int got;
    while ((got = log_input_line(in, &text, &size, &line, &error)) == 1) {
        size -= size > 0 && text[size - 1] == '\r';
        snprintf(where, sizeof where, "%.120s:%llu", path, (unsigned long long)line);
        if (size == 0 || size > OLTR_LONGEST_NAME)
            return bad_name(where, size);
        if (!add_name(out, text, size))
            return complain_no_memory();
    }
    return got == 0 ? EXIT_OK : complain_of(&error);
}

static int add_file(struct model_names *out, const char *path)
{
    struct log_input in;
    oltr_error error = {OLTR_OK, ""};
    if (log_input_open(&in, path, &error) != OLTR_OK)
        return complain_of(&error);
    int code = add_lines(out, &in, path);
    log_input_close(&in);
    if (code == EXIT_OK && out->n == 0)
        return complain(EXIT_USAGE, "--items-from %s: there is no name in it", path);
    return code;
}

int model_names_read(const struct arguments *arguments, uint32_t from, struct model_names *out)
{
    const char *list = arguments_value(arguments, "items"),
               *file = arguments_value(arguments, "items-from");
    int code = EXIT_OK;
    *out = (struct model_names){.n = 0};
    for (uint32_t i = from; code == EXIT_OK && i < arguments->n_operands; i++) {
        size_t size = strlen(arguments->operand[i]);
        if (size > OLTR_LONGEST_NAME)
            return bad_name("ITEM", size);
        code = add_name(out, arguments->operand[i], size) ? EXIT_OK : complain_no_memory();
    }
    if (code == EXIT_OK && list)
        code = add_list(out, list);
    if (code == EXIT_OK && file)
        code = add_file(out, file);
    if (code == EXIT_OK)
        place_names(out);
    return code;
}

void model_names_free(struct model_names *names)
{
    text_free(&names->bytes);
    free(names->name);
    *names = (struct model_names){.n = 0};
}

int model_id(const struct arguments *arguments, oltr_name *id)
{
    const char *text = arguments_value(arguments, "id");
    size_t size = text ? strlen(text) : 0;
    *id = (oltr_name){text, (uint32_t)size};
    return !text || (size > 0 && size <= OLTR_LONGEST_NAME) ? EXIT_OK : bad_name("--id", size);
}

/* ---- text */

const char *model_grouped(uint64_t n, char out[GROUPED_SIZE])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

/* The length of the character at `at` if a terminal can show it, else 0. */
static size_t shown_character(const char *at)
{
    unsigned char c = (unsigned char)*at;
    bool control = c < 0x20 || c == 0x7F || (c == 0xC2 && (unsigned char)at[1] < 0xA0);
    return control ? 0 : text_character(at);
}

uint32_t model_shown_name(oltr_name name, uint32_t columns, char out[SHOWN_NAME_SIZE])
{
    char text[OLTR_LONGEST_NAME + 8] = {0};
    uint32_t size = name.size < OLTR_LONGEST_NAME ? name.size : OLTR_LONGEST_NAME, used = 0,
             shown = 0;
    memcpy(text, name.bytes, size);
    for (uint32_t i = 0; i < size && shown < columns && used + 5 < SHOWN_NAME_SIZE; shown++) {
        size_t length = shown_character(text + i), step = length > 0 ? length : 1;
        bool cut = shown + 1 == columns && i + step < size;
        if (cut || length == 0) {
            out[used++] = cut ? '~' : '?';
        } else {
            memcpy(out + used, text + i, length);
            used += (uint32_t)length;
        }
        i += (uint32_t)step;
    }
    out[used] = '\0';
    return shown;
}

void model_say_size(const char *path, const oltr_model *model)
{
    char items[GROUPED_SIZE], lessons[GROUPED_SIZE];
    uint64_t n = oltr_model_lessons(model);
    if (oltr_model_settings_of(model)->policy.info->contextual)
        printf("%s: %s lesson%s\n", path, model_grouped(n, lessons), plural_s(n));
    else
        printf("%s: %s item%s, %s lesson%s\n", path, model_grouped(oltr_model_items(model), items),
               plural_s(oltr_model_items(model)), model_grouped(n, lessons), plural_s(n));
}
