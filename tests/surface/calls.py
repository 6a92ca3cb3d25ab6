#!/usr/bin/env python3
"""What the library must not do, read from its object files.

A library that prints, exits, reads the environment or keeps something in a global is a library that a server cannot embed.  So no
object of it may call such a function (files are read and written by src/engine/base/file.c, the log of src/engine/store and the
readers of src/lab alone; threads and locks are used by src/engine/store, which starts one thread at most, and by the lab), and
none may define a variable that can be written.  Two exceptions: kernels/cpu.c reads OLTR_CPU once and keeps the CPU mask;
scorer/blas.c counts who uses OpenBLAS, whose number of threads belongs to the whole process.

usage: calls.py NM OBJDUMP ARCHIVE            exit status 77: built with a sanitizer or for coverage, which add both
"""

import re
import subprocess
import sys

NEVER = set(
    "printf fprintf vprintf vfprintf dprintf puts fputs putchar putc fputc putc_unlocked perror stdout stderr stdin "
    "exit _exit _Exit quick_exit abort atexit system signal raise "
    "rand srand rand_r random srandom drand48 lrand48 srand48 "
    "getenv secure_getenv setenv putenv setlocale "
    "lgamma lgammaf strtok localtime gmtime asctime ctime".split()
)
FILES = set(
    "fopen fdopen freopen fread fwrite fclose fflush fseek ftell fgets fgetc getc open open64 read write pread pread64 pwrite pwrite64 "
    "ftruncate ftruncate64 close rename remove unlink tmpfile".split()
)
MAY_USE_FILES = {"file", "call_log", "source", "unpack", "open", "cache", "scores_csv"}
THREADS = re.compile(r"^(pthread_|sem_|thrd_|mtx_|cnd_)")
MAY_USE_THREADS = {"store", "ledger", "changes", "checkpoint", "readers"} | {"run", "digest", "read", "train_scorers", "blas"}  # the engine, and the lab
ALLOWED_CALLS = {("cpu.c.o", "getenv")}
ALLOWED_VARIABLES = {("cpu.c.o", "cpu_used"), ("blas.c.o", "shared")}
INSTRUMENTED = re.compile(r"^_*(asan|tsan|ubsan|msan|gcov|sanitizer|llvm_prof)")
WRITABLE = re.compile(r"^(\.data(?!\.rel\.ro)|\.bss|\.tdata|\.tbss|\*COM\*|\.sdata|\.sbss)")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def plain(name):
    """printf for __printf_chk: the compiler's checked twin of a function is that function."""
    match = re.fullmatch(r"__(\w+)_chk", name)
    return match.group(1) if match else name.split("@")[0]


def stem(member):
    """file for file.c.o and for file.o."""
    return member.split(".")[0]


def calls(nm, archive):
    for line in output(nm, "-A", "--undefined-only", archive).splitlines():
        place, name = line.rsplit(None, 1)
        yield place.split(":")[1], plain(name)


def variables(objdump, archive):
    member = ""
    for line in output(objdump, "-t", archive).splitlines():
        if line.endswith(("file format elf64-x86-64", "file format elf64-littleaarch64")) or ":     file format" in line:
            member = line.split(":")[0]
        match = re.match(r"^[0-9a-f]+ (.{7}) (\S+)\s+([0-9a-f]+)\s+(?:\.hidden\s+)?(\S+)$", line)
        if match and "O" in match.group(1) and WRITABLE.match(match.group(2)):
            yield member, match.group(4), match.group(2)


def main():
    nm, objdump, archive = sys.argv[1:4]
    used = list(calls(nm, archive))
    if any(INSTRUMENTED.match(name) for _, name in used):
        print("skipped: instrumented build")
        return 77
    faults = [f"{member} calls {name}" for member, name in used if name in NEVER and (member, name) not in ALLOWED_CALLS]
    faults += [f"{member} calls {name}" for member, name in used if name in FILES and stem(member) not in MAY_USE_FILES]
    faults += [f"{member} calls {name}" for member, name in used if THREADS.match(name) and stem(member) not in MAY_USE_THREADS]
    faults += [
        f"{member} has the variable {name} in {section}"
        for member, name, section in variables(objdump, archive)
        if (member, name) not in ALLOWED_VARIABLES
    ]
    print("\n".join(faults) if faults else f"{len(used)} calls, none of them forbidden; no variable but the CPU mask")
    return bool(faults) or len(used) < 20


if __name__ == "__main__":
    sys.exit(main())
