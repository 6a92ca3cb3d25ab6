/* model_settings.c - what a model is made with: defaults, options by text, and their checks. */
#include "engine/model/model_parts.h"

#include <stdlib.h>

#include "engine/base/plain_real.h"
#include "engine/base/quote.h"
#include "engine/base/reads_prior.h"
#include "engine/base/text.h"
#include "engine/policy/examination.h"
#include "engine/policy/settings.h"
#include "engine/posterior/item_prior.h"

enum { DEFAULT_ITEMS = 1 << 20, DEFAULT_WINDOW = 65536, DEFAULT_CANDIDATES = 1024 };

oltr_status oltr_model_settings_init(oltr_model_settings *settings, const char *kind,
                                     oltr_error *error)
{
    if (!settings)
        return set_error(error, OLTR_EINVAL, "there are no settings to fill in");
    *settings = (oltr_model_settings){.prior = {NAN, NAN},
                                      .most_items = DEFAULT_ITEMS,
                                      .window = DEFAULT_WINDOW,
                                      .examine = OLTR_EXAMINE_CASCADE,
                                      .size = sizeof *settings};
    oltr_status status = oltr_settings_init(&settings->policy, kind, DEFAULT_CANDIDATES, error);
    if (status == OLTR_OK && has_examination(settings->policy.info))
        settings->examine = OLTR_EXAMINE_ALL;
    return status;
}

/* ---- options by text */

static oltr_status set_count(const char *name, const char *text, uint32_t least, uint32_t most,
                             uint32_t *to, oltr_error *error)
{
    char shown[QUOTE_SIZE];
    unsigned long long value = count_is_plain(text) ? strtoull(text, NULL, 10) : UINT64_MAX;
    if (value < least || value > most)
        return set_error(error, OLTR_EVALUE, "%s is a whole number from %u to %u, not '%s'", name,
                         least, most, quote_input(text, shown));
    *to = (uint32_t)value;
    return OLTR_OK;
}

static const char *const rules[] = {
    [OLTR_EXAMINE_CASCADE] = "cascade", [OLTR_EXAMINE_LAST] = "last", [OLTR_EXAMINE_ALL] = "all"};

static oltr_status set_examine(const char *text, uint32_t *to, oltr_error *error)
{
    char shown[QUOTE_SIZE];
    for (uint32_t rule = OLTR_EXAMINE_CASCADE; rule <= OLTR_EXAMINE_ALL; rule++)
        if (strcmp(text, rules[rule]) == 0) {
            *to = rule;
            return OLTR_OK;
        }
    return set_error(error, OLTR_EVALUE, "examine is cascade, last or all, not '%s'",
                     quote_input(text, shown));
}

/* Two plain numbers with a comma between them. */
static bool read_pair(const char *text, double pair[2])
{
    char first[64];
    const char *comma = strchr(text, ',');
    size_t n = comma ? (size_t)(comma - text) : 0;
    if (!comma || n >= sizeof first)
        return false;
    memcpy(first, text, n);
    first[n] = 0;
    if (!number_is_plain(first) || !number_is_plain(comma + 1))
        return false;
    pair[0] = plain_real(first, NULL);
    pair[1] = plain_real(comma + 1, NULL);
    return true;
}

static oltr_status set_default_prior(const char *text, double to[2], oltr_error *error)
{
    char shown[QUOTE_SIZE];
    double pair[2] = {NAN, NAN};
    if (strcmp(text, "none") != 0 && !read_pair(text, pair))
        return set_error(error, OLTR_EVALUE,
                         "default_prior is two numbers with a comma between them, as 1,50, or "
                         "none; not '%s'",
                         quote_input(text, shown));
    memcpy(to, pair, sizeof pair);
    return OLTR_OK;
}

oltr_status oltr_model_settings_set(oltr_model_settings *settings, const char *name,
                                    const char *text, oltr_error *error)
{
    if (!settings || !name || !text)
        return set_error(error, OLTR_EINVAL, "settings, a name and a value are needed");
    if (strcmp(name, "most_items") == 0)
        return set_count(name, text, 1, OLTR_MOST_MODEL_ITEMS, &settings->most_items, error);
    if (strcmp(name, "window") == 0)
        return set_count(name, text, 0, OLTR_MOST_WINDOW, &settings->window, error);
    if (strcmp(name, "candidates") == 0)
        return set_count(name, text, 1, OLTR_MOST_MODEL_ITEMS, &settings->policy.n_items, error);
    if (strcmp(name, "dim") == 0)
        return set_count(name, text, 1, MOST_FEATURES, &settings->policy.dim, error);
    if (strcmp(name, "examine") == 0)
        return set_examine(text, &settings->examine, error);
    if (strcmp(name, "default_prior") == 0)
        return set_default_prior(text, settings->prior, error);
    return oltr_settings_set(&settings->policy, name, text, error);
}

