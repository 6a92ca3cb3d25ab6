/* fake_keys.c - the strings and the keys of the fake server.
 *
 * The content of a string begins at any address and ends with its block, without a NUL behind it:
 * so a sanitizer sees a read beyond its end, and a float that is read from where it must not be.
 */
#include "fake_parts.h"

#include <stdlib.h>
#include <string.h>

text text_of(const char *string)
{
    return (text){string, strlen(string)};
}

bool same_text(text a, text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

/* ---- strings */

RedisModuleString *new_string(fake_server *s, const void *at, size_t size)
{
    size_t shift = below(&s->luck, 8);
    RedisModuleString *x = own_block(sizeof *x + shift + size);
    *x = (RedisModuleString){1, s, s->strings, &s->strings, size, shift};
    if (x->next)
        x->next->place = &x->next;
    s->strings = x;
    s->n_strings++;
    if (size)
        memcpy(x->bytes + shift, at, size);
    return x;
}

void hold_string(RedisModuleString *x)
{
    x->references++;
}

void drop_string(RedisModuleString *x)
{
    if (x->references == 0)
        fake_fault("a string is freed twice");
    if (--x->references > 0)
        return;
    *x->place = x->next;
    if (x->next)
        x->next->place = x->place;
    x->server->n_strings--;
    own_free(x);
}

text text_of_string(const RedisModuleString *x)
{
    return (text){x->bytes + x->shift, x->size};
}

/* ---- keys */

stored_key *find_key(fake_server *s, text name)
{
    for (uint32_t i = 0; i < MOST_KEYS; i++)
        if (s->key[i].name && same_text(text_of_string(s->key[i].name), name))
            return &s->key[i];
    return NULL;
}

stored_key *make_key(fake_server *s, text name)
{
    for (uint32_t i = 0; i < MOST_KEYS; i++)
        if (!s->key[i].name) {
            s->key[i] = (stored_key){new_string(s, name.bytes, name.size), NULL};
            return &s->key[i];
        }
    fake_fault("more than %d keys; the test must use fewer", MOST_KEYS);
}

static void tell_unlink(fake_server *s, const stored_key *k)
{
    const type_methods *m = &s->type.methods;
    RedisModuleKeyOptCtx ctx = {k->name, NULL};
    enter_module(s);
    if (m->unlink2)
        m->unlink2(&ctx, k->value);
    else if (m->unlink)
        m->unlink(k->name, k->value);
    leave_module();
}

void fake_free_value(fake_value v)
{
    if (!v.value)
        return;
    enter_module(v.server);
    v.server->type.methods.free(v.value);
    leave_module();
}

/* The module may be running: it has asked for this. */
void drop_value(fake_server *s, stored_key *k)
{
    void *value = k->value;
    k->value = NULL;
    if (value)
        s->type.methods.free(value);
}

void drop_key(fake_server *s, stored_key *k)
{
    drop_value(s, k);
    drop_string(k->name);
    *k = (stored_key){NULL, NULL};
}

fake_value fake_unlink(fake_server *s, text key, bool told)
{
    stored_key *k = find_key(s, key);
    fake_value v = {k ? k->value : NULL, s};
    if (!k)
        return v;
    if (told && k->value)
        tell_unlink(s, k);
    k->value = NULL;
    drop_key(s, k);
    return v;
}

bool fake_delete(fake_server *s, text key)
{
    bool found = find_key(s, key) != NULL;
    fake_free_value(fake_unlink(s, key, true));
    return found;
}

bool fake_has_key(const fake_server *s, text key)
{
    return find_key((fake_server *)(uintptr_t)s, key) != NULL;
}

void fake_put_string(fake_server *s, text key)
{
    fake_delete(s, key);
    make_key(s, key);
}

size_t fake_free_effort(fake_server *s, text key)
{
    const type_methods *m = &s->type.methods;
    stored_key *k = find_key(s, key);
    RedisModuleKeyOptCtx ctx = {k ? k->name : NULL, NULL};
    size_t effort = 1;
    if (!k || !k->value)
        return 0;
    enter_module(s);
    if (m->free_effort2)
        effort = m->free_effort2(&ctx, k->value);
    else if (m->free_effort)
        effort = m->free_effort(k->name, k->value);
    leave_module();
    return effort;
}

bool fake_copy(fake_server *s, text from, text to)
{
    const type_methods *m = &s->type.methods;
    stored_key *k = find_key(s, from);
    if (!k || !k->value || find_key(s, to))
        return false;
    RedisModuleString *name = new_string(s, to.bytes, to.size);
    RedisModuleKeyOptCtx ctx = {k->name, name};
    enter_module(s);
    void *value = m->copy2  ? m->copy2(&ctx, k->value)
                  : m->copy ? m->copy(k->name, name, k->value)
                            : NULL;
    leave_module();
    drop_string(name);
    if (value)
        make_key(s, to)->value = value;
    return value;
}
