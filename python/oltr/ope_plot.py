"""Draws a Comparison with matplotlib: a point and an interval for each estimate, as a forest plot.

Colours and markers are those of the figures of experiments (figure_style.py).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .figure_style import Style, assign, marker
from .result_plot import look

if TYPE_CHECKING:
    from .ope import Comparison, Result

_ROW = 0.34  # inches
_GAP = 0.5  # between policies, in rows


def _places(comparison: Comparison) -> list[float]:
    """Heights from the top down; a gap where another policy begins."""
    places, at, before = [], 0.0, None
    for name, _ in comparison.results:
        at -= 0 if before is None else 1 if name == before else 1 + _GAP
        places.append(at)
        before = name
    several = len(comparison.results) > len({name for name, _ in comparison.results})
    return places if several else [-float(i) for i in range(len(places))]


def _draw_estimate(ax: Any, at: float, result: Result, style: Style) -> None:
    shape, _ = marker(style.point)
    face = "white" if result.warning else style.colour
    if math.isfinite(result.low) and math.isfinite(result.high):
        ax.hlines(at, result.low, result.high, color=style.colour, linewidth=2, zorder=2)
    if math.isfinite(result.value):
        ax.plot([result.value], [at], marker=shape, markersize=7, markeredgewidth=1.6, zorder=3,
                color=style.colour, markerfacecolor=face, linestyle="none")


def _labels(comparison: Comparison) -> list[str]:
    """The policy, and the estimator where there is more than one of them."""
    several = len({result.estimator for _, result in comparison.results}) > 1
    return [
        f"{name}, {result.estimator}" if several else name for name, result in comparison.results
    ]


def _note(comparison: Comparison) -> str:
    results = [result for _, result in comparison.results]
    kinds = sorted({f"{100 * r.confidence:.6g} % {r.interval}" for r in results})
    lists = sorted({f"{r.n:,}" for r in results})
    words = [f"intervals: {' and '.join(kinds)}", f"{' and '.join(lists)} lists"]
    if any(result.warning for result in results):
        words.append("hollow: read the warning")
    return ", ".join(words)


def _new_axes(labels: list[str], rows: float) -> Any:
    """Axes of a new figure, with room on the left for the longest name."""
    from matplotlib import pyplot

    left = max(0.6, (max(len(label) for label in labels) * 6.0 + 16) / 72)
    width, height = left + 6.4, 1.34 + _ROW * rows
    drawing, ax = pyplot.subplots(figsize=(width, height))
    margins = {"top": 1 - 0.48 / height, "bottom": 0.8 / height}
    drawing.subplots_adjust(left=left / width, right=1 - 0.3 / width, **margins)
    return ax


def _draw_reference(ax: Any, reference: Any) -> None:
    value, name = reference if isinstance(reference, (tuple, list)) else (reference, None)
    ax.axvline(float(value), color="#888888", linewidth=1.2, linestyle=(0, (5, 2)), zorder=1)
    if name is not None:
        ax.annotate(str(name), (float(value), 1), (4, -2), xycoords=("data", "axes fraction"),
                    textcoords="offset points", va="top", fontsize=9, color="#777777")


def draw(comparison: Comparison, ax: Any, title: str | None, reference: Any) -> Any:
    """Comparison.plot(), which describes the arguments."""
    policies = list(dict.fromkeys(name for name, _ in comparison.results))
    styles = dict(zip(policies, assign(policies)))
    places, labels = _places(comparison), _labels(comparison)
    own = ax is None
    ax = _new_axes(labels, 1 - places[-1]) if own else ax
    for at, (name, result) in zip(places, comparison.results):
        _draw_estimate(ax, at, result, styles[name])
    if reference is not None:
        _draw_reference(ax, reference)
    look(ax)
    ax.grid(False, axis="y")
    ax.set_yticks(places, labels)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(places[-1] - 0.7, places[0] + 0.7)
    ax.set_xlabel("reward of a list")
    ax.set_title("Off-policy estimates" if title is None else title, pad=10)
    if own:
        ax.annotate(
            _note(comparison), (1, 0), (0, -36), xycoords="axes fraction",
            textcoords="offset points", ha="right", va="top", fontsize=8, color="#777777",
        )  # fmt: skip
    return ax
