"""The Python code in docs/python*.md runs, in the order of the page, in a folder of its own.
The bytes in docs/formats.md are what the package writes.

    ```python            is executed; a page is one program
    ```text              right behind it: exactly what it printed
    ```python NAME.py    is written to a file, and can be imported
    ```csv NAME.csv      is written to a file; so is yaml NAME, json NAME ...

A block that imports a package that is not installed ends the page, and the test is skipped.
"""

import contextlib
import io
import os
import pathlib
import re
import sys

import oltr  # noqa: F401  before the folder changes
import pytest

SOURCE = pathlib.Path(os.environ.get("OLTR_SOURCE", pathlib.Path(__file__).parents[2]))
PAGES = sorted((SOURCE / "docs").glob("python*.md"))
BLOCK = re.compile(r"^```(\w+)(?: ([\w.-]+))?\n(.*?)^```$", re.M | re.S)
SOFT = {"numpy", "pandas", "matplotlib", "tqdm", "scipy"}  # packages that a page may use


def blocks(page):
    """(language, file or None, text, line, whether it is right behind the block before)"""
    text, end = page.read_text(encoding="utf-8"), 0
    for match in BLOCK.finditer(text):
        language, name, code = match.groups()
        yield language, name, code, text.count("\n", 0, match.start(3)) + 1, not text[
            end : match.start()
        ].strip()
        end = match.end()


def run(code, page, line, names):
    """What a block prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
    return printed.getvalue()


def play(page):
    names, printed, count = {"__name__": "__main__"}, None, 0
    for language, name, code, line, follows in blocks(page):
        where = f"{page.name}:{line}"
        if name:
            pathlib.Path(name).write_text(code, encoding="utf-8")
        elif language == "python":
            printed = run(code, page, line, names)
            count += 1
            continue
        elif language == "text" and follows and printed is not None:
            assert [row.rstrip() for row in printed.splitlines()] == [
                row.rstrip() for row in code.splitlines()
            ], where
        printed = None
    return count


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    try:
        assert play(page) > 0, "the page has no Python code"
    except ModuleNotFoundError as missing:
        if missing.name.partition(".")[0] not in SOFT:
            raise
        pytest.skip(f"{missing.name} is not installed")
    finally:
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None) or ""
            if file.startswith(str(tmp_path)):
                del sys.modules[name]


def test_there_are_pages():
    assert PAGES


def example(begin):
    """The bytes of the block behind `begin` in docs/formats.md, parted where it has an ellipsis."""
    page = (SOURCE / "docs" / "formats.md").read_text(encoding="utf-8")
    block = page[page.index(begin) :].split("```")[1]
    parts = [b""]
    for line in block.splitlines():
        for word in line.split("   ")[0].split():
            if word == "...":
                parts.append(b"")
            elif re.fullmatch("[0-9a-f]{2}", word):
                parts[-1] += bytes.fromhex(word)
            else:
                break
    return parts


def test_bytes_of_formats(tmp_path):
    policy = oltr.Policy("ts-beta", 4, prior={"a": [1, 2, 3, 4], "b": 10})
    for _ in range(5):
        policy.learn([0], [1])
    (begin,) = example("The beginning of a `ts-beta`")
    assert policy.to_bytes()[: len(begin)] == begin

    policy = oltr.Policy("lints", 3, dim=2)
    policy.learn([0, 1], [0, 1], x=[[1, 0], [0.5, 0.25], [0, 0]])
    (end,) = example("The end of a `lints`")
    assert policy.to_bytes().endswith(end)

    model = oltr.Model("ts-beta")
    model.learn(["tea", "milk"], [0, 1], id="page 1")
    begin, end = example("A model of `ts-beta`")
    assert model.to_bytes().startswith(begin)
    assert model.to_bytes().endswith(end)

    with oltr.open(tmp_path / "shop.oltr", "ts-beta") as store:
        store.learn(["tea", "milk"], [0, 1], id="page 1")
    (log,) = example("A log of a store")
    assert (tmp_path / "shop.oltr.log").read_bytes() == log
