/* tree.c - see tree.h.  The events of libyaml become nodes.  Recursion is at most DEEPEST levels
 * deep, whatever the file contains. */
#include "lab/plan/tree.h"

#include "engine/base/nearest.h"
#include "engine/base/quote.h"
#include "engine/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum {
    PATH_SIZE = 160,
    DEEPEST = 16,     /* levels; an experiment needs five */
    FEW_KEYS = 200,   /* in one map; up to these a repeated key is found at once */
    NAME_SHOWN = 100, /* bytes of a file name in a message; the rest must have room too */
};

/* ---- errors */

/* The end of a long name, which identifies the file. */
static const char *short_name(const char *name)
{
    size_t length = strlen(name);
    return length <= NAME_SHOWN ? name : name + length - NAME_SHOWN;
}

static oltr_status fail_at(const char *name, size_t line, size_t column, oltr_error *error,
                           const char *words)
{
    if (line == 0)
        return set_error(error, OLTR_EVALUE, "%s: %s", short_name(name), words);
    return set_error(error, OLTR_EVALUE, "%s:%zu:%zu: %s", short_name(name), line, column, words);
}

/* Entries of lists are called by the name that people gave them. */
static const char *name_of(const struct node *entry)
{
    const struct node *name = tree_get(entry, "name");
    if (!name)
        name = tree_get(entry, "file");
    if (!name)
        name = tree_get(entry, "kind");
    if (!name)
        name = tree_get(entry, "key");
    return name && name->type == NODE_SCALAR ? name->text : NULL;
}

/* The same node, or a copy of it (tree_copy): what was read has a place of its own. */
static bool is_same(const struct node *a, const struct node *b)
{
    return a == b || (a->line > 0 && a->line == b->line && a->column == b->column);
}

static size_t place_in_list(const struct node *node)
{
    size_t place = 0;
    for (const struct node *entry = node->parent->first; entry && !is_same(entry, node);
         entry = entry->next)
        place++;
    return place;
}

/* Its path in the document, "policies.GTS.sigma" or "world.attraction[2]"; "" for the root. Returns
 * the buffer. */
static const char *tree_path(const struct node *node, char path[PATH_SIZE])
{
    size_t used = 0;
    path[0] = '\0';
    if (!node->parent)
        return path;
    used = strlen(tree_path(node->parent, path));
    bool in_list = node->parent->type == NODE_LIST;
    const char *name = in_list ? name_of(node) : node->key ? node->key->text : node->text;
    if (name)
        snprintf(path + used, PATH_SIZE - used, "%s%s", used > 0 ? "." : "", name);
    else
        snprintf(path + used, PATH_SIZE - used, "[%zu]", place_in_list(node));
    return path;
}

const struct node *tree_blame(const struct node *first, const struct node *second)
{
    return !first || (second && second->is_set && !first->is_set) ? second : first;
}

oltr_status tree_fail(const struct node *where, oltr_error *error, const char *format, ...)
{
    char words[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    char path[PATH_SIZE], quoted[QUOTE_SIZE], all[sizeof words + QUOTE_SIZE + 2];
    tree_path(where, path);
    bool said = path[0] == '\0' ||
                (where->line == 0 && strstr(where->origin, path)); /* --set world.items=2 */
    snprintf(all, sizeof all, "%s%s%s", said ? "" : quote_input(path, quoted), said ? "" : ": ",
             words);
    return tree_fail_at(where, error, all);
}

oltr_status tree_fail_at(const struct node *where, oltr_error *error, const char *sentence)
{
    return fail_at(where->origin, where->line, where->column, error, sentence);
}

/* ---- reading */

struct loader {
    yaml_parser_t yaml;
    struct pool *pool;
    const char *name, *text;
    size_t length, most_keys;
    const struct override *of; /* the override whose value is read; NULL: it is the file */
    oltr_error *error;
};

static void *refuse(const struct loader *loader, yaml_mark_t mark, const char *words)
{
    const struct override *of = loader->of;
    fail_at(loader->name, of ? of->line : mark.line + 1, of ? of->column : mark.column + 1,
            loader->error, words);
    return NULL;
}

static void *no_memory(const struct loader *loader)
{
    set_error(loader->error, OLTR_ENOMEM, "%s: out of memory, or larger than oltr reads",
              short_name(loader->name));
    return NULL;
}

/* libyaml counts bytes, not lines, when the encoding is broken. */
static yaml_mark_t mark_of_offset(const char *text, size_t offset)
{
    yaml_mark_t mark = {0, 0, 0};
    for (size_t i = 0; i < offset; i++) {
        bool line_end = text[i] == '\n';
        mark.line += line_end;
        mark.column = line_end ? 0 : mark.column + 1;
    }
    return mark;
}

/* Is there a tab in the indentation of this line, from 0?  YAML forbids it, and the message of
 * libyaml does not mention it. */
static bool tab_indents(const struct loader *loader, size_t line, size_t *column)
{
    const char *at = loader->text, *end = at + loader->length;
    for (; line > 0 && at < end; line--) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        at = line_end ? line_end + 1 : end;
    }
    for (*column = 0; at < end && (*at == ' ' || *at == '-'); at++)
        ++*column;
    return at < end && *at == '\t';
}

