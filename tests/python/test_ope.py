"""oltr.ope: estimates, comparisons, refusals, memory, threads.  tests/tools/ope_twin.py has the numbers."""

import gc
import json
import math
import os
import pickle
import random
import subprocess
import sys
import threading
import time

import numpy as np
import oltr
import pytest
from oltr import _core, ope

SANITIZED = "OLTR_SANITIZED" in os.environ
N, K = 60, 3
PREFIX = [name for name in ope.ESTIMATORS if name not in ("iips", "sniips", "dm", "replay")]


def make_log(n=N, k=K, seed=1):
    """Arguments that every estimator finds what it needs in."""
    rng = np.random.default_rng(seed)
    chances = lambda: np.cumprod(rng.uniform(0.4, 1, (n, k)), axis=1)  # noqa: E731
    return {
        "rewards": (rng.random((n, k)) < 0.4).astype(float),
        "logged": chances(), "evaluated": chances(),
        "logged_slot": rng.uniform(0.2, 1, (n, k)), "evaluated_slot": rng.uniform(0, 1, (n, k)),
        "q": rng.random((n, k)), "v": rng.random((n, k)), "match": rng.random(n) < 0.4,
    }


@pytest.fixture(name="log")
def a_log():
    return make_log()


# ---- values


def test_by_hand():
    result = ope.estimate([[1, 0], [0, 1]], [[0.5, 0.25], [0.5, 0.1]], [[0.25, 0.2], [1, 0.3]],
                          interval="normal")
    assert result.value == pytest.approx((0.8 * 1 + 3 * 1) / 2, rel=1e-14)
    assert result.se == pytest.approx(math.sqrt(((0.8 - 1.9) ** 2 + (3 - 1.9) ** 2) / 2), rel=1e-14)
    assert (result.n, result.slot, result.estimator) == (2, None, "sips")
    assert result.mean_weight == pytest.approx(1.9) and result.largest == pytest.approx(3)
    assert result.high - result.value == pytest.approx(1.959963984540054 * result.se)
    assert "effective size is 1.5 lists" in result.warning


def test_all_estimators_and_defaults(log):
    assert ope.ESTIMATORS == ("sips", "iips", "rips", "snsips", "sniips", "snrips", "dr", "dm",
                              "replay")
    for name in ope.ESTIMATORS:
        result = ope.estimate(**log, estimator=name)
        assert result.low < result.value < result.high
        assert (result.confidence, result.interval, result.n) == (0.95, "bootstrap", N)
        assert math.isnan(result.ess) == (name == "dm")
        assert result == ope.estimate(**log, estimator=name) or name == "dm"  # nan is not nan
        assert pickle.loads(pickle.dumps(result)).value == result.value


def same(a, b):
    return pickle.dumps(a) == pickle.dumps(b)


@pytest.mark.parametrize("name", ope.ESTIMATORS)
def test_arrays_of_many_kinds(log, name):
    """The same bits from lists, Fortran order, slices, memoryviews, pandas and other dtypes."""
    expected = ope.estimate(**log, estimator=name)
    pandas = pytest.importorskip("pandas")
    wide = np.zeros((N, 2 * K))

    def spread(x):
        wide[:, ::2] = x
        return wide.copy()[:, ::2]

    def padded(x):
        return np.hstack([x, np.full((N, 2), np.nan)])[:, :K]

    for change in (np.ndarray.tolist, np.asfortranarray, spread, padded, memoryview, pandas.DataFrame,
                   lambda x: [tuple(row) for row in x.tolist()], lambda x: list(x),
                   lambda x: x[::-1][::-1]):
        changed = {key: change(x) if x.ndim == 2 else x for key, x in log.items()}
        assert same(ope.estimate(**changed, estimator=name), expected)
    for rewards in (log["rewards"].astype(bool), log["rewards"].astype(np.int8),
                    log["rewards"].astype(np.float32)):
        assert same(ope.estimate(**{**log, "rewards": rewards}, estimator=name), expected)
    assert same(ope.estimate(**{**log, "match": log["match"].astype(int).tolist()},
                             estimator=name), expected)


