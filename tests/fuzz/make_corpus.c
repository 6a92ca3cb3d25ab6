/* make_corpus.c - writes the seeds of the binary fuzz targets: always the same bytes, so that a
 * change of a format shows as a change of these files.
 *
 * usage: make_corpus CORPUS_DIR    (writes its folders snapshot/, model/, partial/, cache/ and
 * store/; config/, reader/ and scores/ are written by hand)
 */
#include "support/snapshot.h"

#include <oltr/model.h>
#include <oltr/sim.h>
#include <stdio.h>

#include "engine/store/record.h"

static void write_seed(const char *folder, const char *name, const unsigned char *byte, size_t size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    must(file && fwrite(byte, 1, size, file) == size && fclose(file) == 0);
}

/* A policy that has learned from a few lists; with a prior where one is given. */
static void write_snapshot(const char *folder, const oltr_policy_info *info, const char *suffix,
                           oltr_prior prior)
{
    static const float x[] = {0.5f, 0.1f, -0.3f, 0.6f, 0.2f, -0.4f};
    static unsigned char byte[1 << 16];
    char name[200];
    size_t size = 0;
    oltr_settings s;
    must(oltr_settings_init(&s, info->name, 3, NULL) == OLTR_OK);
    s.dim = info->contextual ? 2 : 0;
    s.prior = prior;
    if (*suffix)
        must(oltr_settings_set(&s, "prior", "full", NULL) == OLTR_OK);
    oltr_policy *p = oltr_policy_new(&s, NULL);
    must(p);
    for (uint32_t t = 0; t < 12; t++) {
        uint32_t item[] = {t % 3, (t + 1) % 3};
        double reward[] = {t % 2, t % 5 == 0};
        oltr_query query = {.n_items = 3, .dim = s.dim, .x = x};
        oltr_ranking shown = {2, item, NULL};
        oltr_feedback seen = {2, reward};
        must(oltr_learn(p, &query, &shown, &seen) == OLTR_OK);
    }
    must(oltr_save(p, byte, sizeof byte, &size) == OLTR_OK);
    snprintf(name, sizeof name, "snapshot/%s%s", info->name, suffix);
    write_seed(folder, name, byte, size);
    oltr_policy_free(p);
}

static void write_snapshots(const char *folder)
{
    static const double first[] = {2, 3.5, 9}, second[] = {8, 4, 2}, mean[] = {0.2, 0.5, 0.75},
                        sd[] = {0.125, 0.25, 0.0625};
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        write_snapshot(folder, info, "", (oltr_prior){0});
        if (!info->uses_prior)
            continue;
        write_snapshot(folder, info, "-shapes", (oltr_prior){.a = first, .b = second});
        write_snapshot(folder, info, "-moments", (oltr_prior){.mean = mean, .sd = sd});
    }
}

/* A model that has learned from a few lists, with ids; where it is told a prior, one of an item of
 * its own. */
static void write_model(const char *folder, const oltr_policy_info *info, bool told)
{
    static const oltr_name item[] = {{"apple", 5}, {"a\0pear", 6}, {"plum", 4}};
    static const float x[] = {0.5f, 0.1f, -0.3f, 0.6f, 0.2f, -0.4f};
    static const double pair[2][2] = {{2.5, 8}, {0.25, 0.125}};
    static unsigned char byte[1 << 16];
    char name[200];
    size_t size = 0;
    oltr_model_settings s;
    must(oltr_model_settings_init(&s, info->name, NULL) == OLTR_OK);
    s.policy.dim = info->contextual ? 2 : 0;
    s.policy.n_items = info->contextual ? 3 : s.policy.n_items;
    s.window = 3;
    if (told) {
        must(oltr_settings_set(&s.policy, "prior", "full", NULL) == OLTR_OK);
        memcpy(s.prior, pair[info->takes_moments], sizeof s.prior);
    }
    oltr_model *m = oltr_model_new(&s, NULL);
    must(m);
    for (uint32_t t = 0; t < 8; t++) {
        const oltr_name two[] = {item[t % 3], item[(t + 1) % 3]};
        double reward[] = {t % 2, t % 5 == 0};
        oltr_lesson lesson = {.shown = {.n = 2, .name = info->contextual ? NULL : two},
                              .reward = reward,
                              .id = {&"identity"[t], 8 - t}};
        lesson.shown.x = info->contextual ? x + t % 2 * 2 : NULL;
        must(oltr_model_learn(m, &lesson, NULL, NULL) == OLTR_OK);
    }
    if (told)
        must(oltr_model_prior(m, &item[1], pair[info->takes_moments], 1, NULL) == OLTR_OK);
    must(oltr_model_save(m, byte, sizeof byte, &size) == OLTR_OK);
    snprintf(name, sizeof name, "model/%s%s", info->name, told ? "-told" : "");
    write_seed(folder, name, byte, size);
    oltr_model_free(m);
}

static void write_models(const char *folder)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (!info->by_item && !info->contextual)
            continue; /* toprank */
        write_model(folder, info, false);
        if (info->uses_prior)
            write_model(folder, info, true);
    }
}

