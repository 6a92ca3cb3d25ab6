/* config_data.c - what a world of kind dataset is made of: a plan, read and checked.  No other file is touched here. */
#include "config_parts.h"

#include "data/generate.h"
#include "report/shown.h"

#include <string.h>

enum { MOST_QUERIES = 1000000, LARGEST_GRADE = 30, MOST_RANKERS = 1000, MOST_SHAPES = 16 };

/* One of some words; *out is its number. */
static bool read_word(const struct reader *reader, const struct node *node, const char *const *words, size_t count,
                      size_t *out)
{
    const char *word;
    char name[SHOWN_SIZE], list[128] = "";
    if (!read_line(reader, node, &word)) {
        return false;
    }
    for (*out = 0; *out < count; ++*out) {
        if (strcmp(word, words[*out]) == 0) {
            return true;
        }
        size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%s",
                       *out == 0          ? ""
                       : *out + 1 < count ? ", "
                                          : " or ",
                       words[*out]);
    }
    return read_bad(reader, node, "`%s` must be %s, not `%s`", node->key->text, list, shown(word, name));
}

static bool read_generated(const struct reader *reader, const struct node *map, struct data_plan *plan)
{
    static const uint32_t usual[3] = {200, 50, 50};
    memcpy(plan->generated, usual, sizeof usual);
    if (map == NULL || !read_map_keys(reader, map, "generated", generated_keys)) {
        return map == NULL;
    }
    for (size_t i = 0; i < 3; i++) {
        const struct node *node = tree_get(map, generated_keys[i].name);
        if (node != NULL && !read_whole32(reader, node, 2, MOST_QUERIES, &plan->generated[i])) {
            return false;
        }
    }
    return true;
}

static bool read_source(const struct reader *reader, const struct node *map, struct data_plan *plan)
{
    const char *shapes[MOST_SHAPES];
    size_t n_shapes = 0;
    const struct node *folder = tree_get(map, "data"), *shape = tree_get(map, "shape");
    size_t which = 0;
    while (n_shapes < MOST_SHAPES && dataset_shape_name((uint32_t)n_shapes) != NULL) {
        shapes[n_shapes] = dataset_shape_name((uint32_t)n_shapes);
        n_shapes++;
    }
    if (folder == NULL && shape == NULL) {
        return read_bad(reader, map,
                        "a dataset needs `data: DIR`, a folder with train.txt and test.txt, or `shape: web30k` to "
                        "generate one");
    }
    if ((folder != NULL && !read_path(reader, folder, &plan->folder)) ||
        (shape != NULL && !read_word(reader, shape, shapes, n_shapes, &which))) {
        return false;
    }
    plan->shape = shape != NULL ? shapes[which] : NULL;
    return read_generated(reader, tree_get(map, "generated"), plan);
}

static bool read_queries(const struct reader *reader, const struct node *node, uint32_t *out)
{
    bool all = node == NULL || (node->type == NODE_SCALAR && strcmp(node->text, "all") == 0);
    *out = 0;
    return all || read_whole32(reader, node, 1, MOST_QUERIES, out);
}

static bool read_belief(const struct reader *reader, const struct node *map, struct data_plan *plan)
{
    const struct node *scores = tree_get(map, "scores"), *rankers = tree_get(map, "rankers");
    plan->rankers = scores == NULL ? 10 : 0;
    if ((scores != NULL && !read_path(reader, scores, &plan->scores)) ||
        (rankers != NULL && !read_whole32(reader, rankers, 0, MOST_RANKERS, &plan->rankers))) {
        return false;
    }
    return scores == NULL || plan->rankers == 0 ||
           read_bad(reader, rankers->key,
                    "`scores` are there already: leave `rankers` out, or make it 0 (--set world.rankers=0)");
}

bool config_data(const struct reader *reader, const struct node *map, oltr_world *world, struct data_plan *plan)
{
    static const char *const normalisers[] = {"standard", "minmax", "none"}; /* as normaliser_kind counts them */
    const struct node *normalise = tree_get(map, "normalise"), *grades = tree_get(map, "grades"),
                      *largest = tree_get(map, "largest_grade");
    size_t kind = NORMALISE_STANDARD;
    world->n_items = 1; /* until the data are there */
    plan->grades = "err";
    bool good =
        read_source(reader, map, plan) && read_queries(reader, tree_get(map, "queries"), &plan->queries) &&
        (grades == NULL ||
         config_name(reader, grades, "mapping of grades", oltr_mapping_count, oltr_mapping_at, &plan->grades)) &&
        (largest == NULL || read_whole32(reader, largest, 1, LARGEST_GRADE, &plan->largest_grade)) &&
        (normalise == NULL || read_word(reader, normalise, normalisers, 3, &kind)) && read_belief(reader, map, plan);
    plan->normaliser = (enum normaliser_kind)kind;
    return good;
}
