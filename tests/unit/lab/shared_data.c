/* shared_data.c - real files, read with the counts that their README tells.  They are no part of
 * the product: without them this is skipped. They are looked for in the folder OLTR_DATA names, or
 * else in ../shared/data beside the source tree.
 */
#define _GNU_SOURCE 1
#include "support/unit.h"

#include <stdio.h>
#include <unistd.h>

#include <oltr/sim.h>

static const char *data;

typedef struct facts {
    const char *file;
    uint32_t rows, queries, dim, top; /* 0: any; top is the largest grade */
    uint64_t clamped, duplicates;
} facts;

static const facts files[] = {
    {"mslr-web30k/train.txt.gz", 5555, 54, 136, 4, 0, 0},
    {"mslr-web30k/vali.txt.gz", 1734, 18, 136, 4, 0, 0},
    {"mslr-web30k/test.txt.gz", 1900, 18, 136, 4, 0, 0},
    {"mq2008/train.txt.gz", 9630, 471, 46, 2, 0, 0},
    {"mq2008/vali.txt.gz", 2707, 157, 46, 2, 0, 0},
    {"clueweb09/Fold1.txt.gz", 5309, 12, 42, 4, 0, 0},
    {"clueweb09/Fold2.txt.gz", 5584, 12, 42, 4, 0, 0},
    {"clueweb09/Fold3.txt.gz", 4686, 12, 42, 4, 0, 0},
    {"fixtures/istella_dummy_train.txt", 5, 2, 220, 2, 5, 0},
    {"fixtures/istella_dummy_test.txt", 6, 2, 220, 2, 6, 0},
    {"fixtures/pytorchltr_dataset.txt", 39, 4, 45, 2, 0, 0},
    {"fixtures/rankeval_svmlight_qid.txt", 4, 3, 33, 3, 0, 0},
    {"fixtures/tfr_toy_train.txt", 119, 27, 136, 2, 0, 141},
    {"fixtures/tfr_toy_vali.txt", 36, 9, 136, 2, 0, 39},
    {"fixtures/tfr_toy_test.txt", 36, 9, 136, 2, 0, 39},
};

static void every_file_has_the_counts_of_its_readme(void **state)
{
    for (size_t i = 0; i < COUNT(files); i++) {
        const facts *f = &files[i];
        char path[1000];
        oltr_error error = {OLTR_OK, ""};
        oltr_read_report r;
        snprintf(path, sizeof path, "%s/%s", data, f->file);
        oltr_dataset *d = oltr_dataset_read(
            path, &(oltr_read_options){.threads = 1 + (uint32_t)i % 3}, &r, &error);
        if (!d)
            fail_msg("%s", error.msg);
        uint32_t top = 0;
        for (uint32_t j = 0; j < d->n_rows; j++)
            top = d->grade[j] > top ? d->grade[j] : top;
        if (d->n_rows != f->rows || d->n_queries != f->queries || d->dim != f->dim || top != f->top)
            fail_msg("%s: %u rows, %u queries, %u features, grades to %u", path, d->n_rows,
                     d->n_queries, d->dim, top);
        assert_int_equal(r.clamped, f->clamped);
        assert_int_equal(r.duplicates, f->duplicates);
        oltr_dataset_free(d);
    }
}

static void the_range_is_that_of_web30k(void **state)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/mslr-web30k/train.txt.gz", data);
    oltr_dataset *d = oltr_dataset_read(path, NULL, NULL, NULL);
    assert_non_null(d);
    float low = d->x[0], high = d->x[0];
    for (size_t i = 0; i < (size_t)d->n_rows * d->dim; i++) {
        low = d->x[i] < low ? d->x[i] : low;
        high = d->x[i] > high ? d->x[i] : high;
    }
    assert_true(low >= -73 && low < 0 && high > 1e6f && high <= 1.7e8f);
    oltr_dataset_free(d);
}

static void the_invalid_file_is_refused_with_its_line(void **state)
{
    char path[1000];
    oltr_error error;
    snprintf(path, sizeof path, "%s/fixtures/rankeval_svmlight_invalid.txt", data);
    assert_null(oltr_dataset_read(path, NULL, NULL, &error));
    assert_int_equal(error.code, OLTR_EDATA);
    assert_non_null(strstr(error.msg, "line 1, column 1: expected a grade"));
}

int main(void)
{
    char readme[1000];
    data = getenv("OLTR_DATA");
    data = data ? data : OLTR_SOURCE "/../shared/data";
    snprintf(readme, sizeof readme, "%s/README.md", data);
    if (access(readme, R_OK) != 0) {
        printf("skipped: no real data in %s; OLTR_DATA can name another folder\n", data);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_has_the_counts_of_its_readme),
        cmocka_unit_test(the_range_is_that_of_web30k),
        cmocka_unit_test(the_invalid_file_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
