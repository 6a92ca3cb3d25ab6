"""Random objects at every argument of every method: an exception or a result, never a crash.

The objects are drawn from a fixed seed.  OLTR_FUZZ_CALLS sets another number of calls.
"""

import array
import os
import random

import numpy as np
import oltr
import pytest
from scenes import CATALOGUE, DIM, ITEMS, KINDS

CALLS = int(os.environ.get("OLTR_FUZZ_CALLS", "30000"))
ALLOWED = (TypeError, ValueError, OverflowError, BufferError, IndexError, MemoryError)


class Mine(Exception):
    """Raised by objects of the test."""


class Odd:
    """An object with methods that do and return anything."""

    def __init__(self, draw, depth):
        self.draw, self.depth = draw, depth

    def any(self, *arguments):
        if self.draw.random() < 0.3:
            raise Mine
        return anything(self.draw, self.depth + 1)

    def __index__(self):
        return self.draw.choice([0, 1, 2, 5, -1, 2**40]) if self.draw.random() < 0.7 else self.any()

    def __float__(self):
        return self.draw.choice([0.0, 1.0, 0.5, -1.0]) if self.draw.random() < 0.7 else self.any()

    def __len__(self):  # tuple() of Python itself takes the memory for such a length
        if self.draw.random() < 0.1:
            raise Mine
        return self.draw.choice([0, 1, 2, 3, 4, 1000, -1, 2**60])

    def __getitem__(self, i):
        if i > 5:
            raise IndexError
        return self.any()

    def __fspath__(self):
        return self.any()

    def __repr__(self):
        return "odd" if self.draw.random() < 0.9 else self.any()


NUMBERS = [0, 1, 2, 3, 4, 5, ITEMS - 1, ITEMS, -1, 2**31, 2**32 - 1, 2**32, 2**48, 2**63, 2**64,
           10**30, 0.0, 1.0, 0.5, -1.0, 1e300, float("nan"), float("inf"), True, False]
TYPES = ["u4", "i8", "f4", "f8", "u1", "?", "i2", "f2", "c8", "O", "S3", "U2", ">i4", ">f8", "u8"]


def an_array(draw):
    """A numpy array of some type, shape and layout."""
    shape = draw.choice([(), (0,), (1,), (2,), (3,), (DIM,), (ITEMS,), (2, 2), (3, DIM),
                         (ITEMS, DIM), (0, DIM), (ITEMS, 0), (2, 2, 2)])
    values = np.array([draw.choice([0, 1, 1, 2, 3, 19]) for _ in range(int(np.prod(shape)))])
    result = values.reshape(shape).astype(draw.choice(TYPES))
    if draw.random() < 0.2:
        result = np.asfortranarray(result)
    if draw.random() < 0.2 and shape:
        result = np.repeat(result, 2, axis=-1)[..., ::2]
    if draw.random() < 0.1 and shape:
        result = result[::-1]
    return result


def anything(draw, depth=0):
    """Some object."""
    kind = draw.randrange(14 if depth < 3 else 6)
    if kind < 3:
        return draw.choice(NUMBERS)
    if kind == 3:
        return draw.choice([None, "", "gts", "full", "\ud800", "a\0b", b"", b"ab", object(), ...,
                            slice(1, 2), int, range(3), {1, 2}, iter([1, 2]), 1j])
    if kind == 4:
        return [draw.choice([0, 1]) for _ in range(draw.randrange(5))]
    if kind == 5:
        return draw.sample(range(ITEMS), draw.randrange(1, 5))
    if kind == 6:
        return an_array(draw)
    if kind == 7:
        return [anything(draw, depth + 1) for _ in range(draw.randrange(4))]
    if kind == 8:
        return tuple(anything(draw, depth + 1) for _ in range(draw.randrange(4)))
    if kind == 9:
        names = ["mean", "sd", "a", "b", "take", 5]
        return {draw.choice(names): anything(draw, depth + 1) for _ in range(draw.randrange(4))}
    if kind == 10:
        return Odd(draw, depth)
    if kind == 11:
        return array.array(draw.choice("bBhHiIlLqQfd"), [draw.randrange(5) for _ in range(3)])
    if kind == 12:
        return draw.choice([memoryview(b"abc"), bytearray(b"\0\1"),
                            memoryview(b"abcdefgh").cast("I")])
    return [[draw.randrange(3) for _ in range(DIM)] for _ in range(draw.randrange(ITEMS + 1))]


