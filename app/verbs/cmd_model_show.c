/* cmd_model_show.c - `oltr model show`: what a model believes, as a table with a picture in text,
 * as CSV or JSON lines, and as a figure. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "app/args/value.h"
#include "app/verbs/model_family.h"
#include "app/verbs/model_json.h"
#include "report/figures/belief_figure.h"
#include "report/io/csv.h"
#include "report/io/whole_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct option model_show_options[] = {
    {0, "top", "N", NULL, "how many items, those with the largest means first (default: 20)"},
    {0, "items", "A,B,...", NULL, "only these items"},
    {0, "items-from", "FILE", NULL, "only the items of a file, one name a line"},
    {0, "csv", NULL, NULL, "print all items as CSV"},
    {0, "json", NULL, NULL, "print all items as JSON lines"},
    {'o', "output", "FILE", NULL, "draw a figure: FILE.svg, FILE.png or FILE.pdf"},
    {0, NULL, NULL, NULL, NULL},
};

enum { DEFAULT_TOP = 20, MOST_DRAWN = 60, NAME_COLUMNS = 24, PICTURE = 30 };

/* One line: an item, or a feature of a model with features. */
struct line {
    oltr_name name; /* bytes NULL: a feature */
    const oltr_explained *e;
};

struct beliefs {
    const oltr_model *model;
    bool contextual;
    uint32_t n;
    oltr_explained *explained; /* (n) */
    struct line *line;         /* (n) sorted */
};

/* ---- what is shown */

/* The largest mean first; kinds without a mean by their click rate. */
static double order_of(const struct line *line)
{
    const oltr_explained *e = line->e;
    return isfinite(e->mean) ? e->mean : e->examined > 0 ? e->reward / e->examined : -INFINITY;
}

static int by_mean(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    double first = order_of(a), second = order_of(b);
    if (first > second || first < second)
        return first > second ? -1 : 1;
    return a->e < b->e ? -1 : a->e > b->e;
}

/* The name of a line; of a feature it is made in `room`. */
enum { FEATURE_SIZE = 24 };
static oltr_name name_of(const struct beliefs *b, const struct line *line, char room[FEATURE_SIZE])
{
    if (line->name.bytes)
        return line->name;
    int size = snprintf(room, FEATURE_SIZE, "feature %u", (uint32_t)(line->e - b->explained) + 1);
    return (oltr_name){room, (uint32_t)size};
}

static int collect(const struct model_names *names, struct beliefs *b)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_list list = {.n = names->n, .name = names->name};
    if (names->n > 0 && b->contextual)
        return complain(EXIT_USAGE, "a policy with features knows no items; leave --items out");
    if (names->n > 0) {
        b->n = names->n;
        b->explained = calloc(b->n, sizeof *b->explained);
        if (!b->explained)
            return complain_no_memory();
        if (oltr_model_explain(b->model, &list, b->explained, &error) != OLTR_OK)
            return complain_of(&error);
    } else {
        b->explained = model_beliefs(b->model, &b->n, &error);
        if (!b->explained)
            return complain_failed(&error);
    }
    b->line = calloc((size_t)b->n + 1, sizeof *b->line);
    if (!b->line)
        return complain_no_memory();
    for (uint32_t i = 0; i < b->n; i++) {
        struct line *line = &b->line[i];
        line->e = &b->explained[i];
        if (!b->contextual)
            line->name = names->n > 0 ? names->name[i] : oltr_model_name(b->model, i);
    }
    qsort(b->line, b->n, sizeof *b->line, by_mean);
    return EXIT_OK;
}

/* ---- the table */

static void print_model(const char *path, const oltr_model *model)
{
    const oltr_settings *policy = &oltr_model_settings_of(model)->policy;
    const char *before = " (";
    model_say_size(path, model);
    printf("policy %s", policy->info->name);
    for (uint32_t i = 0; i < policy->info->n_params; i++) {
        char text[64];
        const oltr_param *param = &policy->info->params[i];
        bool usual = policy->value[i] >= param->initial && policy->value[i] <= param->initial;
        if (usual || oltr_settings_get(policy, i, text, sizeof text) != OLTR_OK)
            continue;
        printf("%s%s %s", before, param->name, text);
        before = ", ";
    }
    puts(*before == ',' ? ")" : "");
}

static void print_hyper(const oltr_policy *policy)
{
    static const struct {
        const char *name, *text;
    } meaning[] = {{"shift", "by how much the log-odds of the prior are off"},
                   {"slope", "how much of the order of the prior holds, 0 to 1"},
                   {"weight", "how sure the prior may be, as a factor of its size"}};
    oltr_hyper hyper;
    for (uint32_t i = 0; i < oltr_hyper_count(policy); i++) {
        const char *text = "";
        if (oltr_hyper_at(policy, i, &hyper) != OLTR_OK)
            continue;
        for (size_t j = 0; j < sizeof meaning / sizeof *meaning; j++)
            if (strcmp(meaning[j].name, hyper.name) == 0)
                text = meaning[j].text;
        if (i == 0)
            puts("learned about its prior:");
        printf("  %-7s %8.4g +- %-8.3g %s\n", hyper.name, hyper.mean, hyper.sd, text);
    }
}

