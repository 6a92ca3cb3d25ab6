/* end_labels.c - places of names: in order, apart, inside, and moved as little as possible. */
#include "support/unit.h"
#include "report/figures/end_labels.h"
#include "report/figures/style.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void check(const double *wanted, size_t count, double gap)
{
    double place[16];
    memcpy(place, wanted, count * sizeof *place);
    spread_places(place, count, gap, 0, 1);
    for (size_t i = 0; i < count; i++) {
        assert_true(place[i] >= -1e-12 && place[i] <= 1 + 1e-12);
        assert_true(i == 0 || place[i] - place[i - 1] >= gap - 1e-12);
    }
}

/* Places that are apart stay; two that meet move by the same distance; a pile at the edge stays
 * inside. */
static void known_places(void **state)
{
    double apart[3] = {0.1, 0.5, 0.9}, pair[2] = {0.5, 0.5}, edge[3] = {0.99, 1, 1};
    spread_places(apart, 3, 0.1, 0, 1);
    assert_true(fabs(apart[1] - 0.5) < 1e-12);
    spread_places(pair, 2, 0.1, 0, 1);
    assert_true(fabs(pair[0] - 0.45) < 1e-12);
    assert_true(fabs(pair[1] - 0.55) < 1e-12);
    spread_places(edge, 3, 0.1, 0, 1);
    assert_true(fabs(edge[0] - 0.8) < 1e-12);
    assert_true(fabs(edge[2] - 1) < 1e-12);
}

static void random_places(void **state)
{
    uint64_t word = 7;
    for (int trial = 0; trial < 1000; trial++) {
        double wanted[16], at = 0;
        size_t count = 1 + (size_t)trial % 16;
        for (size_t i = 0; i < count; i++) {
            word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            wanted[i] = at = fmin(1, at + pow((double)(word >> 40) / (1 << 24), 4));
        }
        check(wanted, count, 0.06);
    }
}

static void too_many_for_the_room(void **state)
{
    double place[5] = {0, 0, 0, 0, 1};
    spread_places(place, 5, 0.5, 0, 1);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(place[i] - 0.25 * i) < 1e-12);
    spread_places(place, 0, 0.5, 0, 1);
    spread_places(place, 1, 0.5, 0, 1);
}

/* ---- styles: see style.h */

static void styles_differ(void **state)
{
    static const char *const label[] = {"GTS",           "GTS (released)", "GTS-Pmean (released)",
                                        "GTS (sigma 1)", "GTS (0.3)",      "my own",
                                        "TS-Beta",       "another (x)"};
    enum { COUNT = sizeof label / sizeof *label };
    struct style style[COUNT], alone;
    style_assign(label, COUNT, style);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_true(strcmp(style[i].colour, style[j].colour) != 0 ||
                        strcmp(style[i].dash, style[j].dash) != 0);
    for (int i = 0; i < COUNT; i++) { /* the same in another experiment */
        style_assign(label + i, 1, &alone);
        assert_true(i == 4 || i == 5 || i == 7 || strcmp(alone.colour, style[i].colour) == 0);
    }
}

static void many_variants(void **state)
{
    enum { COUNT = 40 };
    char words[COUNT][24];
    const char *label[COUNT];
    struct style style[COUNT];
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(words[i], sizeof words[i], "GTS (%d)", i);
        label[i] = words[i];
    }
    style_assign(label, COUNT, style);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_true(strcmp(style[i].colour, style[j].colour) != 0 ||
                        strcmp(style[i].dash, style[j].dash) != 0);
}

/* The script for one curve of this name under this title. */
static void script_of(const char *name, const char *title, struct text *out)
{
    struct curve_point point = {.x = 1, .y = 1};
    struct curve curve = {.count = 1, .point = &point};
    const struct figure figure = {.title = title};
    const struct drawing drawing = {
        .figure = &figure, .n_curves = 1, .curve = &curve, .axis_high = 2};
    (void)snprintf(curve.label, sizeof curve.label, "%s", name);
    end_labels(&drawing, 960, 540, out);
    assert_false(out->failed);
}

static void long_names_and_titles_fit(void **state)
{
    char name[140] = "", title[121] = "";
    struct text shown = {0}, cut = {0};
    script_of("GTS", "A title", &shown);
    assert_non_null(strstr(shown.bytes, "\"GTS\""));
    assert_null(strstr(shown.bytes, "set title"));
    for (int i = 0; i < 60; i++)
        strcat(name, "ü");
    memset(title, 'w', 120);
    script_of(name, title, &cut);
    assert_null(strstr(cut.bytes, name));
    assert_non_null(strstr(cut.bytes, "üü…\""));
    assert_non_null(strstr(cut.bytes, "set title font ',8"));
    text_free(&shown);
    text_free(&cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_places),          cmocka_unit_test(random_places),
        cmocka_unit_test(too_many_for_the_room), cmocka_unit_test(styles_differ),
        cmocka_unit_test(many_variants),         cmocka_unit_test(long_names_and_titles_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
