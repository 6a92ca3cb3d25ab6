#!/usr/bin/env python3
"""The code blocks of docs/serving.md and docs/redis.md must be excerpts of the examples, which are run.

Each run of lines between empty lines of a block must occur in one file of examples/ in the language
of the block, line for line; the indentation of the first line may differ.

usage: excerpts.py SOURCE_DIR
"""

import pathlib
import re
import sys
import textwrap

PAGES = {"docs/serving.md": 5, "docs/redis.md": 10}  # and how many pieces each has at least
SUFFIXES = {"c": ".c", "cpp": ".cpp", "python": ".py", "js": ".js", "conf": ".conf"}
BLOCK = re.compile(r"^```(%s)\n(.*?)^```$" % "|".join(SUFFIXES), re.M | re.S)


def pieces(page):
    """(suffix of the file, text) of every piece of code"""
    for language, block in BLOCK.findall(page):
        for piece in re.split(r"\n\s*\n", block.strip("\n")):
            if piece.strip():
                yield SUFFIXES[language], piece


def occurs(piece, lines):
    wanted = textwrap.dedent(piece).splitlines()
    for first in range(len(lines) - len(wanted) + 1):
        found = textwrap.dedent("\n".join(lines[first : first + len(wanted)])).splitlines()
        if found == wanted:
            return True
    return False


def main():
    root = pathlib.Path(sys.argv[1])
    files = sorted(p for p in (root / "examples").rglob("*") if p.suffix in SUFFIXES.values())
    sources = [(p.suffix, p.read_text(encoding="utf-8").splitlines()) for p in files]
    faults = 0
    for page, least in PAGES.items():
        found = list(pieces((root / page).read_text(encoding="utf-8")))
        missing = [p for suffix, p in found if not any(suffix == s and occurs(p, lines) for s, lines in sources)]
        for piece in missing:
            print(f"{page}: in no file of examples:\n{piece}\n")
        print(f"{page}: {len(found) - len(missing)} of {len(found)} pieces of code are in the examples")
        faults += len(missing) + (len(found) < least)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
