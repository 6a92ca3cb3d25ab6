/* model_rank.h - the parts of ranking that computing chances needs too. */
#ifndef OLTR_ENGINE_MODEL_MODEL_RANK_H
#define OLTR_ENGINE_MODEL_MODEL_RANK_H

#include "engine/model/candidates_view.h"

/* Whether the model can make such a list; place and score are not looked at. */
oltr_status check_show(const oltr_model *m, const oltr_show *show, oltr_error *error);

/* OLTR_ENAME for a name that occurs twice.  The policy finds it when it ranks; the mean and the
 * laws of scores do not. */
oltr_status check_distinct(const candidates_view *view, oltr_model_scratch *scratch,
                           oltr_error *error);

/* The out->k best candidates, by the policy or by the mean, as places in the list. */
oltr_status rank_places(const candidates_view *view, oltr_rng rng, bool greedy,
                        oltr_model_scratch *scratch, oltr_ranking *out, oltr_error *error);

/* The list that `show` describes; show->k becomes the number of candidates where these are fewer.
 */
oltr_status rank_view(const candidates_view *view, oltr_rng rng, oltr_model_scratch *scratch,
                      oltr_show *show, oltr_error *error);

#endif
