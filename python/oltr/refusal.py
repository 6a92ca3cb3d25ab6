"""Exceptions of the Python part, with the codes of the engine."""

from __future__ import annotations

from ._core import Error


def refusal(code: str, sentence: str, kind: type[Error] = Error) -> Error:
    """An Error with this code, to be raised."""
    error = kind(sentence)
    error.code = code
    return error
