#!/usr/bin/env bash
# Tests that a bench runs to its end and prints what it should.
#
#   runs.sh TEXT COMMAND...        fails unless COMMAND succeeds and one of its lines has TEXT
#
# Exit code 77 (skipped): COMMAND is python3, which has no numpy or no scipy.
set -uo pipefail
text=$1 && shift
if [ "${1##*/}" = python3 ] && ! "$1" -c 'import numpy, scipy' 2>/dev/null; then
    echo "skipped: $1 has no numpy or no scipy"
    exit 77
fi
out=$("$@") || { echo "$out" && echo "exit code $? of $*" && exit 1; }
grep -qF -- "$text" <<<"$out" || { echo "$out" && echo "missing in the output: $text" && exit 1; }
