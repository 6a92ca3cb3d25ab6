#!/bin/bash
# The way of somebody who has only the installed files: install into an empty prefix, then build a program outside the tree with nothing but
# pkg-config, against the shared and the static library, and run it.
# usage: install.sh CMAKE BUILD_DIR CC SOURCE_DIR WORK_DIR [compiler flags]
set -eu
cmake=$1 build=$2 cc=$3 source=$4 work=$5
shift 5
prefix=$work/prefix
rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log"

need() {
    for file in "$@"; do
        [ -s "$file" ] || { echo "not installed: $file" >&2; exit 1; }
    done
}
need "$prefix"/include/oltr/oltr.h "$prefix"/include/oltr/sim.h "$prefix"/share/man/man1/oltr.1 "$prefix"/share/oltr/experiments/noncontextual.yaml
pc=$(find "$prefix" -name oltr.pc)
need "$pc"
libdir=$(dirname "$(dirname "$pc")")
need "$libdir"/liboltr.a "$libdir"/liboltr.so
version=$(cat "$source/VERSION")
[ "$("$prefix"/bin/oltr --version | grep -cF "$version")" -ge 1 ] || { echo "the installed program is not version $version" >&2; exit 1; }

# the installed program finds its experiments, and carries all that a report needs
if command -v gnuplot >/dev/null; then
    (cd "$work" && "$prefix"/bin/oltr reproduce -q -o report concentration)
    need "$work"/report/index.html "$work"/report/concentration/fig-bvsgpost.pdf
fi

export PKG_CONFIG_PATH=$(dirname "$pc")
[ "$(pkg-config --modversion oltr)" = "$version" ]
cp "$source"/tests/surface/consumer/main.c "$work/main.c"
cd "$work"

$cc -std=c11 -Wall -Wextra -Werror "$@" $(pkg-config --cflags oltr) main.c $(pkg-config --libs oltr) -o with_shared
LD_LIBRARY_PATH=$libdir ./with_shared "$version" >shared.txt

$cc -std=c11 -Wall -Wextra -Werror "$@" $(pkg-config --cflags oltr) main.c "$libdir"/liboltr.a \
    $(pkg-config --static --libs oltr | tr ' ' '\n' | grep -vE '^-L|^-loltr$' | tr '\n' ' ') -o with_static
mv "$libdir" "$libdir.away" # nothing of it may be needed any more
./with_static "$version" >static.txt
mv "$libdir.away" "$libdir"
cmp shared.txt static.txt

# a moved prefix must still work: pkg-config finds the files from where the .pc file lies
mv "$prefix" "$work/moved"
moved=$work/moved${pc#"$prefix"}
export PKG_CONFIG_PATH=$(dirname "$moved")
$cc -std=c11 "$@" $(pkg-config --cflags oltr) -c main.c -o moved.o || { echo "oltr.pc points at $(pkg-config --variable=prefix oltr), not at where it lies" >&2; exit 1; }
cat shared.txt
