"""The notebooks of examples/notebooks run from the first cell to the last, and show what they say."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(os.environ["OLTR_SOURCE"]) / "examples" / "notebooks"


def run(name, folder):
    environment = dict(os.environ, MPLBACKEND="agg")
    done = subprocess.run(
        [sys.executable, FOLDER / name], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_notebooks_are_tested():
    names = {path.stem for path in FOLDER.glob("*.py")}
    assert names == {"prior_misspecification", "warm_start", "own_policy"}


def test_prior_misspecification(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    printed = run("prior_misspecification.py", tmp_path)
    assert (tmp_path / "prior_misspecification.png").stat().st_size > 10_000
    shift = float(re.search(r"shift: *(-?[0-9.]+)", printed).group(1))
    assert -4.6 < shift < -3  # the log-odds that were told are 3.8 too large
    worst = printed.splitlines()[5].split()  # the largest misspecification
    assert worst[0] == "8" and float(worst[4]) > 50  # TS-Beta minus TS-Hyper


def test_warm_start(tmp_path):
    printed = run("warm_start.py", tmp_path)
    assert "4000 lists learned, 0 when the log is read again" in printed
    warm, cold = map(int, re.search(r"requests: (\d+) with the log, (\d+) without", printed).groups())
    assert warm > 1.5 * cold
    assert "200 items, 4500 lessons" in printed


def test_own_policy(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    printed = run("own_policy.py", tmp_path)
    assert (tmp_path / "own_policy.png").stat().st_size > 10_000
    assert printed.count("epsilon-greedy") == 2
