/* config_claims.c - the section `claims`: statements about the figures, as comparisons that the
 * results decide.
 *
 * Labels and figures are checked here, with line and column.  Rounds and swept values are not: in a
 * shorter run of the same file the claim is inconclusive. */
#include "app/config/config_parts.h"
#include "report/io/folder.h"

#include <string.h>

/* ---- a test */

static bool read_measure(const struct reader *reader, const struct node *map,
                         const struct config *config, struct claim_test *test)
{
    const struct node *node = tree_get(map, "measure");
    bool wanted = config->is_concentration;
    if (wanted == !node)
        return read_bad(
            reader, node ? node : map,
            wanted
                ? "a test of kind concentration needs a `measure`, like sd"
                : "`measure` belongs to experiments of kind concentration; others measure regret");
    return !wanted || read_name(reader, node, N_MEASURES, measure_names, "measure", &test->measure);
}

/* A swept value as the tables have it; with two keys, a list with one for each. */
static bool read_swept(const struct reader *reader, const struct node *node,
                       const struct config *config, const char **out)
{
    const char *value[MOST_SWEEP_KEYS];
    if (node->type != NODE_LIST)
        return read_line(reader, node, out);
    if (config->plan->n_axes != MOST_SWEEP_KEYS || node->count != MOST_SWEEP_KEYS)
        return read_bad(
            reader, node,
            "a list has one value for each key of a sweep over two keys, \"*\" for all");
    if (!read_line(reader, node->first, &value[0]) || !read_line(reader, node->last, &value[1]))
        return false;
    *out = pool_printf(reader->pool, "%s" OLTR_SWEEP_BETWEEN "%s", value[0], value[1]);
    return *out || read_no_memory(reader);
}

static bool read_place(const struct reader *reader, const struct node *map,
                       const struct config *config, struct claim_test *test)
{
    const struct node *at = tree_get(map, "at"), *against = tree_get(map, "against");
    bool swept = config->plan->sweep_key;
    if (at && !swept && !config->is_concentration)
        return read_bad(reader, at, "`at` names a swept value, and this experiment has no `sweep`");
    if (against && (!at || !swept))
        return read_bad(reader, against,
                        "`against` needs a `sweep` in the experiment and an `at` beside it");
    return (!at || read_swept(reader, at, config, &test->at)) &&
           (!against || read_swept(reader, against, config, &test->against));
}

static bool read_when(const struct reader *reader, const struct node *map,
                      const struct config *config, struct claim_test *test)
{
    const struct node *round = tree_get(map, "round"), *from = tree_get(map, "from");
    const struct node *first = round ? round : from;
    if (first && config->is_concentration)
        return read_bad(reader, first, "an experiment of kind concentration has no rounds");
    if (from && tree_get(map, "against"))
        return read_bad(reader, from, "`from` and `against` exclude each other");
    return (!round || read_whole(reader, round, 1, INT64_MAX, &test->round)) &&
           (!from || read_whole(reader, from, 1, INT64_MAX, &test->from));
}

/* Which of the relations the test has; exactly one of them must be there. */
static bool find_relation(const struct reader *reader, const struct node *map,
                          const struct node **list, struct claim_test *test)
{
    uint32_t count = 0;
    for (int i = 0; i < N_CLAIM_RELATIONS; i++) {
        const struct node *node = tree_get(map, claim_relations[i]);
        if (node) {
            test->relation = (enum claim_relation)i;
            *list = node;
            count++;
        }
    }
    return count == 1 ||
           read_bad(reader, map,
                    "a test needs one of `less`, `more`, `close` and `not_measurable`");
}

static bool read_relation(const struct reader *reader, const struct node *map,
                          const struct names *names, struct claim_test *test)
{
    const struct node *factor = tree_get(map, "factor"), *within = tree_get(map, "within"),
                      *list = NULL;
    test->factor = 1;
    test->within = 0.1;
    if (!find_relation(reader, map, &list, test))
        return false;
    const struct node *stray = test->relation == CLAIM_CLOSE ? factor : within;
    if (stray)
        return read_bad(reader, stray, "`%s` does not belong to `%s`", stray->key->text,
                        claim_relations[test->relation]);
    if (!read_names(reader, list, names, test->measure ? "posterior" : "policy", &test->policy,
                    &test->n_policies))
        return false;
    if (test->n_policies < 2 && !test->against && !test->bound)
        return read_bad(reader, list, "a comparison needs at least two names");
    return (!factor || read_real(reader, factor, 1e-6, 1e6, &test->factor)) &&
           (!within || read_real(reader, within, 1e-6, 0.999, &test->within));
}

