/* config.c - reads an experiment file section by section; see config.h. */
#include "app/config/config.h"

#include "app/config/config_parts.h"

#include <string.h>

oltr_status config_open(const char *name, const char *text, size_t length, struct config *config,
                        oltr_error *error)
{
    memset(config, 0, sizeof *config);
    config->plan = plan_open(name, text, length, error);
    return config->plan ? OLTR_OK : error->code;
}

static bool read_sections(const struct reader *reader, struct config *config)
{
    const struct node *root = config->plan->root;
    struct names names;
    config->is_concentration = strcmp(config->plan->kind, "concentration") == 0;
    bool good = config->is_concentration ? config_concentration(reader, root, config)
                                         : plan_read(config->plan, reader->error);
    return good && config_names(reader, config, &names) &&
           (config->is_concentration || config_figures(reader, root, &names, config)) &&
           config_claims(reader, root, &names, config);
}

oltr_status config_read(struct config *config, const struct overrides *overrides, oltr_error *error)
{
    struct reader reader = {&config->pool, error};
    bool good = plan_override(config->plan, overrides, error) && read_sections(&reader, config);
    return good ? OLTR_OK : error->code;
}

void config_free(struct config *config)
{
    oltr_plan_free(config->plan);
    pool_free(&config->pool);
    memset(config, 0, sizeof *config);
}
