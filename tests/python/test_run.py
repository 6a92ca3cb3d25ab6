"""oltr.run() and Result: the numbers of `oltr run` to the byte, descriptions of every kind and
their errors, progress, Ctrl-C, partial results, plots."""

import gc
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import oltr

PROGRAM = os.environ.get("OLTR_PROGRAM")
SOURCE = pathlib.Path(os.environ.get("OLTR_SOURCE", pathlib.Path(__file__).parents[2]))
SANITIZED = bool(os.environ.get("OLTR_SANITIZED"))
FILES = ("results.csv", "summary.csv", "pairs.csv", "metrics.csv", "queries.csv")

SMALL = {
    "title": "small",
    "rounds": 60,
    "slots": 2,
    "replications": 6,
    "checkpoints": [1, 20, 60],
    "world": {"kind": "beta", "items": 6, "prior": {"a": 1, "b": 4}},
    "policies": [{"name": "GTS", "kind": "gts"}, {"name": "TS-Beta", "kind": "ts-beta"}],
}

EXPERIMENTS = {
    "sweep": {**SMALL, "sweep": {"key": "world.misspecification", "values": [0, 1, 2.5]}},
    "two keys": {
        **SMALL,
        "world": {"kind": "log-uniform", "items": 10, "prior_n": 20},
        "sweep": [
            {"key": "world.items", "values": [8, 20]},
            {"key": "world.prior_shift", "values": [0, 2], "name": "shift"},
        ],
    },
    "cases with quotes": {
        **SMALL,
        "policies": [{"name": 'a "b", c', "kind": "gts"}, {"name": "é", "kind": "random"}],
        "sweep": {"name": "case", "cases": {"as it is": {}, "wide, long": {"world.items": 9}}},
    },
    "contexts": {
        **SMALL,
        "world": {"kind": "logistic", "items": 12, "dim": 3, "contexts": "fresh"},
        "policies": [{"kind": "lints"}, {"kind": "logts"}, {"kind": "random"}],
    },
    "scalar": {
        **SMALL,
        "world": {"kind": "scalar", "items": 9, "dim": 4, "theta": "sphere"},
        "policies": [{"kind": "gts"}, {"name": "clicks", "kind": "ts-beta", "feedback": "clicks"}],
        "sweep": {"key": "seed", "values": [3, 18446744073709551615]},
    },
    "generated data": {
        **SMALL,
        "replications": 2,
        "world": {
            "kind": "dataset",
            "shape": "web30k",
            "generated": {"train": 12, "vali": 4, "test": 6},
            "rankers": 2,
        },
        "policies": [{"kind": "gts", "prior": "full"}, {"kind": "lints"}],
    },
    "traffic": {
        **SMALL,
        "world": {
            "kind": "dataset",
            "shape": "istella",
            "generated": {"train": 5, "vali": 3, "test": 4},
            "rankers": 0,
            "traffic": "interleaved",
        },
        "policies": [{"kind": "gts"}, {"name": "all", "kind": "gts", "shared": True}],
    },
}


def program_files(folder, path, *flags):
    """What `oltr run` writes."""
    if not PROGRAM:
        pytest.skip("OLTR_PROGRAM does not name the program oltr")
    command = [PROGRAM, "run", str(path), "-o", str(folder), "--no-figures", "-q", "-j", "2"]
    subprocess.run([*command, *flags], check=True, cwd=SOURCE)
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


def python_files(folder, result):
    result.to_csv(folder)
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


# ---- the same rows as the program


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_rows_are_those_of_the_program(name, tmp_path):
    experiment = EXPERIMENTS[name]
    path = tmp_path / "experiment.yaml"
    path.write_text(json.dumps(experiment, ensure_ascii=False), encoding="utf-8")
    result = oltr.run(experiment, threads=2, progress=False)
    mine = python_files(tmp_path / "python", result)
    assert mine == program_files(tmp_path / "program", path)
    assert ("queries.csv" in mine) == (name == "generated data")
    if name == "generated data":
        assert result.note.startswith("GENERATED data in the shape of Web30K (")
        assert oltr.run(path, threads=1, progress=False).table().startswith(result.note)


