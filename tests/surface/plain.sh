#!/bin/bash
# The vector kernels and their plain C twins must be the same function: a build without vector kernels gives the same bytes for every policy.
# usage: plain.sh OLTR PLAIN_OLTR SOURCE_DIR WORK_DIR
set -eu
oltr=$1 plain=$2 source=$3 work=$4
rm -rf "$work"
mkdir -p "$work"
"$oltr" run "$source/tests/surface/plain.yaml" -o "$work/vector" -j 2 >"$work/vector.log" 2>&1 || { cat "$work/vector.log"; exit 1; }
"$plain" run "$source/tests/surface/plain.yaml" -o "$work/plain" -j 1 >"$work/plain.log" 2>&1 || { cat "$work/plain.log"; exit 1; }
cmp "$work/vector/results.csv" "$work/plain/results.csv"

# every policy of the catalogue takes part
for kind in $("$oltr" policies | grep -oE '^[a-z][a-z0-9-]+'); do
    grep -q "kind: $kind\b" "$source/tests/surface/plain.yaml" || { echo "$kind is missing in plain.yaml" >&2; exit 1; }
done
echo "$(wc -l <"$work/plain/results.csv") lines, all the same"
