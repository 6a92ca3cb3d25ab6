/* nearest.c - see nearest.h.  The distance counts inserted, deleted, changed and swapped letters,
 * whatever their case: the usual typing errors. */
#include "engine/base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/quote.h"

enum { LONGEST = 40 }; /* bytes of a name that is compared; longer ones have no suggestion */

struct nearest nearest_to(const char *word)
{
    size_t length = strlen(word);
    size_t tolerated = length <= 2 ? 1 : length <= 5 ? 2 : 3;
    return (struct nearest){word, NULL, tolerated + 1};
}

static int lower(const char *text, size_t at)
{
    return tolower((unsigned char)text[at]);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* row[i][j]: the distance of the first i letters of a from the first j of b. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t row[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                row[i][j] = i + j;
                continue;
            }
            size_t change = row[i - 1][j - 1] + (lower(a, i - 1) != lower(b, j - 1));
            row[i][j] = smaller(change, 1 + smaller(row[i - 1][j], row[i][j - 1]));
            if (i > 1 && j > 1 && lower(a, i - 1) == lower(b, j - 2) &&
                lower(a, i - 2) == lower(b, j - 1))
                row[i][j] = smaller(row[i][j], row[i - 2][j - 2] + 1);
        }
    }
    return row[n][m];
}

void nearest_offer(struct nearest *nearest, const char *known)
{
    size_t n = strlen(nearest->word), m = strlen(known);
    if (n == 0 || n > LONGEST || m > LONGEST || strcmp(nearest->word, known) == 0)
        return;
    size_t d = distance(nearest->word, n, known, m);
    if (d < nearest->distance && d < m) {
        nearest->distance = d;
        nearest->best = known;
    }
}

const char *nearest_name(const char *word, const void *names, size_t n, size_t stride)
{
    struct nearest nearest = nearest_to(word);
    for (size_t i = 0; i < n; i++) {
        const char *name;
        memcpy(&name, (const char *)names + i * stride, sizeof name);
        nearest_offer(&nearest, name);
    }
    return nearest.best;
}

const char *nearest_hint(const struct nearest *nearest, char hint[HINT_SIZE])
{
    char name[QUOTE_SIZE];
    hint[0] = '\0';
    if (nearest->best)
        (void)snprintf(hint, HINT_SIZE, "; did you mean `%s`?", quote_input(nearest->best, name));
    return hint;
}
