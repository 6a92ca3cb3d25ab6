"""Off-policy evaluation: what would another policy have earned on this log?

A log has n lists of up to k slots, the reward of each slot, and how likely the logging policy was
to show what it showed.  The policy that is evaluated enters by the same chances:

>>> from oltr import ope
>>> rewards = [[1, 0], [0, 0], [0, 1], [1, 0]]
>>> logged = [[0.5, 0.25], [0.5, 0.25], [0.4, 0.2], [0.5, 0.25]]      # of the lists that were shown
>>> evaluated = [[0.8, 0.4], [0.2, 0.1], [0.2, 0.1], [0.8, 0.4]]      # of the same lists
>>> ope.estimate(rewards, logged, evaluated, estimator="rips").value
0.925

The value of a policy is the mean, over lists, of the sum of the rewards of a list.  The chances of
a model are those of chances(model, lists).
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from . import _core
from .frames import table
from .ope_chances import Chances, chances
from .refusal import refusal

__all__ = [
    "ESTIMATORS",
    "Chances",
    "Comparison",
    "Result",
    "chances",
    "compare",
    "estimate",
    "estimate_rows",
]

ESTIMATORS: tuple[str, ...] = _core.ope_estimators()

_TABLES = ("logged", "evaluated", "logged_slot", "evaluated_slot", "q", "v")
_PREFIX, _SLOT = ("logged", "evaluated"), ("logged_slot", "evaluated_slot")
_NEEDED = {
    "sips": _PREFIX,
    "snsips": _PREFIX,
    "rips": _PREFIX,
    "snrips": _PREFIX,
    "iips": _SLOT,
    "sniips": _SLOT,
    "dr": (*_PREFIX, "q", "v"),
    "dm": ("v",),
    "replay": ("match",),
}
_FROM_CHANCES = {
    "logged_slot": "slots=True",
    "evaluated_slot": "slots=True",
    "q": "rewards=rewards",
    "v": "rewards=rewards",
    "match": "match=True",
}


def _percent(share: float) -> str:
    return f"{100 * share:.6g} %"


@dataclass(frozen=True, repr=False)
class Result:
    """An estimate with its interval, and what is known about its weights.

    value       nan where no list has any weight: there is nothing to estimate from
    se          the standard error; of ratios by the delta method
    low, high   the interval of this confidence
    ess         effective number of lists: (sum of weights)^2 / sum of their squares
    mean_weight its expectation is 1
    largest     weight, and largest_share, its share of the sum of weights
    zero_share  the share of lists of weight 0
    slot        from 1, that the weights are of, the one with the least ess; None: whole lists
    n           lists
    warning     sentences; "" if there is nothing to say

    Of dm, which has no weights, the numbers about weights are nan.
    """

    estimator: str
    value: float
    se: float
    low: float
    high: float
    confidence: float
    interval: str
    ess: float
    mean_weight: float
    largest: float
    largest_share: float
    zero_share: float
    slot: int | None
    n: int
    warning: str

    def __repr__(self) -> str:
        lines = [
            f"{self.estimator}: {self.value:.4g} ± {self.se:.2g}, {_percent(self.confidence)} "
            f"{self.interval} interval {self.low:.4g} to {self.high:.4g}",
            f"{self.n:,} lists" + self._weights_text(),
        ]
        return "\n".join([*lines, *([f"Warning: {self.warning}"] if self.warning else [])])

    def _weights_text(self) -> str:
        if self.estimator == "dm":
            return ""
        slot = "" if self.slot is None else f" of slot {self.slot}"
        return f"; weights{slot}: effective {self.ess:,.4g}, mean {self.mean_weight:.4g}"

    def frame(self) -> Any:
        """A DataFrame with one row; without pandas a list with one dict."""
        return table({name: [value] for name, value in asdict(self).items()})


# ---- one estimate


def _is_ragged(rows: Any) -> bool:
    """A list of rows of different lengths."""
    if not isinstance(rows, (list, tuple)) or not rows:
        return False
    return all(hasattr(row, "__len__") for row in rows) and len({len(row) for row in rows}) > 1


def _pad(name: str, rows: Any, lengths: Sequence[int]) -> Any:
    """Rows of these lengths as a table; numbers behind the end of a list are not read."""
    if not isinstance(rows, (list, tuple)) or not all(hasattr(row, "__len__") for row in rows):
        return rows  # a table, or one number for each list
    if [len(row) for row in rows] != list(lengths):
        raise ValueError(f"the rows of {name} have other lengths than the lists")
    most = max(lengths)
    return [[*row, *[0.0] * (most - len(row))] for row in rows]


def _check_needs(estimator: str, given: Mapping[str, Any]) -> None:
    missing = [name for name in _NEEDED.get(estimator, ()) if given.get(name) is None]
    if missing:
        how = [_FROM_CHANCES[name] for name in missing if name in _FROM_CHANCES][:1]
        hint = f" (of a model: chances(..., {how[0]}))" if how else ""
        raise refusal("EINVAL", f"{estimator} needs {' and '.join(missing)}{hint}")
    if estimator in _NEEDED and estimator != "dm" and given.get("rewards") is None:
        raise refusal("EINVAL", f"{estimator} needs the rewards")


def _unpack(given: dict[str, Any]) -> None:
    """Puts the arrays of Chances into the arguments that they are for; those given win."""
    logged, evaluated = given["logged"], given["evaluated"]
    if isinstance(logged, Chances):
        given["logged"] = logged.prefix
        _fill(given, "logged_slot", logged.slot)
        _fill(given, "lengths", logged.lengths)
    if isinstance(evaluated, Chances):
        given["evaluated"] = evaluated.prefix
        _fill(given, "evaluated_slot", evaluated.slot)
        for name in ("q", "v", "match", "lengths"):
            _fill(given, name, getattr(evaluated, name))


def _fill(given: dict[str, Any], name: str, value: Any) -> None:
    if given[name] is None:
        given[name] = value


def estimate(
    rewards: Any,
    logged: Any = None,
    evaluated: Any = None,
    *,
    estimator: str = "sips",
    logged_slot: Any = None,
    evaluated_slot: Any = None,
    q: Any = None,
    v: Any = None,
    match: Any = None,
    lengths: Any = None,
    logs: bool = False,
    interval: str = "bootstrap",
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    bound: float = 0,
) -> Result:
    """Estimate the value of the evaluated policy from the log of another.

    Tables have a row for each list and a column for each slot; lists with one slot may be given as
    one dimension.  They are arrays of numpy or pandas, or lists.  float64 arrays are read in place.

    rewards         of each slot; a click is 1.  None for dm.
    logged          chances that a list of the logging policy begins with the items down to this
                    slot, as model.list_propensity() gives them; for sips and snsips also one number
                    for each list; or what chances() returns
    evaluated       the same chances of the evaluated policy, of the same lists
    logged_slot     for iips and sniips: chances that this item is in this slot
    evaluated_slot  the same of the evaluated policy
    estimator       sips     weights whole lists; right under any click model
                    rips     if a reward does not depend on the slots below it
                    iips     if a reward depends on its item and its slot only
                    snsips, snrips, sniips  divided by the mean weight: less variance, small bias
                    dr       rips with a model of rewards: q, v
                    dm       the model of rewards alone: v
                    replay   the mean of the lists with match
    q, v            q: predicted rewards from this slot on, given the items down to it; v: the
                    expectation of q when the evaluated policy chooses the item of this slot
    match           for replay: whether the evaluated policy shows this list too
    lengths         slots of each list; numbers behind them are not read.  Lists of lists may also
                    have rows of different lengths.
    logs            the chances are natural logarithms
    interval        "bootstrap", "normal" or "bernstein", of this confidence
    resamples, seed of the bootstrap
    bound           for bernstein: the largest minus the smallest term that a list can have; 0: those
                    of this log, which makes the interval an approximation

    Long work is done without the GIL and ends at Ctrl-C; arrays must not be written to meanwhile.
    Raises oltr.Error for numbers that cannot be, with their list (from 0) and slot (from 1).
    """
    given = {"logged": logged, "evaluated": evaluated, "logged_slot": logged_slot,
             "evaluated_slot": evaluated_slot, "q": q, "v": v, "match": match, "lengths": lengths}
    _unpack(given)
    _check_needs(estimator, {**given, "rewards": rewards})
    tables = {name: given[name] for name in _TABLES}
    match, lengths = given["match"], given["lengths"]
    if _is_ragged(rewards) and (lengths is None or isinstance(lengths, list)):
        lengths = [len(row) for row in rewards] if lengths is None else lengths
        rewards = _pad("rewards", rewards, lengths)
        tables = {name: _pad(name, rows, lengths) for name, rows in tables.items()}
    *numbers, slot, n, warning = _core.ope_estimate(
        estimator, rewards, **tables, match=match, lengths=lengths, logs=logs, interval=interval,
        confidence=confidence, resamples=resamples, seed=seed, bound=bound,
    )  # fmt: skip
    value, se, low, high, *weights = numbers
    return Result(
        estimator, value, se, low, high, float(confidence), interval, *weights, slot or None, n,
        warning,
    )  # fmt: skip


def _require_columns(frame: Any, columns: Mapping[str, str]) -> None:
    """A sentence for a column that is missing: the argument that names it is the key."""
    for argument, name in columns.items():
        if name not in frame:
            raise KeyError(f"the frame has no column {name}; name the right one by {argument}=...")


def _row_chances(frame: Any, evaluated: Any, item: str, position: str) -> Any:
    """One chance for each row, from a table of items and positions."""
    import numpy

    chances = numpy.asarray(evaluated, dtype=float)
    if chances.ndim == 1:
        return chances
    _require_columns(frame, {"item": item, "position": position})
    items, places = numpy.asarray(frame[item]), numpy.asarray(frame[position])
    if not numpy.issubdtype(items.dtype, numpy.integer):
        raise TypeError(f"the column {item} must have whole numbers, as rows of evaluated")
    known, column = numpy.unique(places, return_inverse=True)
    if chances.ndim != 2 or chances.shape[1] != len(known):
        raise ValueError(f"evaluated has the shape {chances.shape}, and there are {len(known)} "
                         f"positions: give (items, {len(known)}), or one chance for each row")
    if len(items) and not 0 <= items.min() <= items.max() < len(chances):
        raise ValueError(f"there are items from {items.min()} to {items.max()}, and evaluated has "
                         f"{len(chances)} rows")
    return chances[items, column]


def estimate_rows(
    frame: Any,
    evaluated: Any,
    *,
    estimator: str = "iips",
    reward: str = "click",
    propensity: str = "propensity_score",
    item: str = "item_id",
    position: str = "position",
    **options: Any,
) -> Result:
    """Estimate from rows of one item and one position each, as in the CSV of the Open Bandit data.

    frame        a DataFrame with the columns reward and propensity
    evaluated    a chance for each row: that the evaluated policy shows this item at this position;
                 or a table (items, positions), read by the columns item (from 0) and position
                 (columns of the table are the positions in rising order)
    estimator    iips or sniips: the rows do not say which of them are one list
    options      interval, confidence, resamples, seed, bound, logs: as of estimate()

    The value is the reward of one row; times the number of positions, that of a list.  Rows count
    as independent, so the interval is too narrow where clicks of one list belong together.
    """
    if estimator not in ("iips", "sniips"):
        raise refusal("EVALUE", f"rows without lists have no {estimator}; take iips or sniips")
    _require_columns(frame, {"reward": reward, "propensity": propensity})
    chances = _row_chances(frame, evaluated, item, position)
    return estimate(
        frame[reward], estimator=estimator, logged_slot=frame[propensity], evaluated_slot=chances,
        **options,
    )  # fmt: skip


# ---- several


class Comparison:
    """Several estimates side by side: results, frame(), plot()."""

    def __init__(self, results: Sequence[tuple[str, Result]]) -> None:
        self.results = list(results)  # pairs of a name and a Result

    def __len__(self) -> int:
        return len(self.results)

    def frame(self) -> Any:
        """A DataFrame with a row for each estimate; without pandas a list of dicts."""
        rows = [{"policy": name, **asdict(result)} for name, result in self.results]
        return table({column: [row[column] for row in rows] for column in rows[0]})

    def _cells(self) -> list[list[str]]:
        rows = [["policy", "estimator", "value", "se", "low", "high", "effective"]]
        for name, r in self.results:
            numbers = [f"{x:.4g}" for x in (r.value, r.se, r.low, r.high)]
            rows.append([name, r.estimator, *numbers, f"{r.ess:,.4g}" + " !" * bool(r.warning)])
        return rows

    def _warnings(self) -> list[str]:
        return [
            f"! {name}, {result.estimator}: {result.warning}"
            for name, result in self.results
            if result.warning
        ]

    def __repr__(self) -> str:
        rows = self._cells()
        wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = []
        for row in rows:
            cells = [text.ljust(w) if i < 2 else text.rjust(w)
                     for i, (text, w) in enumerate(zip(row, wide))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, *self._warnings()])

    def _repr_html_(self) -> str:
        """The table in a notebook."""
        head, *body = [[html.escape(text) for text in row] for row in self._cells()]
        cells = ["".join(f"<td>{text}</td>" for text in row) for row in body]
        notes = "".join(f"<p>{html.escape(line)}</p>" for line in self._warnings())
        return (
            f"<table><thead><tr>{''.join(f'<th>{text}</th>' for text in head)}</tr></thead>"
            f"<tbody>{''.join(f'<tr>{row}</tr>' for row in cells)}</tbody></table>{notes}"
        )

    def plot(self, ax: Any = None, *, title: str | None = None, reference: Any = None) -> Any:
        """Draw the estimates with their intervals, one below the other, with matplotlib.

        ax: axes to draw into; without, a new figure.
        reference: a value for a vertical line, such as the measured reward of the logging policy;
        or a pair of it and its name.
        Estimates with a warning are hollow.  Returns the axes.
        """
        from .ope_plot import draw

        return draw(self, ax, title, reference)


def _estimates_of(entry: Any, estimators: Sequence[str], common: Mapping[str, Any]) -> list[Result]:
    if isinstance(entry, Result):
        return [entry]
    if isinstance(entry, (list, tuple)) and entry and all(isinstance(r, Result) for r in entry):
        return list(entry)
    own = dict(entry) if isinstance(entry, Mapping) else {"evaluated": entry}
    chosen = [own.pop("estimator")] if "estimator" in own else estimators
    return [estimate(**{"rewards": None, **common, **own, "estimator": name}) for name in chosen]


def compare(
    policies: Mapping[str, Any],
    rewards: Any = None,
    logged: Any = None,
    *,
    estimators: Sequence[str] | str = ("sips",),
    **common: Any,
) -> Comparison:
    """Estimate several policies on one log, or one policy by several estimators.

    policies: for each name its table `evaluated`, or a dict of arguments of estimate(), or a Result
    that is there already, or a list of them.  rewards, logged and further arguments of estimate()
    are those of all of them.  Every policy is estimated by each of the estimators.

    The largest of many estimates is too large on average: evaluate the winner on another log.
    """
    if not isinstance(policies, Mapping) or not policies:
        raise TypeError("policies must be a dict: names, and what is known of each policy")
    chosen = [estimators] if isinstance(estimators, str) else list(estimators)
    common = {"rewards": rewards, "logged": logged, **common}
    results = []
    for name, entry in policies.items():
        results += [(str(name), result) for result in _estimates_of(entry, chosen, common)]
    if not results:
        raise ValueError("estimators must name at least one of " + ", ".join(ESTIMATORS))
    return Comparison(results)
