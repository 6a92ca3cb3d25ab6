/* config_names.c - the names that figures and claims refer to, and lists of them. */
#include "app/config/config_parts.h"
#include "engine/base/nearest.h"
#include "engine/base/quote.h"

#include <string.h>

static const char *name_at(const struct reader *reader, const struct config *config, uint32_t i)
{
    if (!config->is_concentration)
        return config->plan->points[0].policy[i].label;
    return i == 0 ? "Beta"
                  : pool_printf(reader->pool, "Gaussian (sigma %.9g)",
                                config->concentration.sigma[i - 1]);
}

bool config_names(const struct reader *reader, const struct config *config, struct names *names)
{
    uint32_t count = config->is_concentration ? config->concentration.n_sigmas + 1
                                              : config->plan->points[0].n_policies;
    const char **name = pool_get(reader->pool, count, sizeof *name);
    for (uint32_t i = 0; name && i < count; i++)
        if (!(name[i] = name_at(reader, config, i)))
            return read_no_memory(reader);
    *names = (struct names){count, name};
    return name || read_no_memory(reader);
}

bool read_name(const struct reader *reader, const struct node *node, uint32_t count,
               const char *const *name, const char *what, const char **out)
{
    char hint[HINT_SIZE], word[QUOTE_SIZE];
    if (!read_line(reader, node, out))
        return false;
    struct nearest nearest = nearest_to(*out);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(name[i], *out) == 0)
            return true;
        nearest_offer(&nearest, name[i]);
    }
    return read_bad(reader, node, "no %s of this experiment is called `%s`%s", what,
                    quote_input(*out, word), nearest_hint(&nearest, hint));
}

bool read_names(const struct reader *reader, const struct node *list, const struct names *names,
                const char *what, const char ***out, uint32_t *count)
{
    if (!read_list(reader, list))
        return false;
    const char **name = pool_get(reader->pool, list->count, sizeof *name);
    if (!name)
        return read_no_memory(reader);
    *out = name;
    *count = 0;
    for (const struct node *entry = list->first; entry; entry = entry->next, ++*count) {
        if (!read_name(reader, entry, names->count, (const char *const *)names->name, what,
                       &name[*count]))
            return false;
        for (uint32_t i = 0; i < *count; i++)
            if (strcmp(name[i], entry->text) == 0)
                return read_bad(reader, entry, "this name is in the list twice");
    }
    return true;
}
