"""oltr.ope.chances: the chances of a model for the lists of a log."""

import gc
import os
import random
import subprocess
import sys
import threading

import numpy as np
import oltr
import pytest
from oltr import ope

SANITIZED = "OLTR_SANITIZED" in os.environ
NAMES = list("abcdef")
RATE = dict(zip(NAMES, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)))


def clicks(draw, shown):
    """Of a cascade."""
    out = [0] * len(shown)
    for slot, name in enumerate(shown):
        if draw.random() < RATE[name]:
            out[slot] = 1
            break
    return out


def trained(kind, lessons, seed, **settings):
    model, draw = oltr.Model(kind, seed=seed, **settings), random.Random(seed)
    for name in NAMES:
        model.learn([name], [0])
    for _ in range(lessons):
        shown = draw.sample(NAMES, 3)
        model.learn(shown, clicks(draw, shown))
    return model


@pytest.fixture(name="scene", scope="module")
def a_scene():
    old, new = trained("ts-beta", 5, 1), trained("gts", 30, 2)
    draw = random.Random(3)
    lists = [list(old.rank(3)) for _ in range(2000)]
    return old, new, lists, [clicks(draw, shown) for shown in lists]


def test_equals_list_propensity(scene):
    old, new, lists, _ = scene
    for model in (old, new):
        found = ope.chances(model, lists)
        assert found.prefix.shape == (2000, 3) and found.slot is None and found.lengths == [3] * 2000
        for number in range(0, 2000, 97):
            expected = model.list_propensity(lists[number])
            assert found.prefix[number] == pytest.approx(expected, rel=1e-9)
        same = ope.chances(model, lists, NAMES)
        assert np.allclose(same.prefix, found.prefix, rtol=1e-9)
    assert repr(found) == "Chances of 2,000 lists: prefix" and len(found) == 2000


def test_candidates_of_each_list(scene):
    _, new, _, _ = scene
    lists = [["a", "b"], ["f"], ["c", b"d", "unknown"], ["b", "a"]]
    candidates = [["a", "b", "c"], ["f", "e"], ["unknown", "c", "d", "e"], ("a", "b", "c")]
    found = ope.chances(new, lists, candidates, slots=True)
    assert found.lengths == [2, 1, 3, 2]
    for row, shown, given in zip(found.prefix, lists, candidates):
        assert row[: len(shown)] == pytest.approx(new.list_propensity(shown, given), rel=1e-9)
        assert not row[len(shown):].any()
    assert found.slot[0][0] == pytest.approx(found.prefix[0][0], rel=1e-7)  # the first slot


def test_slots_and_match(scene):
    old, new, lists, _ = scene
    firsts = ope.chances(new, [[name, *[other for other in NAMES if other != name][:2]]
                               for name in NAMES], slots=True)
    assert firsts.slot[:, 0].sum() == pytest.approx(1, abs=1e-7)
    found = ope.chances(old, lists, match=True)
    expected = found.prefix[:, -1].mean()  # a list that is drawn anew is the same so often
    share = found.match.mean()
    assert set(found.match.tolist()) <= {0, 1}
    assert abs(share - expected) < 6 * (expected / len(lists)) ** 0.5
    best = oltr.Model("ts-beta")
    for number, name in enumerate(NAMES):  # beliefs without ties
        for _ in range(number + 1):
            best.learn([name], [1])
    greedy = ope.chances(best, [["f", "e", "d"], ["e", "f", "d"]], greedy=True, match=True)
    assert greedy.prefix.tolist() == [[1, 1, 1], [0, 0, 0]] and greedy.match.tolist() == [1, 0]


def test_draws(scene):
    old, _, lists, _ = scene
    exact, drawn = ope.chances(old, lists[:50]), ope.chances(old, lists[:50], draws=4000, seed=5)
    error = np.sqrt(exact.prefix * (1 - exact.prefix) / 4000)
    assert (abs(drawn.prefix - exact.prefix) < 6 * error + 1e-3).all()
    again = ope.chances(old, lists[:50], draws=4000, seed=5)
    assert again.prefix.tobytes() == drawn.prefix.tobytes()