/* The range of the picture. */
struct axis {
    double low, high;
};

static struct axis find_axis(const struct beliefs *b, uint32_t n)
{
    bool clicks = oltr_model_settings_of(b->model)->policy.info->rewards == OLTR_CLICKS;
    struct axis axis = {INFINITY, -INFINITY};
    for (uint32_t i = 0; i < n; i++) {
        const oltr_explained *e = b->line[i].e;
        double sd = isfinite(e->sd) ? e->sd : 0;
        if (!isfinite(e->mean))
            continue;
        axis.low = fmin(axis.low, e->mean - 2 * sd);
        axis.high = fmax(axis.high, e->mean + 2 * sd);
    }
    if (clicks) {
        axis.low = fmax(axis.low, 0);
        axis.high = fmin(axis.high, 1);
    }
    return axis;
}

static int column_of(const struct axis *axis, double value)
{
    double width = axis->high - axis->low;
    double at = width > 0 ? (value - axis->low) / width * (PICTURE - 1) : 0;
    return (int)lround(fmin(fmax(at, 0), PICTURE - 1));
}

static void draw_line(const struct axis *axis, const oltr_explained *e, char out[PICTURE + 1])
{
    memset(out, ' ', PICTURE);
    out[PICTURE] = '\0';
    if (!isfinite(e->mean) || !(axis->high >= axis->low))
        return;
    for (int deviations = 2; isfinite(e->sd) && deviations > 0; deviations--)
        for (int i = column_of(axis, e->mean - deviations * e->sd);
             i <= column_of(axis, e->mean + deviations * e->sd); i++)
            out[i] = deviations == 2 ? '-' : '=';
    if (isfinite(e->prior_mean) && e->prior_mean >= axis->low && e->prior_mean <= axis->high)
        out[column_of(axis, e->prior_mean)] = '|';
    out[column_of(axis, e->mean)] = 'o';
}

/* A number of five digits in ten columns; `-` where there is none. */
static void print_number(double value)
{
    char cell[24] = "-";
    if (isfinite(value))
        snprintf(cell, sizeof cell, "%.5g", value);
    printf(" %10s", cell);
}

static void print_share(double share)
{
    char cell[24] = "-";
    if (isfinite(share))
        snprintf(cell, sizeof cell, "%.1f %%", 100 * share);
    printf(" %10s", cell);
}

static void print_axis(const struct axis *axis)
{
    char low[16], high[16];
    snprintf(low, sizeof low, "%.3g", axis->low);
    snprintf(high, sizeof high, "%.3g", axis->high);
    printf("  %s%*s", low, PICTURE - (int)strlen(low), high);
}

static void print_table(const struct beliefs *b, uint32_t n)
{
    struct axis axis = find_axis(b, n);
    bool drawn = axis.high >= axis.low;
    char name[SHOWN_NAME_SIZE], picture[PICTURE + 1], room[FEATURE_SIZE];
    printf("\n%-*s %10s %10s", NAME_COLUMNS, b->contextual ? "feature" : "item", "mean", "sd");
    if (drawn)
        print_axis(&axis);
    puts(b->contextual ? "" : "   examined     reward prior left");
    for (uint32_t i = 0; i < n; i++) {
        const oltr_explained *e = b->line[i].e;
        uint32_t width = model_shown_name(name_of(b, &b->line[i], room), NAME_COLUMNS, name);
        printf("%s%*s", name, (int)(NAME_COLUMNS - width), "");
        print_number(e->mean);
        print_number(e->sd);
        draw_line(&axis, e, picture);
        if (drawn)
            printf("  %s", picture);
        if (!b->contextual) {
            print_number(e->examined);
            print_number(e->reward);
            print_share(e->prior_share);
            fputs(e->known ? "" : "  new", stdout);
        }
        putchar('\n');
    }
    if (n < b->n)
        printf("... and %u more (--top N)\n", b->n - n);
}

/* ---- CSV and JSON lines */

static void add_values(struct text *out, const oltr_explained *e, const char *const *key)
{
    const double value[] = {e->mean,       e->sd,       e->examined,   e->reward,
                            e->prior_mean, e->prior_sd, e->prior_share};
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        if (key)
            text_printf(out, ", \"%s\": ", key[i]);
        else
            text_add(out, ",");
        if (key || isfinite(value[i]))
            json_add_number(out, value[i]);
    }
}

