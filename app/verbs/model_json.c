/* model_json.c - see model_json.h. */
#include "app/verbs/model_json.h"

#include "app/args/complain.h"
#include "app/logs/name_json.h"
#include "engine/base/error.h"
#include "report/io/whole_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP_FORMAT = 1 };

/* ---- values */

void json_add_name(struct text *out, oltr_name name)
{
    json_t *json = json_of_name(name);
    char *text = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
    if (text)
        text_add(out, text);
    else
        out->failed = true;
    free(text);
    json_decref(json);
}

void json_add_number(struct text *out, double value)
{
    if (isfinite(value))
        text_printf(out, "%.17g", value);
    else
        text_add(out, "null");
}

static void add_member(struct text *out, const char *key, double value)
{
    text_printf(out, ", \"%s\": ", key);
    json_add_number(out, value);
}

/* ---- base64 */

static const char digits64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void add_base64(struct text *out, const unsigned char *bytes, size_t size)
{
    if (!text_reserve(out, size / 3 * 4 + 8))
        return;
    for (size_t i = 0; i < size; i += 3) {
        size_t n = size - i < 3 ? size - i : 3;
        uint32_t word = (uint32_t)bytes[i] << 16 | (n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (n > 2 ? bytes[i + 2] : 0);
        char four[4];
        for (size_t k = 0; k < 4; k++)
            four[k] = k <= n ? digits64[word >> (18 - 6 * k) & 63] : '=';
        text_bytes(out, four, 4);
    }
}

/* In new memory, or NULL: not base64, or no memory. */
static unsigned char *bytes_of_base64(const char *text, size_t length, size_t *size)
{
    unsigned char *bytes = length % 4 == 0 ? malloc(length / 4 * 3 + 1) : NULL;
    size_t pads = length > 1 ? (size_t)(text[length - 1] == '=') + (text[length - 2] == '=') : 0;
    *size = 0;
    for (size_t i = 0; bytes && i < length; i += 4) {
        uint32_t word = 0;
        for (size_t k = 0; k < 4; k++) {
            bool pad = i + k >= length - pads;
            const char *digit = pad || text[i + k] == '\0' ? NULL : strchr(digits64, text[i + k]);
            if (!digit && !pad) {
                free(bytes);
                return NULL;
            }
            word = word << 6 | (digit ? (uint32_t)(digit - digits64) : 0);
        }
        bytes[(*size)++] = (unsigned char)(word >> 16);
        bytes[(*size)++] = (unsigned char)(word >> 8);
        bytes[(*size)++] = (unsigned char)word;
    }
    *size -= *size > 0 ? pads : 0;
    return bytes;
}

/* ---- beliefs */

/* Rows with 1 in one place. */
static float *unit_rows(uint32_t dim)
{
    float *x = calloc((size_t)dim * dim, sizeof *x);
    for (uint32_t i = 0; x && i < dim; i++)
        x[(size_t)i * dim + i] = 1;
    return x;
}

oltr_explained *model_beliefs(const oltr_model *model, uint32_t *n, oltr_error *error)
{
    const oltr_settings *policy = &oltr_model_settings_of(model)->policy;
    oltr_list list = {.n = 0};
    *n = policy->info->contextual ? policy->dim : oltr_model_items(model);
    oltr_explained *out = calloc((size_t)*n + 1, sizeof *out);
    float *x = policy->info->contextual ? unit_rows(policy->dim) : NULL;
    oltr_status status = !out || (policy->info->contextual && !x)
                             ? set_error(error, OLTR_ENOMEM, "out of memory")
                             : OLTR_OK;
    uint32_t at_once = x ? policy->n_items : 1; /* the most candidates of a request */
    for (uint32_t i = 0; x && status == OLTR_OK && i < *n; i += at_once) {
        list =
            (oltr_list){.n = *n - i < at_once ? *n - i : at_once, .x = x + (size_t)i * policy->dim};
        status = oltr_model_explain(model, &list, out + i, error);
    }
    if (!x && status == OLTR_OK && *n > 0)
        status = oltr_model_explain(model, &list, out, error);
    free(x);
    if (status == OLTR_EUNSUPPORTED)
        *n = 0;
    if (status == OLTR_OK || status == OLTR_EUNSUPPORTED)
        return out;
    free(out);
    return NULL;
}

/* ---- the readable part */

static void add_parameters(struct text *out, const oltr_settings *policy)
{
    text_add(out, " \"parameters\": {");
    for (uint32_t i = 0; i < policy->info->n_params; i++) {
        const oltr_param *param = &policy->info->params[i];
        char text[64] = "";
        oltr_settings_get(policy, i, text, sizeof text);
        text_printf(out, "%s\"%s\": ", i > 0 ? ", " : "", param->name);
        if (param->type == OLTR_CHOICE)
            text_printf(out, "\"%s\"", text);
        else
            json_add_number(out, policy->value[i]);
    }
    text_add(out, "},\n");
}

static void add_settings(struct text *out, const oltr_model_settings *s)
{
    static const char *const examine[] = {"", "cascade", "last", "all"};
    text_printf(out, " \"settings\": {\"most_items\": %u, \"window\": %u, \"examine\": \"%s\"",
                s->most_items, s->window, s->examine < 4 ? examine[s->examine] : "");
    if (s->policy.info->contextual)
        text_printf(out, ", \"dim\": %u, \"candidates\": %u", s->policy.dim, s->policy.n_items);
    text_add(out, ", \"default_prior\": ");
    if (isnan(s->prior[0])) {
        text_add(out, "null},\n");
        return;
    }
    text_add(out, "[");
    json_add_number(out, s->prior[0]);
    text_add(out, ", ");
    json_add_number(out, s->prior[1]);
    text_add(out, "]},\n");
}

static void add_hyper(struct text *out, const oltr_policy *policy)
{
    oltr_hyper hyper;
    text_add(out, " \"learned_about_prior\": [");
    for (uint32_t i = 0; i < oltr_hyper_count(policy); i++) {
        if (oltr_hyper_at(policy, i, &hyper) != OLTR_OK)
            continue;
        text_printf(out, "%s{\"name\": \"%s\"", i > 0 ? ", " : "", hyper.name);
        add_member(out, "mean", hyper.mean);
        add_member(out, "sd", hyper.sd);
        text_add(out, "}");
    }
    text_add(out, "],\n");
}

static void add_belief(struct text *out, const oltr_model *model, const oltr_explained *e,
                       uint32_t i)
{
    if (oltr_model_settings_of(model)->policy.info->contextual) {
        text_printf(out, "  {\"feature\": %u", i + 1);
        add_member(out, "mean", e->mean);
        add_member(out, "sd", e->sd);
    } else {
        text_add(out, "  {\"item\": ");
        json_add_name(out, oltr_model_name(model, i));
        add_member(out, "mean", e->mean);
        add_member(out, "sd", e->sd);
        add_member(out, "examined", e->examined);
        add_member(out, "reward", e->reward);
        add_member(out, "prior_mean", e->prior_mean);
        add_member(out, "prior_sd", e->prior_sd);
        add_member(out, "prior_share", e->prior_share);
        text_printf(out, ", \"last\": %llu", (unsigned long long)e->last);
    }
    text_add(out, "}");
}

/* Everything but the image. */
static oltr_status add_readable(const oltr_model *model, struct text *out, oltr_error *error)
{
    const oltr_model_settings *settings = oltr_model_settings_of(model);
    uint32_t n;
    oltr_explained *belief = model_beliefs(model, &n, error);
    if (!belief)
        return error->code;
    text_printf(out, "{\"oltr_model\": %d,\n \"policy\": \"%s\",\n", DUMP_FORMAT,
                settings->policy.info->name);
    add_parameters(out, &settings->policy);
    add_settings(out, settings);
    text_printf(out, " \"lessons\": %llu,\n", (unsigned long long)oltr_model_lessons(model));
    add_hyper(out, oltr_model_policy(model));
    text_printf(out, " \"%s\": [", settings->policy.info->contextual ? "features" : "items");
    for (uint32_t i = 0; i < n; i++) {
        text_add(out, i > 0 ? ",\n" : "\n");
        add_belief(out, model, &belief[i], i);
    }
    text_add(out, "],\n");
    free(belief);
    return OLTR_OK;
}

static oltr_status add_image(const oltr_model *model, struct text *out, oltr_error *error)
{
    size_t bound = oltr_model_save_bound(model), size = 0;
    unsigned char *image = malloc(bound);
    if (!image)
        return set_error(error, OLTR_ENOMEM, "no memory for the %zu bytes of the image", bound);
    oltr_status status = oltr_model_save(model, image, bound, &size);
    if (status == OLTR_OK) {
        text_add(out, " \"image\": \"");
        add_base64(out, image, size);
        text_add(out, "\"}\n");
    }
    free(image);
    return status == OLTR_OK ? OLTR_OK : set_error(error, status, "%s", oltr_strerror(status));
}

oltr_status model_to_json(const oltr_model *model, struct text *out, oltr_error *error)
{
    oltr_status status = add_readable(model, out, error);
    if (status == OLTR_OK)
        status = add_image(model, out, error);
    return status == OLTR_OK && out->failed ? set_error(error, OLTR_ENOMEM, "out of memory")
                                            : status;
}

/* ---- back */

static int read_whole(const char *path, struct text *text)
{
    oltr_error error = {OLTR_OK, ""};
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!stream)
        return complain(EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    char block[65536];
    size_t got;
    while ((got = fread(block, 1, sizeof block, stream)) > 0)
        text_bytes(text, block, got);
    bool failed = ferror(stream);
    if (stream != stdin)
        (void)fclose(stream);
    if (failed)
        set_error(&error, OLTR_EIO, "%s: cannot read it: %s", path, strerror(errno));
    return failed ? complain_of(&error) : text->failed ? complain_no_memory() : EXIT_OK;
}

enum { WHERE_SIZE = 96 };

/* Adds a step to the path of a difference. */
static void step_into(char where[WHERE_SIZE], const char *key, size_t index)
{
    size_t used = strlen(where);
    if (key)
        snprintf(where + used, WHERE_SIZE - used, "%s%s", used > 0 ? "." : "", key);
    else
        snprintf(where + used, WHERE_SIZE - used, "[%zu]", index);
}

/* Where the two differ, first in the order of the model; false if they do not. */
static bool find_difference(const json_t *model, const json_t *file, char where[WHERE_SIZE])
{
    void *at;
    size_t length = strlen(where);
    if (json_is_object(model) && json_is_object(file)) {
        for (at = json_object_iter((json_t *)(uintptr_t)model); at;
             at = json_object_iter_next((json_t *)(uintptr_t)model, at)) {
            const char *key = json_object_iter_key(at);
            step_into(where, key, 0);
            if (find_difference(json_object_iter_value(at), json_object_get(file, key), where))
                return true;
            where[length] = '\0';
        }
        return false;
    }
    if (json_is_array(model) && json_is_array(file) &&
        json_array_size(model) == json_array_size(file)) {
        for (size_t i = 0; i < json_array_size(model); i++) {
            step_into(where, NULL, i);
            if (find_difference(json_array_get(model, i), json_array_get(file, i), where))
                return true;
            where[length] = '\0';
        }
        return false;
    }
    if (json_is_number(model) && json_is_number(file)) {
        double a = json_number_value(model), b = json_number_value(file);
        return a < b || a > b;
    }
    return !json_equal(model, file);
}

/* The readable part of the file must be that of its image. */
static int compare(const char *path, const json_t *file, const oltr_model *model)
{
    oltr_error error = {OLTR_OK, ""};
    struct text readable = {0};
    char where[WHERE_SIZE] = "";
    oltr_status status = add_readable(model, &readable, &error);
    text_add(&readable, " \"image\": null}\n");
    json_t *own = status == OLTR_OK && !readable.failed
                      ? json_loadb(readable.bytes, readable.length, JSON_ALLOW_NUL, NULL)
                      : NULL;
    text_free(&readable);
    if (!own)
        return complain_no_memory();
    json_object_del(own, "image");
    bool differs = find_difference(own, file, where);
    json_decref(own);
    return differs ? complain(EXIT_USAGE,
                              "%s: `%s` is not what the image in the file has; a dump is read "
                              "whole, and priors are changed with `oltr model prior`",
                              path, where)
                   : EXIT_OK;
}

static int model_of(const char *path, const json_t *json, oltr_model **out)
{
    const json_t *format = json_object_get(json, "oltr_model"),
                 *image = json_object_get(json, "image");
    oltr_error error = {OLTR_OK, ""};
    size_t size;
    if (!json_is_integer(format) || !json_is_string(image))
        return complain(EXIT_USAGE, "%s is not a dump of `oltr model dump`: it has no \"%s\"", path,
                        json_is_integer(format) ? "image" : "oltr_model");
    if (json_integer_value(format) != DUMP_FORMAT)
        return complain(EXIT_USAGE, "%s is a dump of a newer oltr", path);
    unsigned char *bytes =
        bytes_of_base64(json_string_value(image), json_string_length(image), &size);
    if (!bytes)
        return complain(EXIT_USAGE, "%s: \"image\" is not base64", path);
    *out = oltr_model_load(bytes, size, NULL, NULL, &error);
    free(bytes);
    return *out ? compare(path, json, *out)
                : complain(EXIT_FAILED, "%s: \"image\": %s", path, error.msg);
}

int model_from_json(const char *path, oltr_model **out)
{
    struct text text = {0};
    json_error_t why;
    int code = read_whole(path, &text);
    json_t *json = code == EXIT_OK
                       ? json_loadb(text.bytes ? text.bytes : "", text.length, JSON_ALLOW_NUL, &why)
                       : NULL;
    text_free(&text);
    if (code == EXIT_OK)
        code = json ? model_of(path, json, out)
                    : complain(EXIT_USAGE, "%s:%d: not JSON: %s", path, why.line, why.text);
    json_decref(json);
    return code;
}
