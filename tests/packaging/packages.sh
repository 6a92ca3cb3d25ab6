#!/usr/bin/env bash
# Tries the Debian packages of a folder: scripts/deb runs it at its end.
#
#   tests/packaging/packages.sh FOLDER [root|tree]
#
#   root  a new Debian 12 (debootstrap, minbase) in a temporary folder.  Each package is installed
#         there by apt with what it depends on and nothing else, and tried before the next one.
#         Needs root, unshare and a mirror; OLTR_MIRROR names another one.  What was downloaded is
#         kept in build/packaging for the next run.  Two minutes, the first time three.
#   tree  the packages are unpacked (dpkg-deb -x) and tried with the libraries of this system.
#         Says nothing about dependencies.  Seconds.
#
# Without the second word it is root, and tree where root is not possible, with the reason.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
folder=$(realpath "$1")
mode=${2:-}
keep=$(realpath "$here/../..")/build/packaging
mirror=${OLTR_MIRROR:-http://deb.debian.org/debian}
suite=bookworm
work=$(mktemp -d "${TMPDIR:-/tmp}/oltr-packages.XXXXXX")
trap 'rm -rf "$work"' EXIT
version=$(cat "$here/../../VERSION")

fail() { echo "packages: $*" >&2 && exit 1; }
find_package() { # NAME: its file
    local found
    found=$(find "$folder" -maxdepth 1 -name "$1_*.deb")
    [ -n "$found" ] || fail "there is no $1 in $folder; run make deb"
    echo "$found"
}
names=(liboltr0 liboltr-lab0 oltr oltr-redis liboltr-dev python3-oltr)
for name in "${names[@]}"; do find_package "$name" >/dev/null; done

# What the tries need beside the packages.
mkdir "$work/tries"
cp "$here/try.sh" "$here/try_python.py" "$here"/../surface/consumer/*.c "$work/tries"

# ---- root

why_no_root() {
    [ "$(id -u)" -eq 0 ] || { echo "not root" && return; }
    command -v debootstrap >/dev/null || { echo "no debootstrap" && return; }
    unshare --mount true 2>/dev/null || { echo "unshare is not allowed" && return; }
    [ -s "$keep/$suite.tar" ] || make_base >"$work/debootstrap.log" 2>&1 ||
        echo "debootstrap failed: $(tail -n 1 "$work/debootstrap.log")"
}

make_base() { # a minimal system, kept as a tar file
    mkdir -p "$keep/archives/partial"
    debootstrap --variant=minbase "$suite" "$work/base" "$mirror" &&
        tar --create --file "$keep/$suite.part" --directory "$work/base" . &&
        mv "$keep/$suite.part" "$keep/$suite.tar"
}

in_root() { # COMMAND...: in the new system, with /proc; mounts end with the command
    unshare --mount bash -c '
        mount -t proc proc "$0/proc" && mount --bind "$1" "$0/var/cache/apt/archives" &&
        exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive "${@:2}"' "$work/root" "$keep/archives" "$@"
}

quietly() {
    "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2 && fail "failed: $*"; }
}

add() { # PACKAGE...: files of the folder by their name, others of Debian
    local wanted=() name
    for name in "$@"; do
        case $name in
        *oltr*) wanted+=("./packages/$(basename "$(find_package "$name")")") ;;
        *) wanted+=("$name") ;;
        esac
    done
    quietly in_root apt-get -q install -y --no-install-recommends "${wanted[@]}"
}

try() { in_root bash /tries/try.sh "$version" "$@"; }

try_in_root() {
    mkdir -p "$work/root" "$keep/archives/partial"
    tar --extract --file "$keep/$suite.tar" --directory "$work/root"
    cp -r "$work/tries" "$work/root/tries"
    mkdir "$work/root/packages"
    cp "$folder"/*.deb "$work/root/packages"
    cp /etc/resolv.conf "$work/root/etc/"
    printf '#!/bin/sh\nexit 101\n' >"$work/root/usr/sbin/policy-rc.d" # starts no service
    chmod +x "$work/root/usr/sbin/policy-rc.d"
    cat >"$work/root/etc/apt/apt.conf.d/99try" <<'END'
APT::Keep-Downloaded-Packages "true";
APT::Sandbox::User "root";
END
    quietly in_root apt-get -q update
    # Dependencies are tested by the order: no package before may bring what a later one needs.
    add liboltr0 && try engine
    add liboltr-lab0 && try lab
    add oltr && try program
    add python3-oltr && try python
    add oltr-redis redis-server && try redis
    add liboltr-dev gcc libc6-dev pkg-config && try develop
    quietly in_root apt-get -q purge -y 'liboltr*' oltr oltr-redis python3-oltr
    try removed
}

# ---- tree

try_in_tree() {
    local tree=$work/tree name library
    for name in "${names[@]}"; do dpkg-deb -x "$(find_package "$name")" "$tree"; done
    library=$(dirname "$(find "$tree/usr/lib" -name liboltr.so.0)")
    export OLTR_TREE=$tree PATH=$tree/usr/bin:$PATH LD_LIBRARY_PATH=$library
    export PKG_CONFIG_PATH=$library/pkgconfig PYTHONPATH=$tree/usr/lib/python3/dist-packages
    for what in engine lab program python redis develop; do
        bash "$work/tries/try.sh" "$version" "$what"
    done
}

# ---- which

case $mode in
root | '') reason=$(why_no_root) ;;
tree) reason="asked for" ;;
*) fail "the second word is root or tree, not $mode" ;;
esac
if [ -z "$reason" ]; then
    try_in_root
    echo "${#names[@]} packages installed in a new Debian 12 ($suite) and tried"
elif [ "$mode" = root ]; then
    fail "no new root: $reason"
else
    try_in_tree
    echo "${#names[@]} packages unpacked and tried; dependencies not tested: $reason"
fi
