"""Judged documents: oltr.Dataset."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import _core


class Query(NamedTuple):
    """One query of a Dataset: its id, the grades of its documents, and their features."""

    id: int
    grade: Any
    x: Any


class Dataset:
    """Judged documents, read from LETOR or SVMlight text (plain or gzip) or from a saved file.

        data = oltr.Dataset("train.txt")
        data.x                        # (n_rows, dim) float32, not copied
        for query in data:            # query.id, query.grade, query.x
            ...

    lenient: bad lines are skipped and counted in report, not errors.  cache: a binary copy is kept
    beside the text, as PATH.oltr, and used while it belongs to it.  threads: how many read; 0: one
    for each processor.  most_features: a larger feature id is an error; 0 means 4096.

    The arrays are read-only views of the memory of the dataset, which lives as long as any of them:
    x (n_rows, dim) float32, grade (n_rows) uint8, query (n_queries) uint64, first_row
    (n_queries + 1) uint32.  Query q has the rows first_row[q] to first_row[q + 1] - 1.
    docs/formats.md has the format of the text.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        lenient: bool = False,
        cache: bool = False,
        threads: int = 0,
        most_features: int = 0,
    ) -> None:
        limits = (("threads", threads, 1024), ("most_features", most_features, 2**20))
        for name, number, most in limits:
            if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
                raise ValueError(f"{name} must be a whole number from 0 to {most}, not {number!r}")
        self._memory = _core.read_dataset(path, lenient, cache, threads, most_features)
        self.path = os.fspath(path)
        self.n_queries, self.n_rows, self.dim = self._memory.counts
        self.x: Any = self._memory.x
        self.grade: Any = self._memory.grade
        self.query: Any = self._memory.query
        self.first_row: Any = self._memory.first_row

    @property
    def report(self) -> dict[str, Any]:
        """What was read: lines, skipped, first_skipped_line, first_reason, clamped, duplicates."""
        return self._memory.report

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the binary form, which is read by mapping it."""
        self._memory.save(path)

    def __len__(self) -> int:
        return self.n_queries

    def __getitem__(self, index: int) -> Query:
        number = index.__index__()
        if number < 0:
            number += self.n_queries
        if not 0 <= number < self.n_queries:
            raise IndexError(f"query {index} of a dataset of {self.n_queries} queries")
        return Query(*self._memory.one(number))

    def __iter__(self) -> Iterator[Query]:
        for number in range(self.n_queries):
            yield Query(*self._memory.one(number))

    def __repr__(self) -> str:
        return (
            f"Dataset({self.path!r}): {self.n_queries:,} queries, {self.n_rows:,} documents, "
            f"{self.dim:,} features"
        )
