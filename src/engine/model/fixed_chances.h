/* fixed_chances.h - the chances of chances.h where scores are fixed and ties are broken at random.
 */
#ifndef OLTR_ENGINE_MODEL_FIXED_CHANCES_H
#define OLTR_ENGINE_MODEL_FIXED_CHANCES_H

#include "engine/model/chances.h"

/* As list_chances() and list_prefix_chances(), of arguments that these have checked.  in_list,
 * first and chance must be 0, or NULL where those may be. */
oltr_status fixed_list_chances(const score_laws *laws, const list_rule *rule,
                               const oltr_memory *memory, double *in_list, double *first);
oltr_status fixed_prefix_chances(const score_laws *laws, const uint32_t *shown, uint32_t k,
                                 const oltr_memory *memory, double *chance);
/* As list_next_chances(); next must be 0. */
oltr_status fixed_next_chances(const score_laws *laws, const uint32_t *shown, uint32_t k,
                               const oltr_memory *memory, double *next);

#endif
