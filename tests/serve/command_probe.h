/* command_probe.h - two servers, one the replica of the other, and the checks around every command.
 *
 *   one well-formed reply without NaN, and a word of the contract before an error
 *   on an error, on a 0 and by commands that read: images unchanged to the byte, and nothing
 *     replicated, signalled or notified
 *   on success of a write: replicated, signalled and notified once, for argument 1
 *   the replica has the same image after it has got what was replicated
 *   MEMORY USAGE and INFO add up, and the counters of INFO count what clients asked for
 */
#ifndef OLTR_TESTS_COMMAND_PROBE_H
#define OLTR_TESTS_COMMAND_PROBE_H

#include "hostile_commands.h"

/* The error words, in the order of the contract. */
extern const char *const error_words[];
extern const uint32_t n_error_words;

enum { MOST_VERBS = 24, MOST_WORDS = 20 };

/* What has happened, for a test that must not be empty. */
typedef struct tally {
    struct {
        const char *name;
        uint64_t good, zero, refused;
    } verb[MOST_VERBS];
    uint32_t n_verbs;
    uint64_t word[MOST_WORDS]; /* of errors, in the order of error_words; then the server's ERR */
    uint64_t commands, compared;
} tally;

typedef struct world {
    fake_server *master, *replica;
    generator g;
    blob image[N_SHELVES]; /* of the master */
    uint64_t digest[N_SHELVES];
    tally seen;
    uint64_t steps;
    bool no_oracle; /* commands are malformed: the oracle cannot read them */
} world;

void world_open(world *w, const char *module, uint64_t seed);
void world_close(world *w);
/* Deletes every key, and begins again with these choices. */
void world_reset(world *w, chooser choose);
/* Runs w->g.command and checks all of the above. */
const reply *world_command(world *w);
/* The same, and then looks at the key; one that is none of the shelves is deleted. */
void world_run(world *w);
/* The same by a line of words; the word @ stands for the blob. */
const reply *world_say(world *w, const char *line, text at);
/* After something was done to both servers: the new image of a shelf, which must be the same. */
void world_look(world *w, uint32_t i);
/* One random command, or something that a server does by itself. */
void world_step(world *w, uint32_t hostile);
/* That every command has succeeded and was refused, and that each error word was seen, but those
 * of `except`. */
void tally_must_be_full(const tally *t, const char *except);
void tally_print(const tally *t);

#endif
