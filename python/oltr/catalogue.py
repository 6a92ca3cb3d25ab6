"""The catalogue of policies: what kinds there are, what each can do, its parameters.

Everything comes from the engine's own tables.
"""

from __future__ import annotations

import keyword
import textwrap
from typing import Any

from . import _core
from .frames import table


def policies(kind: str | None = None) -> Any:
    """The kinds of policies with what they can do, or the parameters of one kind.

    Returns a DataFrame, or without pandas a list of dicts.  A terminal cuts a wide table:
    print(oltr.policies()["title"].to_string()) shows one column, help(oltr.Policy) everything.

    >>> import oltr
    >>> oltr.policies().loc["lints", "title"]
    'Linear Thompson sampling (LinTS-LTR)'
    >>> oltr.policies("gts").loc["sigma", "default"]
    0.5
    """
    catalogue = _core.catalogue()
    if kind is None:
        names = [name for name in catalogue[0] if name != "params"]
        return table({name: [entry[name] for entry in catalogue] for name in names}, index="name")
    _core.check_kind(kind)
    params = next(entry["params"] for entry in catalogue if entry["name"] == kind)
    names = ["name", "type", "default", "min", "max", "choices", "help"]
    return table({name: _objects([param[name] for param in params]) for name in names},
                 index="name")


def _objects(values: list[Any]) -> Any:
    """A column whose entries keep their types: 3 stays an int beside 0.5."""
    try:
        import pandas
    except ImportError:
        return values
    return pandas.Series(values, dtype=object)


def _allowed(param: dict[str, Any]) -> str:
    """What a parameter may be, in words."""
    if param["type"] == "choice":
        names = [repr(choice) for choice in param["choices"]]
        return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    words = "a whole number" if param["type"] == "integer" else "a number"
    return f"{words} from {param['min']:g} to {param['max']:g}"


def _kind_text(entry: dict[str, Any]) -> str:
    """One kind: its name, summary and parameters."""
    notes = [entry["summary"]]
    if entry["contextual"]:
        notes.append("Needs dim and x.")
    lines = textwrap.wrap(" ".join(notes), 92, initial_indent="    ", subsequent_indent="    ")
    for param in entry["params"]:
        name = param["name"] + "_" * keyword.iskeyword(param["name"])
        text = f"{name}={param['default']!r}  {_allowed(param)}: {param['help']}"
        lines += textwrap.wrap(text, 92, initial_indent="      ", subsequent_indent="          ",
                               break_on_hyphens=False)
    return "\n".join([f"{entry['name']}: {entry['title']}", *lines])


def kinds_text() -> str:
    """All kinds with their parameters, for documentation."""
    return "\n".join(_kind_text(entry) for entry in _core.catalogue())