/* ---- checks */

static oltr_status check_kind(const oltr_policy_info *info, oltr_error *error)
{
    if (info->ops)
        return set_error(error, OLTR_EUNSUPPORTED,
                         "%s is a policy of your own: a model must be loaded by programs that do "
                         "not have it; use oltr_policy and its snapshots",
                         info->name);
    if (!info->contextual && !info->by_item)
        return set_error(error, OLTR_EUNSUPPORTED,
                         "%s cannot be served: it compares all pairs of a fixed set of items, and "
                         "the items of a model come and go; choose another kind",
                         info->name);
    return OLTR_OK;
}

/* The best item of a model's list is its first. */
static oltr_status check_slots(const oltr_settings *policy, oltr_error *error)
{
    return examination_falls(policy)
               ? OLTR_OK
               : set_error(error, OLTR_EVALUE,
                           "a slot of %s is examined more often than one before it: number the "
                           "slots of the page by how often they are examined, the most examined "
                           "first",
                           policy->info->name);
}

oltr_status check_pair(const oltr_policy_info *info, const double pair[2], oltr_error *error)
{
    oltr_prior shapes = {.a = &pair[0], .b = &pair[1]};
    oltr_prior moments = {.mean = &pair[0], .sd = &pair[1]};
    return prior_check(info->takes_moments ? &moments : &shapes, 1, false, error);
}

static oltr_status check_default_prior(const oltr_model_settings *s, oltr_error *error)
{
    const oltr_policy_info *info = s->policy.info;
    bool given = !isnan(s->prior[0]), taken = prior_is_taken(&s->policy);
    if (given == isnan(s->prior[1]))
        return set_error(error, OLTR_EPRIOR,
                         "a default prior is two numbers, or two NANs for none");
    if (given && !taken)
        return set_error(error, OLTR_EPRIOR, "%s%s leave out the default prior", info->name,
                         info->uses_prior
                             ? " has `prior: none` and would not read a prior: set its parameter "
                               "prior to full (or mean), or"
                             : " takes no prior:");
    if (!given && taken)
        return set_error(error, OLTR_EPRIOR,
                         "%s takes priors of its items: give a default prior for those that have "
                         "none of their own (%s)",
                         info->name, info->takes_moments ? "mean and sd" : "a and b");
    return given ? check_pair(info, s->prior, error) : OLTR_OK;
}

oltr_status model_settings_check(const oltr_model_settings *s, oltr_error *error)
{
    if (!s || !s->policy.info)
        return set_error(error, OLTR_EINVAL,
                         "settings are missing; make them with oltr_model_settings_init()");
    if (s->size != sizeof *s || !is_zero(s->reserved, sizeof s->reserved))
        return set_error(error, OLTR_EINVAL,
                         "the settings were made for a newer oltr, or not by "
                         "oltr_model_settings_init(): their size is %u, not %zu, or a reserved "
                         "member is not 0",
                         s->size, sizeof *s);
    if (!memory_is_whole(s->policy.memory))
        return set_error(error, OLTR_EINVAL, "a memory hook has both take and give, or is NULL");
    if (!policy_ops_of(s->policy.info))
        return set_error(error, OLTR_EINVAL,
                         "the kind is unknown; make settings with oltr_model_settings_init()");
    if (prior_given(&s->policy.prior))
        return set_error(error, OLTR_EPRIOR,
                         "items of a model get their priors by name, from oltr_model_prior()");
    if (s->most_items < 1 || s->most_items > OLTR_MOST_MODEL_ITEMS)
        return set_error(error, OLTR_EVALUE, "most_items is from 1 to %d, not %u",
                         OLTR_MOST_MODEL_ITEMS, s->most_items);
    if (s->window > OLTR_MOST_WINDOW)
        return set_error(error, OLTR_EVALUE, "window is at most %d, not %u", OLTR_MOST_WINDOW,
                         s->window);
    if (s->examine < OLTR_EXAMINE_CASCADE || s->examine > OLTR_EXAMINE_ALL)
        return set_error(error, OLTR_EVALUE, "examine of a model is cascade, last or all");
    oltr_status status = check_kind(s->policy.info, error);
    if (status == OLTR_OK)
        status = check_slots(&s->policy, error);
    return status == OLTR_OK ? check_default_prior(s, error) : status;
}
