/* style.c - see style.h.
 *
 * The colours are those of Okabe and Ito, which people with any kind of colour vision can
 * distinguish, without their yellow (too pale on white), then Paul Tol's "muted" ones.  Policies
 * that are in one experiment of the project have different colours.  Labels also differ by dash and
 * point.
 *
 * A variant "X (words)" or "X words" has the hue of X in another shade, and a dash of its own.
 * Common words (released, sigma 0.3) have a fixed shade and dash, others the next free ones. */
#include "report/figures/style.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERMILLION "#D55E00"
#define ORANGE "#E69F00"
#define PINK "#CC79A7"
#define BLUE "#0072B2"
#define SKY "#56B4E9"
#define GREEN "#009E73"
#define INDIGO "#332288"
#define WINE "#882255"
#define OLIVE "#999933"
#define BROWN "#8C510A"
#define BLACK "#222222"
#define GREY "#888888"
#define PALE "#AAAAAA"
#define VIOLET "#7B3294"
#define LILAC "#B48CC8"
#define CRIMSON "#B0122B"
#define ROSE "#EE6677"

#define SOLID "solid"
#define DASHED "(12,4)"
#define DOTTED "(3,4)"
#define DASH_DOT "(12,4,2,4)"
#define SHORT "(6,4)"
#define DASH_DOT_DOT "(12,4,2,4,2,4)"

static const struct {
    const char *label;
    struct style style;
} known[] = {
    {"TS-Hyper", {GREEN, SOLID, 7}},
    {"GTS", {VERMILLION, SOLID, 5}},
    {"GTS-Pmean", {ORANGE, DASHED, 9}},
    {"GTS-P", {PINK, DASH_DOT, 11}},
    {"TS-Beta", {BLUE, SOLID, 13}},
    {"BayesUCB-Beta", {SKY, DASHED, 15}},
    {"TS-Cascade", {GREY, DASH_DOT, 8}},
    {"CascadeUCB1", {INDIGO, SOLID, 6}},
    {"CascadeKL-UCB", {WINE, DASHED, 4}},
    {"CascadeUCB-V", {OLIVE, DASH_DOT, 10}},
    {"TopRank", {BROWN, SHORT, 12}},
    {"Ensemble", {BLACK, DASH_DOT_DOT, 14}},
    {"Random", {PALE, DOTTED, 2}},
    {"Epsilon-greedy", {OLIVE, DASHED, 8}},
    /* the released samplers, which two figures show side by side */
    {"GTS (released)", {"#8A2C00", DOTTED, 4}},
    {"GTS-Pmean (released)", {"#C29A1C", SHORT, 8}},
    {"GTS-P (released)", {"#7A4964", "(7,3,2,3,2,3)", 10}},
    /* with context */
    {"LinTS-LTR", {VIOLET, SOLID, 6}},
    {"LinTS-Cascade", {LILAC, DASHED, 4}},
    {"CascadeLinTS", {OLIVE, DASH_DOT, 10}},
    {"LogTS-LTR", {CRIMSON, SOLID, 7}},
    {"LogTS-Newton", {ROSE, DASHED, 5}},
    {"C-LinUCB", {BROWN, SHORT, 12}},
    {"C-WOFUL", {INDIGO, DASH_DOT_DOT, 14}},
    /* experiments/prior-init.yaml: the colour is the prior mean, the dash the prior variance */
    {"[0, 1]", {VERMILLION, SOLID, 7}},
    {"[0, 1/4]", {VERMILLION, SHORT, 7}},
    {"[0, BetaVar]", {VERMILLION, DOTTED, 7}},
    {"[1/2, 1]", {BLUE, SOLID, 5}},
    {"[1/2, 1/4]", {BLUE, SHORT, 5}},
    {"[1/2, BetaVar]", {BLUE, DOTTED, 5}},
    {"[BetaMean, 1]", {GREEN, SOLID, 9}},
    {"[BetaMean, 1/4]", {GREEN, SHORT, 9}},
    {"[BetaMean, BetaVar]", {GREEN, DOTTED, 9}},
    {"TS-Hyper [BetaMean, BetaVar]", {GREEN, SOLID, 7}},
    {"TS-Hyper [BetaMean, 1/4]", {"#00543D", DASHED, 4}},
    {"TS-Hyper [1/2, 1/4]", {"#40B596", DASH_DOT, 6}},
    {"TS-Hyper [1/2, 1/80]", {"#003526", SHORT, 11}},
    {"TS-Hyper [1/20, 1/400]", {"#7CCDB6", "(18,5)", 13}},
    /* experiments/link.yaml */
    {"LogTS (logit)", {CRIMSON, SOLID, 7}},
    {"LogTS (probit)", {"#6A0B1A", DASHED, 5}},
    {"LogTS (cloglog)", {ROSE, DASH_DOT, 9}},
    /* experiments/sigma.yaml and concentration.yaml: sigma 0.5 is the default of GTS and has its
     * colour */
    {"GTS (sigma 0.5)", {VERMILLION, SOLID, 5}},
    {"Beta", {BLUE, SOLID, 13}},
    {"Gaussian (sigma 1)", {WINE, DASH_DOT, 4}},
    {"Gaussian (sigma 0.5)", {VERMILLION, DASHED, 7}}, /* dashed: equals the Beta at nu = 0.5 */
};

