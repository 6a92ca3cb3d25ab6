/* plan_data.c - what a world of kind dataset is to be made of.  No file is opened here. */
#include "lab/plan/plan_parts.h"

#include <string.h>

#include "lab/world/world.h"

static bool read_generated(const struct reader *reader, const struct node *map,
                           oltr_data_plan *data)
{
    static const uint32_t usual[3] = {200, 50, 50};
    memcpy(data->generated, usual, sizeof usual);
    if (!map || !read_map_keys(reader, map, "generated", generated_keys))
        return !map;
    bool good = true;
    for (size_t i = 0; good && i < 3; i++)
        good = read_count(reader, map, NULL, generated_keys[i].name, 2, MOST_QUERIES,
                          &data->generated[i]);
    return good;
}

static bool read_source(const struct reader *reader, const struct node *map, oltr_data_plan *data)
{
    const struct node *folder = tree_get(map, "data"), *shape = tree_get(map, "shape");
    uint32_t at;
    if (!folder && !shape)
        return read_bad(reader, map,
                        "a dataset needs `data: DIR`, a folder with train.txt and test.txt, or "
                        "`shape: web30k` to generate one");
    if (folder && !read_path(reader, folder, &data->folder))
        return false;
    if (shape) {
        if (!plan_name(reader, shape, "shape of data", oltr_shape_count, oltr_shape_at, &at))
            return false;
        data->shape = oltr_shape_at(at)->name;
    }
    return read_generated(reader, tree_get(map, "generated"), data);
}

static bool read_queries(const struct reader *reader, const struct node *node, uint32_t *out)
{
    static const char *const all[] = {"all", NULL};
    size_t word;
    *out = 0;
    return !node || is_word(node, all, &word) || read_whole32(reader, node, 1, MOST_QUERIES, out);
}

static bool read_prior_source(const struct reader *reader, const struct node *map,
                              oltr_data_plan *data)
{
    static const char *const ways[] = {"calibrated", "minmax", "sigmoid", "raw", NULL};
    const struct node *scores = tree_get(map, "scores"), *rankers = tree_get(map, "rankers"),
                      *as = tree_get(map, "scores_as");
    size_t way = 0;
    data->rankers = !scores ? 10 : 0;
    if ((scores && !read_path(reader, scores, &data->scores)) ||
        !read_count(reader, map, NULL, "rankers", 0, MOST_RANKERS, &data->rankers) ||
        (as && !read_word(reader, as, ways, &way)))
        return false;
    data->scores_as = ways[way];
    if (as && !scores && data->rankers == 0)
        return read_bad(reader, tree_blame(as->key, rankers),
                        "`scores_as` needs scores: give `scores: FILE`, or `rankers` above 0");
    return !scores || data->rankers == 0 ||
           read_bad(reader, tree_blame(rankers->key, scores),
                    "`scores` are there already: leave `rankers` out, or make it 0 (--set "
                    "world.rankers=0)");
}

bool plan_data(const struct reader *reader, const struct node *map, oltr_world *world,
               oltr_data_plan *data)
{
    static const char *const normalisers[] = {"standard", "minmax", "none", NULL};
    const struct node *normalise = tree_get(map, "normalise"), *grades = tree_get(map, "grades");
    size_t kind = 0;
    uint32_t mapping = 0;
    world->n_items = 1; /* until the data are there */
    bool good =
        read_source(reader, map, data) &&
        read_queries(reader, tree_get(map, "queries"), &data->queries) &&
        (!grades || plan_name(reader, grades, "mapping of grades", oltr_mapping_count,
                              oltr_mapping_at, &mapping)) &&
        read_count(reader, map, NULL, "largest_grade", 1, LARGEST_GRADE, &data->largest_grade) &&
        (!normalise || read_word(reader, normalise, normalisers, &kind)) &&
        read_prior_source(reader, map, data);
    data->normalise = good ? normalisers[kind] : NULL;
    data->grades = oltr_mapping_at(mapping)->name;
    return good;
}
