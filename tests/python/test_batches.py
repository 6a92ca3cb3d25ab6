"""rank_many, learn_many, propensities: the same as one by one, all or nothing."""

import signal
import threading
import time

import numpy as np
import oltr
import pytest
from scenes import CATALOGUE, ITEMS, KINDS, SLOTS, make, play, x_of


@pytest.mark.parametrize("kind", KINDS)
def test_rank_many_is_rank_many_times(kind):
    one, many, x = make(kind, seed=3), make(kind, seed=3), x_of(kind)
    play(one, 20)
    play(many, 20)
    lists = many.rank_many(70, SLOTS, x=x)
    assert lists.shape == (70, SLOTS) and lists.dtype == np.uint32
    assert lists.tolist() == [list(one.rank(SLOTS, x=x)) for _ in range(70)]
    assert many.round == one.round == 90
    assert many.rank_many(5, SLOTS, x=x, seed=9, first_round=2).tolist() == [
        list(one.rank(SLOTS, x=x, seed=9, round=2 + i)) for i in range(5)]
    assert many.round == 90


@pytest.mark.parametrize("kind", KINDS)
def test_learn_many_is_learn_many_times(kind):
    one, many, x = make(kind, seed=3), make(kind, seed=3), x_of(kind)
    lists = many.rank_many(60, SLOTS, x=x)
    clicks = (np.random.default_rng(1).random(lists.shape) < 0.3).astype(float)
    depths = np.random.default_rng(2).integers(0, SLOTS + 1, len(lists))
    many.learn_many(lists, clicks, depths, x=x)
    for items, row, depth in zip(lists, clicks, depths):
        one.learn(items, row, int(depth), x=x)
    assert many.to_bytes() == one.to_bytes() and many.rounds == 60


@pytest.mark.parametrize("kind", [kind for kind in KINDS if CATALOGUE[kind]["takes_weights"]])
def test_learn_many_with_masks_and_weights(kind):
    one, many, x = make(kind), make(kind), x_of(kind)
    lists = many.rank_many(40, SLOTS, x=x)
    draw = np.random.default_rng(4)
    clicks, mask = draw.random(lists.shape) < 0.3, draw.random(lists.shape) < 0.7
    weights = draw.integers(1, 5, lists.shape)
    many.learn_many(lists, clicks, mask, x=x, weights=weights)
    for row in zip(lists, clicks, mask, weights):
        one.learn(row[0], row[1].astype(int), row[2], x=x, weights=row[3])
    assert many.to_bytes() == one.to_bytes()


def test_forms_of_arrays():
    expected = oltr.Policy("gts", 9)
    lists, clicks = np.array([[1, 2], [3, 4], [5, 6]]), np.array([[0, 1], [1, 0], [0, 0]])
    expected.learn_many(lists, clicks)
    wide = np.zeros((3, 4))
    wide[:, ::2] = clicks
    for form in (clicks.tolist(), clicks.astype(bool), clicks.astype(np.uint8), wide[:, ::2],
                 np.asfortranarray(clicks), clicks.astype(np.float32), list(map(np.array, clicks))):
        policy = oltr.Policy("gts", 9)
        policy.learn_many(lists.astype(np.uint32), form)
        assert policy.to_bytes() == expected.to_bytes()
    policy = oltr.Policy("gts", 9)
    policy.learn_many(lists.tolist(), clicks, examined=[2, 2, 2])
    assert policy.to_bytes() == expected.to_bytes()


def test_empty_batches():
    policy = oltr.Policy("gts", 9)
    assert policy.rank_many(0, 3).shape == (0, 3)
    policy.learn_many(np.empty((0, 3), np.uint32), np.empty((0, 3)))
    policy.learn_many([], [])
    assert (policy.round, policy.rounds) == (0, 0)
    with pytest.raises(oltr.Error):
        policy.rank_many(0, 10)


def test_a_refused_list_leaves_everything_as_it_was():
    policy = oltr.Policy("ts-beta", 9)
    policy.learn([1, 2], [1, 0])
    before = policy.to_bytes()
    lists, clicks = np.array([[1, 2], [3, 4], [5, 5]]), np.zeros((3, 2))
    with pytest.raises(oltr.Error, match="list 2: slot 0 and slot 1 are both item 5") as caught:
        policy.learn_many(lists, clicks)
    assert caught.value.code == "EITEM"
    with pytest.raises(oltr.Error, match="list 1: slot 1 .item 4.: a reward of 0.5"):
        policy.learn_many(lists[:2], [[0, 1], [0, 0.5]])
    with pytest.raises(oltr.Error, match="list 0: 3 slots were examined of a list of 2"):
        policy.learn_many(lists[:2], clicks[:2], examined=[3, 1])
    with pytest.raises(oltr.Error, match="list 0: slot 0 shows item 1, which is not among"):
        policy.learn_many(lists[:2], clicks[:2], candidates=[2, 3, 4])
    assert policy.to_bytes() == before


@pytest.mark.parametrize("arguments, text", [
    (([[1, 2]], [[0, 1, 0]]), r"clicks is \(1, 3\), and items is \(1, 2\)"),
    (([[1, 2]], [[0, 1]], [1, 2]), "examined has 2 entries for 1 lists"),
    (([[1, 2]], [[0, 1]], [[1]]), r"examined is \(1, 1\)"),
    (([[1, 2]], [[0, 1]], None, None, None, [[1]]), r"weights is \(1, 1\)"),
    (([[1, 2], [3]], [[0, 1], [1]]), "row 1 of items has 1 numbers, the first row 2"),
    (([[1, -2]], [[0, 1]]), ": -2 at place 1"),
    (([[1, 2.5]], [[0, 1]]), "2.5 at place 1"),
])
def test_shapes_that_do_not_fit(arguments, text):
    policy = oltr.Policy("gts", 9)
    with pytest.raises(ValueError, match=text):
        policy.learn_many(*arguments)
    assert policy.rounds == 0


