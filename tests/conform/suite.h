/* suite.h - a cmocka group that is put together at run time, because the catalogue decides what
 * there is to test.
 *
 * Each pair of a check and a subject is a test of its own, so that a failure names both.
 */
#ifndef CONFORM_SUITE_H
#define CONFORM_SUITE_H

#include "support/unit.h"

#include <oltr/oltr.h>

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

static inline void add_for_kinds(suite *s, const char *check, CMUnitTestFunction run)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        add_test(s, check, oltr_policy_info_at(i)->name, run, oltr_policy_info_at(i));
}

#define ON_KINDS(s, f) add_for_kinds(s, #f, f)
#define ONCE(s, f) add_test(s, #f, "once", f, NULL)

/* ---- expectations */

static inline void expect(oltr_status got, oltr_status wanted)
{
    if (got != wanted)
        fail_msg("got %s, expected %s", oltr_status_name(got), oltr_status_name(wanted));
}

/* The status, its copy in the error, and a part of the text. */
static inline void expect_error(oltr_status got, const oltr_error *error, oltr_status wanted,
                                const char *words)
{
    expect(got, wanted);
    expect(error->code, wanted);
    if (!strstr(error->msg, words))
        fail_msg("expected '%s' in '%s'", words, error->msg);
}

#endif
