/* oracle_replies.h - what the engine itself does with the arguments of a command.
 *
 * The image of the model before the command is loaded by oltr_model_load(), the command is done to
 * it by the public calls of oltr/model.h, and reply and image of the server must be the same.  Only
 * commands that the generator has not changed are compared, so that reading them needs no checks.
 */
#ifndef OLTR_TESTS_ORACLE_REPLIES_H
#define OLTR_TESTS_ORACLE_REPLIES_H

#include "hostile_commands.h"

typedef struct oracle oracle;

/* NULL where there is nothing to compare. */
oracle *oracle_before(fake_server *s, const command *c, const blob *image);
/* Whether it was compared; a fault when it differs.  Frees the oracle, which may be NULL. */
bool oracle_after(oracle *o, const reply *r, fake_server *s, text key);

#endif
