/* module_caps.c - see module_caps.h. */
#include "serve/redis/module_caps.h"

#include <oltr/model.h>

module_cap module_caps[N_CAPS] = {
    [CAP_SLOTS] = {"max-slots", 1000, 1, OLTR_MOST_SHOWN, RM_CONFIG_DEFAULT},
    [CAP_CANDIDATES] = {"max-candidates", 16384, 1, 1 << 20, RM_CONFIG_DEFAULT},
    [CAP_DIM] = {"max-dim", 512, 1, 4096, RM_CONFIG_DEFAULT},
    [CAP_ITEMS] = {"max-items", 65536, 1, MOST_ROOM, RM_CONFIG_DEFAULT},
    [CAP_MODEL_BYTES] = {"max-model-bytes", 64 << 20, 1 << 16, 1ll << 40, RM_CONFIG_MEMORY},
    [CAP_DRAWS] = {"max-draws", 65536, 1, MOST_DRAWN_SCORES, RM_CONFIG_DEFAULT},
    [CAP_BATCH] = {"max-batch", 1000, 1, MOST_ROOM, RM_CONFIG_DEFAULT},
    [CAP_EXACT] = {"max-exact", 256, 0, 16384, RM_CONFIG_DEFAULT},
};

static long long get_cap(const char *name, void *with)
{
    (void)name;
    return ((const module_cap *)with)->value;
}

static int set_cap(const char *name, long long value, void *with, rm_string **error)
{
    (void)name;
    (void)error;
    ((module_cap *)with)->value = value;
    return RM_OK;
}

int module_caps_register(rm_ctx *ctx)
{
    for (int i = 0; i < N_CAPS; i++) {
        module_cap *cap = &module_caps[i];
        cap->value = cap->initial;
        if (rm.RegisterNumericConfig(ctx, cap->name, cap->initial, cap->flags, cap->least,
                                     cap->most, get_cap, set_cap, NULL, cap) != RM_OK)
            return RM_ERR;
    }
    return rm.LoadConfigs(ctx);
}
