"""Experiments: oltr.run().

docs/python-experiments.md shows how to use it, docs/experiment-file.md has every key of an
experiment.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from . import _core
from .experiment_text import DICT_NAME, Description, describe, override_text
from .own_policy import World, own_policies, own_world
from .result import Result
from .run_progress import Progress, shower

Override = tuple[str, str, str]  # key, value, what messages call it


def _overrides(keywords: Mapping[str, Any], more: Mapping[str, Any] | None) -> list[Override]:
    """The changes of the description, those by keyword first."""
    chosen: list[Override] = []
    for name, value in keywords.items():
        if value is not None:
            key = "world.data" if name == "data" else name
            chosen.append((key, override_text(key, value), f"{name}={value}"[:60]))
    if more is None:
        return chosen
    if not isinstance(more, Mapping):
        raise TypeError(f"set must be a dict like {{'world.items': 10}}, not {more!r}")
    for key, value in more.items():
        if not isinstance(key, str):
            raise TypeError(f"the keys of set must be text like 'world.items', not {key!r}")
        chosen.append((key, override_text(key, value), f"set {key}={value}"[:60]))
    return chosen


def _stand_in(world: World) -> list[Override]:
    """A built-in world as large as that of Python, so that the rest of the text can be checked.

    It has a prior, because nothing is known yet about the one that draw() gives.
    """
    keys = {"kind": "logistic" if world.dim else "uniform", "items": str(world.n_items)}
    if world.dim:
        keys["dim"] = str(world.dim)
    else:
        keys["prior_n"] = "1"
    if world.reals:
        keys["clicks"] = "abandon"  # the built-in users that give real rewards
    return [(f"world.{key}", value, f"world={key}") for key, value in keys.items()]


def _without_place(error: _core.Error) -> _core.Error:
    """A dict has no lines: leaves out the place in the JSON that was made of it."""
    words = re.sub(rf"^{DICT_NAME}:\d+:\d+: ", "", str(error))
    plain = type(error)(words)
    plain.code = error.code
    return plain


def _whole(value: Any, name: str, most: int) -> int:
    whole = hasattr(type(value), "__index__") and not isinstance(value, bool)
    if not whole:
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if not 0 <= int(value) <= most:
        raise ValueError(f"{name} must be from 0 to {most}, not {value!r}")
    return int(value)


def _path(path: Any, is_folder: bool) -> str | None:
    """The name of a file or folder to write to, as the engine reads it.

    That it can be written is checked before the run, not after it.
    """
    if path is None:
        return None
    name = os.fsdecode(path)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"the path is not UTF-8: {name!r}") from None
    folder = name if is_folder else os.path.dirname(name) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder; make it first", folder)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "this folder cannot be written to", folder)
    return name


def _play(what: Description, arguments: tuple[Any, ...], show: Any) -> Any:
    def report(stage: str, done: int, total: int, rounds: int, *times: float) -> None:
        seconds, share, left = times
        show(Progress(stage, done, total, rounds, seconds, share, left if left >= 0 else None))

    everything: Any = (what.name, what.text, *arguments, report)
    try:
        return _core.run(*everything)
    except _core.Error as error:
        if what.is_dict and str(error).startswith(DICT_NAME + ":"):
            raise _without_place(error) from None
        raise
    finally:
        show.close()


def run(
    experiment: Mapping[str, Any] | str | os.PathLike[str],
    *,
    policies: Mapping[str, Callable[..., Any]] | None = None,
    world: Any = None,
    threads: int = 0,
    progress: bool | Callable[[Progress], object] | None = None,
    partial: str | os.PathLike[str] | None = None,
    keep_scores: str | os.PathLike[str] | None = None,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    slots: int | None = None,
    rounds: int | None = None,
    replications: int | None = None,
    checkpoints: Any = None,
    data: str | os.PathLike[str] | None = None,
) -> Result:
    """Run an experiment and return its Result, with the numbers of `oltr run` to the last digit.

    experiment is a dict with the keys of docs/experiment-file.md, the path of a YAML file, or YAML
    text (a str with a line break or a brace).

    policies: {label: factory} of policies written in Python, which play beside those of the
    experiment; world: an object that takes the place of the world.  docs/python-own-policy.md.

    threads: how many work; 0: one for each processor.  They do not change the results.

    progress: True shows a bar (tqdm, or one line), False nothing; None shows it in a terminal and
    in a notebook.  A function is called with a Progress about ten times a second.

    partial: a file that keeps finished replications, so that an interrupted run can go on: the
    same call uses the file if it is there, and removes it at the end.

    keep_scores: a folder where the scores of rankers that were trained for the prior of a dataset
    are kept, and taken from by a later run.

    seed, slots, rounds, replications and checkpoints replace the key of that name, data replaces
    world.data, and set={"world.items": 10, "policies.GTS.sigma": 0.3} any key.

    Ctrl-C ends the run within a second and raises KeyboardInterrupt.
    """
    threads = _whole(threads, "threads", 1024)
    kept, scores = _path(partial, False), _path(keep_scores, True)
    what = describe(experiment)
    added = own_policies(policies, kept is not None)
    python_world = own_world(world, kept is not None)
    keywords: dict[str, Any] = dict(seed=seed, slots=slots, rounds=rounds, data=data)
    keywords |= dict(replications=replications, checkpoints=checkpoints)
    changes = _overrides(keywords, set)
    if python_world is not None:
        changes = _stand_in(python_world) + changes
    alone = bool(added) and not what.has_policies
    if alone:
        changes.insert(0, ("policies", "[{kind: random}]", "policies"))
    resumes = kept is not None and os.path.exists(kept)
    show = shower(progress)
    arguments = (tuple(changes), added, python_world, alone, threads, kept, scores, resumes)
    try:
        outcome = _play(what, arguments, show)
    except BaseException as exception:  # KeyboardInterrupt above all
        if kept is not None and not resumes and os.path.exists(kept):
            exception.add_note(
                f"finished replications are kept in {kept}; the same call goes on from there"
            )
        raise
    if kept is not None and os.path.exists(kept):
        os.remove(kept)
    labels = [policy.label for policy in added]
    return Result(outcome, labels)
