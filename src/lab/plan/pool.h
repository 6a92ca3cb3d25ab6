/* pool.h - memory that is given back all at once.  A configuration is many small pieces with one
 * life; a parser that fails half way frees them with one call. */
#ifndef OLTR_LAB_PLAN_POOL_H
#define OLTR_LAB_PLAN_POOL_H

#include <stddef.h>

struct pool_block;
struct pool {
    struct pool_block *blocks;
    size_t used; /* bytes, at most LARGEST_PLAN */
};

/* count * size zeroed bytes, aligned for anything; NULL when memory or the limit is reached. */
void *pool_get(struct pool *pool, size_t count, size_t size);
/* A copy of `length` bytes with a '\0' behind them, or NULL. */
char *pool_text(struct pool *pool, const char *text, size_t length);
/* The same of a formatted text. */
char *pool_printf(struct pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Gives back all that was taken since `before`, a copy of the pool at that time. */
void pool_rewind(struct pool *pool, const struct pool *before);
void pool_free(struct pool *pool);

#endif
