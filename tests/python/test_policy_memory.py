"""Memory and reference counts stay as they are over many rounds, refused ones included."""

import gc
import os
import sys

import numpy as np
import oltr
import pytest
from scenes import DIM, ITEMS, features

SANITIZED = "OLTR_SANITIZED" in os.environ
ROUNDS = 20_000 if SANITIZED else 1_000_000
BYTES = 600_000  # that may be added: a leak of one byte a round would show


def resident():
    """Bytes of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def growth(work, rounds):
    """How many bytes and blocks are added by so many rounds, after some to warm up."""
    work(rounds // 20 + 10)
    gc.collect()
    before, blocks = resident(), sys.getallocatedblocks()
    work(rounds)
    gc.collect()
    return resident() - before, sys.getallocatedblocks() - blocks


def check(work, rounds):
    """Fails when memory grows; AddressSanitizer keeps freed memory, so only runs it there."""
    added, blocks = growth(work, rounds)
    if not SANITIZED:
        assert added < BYTES and abs(blocks) < 200, (added, blocks)


def test_a_million_rounds():
    policy = oltr.Policy("gts", 30)

    def work(n):
        rank, learn = policy.rank, policy.learn
        for _ in range(n):
            learn(rank(3), [0, 1])

    gc.collect()  # policies of other tests
    counts = [sys.getrefcount(oltr.Policy), sys.getrefcount(oltr.Ranking), sys.getrefcount(None)]
    check(work, ROUNDS)
    after = [sys.getrefcount(oltr.Policy), sys.getrefcount(oltr.Ranking), sys.getrefcount(None)]
    assert after[:2] == counts[:2] and abs(after[2] - counts[2]) < 100


def test_arrays_and_features():
    policy = oltr.Policy("lints", ITEMS, dim=DIM)
    x32, x64 = np.array(features(), np.float32), np.array(features())
    candidates, clicks = np.arange(ITEMS), np.array([0, 1, 0])

    def work(n):
        for _ in range(n // 4):
            policy.learn(policy.rank(3, candidates, x32), clicks, examined=2)
            policy.learn(list(policy.rank(3, x=x64)), [0, True], x=x64)
            policy.predict(x=x32)

    counts = [sys.getrefcount(array) for array in (x32, x64, candidates, clicks)]
    check(work, ROUNDS // 20)
    assert [sys.getrefcount(array) for array in (x32, x64, candidates, clicks)] == counts


def test_refused_calls():
    policy = oltr.Policy("lints", ITEMS, dim=DIM)
    x, bad = np.array(features(), np.float32), np.full((ITEMS, DIM), np.nan)
    calls = [
        lambda: policy.rank(0, x=x), lambda: policy.rank(3), lambda: policy.rank(3, x=bad),
        lambda: policy.rank(3, [1, 1, 2], x[:3]), lambda: policy.rank(3, [1, "x"]),
        lambda: policy.learn([1, 2], [0, np.nan], x=x), lambda: policy.learn([1, 1], [0, 0], x=x),
        lambda: policy.learn([1, 2], [0, 1], "x", x=x), lambda: policy.learn([1, 2], [0] * 40, x=x),
        lambda: policy.rank_many(3, 50, x=x), lambda: policy.rank_many(3, 2, [1, 1], x[:2]),
        lambda: policy.learn_many([[1, 1]], [[0, 0]], x=x),
        lambda: policy.learn_many([[1]], [[0, 1]]),
        lambda: policy.propensities(3, 5, x=bad), lambda: policy.predict(x=bad[:, 1:]),
        lambda: oltr.Policy("gts", 5, prior=([1, 2], 3)), lambda: oltr.Policy("gts", 5, sigma=-1),
        lambda: oltr.Policy("gt", 5), lambda: oltr.Policy("gts", 5, prior={"mean": 1, "sd": -1}),
        lambda: oltr.Policy.from_bytes(b"x" * 1000), lambda: oltr.load("/no/such/file"),
        lambda: policy.merge(oltr.Policy("gts", 5)), lambda: policy.save("/no/such/folder/file"),
        lambda: policy.resize(2**29), lambda: policy.forget(2),
    ]

    def work(n):
        for _ in range(n // len(calls)):
            for call in calls:
                with pytest.raises((ValueError, TypeError)):
                    call()

    check(work, ROUNDS // 20)


def test_objects_that_are_made_and_freed():
    policy = oltr.Policy("ts-hyper", ITEMS, prior={"a": 1, "b": 2})

    def work(n):
        for _ in range(n // 10):
            other = oltr.Policy.from_bytes(policy.copy().to_bytes())
            other.rank_many(10, 3)
            other.learn_many([[1, 2]] * 3, [[0, 1]] * 3)
            other.resize(ITEMS + 5, prior={"a": 1, "b": 2})
            other.hyper()
            repr(other), other.params, other.prior, other.propensities(2, 10)
            oltr._core.catalogue()

    check(work, ROUNDS // 200)
