#!/bin/bash
# Each public header must compile alone, before anything else was included, as C11 and as C++17, without a warning.
# usage: headers.sh CC CXX SOURCE_DIR WORK_DIR
set -eu
cc=$1 cxx=$2 source=$3 work=$4
mkdir -p "$work"
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only -I$source/include"

for header in "$source"/include/oltr/*.h; do
    name=$(basename "$header")
    for language in c cc; do
        printf '#include <oltr/%s>\n#include <oltr/%s>\nint main(void) { return 0; }\n' "$name" "$name" >"$work/alone.$language"
    done
    $cc -std=c11 -Wstrict-prototypes $strict "$work/alone.c"
    $cxx -std=c++17 $strict "$work/alone.cc"
    echo "$name compiles alone in C11 and C++17"
done

# Structs that programs lay out themselves have a size or room for later versions.  The others are complete by their
# meaning, or belong to the interfaces of policy_ops.h and world_ops.h, which may change with a minor version.
complete=" oltr_error oltr_memory oltr_rng oltr_param oltr_name oltr_named "
internal=" oltr_candidates oltr_sum_array oltr_policy_ops oltr_instance oltr_world_param "
awk -v exempt="$complete$internal" '
    /^typedef struct [a-z_]+ \{/ { inside = 1; room = 0 }
    inside && /^    .*[ *](size;|reserved\[)/ { room = 1 }
    inside && /^\} [a-z_]+;/ {
        name = substr($2, 1, length($2) - 1)
        if (!room && !index(exempt, " " name " ")) { print FILENAME ": " name " has no room to grow"; failed = 1 }
        inside = 0
    }
    END { exit failed }' "$source"/include/oltr/*.h
