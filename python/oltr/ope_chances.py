"""The chances of a model for the lists of a log: oltr.ope.chances()."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from . import _core
from .model import Model
from .refusal import refusal


@dataclass(frozen=True, repr=False, eq=False)
class Chances:
    """How likely a policy is to show each list of a log; goes into estimate() as it is.

    prefix   (n, k) that a list begins with the items down to this slot
    slot     (n, k) that this item is in this slot, or None
    q, v     (n, k) predicted rewards, or None
    match    (n) whether a list that the model drew is the one that was shown, or None
    lengths  slots of each list; numbers behind them are 0
    """

    prefix: Any
    slot: Any
    q: Any
    v: Any
    match: Any
    lengths: list[int]

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        there = [name for name in ("slot", "q", "v", "match") if getattr(self, name) is not None]
        return f"Chances of {len(self):,} lists: {', '.join(['prefix', *there])}"


def _name_bytes(name: Any) -> Any:
    return name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name


class _Sets:
    """The distinct sets of candidates, and which of them each list was made of."""

    def __init__(self) -> None:
        self.sets: list[tuple[Any, Any]] = []
        self.places: list[dict[Any, int] | None] = []  # of names; None: numbers of rows
        self.set_of: list[int] = []
        self._known: dict[Any, int] = {}

    def add(self, items: Any, x: Any) -> None:
        """The candidates of the next list."""
        names = None if items is None else tuple(items)
        at = self._known.get(names) if x is None else None
        if at is None:
            at = len(self.sets)
            self.sets.append((names, x))
            self.places.append(None if names is None else
                               {_name_bytes(name): place for place, name in enumerate(names)})
            if x is None:
                self._known[names] = at
        self.set_of.append(at)

    def add_all(self, n: int, items: Any) -> None:
        """One set for n lists."""
        self.add(items, None)
        self.set_of *= n

    def find(self, number: int, shown: Sequence[Any]) -> list[int]:
        """The places of what list `number` shows."""
        at = self.places[self.set_of[number]]
        if at is None:
            return list(shown)
        try:
            return [at[_name_bytes(name)] for name in shown]
        except (KeyError, TypeError) as missing:
            raise refusal("EITEM", f"list {number}: {missing} was shown and is no candidate"
                          ) from None


def _is_one_list(candidates: Sequence[Any]) -> bool:
    return not candidates or isinstance(candidates[0], (str, bytes))


def _sets_of(model: Model, n: int, candidates: Any, x: Any) -> _Sets:
    sets = _Sets()
    if candidates is not None and not isinstance(candidates, (list, tuple)):
        candidates = list(candidates)
    if x is None and (candidates is None or _is_one_list(candidates)):
        sets.add_all(n, model.names() if candidates is None else candidates)
        return sets
    for name, given in (("candidates", candidates), ("x", x)):
        if given is not None and len(given) != n:
            raise ValueError(f"{name} must have an entry for each of the {n} lists, not {len(given)}")
    for number in range(n):
        sets.add(None if candidates is None else candidates[number],
                 None if x is None else x[number])
    return sets


def _rates(places: list[list[int]], rewards: Any, sets: _Sets, lengths: list[int], folds: int,
           strength: float) -> tuple[Any, list[int]]:
    """Predictions by lists of other folds, and the fold of each list."""
    if len(sets.sets) != 1 or sets.sets[0][1] is not None:
        raise refusal("EUNSUPPORTED", "rewards are predicted where all lists have the same "
                      "candidates with names; give q and v to estimate() yourself")
    rows = [[float(value) for value in row] for row in rewards]
    if [len(row) for row in rows] != lengths:
        most = max(lengths)
        if any(len(row) not in (length, most) for row, length in zip(rows, lengths)) or len(
                rows) != len(lengths):
            raise ValueError("rewards must have a number for each slot of each list")
    table = [row + [0.0] * (max(lengths) - len(row)) for row in rows]
    fold_of = [number % folds for number in range(len(places))]
    return _core.ope_rates(table, places, len(sets.sets[0][0]), fold_of, folds, strength,
                           lengths), fold_of


def chances(
    model: Model,
    shown: Iterable[Sequence[Any]],
    candidates: Any = None,
    *,
    x: Any = None,
    rewards: Any = None,
    folds: int = 5,
    strength: float = 20.0,
    slots: bool = False,
    match: bool = False,
    greedy: bool = False,
    draws: int = 0,
    seed: int = 0,
) -> Chances:
    """How likely the model is to show the lists of a log, as it is now.

    shown       the lists: names, best first, as model.rank() gives them
    candidates  what could be shown: names for all lists, or for each list its names; None: all items
    x           of a model with features, the rows of the candidates of each list; shown has numbers
                of rows where there are no candidates with names
    slots       also the chances of items in slots, for iips and sniips
    match       also whether one list that is drawn is the one that was shown, for replay
    rewards     also predicted rewards q and v for dr and dm, from the means of items in slots.  Lists
                are predicted by those of other folds, and means drawn towards that of all lists as
                if `strength` observations had it.  Needs the same candidates for all lists.
    greedy      of the policy that ranks by the mean of the belief, without drawing
    draws       0: exactly, for kinds without features except ts-cascade, pbm-ts and
                epsilon-greedy.  Above 0: shares of so many lists, drawn by the seed; adds variance
                and no bias

    The model may learn meanwhile: its state at the call counts.  Works without the GIL, and ends at
    Ctrl-C.
    """
    if not isinstance(model, Model):
        raise TypeError(f"model must be an oltr.Model or a store, not {model!r}")
    lists = [list(one) for one in shown]
    if not lists:
        raise ValueError("shown must have at least one list")
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise ValueError(f"folds must be a whole number from 2 on, not {folds!r}")
    sets = _sets_of(model, len(lists), candidates, x)
    places = [sets.find(number, one) for number, one in enumerate(lists)]
    lengths = [len(one) for one in places]
    most = max(lengths)
    places = [one + [0] * (most - len(one)) for one in places]
    rates, fold_of = None, None
    if rewards is not None:
        rates, fold_of = _rates(places, rewards, sets, lengths, folds, strength)
    numbers = model._ope_chances(
        places, lengths, tuple(sets.sets), sets.set_of, rates, fold_of, slots, match, greedy, draws,
        seed,
    )  # fmt: skip
    return Chances(*numbers, lengths)