def test_one_slot(log):
    """Lists of one slot in one dimension; then the three ways to weight are one."""
    rewards, logged, evaluated = (log[key][:, 0] for key in ("rewards", "logged", "evaluated"))
    expected = ope.estimate(rewards[:, None], logged[:, None], evaluated[:, None]).value
    for given in ((rewards, logged, evaluated), (rewards.tolist(), logged.tolist(), evaluated),
                  (rewards, logged[:, None], list(evaluated))):
        assert ope.estimate(*given).value == expected
        assert ope.estimate(*given, estimator="rips").value == pytest.approx(expected, rel=1e-15)
    iips = ope.estimate(rewards, logged_slot=logged, evaluated_slot=evaluated, estimator="iips")
    assert iips.value == pytest.approx(expected, rel=1e-15)


def test_chances_of_whole_lists(log):
    """For sips one number for each list is enough."""
    for name in ("sips", "snsips"):
        expected = ope.estimate(**log, estimator=name)
        short = ope.estimate(log["rewards"], log["logged"][:, -1], log["evaluated"][:, -1].tolist(),
                             estimator=name)
        assert same(short, expected)
    with pytest.raises(ValueError, match=r"logged has the shape \(60, 1\), and the log has 60 lists of 3"):
        ope.estimate(log["rewards"], log["logged"][:, -1], log["evaluated"], estimator="rips")


def test_lists_of_different_lengths(log):
    lengths = [1 + i % K for i in range(N)]
    for name in ope.ESTIMATORS:
        expected = ope.estimate(**log, lengths=lengths, estimator=name)
        beyond = {}
        for key, x in log.items():
            beyond[key] = x if x.ndim == 1 else np.where(np.arange(K) < np.array(lengths)[:, None], x, np.nan)
        assert same(ope.estimate(**beyond, lengths=np.array(lengths), estimator=name), expected)
        ragged = {key: x if x.ndim == 1 else [row[:n] for row, n in zip(x.tolist(), lengths)]
                  for key, x in log.items()}
        assert same(ope.estimate(**ragged, estimator=name), expected)
    ragged["logged"][4] = ragged["logged"][4] + [0.1]
    with pytest.raises(ValueError, match="the rows of logged have other lengths than the lists"):
        ope.estimate(**ragged)
    ragged = {key: x if x.ndim == 1 else [row[:n] for row, n in zip(x.tolist(), lengths)]
              for key, x in log.items()}
    ragged["rewards"][5] = []
    with pytest.raises(ValueError, match="other lengths"):
        ope.estimate(**ragged)


def test_logarithms(log):
    plain = ope.estimate(**log, estimator="rips")
    logs = {key: np.log(x) - 3000 if key in ("logged", "evaluated") else x for key, x in log.items()}
    result = ope.estimate(**logs, estimator="rips", logs=True)
    assert result.value == pytest.approx(plain.value, rel=1e-11)


def test_options(log):
    first = ope.estimate(**log, seed=1)
    assert same(first, ope.estimate(**log, seed=np.uint64(1), resamples=1000, confidence=0.95))
    assert not same(first, ope.estimate(**log, seed=2))
    narrow = ope.estimate(**log, interval="normal", confidence=0.5)
    assert narrow.high - narrow.low == pytest.approx(2 * 0.6744897501960817 * narrow.se)
    wide = ope.estimate(**log, interval="bernstein", bound=1e4)
    assert wide.high - wide.low > 100 * (narrow.high - narrow.low)


def test_no_support(log):
    nothing = np.zeros((N, K))
    result = ope.estimate(log["rewards"], log["logged"], nothing, estimator="snrips")
    assert math.isnan(result.value) and "No support" in result.warning
    assert "nan" in repr(result) and "Warning: No support" in repr(result)


