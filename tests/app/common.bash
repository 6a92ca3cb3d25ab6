# common.bash - what the tests of the command line share.  Each test is run as: bash TEST.sh OLTR WORKDIR
#
# A test says what it expects and stops at the first thing that is not so.
set -u
trap 'exit 1' TERM
OLTR=$(realpath "$1")
WORK=$2
SOURCE=${OLTR_SOURCE:-$(realpath "$(dirname "$0")/../..")}
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK" || exit 1

# Whether the program was built with a sanitizer, which makes it ten times slower.
sanitized() {
    [ -n "${OLTR_BUILD:-}" ] && grep -q 'C_FLAGS:.*fsanitize' "$OLTR_BUILD/CMakeCache.txt"
}

fail() {
    echo "FAILED: $*" >&2
    [ -f said ] && sed 's/^/  | /' said >&2
    kill -TERM $$ # the test itself: this may be a subshell
    exit 1
}

# expect CODE TEXT COMMAND...: the command ends with CODE and says TEXT (a fixed string) on either stream.
expect() {
    local code=$1 text=$2 got
    shift 2
    "$@" >said 2>&1 </dev/null
    got=$?
    [ "$got" -eq "$code" ] || fail "exit status $got instead of $code: $*"
    [ -z "$text" ] || grep -qF -- "$text" said || fail "does not say '$text': $*"
}

# same FILE FILE
same() {
    cmp -s "$1" "$2" || fail "$1 and $2 differ"
}

# there FILE...: all of them, none empty
there() {
    local file
    for file in "$@"; do
        [ -s "$file" ] || fail "$file is missing or empty"
    done
}

# no_leftovers DIR: no temporary file or folder stayed
no_leftovers() {
    local left
    left=$(find "$1" -name '*.tmp' -o -name '.drawing-*' -o -name 'partial*.oltr*')
    [ -z "$left" ] || fail "left behind: $left"
}

need() {
    command -v "$1" >/dev/null || { echo "skipped: no $1"; exit 77; }
}

# A small experiment that runs in no time.
small() {
    cat <<'YAML'
title: A small one
seed: 7
rounds: 200
slots: 3
replications: 8
checkpoints: 10
world:
  kind: beta
  items: 10
policies:
  - {name: GTS, kind: gts}
  - {name: TS-Beta, kind: ts-beta, prior: full}
YAML
}
