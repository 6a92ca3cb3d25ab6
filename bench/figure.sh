#!/usr/bin/env bash
# Times the paper's non-contextual figure, from the experiment file to the drawing: 400 instances x
# 10,000 rounds x 6 policies.  The unit is user CPU seconds, summed over all threads, which depends
# little on the number of threads.
#
#   figure.sh OLTR [--strict]        OLTR: the program to time
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
oltr=$1
strict=${2:-}
target=30
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

TIMEFORMAT='%U %R'
times=$({ time "$oltr" run "$here/figure.yaml" -o "$out/figure" --quiet >"$out/log" 2>&1; } 2>&1) ||
    { cat "$out/log" >&2; exit 1; }
read -r user wall <<<"$times"
[ -s "$out/figure/results.csv" ] || { echo "figure.sh: no results were written" >&2; exit 1; }

verdict=$(awk -v u="$user" -v t="$target" 'BEGIN { print (u <= t ? "pass" : "**MISS**") }')
echo '| what | user CPU seconds | target | | |'
echo '|---|---|---|---|---|'
what="the non-contextual figure, 6 policies x 400 x 10,000 rounds"
echo "| $what | $user | <= $target | $verdict | $wall s of wall time |"
[ "$strict" != --strict ] || [ "$verdict" = pass ]
