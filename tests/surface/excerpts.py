#!/usr/bin/env python3
"""The C and C++ blocks of docs/serving.md must be excerpts of the examples, which are compiled and run.

Each run of lines between empty lines of a block must occur in one file of examples/, line for line;
the indentation of the first line may differ.

usage: excerpts.py SOURCE_DIR
"""

import pathlib
import re
import sys
import textwrap

BLOCK = re.compile(r"^```(?:c|cpp)\n(.*?)^```$", re.M | re.S)
SUFFIXES = {".c", ".cpp"}


def pieces(page):
    for block in BLOCK.findall(page):
        yield from (p for p in re.split(r"\n\s*\n", block.strip("\n")) if p.strip())


def occurs(piece, lines):
    wanted = textwrap.dedent(piece).splitlines()
    for first in range(len(lines) - len(wanted) + 1):
        found = textwrap.dedent("\n".join(lines[first : first + len(wanted)])).splitlines()
        if found == wanted:
            return True
    return False


def main():
    root = pathlib.Path(sys.argv[1])
    files = [p for p in sorted((root / "examples").iterdir()) if p.suffix in SUFFIXES]
    sources = [p.read_text(encoding="utf-8").splitlines() for p in files]
    found = list(pieces((root / "docs/serving.md").read_text(encoding="utf-8")))
    missing = [p for p in found if not any(occurs(p, lines) for lines in sources)]
    for piece in missing:
        print(f"docs/serving.md: in no file of examples:\n{piece}\n")
    print(f"{len(found) - len(missing)} of {len(found)} pieces of code are in the examples")
    return 1 if missing or len(found) < 5 else 0


if __name__ == "__main__":
    sys.exit(main())
