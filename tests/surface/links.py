#!/usr/bin/env python3
"""Every link, path and file name that a text of the project mentions must exist.

Checked are the relative links of Markdown files with their #anchors, paths like src/engine/limits.h
in Markdown, comments, scripts and messages, and names like limits.h, which a file of the project must
have.  A * in a path must match something.  CHANGELOG.md may mention files that are gone; names with
"mine", and those of blocks of code, are examples for the reader to make.

usage: links.py SOURCE_DIR
"""

import pathlib
import re
import sys

FOLDERS = "abi|app|bench|cmake|docs|examples|experiments|include|packaging|scripts|serve|src|tests"
MENTION = re.compile(r"(?<![\w/.$}*-])(?:%s)/[\w./*{},-]*[\w*/}](?![\w$])" % FOLDERS)
NAME = re.compile(r"(?<![\w/.\"<$*-])[a-z]\w+\.(?:c|h|cpp|py)\b(?![\w(\[.=])")
TEST = re.compile(r"NAME\s+[\w/-]+|set_tests_properties\([\w/\s${}-]*?\bPROPERTIES")
LINK = re.compile(r"\]\(([^)\s]+)\)")
EXAMPLE = re.compile(r"\bmine\b")
BLOCK = re.compile(r"^```\w+ [\w.-]+$", re.M)
GENERATED = {"assets.c", "completion_scripts.c"}
TEXTS = {".md", ".c", ".h", ".cpp", ".py", ".sh", ".yaml", ".cmake", ".in", ".txt", ""}
NOT_OURS = re.compile(r"^(build|report|out|\.git/|tests/fuzz/corpus/|CHANGELOG|LICENSE)")


def texts(root):
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix in TEXTS and not NOT_OURS.match(name) and path.is_file():
            yield name, path.read_text(encoding="utf-8", errors="replace")


def anchors(path):
    """The #anchors that GitHub makes of the headings of a Markdown file."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.M)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", h).lower().strip() for h in headings)
    return {re.sub(r"[^\w\- ]", "", h).replace(" ", "-") for h in plain}


def bad_links(root, name, text):
    for link in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = root / name if not file else (root / name).parent / file
        if not target.exists():
            yield f"the link {link} leads nowhere"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{file or name} has no heading for the link {link}"


def exists(root, path):
    """As a file, a folder or a pattern; or as the name of a test, app/data for tests/app/data.sh."""
    path = re.sub(r"\{[^}]*\}", "*", path).rstrip("/.").replace("/*", "/**/*")
    return any(any(root.glob(p)) for p in (path, f"tests/{path}", f"tests/{path}.*"))


def bad_mentions(root, text):
    for path in sorted(set(MENTION.findall(TEST.sub("", text)))):
        if not EXAMPLE.search(path) and not exists(root, path):
            yield f"{path} does not exist"


def bad_names(files, text):
    for name in sorted(set(NAME.findall(BLOCK.sub("", text)))):
        if not EXAMPLE.search(name) and name not in files | GENERATED:
            yield f"no file has the name {name}"


def main():
    root = pathlib.Path(sys.argv[1])
    all_texts = dict(texts(root))
    files = {pathlib.PurePath(name).name for name in all_texts}
    faults = []
    for name, text in all_texts.items():
        found = list(bad_mentions(root, text)) + list(bad_names(files, text))
        found += bad_links(root, name, text) if name.endswith(".md") else []
        faults += [f"{name}: {fault}" for fault in found]
    print("\n".join(faults or [f"{len(all_texts)} files, every link, path and name exists"]))
    return 1 if faults or len(all_texts) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