def test_texts_and_tables(log):
    pandas = pytest.importorskip("pandas")
    result = ope.estimate(**log, estimator="rips", interval="normal")
    lines = repr(result).splitlines()
    assert lines[0].startswith("rips: ") and "95 % normal interval" in lines[0]
    assert lines[1].startswith("60 lists; weights of slot ")
    assert "weights" not in repr(ope.estimate(**log, estimator="dm"))
    frame = result.frame()
    assert isinstance(frame, pandas.DataFrame) and frame.shape == (1, 15)
    assert frame.loc[0, "value"] == result.value and frame.loc[0, "estimator"] == "rips"
    with pytest.raises(AttributeError):
        result.value = 3


# ---- comparisons


def test_compare(log):
    pandas = pytest.importorskip("pandas")
    uniform = np.cumprod(np.full((N, K), 0.3), axis=1)
    comparison = ope.compare(
        {"logging": log["logged"], "new <b>": log["evaluated"],
         "other": {"evaluated": uniform, "estimator": "snsips"},
         "known": ope.estimate(**log), "two": [ope.estimate(**log), ope.estimate(**log, seed=2)]},
        log["rewards"], log["logged"], estimators=["sips", "rips"], interval="normal")
    assert len(comparison) == 2 + 2 + 1 + 1 + 2
    frame = comparison.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["policy"][:5]) == ["logging", "logging", "new <b>", "new <b>", "other"]
    assert frame["value"][0] == pytest.approx(log["rewards"].sum(axis=1).mean())
    assert frame["estimator"][4] == "snsips" and frame["interval"][5] == "bootstrap"
    assert "logging  rips" in repr(comparison) and "! other, snsips: " in repr(comparison)
    assert "new &lt;b&gt;" in comparison._repr_html_() and "<b>" not in comparison._repr_html_()
    one = ope.compare({"new": log["evaluated"]}, log["rewards"], log["logged"], estimators="rips")
    assert one.results[0][1] == ope.estimate(**log, estimator="rips")


def test_compare_slots(log):
    given = {key: log[key] for key in ("logged_slot", "evaluated_slot")}
    comparison = ope.compare({"new": given}, log["rewards"], estimators=["iips", "sniips"])
    assert [result.estimator for _, result in comparison.results] == ["iips", "sniips"]


@pytest.mark.parametrize("policies, error", [
    ({}, TypeError), ([1], TypeError), (None, TypeError), ({"a": None}, oltr.Error),
    ({"a": {"evaluate": 1}}, TypeError), ({"a": 3}, TypeError),
])
def test_bad_comparisons(log, policies, error):
    with pytest.raises(error):
        ope.compare(policies, log["rewards"], log["logged"])
    with pytest.raises(ValueError, match="at least one of sips"):
        ope.compare({"a": log["evaluated"]}, log["rewards"], log["logged"], estimators=[])


