/* table.c - see table.h. */
#include "table.h"

#include <stdarg.h>
#include <stdio.h>

row *table_add(table *t, const char *unit, spread value, sense bound, double target,
               const char *format, ...)
{
    if (t->n == MAX_ROWS)
        die("more than %d rows", MAX_ROWS);
    row *r = &t->row[t->n++];
    *r = (row){.unit = unit, .value = value, .bound = bound, .target = target};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->name, sizeof r->name, format, arguments);
    va_end(arguments);
    return r;
}

void row_note(row *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->note, sizeof r->note, format, arguments);
    va_end(arguments);
}

static bool row_passes(const row *r)
{
    if (r->bound == AT_MOST)
        return r->value.median <= r->target;
    return r->bound == NO_TARGET || r->value.median >= r->target;
}

bool table_passes(const table *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!row_passes(&t->row[i]))
            return false;
    return true;
}

/* Two or three digits for most values; an exponent only below 0.001. */
static const char *number(double x, char *text, size_t size)
{
    double large = x < 0 ? -x : x;
    if (large > 0 && large < 0.001)
        snprintf(text, size, "%.1e", x);
    else
        snprintf(text, size, "%.*f", large >= 100 ? 0 : large >= 10 ? 1 : 2, x);
    return text;
}

static void print_row(const row *r)
{
    char median[32], low[32], high[32], target[32];
    printf("| %s | %s%s%s | %s - %s | ", r->name, number(r->value.median, median, sizeof median),
           r->unit[0] ? " " : "", r->unit, number(r->value.low, low, sizeof low),
           number(r->value.high, high, sizeof high));
    if (r->bound == NO_TARGET)
        printf(" | | ");
    else
        printf("%s %s | %s | ",
               r->bound == AT_MOST ? "<=" : ">=", number(r->target, target, sizeof target),
               row_passes(r) ? "pass" : "**MISS**");
    printf("%s |\n", r->note);
}

void table_print(const table *t)
{
    puts("| what | median | quartiles | target | | |");
    puts("|---|---|---|---|---|---|");
    for (uint32_t i = 0; i < t->n; i++)
        print_row(&t->row[i]);
}

void table_write_json(const table *t, const char *path, uint32_t repetitions)
{
    static const char *const senses[] = {"none", "at most", "at least"};
    FILE *file = fopen(path, "w");
    if (!file)
        die("cannot write %s", path);
    fprintf(file, "{\"repetitions\": %u, \"rows\": [", repetitions);
    for (uint32_t i = 0; i < t->n; i++) {
        const row *r = &t->row[i];
        fprintf(file,
                "%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"low\": %.9g, \"median\": %.9g, "
                "\"high\": %.9g, ",
                i ? "," : "", r->name, r->unit, r->value.low, r->value.median, r->value.high);
        fprintf(file, "\"target\": %.9g, \"sense\": \"%s\", \"pass\": %s, \"note\": \"%s\"}",
                r->target, senses[r->bound], row_passes(r) ? "true" : "false", r->note);
    }
    fputs("\n]}\n", file);
    if (fclose(file) != 0)
        die("cannot write %s", path);
}
