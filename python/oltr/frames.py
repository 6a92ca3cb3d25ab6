"""Tables for people: a pandas DataFrame where pandas is installed, else a list of dicts."""

from __future__ import annotations

from typing import Any, Iterable, Mapping


def table(columns: Mapping[str, Iterable[Any]], index: str | None = None) -> Any:
    """A DataFrame of these columns, or a list with a dict for each row.

    index names the column that becomes the index of the DataFrame.
    """
    try:
        import pandas
    except ImportError:
        names = list(columns)
        lists = [_plain(column) for column in columns.values()]
        return [dict(zip(names, row)) for row in zip(*lists)]
    frame = pandas.DataFrame(dict(columns))
    return frame if index is None else frame.set_index(index)


def _plain(column: Iterable[Any]) -> list[Any]:
    """The numbers of an array, a memoryview or a list as Python objects."""
    return list(column.tolist() if hasattr(column, "tolist") else column)