static bool read_reason(const struct reader *reader, const struct node *map,
                        const struct node *reason, struct claim_test *test)
{
    for (const struct node *entry = map->first; entry; entry = entry->next)
        if (entry != reason && strcmp(entry->key->text, "of") != 0 &&
            strcmp(entry->key->text, "over") != 0)
            return read_bad(reader, entry->key,
                            "only `of` and `over` may be given with `not_measurable`");
    test->relation = CLAIM_UNDECIDABLE;
    return read_line(reader, reason, &test->reason);
}

static bool read_test_bound(const struct reader *reader, const struct node *map,
                            const struct config *config, struct claim_test *test)
{
    const struct node *node = tree_get(map, "bound");
    enum bound bound;
    if (!node)
        return true;
    if (config->is_concentration || test->against)
        return read_bad(reader, node,
                        test->against ? "`bound` and `against` exclude each other"
                                      : "an experiment of kind concentration has no bounds");
    return read_bound(reader, node, config, &bound) && read_line(reader, node, &test->bound);
}

static bool read_test(const struct reader *reader, const struct node *map,
                      const struct config *config, const struct names *names,
                      struct claim_test *test)
{
    if (!read_map_keys(reader, map, "a test", test_keys))
        return false;
    const struct node *of = tree_get(map, "of"), *reason = tree_get(map, "not_measurable");
    test->of = "printed";
    if (of && !read_line(reader, of, &test->of))
        return false;
    if (reason)
        return read_reason(reader, map, reason, test);
    return read_measure(reader, map, config, test) && read_place(reader, map, config, test) &&
           read_test_bound(reader, map, config, test) && read_when(reader, map, config, test) &&
           read_relation(reader, map, names, test);
}

/* ---- settings: one test for each value
 *
 * `over: {sigma: [1, 0.5]}` makes two tests.  In the copy for a value, every text of the test that
 * has {sigma} in it has the value in its place.  `over: {sigma: {1: " (sigma 1)", 0.5: ""}}` puts
 * another text there than the value. */

/* The text with every {name} replaced, or the same text; NULL without memory. */
static const char *put_value(struct pool *pool, const char *text, const char *mark,
                             const char *value, uint32_t *replaced)
{
    const char *at = strlen(text) <= LONGEST_LINE ? strstr(text, mark) : NULL;
    if (!at)
        return text; /* longer ones are refused where they are read */
    const char *rest = put_value(pool, at + strlen(mark), mark, value, replaced);
    ++*replaced;
    return rest ? pool_printf(pool, "%.*s%s%s", (int)(at - text), text, value, rest) : NULL;
}

static bool put_values(const struct reader *reader, struct node *node, const char *mark,
                       const char *value, uint32_t *replaced)
{
    uint32_t before = *replaced;
    if (node->type == NODE_SCALAR) {
        bool whole = strcmp(node->text, mark) == 0;
        node->text = put_value(reader->pool, node->text, mark, value, replaced);
        node->quoted = node->quoted && !(whole && *replaced > before); /* "{T}" may be a number */
        return node->text || read_no_memory(reader);
    }
    for (struct node *entry = node->first; entry; entry = entry->next)
        if (!(entry->key && strcmp(entry->key->text, "over") == 0) &&
            !put_values(reader, entry, mark, value, replaced))
            return false;
    return true;
}

/* The copy of a test for one value. */
static bool read_setting(const struct reader *reader, const struct node *map,
                         const struct node *setting, const struct node *value,
                         const struct config *config, const struct names *names,
                         struct claim_test *test)
{
    uint32_t replaced = 0;
    struct node *copy = tree_copy(reader->pool, map);
    const char *name = setting->key->text;
    const char *mark = pool_printf(reader->pool, "{%s}", name);
    if (!copy || !mark)
        return read_no_memory(reader);
    copy->parent = map->parent;
    test->setting = name;
    if (!read_line(reader, value->key ? value->key : value, &test->value) ||
        !put_values(reader, copy, mark, value->text, &replaced))
        return false;
    if (replaced == 0)
        return read_bad(reader, setting,
                        "nothing in this test has `%.40s` in it; write it where the "
                        "value belongs, as in \"GTS (%.40s)\"",
                        mark, mark);
    return read_test(reader, copy, config, names, test);
}

