#!/bin/bash
# The README's first program must compile as it is printed, and learn: it serves users who click at the rates the README
# speaks of, 0.5 % to 2 % for most of 1,000 items and 5 % for twenty of them, and must find most of the twenty.
# usage: readme.sh CC SOURCE_DIR LIBRARY WORK_DIR [FLAGS...]    README_KIND=gts: with another policy
set -eu
cc=$1 source=$2 library=$3 work=$4
shift 4
mkdir -p "$work"
awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$source/README.md" >"$work/example.c"
grep -q oltr_store_learn "$work/example.c" || { echo "README.md has no example in C"; exit 1; }
sed -i "s|home.oltr|$work/home.oltr|; s|\"ts-hyper\"|\"${README_KIND:-ts-hyper}\"|" "$work/example.c"
rm -f "$work/home.oltr" "$work/home.oltr.log"

{
    grep '^#include' "$work/example.c"
    cat <<'USERS'
#include <stdio.h>
enum { ITEMS = 1000, REQUESTS = 40000, EVERY = 10000, LAST = 1000 };
typedef struct page_view {
    uint32_t n;
    const oltr_name *candidate;
    char session[24], id_text[24];
    size_t size;
    oltr_name shown[10], id;
    double click[10];
} page_view;
static char text[ITEMS][12];
static oltr_name name[ITEMS];
static unsigned served, good;
static int next_view(page_view *v)
{
    for (unsigned i = 0; served == 0 && i < ITEMS; i++)
        name[i] = (oltr_name){text[i], (uint32_t)sprintf(text[i], "item %u", i)};
    *v = (page_view){.n = ITEMS, .candidate = name};
    v->size = (size_t)sprintf(v->session, "session %u", served);
    v->id = (oltr_name){v->id_text, (uint32_t)sprintf(v->id_text, "view %u", served)};
    if (served % EVERY == EVERY - LAST)
        good = 0;
    if (served % EVERY == 0 && served > 0)
        printf("after %u requests: %.1f good items of 10\n", served, (double)good / LAST);
    return served++ < REQUESTS;
}
static void show_to_user(page_view *v, const uint32_t place[])
{
    oltr_rng user = oltr_rng_at(oltr_rng_make(7, 0), 1, served);
    for (uint32_t slot = 0, left = 0; slot < 10; slot++) {
        uint32_t item = place[slot];
        int is_good = item % 50 == 7;
        double rate = is_good ? 0.05 : 0.005 + 0.015 * (item * 37 % ITEMS) / ITEMS;
        int clicks = oltr_rng_uniform(&user) < rate;
        good += (unsigned)is_good;
        v->shown[slot] = name[item];
        v->click[slot] = clicks && !left;
        left = left || clicks;
    }
}
int main(void)
{
USERS
    grep -v '^#include' "$work/example.c"
    cat <<'END'
    return good < 7 * LAST;
}
END
} >"$work/main.c"
$cc -std=c11 -Wall -Wextra -Wpedantic -Werror "$@" "-I$source/include" "$work/main.c" "$library" \
    "-Wl,-rpath,$(dirname "$library")" -o "$work/example"
"$work/example"