static void add_csv_name(struct text *out, oltr_name name)
{
    char text[OLTR_LONGEST_NAME + 1];
    bool plain = name.size <= OLTR_LONGEST_NAME && !memchr(name.bytes, '\0', name.size);
    memcpy(text, name.bytes, plain ? name.size : 0);
    text[plain ? name.size : 0] = '\0';
    if (plain)
        csv_field(out, text);
    else
        text_bytes(out, name.bytes, name.size); /* a zero byte: as it is */
}

static int print_all(const struct beliefs *b, bool json)
{
    static const char *const keys[] = {"mean",       "sd",       "examined",   "reward",
                                       "prior_mean", "prior_sd", "prior_share"};
    struct text out = {0};
    char room[FEATURE_SIZE];
    if (!json)
        text_printf(&out, "%s,mean,sd,examined,reward,prior_mean,prior_sd,prior_share,last\n",
                    b->contextual ? "feature" : "item");
    for (uint32_t i = 0; i < b->n; i++) {
        text_add(&out, json ? "{\"item\": " : "");
        oltr_name name = name_of(b, &b->line[i], room);
        if (json)
            json_add_name(&out, name);
        else
            add_csv_name(&out, name);
        add_values(&out, b->line[i].e, json ? keys : NULL);
        text_printf(&out, json ? ", \"last\": %llu}\n" : ",%llu\n",
                    (unsigned long long)b->line[i].e->last);
    }
    int code = print_text(&out);
    text_free(&out);
    return code;
}

/* ---- the figure */

static int draw(const struct arguments *arguments, const struct beliefs *b, uint32_t n,
                const char *file)
{
    oltr_error error = {OLTR_OK, ""};
    n = n < MOST_DRAWN ? n : MOST_DRAWN;
    struct belief_bar *bar = calloc((size_t)n + 1, sizeof *bar);
    char title[160], items[GROUPED_SIZE], lessons[GROUPED_SIZE], room[FEATURE_SIZE];
    if (!bar)
        return complain_no_memory();
    for (uint32_t i = 0; i < n; i++) {
        const oltr_explained *e = b->line[i].e;
        bar[i] = (struct belief_bar){.mean = e->mean, .sd = e->sd, .prior = e->prior_mean};
        model_shown_name(name_of(b, &b->line[i], room), 40, bar[i].name);
    }
    const char *slash = strrchr(arguments->operand[0], '/');
    const char *path = slash ? slash + 1 : arguments->operand[0];
    snprintf(title, sizeof title, "%.60s: %u of %s %s%s after %s lesson%s", path, n,
             model_grouped(b->n, items), b->contextual ? "feature" : "item", plural_s(b->n),
             model_grouped(oltr_model_lessons(b->model), lessons),
             plural_s(oltr_model_lessons(b->model)));
    oltr_status status = belief_figure_draw(file, title, bar, n, &error);
    free(bar);
    if (status != OLTR_OK)
        return status == OLTR_EVALUE ? complain(EXIT_USAGE, "%s", error.msg)
                                     : complain_failed(&error);
    return EXIT_OK;
}

static int show(const struct arguments *arguments, const struct beliefs *b, uint32_t top)
{
    const char *file = arguments_value(arguments, "output");
    bool csv = arguments_has(arguments, "csv"), json = arguments_has(arguments, "json");
    uint32_t n = top < b->n ? top : b->n;
    if (csv && json)
        return complain(EXIT_USAGE, "--csv and --json are two forms of the same; give one of them");
    if (csv || json) {
        int code = print_all(b, json);
        if (code != EXIT_OK)
            return code;
    } else {
        print_model(arguments->operand[0], b->model);
        print_hyper(oltr_model_policy(b->model));
        if (b->n > 0)
            print_table(b, n);
    }
    if (file && b->n == 0)
        return complain(EXIT_USAGE, "the model has no items to draw");
    return file ? draw(arguments, b, n, file) : EXIT_OK;
}

int cmd_model_show(const struct arguments *arguments)
{
    struct model_names names = {.n = 0};
    struct beliefs b = {.n = 0};
    oltr_store *store = NULL;
    uint32_t top = DEFAULT_TOP;
    int code = value_whole32(arguments, "top", 1, OLTR_MOST_MODEL_ITEMS, &top);
    if (code == EXIT_OK)
        code = value_output(arguments, "output");
    if (code == EXIT_OK)
        code = model_names_read(arguments, 1, &names);
    if (code == EXIT_OK)
        code = model_open(arguments->operand[0], false, OLTR_SYNC_NONE, &store);
    if (code == EXIT_OK) {
        b.model = oltr_store_read(store);
        b.contextual = oltr_model_settings_of(b.model)->policy.info->contextual;
        code = collect(&names, &b);
        if (code == EXIT_OK)
            code = show(arguments, &b, top);
        oltr_store_done(store);
    }
    free(b.line);
    free(b.explained);
    model_names_free(&names);
    return model_close(store, code);
}
