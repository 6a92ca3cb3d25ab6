#!/bin/bash
# The module for Redis lives in a process with many libraries: it exports the function that the server looks for and nothing
# else, so that no name of the engine can clash, and needs libm and libc only.
# usage: module.sh NM READELF MODULE [sanitized]
set -eu
nm=$1 readelf=$2 module=$3
# names that begin with two underscores belong to the compiler (sanitizers, coverage)
exported=$("$nm" -D --defined-only "$module" | awk 'NF >= 3 && $3 !~ /^__/ {print $3}')
[ "$exported" = RedisModule_OnLoad ] || {
    echo "the module exports other names than RedisModule_OnLoad:" $exported >&2
    exit 1
}
if [ "${4:-}" = sanitized ]; then
    echo "one name; a module that was built with a sanitizer or for coverage needs their libraries too"
    exit 0
fi
for name in $("$readelf" -d "$module" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case $name in
    libm.so.* | libc.so.*) ;;
    ld-linux* | ld64.so.*) ;; # s390x and others: the loader itself
    *) echo "the module may need libm and libc only, not $name" >&2 && exit 1 ;;
    esac
done
echo "one name, and no library but libm and libc"
