"""The Python of README.md runs as it stands."""

import os
import pathlib
import re

import oltr
import pytest

SOURCE = pathlib.Path(os.environ["OLTR_SOURCE"])
BLOCKS = re.findall(r"^```python\n(.*?)^```$", (SOURCE / "README.md").read_text(), re.S | re.M)


def test_serving(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"candidates": [f"item {i}" for i in range(50)], "clicks": [0, 0, 1] + [0] * 7}
    exec(BLOCKS[0], names)
    assert len(names["shown"]) == 10
    names["model"].close()
    with oltr.open("home.oltr") as again:
        assert again.lessons == 1 and again.kind == "ts-hyper"


def test_experiment(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(SOURCE)
    names = {"oltr": oltr}
    exec(BLOCKS[1].replace("replications=50", "replications=4"), names)
    assert names["result"].sweep_keys == ["world.misspecification"]


def test_every_block_is_tested():
    assert len(BLOCKS) == 2
