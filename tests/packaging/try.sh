#!/usr/bin/env bash
# Tries what packages have installed; packages.sh runs it, in a new system or, with OLTR_TREE, on an
# unpacked tree.
#
#   try.sh VERSION engine|lab|program|python|redis|develop|removed
set -euo pipefail
version=$1
what=$2
here=$(realpath "$(dirname "$0")")
root=${OLTR_TREE:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/oltr-try.XXXXXX")
server=
stop() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server"; } || true
    rm -rf "$work"
}
trap stop EXIT
cd "$work"

fail() { echo "packages, $what: $*" >&2 && exit 1; }
there() {
    local file
    for file in "$@"; do [ -s "$root$file" ] || fail "$file is missing or empty"; done
}
loads() { # FILE...: all libraries that it needs are there
    local file
    for file in "$@"; do
        ! ldd "$file" | grep 'not found' || fail "$file lacks these libraries"
    done
}

engine() {
    loads "$root"/usr/lib/*/liboltr.so.0
    there /usr/share/doc/liboltr0/copyright /usr/share/doc/liboltr0/changelog.Debian.gz
}

lab() { loads "$root"/usr/lib/*/liboltr-lab.so.0; }

program() {
    loads "$(command -v oltr)"
    oltr version | grep -qF "$version" || fail "oltr is not version $version"
    cat >tiny.yaml <<'YAML'
rounds: 200
slots: 3
replications: 4
world: {kind: beta, items: 10}
policies: [{name: GTS, kind: gts}, {name: TS-Beta, kind: ts-beta, prior: full}]
YAML
    oltr run tiny.yaml -o out -q --no-figures
    [ "$(grep -c 'GTS\|TS-Beta' out/summary.csv)" -eq 2 ] || fail "oltr run wrote no summary"
    printf 'list_id,item,position,click\n1,hat,1,1\n1,coat,2,0\n' >clicks.csv
    oltr model create home.oltr --policy ts-hyper -q
    oltr model learn home.oltr clicks.csv -q
    oltr model rank home.oltr -k 2 --greedy | grep -q hat || fail "nothing was learned"
    # without gnuplot the experiments are found, and the message says what to install
    oltr --complete reproduce '' | grep -q '^noncontextual' || fail "the experiments are not found"
    there /usr/share/man/man1/oltr.1.gz /usr/share/man/man1/oltr-model-learn.1.gz \
        /usr/share/man/man5/oltr-experiment.5.gz /usr/share/zsh/vendor-completions/_oltr
    completion
}

completion() { # as bash calls it
    COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
    compopt() { :; }
    . "$root/usr/share/bash-completion/completions/oltr"
    COMP_LINE="oltr policies ts-h" COMP_POINT=18 COMP_WORDS=(oltr policies ts-h) COMP_CWORD=2
    _oltr
    [ "${COMPREPLY[*]}" = ts-hyper ] || fail "bash completes ts-h to '${COMPREPLY[*]}'"
}

python() {
    loads "$root"/usr/lib/python3/dist-packages/oltr/_core.abi3.so
    /usr/bin/python3 "$here/try_python.py" "$version"
}

redis() {
    local module=$root/usr/lib/redis/modules/oltr.so socket=$work/socket
    loads "$module"
    [ -x "$module" ] || fail "$module is not executable, and a server refuses it"
    redis-server --port 0 --unixsocket "$socket" --dir "$work" --save '' --logfile "$work/log" \
        --loadmodule "$module" &
    server=$!
    for _ in $(seq 100); do
        [ "$(redis-cli -s "$socket" PING 2>/dev/null)" = PONG ] && break
        kill -0 "$server" 2>/dev/null || { tail -n 5 log >&2 && fail "the server ended"; }
        sleep 0.1
    done
    redis-cli -s "$socket" OLTR.CREATE home ts-hyper | grep -q OK || fail "OLTR.CREATE"
    redis-cli -s "$socket" OLTR.LEARN home ITEMS 3 shoe hat coat CLICKS 1 2 ID one >/dev/null
    redis-cli -s "$socket" OLTR.RANK home 3 ALL | grep -q hat || fail "OLTR.RANK"
}

develop() {
    local package part
    for part in engine lab; do
        package=$([ $part = lab ] && echo oltr-lab || echo oltr)
        [ "$(pkg-config --modversion $package)" = "$version" ] || fail "$package.pc"
        gcc -std=c11 -Wall -Wextra -Werror "$here/$part.c" $(pkg-config --cflags --libs $package) \
            -o $part
        ldd ./$part | grep -q 'liboltr.so.0 => /' || fail "$part does not use the shared library"
        ./$part "$version" >$part.txt
        gcc -std=c11 "$here/$part.c" $(pkg-config --cflags $package) $(pkg-config --static --libs \
            $package | sed 's/-loltr-lab/-l:liboltr-lab.a/; s/-loltr\b/-l:liboltr.a/') -o ${part}_static
        ! ldd ./${part}_static | grep -q liboltr || fail "${part}_static is not static"
        ./${part}_static "$version" | cmp - $part.txt || fail "the static library differs"
    done
    ls "$root"/usr/lib/*/cmake/oltr/oltrConfig.cmake >/dev/null
}

removed() {
    local left
    left=$(find /usr /etc -name '*oltr*' 2>/dev/null)
    [ -z "$left" ] || fail "left behind: $left"
}

case $what in
engine | lab | program | python | redis | develop | removed) "$what" ;;
*) fail "there is no such try" ;;
esac
echo "  $what: ok"
