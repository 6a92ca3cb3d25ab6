#!/bin/bash
# The kernels of every processor are the same function: a run limited to plain C gives the same bytes for every policy, and so does one
# limited to AVX2 on a processor with AVX-512.
# usage: plain.sh OLTR SOURCE_DIR WORK_DIR
set -eu
oltr=$1 source=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
limits=plain
[ "$("$oltr" version | sed -n 's/^cpu: \(.*\) found.*/\1/p')" = avx512 ] && limits="plain avx2"
for file in plain plain-context; do
    "$oltr" run "$source/tests/surface/$file.yaml" -o "$work/$file-vector" -j 2 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    for limit in $limits; do
        OLTR_CPU=$limit "$oltr" version | grep -q ", $limit used" || { echo "OLTR_CPU=$limit has no effect" >&2; exit 1; }
        OLTR_CPU=$limit "$oltr" run "$source/tests/surface/$file.yaml" -o "$work/$file-$limit" -j 1 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
        cmp "$work/$file-vector/results.csv" "$work/$file-$limit/results.csv"
    done
done

# every policy of the catalogue takes part
for kind in $("$oltr" policies | grep -oE '^[a-z][a-z0-9-]+'); do
    grep -qE "kind: $kind([^a-z0-9-]|\$)" "$source"/tests/surface/plain*.yaml || {
        echo "no line has \`kind: $kind\`; add one to tests/surface/plain.yaml, or with features to plain-context.yaml" >&2
        exit 1
    }
done
echo "$(cat "$work"/*-plain/results.csv | wc -l) lines, all the same"