/* The values of `over`, a map with one entry: a list, or a map from values to texts. */
static bool read_over(const struct reader *reader, const struct node *over,
                      const struct node **setting)
{
    *setting = over->type == NODE_MAP ? over->first : NULL;
    if (!*setting || over->count != 1)
        return read_bad(reader, over, "must be one setting and its values, like {sigma: [1, 0.5]}");
    if (((*setting)->type != NODE_MAP || (*setting)->count == 0) && !read_list(reader, *setting))
        return false;
    for (const struct node *value = (*setting)->first; value; value = value->next) {
        if (value->type != NODE_SCALAR || strlen(value->text) > LONGEST_LINE)
            return read_bad(reader, value, "must be a value, or a short text");
        for (const struct node *other = (*setting)->first; other != value; other = other->next)
            if (strcmp(value->text, other->text) == 0)
                return read_bad(reader, value, "this value is in the list twice");
    }
    return true;
}

/* How many tests an entry of `tests` makes. */
static bool count_tests(const struct reader *reader, const struct node *map, size_t *count)
{
    const struct node *over = tree_get(map, "over"), *setting;
    if (over && !read_over(reader, over, &setting))
        return false;
    *count += over ? setting->count : 1;
    return true;
}

static bool read_tests_of(const struct reader *reader, const struct node *map,
                          const struct config *config, const struct names *names,
                          struct claim *claim)
{
    const struct node *over = tree_get(map, "over");
    if (!over)
        return read_test(reader, map, config, names, &claim->test[claim->n_tests++]);
    for (const struct node *value = over->first->first; value; value = value->next)
        if (!read_setting(reader, map, over->first, value, config, names,
                          &claim->test[claim->n_tests++]))
            return false;
    return true;
}

/* ---- claims */

static bool read_claim_figure(const struct reader *reader, const struct node *node,
                              const struct config *config, struct claim *claim)
{
    const char **file = pool_get(reader->pool, config->n_figures, sizeof *file);
    if (!file)
        return read_no_memory(reader);
    for (uint32_t i = 0; i < config->n_figures; i++)
        file[i] = config->figures[i].file;
    return read_name(reader, node, config->n_figures, (const char *const *)file, "figure",
                     &claim->figure);
}

static bool read_source(const struct reader *reader, const struct node *node, struct claim *claim)
{
    const char *words[N_CLAIM_SOURCES + 1] = {NULL};
    size_t place = CLAIM_OURS;
    for (int i = 0; i < N_CLAIM_SOURCES; i++)
        words[i] = claim_sources[i];
    bool good = !node || read_word(reader, node, words, &place);
    claim->source = (enum claim_source)place;
    return good;
}

static bool read_tests(const struct reader *reader, const struct node *tests,
                       const struct config *config, const struct names *names, struct claim *claim)
{
    size_t count = 0;
    for (const struct node *test = tests->first; test; test = test->next)
        if (!count_tests(reader, test, &count))
            return false;
    if (count > MOST_TESTS)
        return read_bad(reader, tests, "a claim has at most %d tests", MOST_TESTS);
    claim->test = pool_get(reader->pool, count, sizeof *claim->test);
    if (!claim->test)
        return read_no_memory(reader);
    for (const struct node *test = tests->first; test; test = test->next)
        if (!read_tests_of(reader, test, config, names, claim))
            return false;
    return true;
}

static bool read_claim(const struct reader *reader, const struct node *map,
                       const struct config *config, const struct names *names, struct claim *claim)
{
    const struct node *figure, *says, *tests;
    if (!read_map_keys(reader, map, "a claim", claim_keys) ||
        !read_required(reader, map, claim_keys, "says", &says) ||
        !read_paragraph(reader, says, &claim->says) ||
        !read_required(reader, map, claim_keys, "tests", &tests) || !read_list(reader, tests))
        return false;
    if ((figure = tree_get(map, "figure")) && !read_claim_figure(reader, figure, config, claim))
        return false;
    return read_source(reader, tree_get(map, "source"), claim) &&
           read_tests(reader, tests, config, names, claim);
}

bool config_claims(const struct reader *reader, const struct node *root, const struct names *names,
                   struct config *config)
{
    const struct node *list = tree_get(root, "claims");
    if (!list || (list->type == NODE_LIST && list->count == 0))
        return true;
    if (!read_list(reader, list))
        return false;
    if (list->count > MOST_CLAIMS)
        return read_bad(reader, list, "an experiment has at most %d claims", MOST_CLAIMS);
    struct claim *claims = pool_get(reader->pool, list->count, sizeof *claims);
    if (!claims)
        return read_no_memory(reader);
    config->claims = claims;
    for (const struct node *map = list->first; map; map = map->next)
        if (!read_claim(reader, map, config, names, &claims[config->n_claims++]))
            return false;
    return true;
}
