#!/usr/bin/env python3
"""The one-way law: every folder may include only what stands below it.

liboltr, the engine
    base <- rng <- math <- posterior <- policy        each may use those before it
liboltr-lab, which has policies through the public headers only, and base and rng because their objects are in it too
    data       base, rng
    world      base, rng
    sim        base, world
    plan       base, and everything else through the public headers
the program
    ranker     base, rng, data
    report     the public headers, src/base and src/math/special.h
    cli        those, report, data, plan and ranker
    include    nothing of src

A cycle between folders cannot be taken out again by the next reader, so it is refused when it appears.
usage: layers.py SOURCE_DIR
"""

import pathlib
import re
import sys

BELOW = {
    "base": {"base"},
    "rng": {"base", "rng"},
    "math": {"base", "rng", "math"},
    "posterior": {"base", "rng", "math", "posterior"},
    "policy": {"base", "rng", "math", "posterior", "policy"},
    "data": {"base", "rng", "data"},
    "world": {"base", "rng", "world"},
    "sim": {"base", "world", "sim"},
    "plan": {"base", "plan"},
    "ranker": {"base", "rng", "data", "ranker"},
    "report": {"base", "report"},
    "cli": {"base", "report", "data", "plan", "ranker", "cli"},
}
LAB_HEADERS = {"oltr/sim.h", "oltr/world_ops.h", "oltr/plan.h"}
SINGLE = {"report": {"math/special.h"}, "cli": {"math/special.h"}}
SEES_LAB = {"data", "ranker", "world", "sim", "plan", "report", "cli"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)


def included(path):
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def fault(source, folder, path, quote, name):
    """What is wrong with this include, or None."""
    if name.startswith("oltr/"):
        if quote == '"':
            return "public headers are included with <>"
        if folder == "include":
            own = "oltr/" + path.name
            return "a header of the engine may not use the lab's" if name in LAB_HEADERS and own not in LAB_HEADERS else None
        if name in LAB_HEADERS and folder not in SEES_LAB:
            return "a header of liboltr-lab; the engine does without"
        return None
    if quote == "<":
        return None if not (source / "src" / name).exists() else "own headers are included with quotes"
    if folder == "include":
        return "a public header may use nothing of src"
    if (path.parent / name).exists() and "/" not in name:
        return None
    target = name.split("/")[0]
    if not (source / "src" / name).exists():
        return "no such header"
    if target in BELOW[folder] or name in SINGLE.get(folder, ()):
        return None
    return f"{folder} may not use {target}"


def files(source):
    for path in sorted(source.glob("src/*/*.[ch]")):
        yield path.parent.name, path
    for path in sorted(source.glob("cli/*.[ch]")):
        yield "cli", path
    for path in sorted(source.glob("include/oltr/*.h")):
        yield "include", path


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    faults, count = [], 0
    for folder, path in files(source):
        if folder != "include" and folder not in BELOW:
            faults.append(f"{path.relative_to(source)}: the law does not know the folder {folder}; say in layers.py where it stands")
            continue
        count += 1
        for line, quote, name in included(path):
            what = fault(source, folder, path, quote, name)
            if what:
                faults.append(f"{path.relative_to(source)}:{line}: {name}: {what}")
    print("\n".join(faults) if faults else f"{count} files keep the one-way law")
    return bool(faults) or count < 50


if __name__ == "__main__":
    sys.exit(main())
