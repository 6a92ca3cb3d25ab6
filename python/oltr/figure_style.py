"""The colour, dash and marker of a policy, the same as in the figures of the program.

src/report/figures/style.c has the rules and the reasons; a test compares the two.  Labels that the
project knows have a fixed style; "X (words)" and "X words" have a shade of the colour of X; others
get the first free colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Style(NamedTuple):
    """How a curve is drawn."""

    colour: str
    dash: tuple[int, ...]  # lengths of line and gap in turn; empty: solid
    point: int  # the number of a marker, as gnuplot counts them


_VERMILLION, _ORANGE, _PINK, _BLUE, _SKY = "#D55E00", "#E69F00", "#CC79A7", "#0072B2", "#56B4E9"
_GREEN, _INDIGO, _WINE, _OLIVE, _BROWN = "#009E73", "#332288", "#882255", "#999933", "#8C510A"
_BLACK, _GREY, _PALE, _VIOLET, _LILAC = "#222222", "#888888", "#AAAAAA", "#7B3294", "#B48CC8"
_CRIMSON, _ROSE = "#B0122B", "#EE6677"

_SOLID: tuple[int, ...] = ()
_DASHED, _DOTTED, _DASH_DOT, _SHORT = (12, 4), (3, 4), (12, 4, 2, 4), (6, 4)
_DASH_DOT_DOT = (12, 4, 2, 4, 2, 4)

_KNOWN = {
    "TS-Hyper": Style(_GREEN, _SOLID, 7),
    "GTS": Style(_VERMILLION, _SOLID, 5),
    "GTS-Pmean": Style(_ORANGE, _DASHED, 9),
    "GTS-P": Style(_PINK, _DASH_DOT, 11),
    "TS-Beta": Style(_BLUE, _SOLID, 13),
    "BayesUCB-Beta": Style(_SKY, _DASHED, 15),
    "TS-Cascade": Style(_GREY, _DASH_DOT, 8),
    "CascadeUCB1": Style(_INDIGO, _SOLID, 6),
    "CascadeKL-UCB": Style(_WINE, _DASHED, 4),
    "CascadeUCB-V": Style(_OLIVE, _DASH_DOT, 10),
    "TopRank": Style(_BROWN, _SHORT, 12),
    "Ensemble": Style(_BLACK, _DASH_DOT_DOT, 14),
    "Random": Style(_PALE, _DOTTED, 2),
    "Epsilon-greedy": Style(_OLIVE, _DASHED, 8),
    "GTS (released)": Style("#8A2C00", _DOTTED, 4),
    "GTS-Pmean (released)": Style("#C29A1C", _SHORT, 8),
    "GTS-P (released)": Style("#7A4964", (7, 3, 2, 3, 2, 3), 10),
    "LinTS-LTR": Style(_VIOLET, _SOLID, 6),
    "LinTS-Cascade": Style(_LILAC, _DASHED, 4),
    "CascadeLinTS": Style(_OLIVE, _DASH_DOT, 10),
    "LogTS-LTR": Style(_CRIMSON, _SOLID, 7),
    "LogTS-Newton": Style(_ROSE, _DASHED, 5),
    "C-LinUCB": Style(_BROWN, _SHORT, 12),
    "C-WOFUL": Style(_INDIGO, _DASH_DOT_DOT, 14),
    "[0, 1]": Style(_VERMILLION, _SOLID, 7),
    "[0, 1/4]": Style(_VERMILLION, _SHORT, 7),
    "[0, BetaVar]": Style(_VERMILLION, _DOTTED, 7),
    "[1/2, 1]": Style(_BLUE, _SOLID, 5),
    "[1/2, 1/4]": Style(_BLUE, _SHORT, 5),
    "[1/2, BetaVar]": Style(_BLUE, _DOTTED, 5),
    "[BetaMean, 1]": Style(_GREEN, _SOLID, 9),
    "[BetaMean, 1/4]": Style(_GREEN, _SHORT, 9),
    "[BetaMean, BetaVar]": Style(_GREEN, _DOTTED, 9),
    "TS-Hyper [BetaMean, BetaVar]": Style(_GREEN, _SOLID, 7),
    "TS-Hyper [BetaMean, 1/4]": Style("#00543D", _DASHED, 4),
    "TS-Hyper [1/2, 1/4]": Style("#40B596", _DASH_DOT, 6),
    "TS-Hyper [1/2, 1/80]": Style("#003526", _SHORT, 11),
    "TS-Hyper [1/20, 1/400]": Style("#7CCDB6", (18, 5), 13),
    "LogTS (logit)": Style(_CRIMSON, _SOLID, 7),
    "LogTS (probit)": Style("#6A0B1A", _DASHED, 5),
    "LogTS (cloglog)": Style(_ROSE, _DASH_DOT, 9),
    "GTS (sigma 0.5)": Style(_VERMILLION, _SOLID, 5),
    "Beta": Style(_BLUE, _SOLID, 13),
    "Gaussian (sigma 1)": Style(_WINE, _DASH_DOT, 4),
    "Gaussian (sigma 0.5)": Style(_VERMILLION, _DASHED, 7),
}

_FREE = (
    Style(_VERMILLION, _SOLID, 7),
    Style(_BLUE, _DASHED, 5),
    Style(_GREEN, _DASH_DOT, 9),
    Style(_ORANGE, _SHORT, 11),
    Style(_PINK, _DOTTED, 13),
    Style(_SKY, _SOLID, 15),
    Style(_INDIGO, _DASHED, 6),
    Style(_WINE, _DASH_DOT, 4),
    Style(_OLIVE, _SHORT, 8),
    Style(_BROWN, _DOTTED, 10),
    Style(_BLACK, _SOLID, 12),
    Style(_GREY, _DASH_DOT_DOT, 14),
    Style(_VIOLET, _DASHED, 7),
    Style(_CRIMSON, _SHORT, 5),
    Style(_ROSE, _DASH_DOT, 9),
    Style(_LILAC, _SOLID, 11),
)

# Variant number i has the share LEVELS[i] of the way to black (below 0) or to white.
_LEVELS = (-0.40, 0.28, -0.62, -0.22, 0.14, -0.50, 0.40)
_DASHES = (_DOTTED, _SHORT, _DASH_DOT, (18, 5), _DASH_DOT_DOT, (4, 2))
_MOST_VARIANTS = len(_LEVELS) * len(_DASHES)

_VARIANTS = (
    "released", "bayes", "literal", "sigma 0.3", "stale", "no prior", "sigma 1/16", "theory",
    "sigma 1", "sigma 0.25", "sigma 0.35", "sigma 0.5", "shared", "sigma 0.15", "0.01",
    "lambda 0.01", "lambda 0.1", "lambda 1", "S 10", "S 0.1", "no prior, shared", "sd 1/4",
    "sd 1/4 (sigma 0.3)",
)  # fmt: skip


def _base(label: str) -> tuple[Style | None, str]:
    """The style of X for "X (words)" or "X words", X as long as possible, and the words."""
    found, words = None, ""
    for at, character in enumerate(label):
        if character == " " and label[:at] in _KNOWN:
            found, words = _KNOWN[label[:at]], label[at + 1 :]
    return found, words


def _fixed_variant(words: str) -> int | None:
    for number, known in enumerate(_VARIANTS):
        if words in (known, f"({known})"):
            return number
    return None


def _variant(base: Style, number: int) -> Style:
    part = _LEVELS[number % len(_LEVELS)]
    mixed = []
    for at in (1, 3, 5):
        level = int(base.colour[at : at + 2], 16)
        mixed.append(int(level + ((255 - level) * part if part > 0 else level * part) + 0.5))
    dash = _DASHES[number % len(_DASHES)]
    return Style("#{:02X}{:02X}{:02X}".format(*mixed), dash, base.point + 1 + number)


def _fixed(label: str) -> Style | None:
    if label in _KNOWN:
        return _KNOWN[label]
    base, words = _base(label)
    number = _fixed_variant(words) if base else None
    return None if base is None or number is None else _variant(base, number)


def _free_variant(base: Style, taken: set[tuple[str, tuple[int, ...]]]) -> Style:
    number = len(_VARIANTS)
    found = _variant(base, number)
    while found[:2] in taken and number + 1 < len(_VARIANTS) + _MOST_VARIANTS:
        number += 1
        found = _variant(base, number)
    return found


def assign(labels: Sequence[str]) -> list[Style]:
    """The styles of the policies of one experiment, in its order."""
    styles: list[Style | None] = [_fixed(label) for label in labels]
    following = 0
    for i, label in enumerate(labels):
        if styles[i] is not None:
            continue
        base, _ = _base(label)
        if base is not None:
            styles[i] = _free_variant(base, {style[:2] for style in styles if style})
            continue
        colours = {style.colour for style in styles if style}
        while following < len(_FREE) and _FREE[following].colour in colours:
            following += 1
        style = _FREE[following % len(_FREE)]
        more = int(following >= len(_FREE))
        styles[i] = style._replace(point=style.point + more)
        following += 1
    return [style for style in styles if style is not None]


# Markers of gnuplot 1 to 15 in matplotlib; even numbers from 4 on are hollow.
_MARKERS = "+x*sso" + "o^^vvDDpp"


def marker(point: int) -> tuple[str, bool]:
    """The matplotlib marker of a point number, and whether it is filled."""
    number = (point - 1) % 15 + 1
    return _MARKERS[number - 1], number < 4 or number % 2 == 1
