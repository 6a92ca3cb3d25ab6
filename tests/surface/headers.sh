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
