"""What a run shows while it works: a bar of tqdm, or one line that is rewritten."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Progress:
    """How far a run is; what a progress callable gets.

    stage is "training" while the scorers behind a prior are trained, then "running".  done and
    total count replications (scorers while training), rounds the rounds of all policies that this
    call has played (passes over the data while training).  share is the part of the work that is
    done, from 0 to 1; seconds_left is an estimate, None as long as there is none.
    """

    stage: str
    done: int
    total: int
    rounds: int
    seconds: float
    share: float
    seconds_left: float | None

    @property
    def rate(self) -> float:
        """Rounds a second."""
        return self.rounds / self.seconds if self.seconds > 0 else 0.0

    def __str__(self) -> str:
        what = "scorers trained" if self.stage == "training" else "replications"
        words = [f"{self.done}/{self.total} {what}", f"ETA {_clock(self.seconds_left)}"]
        if self.stage == "running":
            words.append(_rate(self.rate))
        return "  ".join(words)


def _clock(seconds: float | None) -> str:
    if seconds is None or not 0 <= seconds <= 1e7:
        return "?"
    whole = math.ceil(seconds)
    minutes, rest = divmod(whole, 60)
    if whole < 3600:
        return f"{minutes}:{rest:02}"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _rate(rate: float) -> str:
    for unit in ("", "k", "M"):
        if rate < 1000:
            return f"{rate:.0f} rounds/s" if unit == "" else f"{rate:.3g}{unit} rounds/s"
        rate /= 1000
    return f"{rate:.3g}G rounds/s"


class _Bar:
    """A bar of tqdm; it counts hundredths of the work, because replications may be long."""

    def __init__(self, tqdm: Any) -> None:
        form = "{percentage:3.0f}%|{bar}| {desc}"
        self._bar = tqdm(total=100.0, bar_format=form, leave=False)

    def __call__(self, progress: Progress) -> None:
        self._bar.n = round(100 * progress.share, 1)
        self._bar.set_description_str(str(progress), refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _Line:
    """One line on stderr that is rewritten, and removed at the end."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        line = f"{100 * progress.share:3.0f}%  {progress}"
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class _Silent:
    def __call__(self, progress: Progress) -> None:
        pass

    def close(self) -> None:
        pass


class _Call:
    def __init__(self, function: Callable[[Progress], object]) -> None:
        self._function = function

    def __call__(self, progress: Progress) -> None:
        self._function(progress)

    def close(self) -> None:
        pass


def _is_watched() -> bool:
    """Is there a terminal or a notebook to show progress in?"""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    return terminal or "ipykernel" in sys.modules


def _bar() -> Any:
    """A bar where tqdm is installed, else a line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a notebook without widgets gets a bar of text
            from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Bar(tqdm)


def shower(progress: bool | Callable[[Progress], object] | None) -> Any:
    """What shows the progress of a run: an object to call with a Progress, and to close."""
    if progress is None:
        progress = _is_watched()
    if progress is True:
        return _bar()
    if progress is False:
        return _Silent()
    if not callable(progress):
        raise TypeError(f"progress must be True, False, None or a function, not {progress!r}")
    return _Call(progress)
