"""Draws a Result with matplotlib, in the look of the figures of the program.

src/report/figures has the rules: which axis is logarithmic, where it begins, what a curve is
called.  Names are beside the ends of the curves; where there are many, in a legend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .figure_style import Style, assign, marker

if TYPE_CHECKING:
    from .result import Result

_LOG_RANGE = 20  # largest over smallest value, above which an axis is logarithmic
_MOST_LABELS = 24  # curves with a name beside them
_Y_TITLES = {
    "regret": "cumulative regret",
    "ctr": "click rate (expected reward of a round)",
    "ndcg": "NDCG of the shown list",
    "worst": "largest cumulative regret of a replication",
}
_X_TITLES = {
    "world.misspecification": "misspecification c",
    "world.items": "items L",
    "slots": "slots K",
    "rounds": "rounds T",
}
_SWEPT_DASHES: tuple[tuple[int, ...], ...] = ((), (12, 4), (2, 3), (12, 4, 2, 4), (6, 4))


@dataclass
class Curve:
    """One line of the figure."""

    label: str
    style: Style
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    se: list[float] = field(default_factory=list)

    def add(self, x: float, y: float, se: float) -> None:
        self.x.append(x)
        self.y.append(y)
        self.se.append(se)


@dataclass
class Figure:
    """What is drawn: the options of plot(), and the curves."""

    result: Result
    x: str
    y: str
    policies: list[str]
    rounds: float
    bands: float
    curves: list[Curve] = field(default_factory=list)
    numeric: bool = False  # the swept values of the axis are numbers
    places: list[float] = field(default_factory=list)  # of each point on the axis of a sweep
    log_x: bool = False
    log_y: bool = False


# ---- curves


def _values(figure: Figure) -> list[tuple[int, str, int, float, float]]:
    """(point, policy, round, value, standard error) of what is drawn."""
    rows = figure.result._rows("results" if figure.y == "regret" else "metrics")
    if figure.y == "regret":
        return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]
    return [(row[0], row[1], row[2], row[4], row[5]) for row in rows if row[3] == figure.y]


def _swept_style(figure: Figure, style: Style, place: int) -> Style:
    """Several policies keep their colours and the value is the dash; one uses all colours."""
    if len(figure.policies) > 1:
        return style._replace(dash=_SWEPT_DASHES[place % len(_SWEPT_DASHES)])
    return assign([chr(ord("a") + i) for i in range(12)])[place % 12]


def _over_rounds(figure: Figure, styles: dict[str, Style]) -> list[Curve]:
    result = figure.result
    key = result._sweep_key
    curves = {}
    for policy in figure.policies:
        for at, number in enumerate(_order(figure)):
            style, label = styles[policy], policy
            if key:
                value = result.points[number]["sweep"]
                style = _swept_style(figure, style, at)
                label = f"{policy}, {value}" if len(figure.policies) > 1 else f"{key} = {value}"
            curves[number, policy] = Curve(label, style)
    for number, policy, at, value, se in _values(figure):
        if (number, policy) in curves and at <= figure.rounds:
            curves[number, policy].add(at, value, se)
    return list(curves.values())


def _second_label(figure: Figure, value: str) -> str:
    key = figure.result.sweep_keys[1]
    return f"{key.rsplit('.', 1)[-1]} = {value}"


def _over_sweep(figure: Figure, styles: dict[str, Style]) -> list[Curve]:
    """The last value of each policy over the first key; a curve for each value of the second."""
    result = figure.result
    points = result.points
    seconds = [""]
    if _has_two(figure):
        seconds = list(dict.fromkeys(point["sweep_values"][1] for point in points))
    curves = {}
    for policy in figure.policies:
        for at, second in enumerate(seconds):
            style, label = styles[policy], policy
            if _has_two(figure):
                style = _swept_style(figure, style, at)
                named = _second_label(figure, second)
                label = f"{policy}, {named}" if len(figure.policies) > 1 else named
            curves[policy, second] = Curve(label, style)
    last: dict[tuple[int, str], tuple[float, float]] = {}
    for number, policy, at, value, se in _values(figure):
        if at <= figure.rounds:
            last[number, policy] = (value, se)
    for number in _order(figure):
        second = points[number]["sweep_values"][1] if _has_two(figure) else ""
        for policy in figure.policies:
            if (number, policy) in last:
                curves[policy, second].add(figure.places[number], *last[number, policy])
    return list(curves.values())


def _has_two(figure: Figure) -> bool:
    return len(figure.result.sweep_keys) > 1


def _order(figure: Figure) -> list[int]:
    """The points in the order of the axis; words keep the order of the experiment."""
    numbers = list(range(len(figure.result.points)))
    return sorted(numbers, key=lambda number: figure.places[number])


def _place_points(figure: Figure) -> None:
    from .result import plain_numbers

    values = [(p["sweep_values"] or [""])[0] for p in figure.result.points]
    numbers = plain_numbers(values)
    figure.numeric = numbers is not None
    if numbers is not None:
        figure.places = [float(number) for number in numbers]
    else:
        words = list(dict.fromkeys(values))
        figure.places = [float(words.index(value)) for value in values]


def _make_curves(figure: Figure) -> None:
    result = figure.result
    styles = dict(zip(result.policies, assign(result.policies)))
    _place_points(figure)
    make = _over_sweep if figure.x == "sweep" else _over_rounds
    figure.curves = make(figure, styles)
    for curve in figure.curves:
        if not curve.x:
            raise ValueError(
                f"there is no {figure.y} of {curve.label!r} up to the last round of this figure"
            )
    figure.curves.sort(key=lambda curve: -curve.y[-1])


# ---- axes


def _positive(values: Sequence[float]) -> tuple[float, float]:
    above = [value for value in values if value > 0]
    return (min(above), max(above)) if above else (0.0, 0.0)


def _ranges(figure: Figure) -> tuple[float, float, float, float]:
    """The least and the largest x, and those of y with its bands."""
    xs = [x for curve in figure.curves for x in curve.x]
    ys: list[float] = []
    for curve in figure.curves:
        for y, se in zip(curve.y, curve.se):
            # a band that reaches down to zero must not stretch a logarithmic axis without end
            ys += [max(y - figure.bands * se, y / 3), y + figure.bands * se]
    return min(xs), max(xs), *_positive(ys)


def _choose_logs(figure: Figure, logx: bool | None, logy: bool | None) -> None:
    x_low, x_high, y_low, _ = _ranges(figure)
    sweep = figure.x == "sweep"
    compared = [y for curve in figure.curves for y in (curve.y if sweep else curve.y[-1:])]
    low, high = _positive(compared)
    wide_y = low > 0 and high > _LOG_RANGE * low
    wide_x = sweep and x_low > 0 and x_high > _LOG_RANGE * x_low
    figure.log_y = y_low > 0 and (wide_y if logy is None else logy)
    can_x = x_low > 0 and x_high > x_low and (not sweep or figure.numeric)
    figure.log_x = can_x and (wide_x if logx is None else logx)


def _set_y(figure: Figure, ax: Any) -> None:
    x_low, x_high, low, high = _ranges(figure)
    high = high if high > 0 else 1.0
    if figure.log_y:
        if not figure.log_x and figure.x == "round":  # the steep start would take up most of it
            later = [y for c in figure.curves for x, y in zip(c.x, c.y) if x >= x_high / 100]
            low = max(low, _positive(later)[0])
        ax.set_yscale("log")
        ax.set_ylim(low * 0.8, high * 1.25)
    elif figure.y in ("regret", "worst"):
        ax.set_ylim(0, high * 1.04)
    else:
        margin = max(0.04 * (high - low), 0.005)
        ax.set_ylim(low - margin, high + margin)


def _set_x(figure: Figure, ax: Any) -> None:
    low, high, _, _ = _ranges(figure)
    if figure.log_x:
        margin = (high / low) ** 0.04 if figure.x == "sweep" else 1.0
        ax.set_xscale("log")
        ax.set_xlim(low / margin, high * margin)
    elif figure.x == "sweep":
        margin = (high - low) * 0.04 if high > low else 0.5
        ax.set_xlim(low - margin, high + margin)
    else:
        ax.set_xlim(0, high)
    if figure.x == "sweep":
        _set_sweep_ticks(figure, ax)


def _set_sweep_ticks(figure: Figure, ax: Any) -> None:
    from matplotlib.ticker import NullLocator

    values = [point["sweep_values"][0] for point in figure.result.points]
    ticks = dict(zip(figure.places, values))
    if figure.numeric and len(ticks) > 12:
        return
    ax.set_xticks(list(ticks), [_short(value) for value in ticks.values()])
    ax.xaxis.set_minor_locator(NullLocator())


def _short(text: str) -> str:
    return text if len(text) <= 24 else text[:23] + "…"


def _grouped(value: float, _: Any = None) -> str:
    """10000 as 10,000."""
    return f"{value:,.12g}" if abs(value) >= 1000 else f"{value:.12g}"


def _format_ticks(figure: Figure, ax: Any) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes = [(ax.yaxis, figure.log_y, ax.get_ylim())]
    if figure.x == "round":
        axes.append((ax.xaxis, figure.log_x, ax.get_xlim()))
    for axis, log, (low, high) in axes:
        axis.set_major_formatter(FuncFormatter(_grouped))
        if log:
            few = high / low < 200
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
            axis.set_minor_formatter(NullFormatter())


def _titles(figure: Figure, ax: Any, title: str | None) -> None:
    result = figure.result
    if figure.x == "sweep":
        key = result.sweep_keys[0]
        ax.set_xlabel(_X_TITLES.get(key, key))
    else:
        ax.set_xlabel("round")
    ax.set_ylabel(_Y_TITLES[figure.y])
    name = result.title if title is None else title
    generated = result.points[0]["data"] and not result.points[0]["data"]["folder"]
    ax.set_title(f"{name} (generated data)" if generated else name, loc="center", pad=12)


# ---- drawing


def _draw_curve(figure: Figure, ax: Any, curve: Curve) -> None:
    style = curve.style
    dash: Any = "solid" if not style.dash else (0, tuple(0.42 * part for part in style.dash))
    look: dict[str, Any] = {"color": style.colour, "linewidth": 2, "linestyle": dash, "zorder": 3}
    if figure.x == "sweep":
        shape, filled = marker(style.point)
        look |= {"marker": shape, "markersize": 6.5, "markeredgewidth": 1.4}
        look["markerfacecolor"] = style.colour if filled else "white"
    line = ax.plot(curve.x, curve.y, label=curve.label, **look)[0]
    line.set_solid_capstyle("round")


def _draw_band(figure: Figure, ax: Any, curve: Curve) -> None:
    if not figure.bands:
        return
    low = [y - figure.bands * se for y, se in zip(curve.y, curve.se)]
    high = [y + figure.bands * se for y, se in zip(curve.y, curve.se)]
    if figure.x == "round":
        ax.fill_between(curve.x, low, high, color=curve.style.colour, alpha=0.2, linewidth=0)
    else:
        ax.vlines(curve.x, low, high, color=curve.style.colour, linewidth=1.2, zorder=2)


def _spread(places: list[float], gap: float, low: float, high: float) -> list[float]:
    """Ascending places, moved apart to the distance `gap` with the least sum of squared moves.

    With u_i = place_i - i gap the condition is that u rises, so neighbours that are out of order
    are pooled into their mean (pool adjacent violators), then clamped to [low, high].
    """
    room = high - low - gap * (len(places) - 1)
    if room < 0:
        step = (high - low) / (len(places) - 1)
        return [low + step * i for i in range(len(places))]
    pools: list[list[float]] = []  # sum, count
    for i, place in enumerate(places):
        pools.append([place - gap * i, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += count
    spread: list[float] = []
    for total, count in pools:
        level = min(max(total / count, low), low + room)
        spread += [level + gap * (len(spread) + i) for i in range(int(count))]
    return spread


def _end_height(figure: Figure, ax: Any, curve: Curve) -> float:
    """The end of a curve as a part of the height of the axes."""
    low, high = ax.get_ylim()
    y = curve.y[-1]
    if figure.log_y:
        part = math.log(max(y, low) / low) / math.log(high / low)
    else:
        part = (y - low) / (high - low)
    return min(max(part, 0.0), 1.0)


def _label_ends(figure: Figure, ax: Any) -> None:
    """The name of each curve right of its end, with a thin line to it."""
    size = ax.get_figure().get_size_inches()
    box = ax.get_position()
    tall, wide = box.height * size[1] * 72, box.width * size[0] * 72  # in points
    curves = list(reversed(figure.curves))
    heights = [_end_height(figure, ax, curve) for curve in curves]
    places = _spread(heights, 14 / tall, -0.04, 1.04)
    lead = 16 / wide
    for curve, height, place in zip(curves, heights, places):
        end = ax.transData.transform((curve.x[-1], ax.get_ylim()[0]))[0]
        start = ax.transAxes.inverted().transform((end, 0))[0]
        line = ax.plot([start, 1 + lead], [height, place], transform=ax.transAxes, clip_on=False)[0]
        line.set(color=curve.style.colour, linewidth=0.7, zorder=1)
        ax.text(
            1 + 1.3 * lead, place, curve.label, transform=ax.transAxes, va="center", fontsize=10,
            color=curve.style.colour,
        )  # fmt: skip


def _note(figure: Figure, ax: Any) -> None:
    """The meaning of the bands, small: a figure is often seen without its page."""
    points = figure.result.points
    words = []
    if figure.bands:
        plural = "" if figure.bands == 1 else "s"
        kind = "bands" if figure.x == "round" else "bars"
        text = f"{kind}: ± {figure.bands:g} standard error{plural}"
        queries = len(points[0]["queries"])
        words.append(text + (f" over {queries:,} queries" if queries else ""))
    replications = min(point["replications"] for point in points)
    words.append(f"{replications:,} replication{'' if replications == 1 else 's'}")
    ax.annotate(
        ", ".join(words), (1, 0), (0, -34), xycoords="axes fraction", textcoords="offset points",
        ha="right", va="top", fontsize=8, color="#777777",
    )  # fmt: skip


def look(ax: Any) -> None:
    """Spines, ticks and grid of all figures."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#555555")
    ax.tick_params(colors="#333333", which="both")
    ax.grid(True, which="major", color="#E4E4E4", linewidth=0.8)
    ax.set_axisbelow(True)


