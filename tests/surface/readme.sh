#!/bin/bash
# The README's first program must compile as it is printed, and learn: it serves users who click at the rates the README
# speaks of, 0.5 % to 2 % for most of 1,000 items and 5 % for twenty of them, and must find most of the twenty.
# usage: readme.sh CC SOURCE_DIR LIBRARY WORK_DIR [FLAGS...]
set -eu
cc=$1 source=$2 library=$3 work=$4
shift 4
mkdir -p "$work"
awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$source/README.md" >"$work/example.c"
grep -q oltr_rank "$work/example.c" || { echo "README.md has no example in C"; exit 1; }

{
    grep '^#include' "$work/example.c"
    cat <<'USERS'
#include <stdio.h>
enum { REQUESTS = 40000, LAST = 10000 };
static uint64_t served;
static unsigned good;
static int serving(void) { return served++ < REQUESTS; }
static uint32_t show_to_user(const oltr_ranking *list, double click[])
{
    oltr_rng user = oltr_rng_at(oltr_rng_make(7, 0), 1, served);
    uint32_t looked_at = list->k;
    for (uint32_t slot = 0; slot < list->k; slot++) {
        int is_good = list->item[slot] % 50 == 7;
        good += served > REQUESTS - LAST && is_good;
        click[slot] = oltr_rng_uniform(&user) < (is_good ? 0.05 : 0.005 + 0.015 * (list->item[slot] * 37 % 1000) / 1000);
        if (click[slot] > 0 && looked_at == list->k)
            looked_at = slot + 1;
    }
    return looked_at;
}
int main(void)
{
USERS
    grep -v '^#include' "$work/example.c"
    cat <<'END'
    printf("%u.%u of 10 items shown in the last requests are good ones\n", good / LAST, good * 10 / LAST % 10);
    oltr_scratch_free(scratch);
    oltr_policy_free(policy);
    return good < 7 * LAST;
}
END
} >"$work/main.c"
$cc -std=c11 -Wall -Wextra -Wpedantic -Werror "$@" "-I$source/include" "$work/main.c" "$library" \
    "-Wl,-rpath,$(dirname "$library")" -o "$work/example"
"$work/example"
