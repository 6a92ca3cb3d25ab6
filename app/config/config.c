/* config.c - see config.h. */
#include "app/config/config.h"

#include "app/config/config_parts.h"

#include <string.h>

static void take_points(const oltr_plan *plan, struct config *config)
{
    config->n_points = plan->n_points;
    config->points = plan->points;
    config->plan = plan->data;
    config->sweep_key = plan->sweep_key;
    config->sweep = plan->sweep;
    config->note = plan->note;
}

static bool read_config(const struct reader *reader, struct config *config)
{
    const struct node *root = config->root;
    if (config->kind == CONFIG_CONCENTRATION)
        return config_concentration(reader, root, config) && config_claims(reader, root, config);
    if (!plan_read(config->source, reader->error))
        return false;
    take_points(config->source, config);
    return config_figures(reader, root, config) && config_claims(reader, root, config);
}

oltr_status config_parse(const char *name, const char *text, size_t length,
                         const struct overrides *overrides, struct config *out, oltr_error *error)
{
    oltr_error own;
    memset(out, 0, sizeof *out);
    struct reader reader = {&out->pool, error ? error : &own};
    reader.error->code = OLTR_OK;
    out->source = plan_open(name, text, length, overrides, reader.error);
    if (!out->source)
        return reader.error->code;
    out->title = out->source->title;
    out->root = out->source->root;
    out->kind =
        strcmp(out->source->kind, "concentration") == 0 ? CONFIG_CONCENTRATION : CONFIG_REGRET;
    return read_config(&reader, out) ? OLTR_OK : reader.error->code;
}

bool config_needs_data(const struct config *config, uint32_t point)
{
    return plan_needs_data(config->source, point);
}

void config_free(struct config *config)
{
    oltr_plan_free(config->source);
    pool_free(&config->pool);
    memset(config, 0, sizeof *config);
}