def _new_axes(curves: list[Curve]) -> Any:
    """Axes of a new figure, with room on the right for the longest name, and for all of them."""
    from matplotlib import pyplot

    names = (max(len(curve.label) for curve in curves) * 5.7 + 40) / 72  # inches
    width, height = max(9.6, 5.3 + names), max(5.4, min(0.2 * len(curves), 16))
    drawing, ax = pyplot.subplots(figsize=(width, height))
    right = 1 - names / width
    margins = {"top": 1 - 0.54 / height, "bottom": 0.76 / height}
    drawing.subplots_adjust(left=0.86 / width, right=right, **margins)
    return ax


def _legend(ax: Any, beside: bool) -> None:
    """Beside the axes in a figure of our own; axes of the caller may have no room there."""
    place = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)} if beside else {"loc": "best"}
    ax.legend(frameon=False, fontsize=9, handlelength=2.6, borderaxespad=0, **place)


# ---- the call


def _chosen(result: Result, x: str | None, y: str, policies: Any) -> tuple[str, list[str]]:
    x = x if x is not None else ("sweep" if result.sweep_keys else "round")
    if x not in ("round", "sweep") or (x == "sweep" and not result.sweep_keys):
        hint = "" if result.sweep_keys else "; this experiment has no sweep"
        raise ValueError(f"x must be 'round' or 'sweep', not {x!r}{hint}")
    if y not in _Y_TITLES:
        raise ValueError(f"y must be 'regret', 'ctr', 'ndcg' or 'worst', not {y!r}")
    chosen = [policies] if isinstance(policies, str) else list(policies or result.policies)
    for label in chosen:
        if label not in result.policies:
            raise ValueError(f"no policy is called {label!r}; there are {result.policies}")
    return x, chosen


def draw(
    result: Result,
    ax: Any,
    x: str | None,
    y: str,
    policies: Sequence[str] | str | None,
    rounds: int | None,
    bands: float,
    logx: bool | None,
    logy: bool | None,
    title: str | None,
) -> Any:
    """Result.plot(), which describes the arguments."""
    x, chosen = _chosen(result, x, y, policies)
    if not 0 <= bands < math.inf:
        raise ValueError(f"bands must be a number of standard errors, 0 or more, not {bands!r}")
    figure = Figure(result, x, y, chosen, math.inf if rounds is None else rounds, bands)
    _make_curves(figure)
    _choose_logs(figure, logx, logy)
    by_ends = len(figure.curves) <= _MOST_LABELS
    own = ax is None
    ax = _new_axes(figure.curves) if own else ax
    for curve in figure.curves:
        _draw_band(figure, ax, curve)
    for curve in figure.curves:
        _draw_curve(figure, ax, curve)
    look(ax)
    _set_y(figure, ax)
    _set_x(figure, ax)
    _format_ticks(figure, ax)
    _titles(figure, ax, title)
    if by_ends and own:
        _label_ends(figure, ax)
    else:
        _legend(ax, own)
    if own:
        _note(figure, ax)
    return ax
