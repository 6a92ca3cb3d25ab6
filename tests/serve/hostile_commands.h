/* hostile_commands.h - random commands of the whole grammar of the module, good ones and hostile
 * ones.
 *
 * A generator draws from dice or from the bytes of a fuzzer.  It knows of each key what OLTR.INFO
 * says of it, so that most commands fit the model that they meet; a third of them is then changed:
 * arguments are left out, doubled, swapped and replaced by words, numbers and blobs at the ends of
 * what they can be.
 */
#ifndef OLTR_TESTS_HOSTILE_COMMANDS_H
#define OLTR_TESTS_HOSTILE_COMMANDS_H

#include "fake_server.h"
#include "support/dice.h"

#include <oltr/model.h>

/* ---- choices */

typedef struct chooser {
    dice luck;
    const uint8_t *byte; /* of a fuzzer, or NULL */
    size_t left;
} chooser;

/* On 0..n-1; 0 when the bytes are used up. */
uint32_t pick(chooser *c, uint32_t n);
bool chance(chooser *c, uint32_t percent);

/* ---- a command */

enum { MOST_ARGS = 2048, COMMAND_ROOM = 1 << 20 };

typedef struct command {
    uint32_t n;
    text arg[MOST_ARGS];
    unsigned char room[COMMAND_ROOM];
    size_t used;
    bool changed; /* by a mutation: nothing is known of it */
} command;

void begin_command(command *c, const char *name);
void add_bytes(command *c, const void *at, size_t size);
void add_word(command *c, const char *word);
void add_long(command *c, long long x);
void add_number(command *c, double x);

/* ---- what is known of keys */

enum { N_SHELVES = 6, N_POOL = 40 };

typedef struct shelf {
    const oltr_policy_info *info; /* NULL: no model there */
    uint32_t dim, candidates, items;
} shelf;

/* Images of models that were there once, for LOAD and MERGE. */
typedef struct picture {
    unsigned char *byte;
    size_t size;
} picture;
enum { N_PICTURES = 12 };

typedef struct generator {
    chooser choose;
    shelf shelf[N_SHELVES];
    picture picture[N_PICTURES];
    const blob *live; /* (N_SHELVES) the images of the shelves as they are */
    uint32_t id;      /* of lessons */
    command command;
} generator;

text key_at(uint32_t i);    /* the names of the shelves */
text pool_name(uint32_t i); /* the last 16 have four bytes each; name 0 has none, and 1 513 */
int shelf_of(text key);     /* -1: none of them */
bool is_servable(const oltr_policy_info *info);
void keep_picture(generator *g, const void *image, size_t size);
void forget_pictures(generator *g);

/* A random command for a random shelf; hostile: percent of commands that are changed. */
void draw_command(generator *g, uint32_t hostile);

#endif
