"""Policies: what ranks and learns."""

from __future__ import annotations

import collections.abc
from typing import Any

from . import _core
from .catalogue import kinds_text
from .frames import table

collections.abc.Sequence.register(_core.Ranking)


class Policy(_core.Policy):
    # The documentation is made below, from the engine's table of kinds.
    __slots__ = ("__weakref__",)

    def frame(self, candidates: Any = None, x: Any = None) -> Any:
        """What the policy believes and has seen, one row for each item.

        A DataFrame (without pandas a list of dicts) with the columns item, mean and sd of the
        belief, where the kind can predict, and observations and rewards (their sum), where it
        learns by item.  candidates and x as in rank(); kinds with features need x.
        """
        columns: dict[str, Any] = {}
        if self._can_predict():
            columns["mean"], columns["sd"] = self.predict(candidates, x)
        numbers = self._numbers()
        items: Any = range(self.items if x is None else len(x))
        if candidates is not None:
            items = [_item(candidate, self.items) for candidate in candidates]
        if numbers is not None:
            rows = numbers.tolist()
            columns["observations"] = [rows[item][0] for item in items]
            columns["rewards"] = [rows[item][1] for item in items]
        return table({"item": list(items), **columns})

    def _can_predict(self) -> bool:
        return next(bool(entry["can_predict"]) for entry in _core.catalogue()
                    if entry["name"] == self.kind)


def _item(candidate: Any, items: int) -> int:
    """The number of an item, which must be one of them."""
    if not 0 <= candidate < items or candidate != int(candidate):
        raise IndexError(f"candidate {candidate!r}: the items are 0 to {items - 1}")
    return int(candidate)


_DOC = """A policy: it ranks items, learns from clicks, and ranks them better.

    kind    the name of the algorithm, like "gts"; all of them are listed below
    items   the number of items; items are the numbers from 0 to items - 1
    dim     the number of features of an item, for kinds that rank by features
    prior   the belief before the first click, each part a number or one number per item:
            (mean, sd), {"mean": .., "sd": ..} or {"a": .., "b": ..} of a Beta distribution.
            All of it is used; {"mean": .., "sd": .., "take": "mean"} uses the means only, as the
            parameter `prior` of the kind says.  A text sets that parameter alone.
    seed    of the random numbers.  A list depends on what was learned, on the seed and on the
            number of the round, and on nothing else: a run can be repeated to the same bits.
    params  the parameters of the kind by name, listed below; lambda_ is the parameter lambda, a
            name that Python does not allow

One round is rank(), a user, learn():

>>> import oltr
>>> policy = oltr.Policy("gts", 30, seed=7)
>>> ranking = policy.rank(3)
>>> ranking
Ranking([16, 29, 13], round=1, seed=7)
>>> policy.learn(ranking, [0, 1])      # two slots were examined, the second was clicked
>>> mean, sd = policy.predict()
>>> round(float(mean[29]), 3)
0.8

A call that is refused raises oltr.Error, with a sentence that says what is wrong (TypeError or
ValueError where an argument has the wrong type or shape), and changes nothing:

>>> policy.rank(31)
Traceback (most recent call last):
    ...
oltr.Error: a list of 31 slots cannot be filled from 30 candidates

With features, one row for each candidate (numpy arrays of float32 are used without a copy):

>>> policy = oltr.Policy("lints", 3, dim=2)
>>> policy.learn(policy.rank(2, x=[[1, 0], [0, 1], [1, 1]]), [1, 0])

One policy may be used from several threads: any number may rank at once, and a call that changes
it waits for them.  Calls that take long, and all batches, let other threads run.

A copy, by copy() or by pickle, goes on to the same bits: seed and round are in it.  save() writes
what was learned in the format of the engine, which programs in C read too.

Kinds and their parameters
--------------------------
"""

Policy.__doc__ = _DOC + kinds_text() + "\n"
Policy.__module__ = "oltr"  # where users import it from, and what pickle writes

load = Policy.load