def test_estimates_from_models(scene):
    """The log of one model, and the reward of the other, which is played."""
    old, new, lists, rewards = scene
    logged = ope.chances(old, lists, slots=True)
    evaluated = ope.chances(new, lists, rewards=rewards, slots=True, match=True)
    draw = random.Random(4)
    played = [sum(clicks(draw, new.rank(3))) for _ in range(20000)]
    value, se = np.mean(played), np.std(played) / 20000**0.5
    comparison = ope.compare({"new": evaluated}, rewards, logged, interval="normal",
                             estimators=["sips", "rips", "snsips", "snrips", "dr"])
    for _, result in comparison.results:
        assert abs(result.value - value) < 6 * (result.se**2 + se**2) ** 0.5, result
    for name in ("iips", "sniips", "dm", "replay"):
        assert ope.estimate(rewards, logged, evaluated, estimator=name).n == 2000
    plain = ope.estimate(rewards, logged.prefix, evaluated.prefix, estimator="dr", q=evaluated.q,
                         v=evaluated.v)
    assert plain.value == ope.estimate(rewards, logged, evaluated, estimator="dr").value


def test_predictions_by_hand():
    """Two folds of two lists: the rates of one list of the other fold, and its value."""
    model = oltr.Model("ts-beta")
    lists, rewards = [["a"], ["b"], ["a"], ["b"]], [[1], [0], [0], [1]]
    found = ope.chances(model, lists, ["a", "b"], rewards=rewards, folds=2, strength=1e-9)
    # fold 0 has the lists 0 and 2, both of a; fold 1 has 1 and 3, both of b: each predicts with the
    # other's mean of 1/2, since nothing is known of the own item
    assert found.q[:, 0] == pytest.approx([0.5] * 4) and found.v[:, 0] == pytest.approx([0.5] * 4)


def test_lists_of_different_lengths(scene):
    old, new, lists, rewards = scene
    cut = [1 + i % 3 for i in range(len(lists))]
    lists = [shown[:n] for shown, n in zip(lists, cut)]
    rewards = [row[:n] for row, n in zip(rewards, cut)]
    logged, evaluated = ope.chances(old, lists), ope.chances(new, lists, rewards=rewards)
    for name in ("rips", "dr"):
        result = ope.estimate(rewards, logged, evaluated, estimator=name)
        padded = [row + [0] * (3 - len(row)) for row in rewards]
        assert result == ope.estimate(padded, logged.prefix, evaluated.prefix, lengths=cut,
                                      q=evaluated.q, v=evaluated.v, estimator=name)


def test_features_and_stores(tmp_path, scene):
    draw = random.Random(6)
    rows = [[[draw.random() for _ in range(3)] for _ in range(4)] for _ in range(5)]
    model = oltr.Model("lints", dim=3)
    shown = [[0, 2], [1, 3], [3, 2], [0, 1], [2, 0]]
    found = ope.chances(model, shown, x=rows, draws=300)
    assert found.prefix.shape == (5, 2) and (found.prefix[:, 0] >= found.prefix[:, 1]).all()
    named = ope.chances(model, [["p", "r"]], [["p", "q", "r", "s"]], x=rows[:1], draws=300)
    assert named.prefix.tolist() == found.prefix[:1].tolist()
    with pytest.raises(oltr.Error, match="draws"):
        ope.chances(model, shown, x=rows)
    _, new, lists, _ = scene
    new.save(tmp_path / "store")
    with oltr.open(tmp_path / "store") as store:
        assert ope.chances(store, lists[:9]).prefix.tobytes() == ope.chances(
            new, lists[:9]).prefix.tobytes()
    with pytest.raises(oltr.Error):
        ope.chances(store, lists[:9], NAMES)


# ---- refusals


class FloatRaises:
    class Mine(Exception):
        """The exception."""

    def __float__(self):
        raise FloatRaises.Mine


@pytest.mark.parametrize("shown, more, error, text", [
    ([], {}, ValueError, "at least one list"), (None, {}, TypeError, ""), (3, {}, TypeError, ""),
    ([["a", "z"]], {}, oltr.Error, "list 0: b'z' was shown and is no candidate"),
    ([["a"], ["b", "b"]], {}, oltr.Error, "list 1: slots 1 and 2 show the same candidate"),
    ([["a"], []], {}, oltr.Error, "list 1: what was shown must be 1 to 6 places, not 0"),
    ([[["a"]]], {}, oltr.Error, "is no candidate"),
    ([["a"]], {"candidates": [["a"], ["b"]]}, ValueError, "an entry for each of the 1 lists, not 2"),
    ([["a"]], {"candidates": [["a", 3]]}, TypeError, ""),
    ([["a"]], {"candidates": ["a", "a"]}, oltr.Error, ""),
    ([["a"]], {"draws": -1}, ValueError, "draws"), ([["a"]], {"draws": 2**31}, oltr.Error, "draws"),
    ([["a"]], {"seed": "x"}, TypeError, "seed"),
    ([["a"]], {"folds": 1, "rewards": [[1]]}, ValueError, "folds must be a whole number from 2 on"),
    ([["a"]], {"folds": 2.0}, ValueError, "folds"),
    ([["a"]], {"rewards": [[1, 2]]}, ValueError, "a number for each slot of each list"),
    ([["a"]], {"rewards": [[1], [2]]}, ValueError, "a number for each slot"),
    ([["a"]], {"rewards": [[FloatRaises()]]}, FloatRaises.Mine, ""),
    ([["a"]], {"rewards": [[float("nan")]]}, oltr.Error, "a reward must be finite"),
    ([["a"]], {"rewards": [[1]], "strength": 0}, oltr.Error, "strength must be a number above 0"),
    ([["a"], ["b"]], {"rewards": [[1], [1]], "candidates": [["a"], ["b"]]}, oltr.Error,
     "where all lists have the same candidates"),
])
def test_refusals(scene, shown, more, error, text):
    with pytest.raises(error, match=text):
        ope.chances(scene[1], shown, **more)


