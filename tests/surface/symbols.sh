#!/bin/bash
# What a library exports is an interface that others link against: a name added, lost or leaked must be meant.
# The shared library exports exactly the names of LIST, all under the symbol version OLTR_0.1; the static one defines the same
# global names; and they are the functions that its headers declare.
# usage: symbols.sh NM SHARED STATIC LIST WORK_DIR HEADER...
set -eu
nm=$1 shared=$2 static=$3 list=$4 work=$5
shift 5
rm -rf "$work"
mkdir -p "$work"
export LC_ALL=C

# names that begin with two underscores belong to the compiler (sanitizers, coverage)
defined() { "$nm" --defined-only "$@" | awk 'NF >= 3 && $2 != "A" && $3 !~ /^__/ {print $3}' | sort -u; }

LC_ALL=C sort -c "$list"
defined -D "$shared" >"$work/versioned.txt"
if grep -v '@@OLTR_0\.1$' "$work/versioned.txt"; then
    echo "$(basename "$shared") exports the names above without the symbol version OLTR_0.1" >&2
    exit 1
fi
sed 's/@@.*//' "$work/versioned.txt" >"$work/exported.txt"
if ! diff -u "$list" "$work/exported.txt"; then
    echo "$(basename "$shared") does not define every name of $list;" >&2
    echo "take what is gone out of the list, if that is meant" >&2
    exit 1
fi

defined -g "$static" >"$work/defined.txt"
if ! diff -u "$list" "$work/defined.txt"; then
    echo "$(basename "$static") defines other global names than $list says" >&2
    exit 1
fi

cat "$@" | tr '\n' ' ' | grep -oE 'OLTR_API [^;]*;' | grep -oE 'oltr_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$work/declared.txt"
if ! diff -u "$work/declared.txt" "$work/exported.txt"; then
    echo "the headers declare (-) other functions than $(basename "$shared") exports (+);" >&2
    echo "a new function needs a line in $list" >&2
    exit 1
fi
echo "$(wc -l <"$work/exported.txt") names, all declared, none leaked"
