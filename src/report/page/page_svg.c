/* page_svg.c - the SVG of gnuplot, made small enough for a page with many figures.
 *
 * gnuplot writes a point for each checkpoint, with two decimals, and many empty groups.  Here
 * points that lie within a tenth of a pixel of the line between their neighbours are left out, the
 * others get one decimal, empty groups are dropped, and runs of blanks become one.  The picture is
 * the same to the eye and about a fifteenth as long.  Cost: linear, with a window of WINDOW points.
 */
#include "report/page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { WINDOW = 64 };
static const double TOLERANCE = 0.1; /* pixels */

struct point {
    double x, y;
    bool moves; /* begins a new line */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* ---- points */

/* Reads "M1.5,2 L3,4" or "1.5,2 3,4" up to `end`.  The number of points; 0: something else is
 * there, and the text is kept as it is.  out: room for a point every four characters. */
static size_t read_points(const char *from, const char *end, struct point *out)
{
    size_t count = 0;
    while (from < end) {
        char *after_x, *after_y;
        bool moves = *from == 'M' || count == 0;
        if (is_blank(*from)) {
            from++;
            continue;
        }
        from += *from == 'M' || *from == 'L';
        double x = strtod(from, &after_x);
        if (after_x == from || after_x >= end || *after_x != ',')
            return 0;
        double y = strtod(after_x + 1, &after_y);
        if (after_y == after_x + 1 || after_y > end || !isfinite(x) || !isfinite(y))
            return 0;
        out[count++] = (struct point){x, y, moves};
        from = after_y;
    }
    return count;
}

static double distance(const struct point *p, const struct point *a, const struct point *b)
{
    double dx = b->x - a->x, dy = b->y - a->y, length = hypot(dx, dy);
    return length > 0 ? fabs((p->x - a->x) * dy - (p->y - a->y) * dx) / length
                      : hypot(p->x - a->x, p->y - a->y);
}

/* Is every point between the two near their line, and between its ends? */
static bool is_straight(const struct point *from, const struct point *to)
{
    double dx = to->x - from->x, dy = to->y - from->y;
    for (const struct point *p = from + 1; p < to; p++) {
        double along = (p->x - from->x) * dx + (p->y - from->y) * dy;
        if (distance(p, from, to) > TOLERANCE || along < 0 || along > dx * dx + dy * dy)
            return false;
    }
    return true;
}

/* The points that are needed, in place; their number. */
static size_t thin_points(struct point *point, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count;) {
        size_t next = i + 1;
        while (next + 1 < count && next - i < WINDOW && !point[next].moves &&
               !point[next + 1].moves && is_straight(&point[i], &point[next + 1]))
            next++;
        point[kept++] = point[i];
        i = next;
    }
    return kept;
}

static void add_coordinate(struct text *out, double value)
{
    double rounded = round(10 * value) / 10;
    text_printf(out, "%g", rounded == 0 ? 0 : rounded); /* never -0 */
}

static void add_points(struct text *out, const struct point *point, size_t count, bool is_path)
{
    for (size_t i = 0; i < count; i++) {
        text_add(out, !is_path ? (i > 0 ? " " : "") : point[i].moves ? "M" : "L");
        add_coordinate(out, point[i].x);
        text_add(out, ",");
        add_coordinate(out, point[i].y);
    }
}

/* ---- the text */

/* Writes the value of an attribute with points, from its first character to the closing quote, and
 * returns where it ends. */
static const char *add_attribute(struct text *out, const char *value, char quote, bool is_path)
{
    const char *end = strchr(value, quote);
    end = end ? end : value + strlen(value);
    size_t length = (size_t)(end - value);
    struct point *point = calloc(length / 4 + 2, sizeof *point);
    size_t count = point ? read_points(value, end, point) : 0;
    if (count > 0)
        add_points(out, point, thin_points(point, count), is_path);
    else
        text_bytes(out, value, length);
    free(point);
    return end;
}

/* Attributes that gnuplot gives to every group, with the value that they have anyway: the length of
 * their text, else 0. */
static size_t default_attribute(const char *at)
{
    static const char *const defaults[] = {" color=\"black\"", " stroke-linecap=\"butt\"",
                                           " stroke-linejoin=\"miter\"", " class=\"gridline\""};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (strncmp(at, defaults[i], strlen(defaults[i])) == 0)
            return strlen(defaults[i]);
    return 0;
}

/* A group that has nothing in it: the length of its text, else 0. */
static size_t empty_group(const char *at)
{
    const char *tag = strncmp(at, "<g ", 3) == 0 ? strchr(at, '>') : NULL;
    const char *after = tag ? tag + 1 + strspn(tag + 1, " \t\r\n") : NULL;
    return after && strncmp(after, "</g>", 4) == 0 ? (size_t)(after + 4 - at) : 0;
}

static void add_small(const char *svg, struct text *out)
{
    static const char path[] = " d='", points[] = "points = '";
    bool blank = true;
    for (const char *at = svg; *at;) {
        size_t empty = *at == '<' ? empty_group(at) : *at == ' ' ? default_attribute(at) : 0;
        bool is_path = strncmp(at, path, sizeof path - 1) == 0;
        if (empty > 0) {
            at += empty;
        } else if (is_path || strncmp(at, points, sizeof points - 1) == 0) {
            text_add(out, is_path ? path : "points='");
            at += is_path ? sizeof path - 1 : sizeof points - 1;
            at = add_attribute(out, at, '\'', is_path);
        } else {
            if (!is_blank(*at))
                text_bytes(out, at, 1);
            else if (!blank)
                text_add(out, " ");
            blank = is_blank(*at);
            at++;
        }
    }
}

/* ---- compression */

static void add_base64(struct text *out, const unsigned char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        unsigned word = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? bytes[i + 2] : 0);
        char four[] = {digits[word >> 18], digits[word >> 12 & 63],
                       left > 1 ? digits[word >> 6 & 63] : '=', left > 2 ? digits[word & 63] : '='};
        text_bytes(out, four, sizeof four);
    }
}

void page_svg(const char *svg, struct text *out)
{
    struct text small = {0};
    add_small(svg, &small);
    uLongf length = compressBound(small.length);
    unsigned char *packed = malloc(length);
    if (!small.failed && packed &&
        compress2(packed, &length, (const Bytef *)small.bytes, small.length, 9) == Z_OK)
        add_base64(out, packed, length);
    else
        out->failed = true;
    free(packed);
    text_free(&small);
}
