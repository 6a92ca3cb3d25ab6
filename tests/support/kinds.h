/* kinds.h - what kinds of policies have in common, where a test has to know. */
#ifndef OLTR_TESTS_SUPPORT_KINDS_H
#define OLTR_TESTS_SUPPORT_KINDS_H

#include <oltr/oltr.h>
#include <stdbool.h>
#include <string.h>

/* Keeps counts of distinct rows and an estimate that solves their score equation, found to 1e-8
 * (engine/policy/logistic_policy.h).  Loading takes a saved estimate as it is, however far from the
 * root; oltr_check() finds it. */
static inline bool has_logistic_posterior(const oltr_policy_info *info)
{
    static const char *const names[] = {"logts", "glm-ucb", "pg-ts"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(info->name, names[i]) == 0)
            return true;
    return false;
}

#endif
