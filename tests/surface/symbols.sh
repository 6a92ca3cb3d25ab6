#!/bin/bash
# What the libraries export is an interface that others link against: a name added, lost or leaked must be meant.
# The shared library exports exactly symbols.txt; the static one defines no global name outside oltr_.
# usage: symbols.sh NM SHARED STATIC SOURCE_DIR WORK_DIR
set -eu
nm=$1 shared=$2 static=$3 source=$4 work=$5
mkdir -p "$work"
export LC_ALL=C

# names that begin with two underscores belong to the compiler (sanitizers, coverage)
exported() { "$nm" "$@" | awk 'NF >= 3 && $3 !~ /^__/ {print $3}' | sort -u; }

exported -D --defined-only "$shared" >"$work/exported.txt"
if ! diff -u "$source/tests/surface/symbols.txt" "$work/exported.txt"; then
    echo "the shared library exports something else than tests/surface/symbols.txt says;" >&2
    echo "if the change is meant, copy $work/exported.txt over it" >&2
    exit 1
fi

exported -g --defined-only "$static" >"$work/defined.txt"
if grep -v '^oltr_' "$work/defined.txt"; then
    echo "the static library defines the global names above, which do not begin with oltr_" >&2
    exit 1
fi
diff -u "$source/tests/surface/symbols.txt" "$work/defined.txt"

# every exported name is declared in a public header, and the other way round
cat "$source"/include/oltr/*.h | tr '\n' ' ' | grep -oE 'OLTR_API [^;]*;' | grep -oE 'oltr_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$work/declared.txt"
diff -u "$work/declared.txt" "$work/exported.txt"
echo "$(wc -l <"$work/exported.txt") names, all declared, none leaked"
