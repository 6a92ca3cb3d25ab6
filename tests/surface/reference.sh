#!/usr/bin/env bash
# The reference of the C interface can be made, every public function is in it with a text, and every
# struct has one (scripts/reference fails otherwise).
# usage: reference.sh SOURCE_DIR WORK_DIR
set -euo pipefail
source=$1
work=$2
command -v doxygen >/dev/null || { echo "skipped: doxygen is not installed" && exit 77; }
"$source/scripts/reference" "$work"
cat "$work"/html/*.html >"$work/all"
missing=$(cat "$source"/tests/surface/symbols*.txt | grep '^oltr_' | while read -r name; do
    grep -qE "memItemRight.*>$name</(a|b)>" "$work/all" || echo "$name"
done)
[ -z "$missing" ] || { echo "not in the reference: $missing" >&2 && exit 1; }
# a comment with signs that Doxygen would read as commands comes out as it was written
grep -q 'as \\u pairs' "$work/all" || { echo "signs in comments are lost" >&2 && exit 1; }
echo "$(cat "$source"/tests/surface/symbols*.txt | grep -c '^oltr_') functions"
