/* suite.h - a cmocka group that is put together at run time, because only the catalogue knows what
 * there is to test.
 *
 * Each pair of a check and a subject becomes a test of its own, so that a failure names both.
 */
#ifndef CONFORM_SUITE_H
#define CONFORM_SUITE_H

#include "conform/fixtures.h"

enum { MOST_TESTS = 6000 };

typedef struct suite {
    size_t n;
    struct CMUnitTest test[MOST_TESTS]; /* those without a name are not run */
    char name[MOST_TESTS][224];
} suite;

static inline void add_test(suite *s, const char *check, const char *subject,
                            CMUnitTestFunction run, const void *state)
{
    union {
        const void *given;
        void *passed;
    } same = {state};
    assert_true(s->n < MOST_TESTS);
    snprintf(s->name[s->n], sizeof s->name[0], "%s: %s", check, subject);
    s->test[s->n] = (struct CMUnitTest){s->name[s->n], run, NULL, NULL, same.passed};
    s->n++;
}

/* `run` on every variant that `applies` to (NULL: all). */
static inline void add_for_variants(suite *s, const variant_list *list, const char *check,
                                    CMUnitTestFunction run, int (*applies)(const variant *))
{
    for (uint32_t i = 0; i < list->n; i++)
        if (!applies || applies(&list->at[i]))
            add_test(s, check, list->at[i].name, run, &list->at[i]);
}

static inline void add_for_kinds(suite *s, const char *check, CMUnitTestFunction run)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        if (!oltr_policy_info_at(i)->contextual)
            add_test(s, check, oltr_policy_info_at(i)->name, run, oltr_policy_info_at(i));
}

#define ON_VARIANTS(s, list, f) add_for_variants(s, list, #f, f, NULL)
#define ON_SOME_VARIANTS(s, list, f, applies) add_for_variants(s, list, #f, f, applies)
#define ON_KINDS(s, f) add_for_kinds(s, #f, f)

#endif