/* Even: the file itself.  Odd: changes to a good one. */
static void write_partials(const char *folder)
{
    static const unsigned char untouched[] = {1},
                               magic_only[] = {0, 'O', 'L', 'T', 'R', 'P', 'A', 'R', 'T'},
                               empty[] = {0};
    unsigned char version[16] = {1}, replications[32] = {1}, sums[120] = {1};
    version[9] = 3;
    replications[21] = 1;
    replications[22] = 1;
    for (size_t i = 40; i < sizeof sums; i++)
        sums[i] = (unsigned char)(37 * i);
    write_seed(folder, "partial/untouched", untouched, sizeof untouched);
    write_seed(folder, "partial/magic-only", magic_only, sizeof magic_only);
    write_seed(folder, "partial/empty", empty, sizeof empty);
    write_seed(folder, "partial/version", version, sizeof version);
    write_seed(folder, "partial/replications", replications, sizeof replications);
    write_seed(folder, "partial/sums", sums, sizeof sums);
}

/* Small datasets in their binary form. */
static void write_caches(const char *folder)
{
    static const uint64_t query[] = {7, 1, 900};
    static const uint32_t first_row[] = {0, 2, 3, 6};
    static const uint8_t grade[] = {0, 4, 1, 2, 0, 255};
    static const float x[] = {0.5f, -1, 0, 3, 1e30f, 2, 7, 8, 9, 10, 11, -0.25f};
    static const struct {
        const char *name;
        uint32_t n_queries, n_rows, dim;
    } shapes[] = {{"cache/two-features", 3, 6, 2},
                  {"cache/one-feature", 3, 6, 1},
                  {"cache/one-row", 1, 2, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char path[600];
        oltr_dataset d = {.n_queries = shapes[i].n_queries,
                          .n_rows = shapes[i].n_rows,
                          .dim = shapes[i].dim,
                          .query = query,
                          .first_row = first_row,
                          .grade = grade,
                          .x = x};
        snprintf(path, sizeof path, "%s/%s", folder, shapes[i].name);
        must(oltr_dataset_save(&d, path, NULL) == OLTR_OK);
    }
}

/* Records of a log, one call each and all in one; the byte in front chooses the model. */
static void write_records(const char *folder, const char *name, int model, const call *c, size_t n)
{
    static unsigned char byte[1 << 14];
    char path[200];
    writer w = {byte, sizeof byte, 0};
    put_bytes(&w, model ? "\1" : "", 1);
    for (size_t i = 0; i < n; i++)
        put_record(&w, i + 1, &c[i]);
    must(w.used <= sizeof byte);
    snprintf(path, sizeof path, "store/%s", name);
    write_seed(folder, path, byte, w.used);
}

/* A model that has learned the lesson, as an image. */
static size_t image_of_lesson(const oltr_lesson *lesson, unsigned char *byte, size_t capacity)
{
    oltr_model_settings s;
    size_t size = 0;
    must(oltr_model_settings_init(&s, "gts", NULL) == OLTR_OK &&
         oltr_model_settings_set(&s, "prior", "full", NULL) == OLTR_OK &&
         oltr_model_settings_set(&s, "default_prior", "0.2,0.1", NULL) == OLTR_OK);
    oltr_model *m = oltr_model_new(&s, NULL);
    must(m && oltr_model_learn(m, lesson, NULL, NULL) == OLTR_OK &&
         oltr_model_save(m, byte, capacity, &size) == OLTR_OK);
    oltr_model_free(m);
    return size;
}

static void write_logs(const char *folder)
{
    static const oltr_name name[] = {{"apple", 5}, {"pear", 4}, {"a\0b", 3}};
    static const double click[] = {0, 1, 0}, real[] = {0.5, -1, 0}, weight[] = {1, 2, 0.5},
                        pair[] = {0.1, 0.2, 0.3, 0.1, 0.5, 0.05};
    static const uint8_t mask[] = {1, 1, 0};
    static const float x[] = {0.1f, 0.2f, -0.3f, 0.5f, 0, 0.25f};
    static unsigned char other[1 << 13];
    const oltr_lesson plain = {.shown = {.n = 3, .name = name}, .reward = click, .id = {"id", 2}},
                      full = {.shown = {.n = 2, .name = name},
                              .reward = real,
                              .weight = weight,
                              .examined = mask,
                              .examine = OLTR_EXAMINE_MASK},
                      rows = {.shown = {.n = 2, .x = x},
                              .reward = click,
                              .examine = OLTR_EXAMINE_DEPTH,
                              .depth = 2};
    size_t size = image_of_lesson(&plain, other, sizeof other);
    const call items[] = {{.kind = CALL_LEARN, .lesson = plain},
                          {.kind = CALL_LEARN, .lesson = full},
                          {.kind = CALL_TRIM, .idle = 1},
                          {.kind = CALL_PRIOR, .n = 3, .name = name, .pair = pair},
                          {.kind = CALL_FORGET, .keep = 0.5, .id = {"tick", 4}},
                          {.kind = CALL_MERGE, .image = other, .image_size = size},
                          {.kind = CALL_RESET, .n = 1, .name = name},
                          {.kind = CALL_REMOVE, .n = 2, .name = name + 1}};
    const call features[] = {{.kind = CALL_LEARN, .lesson = rows, .dim = 3},
                             {.kind = CALL_FORGET, .keep = 0.9},
                             {.kind = CALL_LEARN, .lesson = rows, .dim = 3}};
    write_records(folder, "items", 0, items, sizeof items / sizeof *items);
    write_records(folder, "lessons", 0, items, 3);
    write_records(folder, "prior", 0, items + 3, 1);
    write_records(folder, "merge", 0, items + 5, 1);
    write_records(folder, "features", 1, features, sizeof features / sizeof *features);
}

int main(int argc, char **argv)
{
    must(argc == 2);
    write_snapshots(argv[1]);
    write_models(argv[1]);
    write_partials(argv[1]);
    write_caches(argv[1]);
    write_logs(argv[1]);
    return 0;
}
