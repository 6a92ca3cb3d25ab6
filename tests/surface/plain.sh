#!/bin/bash
# The vector kernels and their plain C twins must be the same function: a build without vector kernels gives the same bytes for every policy.
# usage: plain.sh OLTR PLAIN_OLTR SOURCE_DIR WORK_DIR
set -eu
oltr=$1 plain=$2 source=$3 work=$4
rm -rf "$work"
mkdir -p "$work"
for file in plain plain-context; do
    "$oltr" run "$source/tests/surface/$file.yaml" -o "$work/$file-vector" -j 2 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$plain" run "$source/tests/surface/$file.yaml" -o "$work/$file-plain" -j 1 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    cmp "$work/$file-vector/results.csv" "$work/$file-plain/results.csv"
done

# every policy of the catalogue takes part
for kind in $("$oltr" policies | grep -oE '^[a-z][a-z0-9-]+'); do
    grep -q "kind: $kind\b" "$source"/tests/surface/plain*.yaml || { echo "$kind is missing in plain.yaml and plain-context.yaml" >&2; exit 1; }
done
echo "$(cat "$work"/*-plain/results.csv | wc -l) lines, all the same"
