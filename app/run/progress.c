/* progress.c - the progress line of a run; see progress.h. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { REGRETS_SHOWN = 4, LINE_SIZE = 512 };

static uint32_t replications_of(const oltr_results *results, uint32_t point)
{
    return oltr_results_at(results, point, 0, 0).replications;
}

uint64_t progress_done(const oltr_plan *plan, const oltr_results *results)
{
    uint64_t done = 0;
    for (uint32_t p = 0; p < plan->n_points; p++)
        done += replications_of(results, p);
    return done;
}

uint64_t progress_total(const oltr_plan *plan, oltr_shard shard)
{
    uint64_t total = 0;
    for (uint32_t p = 0; p < plan->n_points; p++)
        total += oltr_shard_replications(shard, plan->points[p].replications);
    return total;
}

double progress_now(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct progress progress_begin(const oltr_plan *plan)
{
    return (struct progress){plan, isatty(STDERR_FILENO) == 1};
}

double progress_every(const struct progress *progress)
{
    return progress->terminal ? 0.25 : 10;
}

/* ---- the line */

struct line {
    char text[LINE_SIZE];
    size_t used, columns, width;
};

/* Adds a piece if all of it fits. */
__attribute__((format(printf, 2, 3))) static bool add(struct line *line, const char *format, ...)
{
    char piece[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    size_t size = strlen(piece), columns = text_width(piece);
    if (line->columns + columns > line->width || line->used + size + 1 > LINE_SIZE)
        return false;
    memcpy(line->text + line->used, piece, size + 1);
    line->used += size;
    line->columns += columns;
    return true;
}

static void rate_text(double rate, char *out, size_t size)
{
    static const char units[] = " kMG";
    size_t unit = 0;
    while (rate >= 1000 && unit < 3) {
        rate /= 1000;
        unit++;
    }
    if (unit == 0)
        snprintf(out, size, "%.0f rounds/s", rate);
    else
        snprintf(out, size, "%.3g%c rounds/s", rate, units[unit]);
}

void progress_time(double seconds, char *out, size_t size)
{
    if (!(seconds >= 0) || seconds > 1e7) {
        snprintf(out, size, "?");
        return;
    }
    unsigned long s = (unsigned long)ceil(seconds);
    if (s < 3600)
        snprintf(out, size, "%lu:%02lu", s / 60, s % 60);
    else
        snprintf(out, size, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
}

/* The point that is being worked on: the first that has begun and is not done, else the last that
 * has begun. */
static uint32_t current_point(const oltr_plan *plan, const oltr_results *results)
{
    uint32_t current = 0;
    for (uint32_t p = 0; p < plan->n_points; p++) {
        uint32_t done = replications_of(results, p);
        if (done > 0)
            current = p;
        if (done > 0 && done < plan->points[p].replications)
            break;
    }
    return current;
}

static void add_regrets(struct line *line, const oltr_plan *plan, const oltr_results *results)
{
    uint32_t p = current_point(plan, results);
    const oltr_experiment *point = &plan->points[p];
    if (replications_of(results, p) == 0 ||
        (plan->sweep_key && !add(line, "  [%.60s = %.40s]", plan->sweep_key, plan->sweep[p])))
        return;
    for (uint32_t i = 0; i < point->n_policies && i < REGRETS_SHOWN; i++) {
        double regret = oltr_results_at(results, p, i, point->n_checkpoints - 1).regret;
        if (!add(line, "%s %.120s %.4g", i == 0 ? "  regret:" : ",", point->policy[i].label,
                 regret))
            return;
    }
}

static size_t terminal_width(void)
{
    struct winsize size = {0};
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10;
    return known ? size.ws_col - 1U : 79;
}

static void make_line(const struct progress *progress, const oltr_progress *state,
                      struct line *line)
{
    char rate[40], left[40];
    double percent = 100 * state->share;
    rate_text(state->seconds > 0 ? (double)state->rounds_done / state->seconds : 0, rate,
              sizeof rate);
    progress_time(state->seconds_left >= 0 ? state->seconds_left : HUGE_VAL, left, sizeof left);
    if (percent < 10)
        add(line, "%3.1f%%", floor(10 * percent) / 10);
    else
        add(line, "%3.0f%%", floor(percent));
    add(line, "  %" PRIu64 "/%" PRIu64 " replications", state->done, state->total);
    add(line, "  ETA %s", left);
    add(line, "  %s", rate);
    add_regrets(line, progress->plan, state->results);
}

void progress_show(void *context, const oltr_progress *state)
{
    const struct progress *progress = context;
    struct line line = {.width = progress->terminal ? terminal_width() : 200};
    if (!progress->terminal && state->done == state->total)
        return; /* the table follows */
    make_line(progress, state, &line);
    if (progress->terminal)
        fprintf(stderr, "\r%s\033[K", line.text);
    else
        fprintf(stderr, "oltr: %s\n", line.text);
    fflush(stderr);
}

void progress_end(const struct progress *progress)
{
    if (progress->terminal) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}
