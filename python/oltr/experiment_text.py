"""The description of an experiment as text for the engine: from a dict, a path or YAML.

The engine reads YAML, and JSON is YAML, so a dict is written as JSON.  Whatever JSON cannot hold is
refused here, by the path of its key; everything else is checked by the engine.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ._core import Error
from .refusal import refusal

_DEEPEST = 16  # levels of maps and lists that the engine reads
DICT_NAME = "experiment"  # what the engine calls a description without a file


class Description(NamedTuple):
    """What the engine parses."""

    name: str
    text: bytes
    is_dict: bool
    has_policies: bool


def _fault(path: str, words: str) -> Error:
    return refusal("EVALUE", f"{path}: {words}" if path else words)


def _child(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _number(value: Any, path: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise _fault(path, f"must be a finite number, not {value}")
    try:
        return repr(value)
    except ValueError:  # more digits than Python prints
        raise _fault(path, "is a number of thousands of digits") from None


def _string(value: str, path: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _fault(path, f"is not text that UTF-8 can hold: {value!r}") from None
    return json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy, and paths, as what Python itself has."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist") and not isinstance(value, (str, bytes)):
        return value.tolist()
    return value


def _map(value: Mapping[Any, Any], path: str, around: tuple[int, ...]) -> str:
    entries = []
    for key, entry in value.items():
        if not isinstance(key, str):
            raise _fault(path, f"keys must be text, not {key!r}")
        entries.append(f"{_string(key, path)}: {_json(entry, _child(path, key), around)}")
    return "{" + ", ".join(entries) + "}"


def _json(value: Any, path: str, around: tuple[int, ...] = ()) -> str:
    """JSON of a value; around: the ids of the maps and lists that it is in."""
    value = _plain(value)
    if isinstance(value, str):
        return _string(value, path)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _number(value, path)
    if value is None:
        raise _fault(path, "has no value (None); leave it out")
    if id(value) in around:
        raise _fault(path, "contains itself")
    around = (*around, id(value))
    if len(around) > _DEEPEST:
        raise _fault(path, f"is nested more than {_DEEPEST} levels deep")
    if isinstance(value, Mapping):
        return _map(value, path, around)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        parts = [_json(entry, f"{path}[{i}]", around) for i, entry in enumerate(value)]
        return "[" + ", ".join(parts) + "]"
    raise _fault(path, f"must be text, a number, a list or a map, not {type(value).__name__}")


def override_text(key: str, value: Any) -> str:
    """The value of an override, as it is written after `--set KEY=`."""
    value = _plain(value)
    return value if isinstance(value, str) else _json(value, key)


def _of_text(name: str, text: bytes) -> Description:
    found = re.search(rb"(^|[{,\s])[\"']?policies[\"']?\s*:", text, re.M)
    return Description(name, text, False, found is not None)


def describe(experiment: Any) -> Description:
    """A dict, a path, or YAML: text with a line break or a brace is YAML, any other is a path."""
    if isinstance(experiment, Mapping):
        text = _json(experiment, "").encode()
        return Description(DICT_NAME, text, True, "policies" in experiment)
    if isinstance(experiment, str) and ("\n" in experiment or "{" in experiment):
        try:
            return _of_text("yaml", experiment.encode())
        except UnicodeEncodeError:
            raise _fault("", "the text of the experiment is not text that UTF-8 can hold") from None
    if isinstance(experiment, (str, os.PathLike)):
        path = os.fspath(experiment)
        if isinstance(path, str) and "\0" not in path:
            return _of_text(path.encode(errors="replace").decode(), Path(path).read_bytes())
    raise TypeError(
        f"an experiment is a dict, the path of a YAML file or YAML text, not {experiment!r}"
    )