def test_kinds_without_exact_chances():
    model = oltr.Model("ts-cascade")
    model.learn(["a", "b"], [0, 1])
    with pytest.raises(oltr.Error) as caught:
        ope.chances(model, [["a"]])
    assert caught.value.code == "EUNSUPPORTED" and "list 0" not in str(caught.value)
    assert ope.chances(model, [["a"]], draws=10).prefix.shape == (1, 1)
    with pytest.raises(TypeError, match="must be an oltr.Model"):
        ope.chances(oltr.Policy("gts", 5), [["a"]])


@pytest.mark.parametrize("change", [
    {"lengths": [1]}, {"lengths": [3, 2]}, {"set_of": [0, 1]}, {"set_of": [0]},
    {"rates": [[0.0] * 6] * 2}, {"rates": [[0.0] * 5] * 2, "fold_of": [0, 0]},
    {"rates": [[0.0] * 6] * 2, "fold_of": [0, 1]}, {"rates": [[0.0] * 6], "fold_of": [0, 0]},
    {"sets": [(NAMES, None)]}, {"sets": (NAMES,)}, {"sets": ((NAMES, None, 1),)},
    {"places": [[0, 9], [1, 2]]}, {"places": [[0, 2**32], [1, 2]]}, {"sets": ((None, [[1.0]]),)},
])
def test_core_call(scene, change):
    """What decides which memory is read is checked by the extension itself."""
    good = {"places": [[0, 1], [1, 2]], "lengths": [2, 2], "sets": ((NAMES, None),), "set_of": [0, 0]}
    assert scene[1]._ope_chances(**good)[0].shape == (2, 2)
    with pytest.raises((ValueError, TypeError)):
        scene[1]._ope_chances(**{**good, **change})


# ---- memory, threads, Ctrl-C


def test_memory_is_flat(scene):
    _, new, lists, rewards = scene
    lists, rewards = lists[:4], rewards[:4]

    def work(n):
        for _ in range(n):
            ope.chances(new, lists, rewards=rewards, slots=True, match=True)
            with pytest.raises(oltr.Error):
                ope.chances(new, [["a", "a"]], NAMES)

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    work(100)
    gc.collect()
    before, blocks = resident(), sys.getallocatedblocks()
    work(20 if SANITIZED else 1000)
    gc.collect()
    if not SANITIZED:
        assert resident() - before < 600_000 and abs(sys.getallocatedblocks() - blocks) < 500


def test_the_model_may_learn_meanwhile(scene):
    old, _, lists, _ = scene
    model = old.copy()
    expected, found = ope.chances(model, lists[:500]).prefix.tobytes(), []
    barrier = threading.Barrier(2)

    def ask():
        frozen = model.copy()
        barrier.wait()
        found.append(ope.chances(frozen, lists[:500]).prefix.tobytes())
        for _ in range(20):
            ope.chances(model, lists[:20])

    thread = threading.Thread(target=ask)
    thread.start()
    barrier.wait()
    for _ in range(2000):
        model.learn(["a", "b"], [0, 1])
    thread.join()
    assert found == [expected]


def test_ctrl_c():
    program = """
import os, signal, threading, time
import oltr
from oltr import ope
model = oltr.Model("ts-beta")
names = [str(i) for i in range(50)]
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    ope.chances(model, [names[i % 40:i % 40 + 5] for i in range(20000)], names, draws=10000)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 30)
"""
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                          timeout=120, env=dict(os.environ), check=False)
    assert done.stdout == "interrupted True\n", done.stderr
