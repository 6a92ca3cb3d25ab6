#!/bin/bash
# A user of the engine must not get a zlib or a YAML parser with it: what the shared libraries need, from their dynamic sections.
# The locks of a store are in libc itself (glibc 2.34 and later); calls.py says which files may use them.
# usage: needed.sh READELF ENGINE LAB [sanitized]     exit status 77: a sanitizer's library would be among them
set -eu
readelf=$1 engine=$2 lab=$3
if [ "${4:-}" = sanitized ]; then
    echo "skipped: a library that was built with a sanitizer or for coverage needs their libraries too"
    exit 77
fi

needed() { "$readelf" -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' '; }
of_engine=$(needed "$engine") of_lab=$(needed "$lab")
echo "liboltr needs: $of_engine"
echo "liboltr-lab needs: $of_lab"
for name in $of_engine; do
    case $name in
    libm.so.* | libc.so.*) ;;
    ld-linux* | ld64.so.*) ;; # s390x and others: the loader itself
    *) echo "liboltr may need libm and libc only, not $name" >&2 && exit 1 ;;
    esac
done
for name in $of_lab; do # OpenBLAS is loaded when scorers are trained
    case $name in
    liboltr.so.* | libz.so.* | libyaml-0.so.* | libm.so.* | libc.so.*) ;;
    libpthread.so.* | libdl.so.* | ld-linux* | ld64.so.*) ;;
    *) echo "liboltr-lab may not need $name" >&2 && exit 1 ;;
    esac
done
for name in liboltr.so libz.so; do
    case $of_lab in
    *$name*) ;;
    *) echo "liboltr-lab does not name $name among what it needs" >&2 && exit 1 ;;
    esac
done
