/* model_explain.c - what a model believes about items, and how much of it is still the prior.
 *
 * The prior of an item is what a new policy with the same settings believes about it.  Its share in
 * the belief is that of the prior's weight.  A Beta posterior with a mean m and a standard
 * deviation s weighs m (1 - m) / s^2 - 1 observations, of which N were made; the rest is the prior.
 * A Gaussian posterior has the precision 1 / s^2, of which the prior brought 1 / s0^2.
 *
 * Names are translated in pieces, so that no memory is needed for a list of any length; unknown
 * ones are the item behind the last.
 */
#include "engine/model/candidates_view.h"
#include "engine/policy/rounds.h"

enum { PIECE = 256 };

/* A policy predicts at most as many candidates at once as it has items. */
static uint32_t piece_size(const oltr_model *m, uint32_t left)
{
    uint32_t most = m->settings.policy.n_items < PIECE ? m->settings.policy.n_items : PIECE;
    return left < most ? left : most;
}

/* The numbers of the candidates from `first` on. */
static oltr_query piece_of(const oltr_model *m, const oltr_list *list, uint32_t first, uint32_t n,
                           uint32_t number[PIECE])
{
    for (uint32_t j = 0; !list->name && j < n; j++)
        number[j] = first + j;
    if (list->name)
        names_find_all(&m->names, list->name + first, n, number);
    for (uint32_t j = 0; j < n; j++)
        number[j] = number[j] == NO_NAME ? m->names.n : number[j];
    return (oltr_query){.n_items = n, .item = number};
}

static oltr_status check_question(const oltr_model *m, const oltr_list *list, const void *out,
                                  oltr_error *error)
{
    oltr_status status = check_list(m, list, error);
    if (status == OLTR_OK && !out)
        status = set_error(error, OLTR_EINVAL, "room for the answer is needed");
    if (status == OLTR_OK && list->name)
        status = check_names(list->name, list->n, "name", error);
    return status;
}

static oltr_status refuse_prediction(const oltr_model *m, const oltr_query *query,
                                     oltr_status status, oltr_error *error)
{
    if (status == OLTR_EUNSUPPORTED)
        return set_error(error, status, "%s has no mean and no deviation to predict",
                         m->settings.policy.info->name);
    return explain_prediction(m->policy, query, status, error);
}

static oltr_status predict_query(const oltr_model *m, const oltr_query *query, double *mean,
                                 double *sd, oltr_error *error)
{
    oltr_status status = query->n_items ? oltr_predict(m->policy, query, mean, sd) : OLTR_OK;
    return status == OLTR_OK ? OLTR_OK : refuse_prediction(m, query, status, error);
}

oltr_status oltr_model_predict(const oltr_model *model, const oltr_list *list, double *mean,
                               double *sd, oltr_error *error)
{
    oltr_status status = check_question(model, list, mean, error);
    if (status != OLTR_OK)
        return status;
    oltr_query whole = plain_query(model, list);
    if (!list->name)
        return predict_query(model, &whole, mean, sd, error);
    for (uint32_t first = 0, n; status == OLTR_OK && first < list->n; first += n) {
        uint32_t number[PIECE];
        n = piece_size(model, list->n - first);
        oltr_query query = piece_of(model, list, first, n, number);
        status = predict_query(model, &query, mean + first, sd ? sd + first : NULL, error);
    }
    return status;
}

/* ---- the prior */

/* Gives the items of a new policy the priors of these items of the model. */
static oltr_status give_priors(oltr_policy *policy, const oltr_model *m, const uint32_t *number,
                               uint32_t n, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint32_t j = 0; status == OLTR_OK && j < n; j++) {
        double own[2];
        item_pair(m, number[j], own);
        status = oltr_item_renew(policy, j, own[0], own[1], 0, error);
    }
    return status;
}

/* A new policy whose items are the ones of these numbers.  It begins with default priors, as the
 * model did: ts-hyper recalibrates around the priors that it was made with. */
static oltr_policy *unlearned(const oltr_model *m, const uint32_t *number, uint32_t n,
                              oltr_error *error)
{
    double pair[2 * PIECE];
    oltr_settings settings = m->settings.policy;
    settings.n_items = n;
    for (uint32_t j = 0; j < n; j++) {
        pair[j] = m->settings.prior[0];
        pair[n + j] = m->settings.prior[1];
    }
    if (has_priors(m))
        settings.prior = prior_at(&m->policy->settings->prior, pair, n);
    oltr_policy *policy = oltr_policy_new(&settings, error);
    if (!policy || !has_priors(m) || give_priors(policy, m, number, n, error) == OLTR_OK)
        return policy;
    oltr_policy_free(policy);
    return NULL;
}