static void *tab_error(const struct loader *loader, size_t line, size_t column)
{
    char words[96];
    snprintf(words, sizeof words, "line %zu uses a tab; YAML indents with spaces", line + 1);
    return refuse(loader, (yaml_mark_t){0, line, column}, words);
}

static void *syntax_error(const struct loader *loader)
{
    const yaml_parser_t *yaml = &loader->yaml;
    char words[160];
    size_t line = yaml->problem_mark.line, column;
    if (yaml->error == YAML_MEMORY_ERROR)
        return no_memory(loader);
    if (yaml->error == YAML_READER_ERROR) {
        snprintf(words, sizeof words, "%s; save the file as UTF-8 text", yaml->problem);
        return refuse(loader, mark_of_offset(loader->text, yaml->problem_offset), words);
    }
    for (size_t i = 0; i < 2 && i <= line; i++) /* the parser may notice it in the next line only */
        if (tab_indents(loader, line - i, &column))
            return tab_error(loader, line - i, column);
    snprintf(words, sizeof words, "YAML: %s%s%s", yaml->context ? yaml->context : "",
             yaml->context ? ", " : "", yaml->problem ? yaml->problem : "not understood");
    return refuse(loader, yaml->problem_mark, words);
}

static bool next_event(struct loader *loader, yaml_event_t *event)
{
    if (yaml_parser_parse(&loader->yaml, event))
        return true;
    (void)syntax_error(loader);
    return false;
}

static struct node *new_node(const struct loader *loader, enum node_type type, yaml_mark_t mark)
{
    struct node *node = pool_get(loader->pool, 1, sizeof *node);
    if (!node)
        return no_memory(loader);
    node->type = type;
    node->origin = loader->name;
    node->line = loader->of ? loader->of->line : mark.line + 1;
    node->column = loader->of ? loader->of->column : mark.column + 1;
    node->is_set = loader->of;
    return node;
}

static struct node *scalar_node(const struct loader *loader, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(value, '\0', length))
        return refuse(loader, event->start_mark, "a zero byte in a value");
    struct node *node = new_node(loader, NODE_SCALAR, event->start_mark);
    if (node) {
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        node->text = pool_text(loader->pool, value, length);
    }
    return !node || node->text ? node : no_memory(loader);
}

static void append(struct node *parent, struct node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
    child->parent = parent;
}

/* Refuses the second of two equal keys. */
static bool is_repeated(const struct loader *loader, const struct node *earlier,
                        const struct node *key)
{
    char name[QUOTE_SIZE], words[QUOTE_SIZE + 64];
    snprintf(words, sizeof words, "`%s` is given twice (first in line %zu)",
             quote_input(key->text, name), earlier->line);
    return refuse(loader, (yaml_mark_t){0, key->line - 1, key->column - 1}, words);
}

static bool check_key(const struct loader *loader, const struct node *map, const struct node *key,
                      yaml_mark_t mark)
{
    if (key->type != NODE_SCALAR)
        return refuse(loader, mark, "a key must be a word, not a list or a map");
    if (strcmp(key->text, "<<") == 0)
        return refuse(loader, mark, "merge keys (<<) are not supported; write the keys out") !=
               NULL;
    const struct node *earlier = map->count <= FEW_KEYS ? tree_get(map, key->text) : NULL;
    if (earlier)
        return is_repeated(loader, earlier->key, key);
    return map->count < loader->most_keys ||
           refuse(loader, mark, "more keys in one map than any experiment has");
}

/* By their texts; equal ones in the order of the file. */
static int compare_keys(const void *a, const void *b)
{
    const struct node *one = *(struct node *const *)a, *other = *(struct node *const *)b;
    int order = strcmp(one->text, other->text);
    if (order == 0)
        order = (one->line > other->line) - (one->line < other->line);
    return order != 0 ? order : (one->column > other->column) - (one->column < other->column);
}

