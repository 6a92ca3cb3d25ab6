#!/usr/bin/env bash
# One style: every C file is as clang-format leaves it, no line is longer than 100 columns, and no
# two files of the library and the program have the same name.
# usage: style.sh SOURCE_DIR
set -euo pipefail
cd "$1"
command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }
git rev-parse --git-dir >/dev/null 2>&1 || { echo "skipped: not a clone, so there is no list of files"; exit 77; }

fail() { echo "$1" >&2 && exit 1; }
files() { git ls-files --cached --others --exclude-standard -- "$@"; }

scripts/format --check >/dev/null 2>&1 || fail "not formatted; run \`make fmt\`: $(scripts/format --check 2>&1 | grep -oE '^[^ :]+\.(c|h|cpp)\b' | sort -u | tr '\n' ' ')"
long=$(files '*.c' '*.h' '*.cpp' | xargs awk 'length($0) > 100 { print FILENAME ":" FNR }')
[ -z "$long" ] || fail "longer than 100 columns: $long"
twice=$(files 'src/*.[ch]' 'app/*.[ch]' 'serve/*.[ch]' 'python/*.[ch]' 'include/*.h' | xargs -n 1 basename | sort | uniq -d)
[ -z "$twice" ] || fail "two files have this name: $twice"
echo "$(files '*.c' '*.h' '*.cpp' | wc -l) files in one style"