static oltr_status explain_prior(const oltr_model *m, const uint32_t *number, uint32_t n,
                                 oltr_explained *out, oltr_error *error)
{
    double mean[PIECE], sd[PIECE];
    if (!m->settings.policy.info->uses_prior || !m->settings.policy.info->can_predict)
        return OLTR_OK;
    oltr_policy *before = unlearned(m, number, n, error);
    oltr_status status = before ? oltr_predict(before, NULL, mean, sd) : OLTR_ENOMEM;
    for (uint32_t j = 0; status == OLTR_OK && j < n; j++) {
        out[j].prior_mean = mean[j];
        out[j].prior_sd = sd[j];
    }
    oltr_policy_free(before);
    return status;
}

static double share_of(const oltr_policy_info *info, const oltr_explained *e)
{
    if (!(e->examined > 0))
        return 1;
    double share, variance = e->sd * e->sd;
    if (info->takes_moments) {
        share = variance / (e->prior_sd * e->prior_sd);
    } else {
        double weight = e->mean * (1 - e->mean) / variance - 1;
        share = (weight - e->examined) / weight;
    }
    return share > 0 ? fmin(share, 1) : 0;
}

/* ---- explanations */

static oltr_explained unknown_numbers(void)
{
    return (oltr_explained){.mean = NAN,
                            .sd = NAN,
                            .examined = NAN,
                            .reward = NAN,
                            .prior_mean = NAN,
                            .prior_sd = NAN,
                            .prior_share = NAN};
}

/* Rows of features have a mean and a deviation alone. */
static oltr_status explain_rows(const oltr_model *m, const oltr_list *list, oltr_explained *out,
                                oltr_error *error)
{
    const oltr_query whole = plain_query(m, list);
    for (uint32_t j = 0; j < list->n; j++) {
        oltr_query row = whole;
        row.x = list->x + (size_t)j * (list->stride ? list->stride : whole.dim);
        row.n_items = 1;
        out[j] = unknown_numbers();
        if (!m->settings.policy.info->can_predict)
            continue;
        oltr_status status = oltr_predict(m->policy, &row, &out[j].mean, &out[j].sd);
        if (status != OLTR_OK)
            return refuse_prediction(m, &whole, status, error);
    }
    return OLTR_OK;
}

static void explain_sums(const oltr_model *m, uint32_t item, oltr_explained *out)
{
    sum_array sums[MAX_SUMS];
    *out = unknown_numbers();
    out->known = item < m->names.n;
    out->last = out->known ? m->names.last[item] : 0;
    if (m->policy->ops->sums(policy_state(m->policy), sums) < 2)
        return;
    out->examined = sums[0].value[item];
    out->reward = sums[1].value[item];
}

static oltr_status explain_piece(const oltr_model *m, const oltr_query *query, oltr_explained *out,
                                 oltr_error *error)
{
    double mean[PIECE], sd[PIECE];
    const oltr_policy_info *info = m->settings.policy.info;
    oltr_status status = info->can_predict ? predict_query(m, query, mean, sd, error) : OLTR_OK;
    if (status != OLTR_OK)
        return status;
    for (uint32_t j = 0; j < query->n_items; j++) {
        explain_sums(m, query->item[j], &out[j]);
        out[j].mean = info->can_predict ? mean[j] : NAN;
        out[j].sd = info->can_predict ? sd[j] : NAN;
    }
    status = explain_prior(m, query->item, query->n_items, out, error);
    for (uint32_t j = 0; status == OLTR_OK && j < query->n_items; j++)
        if (!isnan(out[j].prior_mean))
            out[j].prior_share = share_of(info, &out[j]);
    return status;
}

oltr_status oltr_model_explain(const oltr_model *model, const oltr_list *list, oltr_explained *out,
                               oltr_error *error)
{
    oltr_status status = check_question(model, list, out, error);
    if (status != OLTR_OK)
        return status;
    if (is_contextual(model))
        return explain_rows(model, list, out, error);
    uint32_t n = list->name ? list->n : model->names.n;
    for (uint32_t first = 0; status == OLTR_OK && first < n;) {
        uint32_t number[PIECE], size = piece_size(model, n - first);
        oltr_query query = piece_of(model, list, first, size, number);
        status = explain_piece(model, &query, out + first, error);
        first += size;
    }
    return status;
}
