/* command_replies.h - refusals, and the parts that replies are made of.
 *
 * The first word of an error is part of the interface; the sentence after it is that of the engine
 * wherever the model refuses.
 */
#ifndef OLTR_SERVE_REDIS_COMMAND_REPLIES_H
#define OLTR_SERVE_REDIS_COMMAND_REPLIES_H

#include "serve/redis/command_args.h"

/* All refusals reply once and return false, which is RM_OK: so both a reader and a command can end
 * with `return refuse(...)`.  They are macros so that compilers know the result.
 * refuse: the first word of the text is the word of the error. */
#define refuse(r, ...) (reply_refusal(r, __VA_ARGS__), false)
void reply_refusal(request *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The engine refused: the word of its status and its sentence.  exceeded: memory was refused
 * because of oltr.max-model-bytes. */
#define refuse_error(r, error, exceeded) (reply_error(r, error, exceeded), false)
void reply_error(request *r, const oltr_error *error, bool exceeded);

/* A name and its value, in a map. */
void reply_text(request *r, const char *name, const char *value);
void reply_count(request *r, const char *name, uint64_t value);
void reply_number(request *r, const char *name, double value); /* NAN: null */
void reply_flag(request *r, const char *name, int value);      /* 0 or 1 */

/* Candidate `place` of a list: its id, or its row number. */
void reply_candidate(request *r, const ranker *k, const oltr_list *list, uint32_t place);

#endif
