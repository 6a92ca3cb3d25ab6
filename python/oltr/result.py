"""What an experiment has shown: oltr.Result."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

_PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_METRICS = ("ctr", "ndcg", "worst")
_SHAPES = {"web30k": "Web30K", "istella": "Istella"}

# The columns of the files of `oltr run`, without `sweep`, which comes first.
_COLUMNS = {
    "results": ("policy", "round", "regret", "regret_se", "reward", "replications"),
    "metrics": ("policy", "round", "metric", "mean", "se", "replications"),
    "pairs": ("round", "policy", "other", "difference", "difference_se", "replications"),
    "queries": ("query", "documents", "policy", "regret", "regret_se", "replications"),
}

# What a warning about saturated replications advises.
_NO_REWARD = (
    "No list has a reward: look at the click model (is a slot ever examined, does a click ever "
    "count?) and at the attractions"
)
_TOO_MUCH_REWARD = (
    "Take fewer slots, a world whose items differ more, or smaller attractions (like world.scale "
    "0.25)"
)


def plain_numbers(values: Iterable[str]) -> list[float] | None:
    """The values as numbers, or None where one is a word."""
    numbers = []
    for value in values:
        if not _PLAIN_NUMBER.fullmatch(value):
            return None
        number = float(value)
        whole = re.fullmatch(r"[+-]?\d+", value) is not None
        numbers.append(int(value) if whole else number)
    return numbers


def _field(text: str) -> str:
    """A field of a CSV file; quoted where it must be."""
    if any(character in text for character in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return _field(value)
    return f"{value:.9g}" if isinstance(value, float) else str(value)


class Result:
    """The outcome of oltr.run().

    frame, summary, pairs, metrics and queries are the tables that `oltr run` writes
    (docs/formats.md), as a DataFrame of pandas or, where pandas is not installed, as a list of
    dicts.  Each swept key is a column of its own.

        result = oltr.run("experiment.yaml")
        result.summary                   # the regret of each policy at the end
        result.plot()                    # curves with error bands, or regret over the sweep
        result.to_csv("out")             # the files of `oltr run`

    title, policies (labels), sweep_keys and points (a dict with rounds, slots, items, replications
    and the like for each swept value) describe what was run.
    """

    def __init__(self, outcome: Any, own_labels: Sequence[str]) -> None:
        about = outcome.about()
        self._outcome = outcome
        self.title: str = about["title"]
        self.policies: list[str] = about["policies"] + list(own_labels)
        self.sweep_keys: list[str] = about["sweep_keys"]
        self.points: list[dict[str, Any]] = about["points"]
        self._sweep_key: str | None = about["sweep_key"]

    # ---- rows

    def _rows(self, table: str) -> list[list[Any]]:
        """The rows of a table: the number of the point, then the columns of its file."""
        rows = []
        for row in self._outcome.rows(table).tolist():
            point = self.points[int(row[0])]
            replications = int(row[6])
            if table == "results":
                policy, at = self.policies[int(row[1])], point["checkpoints"][int(row[2])]
                cells = [policy, at, *row[3:6], replications]
            elif table == "metrics":
                policy, at = self.policies[int(row[1])], point["checkpoints"][int(row[2])]
                cells = [policy, at, _METRICS[int(row[3])], *row[4:6], replications]
            elif table == "pairs":
                names = [self.policies[int(row[2])], self.policies[int(row[3])]]
                cells = [point["checkpoints"][int(row[1])], *names, *row[4:6], replications]
            else:
                policy = self.policies[int(row[3])]
                query = point["queries"][int(row[1])]
                cells = [query, int(row[2]), policy, *row[4:6], replications]
            rows.append([int(row[0]), *cells])
        return rows

    def _last_rows(self) -> list[list[Any]]:
        """The rows of the last checkpoint, as in summary.csv."""
        last = [point["checkpoints"][-1] for point in self.points]
        return [row for row in self._rows("results") if row[2] == last[row[0]]]

    def _swept(self) -> list[tuple[Any, ...]]:
        """The swept values of each point, as numbers where all values of a key are numbers."""
        columns = []
        for key in range(len(self.sweep_keys)):
            values = [point["sweep_values"][key] for point in self.points]
            columns.append(plain_numbers(values) or values)
        return list(zip(*columns)) if columns else [()] * len(self.points)

    def _frame(self, table: str, rows: list[list[Any]]) -> Any:
        columns = _COLUMNS[table]
        keys = [key if key not in columns else f"sweep {key}" for key in self.sweep_keys]
        swept = self._swept()
        cells = [[*swept[row[0]], *row[1:]] for row in rows]
        names = [*keys, *columns]
        try:
            import pandas
        except ImportError:
            return [dict(zip(names, row)) for row in cells]
        return pandas.DataFrame(cells, columns=names)

    @cached_property
    def frame(self) -> Any:
        """Regret and reward of every policy at every checkpoint: results.csv."""
        return self._frame("results", self._rows("results"))

    @cached_property
    def summary(self) -> Any:
        """The rows of frame at the last checkpoint: summary.csv."""
        return self._frame("results", self._last_rows())

    @cached_property
    def pairs(self) -> Any:
        """The difference of regret between every two policies, replication by replication."""
        return self._frame("pairs", self._rows("pairs"))

    @cached_property
    def metrics(self) -> Any:
        """Click rate (ctr), NDCG (ndcg), largest regret (worst): every policy and checkpoint."""
        return self._frame("metrics", self._rows("metrics"))

    @cached_property
    def queries(self) -> Any:
        """The regret on each query of a dataset; empty for other worlds."""
        return self._frame("queries", self._rows("queries"))

    # ---- files

    def _csv(self, table: str, rows: list[list[Any]]) -> str:
        lines = [",".join(["sweep", *_COLUMNS[table]])]
        for row in rows:
            sweep = self.points[row[0]]["sweep"]
            lines.append(",".join([_field(sweep), *map(_cell, row[1:])]))
        return "\n".join(lines) + "\n"

    def to_csv(self, folder: str | os.PathLike[str]) -> None:
        """Write results.csv, summary.csv, pairs.csv, metrics.csv and, of a dataset, queries.csv.

        The bytes are those of `oltr run`.  The folder is made if it does not exist.
        """
        files = {
            "results.csv": self._csv("results", self._rows("results")),
            "summary.csv": self._csv("results", self._last_rows()),
            "pairs.csv": self._csv("pairs", self._rows("pairs")),
            "metrics.csv": self._csv("metrics", self._rows("metrics")),
        }
        queries = self._rows("queries")
        if queries:
            files["queries.csv"] = self._csv("queries", queries)
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (place / name).write_bytes(content.encode())

    # ---- for people

    @property
    def note(self) -> str | None:
        """One line about the data of a dataset; None for other worlds."""
        data = self.points[0]["data"]
        if data is None:
            return None
        queries, dim = data["queries"], data["dim"]
        what = f"({queries} quer{'y' if queries == 1 else 'ies'}, {dim} feature{'s' * (dim != 1)})"
        if data["folder"] is not None:
            return f"data of {data['folder']} {what}"
        shape = _SHAPES.get(data["shape"], data["shape"])
        return f"GENERATED data in the shape of {shape} {what}, not the real set"

    def _warnings(self) -> list[str]:
        """Results that say nothing about a policy must not look like those of a perfect one."""
        lines = []
        for number, point in enumerate(self.points):
            saturated, done = point["saturated"], point["replications"]
            if 2 * saturated <= done:
                continue
            nothing = all(row[5] <= 0 for row in self._last_rows() if row[0] == number)
            advice = _NO_REWARD if nothing else _TOO_MUCH_REWARD
            where = f"{self._sweep_key} = {point['sweep']}: " if self._sweep_key else ""
            lines.append(
                f"warning: {where}{saturated} of {done} replication"
                f"{' is' if done == 1 else 's are'} saturated: every list is as good as the best "
                f"one, so no policy can show regret.  {advice}."
            )
        return lines

    def _table_rows(self) -> list[tuple[str, str, str, str, str]]:
        """Swept value, policy, regret, standard error, nanoseconds of a round."""
        rows = []
        for number, row in enumerate(self._last_rows()):
            policy = number % len(self.policies)
            point = self.points[row[0]]
            rows.append(
                (
                    point["sweep"] if policy == 0 else "",
                    row[1],
                    f"{row[3]:.2f}",
                    f"{row[4]:.2f}",
                    f"{point['ns_per_round'][policy]:.0f}",
                )
            )
        return rows

    def table(self) -> str:
        """The table that `oltr run` prints: the regret of each policy at the end."""
        width = max(len(label) for label in [*self.policies, "policy"])
        key = self._sweep_key
        wide = max(len(text) for text in [key or "", *(p["sweep"] for p in self.points)]) + 2
        lines = [self.note] if self.note else []
        head = f"{'policy':<{width}}  {'regret':>10}   {'(se)':<8}  {'ns/round':>9}"
        lines.append(f"{key:<{wide}}{head}" if key else head)
        for sweep, policy, regret, se, ns in self._table_rows():
            line = f"{policy:<{width}}  {regret:>10} ± {se:<8}  {ns:>9}"
            lines.append(f"{sweep:<{wide}}{line}" if key else line)
        return "\n".join([*lines, *self._warnings()])

    def __repr__(self) -> str:
        first = self.points[0]
        rounds = f"{first['rounds']:,} rounds x {first['replications']:,} replications"
        return f"{self.title}: {rounds}\n{self.table()}"

    def _repr_html_(self) -> str:
        """The table in a notebook."""
        key = self._sweep_key
        names = [*([key] if key else []), "policy", "regret", "±", "ns/round"]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = []
        for row in self._table_rows():
            left = 2 if key else 1
            cells = row if key else row[1:]
            body.append(
                "<tr>"
                + "".join(
                    f"<td style='text-align:{'left' if i < left else 'right'}'>"
                    f"{html.escape(cell)}</td>"
                    for i, cell in enumerate(cells)
                )
                + "</tr>"
            )
        first = self.points[0]
        caption = (
            f"{html.escape(self.title)}: {first['rounds']:,} rounds, "
            f"{first['replications']:,} replications"
        )
        notes = [self.note] if self.note else []
        below = "".join(f"<p>{html.escape(line)}</p>" for line in [*notes, *self._warnings()])
        return (
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(body)}</tbody></table>{below}"
        )

    def plot(
        self,
        ax: Any = None,
        *,
        x: str | None = None,
        y: str = "regret",
        policies: Sequence[str] | str | None = None,
        rounds: int | None = None,
        bands: float = 1,
        logx: bool | None = None,
        logy: bool | None = None,
        title: str | None = None,
    ) -> Any:
        """Draw the result with matplotlib; returns the axes.

        ax: axes to draw into, which get a legend; without, a new figure.
        x: "round" or "sweep"; default: the sweep, if there is one.
        y: "regret", "ctr", "ndcg" or "worst".
        policies: the labels to draw; default: all.
        rounds: the last round to show.
        bands: half the height of the error bands in standard errors; 0: none.
        logx, logy: default: logarithmic where the values differ by more than a factor of 20, but
        not for rounds.
        title: default: that of the experiment.
        """
        from .result_plot import draw

        return draw(self, ax, x, y, policies, rounds, bands, logx, logy, title)
