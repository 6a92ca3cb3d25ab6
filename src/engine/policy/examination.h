/* examination.h - how likely a user examines each slot of a list, in the position-based model: the
 * parameters `decay` and `examine1` to `examine8` of pbm-ts and pbm-ucb.
 *
 * Definition.  A click in slot l has the chance kappa_l nu_i.  kappa_l is examine_l where that is
 * not 0.  Other slots follow from the last slot m before them that has a number, by
 *     kappa_l = kappa_m (m / l)^decay,
 * and from kappa_1 = 1 where none has.  Every kappa is rounded to a multiple of 2^-20, and is at
 * least that: sums of up to 2^33 of them are exact, whatever the order of the lessons.
 */
#ifndef OLTR_ENGINE_POLICY_EXAMINATION_H
#define OLTR_ENGINE_POLICY_EXAMINATION_H

#include "engine/policy/candidate_scores.h"

enum { EXAMINE_SLOTS = 8, EXAMINE_PARAMS = EXAMINE_SLOTS + 1 };

#define EXAMINE_ROW(number, place)                                                                 \
    {                                                                                              \
        "examine" number, OLTR_REAL, 0, 0, 1, NULL,                                                \
            "the share of users who examine the " place                                            \
            " slot, where it was measured; 0: by decay"                                            \
    }

/* The rows of a table of parameters: decay, then the numbers of the slots. */
#define EXAMINE_PARAM_ROWS                                                                         \
    {"decay",                                                                                      \
     OLTR_REAL,                                                                                    \
     1,                                                                                            \
     0,                                                                                            \
     10,                                                                                           \
     NULL,                                                                                         \
     "slot l is examined by a share l^-decay of the users; 0: every slot by all of them"},         \
        EXAMINE_ROW("1", "first"), EXAMINE_ROW("2", "second"), EXAMINE_ROW("3", "third"),          \
        EXAMINE_ROW("4", "fourth"), EXAMINE_ROW("5", "fifth"), EXAMINE_ROW("6", "sixth"),          \
        EXAMINE_ROW("7", "seventh"), EXAMINE_ROW("8", "eighth")

typedef struct examination {
    double kappa[EXAMINE_SLOTS];   /* of the first slots, rounded */
    double last, decay;            /* of the others: last (EXAMINE_SLOTS / l)^decay */
    uint32_t order[EXAMINE_SLOTS]; /* the first slots, the most examined first */
    bool falls;                    /* no slot is examined more than one before it */
    bool certain;                  /* every slot is examined by all users */
} examination;

/* `decay` is the index of that parameter; those of the slots follow it. */
examination examination_of(const oltr_settings *settings, uint32_t decay);

/* kappa of a slot, from 0. */
double examination_at(const examination *e, uint32_t slot);

/* The scratch of a policy that ranks by scores: that of candidate_scores.h, and room for a list. */
layout placed_plan(uint32_t n_items);
size_t placed_bytes(const oltr_settings *settings);

/* Shows the best of the scores in the scratch, moved to the slots: the best in the most examined
 * one, and so on; of slots that are examined equally the first is filled first. */
void show_placed(const examination *e, uint32_t n_items, const candidates *from,
                 const oltr_rng *rng, void *scratch, const oltr_ranking *out);

/* For a policy of any kind: whether it has these parameters; and whether, where it has, no slot is
 * examined more than one before it. */
bool has_examination(const oltr_policy_info *info);
bool examination_falls(const oltr_settings *settings);

#endif
