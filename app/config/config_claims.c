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
           read_bad(reader, map, "a test needs one of `less`, `more`, `close` and `untold`");
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
    if (test->n_policies < 2 && !test->against)
        return read_bad(reader, list, "a comparison needs at least two names");
    return (!factor || read_real(reader, factor, 1e-6, 1e6, &test->factor)) &&
           (!within || read_real(reader, within, 1e-6, 0.999, &test->within));
}

static bool read_untold(const struct reader *reader, const struct node *map,
                        const struct node *untold, struct claim_test *test)
{
    for (const struct node *entry = map->first; entry; entry = entry->next)
        if (entry != untold && strcmp(entry->key->text, "of") != 0)
            return read_bad(reader, entry->key, "only `of` may be given with `untold`");
    test->relation = CLAIM_UNDECIDABLE;
    return read_line(reader, untold, &test->reason);
}

static bool read_test(const struct reader *reader, const struct node *map,
                      const struct config *config, const struct names *names,
                      struct claim_test *test)
{
    if (!read_map_keys(reader, map, "a test", test_keys))
        return false;
    const struct node *of = tree_get(map, "of"), *untold = tree_get(map, "untold");
    test->of = "printed";
    if (of && !read_line(reader, of, &test->of))
        return false;
    if (untold)
        return read_untold(reader, map, untold, test);
    return read_measure(reader, map, config, test) && read_place(reader, map, config, test) &&
           read_when(reader, map, config, test) && read_relation(reader, map, names, test);
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
    if (tests->count > MOST_TESTS)
        return read_bad(reader, tests, "a claim has at most %d tests", MOST_TESTS);
    claim->test = pool_get(reader->pool, tests->count, sizeof *claim->test);
    if (!claim->test)
        return read_no_memory(reader);
    for (const struct node *test = tests->first; test; test = test->next)
        if (!read_test(reader, test, config, names, &claim->test[claim->n_tests++]))
            return false;
    return true;
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
