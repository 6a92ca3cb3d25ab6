/* tree_json.c - writes the document of an experiment as JSON; see tree_json.h. */
#include "app/config/tree_json.h"

#include "engine/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static json_t *scalar_json(const struct node *node)
{
    bool number = !node->quoted && number_is_plain(node->text);
    if (number && strspn(node->text, "+-0123456789") == strlen(node->text)) {
        errno = 0;
        long long value = strtoll(node->text, NULL, 10);
        return errno == 0 ? json_integer(value) : json_string(node->text);
    }
    json_t *real =
        number ? json_real(strtod(node->text, NULL)) : NULL; /* NULL: too large to be a number */
    if (real)
        return real;
    bool truth =
        !node->quoted && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0);
    return truth ? json_boolean(node->text[0] == 't') : json_string(node->text);
}

json_t *tree_json(const struct node *node)
{
    if (node->type == NODE_SCALAR)
        return scalar_json(node);
    json_t *json = node->type == NODE_LIST ? json_array() : json_object();
    for (const struct node *entry = node->first; json && entry; entry = entry->next) {
        json_t *value = tree_json(entry);
        int failed = node->type == NODE_LIST ? json_array_append_new(json, value)
                                             : json_object_set_new(json, entry->key->text, value);
        if (failed) {
            json_decref(json);
            json = NULL;
        }
    }
    return json;
}
