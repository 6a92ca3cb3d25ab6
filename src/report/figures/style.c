/* style.c - see style.h.
 *
 * The colours are those of Okabe and Ito, which people with any kind of colour vision can
 * distinguish, without their yellow (too pale on white), then Paul Tol's "muted" ones.  Labels also
 * differ by dash and point. */
#include "report/figures/style.h"

#include <stdbool.h>
#include <string.h>

#define VERMILLION "#D55E00"
#define ORANGE "#E69F00"
#define PURPLE "#CC79A7"
#define BLUE "#0072B2"
#define SKY "#56B4E9"
#define GREEN "#009E73"
#define INDIGO "#332288"
#define WINE "#882255"
#define OLIVE "#999933"
#define BROWN "#8C510A"
#define BLACK "#222222"
#define GREY "#999999"

#define SOLID "solid"
#define DASHED "(12,4)"
#define DOTTED "(2,3)"
#define DASH_DOT "(12,4,2,4)"
#define SHORT "(6,4)"
#define DASH_DOT_DOT "(12,4,2,4,2,4)"

static const struct {
    const char *label;
    struct style style;
} known[] = {
    {"GTS", {VERMILLION, SOLID, 7}},
    {"GTS-Pmean", {ORANGE, DASHED, 5}},
    {"GTS-P", {PURPLE, DASH_DOT, 9}},
    {"TS-Beta", {BLUE, SOLID, 13}},
    {"BayesUCB-Beta", {SKY, DASHED, 11}},
    {"TS-Cascade", {GREEN, DASH_DOT, 15}},
    {"CascadeUCB1", {INDIGO, SOLID, 6}},
    {"CascadeKL-UCB", {WINE, DASHED, 4}},
    {"CascadeUCB-V", {OLIVE, DASH_DOT, 8}},
    {"TopRank", {BROWN, SHORT, 10}},
    {"Ensemble", {BLACK, DASH_DOT_DOT, 12}},
    {"Random", {GREY, DOTTED, 14}},
    /* with context; a variant keeps the colour of its policy and takes another dash */
    {"LinTS-LTR", {ORANGE, SOLID, 5}},
    {"LinTS-LTR (bayes)", {ORANGE, SHORT, 5}},
    {"LinTS-LTR (released)", {ORANGE, DOTTED, 4}},
    {"LogTS-LTR", {BLACK, SOLID, 12}},
    {"LogTS-LTR (released)", {BLACK, DOTTED, 14}},
    {"LogTS-LTR (stale)", {BLUE, SHORT, 13}},
    {"LogTS-LTR (literal)", {INDIGO, DASHED, 4}},
    {"LogTS-LTR (theory)", {GREEN, DASH_DOT, 15}},
    {"LogTS-Newton", {PURPLE, DASHED, 9}},
    {"LinTS-Cascade", {INDIGO, DASHED, 6}},
    {"CascadeLinTS", {OLIVE, DASH_DOT, 8}},
    {"C-LinUCB", {BROWN, SHORT, 10}},
    {"C-LinUCB (released)", {BROWN, DOTTED, 11}},
    {"C-WOFUL", {WINE, DASH_DOT_DOT, 14}},
    {"C-WOFUL (0.01)", {WINE, SHORT, 14}},
    {"C-WOFUL (released)", {WINE, DOTTED, 15}},
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
    /* experiments/sigma.yaml and concentration.yaml: sigma 0.5 is the default of GTS and has its
     * colour */
    {"GTS (sigma 1)", {WINE, DASHED, 4}},
    {"GTS (sigma 0.5)", {VERMILLION, SOLID, 7}},
    {"GTS (sigma 0.25)", {ORANGE, DASH_DOT, 5}},
    {"GTS (released)", {VERMILLION, DOTTED, 6}},
    {"GTS-Pmean (released)", {ORANGE, DOTTED, 4}},
    {"GTS-P (released)", {PURPLE, DOTTED, 8}},
    {"Beta", {BLUE, SOLID, 13}},
    {"Gaussian (sigma 1)", {WINE, DASH_DOT, 4}},
    {"Gaussian (sigma 0.5)", {VERMILLION, DASHED, 7}}, /* dashed: equals the Beta at nu = 0.5 */
};

static const struct style fallback[] = {
    {VERMILLION, SOLID, 7}, {BLUE, DASHED, 5},   {GREEN, DASH_DOT, 9}, {ORANGE, SHORT, 11},
    {PURPLE, DOTTED, 13},   {SKY, SOLID, 15},    {INDIGO, DASHED, 6},  {WINE, DASH_DOT, 4},
    {OLIVE, SHORT, 8},      {BROWN, DOTTED, 10}, {BLACK, SOLID, 12},   {GREY, DASH_DOT_DOT, 14},
};

enum {
    N_KNOWN = sizeof known / sizeof known[0],
    N_FALLBACK = sizeof fallback / sizeof fallback[0]
};

static const struct style *known_style(const char *label)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (strcmp(known[i].label, label) == 0)
            return &known[i].style;
    return NULL;
}

static bool taken(const char *colour, const struct style *style, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (style[i].colour && strcmp(style[i].colour, colour) == 0)
            return true;
    return false;
}

void style_assign(const char *const *label, size_t count, struct style *style)
{
    for (size_t i = 0; i < count; i++) {
        const struct style *fixed = known_style(label[i]);
        style[i] = fixed ? *fixed : (struct style){NULL, NULL, 0};
    }
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        if (style[i].colour)
            continue;
        while (next < N_FALLBACK && taken(fallback[next].colour, style, count))
            next++;
        style[i] = fallback[next % N_FALLBACK]; /* with more labels than colours, points differ */
        style[i].point += next >= N_FALLBACK;
        next++;
    }
}
