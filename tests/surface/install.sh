#!/bin/bash
# The way of somebody who has only the installed files: install into an empty prefix, then build programs outside the tree with
# nothing but pkg-config, and with nothing but find_package, against the shared and the static libraries, for the engine alone
# and for the lab, and run them.
# usage: install.sh CMAKE BUILD_DIR CC SOURCE_DIR WORK_DIR [compiler flags]
set -eu
cmake=$1 build=$2 cc=$3 source=$4 work=$5
shift 5
prefix=$work/prefix
version=$(cat "$source/VERSION")
rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log"

fail() { echo "$*" >&2 && exit 1; }
need() {
    for file in "$@"; do
        [ -s "$file" ] || fail "not installed: $file"
    done
}
need "$prefix"/include/oltr/{oltr,policy_ops,sim,world_ops}.h "$prefix"/share/man/man1/oltr{,-model-learn}.1 "$prefix"/share/man/man5/oltr-experiment.5 "$prefix"/share/bash-completion/completions/oltr "$prefix"/share/zsh/site-functions/_oltr "$prefix"/share/oltr/experiments/noncontextual.yaml
pc=$(find "$prefix" -name oltr.pc)
need "$pc"
libdir=$(dirname "$(dirname "$pc")")
need "$libdir"/liboltr{,-lab}.a "$libdir"/liboltr{,-lab}.so "$libdir"/pkgconfig/oltr-lab.pc "$libdir"/cmake/oltr/oltrConfig.cmake
need "$prefix"/lib/redis/modules/oltr.so
[ -x "$prefix"/lib/redis/modules/oltr.so ] || fail "the module is not executable, and a server refuses it"
"$prefix"/bin/oltr --version | grep -qF "$version" || fail "the installed program is not version $version"
! grep -rlF -e "$source" -e "$build" "$libdir/pkgconfig" "$libdir/cmake" || fail "the files above point into the source or the build"

# the installed program finds its experiments, and carries all that a report needs
if command -v gnuplot >/dev/null; then
    (cd "$work" && "$prefix"/bin/oltr reproduce -q -o report concentration)
    need "$work"/report/index.html "$work"/report/concentration/fig-bvsgpost.pdf
fi

# The same files without shared libraries: where -loltr means liboltr.a.  Both are moved, so that nothing may point at `prefix`.
mv "$prefix" "$work/shared"
cp -r "$work/shared" "$work/static"
libdir=$work/shared${libdir#"$prefix"}
static=$work/static${libdir#"$work/shared"}
rm "$static"/liboltr*.so*

cp "$source"/tests/surface/consumer/* "$work"
cd "$work"
strict="-std=c11 -Wall -Wextra -Werror"
run() { # PROGRAM: runs it where only the shared libraries can be found
    LD_LIBRARY_PATH=$libdir "./$1" "$version" >"$(basename "$1").txt" || fail "$1 failed"
}
run_alone() { # PROGRAM: runs it where none can be found
    mv "$libdir" "$libdir.away"
    "./$1" "$version" >"$(basename "$1").txt" || fail "$1 needs the shared libraries, or failed"
    mv "$libdir.away" "$libdir"
}

pkg() { PKG_CONFIG_PATH=$1/pkgconfig pkg-config "${@:2}"; }
with_pkg_config() { # PACKAGE PART
    [ "$(pkg "$libdir" --modversion "$1")" = "$version" ] || fail "$1.pc is of another version"
    $cc $strict "${flags[@]}" $(pkg "$libdir" --cflags "$1") "$2.c" $(pkg "$libdir" --libs "$1") -o "$2_pc_shared"
    run "$2_pc_shared"
    $cc $strict "${flags[@]}" $(pkg "$static" --static --cflags "$1") "$2.c" $(pkg "$static" --static --libs "$1") -o "$2_pc_static"
    run_alone "$2_pc_static"
}

with_cmake() { # PART [options]
    "$cmake" -S . -B "cmake-$1" -DPART="$1" -DWANTED="${version%.*}" -DCMAKE_PREFIX_PATH="$work/shared" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_C_FLAGS="${flags[*]}" "${@:2}" >cmake.log 2>&1 && "$cmake" --build "cmake-$1" >>cmake.log 2>&1 || { cat cmake.log; exit 1; }
    run "cmake-$1/$1_shared"
    run_alone "cmake-$1/$1_static"
}

flags=("$@")
with_pkg_config oltr engine
with_pkg_config oltr-lab lab
with_cmake engine -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON -DCMAKE_DISABLE_FIND_PACKAGE_Threads=ON
with_cmake lab
for part in engine lab; do
    for way in pc_static shared static; do
        cmp "${part}_pc_shared.txt" "${part}_$way.txt"
    done
done
case " $(pkg "$static" --static --libs oltr) " in
*-lz* | *pthread*) fail "the engine's oltr.pc brings $(pkg "$static" --static --libs oltr)" ;;
esac
if "$cmake" -S . -B cmake-newer -DPART=engine -DWANTED=99.0 -DCMAKE_PREFIX_PATH="$work/shared" >cmake.log 2>&1; then
    fail "find_package(oltr 99.0) takes version $version"
fi
if "$cmake" -S . -B cmake-without -DPART=lab -DWANTED="${version%.*}" -DCMAKE_PREFIX_PATH="$work/shared" \
    -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON >cmake.log 2>&1 || ! grep -q 'lab_static needs .*zlib' cmake.log; then
    fail "find_package(oltr COMPONENTS lab_static) does not say that it needs zlib"
fi
cat engine_pc_shared.txt lab_pc_shared.txt