def test_one_dimension_is_refused():
    policy = oltr.Policy("gts", 9)
    with pytest.raises(ValueError, match="2 dimensions, not 1"):
        policy.learn_many(np.array([1, 2]), np.array([0, 1]))
    with pytest.raises(TypeError, match="a list of rows"):
        policy.learn_many([1, 2], [0, 1])
    with pytest.raises(TypeError, match="not truth values"):
        policy.learn_many([[1, 2]], [[0, 1]], examined=np.array([True]))


def test_rank_many_refuses_and_counts_nothing():
    policy = oltr.Policy("gts", 9)
    for arguments in [(3, 0), (3, 10), (3, 2, [1, 1]), (3, 2, [9, 1]), (2**32 - 1, 2**31)]:
        with pytest.raises((oltr.Error, MemoryError)):
            policy.rank_many(*arguments)
    for arguments in [(-1, 2), (2**32, 2), (2, 2, None, None, -1), (2, 2, None, None, None, 2**48)]:
        with pytest.raises(ValueError):
            policy.rank_many(*arguments)
    assert policy.round == 0


# ---- propensities


@pytest.mark.parametrize("kind", KINDS)
def test_propensities_are_shares_of_lists(kind):
    policy, x = make(kind, seed=1), x_of(kind)
    play(policy, 30)
    before = policy.round
    chances = policy.propensities(3, draws=500, x=x)
    assert chances.shape == (ITEMS, 3) and policy.round == before
    assert chances.sum(axis=0) == pytest.approx(1) and (chances.sum(axis=1) <= 1 + 1e-9).all()
    assert (chances == policy.propensities(3, draws=500, x=x)).all()
    if CATALOGUE[kind]["fixed_scores"] and kind not in ("ensemble", "toprank"):
        assert chances.max() <= 1


def test_propensities_of_chosen_candidates():
    policy = oltr.Policy("random", 50)
    candidates = [40, 3, 17, 8]
    chances = policy.propensities(2, draws=20000, candidates=candidates, seed=5)
    assert chances.shape == (4, 2)
    assert chances == pytest.approx(0.25, abs=0.02)  # 6 standard deviations
    assert (chances != policy.propensities(2, draws=20000, candidates=candidates)).any()


def test_propensities_agree_with_lists():
    policy = oltr.Policy("ts-beta", 6)
    play_lists = np.array([[0, 1, 2]] * 5 + [[3, 4, 5]] * 5, np.uint32)
    policy.learn_many(play_lists, np.tile([[1.0, 0, 0]], (10, 1)))
    chances = policy.propensities(2, draws=40000)
    lists = policy.rank_many(40000, 2)
    for slot in range(2):
        share = np.bincount(lists[:, slot], minlength=6) / len(lists)
        assert chances[:, slot] == pytest.approx(share, abs=0.02)  # 5.6 standard deviations


def test_propensities_refuse():
    policy = oltr.Policy("gts", 9)
    with pytest.raises(ValueError, match="at least 1"):
        policy.propensities(2, draws=0)
    with pytest.raises(oltr.Error):
        policy.propensities(10)
    with pytest.raises(oltr.Error):
        policy.propensities(2, candidates=[1, 1, 2])
    with pytest.raises(oltr.Error):
        policy.propensities(2, candidates=[1, 99, 2])


# ---- Ctrl-C


class Stopped(Exception):
    """What the handler of the test raises."""


def stop_soon(seconds):
    """Sends SIGUSR1 to this process after a while; the handler raises Stopped."""

    def handler(number, frame):
        raise Stopped

    signal.signal(signal.SIGUSR1, handler)
    timer = threading.Timer(seconds, signal.raise_signal, [signal.SIGUSR1])
    timer.start()
    return timer


def test_a_signal_ends_rank_many():
    policy = oltr.Policy("ts-beta", 3000)
    timer = stop_soon(0.2)
    begin = time.monotonic()
    with pytest.raises(Stopped):
        while True:
            policy.rank_many(30000, 3)
    timer.join()
    assert time.monotonic() - begin < 60
    assert policy.rank(3).round == policy.round  # the policy is free again
    policy.learn([1, 2], [1, 0])


def test_a_signal_during_learn_many_leaves_the_policy_as_it_was():
    policy = oltr.Policy("lints", 50, dim=40)
    x = np.random.default_rng(1).normal(size=(50, 40)).astype(np.float32) / 10
    lists = policy.rank_many(50000, 5, x=x)
    before = policy.to_bytes()
    timer = stop_soon(0.1)
    with pytest.raises(Stopped):
        policy.learn_many(lists, np.zeros(lists.shape), x=x)
        policy.learn_many(lists, np.zeros(lists.shape), x=x)
    timer.join()
    assert policy.to_bytes() == before or policy.rounds == len(lists)


def test_a_handler_cannot_change_a_policy_that_learns():
    policy = oltr.Policy("lints", 50, dim=40)
    x = np.random.default_rng(1).normal(size=(50, 40)).astype(np.float32) / 10
    lists = policy.rank_many(50000, 5, x=x)
    caught = []

    def handler(number, frame):
        try:
            policy.learn([1, 2], [1, 0], x=x)
        except RuntimeError as error:
            caught.append(str(error))
        caught.append(len(policy.rank(3, x=x)))  # reading is possible

    signal.signal(signal.SIGUSR1, handler)
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGUSR1])
    timer.start()
    policy.learn_many(lists, np.zeros(lists.shape), x=x)
    timer.join()
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    assert 3 in caught
    if len(caught) == 2:
        assert "learn_many" in caught[0]