def test_plots(log, tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    comparison = ope.compare({"logging": log["logged"], "GTS": log["evaluated"],
                              "none": np.zeros((N, K))}, log["rewards"], log["logged"],
                             estimators=["sips", "snrips"])
    ax = comparison.plot(title="Three", reference=(0.5, "measured"))
    assert ax.get_title() == "Three"
    assert [label.get_text() for label in ax.get_yticklabels()][:2] == ["logging, sips",
                                                                       "logging, snrips"]
    ax.get_figure().savefig(tmp_path / "plot.png")
    own = pyplot.subplots()[1]
    assert ope.compare({"new": log["evaluated"]}, log["rewards"], log["logged"]).plot(own) is own
    assert [label.get_text() for label in own.get_yticklabels()] == ["new"]
    pyplot.close("all")


# ---- rows of one item each


def test_rows():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    frame = pandas.DataFrame({"item_id": rng.integers(0, 4, 300), "position": rng.integers(1, 4, 300),
                              "click": rng.random(300) < 0.2,
                              "propensity_score": rng.uniform(0.1, 0.5, 300)})
    table = rng.uniform(0, 0.5, (4, 3))
    chances = table[frame["item_id"], frame["position"] - 1]
    result = ope.estimate_rows(frame, table, interval="normal")
    assert result.value == pytest.approx((frame["click"] * chances / frame["propensity_score"]).mean())
    assert same(result, ope.estimate_rows(frame, chances, interval="normal"))
    renamed = frame.rename(columns={"click": "reward", "propensity_score": "pscore"})
    assert same(result, ope.estimate_rows(renamed, chances, reward="reward", propensity="pscore",
                                          interval="normal"))
    assert ope.estimate_rows(frame, table, estimator="sniips").estimator == "sniips"
    with pytest.raises(oltr.Error, match="rows without lists have no rips"):
        ope.estimate_rows(frame, table, estimator="rips")
    with pytest.raises(ValueError, match=r"shape \(4, 2\), and there are 3 positions"):
        ope.estimate_rows(frame, table[:, :2])
    with pytest.raises(ValueError, match="items from 0 to 3, and evaluated has 2 rows"):
        ope.estimate_rows(frame, table[:2])
    with pytest.raises(TypeError, match="whole numbers"):
        ope.estimate_rows(frame.assign(item_id="a"), table)
    for column, argument in (("click", "reward"), ("propensity_score", "propensity"),
                             ("item_id", "item"), ("position", "position")):
        with pytest.raises(KeyError, match=f"no column {column}; name the right one by {argument}="):
            ope.estimate_rows(frame.drop(columns=column), table)


# ---- refusals


class Raises:
    """An object that cannot be read."""

    class Mine(Exception):
        """The exception."""

    def _raise(self, *arguments):
        raise Raises.Mine

    __index__ = __float__ = __len__ = __getitem__ = __iter__ = __bool__ = _raise


class FloatRaises:
    def __float__(self):
        raise Raises.Mine


class NdimRaises:
    @property
    def ndim(self):
        raise Raises.Mine


def changed(table, row, slot, value):
    table = table.copy()
    table[row, slot] = value
    return table


def test_numbers_that_cannot_be(log):
    nan, inf = math.nan, math.inf
    for key, values, text in [
        ("rewards", [nan, inf, -inf, 1e300], "list 7, slot 2: a reward must be a finite number"),
        ("logged", [nan, 0, -1, 1.1, inf], "list 7, slot 2: a logged chance must be above 0"),
        ("evaluated", [nan, -1, 1.1, inf], "list 7, slot 2: a chance must be from 0 to 1"),
        ("evaluated", [1.0], "list 7, slot 2: a list cannot begin so more often"),
    ]:
        for value in values:
            with pytest.raises(oltr.Error, match=text) as caught:
                ope.estimate(**{**log, key: changed(log[key], 7, 1, value)}, estimator="rips")
            assert caught.value.code == "EVALUE"
    with pytest.raises(oltr.Error, match="q must be a finite number, not nan"):
        ope.estimate(**{**log, "q": changed(log["q"], 0, 0, nan)}, estimator="dr")
    tiny = changed(changed(log["logged"], 3, 2, 1e-200), 3, 1, 1e-200)
    with pytest.raises(oltr.Error, match="a self-normalised estimator can"):
        ope.estimate(log["rewards"], tiny, np.ones((N, K)))


@pytest.mark.parametrize("change, error, text", [
    ({"estimator": "sisp"}, oltr.Error, "no estimator `sisp`.*sips"),
    ({"estimator": None}, TypeError, "estimator"), ({"estimator": 3}, TypeError, "must be a text"),
    ({"estimator": "si\0ps"}, ValueError, "zero byte"),
    ({"interval": "t"}, oltr.Error, "no interval `t`; there are bootstrap, normal"),
    ({"interval": 3}, TypeError, "interval must be a text"),
    ({"confidence": 0}, oltr.Error, "above 0 and below 1, not 0"),
    ({"confidence": 1}, oltr.Error, "below 1, not 1"), ({"confidence": math.nan}, oltr.Error, "nan"),
    ({"confidence": "0.9"}, TypeError, "confidence must be a number"),
    ({"confidence": True}, TypeError, "confidence"), ({"confidence": Raises()}, Raises.Mine, ""),
    ({"resamples": 0}, oltr.Error, "at least 1"), ({"resamples": -1}, ValueError, "from 0 to"),
    ({"resamples": 10**7}, oltr.Error, "at most 1000000 resamples"),
    ({"resamples": 1.5}, TypeError, "whole number"), ({"resamples": 10**4000}, ValueError, ""),
    ({"seed": -1}, ValueError, "seed"), ({"seed": 2**64}, ValueError, "seed"),
    ({"bound": -1}, oltr.Error, "the bound must be a number from 0 on"),
    ({"bound": math.inf}, oltr.Error, "bound"), ({"logs": Raises()}, Raises.Mine, ""),
    ({"interval": "bernstein", "bound": 1e-3}, oltr.Error, "more than the bound"),
    ({"interval": "bernstein", "estimator": "snsips"}, oltr.Error, "snsips is a ratio"),
    ({"logged": None}, oltr.Error, "^sips needs logged$"),
    ({"logged": None, "evaluated": None}, oltr.Error, "sips needs logged and evaluated"),
    ({"rewards": None}, oltr.Error, "sips needs the rewards"),
    ({"estimator": "iips", "evaluated_slot": None}, oltr.Error, "iips needs evaluated_slot"),
    ({"estimator": "replay", "match": None}, oltr.Error, "replay needs match"),
    ({"estimator": "dm", "v": None}, oltr.Error, "dm needs v"),
    ({"lengths": [1] * 59}, ValueError, "lengths has 59 numbers, and the log has 60 lists"),
    ({"lengths": [4] * 60}, oltr.Error, "list 0 has 4 slots; it may have 1 to 3"),
    ({"lengths": [0] * 60}, oltr.Error, "list 0 has 0 slots"),
    ({"lengths": [1.5] * 60}, ValueError, "whole numbers"), ({"lengths": -1}, TypeError, ""),
    ({"lengths": [2**32] * 60}, ValueError, "at place 0"),
    ({"estimator": "replay", "match": [2] * 60}, oltr.Error, "match must be 0 or 1, not 2"),
    ({"estimator": "replay", "match": [0.5] * 60}, ValueError, "0 or 1"),
    ({"estimator": "replay", "match": [True] * 61}, ValueError, "61 numbers"),
    ({"rewards": np.zeros((N, K), complex)}, TypeError, "format"),
    ({"rewards": np.zeros((N, K), object)}, TypeError, "format"),
    ({"rewards": np.zeros((N, K), "U3")}, TypeError, "format"),
    ({"rewards": np.zeros((N, K, 1))}, ValueError, "2 dimensions, not 3"),
    ({"rewards": np.zeros(())}, ValueError, "dimensions, not 0"),
    ({"rewards": np.zeros((N, 0))}, oltr.Error, "has 0 slots"),
    ({"rewards": np.zeros((0, K))}, ValueError, "60"), ({"rewards": []}, ValueError, "60"),
    ({"rewards": np.zeros((K, N))}, ValueError, "shape"), ({"rewards": "clicks"}, TypeError, "rewards"),
    ({"rewards": {1: 2}}, TypeError, "rewards"), ({"rewards": 5}, TypeError, "rewards"),
    ({"rewards": [[1, 0, "x"]] * N}, TypeError, "'x' at place 2"),
    ({"rewards": [[0, 0, FloatRaises()]] * N}, Raises.Mine, ""),
    ({"rewards": Raises()}, Raises.Mine, ""), ({"rewards": [Raises()] * N}, Raises.Mine, ""),
    ({"rewards": NdimRaises()}, Raises.Mine, ""), ({"rewards": [[1, 0, 10**400]] * N}, ValueError, ""),
    ({"logged": np.ones((N, K + 1))}, ValueError, r"logged has the shape \(60, 4\)"),
    ({"evaluated": np.ones((N - 1, K))}, ValueError, r"evaluated has the shape \(59, 3\)"),
    ({"evaluated": [[0.1, 0.1, 0.1]] * (N - 1) + [[0.1]]}, ValueError, "row 59 of evaluated has 1"),
    ({"other": 1}, TypeError, "unexpected keyword"),
])
def test_refusals(log, change, error, text):
    with pytest.raises(error, match=text):
        ope.estimate(**{**log, **change})


def test_one_list():
    with pytest.raises(oltr.Error, match="at least 2 lists") as caught:
        ope.estimate([[1.0]], [[0.5]], [[0.5]])
    assert caught.value.code == "EINVAL"


def test_many_slots():
    """A million slots; the bootstrap of ratios would need gigabytes."""
    table = np.broadcast_to(np.float64(0.5), (2, 2**20))
    result = ope.estimate(table, logged_slot=table, evaluated_slot=table, estimator="iips",
                          interval="normal")
    assert result.value == 2**19
    with pytest.raises(oltr.Error, match="more than 1 GiB; take fewer, or the normal interval"):
        ope.estimate(table, logged_slot=table, evaluated_slot=table, estimator="sniips")
    wide = np.broadcast_to(np.float64(0.5), (2, 2**20 + 1))
    with pytest.raises(oltr.Error, match="1 to 1048576 slots"):
        ope.estimate(wide, logged_slot=wide, evaluated_slot=wide, estimator="iips")


def test_random_arguments_never_crash(log):
    draw = random.Random(8)
    names = ["estimator", "rewards", "logged", "evaluated", "logged_slot", "evaluated_slot", "q", "v",
             "match", "lengths", "logs", "interval", "confidence", "resamples", "seed", "bound"]
    pool = [*log.values(), *ope.ESTIMATORS, "bootstrap", "normal", "bernstein", None, 0, 1, 3, -1, 0.5,
            True, 2**70, math.nan, [], [[]], [[], []], [0.5] * N, [[0.5] * K] * N, [[0.5, 0.1]], "x",
            b"x", bytearray(8), memoryview(bytes(N)), np.zeros(0), np.zeros((0, 0)), np.zeros((N, 0)),
            np.ones((N, K), np.float32), np.ones((N, K), "i2")[::-1], np.ones((1, 1)), {}, object(),
            Raises(), FloatRaises(), NdimRaises(), np.arange(N) % K + 1, np.ones((N, K)).T]
    done = 0
    for _ in range(1000 if SANITIZED else 10000):
        given = {"estimator": draw.choice(ope.ESTIMATORS), "resamples": 3, **log}
        for name in draw.sample(names, draw.randrange(1, 4)):
            given[name] = draw.choice(pool)
        try:
            done += len(_core.ope_estimate(**given)) == 12
        except (ValueError, TypeError, MemoryError, Raises.Mine):
            pass
    assert done > 20


def test_core_call(log):
    with pytest.raises(TypeError, match="needs the argument 'estimator'"):
        _core.ope_estimate()
    with pytest.raises(TypeError, match="at most 16 arguments"):
        _core.ope_estimate(*[None] * 17)
    with pytest.raises(oltr.Error, match="at least 2 lists"):
        _core.ope_estimate("sips")
    assert len(_core.ope_estimate("sips", log["rewards"], log["logged"], log["evaluated"])) == 12


# ---- memory, threads, Ctrl-C


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_memory_is_flat(log):
    small = make_log(5, 2)
    lists = {key: x.tolist() for key, x in small.items()}
    bad = {**small, "rewards": changed(small["rewards"], 1, 1, math.nan)}
    ragged = {**lists, "rewards": [[1, 0], [0], [1, 1], [0, 0], [1]]}
    calls = 2_000 if SANITIZED else 100_000

    def work(n):
        for i in range(n // 5):
            name = ope.ESTIMATORS[i % 9]
            ope.estimate(**small, estimator=name, resamples=5)
            ope.estimate(**lists, estimator=name, interval="normal")
            for given in (bad, ragged, {**small, "match": [FloatRaises()] * 5}):
                try:
                    ope.estimate(**given, estimator="replay")
                except (ValueError, Raises.Mine):
                    pass

    work(calls // 10)
    gc.collect()
    counts = {key: sys.getrefcount(x) for key, x in small.items()}
    before, blocks = resident(), sys.getallocatedblocks()
    work(calls)
    gc.collect()
    assert {key: sys.getrefcount(x) for key, x in small.items()} == counts
    if not SANITIZED:
        # caches of Python grow a little; a leak would be 20,000 blocks
        assert resident() - before < 600_000
        assert abs(sys.getallocatedblocks() - blocks) < 2000


def test_arrays_are_released(log):
    """A bytearray cannot be resized while somebody holds its memory."""
    data = bytearray(log["rewards"].tobytes())
    table = memoryview(data).cast("d", (N, K))
    expected = ope.estimate(**log)
    assert same(ope.estimate(**{**log, "rewards": table}), expected)
    with pytest.raises(oltr.Error):
        ope.estimate(**{**log, "rewards": table, "logged": log["logged"] * 0})
    table.release()
    data.append(0)


def test_threads_give_the_same_bits():
    log = make_log(3000)
    expected = pickle.dumps([ope.estimate(**log, seed=seed) for seed in range(4)])
    found = []
    threads = [threading.Thread(target=lambda: found.append(pickle.dumps(
        [ope.estimate(**log, seed=seed) for seed in range(4)]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_the_gil_is_released():
    log, count, done = make_log(20000), 0, threading.Event()

    def long_call():
        ope.estimate(**log, estimator="snrips", resamples=1000)
        done.set()

    thread = threading.Thread(target=long_call)
    thread.start()
    while not done.is_set():
        count += 1
        time.sleep(0.001)
    thread.join()
    assert count > 20


def test_ctrl_c():
    """The bootstrap would take an hour."""
    program = """
import os, signal, threading, time
import numpy as np
from oltr import ope
chances = np.full((100_000, 3), 0.5)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    ope.estimate(chances, chances, chances, estimator="snrips", resamples=1_000_000)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 30)
"""
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                          timeout=120, env=dict(os.environ), check=False)
    assert done.stdout == "interrupted True\n", done.stderr


# ---- the program


def test_equals_the_program(tmp_path):
    """`oltr ope` gives the same bits for the same log."""
    program = os.environ.get("OLTR_PROGRAM", "")
    if not os.path.exists(program):
        pytest.skip("the program oltr was not built")
    log, lengths = make_log(), [1 + i % K for i in range(N)]
    log["rewards"] = log["rewards"].astype(int)
    for name in ("logged", "evaluated"):  # the program refuses chances of slot 1 that differ
        log[name + "_slot"][:, 0] = log[name][:, 0]
    ragged = {key: [row[:n] for row, n in zip(x.tolist(), lengths)] for key, x in log.items()
              if x.ndim == 2}
    with open(tmp_path / "log.jsonl", "w", encoding="ascii") as file:
        for i, n in enumerate(lengths):
            json.dump({"list_id": f"q{i}", "items": list("abc"[:n]),
                       "clicks": [slot + 1 for slot, r in enumerate(ragged["rewards"][i]) if r],
                       "prefix_propensities": ragged["logged"][i], "new_prefix": ragged["evaluated"][i],
                       "slot_propensities": ragged["logged_slot"][i],
                       "new_slot": ragged["evaluated_slot"][i]}, file)
            file.write("\n")
    done = subprocess.run([program, "ope", "log.jsonl", "--policy", "columns:new", "--json", "--seed", "7"],
                          cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {row["estimator"]: row for row in json.loads(done.stdout)["estimates"]}
    for name in ("sips", "iips", "rips", "snsips", "sniips", "snrips"):
        result = ope.estimate(**ragged, estimator=name, seed=7)
        for field in ("value", "se", "low", "high", "ess", "mean_weight", "warning"):
            assert getattr(result, field) == found[name][field], (name, field)
