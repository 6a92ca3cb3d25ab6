"""One policy in several threads: nothing is lost, nothing hangs, batches are whole."""

import itertools
import os
import random
import sys
import threading
import time

import numpy as np
import oltr
import pytest
from scenes import DIM, ITEMS, features

SANITIZED = "OLTR_SANITIZED" in os.environ
SECONDS = 120  # after which a test counts as hung


def run_all(*works):
    """Runs functions in threads; raises what one of them raised."""
    errors = []

    def guarded(work):
        try:
            work()
        except BaseException as error:  # whatever it is, the test must show it
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    end = time.monotonic() + SECONDS
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if errors:
        raise errors[0]


def big():
    """A policy whose calls are long enough to release the GIL, and its features."""
    items, dim = 300, 300
    x = np.random.default_rng(1).normal(size=(items, dim)).astype(np.float32) / dim
    return oltr.Policy("lints", items, dim=dim), x


def test_rounds_of_many_threads_are_all_counted():
    policy, n = oltr.Policy("gts", 50), 4000
    numbers = [[] for _ in range(4)]

    def play(own):
        for _ in range(n):
            ranking = policy.rank(4)
            own.append(ranking.round)
            policy.learn(ranking, [0, 1])

    run_all(*[lambda own=own: play(own) for own in numbers])
    assert policy.rounds == policy.round == 4 * n
    assert sorted(itertools.chain(*numbers)) == list(range(1, 4 * n + 1))
    policy.check()


def test_lessons_in_any_order_give_the_same_state():
    lists = oltr.Policy("ts-beta", 20, seed=1).rank_many(2000, 4)
    clicks = (np.random.default_rng(1).random(lists.shape) < 0.4).astype(float)
    expected, shared = oltr.Policy("ts-beta", 20), oltr.Policy("ts-beta", 20)
    expected.learn_many(lists, clicks)

    def one_by_one(rows):
        for row in rows:
            shared.learn(lists[row], clicks[row])

    run_all(lambda: one_by_one(range(0, 500)), lambda: one_by_one(range(500, 1000)),
            lambda: shared.learn_many(lists[1000:1500], clicks[1000:1500]),
            lambda: shared.learn_many(lists[1500:], clicks[1500:]))
    assert shared.to_bytes() == expected.to_bytes()


def test_long_calls_and_short_calls_together():
    policy, x = big()
    before = policy.rank(5, x=x, round=1)
    done = []

    def rank():
        for _ in range(150):
            assert len(policy.rank(5, x=x)) == 5

    def learn():
        for _ in range(60):
            policy.learn(before, [0, 1, 0, 0, 1])
            done.append(1)

    def look():
        for _ in range(60):
            assert policy.kind == "lints" and policy.rounds <= 240 and repr(policy)

    def batches():
        for _ in range(5):
            assert policy.rank_many(30, 5, x=x).shape == (30, 5)

    def learn_batches():
        lists = np.tile(before.items, (20, 1))
        for _ in range(6):
            policy.learn_many(lists, np.zeros(lists.shape), x=x)

    run_all(rank, rank, learn, learn, look, batches, learn_batches)
    assert policy.rounds == 2 * 60 + 6 * 20
    policy.check()


def test_the_same_lists_from_threads_as_from_one():
    policy, x = big()
    policy.learn(policy.rank(5, x=x), [0, 1, 0, 1, 1])
    expected = policy.rank_many(80, 5, x=x, first_round=100).tolist()
    found = {}

    def rank(rounds):
        for number in rounds:
            found[number] = list(policy.rank(5, x=x, round=number))

    run_all(lambda: rank(range(100, 140)), lambda: rank(range(140, 180)))
    assert [found[number] for number in range(100, 180)] == expected


def test_merging_in_both_directions_does_not_hang():
    policies = [oltr.Policy("lints", ITEMS, dim=DIM) for _ in range(3)]
    x = features()
    for policy in policies:
        policy.learn(policy.rank(3, x=x), [0, 1, 0])

    def merge(a, b):
        for _ in range(10):
            policies[a].merge(policies[b])

    def rank(a):
        for _ in range(200):
            policies[a].rank(3, x=x)

    run_all(lambda: merge(0, 1), lambda: merge(1, 0), lambda: merge(2, 0), lambda: merge(1, 2),
            lambda: rank(0), lambda: rank(1))
    for policy in policies:
        policy.check()