def bounded(draw):
    """A number of lists or draws: none that takes hours."""
    return draw.choice([0, 1, 2, 3, 50, -1, 2**32, 2**64, 1.5, "2", None, True, [1], Odd(draw, 3)])


def small_sizes(name, arguments, draw):
    """Replaces arguments that ask for very much work or memory."""
    if name == "rank_many" and arguments:
        arguments[0] = bounded(draw)
    if name == "propensities" and arguments:
        arguments[1:2] = [bounded(draw)]
    if name == "resize" and arguments:
        arguments[0] = draw.choice([0, 1, ITEMS, 30, -1, 2**29, 2**32, "3", None, 2.5,
                                    Odd(draw, 3)])
    return arguments


METHODS = {"rank": 5, "learn": 6, "rank_many": 6, "learn_many": 6, "predict": 2, "propensities": 5,
           "merge": 1, "forget": 1, "check": 0, "resize": 2, "reset": 1, "hyper": 0, "_numbers": 0,
           "to_bytes": 0, "copy": 0, "from_bytes": 3, "__reduce__": 0, "frame": 2}
NAMES = {"rank": ["k", "candidates", "x", "seed", "round"],
         "learn": ["ranking", "clicks", "examined", "candidates", "x", "weights"],
         "learn_many": ["items", "clicks", "examined", "candidates", "x", "weights"],
         "predict": ["candidates", "x"]}


def policies(draw):
    """One small policy of each kind."""
    made = []
    for kind in KINDS:
        dim = DIM if CATALOGUE[kind]["contextual"] else 0
        made.append(oltr.Policy(kind, ITEMS, dim=dim, seed=draw.randrange(100)))
    return made


def call_something(policy, draw):
    """One call with random arguments."""
    name = draw.choice(list(METHODS))
    most = METHODS[name]
    count = draw.randrange(most + 1) if draw.random() < 0.4 else draw.randrange(most + 2)
    arguments = small_sizes(name, [anything(draw) for _ in range(count)], draw)
    named = {}
    if name in NAMES and draw.random() < 0.5:
        named = {draw.choice(NAMES[name] + ["other"]): anything(draw)}
    if draw.random() < 0.3 and name == "learn":
        arguments[:1] = [oltr.Policy("gts", ITEMS).rank(3)]
    if draw.random() < 0.05 and name == "merge":
        arguments = [policy.copy()]
    getattr(policy, name)(*arguments, **named)


@pytest.mark.parametrize("seed", range(4))
def test_methods(seed):
    draw = random.Random(seed)
    made, good, refused = policies(draw), 0, 0
    for i in range(CALLS // 4):
        policy = made[i % len(made)]
        before = (policy.round, policy.to_bytes()) if i % 50 < len(made) else None
        try:
            call_something(policy, draw)
            good += 1
        except ALLOWED + (Mine,):
            refused += 1
        if policy.items > 1000 or policy.items < 2:
            policy.resize(ITEMS) if policy.prior is None else None
        assert before is None or policy.round >= before[0]
    for policy in made:
        policy.check()
    assert good > CALLS // 100 and refused > CALLS // 100


@pytest.mark.parametrize("seed", range(2))
def test_constructor(seed):
    draw = random.Random(100 + seed)
    good = 0
    for _ in range(CALLS // 10):
        names = ["dim", "prior", "seed", "sigma", "mean", "sampler", "a", "b", "other", "lambda_"]
        named = {draw.choice(names): anything(draw) for _ in range(draw.randrange(4))}
        kind = draw.choice(KINDS) if draw.random() < 0.8 else anything(draw)
        items = draw.choice([1, 2, 5, ITEMS, 0, -1, 2**29, "5", None, 1.5, Odd(draw, 3)])
        if isinstance(named.get("dim"), int) and named["dim"] > 100:
            named["dim"] = DIM
        try:
            policy = oltr.Policy(kind, items, **named)
            good += 1
            policy.check()
            assert repr(policy) and policy.params is not None
        except ALLOWED + (Mine,):
            pass
    assert good > 0


def test_a_refused_call_changes_nothing():
    draw = random.Random(7)
    for _ in range(CALLS // 10):
        kind = draw.choice(KINDS)
        policy = oltr.Policy(kind, ITEMS, dim=DIM if CATALOGUE[kind]["contextual"] else 0)
        name = draw.choice(["rank", "learn", "rank_many", "learn_many", "predict", "propensities"])
        arguments = small_sizes(name, [anything(draw) for _ in range(METHODS[name])], draw)
        try:
            getattr(policy, name)(*arguments)
        except ALLOWED + (Mine,):
            assert policy.round == 0 and policy.rounds == 0
