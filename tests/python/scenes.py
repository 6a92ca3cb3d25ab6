"""Policies of every kind for the tests, with users whose clicks depend on the round alone."""

import random

import oltr
from oltr import _core

CATALOGUE = {entry["name"]: entry for entry in _core.catalogue()}
KINDS = list(CATALOGUE)
ITEMS, DIM, SLOTS = 20, 4, 5


def features(seed=1, items=ITEMS, dim=DIM):
    """Rows of unit length or less, which every kind with features allows; exact in float32."""
    draw = random.Random(seed)
    return [[draw.randrange(-32, 33) / 128 for _ in range(dim)] for _ in range(items)]


def x_of(kind, seed=1):
    """The argument x for a kind: None where it has no features."""
    return features(seed) if CATALOGUE[kind]["contextual"] else None


def make(kind, **settings):
    """A policy of this kind with small settings."""
    dim = DIM if CATALOGUE[kind]["contextual"] else 0
    return oltr.Policy(kind, ITEMS, dim=dim, **settings)


def clicks_of(round_number):
    """What the user of this round does with a list: some slots, the last of them clicked or not."""
    draw = random.Random(round_number)
    depth = draw.randrange(1, SLOTS + 1)
    return [0] * (depth - 1) + [draw.randrange(2)]


def play(policy, rounds, x_seed=1):
    """Plays rounds; returns the lists."""
    x, lists = x_of(policy.kind, x_seed), []
    for _ in range(rounds):
        ranking = policy.rank(SLOTS, x=x)
        policy.learn(ranking, clicks_of(policy.round))
        lists.append(list(ranking))
    return lists
