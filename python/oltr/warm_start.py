"""Which item lends its observations to which: Model.warm_start()."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from .refusal import refusal


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """The cosine distance, 0 to 2; infinite where a vector is zero."""
    if len(a) != len(b):
        raise refusal("EFEATURE", f"items have {len(a)} and {len(b)} features")
    lengths = math.hypot(*a) * math.hypot(*b)
    dot = math.fsum(x * y for x, y in zip(a, b))
    return 1 - dot / lengths if lengths > 0 else math.inf


def _quantile(values: Sequence[float], q: float) -> float:
    """By linear interpolation between the sorted values."""
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def closest(rows: list[list[float]], trained: list[bool], quantile: float) -> dict[int, int]:
    """For each item that is not trained the closest trained one, where that is close enough."""
    distance = [[_cosine(a, b) if a is not b else math.inf for b in rows] for a in rows]
    nearest = [min(row) for row in distance if min(row) < math.inf]
    threshold = _quantile(nearest, quantile) if nearest else -math.inf
    warm = [j for j, is_trained in enumerate(trained) if is_trained]
    taken = {}
    for i, is_trained in enumerate(trained):
        if not is_trained and warm:
            j = min(warm, key=distance[i].__getitem__)
            if distance[i][j] <= threshold:
                taken[i] = j
    return taken


_MOST_WEIGHT = 1e6  # of a slot in a lesson


def copied(name: str | bytes, n: float, total: float, clicks: bool) -> Iterator[dict[str, Any]]:
    """Lessons that are n observations of an item, with this sum of rewards."""
    parts = [(1.0, total), (0.0, n - total)] if clicks else [(total / n, n)]
    for reward, weight in parts:
        while weight > 0:
            part = min(weight, _MOST_WEIGHT)
            yield dict(shown=[name], rewards=[reward], weights=[part], examine="all")
            weight -= part
