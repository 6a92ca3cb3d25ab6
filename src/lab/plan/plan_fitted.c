/* plan_fitted.c - the keys of a world of kind fitted: which file, and which of its click models.
 * No file is opened here. */
#include <string.h>

#include "lab/plan/plan_parts.h"
#include "lab/world/world.h"

/* The models that can be played, and the click models whose users they describe. */
static const char *const models[] = {"CM", "DCM", "DBN", "PBM", NULL};
static const char *const clicks[] = {"cascade", "dcm", "dbn", "pbm"};

/* Models that are in such files, too: the best list of their users has no formula. */
static const char *const unplayable[] = {"CCM", "UBM", NULL};

const oltr_click_ops *fitted_clicks(const struct reader *reader, const struct node *map)
{
    const struct node *model, *named = tree_get(map, "clicks");
    size_t word = 0;
    if (!read_required(reader, map, fitted_keys, "model", &model))
        return NULL;
    if (named) {
        read_bad(reader, named->key,
                 "the click model of world fitted follows from `model`; leave "
                 "`clicks` out");
        return NULL;
    }
    if (is_word(model, unplayable, &word)) {
        read_bad(reader, model,
                 "%s cannot be played: the best list of its users, and with it regret, is not "
                 "known; take CM, DCM, DBN or PBM",
                 unplayable[word]);
        return NULL;
    }
    return read_word(reader, model, models, &word) ? click_ops_of(clicks[word], NULL) : NULL;
}

/* What the file has cannot be set. */
static bool none_is_fitted(const struct reader *reader, const struct node *map)
{
    static const char *const fitted[] = {"leave", "satisfied", "continue", "examine", NULL};
    for (size_t i = 0; fitted[i]; i++) {
        const struct node *node = tree_get(map, fitted[i]);
        if (node)
            return read_bad(reader, node->key, "world fitted has it in its file; leave it out");
    }
    return true;
}

bool plan_fitted(const struct reader *reader, const struct node *map, oltr_world *world,
                 oltr_data_plan *data)
{
    const struct node *folder = tree_get(map, "data"), *file = tree_get(map, "file");
    size_t word = 0;
    if (!folder)
        return read_bad(reader, map,
                        "click models that were fitted elsewhere are in a file: give it, "
                        "`data: models.json`, or its folder with --data DIR");
    world->n_items = 1; /* until the file is read */
    if (!none_is_fitted(reader, map) || !read_path(reader, folder, &data->folder) ||
        (file && !read_line(reader, file, &data->file)) ||
        !read_word(reader, tree_get(map, "model"), models, &word))
        return false;
    data->model = models[word];
    return true;
}
