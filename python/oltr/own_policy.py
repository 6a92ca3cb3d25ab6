"""Policies and worlds written in Python, made ready for the simulator.

docs/python-own-policy.md explains what such an object must have.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

# What a factory may ask for by the name of a parameter, beside n_items, which comes first.
_ASKED = ("k", "dim", "rounds", "prior")
_FEEDBACK = {"rewards": 0, "clicks": 1}
_DIGEST_BYTES = 32


def _source(thing: Any) -> bytes:
    """The code of a function or class, as far as it can be found."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    try:
        return inspect.getsource(thing).encode()
    except (OSError, TypeError):
        code = getattr(thing, "__code__", None)
        return bytes(code.co_code) + repr(code.co_consts).encode() if code else b""


def digest(thing: Any) -> bytes:
    """32 bytes that tell one policy or world from another, for files of partial results.

    They cover the name, the source and, where the object can be pickled, what it holds.
    """
    has_code = inspect.isroutine(thing) or inspect.isclass(thing)
    kind: Any = thing if has_code or isinstance(thing, functools.partial) else type(thing)
    name: str = getattr(kind, "__qualname__", type(kind).__qualname__)
    parts = [name.encode(), _source(kind)]
    try:
        parts.append(pickle.dumps(thing, protocol=4))
    except Exception:  # anything may go wrong in the __reduce__ of somebody's class
        parts.append(b"")
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little") + part)
    return whole.digest()


# ---- policies


def _asked_names(factory: Callable[..., Any], label: str) -> tuple[str, ...]:
    """Which of _ASKED the factory has parameters for; a TypeError where it needs anything else."""
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):  # a class of an extension
        return ()
    placed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or parameters[0].kind not in (*placed, inspect.Parameter.VAR_POSITIONAL):
        raise TypeError(
            f"the factory of policy {label!r} must take the number of items as its first argument"
        )
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        return _ASKED
    for p in parameters[1:]:
        by_name = p.kind in (placed[1], inspect.Parameter.KEYWORD_ONLY)
        variable = p.kind is inspect.Parameter.VAR_POSITIONAL
        if p.default is p.empty and not variable and not (by_name and p.name in _ASKED):
            raise TypeError(
                f"the factory of policy {label!r} needs {p.name!r}, which run() does not give; it "
                f"gives n_items, {', '.join(_ASKED)}; bind others with functools.partial"
            )
    return tuple(p.name for p in parameters[1:] if p.name in _ASKED)


@functools.lru_cache(maxsize=256)
def _learns_x(learn: Callable[..., Any], bound: bool) -> bool:
    """Does learn(items, rewards, x) take a third argument?"""
    try:
        parameters = list(inspect.signature(learn).parameters.values())
    except (TypeError, ValueError):
        return False
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return True
    placed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in placed for p in parameters) - bound >= 3


def _methods(policy: Any, label: str) -> tuple[Any, Any, Any, bool]:
    """rank, scores, learn, and whether learn takes the features of the items."""
    rank, scores = getattr(policy, "rank", None), getattr(policy, "scores", None)
    learn = getattr(policy, "learn", None)
    if not callable(rank) and not callable(scores):
        raise TypeError(
            f"the factory of policy {label!r} made {policy!r}, which has neither rank(request) "
            f"nor scores(request)"
        )
    takes_x = False
    if callable(learn):
        function = getattr(learn, "__func__", None)
        takes_x = _learns_x(learn if function is None else function, function is not None)
    return (
        rank if callable(rank) else None,
        None if callable(rank) else scores,
        learn if callable(learn) else None,
        takes_x,
    )


class OwnPolicy(NamedTuple):
    """A policy in Python, in the order that the extension reads."""

    label: str
    make: Callable[..., Any]
    takes_prior: bool
    feedback: int
    digest: bytes


def _own_policy(label: str, factory: Any, with_digest: bool) -> OwnPolicy:
    if not callable(factory):
        raise TypeError(
            f"policies[{label!r}] must be a class or a function that makes a policy, because each "
            f"replication has its own; not {factory!r}"
        )
    names = _asked_names(factory, label)
    feedback = getattr(factory, "feedback", "rewards")
    if feedback not in _FEEDBACK:
        raise ValueError(
            f"feedback of policy {label!r} must be 'rewards' or 'clicks', not {feedback!r}"
        )

    def make(n_items: int, k: int, dim: int, rounds: int, prior: Any) -> tuple[Any, ...]:
        given = {"k": k, "dim": dim, "rounds": rounds, "prior": prior}
        return _methods(factory(n_items, **{name: given[name] for name in names}), label)

    own = digest(factory) if with_digest else bytes(_DIGEST_BYTES)
    return OwnPolicy(label, make, "prior" in names, _FEEDBACK[feedback], own)


def own_policies(policies: Mapping[str, Any] | None, with_digest: bool) -> tuple[OwnPolicy, ...]:
    """The policies of run(policies=...); with_digest: they go into a file of partial results."""
    if policies is None:
        return ()
    if not isinstance(policies, Mapping):
        raise TypeError(
            f"policies must be a dict of labels and factories, not {type(policies).__name__}"
        )
    for label in policies:
        if not isinstance(label, str) or not label.isprintable() or not label.strip():
            raise ValueError(f"the label of a policy must be a line of text, not {label!r}")
        if len(label.encode(errors="replace")) > 120:
            raise ValueError(f"the label of a policy is longer than 120 bytes: {label!r}")
    return tuple(_own_policy(label, made, with_digest) for label, made in policies.items())


# ---- worlds


class World(NamedTuple):
    """A world in Python, in the order that the extension reads."""

    n_items: int
    dim: int
    reals: bool
    draw: Any
    advance: Any
    scan: Any
    value: Any
    best: Any
    worst: Any
    digest: bytes


def _count(world: Any, name: str, least: int, most: int) -> int:
    number = getattr(world, name, least)
    whole = hasattr(type(number), "__index__") and not isinstance(number, bool)
    if not whole or not least <= int(number) <= most:
        raise ValueError(
            f"world.{name} must be a whole number from {least} to {most}, not {number!r}"
        )
    return int(number)


def own_world(world: Any, with_digest: bool) -> World | None:
    """The world of run(world=...)."""
    if world is None:
        return None
    if inspect.isclass(world):
        raise TypeError(f"world must be an object, not the class {world.__name__}: call it first")
    methods = {}
    for name in ("draw", "advance", "scan", "value", "best", "worst"):
        method = getattr(world, name, None)
        if method is not None and not callable(method):
            raise TypeError(f"world.{name} must be a method, not {method!r}")
        methods[name] = method
    if methods["draw"] is None or not hasattr(world, "n_items"):
        raise TypeError(f"a world needs n_items and draw(rng), which {world!r} does not have")
    users = [name for name in ("scan", "value", "best") if methods[name] is not None]
    if users and len(users) < 3:
        raise TypeError(f"users of a world need scan, value and best; this one has {users}")
    if methods["worst"] is not None and not users:
        raise TypeError("worst() of a world belongs to scan(), value() and best()")
    rewards = getattr(world, "rewards", "clicks")
    if rewards not in ("clicks", "reals"):
        raise ValueError(f"world.rewards must be 'clicks' or 'reals', not {rewards!r}")
    return World(
        _count(world, "n_items", 1, 10**7),
        _count(world, "dim", 0, 4096),
        rewards == "reals",
        **methods,
        digest=digest(world) if with_digest else bytes(_DIGEST_BYTES),
    )