def test_every_call_at_once():
    policy, x, end = oltr.Policy("gts", 40), None, time.monotonic() + 2

    def anything(seed):
        draw = random.Random(seed)
        calls = [lambda: policy.rank(3, x=x), lambda: policy.rank_many(200, 3),
                 lambda: policy.learn([0, 1, 2], [0, 1]),
                 lambda: policy.learn_many([[0, 1]] * 50, [[1, 0]] * 50), policy.predict,
                 lambda: policy.propensities(2, 100), policy.copy, policy.to_bytes, policy.check,
                 lambda: policy.forget(0.99), lambda: policy.resize(draw.randrange(10, 60)),
                 lambda: policy.merge(oltr.Policy("gts", policy.items)), policy._numbers,
                 lambda: policy.reset(draw.randrange(5)), lambda: repr(policy),
                 lambda: policy.rounds, lambda: policy.prior]
        while time.monotonic() < end:
            try:
                draw.choice(calls)()
            except oltr.Error as error:  # it was resized after policy.items was read
                assert error.code in ("EMISMATCH", "EITEM"), error

    run_all(*[lambda seed=seed: anything(seed) for seed in range(6)])
    policy.check()
    assert policy.rank(3)


def test_a_refused_list_of_a_thread():
    policy, x = big()
    nan = x.copy()
    nan[3, 3] = np.nan
    good = []

    def bad():
        for _ in range(40):
            with pytest.raises(oltr.Error, match="candidate 3 .item 3.: feature 3"):
                policy.rank(5, x=nan)

    def right():
        for _ in range(40):
            good.append(policy.rank(5, x=x).round)

    run_all(bad, right, right)
    assert len(set(good)) == 80


def test_arrays_that_are_changed_by_another_thread():
    """Indices and rewards are copied before they are checked; the state stays valid."""
    policy, x = big()
    candidates = np.arange(300, dtype=np.uint32)
    items = np.array([[0, 1, 2]] * 200, np.uint32)
    clicks = np.zeros((200, 3))
    stop = threading.Event()

    def change():
        while not stop.is_set():
            candidates[5], items[7, 1], clicks[3, 0] = 2**32 - 1, 2**31, np.nan
            candidates[5], items[7, 1], clicks[3, 0] = 5, 1, 0

    def use():
        try:
            for _ in range(10 if SANITIZED else 30):
                try:
                    assert max(policy.rank(5, candidates, x)) < 300
                    policy.learn_many(items, clicks, x=x)
                except oltr.Error as error:
                    assert error.code in ("EITEM", "EREWARD")
        finally:
            stop.set()

    run_all(change, use)
    policy.check()


def moments_during(work):
    """How often another thread has run during this work.

    Python does not take the GIL from a thread meanwhile: the work itself must release it.
    """
    times, span = [], []

    def timed():
        begin = time.perf_counter()
        work()
        span.append((begin, time.perf_counter()))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=timed)
        thread.start()
        while thread.is_alive():
            times.append(time.perf_counter())
            time.sleep(0)
    finally:
        sys.setswitchinterval(interval)
    return sum(span[0][0] < moment < span[0][1] for moment in times)


def test_batches_and_long_calls_let_other_threads_run():
    policy = oltr.Policy("ts-beta", 3000)
    lists = policy.rank_many(20000, 3, candidates=[1, 2, 3, 4, 5])
    linear, x = big()
    for work in (lambda: policy.rank_many(1000, 5), lambda: policy.propensities(5, 1000),
                 lambda: [policy.copy().learn_many(lists, np.zeros(lists.shape))],
                 lambda: linear.rank_many(500, 5, x=x)):
        assert any(moments_during(work) for _ in range(50))


def test_a_call_that_keeps_the_gil_is_noticed():
    """moments_during() finds none where no other thread can run: so that it can fail above."""
    numbers = list(range(3_000_000))
    assert not any(moments_during(lambda: sum(numbers)) for _ in range(3))