@pytest.mark.parametrize("name", ["misspecification", "linear", "sigma", "wrong-priors"])
def test_files_of_the_project(name, tmp_path):
    path = SOURCE / "experiments" / f"{name}.yaml"
    smaller = {"rounds": 40, "replications": 2, "checkpoints": 5}
    flags = [word for key, value in smaller.items() for word in (f"--{key}", str(value))]
    theirs = program_files(tmp_path / "program", path, *flags)
    assert python_files(tmp_path / "python", oltr.run(path, progress=False, **smaller)) == theirs


def test_overrides_are_those_of_the_program(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(json.dumps(SMALL))
    flags = ["-s", "9", "-K", "3", "--set", "policies.GTS.sigma=0.25"]
    flags += ["--set", "sweep={key: world.items, values: [6, 7]}"]
    changes = {
        "policies.GTS.sigma": 0.25,
        "sweep": {"key": "world.items", "values": [6, 7]},
    }
    result = oltr.run(str(path), seed=9, slots=3, set=changes, progress=False)
    assert python_files(tmp_path / "a", result) == program_files(tmp_path / "b", path, *flags)
    assert result.points[0]["slots"] == 3
    assert result.title == "small"


def test_a_folder_of_data(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name, first in (("train", 1), ("vali", 100), ("test", 200)):
        lines = [
            f"{(q + d) % 3} qid:{q} 1:{d / 10} 2:{(q * d) % 7 / 7}\n"
            for q in range(first, first + 6)
            for d in range(5)
        ]
        (data / f"{name}.txt").write_text("".join(lines))
    experiment = {**SMALL, "world": {"kind": "dataset", "data": "nowhere", "rankers": 0}}
    experiment["policies"] = [{"kind": "gts"}, {"kind": "lints"}]
    path = tmp_path / "data.yaml"
    path.write_text(json.dumps(experiment))
    result = oltr.run(experiment, data=data, progress=False)
    theirs = program_files(tmp_path / "b", path, "--data", str(data))
    assert python_files(tmp_path / "a", result) == theirs
    assert result.note.startswith(f"data of {data} (")
    assert len(result.queries) == len(result.points[0]["queries"]) * 2


def test_trained_scores_are_kept(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    experiment = EXPERIMENTS["generated data"]
    seen = []
    first = oltr.run(experiment, keep_scores=kept, progress=seen.append)
    assert (kept / "scores.csv").exists()
    assert any(progress.stage == "training" for progress in seen)
    seen.clear()
    again = oltr.run(experiment, keep_scores=kept, progress=seen.append)
    assert not any(progress.stage == "training" for progress in seen)
    assert again._rows("results") == first._rows("results")


def test_threads_do_not_change_results():
    rows = [oltr.run(SMALL, threads=n, progress=False)._rows("results") for n in (1, 2, 4)]
    assert rows[0] == rows[1] == rows[2]


# ---- what a result has


def test_frames():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    result = oltr.run(EXPERIMENTS["two keys"], progress=False)
    assert list(result.frame.columns[:4]) == ["world.items", "shift", "policy", "round"]
    assert result.frame["world.items"].dtype.kind == "i"
    assert len(result.frame) == 4 * 2 * 3
    last = result.frame[result.frame["round"] == 60].reset_index(drop=True)
    pandas.testing.assert_frame_equal(result.summary, last)
    assert list(result.pairs.columns[2:]) == [
        "round", "policy", "other", "difference", "difference_se", "replications",
    ]  # fmt: skip
    assert set(result.metrics["metric"]) == {"ctr", "ndcg", "worst"}
    assert len(result.queries) == 0
    assert result.frame is result.frame  # computed once
    gap = result.frame.pivot_table(index="round", columns="policy", values="regret")
    assert gap.shape == (3, 2)


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    result = oltr.run(SMALL, progress=False)
    assert result.frame[0] == {
        "policy": "GTS",
        "round": 1,
        "regret": result.frame[0]["regret"],
        "regret_se": result.frame[0]["regret_se"],
        "reward": result.frame[0]["reward"],
        "replications": 6,
    }
    assert len(result.summary) == 2


def test_without_numpy():
    """Everything but pandas and matplotlib works in an interpreter that has no numpy."""
    code = """
    import sys
    for name in ("numpy", "pandas", "tqdm", "tqdm.auto"):
        sys.modules[name] = None
    import oltr
    class Mine:
        def __init__(self, n_items, dim): self.n = n_items
        def scores(self, request):
            assert request.x[0, 1] == request.x.tolist()[0][1]
            return request.rng.normal(size=request.n)
        def learn(self, items, rewards, x):
            assert x.shape == (len(items), 3)
    experiment = {"rounds": 20, "slots": 2, "replications": 3,
                  "world": {"kind": "linear", "items": 5, "dim": 3},
                  "policies": [{"kind": "lints"}]}
    result = oltr.run(experiment, policies={"mine": Mine}, progress=True)
    assert isinstance(result.frame, list) and result.frame[-1]["policy"] == "mine"
    print(result)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "mine" in done.stdout


def test_a_swept_key_may_have_the_name_of_a_column():
    experiment = {**SMALL, "sweep": {"key": "rounds", "values": [20, 60], "name": "round"}}
    experiment["checkpoints"] = 2
    result = oltr.run(experiment, progress=False)
    assert next(iter(result._frame("results", result._rows("results")))) == "sweep round"


def test_table_is_that_of_the_program(tmp_path):
    if not PROGRAM:
        pytest.skip("OLTR_PROGRAM does not name the program oltr")
    experiment = EXPERIMENTS["cases with quotes"]
    path = tmp_path / "experiment.yaml"
    path.write_text(json.dumps(experiment, ensure_ascii=False), encoding="utf-8")
    command = [PROGRAM, "run", str(path), "-o", str(tmp_path / "out"), "--no-figures"]
    theirs = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result = oltr.run(experiment, progress=False)

    def without_times(text):
        return [line[:-9] if "±" in line else line for line in text.splitlines()]

    count = len(result.table().splitlines())
    assert without_times(theirs)[:count] == without_times(result.table())
    assert repr(result).endswith(result.table())


def test_saturated_worlds_have_a_warning():
    same = {"kind": "fixed", "levels": [[8, 0.3]]}
    result = oltr.run({**SMALL, "world": same, "policies": [{"kind": "gts"}]}, progress=False)
    assert "warning: 6 of 6 replications are saturated" in result.table()
    assert "smaller attractions" in result.table()
    assert "saturated" in result._repr_html_()
    dark = {**same, "clicks": "pbm", "examine": [0, 0]}
    result = oltr.run({**SMALL, "world": dark, "policies": [{"kind": "gts", "seen": "all"}]}, progress=False)
    assert "No list has a reward" in result.table()
    assert "smaller attractions" not in result.table()


def test_html_escapes():
    experiment = {**SMALL, "title": "<b>", "policies": [{"name": "<script>", "kind": "gts"}]}
    page = oltr.run(experiment, progress=False)._repr_html_()
    assert "&lt;script&gt;" in page and "<script>" not in page and "<b>" not in page
    swept = oltr.run(EXPERIMENTS["sweep"], progress=False)._repr_html_()
    assert "<th>world.misspecification</th>" in swept


# ---- descriptions


def test_yaml_text_and_paths(tmp_path):
    text = """
    rounds: 20
    slots: 2
    replications: 3
    world: {kind: uniform, items: 5}
    policies: [{kind: gts}]
    """
    rows = oltr.run(text, progress=False)._rows("results")
    path = tmp_path / "a file.yaml"
    path.write_text(text)
    assert oltr.run(path, progress=False)._rows("results") == rows
    assert oltr.run(str(path), progress=False).title == "a file"
    with pytest.raises(FileNotFoundError):
        oltr.run("nowhere.yaml")
    with pytest.raises(oltr.Error, match=r"yaml:3:\d+: slots: must be a whole number"):
        oltr.run(text.replace("slots: 2", "slots: two"), progress=False)
    path.write_text("rounds: [")
    with pytest.raises(oltr.Error, match=r"a file\.yaml:2:1: "):
        oltr.run(path)


def test_numbers_of_numpy_and_paths_are_taken():
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    experiment = {
        "rounds": numpy.int64(30),
        "slots": numpy.uint8(2),
        "replications": 3,
        "checkpoints": numpy.array([1, 30]),
        "world": {"kind": "fixed", "attraction": numpy.linspace(0.1, 0.5, 5), "items": 5},
        "policies": ({"kind": "gts", "sigma": numpy.float32(0.25)},),
    }
    assert oltr.run(experiment, progress=False).points[0]["checkpoints"] == [1, 30]


CYCLE: dict = {}
CYCLE["world"] = CYCLE
DEEP: list = []
for _ in range(40):
    DEEP = [DEEP]

HOSTILE = [
    ({**SMALL, "rounds": float("nan")}, "rounds: must be a finite number"),
    ({**SMALL, "rounds": 10**30}, "rounds: must be at most"),
    ({**SMALL, "rounds": 10**5000}, "rounds: is a number of thousands of digits"),
    ({**SMALL, "rounds": None}, "rounds: has no value"),
    ({**SMALL, "rounds": -1}, "rounds: must be at least 1"),
    ({**SMALL, "rounds": 2.5}, "rounds: must be a whole number"),
    ({**SMALL, "rounds": "60"}, "rounds: must be a whole number"),
    ({**SMALL, "rounds": b"60"}, "rounds: must be text, a number, a list or a map, not bytes"),
    ({**SMALL, "rounds": {1, 2}}, "rounds: must be text, a number, a list or a map, not set"),
    ({**SMALL, "rounds": True}, "rounds: must be a whole number"),
    ({**SMALL, 3: 4}, "keys must be text, not 3"),
    ({**SMALL, "world": {"kind": "beta", None: 1}}, "world: keys must be text, not None"),
    ({**SMALL, "world": CYCLE}, "world.world: contains itself"),
    ({**SMALL, "world": DEEP}, "is nested more than 16 levels deep"),
    ({**SMALL, "world": "beta"}, "world: must be a map"),
    ({**SMALL, "title": "\ud800"}, "title: is not text that UTF-8 can hold"),
    ({**SMALL, "title": "a\nb"}, "title: must be one line"),
    ({**SMALL, "title": "a\0b"}, "zero byte"),
    ({**SMALL, "policies": []}, "policies: `policies` must have at least one entry"),
    ({**SMALL, "policies": [{"kind": "gst"}]}, "did you mean `gts`"),
    ({**SMALL, "policies": [{"kind": "gts"}, {"kind": "gts"}]}, "two policies are called `gts`"),
    ({**SMALL, "world": {**SMALL["world"], "itmes": 3}}, "world.itmes: unknown key"),
    ({**SMALL, "kind": "concentration"}, "kind: an experiment of kind concentration"),
    ({"rounds": 3}, "is missing"),
    ({}, "is missing"),
]


@pytest.mark.parametrize("at", range(len(HOSTILE)))
def test_hostile_dicts(at):
    experiment, words = HOSTILE[at]
    with pytest.raises(oltr.Error) as caught:
        oltr.run(experiment, progress=False)
    assert words in str(caught.value)
    assert not str(caught.value).startswith("experiment:1:")
    assert caught.value.code in ("EVALUE", "EKIND", "EPARAM")


@pytest.mark.parametrize(
    ("keywords", "exception"),
    [
        ({"threads": -1}, ValueError),
        ({"threads": 1.5}, TypeError),
        ({"threads": 10**9}, ValueError),
        ({"progress": 3}, TypeError),
        ({"seed": float("inf")}, oltr.Error),
        ({"seed": []}, oltr.Error),
        ({"set": 3}, TypeError),
        ({"set": {3: 4}}, TypeError),
        ({"set": {"world.": 4}}, oltr.Error),
        ({"set": {"": 4}}, oltr.Error),
        ({"set": {"world.items.x": 4}}, oltr.Error),
        ({"set": {"a\nb": 4}}, oltr.Error),
        ({"set": {"rounds": CYCLE}}, oltr.Error),
        ({"set": {"sweep": {"key": "rounds", "values": []}}}, oltr.Error),
        ({"partial": 3}, TypeError),
        ({"partial": "\ud800"}, ValueError),
        ({"partial": "/nowhere/at/all"}, FileNotFoundError),
        ({"keep_scores": "/nowhere"}, FileNotFoundError),
        ({"data": "/nowhere", "set": {"world": {"kind": "dataset"}}}, oltr.Error),
        ({"policies": 3}, TypeError),
        ({"unknown": 3}, TypeError),
    ],
)
def test_hostile_keywords(keywords, exception):
    with pytest.raises(exception):
        oltr.run(SMALL, **{"progress": False, **keywords})


@pytest.mark.parametrize("what", [None, 3, 3.5, [], object(), b"rounds: 3", "a\0b"])
def test_other_descriptions(what):
    with pytest.raises(TypeError, match="an experiment is a dict"):
        oltr.run(what)


def test_a_dict_with_a_hostile_len():
    class Odd(dict):
        def items(self):
            raise KeyError("odd")

    with pytest.raises(KeyError, match="odd"):
        oltr.run(Odd(SMALL), progress=False)


# ---- progress, Ctrl-C, partial results

LONG = {**SMALL, "rounds": 2_000_000, "replications": 4000, "checkpoints": 5}


class Enough(Exception):
    pass


def stop_after_the_first(progress):
    raise Enough


def test_progress_callable():
    seen = []
    oltr.run({**SMALL, "replications": 300, "rounds": 2000}, progress=seen.append, threads=1)
    assert isinstance(seen[-1], oltr.Progress)
    last = seen[-1]
    assert (last.stage, last.done, last.total, last.share) == ("running", 300, 300, 1.0)
    assert last.rounds == 300 * 2 * 2000
    assert last.rate > 0 and last.seconds > 0
    assert [p.share for p in seen] == sorted(p.share for p in seen)


def test_progress_that_raises_ends_the_run():
    with pytest.raises(Enough):
        oltr.run(LONG, progress=stop_after_the_first)  # it would take hours


def test_progress_bar_and_line(capsys, monkeypatch):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    oltr.run({**SMALL, "replications": 50}, progress=True)
    assert "50/50 replications" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    oltr.run({**SMALL, "replications": 50}, progress=True)
    line = capsys.readouterr().err
    assert line.startswith("\r100%  50/50 replications  ETA 0:00") and line.endswith("\r")
    oltr.run(SMALL)  # neither a terminal nor a notebook
    assert capsys.readouterr().err == ""


def test_progress_in_words():
    def words(**changes):
        given = {"stage": "running", "done": 1, "total": 2, "rounds": 10, "seconds": 2.0}
        return str(oltr.Progress(**{**given, "share": 0.5, "seconds_left": 3.2, **changes}))

    assert words() == "1/2 replications  ETA 0:04  5 rounds/s"
    assert words(seconds_left=None) == "1/2 replications  ETA ?  5 rounds/s"
    long = words(seconds_left=4000.0, rounds=10**6)
    assert long == "1/2 replications  ETA 1:06:40  500k rounds/s"
    assert words(rounds=10**11) == "1/2 replications  ETA 0:04  50G rounds/s"
    assert words(stage="training") == "1/2 scorers trained  ETA 0:04"


INTERRUPTED = """
import os, signal, time
import oltr
{setup}
def look(progress):
    os.kill(os.getpid(), signal.SIGINT)
try:
    oltr.run({experiment!r}, progress=look, threads={threads}{more})
except KeyboardInterrupt:
    print("interrupted, threads left:", len(os.listdir("/proc/self/task")))
"""


def interrupted(experiment, threads=2, setup="", more=""):
    code = INTERRUPTED.format(experiment=experiment, threads=threads, setup=setup, more=more)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "interrupted, threads left: 1\n"


def test_ctrl_c():
    """The runs would take hours; bench/python_interrupt.py has the time they take to end."""
    interrupted(LONG)
    interrupted({**LONG, "world": {"kind": "uniform", "items": 200_000}, "slots": 10})


def test_ctrl_c_in_python_code():
    """Also where a policy never returns."""
    setup = """
class Stuck:
    def __init__(self, n_items, k): self.list = list(range(k))
    def rank(self, request):
        if request.t > 50:
            while True:
                pass
        return self.list
"""
    interrupted(LONG, 2, setup, ", policies={'stuck': Stuck}")


def test_ctrl_c_keeps_what_is_done(tmp_path):
    kept = tmp_path / "kept.oltr"
    replications = 200 if SANITIZED else 600
    experiment = {**SMALL, "rounds": 3000, "replications": replications}
    whole = oltr.run(experiment, progress=False)._rows("results")
    with pytest.raises(Enough) as caught:
        oltr.run(experiment, partial=kept, progress=stop_after_the_first)
    assert kept.exists()
    assert str(kept) in caught.value.__notes__[0]
    seen = []
    resumed = oltr.run(experiment, partial=kept, progress=seen.append)
    assert seen[-1].rounds < replications * 2 * 3000  # it did not begin again
    assert resumed._rows("results") == whole
    assert not kept.exists()


def test_partial_of_another_experiment_is_refused(tmp_path):
    kept = tmp_path / "kept.oltr"
    with pytest.raises(Enough):
        oltr.run(LONG, partial=kept, progress=stop_after_the_first)
    before = kept.read_bytes()
    with pytest.raises(oltr.Error) as caught:
        oltr.run(LONG, partial=kept, seed=5, progress=False)
    assert caught.value.code == "EMISMATCH"
    assert kept.read_bytes() == before
    kept.write_bytes(before[:-1])
    with pytest.raises(oltr.Error):
        oltr.run(LONG, partial=kept, progress=False)


def test_a_partial_file_that_cannot_be_written(tmp_path):
    """The folder disappears during the run: the exception says so."""
    folder = tmp_path / "folder"
    folder.mkdir()

    def stop_and_remove(progress):
        folder.rmdir()
        raise Enough

    with pytest.raises(Enough) as caught:
        oltr.run(LONG, partial=folder / "kept.oltr", progress=stop_and_remove)
    assert "kept.oltr" in caught.value.__notes__[0]


def test_runs_in_two_threads_at_once():
    import threading

    rows, expected = [], oltr.run(SMALL, progress=False)._rows("results")

    def work():
        for _ in range(5):
            rows.append(oltr.run(SMALL, threads=2, progress=False)._rows("results"))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(rows) == 15 and all(row == expected for row in rows)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_flat():
    if SANITIZED:
        pytest.skip("a sanitizer keeps freed memory")

    def work(count):
        for _ in range(count):
            oltr.run(EXPERIMENTS["sweep"], progress=lambda progress: None, threads=2).frame
            with pytest.raises(oltr.Error):
                oltr.run({**SMALL, "rounds": 0}, progress=False)
        gc.collect()

    work(30)
    before = resident()
    work(150)
    assert resident() - before < 8 << 20


# ---- plots


@pytest.fixture
def pyplot():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def curves(ax):
    """The lines with a label: colour and data of each."""
    return {
        line.get_label(): (line.get_color(), line.get_xdata(), line.get_ydata())
        for line in ax.get_lines()
        if not line.get_label().startswith("_")
    }


def test_plot_over_rounds(pyplot):
    result = oltr.run(SMALL, progress=False)
    drawn = curves(result.plot())
    assert drawn["GTS"][0] == "#D55E00" and drawn["TS-Beta"][0] == "#0072B2"
    expected = [row[3] for row in result._rows("results") if row[1] == "GTS"]
    assert list(drawn["GTS"][2]) == expected
    assert len(curves(result.plot(policies="GTS"))) == 1
    assert len(curves(result.plot(rounds=20))["GTS"][1]) == 2
    ax = result.plot(y="ctr", logx=True, bands=2, title="mine")
    assert ax.get_xscale() == "log" and ax.get_title() == "mine"
    assert result.plot(logy=True).get_yscale() == "log"
    own = pyplot.subplots()[1]
    assert result.plot(own, y="ndcg", bands=0) is own
    assert own.get_legend() is not None


def test_plot_over_a_sweep(pyplot):
    result = oltr.run(EXPERIMENTS["sweep"], progress=False)
    ax = result.plot()
    assert list(curves(ax)["GTS"][1]) == [0, 1, 2.5]
    assert ax.get_xlabel() == "misspecification c"
    assert set(curves(result.plot(x="round"))) == {
        f"{policy}, {value}" for policy in ("GTS", "TS-Beta") for value in ("0", "1", "2.5")
    }
    one = curves(result.plot(x="round", policies=["GTS"]))
    assert set(one) == {f"world.misspecification = {value}" for value in ("0", "1", "2.5")}
    assert len({colour for colour, _, _ in one.values()}) == 3


def test_plot_over_two_keys_and_words(pyplot):
    two = oltr.run(EXPERIMENTS["two keys"], progress=False).plot()
    assert set(curves(two)) == {f"{p}, shift = {s}" for p in ("GTS", "TS-Beta") for s in "02"}
    words = oltr.run(EXPERIMENTS["cases with quotes"], progress=False).plot()
    assert [tick.get_text() for tick in words.get_xticklabels()] == ["as it is", "wide, long"]


def test_plot_of_many_policies_has_a_legend(pyplot):
    many = [{"name": f"p{i}", "kind": "gts", "sigma": 0.1 + i / 50} for i in range(30)]
    ax = oltr.run({**SMALL, "policies": many}, progress=False).plot()
    assert len(ax.get_legend().get_texts()) == 30


@pytest.mark.parametrize(
    "options",
    [{"x": "sweep"}, {"y": "loss"}, {"policies": ["nobody"]}, {"bands": -1}, {"rounds": 0}],
)
def test_plot_refuses(pyplot, options):
    result = oltr.run(SMALL, progress=False)
    with pytest.raises(ValueError):
        result.plot(**options)


def test_styles_are_those_of_the_program(tmp_path):
    """Colour, dash and point of many labels, as gnuplot gets them."""
    from oltr import figure_style

    if not PROGRAM:
        pytest.skip("OLTR_PROGRAM does not name the program oltr")
    known = list(figure_style._KNOWN)
    assert f'"{known[-1]}"' in (SOURCE / "src/report/figures/style.c").read_text()
    lists = [
        [label for label in known if "Gaussian" not in label],
        ["one", "GTS", "two", "GTS (odd)", "GTS odder", "TS-Beta (sigma 0.3)", "GTS-P no prior"],
        [f"policy {i}" for i in range(24)],
        [f"GTS (variant {i})" for i in range(12)] + ["Random", "mine"],
    ]
    for number, labels in enumerate(lists):
        experiment = {
            **SMALL,
            "policies": [{"name": label, "kind": "gts"} for label in labels],
            "sweep": {"key": "seed", "values": [1, 2]},
        }
        path, folder = tmp_path / f"{number}.yaml", tmp_path / str(number)
        path.write_text(json.dumps(experiment))
        run = [PROGRAM, "run", str(path), "-o", str(folder), "-q"]
        subprocess.run(run, check=False, env={**os.environ, "PATH": os.environ["PATH"]})
        script = folder / "regret.gp"
        if not script.exists():
            pytest.skip("gnuplot is not installed")
        mine = dict(zip(labels, figure_style.assign(labels)))
        theirs = styles_of(script.read_text(), (folder / "regret.csv").read_text())
        assert theirs == {
            label: (s.colour, f"({','.join(map(str, s.dash))})" if s.dash else "solid", s.point)
            for label, s in mine.items()
        }


def styles_of(script, table):
    """{label: (colour, dash, point)} of a gnuplot script; columns are named in its table."""
    import csv
    import re

    names = next(csv.reader([table.splitlines()[0]]))
    pattern = (
        r"using (?:1|\(\$1\S+\)):(\d+) with (?:lines)?points linecolor rgb '(#\w+)' linewidth width "
        r"dashtype (\S+) pointtype (\d+)"
    )
    found = re.findall(pattern, script)
    return {names[int(at) - 1]: (colour, dash, int(point)) for at, colour, dash, point in found}