/* At the end of a map with many keys. */
static bool check_many_keys(const struct loader *loader, const struct node *map)
{
    size_t n = 0;
    bool good = true;
    if (map->count <= FEW_KEYS)
        return true;
    const struct node **key = malloc(map->count * sizeof *key);
    if (!key)
        return no_memory(loader);
    for (const struct node *entry = map->first; entry; entry = entry->next)
        key[n++] = entry->key;
    qsort(key, n, sizeof *key, compare_keys);
    for (size_t i = 1; good && i < n; i++)
        good =
            strcmp(key[i - 1]->text, key[i]->text) != 0 || is_repeated(loader, key[i - 1], key[i]);
    free(key);
    return good;
}

static struct node *read_node(struct loader *loader, yaml_event_t *event, int depth);

/* The next node of a list or map; *end is set instead when there is none. */
static struct node *read_entry(struct loader *loader, int depth, bool *end)
{
    yaml_event_t event;
    if (!next_event(loader, &event))
        return NULL;
    *end = event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
    struct node *node = *end ? NULL : read_node(loader, &event, depth);
    yaml_event_delete(&event);
    return node;
}

static struct node *read_list(struct loader *loader, struct node *list, int depth)
{
    for (;;) {
        bool end = false;
        struct node *entry = read_entry(loader, depth, &end);
        if (!entry)
            return end ? list : NULL;
        append(list, entry);
    }
}

static struct node *read_map(struct loader *loader, struct node *map, int depth)
{
    for (;;) {
        bool end = false;
        struct node *key = read_entry(loader, depth, &end);
        if (!key)
            return end && check_many_keys(loader, map) ? map : NULL;
        yaml_mark_t mark = {0, key->line - 1, key->column - 1};
        struct node *value =
            check_key(loader, map, key, mark) ? read_entry(loader, depth, &end) : NULL;
        if (!value)
            return NULL;
        value->key = key;
        key->parent = map;
        append(map, value);
    }
}

static bool has_tag(const yaml_event_t *event)
{
    return (event->type == YAML_SCALAR_EVENT && event->data.scalar.tag) ||
           (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.tag) ||
           (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.tag);
}

static struct node *read_node(struct loader *loader, yaml_event_t *event, int depth)
{
    if (event->type == YAML_ALIAS_EVENT)
        return refuse(loader, event->start_mark,
                      "aliases (*name) are not supported; write the value out");
    if (has_tag(event))
        return refuse(loader, event->start_mark, "tags (!name) are not supported; leave it out");
    if (event->type == YAML_SCALAR_EVENT)
        return scalar_node(loader, event);
    if (depth == DEEPEST)
        return refuse(loader, event->start_mark,
                      "nested deeper than any experiment; is a bracket missing?");
    bool list = event->type == YAML_SEQUENCE_START_EVENT;
    struct node *node = new_node(loader, list ? NODE_LIST : NODE_MAP, event->start_mark);
    if (!node)
        return NULL;
    node->flow = list ? event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE
                      : event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    return list ? read_list(loader, node, depth + 1) : read_map(loader, node, depth + 1);
}

/* Takes the next event, which must be of this type; a document that is not there ends the
 * stream. */
static bool expect(struct loader *loader, yaml_event_type_t type, const char *words)
{
    yaml_event_t event;
    if (!next_event(loader, &event))
        return false;
    bool good = event.type == type;
    if (!good)
        refuse(loader, event.start_mark, words);
    yaml_event_delete(&event);
    return good;
}

static struct node *read_document(struct loader *loader, const char *needs)
{
    char empty[160];
    snprintf(empty, sizeof empty, "the file is empty; %s", needs);
    bool end = false;
    if (!expect(loader, YAML_STREAM_START_EVENT, "not a YAML file") ||
        !expect(loader, YAML_DOCUMENT_START_EVENT, empty))
        return NULL;
    struct node *root = read_entry(loader, 0, &end);
    if (!root || !expect(loader, YAML_DOCUMENT_END_EVENT, "the document does not end here") ||
        !expect(loader, YAML_STREAM_END_EVENT,
                "a second document begins here; one file is one experiment"))
        return NULL;
    return root;
}

static struct node *parse(struct pool *pool, const char *name, const char *text, size_t length,
                          size_t most_keys, const char *needs, const struct override *of,
                          oltr_error *error)
{
    size_t mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    struct loader loader = {.pool = pool,
                            .text = text + mark, /* libyaml would count the mark as a column */
                            .length = length - mark,
                            .most_keys = most_keys,
                            .of = of,
                            .error = error};
    loader.name = pool_text(pool, name, strlen(name));
    if (!loader.name || !yaml_parser_initialize(&loader.yaml)) {
        set_error(error, OLTR_ENOMEM, "out of memory");
        return NULL;
    }
    yaml_parser_set_encoding(&loader.yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&loader.yaml, (const unsigned char *)loader.text, loader.length);
    struct node *root = read_document(&loader, needs);
    yaml_parser_delete(&loader.yaml);
    return root;
}

