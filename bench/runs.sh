#!/usr/bin/env bash
# Tests that a bench runs to its end and prints what it should.
#
#   runs.sh TEXT COMMAND...        fails unless COMMAND succeeds and one of its lines has TEXT
#
# Exit code 77 (skipped): COMMAND ends with it, or is a script numpy_*.py and there is no numpy or no
# scipy.
set -uo pipefail
text=$1 && shift
if [[ ${2:-} == */numpy_*.py ]] && ! "$1" -c 'import numpy, scipy' 2>/dev/null; then
    echo "skipped: $1 has no numpy or no scipy"
    exit 77
fi
out=$("$@")
code=$?
if [ $code -ne 0 ]; then
    echo "$out"
    echo "exit code $code of $*"
    [ $code -eq 77 ] && exit 77
    exit 1
fi
grep -qF -- "$text" <<<"$out" || { echo "$out" && echo "missing in the output: $text" && exit 1; }