static const struct style fallback[] = {
    {VERMILLION, SOLID, 7}, {BLUE, DASHED, 5},   {GREEN, DASH_DOT, 9}, {ORANGE, SHORT, 11},
    {PINK, DOTTED, 13},     {SKY, SOLID, 15},    {INDIGO, DASHED, 6},  {WINE, DASH_DOT, 4},
    {OLIVE, SHORT, 8},      {BROWN, DOTTED, 10}, {BLACK, SOLID, 12},   {GREY, DASH_DOT_DOT, 14},
    {VIOLET, DASHED, 7},    {CRIMSON, SHORT, 5}, {ROSE, DASH_DOT, 9},  {LILAC, SOLID, 11},
};

/* How variant number i differs: its colour goes the share level[i] of the way to black (< 0) or to
 * white, and it has a dash of its own.  The lengths have no common factor, so the first 42 differ.
 */
static const double levels[] = {-0.40, 0.28, -0.62, -0.22, 0.14, -0.50, 0.40};
static const char *const dashes[] = {DOTTED, SHORT, DASH_DOT, "(18,5)", DASH_DOT_DOT, "(4,2)"};

/* The words of variants that several experiments have; their place is their number. */
static const char *const variants[] = {
    "released",
    "bayes",
    "literal",
    "sigma 0.3",
    "stale",
    "no prior",
    "sigma 1/16",
    "theory",
    "sigma 1",
    "sigma 0.25",
    "sigma 0.35",
    "sigma 0.5",
    "shared",
    "sigma 0.15",
    "0.01",
    "lambda 0.01",
    "lambda 0.1",
    "lambda 1",
    "S 10",
    "S 0.1",
    "no prior, shared",
    "sd 1/4",
    "sd 1/4 (sigma 0.3)",
};

enum {
    N_KNOWN = sizeof known / sizeof known[0],
    N_FALLBACK = sizeof fallback / sizeof fallback[0],
    N_LEVELS = sizeof levels / sizeof levels[0],
    N_DASHES = sizeof dashes / sizeof dashes[0],
    N_VARIANTS = sizeof variants / sizeof variants[0],
    MOST_VARIANTS = N_LEVELS * N_DASHES
};

static const struct style *known_style(const char *label, size_t length)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (strlen(known[i].label) == length && memcmp(known[i].label, label, length) == 0)
            return &known[i].style;
    return NULL;
}

/* ---- variants */

/* The style of X for a label "X (words)" or "X words", X as long as possible, and the words; NULL:
 * no such X is known. */
static const struct style *base_style(const char *label, const char **words)
{
    const struct style *found = NULL;
    for (const char *blank = strchr(label, ' '); blank; blank = strchr(blank + 1, ' ')) {
        const struct style *style = known_style(label, (size_t)(blank - label));
        found = style ? style : found;
        *words = style ? blank + 1 : *words;
    }
    return found;
}

/* Is it "words", or "(words)"? */
static bool same_words(const char *label, const char *words)
{
    size_t length = strlen(words);
    bool inside = *label == '(' && strlen(label) == length + 2 && label[length + 1] == ')';
    return strcmp(label, words) == 0 || (inside && memcmp(label + 1, words, length) == 0);
}

/* The number that the words of a variant have everywhere; N_VARIANTS: none. */
static size_t fixed_variant(const char *words)
{
    size_t number = 0;
    while (number < N_VARIANTS && !same_words(words, variants[number]))
        number++;
    return number;
}

static struct style variant_style(const struct style *base, size_t number)
{
    struct style style = {"", dashes[number % N_DASHES], base->point + 1 + (int)number};
    double part = levels[number % N_LEVELS];
    unsigned colour = (unsigned)strtoul(base->colour + 1, NULL, 16), mixed = 0;
    for (unsigned shift = 0; shift <= 16; shift += 8) {
        double level = colour >> shift & 255;
        level += part > 0 ? (255 - level) * part : level * part;
        mixed |= (unsigned)(level + 0.5) << shift;
    }
    (void)snprintf(style.colour, sizeof style.colour, "#%06X", mixed & 0xFFFFFF);
    return style;
}

/* ---- all labels */

static bool has_colour(const char *colour, const struct style *style, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(style[i].colour, colour) == 0)
            return true;
    return false;
}

static bool taken(const struct style *wanted, const struct style *style, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (style[i].dash && strcmp(style[i].colour, wanted->colour) == 0 &&
            strcmp(style[i].dash, wanted->dash) == 0)
            return true;
    return false;
}

/* The fixed style of a label, of its own or as a variant; else one without a colour. */
static struct style fixed_style(const char *label)
{
    const char *words = "";
    const struct style *found = known_style(label, strlen(label));
    if (found)
        return *found;
    found = base_style(label, &words);
    size_t number = found ? fixed_variant(words) : N_VARIANTS;
    return number < N_VARIANTS ? variant_style(found, number) : (struct style){"", NULL, 0};
}

/* The first variant of the base, after those with fixed numbers, that no other label has. */
static struct style free_variant(const struct style *base, const struct style *style, size_t count)
{
    size_t number = N_VARIANTS;
    struct style found = variant_style(base, number);
    while (taken(&found, style, count) && ++number < N_VARIANTS + MOST_VARIANTS)
        found = variant_style(base, number);
    return found;
}

void style_assign(const char *const *label, size_t count, struct style *style)
{
    const char *words = "";
    size_t next = 0;
    for (size_t i = 0; i < count; i++)
        style[i] = fixed_style(label[i]);
    for (size_t i = 0; i < count; i++) {
        if (style[i].colour[0])
            continue;
        const struct style *base = base_style(label[i], &words);
        if (base) {
            style[i] = free_variant(base, style, count);
            continue;
        }
        while (next < N_FALLBACK && has_colour(fallback[next].colour, style, count))
            next++;
        style[i] = fallback[next % N_FALLBACK]; /* with more labels than colours, points differ */
        style[i].point += next >= N_FALLBACK;
        next++;
    }
}