struct node *tree_parse(struct pool *pool, const char *name, const char *text, size_t length,
                        size_t most_keys, const char *needs, oltr_error *error)
{
    return parse(pool, name, text, length, most_keys, needs, NULL, error);
}

/* ---- looking and setting */

struct node *tree_get(const struct node *map, const char *key)
{
    for (struct node *entry = map->first; map->type == NODE_MAP && entry; entry = entry->next)
        if (strcmp(entry->key->text, key) == 0)
            return entry;
    return NULL;
}

/* Texts are shared: they do not change. */
static struct node *copy_below(struct pool *pool, const struct node *from, struct node *parent)
{
    struct node *to = pool_get(pool, 1, sizeof *to);
    if (!to)
        return NULL;
    *to = *from;
    to->parent = parent;
    to->next = to->first = to->last = NULL;
    to->count = 0;
    if (from->key) {
        to->key = copy_below(pool, from->key, parent);
        if (!to->key)
            return NULL;
    }
    for (const struct node *entry = from->first; entry; entry = entry->next) {
        struct node *copied = copy_below(pool, entry, to);
        if (!copied)
            return NULL;
        append(to, copied);
    }
    return to;
}

struct node *tree_copy(struct pool *pool, const struct node *root)
{
    return copy_below(pool, root, NULL);
}

static struct node *origin_node(struct pool *pool, const struct override *override,
                                enum node_type type)
{
    struct node *node = pool_get(pool, 1, sizeof *node);
    const char *origin =
        pool_text(pool, override->origin, strlen(override->origin)); /* the override may go away */
    node = origin ? node : NULL;
    if (node) {
        node->type = type;
        node->origin = origin;
        node->line = override->line;
        node->column = override->column;
        node->is_set = true;
    }
    return node;
}

/* Text that opens a bracket is YAML; all other text is a scalar without any quoting. */
static struct node *value_node(struct pool *pool, const struct override *override,
                               oltr_error *error)
{
    const char *value = override->value;
    struct node *node;
    if (value[0] == '[' || value[0] == '{')
        return parse(pool, override->origin, value, strlen(value), MOST_KEYS, "a value is needed",
                     override, error);
    node = origin_node(pool, override, NODE_SCALAR);
    if (node)
        node->text = pool_text(pool, value, strlen(value));
    if (!node || !node->text) {
        set_error(error, OLTR_ENOMEM, "%s: out of memory", override->origin);
        return NULL;
    }
    return node;
}

/* The entry whose name begins the rest of the key; names may hold dots, so the longest wins. */
static struct node *named_entry(const struct node *list, const char *rest, size_t *length)
{
    struct node *best = NULL;
    *length = 0;
    for (struct node *entry = list->first; entry; entry = entry->next) {
        const char *name = name_of(entry);
        size_t size = !name ? 0 : strlen(name);
        if (size > *length && strncmp(rest, name, size) == 0 && rest[size] == '.') {
            best = entry;
            *length = size;
        }
    }
    return best;
}

static oltr_status no_such_entry(const struct node *list, const char *rest,
                                 const struct override *override, oltr_error *error)
{
    char word[QUOTE_SIZE], hint[HINT_SIZE];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(rest, "."), rest);
    struct nearest nearest = nearest_to(word);
    for (const struct node *entry = list->first; entry; entry = entry->next)
        if (name_of(entry))
            nearest_offer(&nearest, name_of(entry));
    char words[256], name[QUOTE_SIZE];
    bool bare = !strchr(rest, '.') && list->first;
    snprintf(words, sizeof words,
             bare ? "`%s` needs a key behind a name, like policies.GTS.sigma%s"
                  : "no entry is called `%s`%s",
             bare ? quote_input(override->key, name) : quote_input(word, name),
             nearest_hint(&nearest, hint));
    return fail_at(override->origin, override->line, override->column, error, words);
}

static oltr_status set_in_map(struct pool *pool, struct node *map, const char *name, size_t length,
                              struct node *value, const struct override *override,
                              oltr_error *error)
{
    struct node *key = origin_node(pool, override, NODE_SCALAR);
    if (key)
        key->text = pool_text(pool, name, length);
    if (!key || !key->text)
        return set_error(error, OLTR_ENOMEM, "%s: out of memory", override->origin);
    value->key = key;
    key->parent = map;
    value->parent = map;
    for (struct node **link = &map->first; *link; link = &(*link)->next) {
        if (strcmp((*link)->key->text, key->text) == 0) {
            value->next = (*link)->next;
            map->last = map->last == *link ? value : map->last;
            *link = value;
            return OLTR_OK;
        }
    }
    append(map, value);
    return OLTR_OK;
}

