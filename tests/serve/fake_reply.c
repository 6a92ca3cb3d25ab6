/* fake_reply.c - collects what a command replies into a tree, and checks that it is one reply.
 *
 * Nodes lie in the order in which they were sent.  A container is closed when it has as many
 * elements as it has announced, or when its postponed length is set, which must be right.
 */
#include "fake_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void begin_reply(reply_builder *b, bool resp3)
{
    if (!b->byte)
        b->byte = own_block(b->bytes_room = 256);
    b->n = b->depth = 0;
    b->bytes = 0;
    b->resp3 = resp3;
}

/* A container that is full ends, and so may the one around it. */
static void close_full(reply_builder *b)
{
    while (b->depth > 0 && b->open[b->depth - 1].left == 0) {
        uint32_t node = b->open[--b->depth].node;
        b->node[node].span = b->n - node;
    }
}

static void append(reply_builder *b, reply r)
{
    if (b->n > 0 && b->depth == 0)
        fake_fault("a second reply");
    if (b->n == b->room) {
        b->room = b->room ? 2 * b->room : 64;
        b->node = own_larger(b->node, b->room * sizeof *b->node);
    }
    if (b->depth > 0 && b->open[b->depth - 1].left > 0)
        b->open[b->depth - 1].left--;
    if (b->depth > 0)
        b->node[b->open[b->depth - 1].node].n++;
    r.span = 1;
    b->node[b->n++] = r;
}

/* Until the reply is complete, the bytes of a text are an offset. */
static void keep_words(reply_builder *b, text *words)
{
    size_t offset = b->bytes;
    if (b->bytes + words->size > b->bytes_room) {
        b->bytes_room = 2 * (b->bytes + words->size);
        b->byte = own_larger(b->byte, b->bytes_room);
    }
    if (words->size)
        memcpy(b->byte + offset, words->bytes, words->size);
    b->bytes += words->size;
    words->bytes = (const void *)(uintptr_t)offset;
}

/* A line break in a status would be the end of the reply on the wire.  In errors the server
 * replaces it. */
static void check_line(const reply *r)
{
    const unsigned char *at = r->words.bytes;
    for (size_t i = 0; r->type == REPLY_STATUS && i < r->words.size; i++)
        if (at[i] == '\r' || at[i] == '\n')
            fake_fault("a status with a line break");
    if (r->words.size == 0 || at[0] < 'A' || at[0] > 'Z')
        fake_fault("a status or an error that does not begin with a word");
}

void add_reply(reply_builder *b, reply r)
{
    if (r.type == REPLY_DOUBLE && isnan(r.number))
        fake_fault("a reply with NaN");
    if (r.type == REPLY_ERROR || r.type == REPLY_STATUS)
        check_line(&r);
    if (r.type == REPLY_ERROR && b->depth > 0)
        fake_fault("an error within another reply");
    if (r.type <= REPLY_BULK && r.type != REPLY_INTEGER && r.type != REPLY_DOUBLE)
        keep_words(b, &r.words);
    append(b, r);
    close_full(b);
}

/* A map counts twice its pairs; in RESP2 it is an array of that length. */
void add_container(reply_builder *b, reply_type type, long n)
{
    long factor = type == REPLY_MAP ? 2 : 1;
    if (n < 0 && n != POSTPONED_LENGTH)
        fake_fault("a container of %ld elements", n);
    if (b->depth == MOST_DEPTH)
        fake_fault("more than %d containers in each other", MOST_DEPTH);
    append(b, (reply){.type = b->resp3 ? type : REPLY_ARRAY});
    b->open[b->depth++] = (open_container){b->n - 1, n < 0 ? n : factor * n};
    close_full(b);
}

void set_length(reply_builder *b, reply_type type, long n)
{
    long factor = type == REPLY_MAP ? 2 : 1;
    if (b->depth == 0 || b->open[b->depth - 1].left != POSTPONED_LENGTH)
        fake_fault("the length of no open container is set");
    reply *r = &b->node[b->open[b->depth - 1].node];
    if (b->resp3 && r->type != type)
        fake_fault("the length of an array set as one of a map, or the reverse");
    if (n * factor != (long)r->n)
        fake_fault("a container of %u elements is given the length %ld", r->n, n * factor);
    b->open[b->depth - 1].left = 0;
    close_full(b);
}

const reply *end_reply(reply_builder *b)
{
    if (b->n == 0)
        fake_fault("no reply");
    if (b->depth > 0)
        fake_fault("a container has fewer elements than were announced");
    for (uint32_t i = 0; i < b->n; i++)
        if (b->node[i].type <= REPLY_BULK && b->node[i].type != REPLY_INTEGER &&
            b->node[i].type != REPLY_DOUBLE)
            b->node[i].words.bytes = b->byte + (uintptr_t)b->node[i].words.bytes;
    return b->node;
}

/* ---- reading */

const reply *reply_child(const reply *r, uint32_t i)
{
    const reply *child = r + 1;
    if (i >= r->n)
        fake_fault("element %u of a reply with %u", i, r->n);
    for (; i > 0; i--)
        child += child->span;
    return child;
}

const reply *reply_field(const reply *r, const char *name)
{
    const reply *child = r + 1;
    for (uint32_t i = 0; i + 1 < r->n; i += 2) {
        const reply *value = child + child->span;
        if (child->type <= REPLY_BULK && same_text(child->words, text_of(name)))
            return value;
        child = value + value->span;
    }
    return NULL;
}

bool reply_is(const reply *r, const char *status)
{
    return r->type == REPLY_STATUS && same_text(r->words, text_of(status));
}

const char *reply_error(const reply *r)
{
    static _Thread_local char word[32];
    size_t n = 0;
    const char *at = r->words.bytes;
    while (r->type == REPLY_ERROR && n < r->words.size && n + 1 < sizeof word && at[n] != ' ') {
        word[n] = at[n];
        n++;
    }
    word[n] = 0;
    return word;
}

static bool same_node(const reply *a, const reply *b)
{
    if (a->type != b->type || a->n != b->n)
        return false;
    if (a->type == REPLY_INTEGER)
        return a->integer == b->integer;
    if (a->type == REPLY_DOUBLE)
        return memcmp(&a->number, &b->number, sizeof a->number) == 0;
    return a->type > REPLY_BULK || same_text(a->words, b->words);
}

bool same_reply(const reply *a, const reply *b)
{
    for (uint32_t i = 0; i < a->span; i++)
        if (!same_node(&a[i], &b[i]))
            return false;
    return true;
}

/* Nodes, and behind them their bytes. */
reply *copy_reply(const reply *r)
{
    size_t size = r->span * sizeof *r, at = size;
    for (uint32_t i = 0; i < r->span; i++)
        size += r[i].words.size;
    reply *copy = own_block(size);
    memcpy(copy, r, at);
    for (uint32_t i = 0; i < r->span; i++) {
        if (r[i].words.size == 0)
            continue;
        copy[i].words.bytes = memcpy((unsigned char *)copy + at, r[i].words.bytes, r[i].words.size);
        at += r[i].words.size;
    }
    return copy;
}
