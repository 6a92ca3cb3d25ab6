#!/usr/bin/env bash
# Does a bench run to its end and print the table it is made for?
#
#   runs.sh TEXT COMMAND...        TEXT: what must stand in one of its lines
#
# Exit code 77, skipped: it needs a python3 with numpy and scipy, and there is none.
set -uo pipefail
text=$1 && shift
if [ "${1##*/}" = python3 ] && ! "$1" -c 'import numpy, scipy' 2>/dev/null; then
    echo "skipped: $1 has no numpy or no scipy"
    exit 77
fi
out=$("$@") || { echo "$out" && echo "exit code $? of $*" && exit 1; }
grep -qF -- "$text" <<<"$out" || { echo "$out" && echo "nothing above says: $text" && exit 1; }
