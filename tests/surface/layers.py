#!/usr/bin/env python3
"""The one-way law: a folder includes only headers of the folders listed for it below.

USES gives, for every folder that holds C files, the folders whose headers it may include; its own
subfolders and, below src and app, the two headers of limits are always allowed.  Everything else goes through the public
headers, and those of liboltr-lab are closed to the engine.  A cycle between folders is hard to
remove once it exists, so the test fails on the first include that points up.
usage: layers.py SOURCE_DIR
"""

import pathlib
import re
import sys

BASE = {"engine/base"}
KERNELS = BASE | {"engine/kernels"}
DRAWS = KERNELS | {"engine/rng"}
USES = {
    # liboltr
    "engine/base": set(),
    "engine/kernels": BASE,
    "engine/rng": KERNELS,
    "engine/select": DRAWS,
    "engine/linalg": KERNELS,
    "engine/special": BASE,
    "engine/race": KERNELS | {"engine/special"},
    "engine/posterior": DRAWS | {"engine/linalg", "engine/special"},
    "engine/policy": DRAWS | {"engine/select", "engine/linalg", "engine/special", "engine/race", "engine/posterior"},
    "engine/model": DRAWS | {"engine/select", "engine/special", "engine/posterior", "engine/policy"},
    "engine/store": KERNELS | {"engine/model"},
    # liboltr-lab: policies through the public headers; the objects of base and of the draws of kernels are in it too
    "lab/data": KERNELS,
    "lab/world": KERNELS,
    "lab/click": KERNELS | {"lab/world"},
    "lab/sim": BASE | {"lab/world"},
    "lab/plan": BASE | {"lab/world", "lab/sim"},
    "lab/scorer": BASE,
    "lab/ope": KERNELS,
    "lab/prepare": BASE | {"lab/data", "lab/plan", "lab/scorer"},
    # the program
    "report": BASE | {"engine/special", "lab/data"},
    "app/args": BASE | {"lab/plan"},
    "app/config": BASE | {"lab/plan", "report"},
    "app/logs": BASE | {"lab/data", "lab/scorer"},
    "app/run": BASE | {"lab/data", "lab/plan", "lab/prepare", "lab/scorer", "report", "app/args", "app/config"},
    "app/ope": BASE | {"report", "app/logs"},
    "app/verbs": BASE | {"lab/data", "lab/plan", "lab/prepare", "lab/scorer", "report", "app/args", "app/logs", "app/ope", "app/run"},
    "app/mpi": {"app/run", "app/verbs"},
    "app": {"app/verbs"},
    # modules of servers: the engine through its public headers, as any program outside has it
    "serve/redis": set(),
    # the extension of Python: engine and lab through the public headers
    "python/core": set(),
    # what others compile with
    "include": set(),
}
SEES_LAB = ("lab", "report", "app", "python", "include")
LAB_HEADERS = {"oltr/sim.h", "oltr/world_ops.h", "oltr/plan.h", "oltr/ope.h"}
SERVED = {"oltr/model.h", "oltr/oltr.h"}  # all that serve/ may know of the engine
LIMITS = ("engine/limits.h", "lab/lab_limits.h")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)


def room_of(path):
    """The folder of USES that a path below src/ or the project belongs to, or None."""
    parts = pathlib.PurePath(path).parts
    for length in (2, 1):
        room = "/".join(parts[:length])
        if len(parts) > length and room in USES:
            return room
    return None


def public_fault(room, path, quote, name):
    if quote == '"':
        return "public headers are included with <>"
    if room.startswith("serve/") and name not in SERVED:
        return "serve/ uses models, and nothing else of the engine"
    own = "oltr/" + path.name
    if name in LAB_HEADERS and (not room.startswith(SEES_LAB) or room == "include" and own not in LAB_HEADERS):
        return "a header of liboltr-lab, which the engine may not need"
    return None


def fault(source, room, path, quote, name):
    """What is wrong with this include, or None."""
    if name.startswith("oltr/"):
        return public_fault(room, path, quote, name)
    found = (source / "src" / name).exists() or (name.startswith(("app/", "serve/", "python/")) and (source / name).exists())
    if quote == "<":
        return "own headers are included with quotes" if found else None
    if not found:
        return "no such header below src/, app/, serve/ or python/; own headers are included by their whole path"
    if room == "include":
        return "a public header may use nothing of src"
    target = room_of(name)
    if (name in LIMITS and not room.startswith(("serve/", "python/"))) or target == room or target in USES[room]:
        return None
    return f"{room} may not use {target}"


def files(source):
    for folder in ("src", "app", "serve", "python", "include"):
        for path in sorted((source / folder).rglob("*.[ch]")):
            below = path.relative_to(source / "src" if folder == "src" else source)
            yield str(below), path


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    faults, count = [], 0
    for below, path in files(source):
        room = room_of(below)
        if below in LIMITS:
            continue
        if room is None:
            faults.append(f"{below}: USES in layers.py has no line for this folder")
            continue
        count += 1
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            what = fault(source, room, path, match.group(1), match.group(2))
            if what:
                faults.append(f"{below}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(2)}: {what}")
    print("\n".join(faults) if faults else f"{count} files keep the one-way law")
    return bool(faults) or count < 50


if __name__ == "__main__":
    sys.exit(main())