/* Steps into the map or list entry that the first part of `rest` names; NULL and an error if there
 * is none. */
static struct node *step_into(struct pool *pool, struct node *node, const char *rest,
                              size_t *length, const struct override *override, oltr_error *error)
{
    if (node->type == NODE_LIST) {
        struct node *entry = named_entry(node, rest, length);
        if (!entry)
            (void)no_such_entry(node, rest, override, error);
        return entry;
    }
    char name[64];
    *length = strcspn(rest, ".");
    snprintf(name, sizeof name, "%.*s", (int)*length, rest);
    struct node *entry = tree_get(node, name);
    if (!entry) { /* a section the file leaves out, like world.prior */
        entry = origin_node(pool, override, NODE_MAP);
        if (!entry || set_in_map(pool, node, rest, *length, entry, override, error) != OLTR_OK) {
            set_error(error, OLTR_ENOMEM, "%s: out of memory", override->origin);
            return NULL;
        }
    }
    return entry;
}

/* The same with the place of the key, for errors about it. */
static struct override placed_at_key(const struct override *override)
{
    struct override key = *override;
    if (key.where) {
        key.origin = key.where->origin;
        key.line = key.where->line;
        key.column = key.where->column;
    }
    return key;
}

oltr_status tree_set(struct pool *pool, struct node *root, const struct override *override,
                     oltr_error *error)
{
    struct node *node = root, *value = value_node(pool, override, error);
    const struct override key = placed_at_key(override);
    const char *rest = key.key;
    if (!value)
        return error->code;
    while (node->type == NODE_LIST || (node->type == NODE_MAP && strchr(rest, '.'))) {
        size_t length;
        node = step_into(pool, node, rest, &length, &key, error);
        if (!node)
            return error->code;
        rest += length + 1;
    }
    if (node->type != NODE_MAP || *rest == '\0')
        return fail_at(key.origin, key.line, key.column, error,
                       node->type != NODE_MAP ? "this key has no keys below it"
                                              : "the key ends in a dot or is empty");
    return set_in_map(pool, node, rest, strlen(rest), value, &key, error);
}

/* ---- writing */

static int write_out(void *context, unsigned char *bytes, size_t size)
{
    struct text *out = context;
    text_bytes(out, (const char *)bytes, size);
    return !out->failed;
}

static bool emit_scalar(yaml_emitter_t *emitter, const struct node *node)
{
    yaml_event_t event;
    yaml_scalar_style_t style =
        node->quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_ANY_SCALAR_STYLE;
    return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)node->text,
                                        (int)strlen(node->text), 1, 1, style) &&
           yaml_emitter_emit(emitter, &event);
}

static bool emit_node(yaml_emitter_t *emitter, const struct node *node)
{
    if (node->type == NODE_SCALAR)
        return emit_scalar(emitter, node);
    yaml_event_t event;
    bool list = node->type == NODE_LIST;
    bool good = list ? yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                            node->flow ? YAML_FLOW_SEQUENCE_STYLE
                                                                       : YAML_BLOCK_SEQUENCE_STYLE)
                     : yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
                                                           node->flow ? YAML_FLOW_MAPPING_STYLE
                                                                      : YAML_BLOCK_MAPPING_STYLE);
    good = good && yaml_emitter_emit(emitter, &event);
    for (const struct node *entry = node->first; good && entry; entry = entry->next)
        good = (list || emit_scalar(emitter, entry->key)) && emit_node(emitter, entry);
    return good &&
           (list ? yaml_sequence_end_event_initialize(&event)
                 : yaml_mapping_end_event_initialize(&event)) &&
           yaml_emitter_emit(emitter, &event);
}

static bool emit_document(yaml_emitter_t *emitter, const struct node *root)
{
    yaml_event_t event;
    return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
           yaml_emitter_emit(emitter, &event) &&
           yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
           yaml_emitter_emit(emitter, &event) && emit_node(emitter, root) &&
           yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(emitter, &event) &&
           yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

bool tree_yaml(const struct node *root, struct text *out)
{
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter))
        return false;
    yaml_emitter_set_output(&emitter, write_out, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, 100);
    bool good = emit_document(&emitter, root);
    yaml_emitter_delete(&emitter);
    return good && !out->failed;
}
