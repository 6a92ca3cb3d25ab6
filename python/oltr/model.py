"""Models by name, in memory and on a store: what a page or a service ranks with."""

from __future__ import annotations

import copy as _copying
import math
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, Union

from ._core import Error, FileError, Shown
from ._core import Model as _Base
from .frames import table

Name = Union[str, bytes]
Seed = Union[str, bytes, int, None]
M = TypeVar("M", bound="Model")
Prior = Union[tuple[float, float], Sequence[float], Mapping[str, float]]

Sequence.register(Shown)


class Propensity(NamedTuple):
    """Chances of each candidate over all seeds."""

    in_list: Any
    """to be in the list"""
    first: Any
    """to be its first"""


class StoreState(NamedTuple):
    """What opening a store found, and what was done since."""

    number: int
    """of the last call in the model"""
    replayed: int
    """calls that opening took from the log"""
    cut_bytes: int
    """of an incomplete record at the end of the log, which was cut off"""
    log_bytes: int
    checkpoints: int
    failed_checkpoints: int
    """begun because of a long log; checkpoint() says why"""
    created: bool
    """the file did not exist"""
    failed: bool
    """a write failed, and changes are refused: close the store and open it again"""


def _error(code: str, sentence: str, kind: type[Error] = Error) -> Error:
    error = kind(sentence)
    error.code = code
    return error


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _name_list(names: Name | Iterable[Name]) -> list[Name]:
    return [names] if isinstance(names, (str, bytes)) else list(names)


def _name_bytes(name: Name) -> Name:
    """The same value for a str and its bytes."""
    if isinstance(name, str):
        return name.encode("utf-8", "surrogateescape")
    return name


def _settings(
    prior: Prior | str | None,
    default_prior: Prior | None,
    given: Mapping[str, Any],
    params: Mapping[str, Any],
) -> dict[str, Any]:
    """The settings of the engine by name; what was not given is left out."""
    settings = {name: value for name, value in given.items() if value is not None}
    for name, value in params.items():
        settings["lambda" if name == "lambda_" else name] = value
    if isinstance(prior, str):
        settings["prior"] = prior
    elif prior is not None and default_prior is not None:
        raise TypeError(
            "prior is the parameter of the policy ('full') where default_prior is given"
        )
    elif prior is not None:
        default_prior = prior
        settings["prior"] = "full"
    if default_prior is not None:
        settings["default_prior"] = default_prior
    return settings


def _refuse_unread(model: Model, settings: Mapping[str, Any]) -> None:
    """Settings that a model of this kind would not read."""
    unread = ("most_items",) if model.contextual else ("dim", "candidates")
    for name in unread:
        if name in settings:
            why = "has no items of its own" if model.contextual else "ranks names, not features"
            raise _error("EPARAM", f"{model.kind} {why}: leave out {name}")


class Model(_Base):
    """Items with names that come and go, and what was learned about them.

    kind: the name of a policy: "ts-hyper" needs no setting, "ts-beta" with b = 1/p where p is the
    usual click rate, "gts" for rewards that are numbers, "lints" or "logts" for features.
    prior: what is believed about an item that was given no prior of its own: (mean, sd) for gts,
    else (a, b) of a Beta distribution; or a dict with these names.  A text ("none", "full", "mean")
    is the parameter of the policy, to be used with default_prior.
    most_items: how many items there may be; a lesson that would add more is refused.
    window: how many ids of lessons are remembered.
    examine: which slots of a list count as looked at: "cascade", down to the first click; "last",
    down to the last; "all".
    dim, candidates: of kinds with features, how many features a row has, and how many rows a
    request may have.
    seed: of lists that are ranked without a seed of their own.
    Other arguments are parameters of the policy, such as b=50; lambda_ is its parameter lambda.

    >>> model = Model("ts-beta", b=50)
    >>> shown = model.rank(2, ["shoe", "hat", "coat"], seed="session 7")
    >>> model.learn(shown, [0, 1], id="view 1")
    True

    A call that is refused raises an Error and leaves the model as it was, to the byte of its image.
    Any number of threads may use a model; long calls release the GIL.
    """

    def __init__(
        self,
        kind: str,
        *,
        prior: Prior | str | None = None,
        default_prior: Prior | None = None,
        most_items: int | None = None,
        window: int | None = None,
        examine: str | None = None,
        dim: int | None = None,
        candidates: int | None = None,
        seed: int = 0,
        **params: float | str,
    ) -> None:
        given = dict(
            most_items=most_items, window=window, examine=examine, dim=dim, candidates=candidates
        )
        settings = _settings(prior, default_prior, given, params)
        self._make(kind, settings, seed)
        _refuse_unread(self, settings)

    # ---- what it is

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of its policy."""
        return self._settings()[1]

    @property
    def settings(self) -> dict[str, Any]:
        """Its settings, but for the parameters of the policy."""
        return self._settings()[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __bool__(self) -> bool:
        return True

    def _describe(self) -> str:
        size = f"dim {self.settings['dim']}" if self.contextual else _count(len(self), "item")
        return f"{self.kind!r}, {size}, {_count(self.lessons, 'lesson')}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._describe()})"

    # ---- items

    def prior(
        self,
        names: Mapping[Name, Prior] | Iterable[Name] | Name,
        pairs: Any = None,
    ) -> None:
        """Gives items priors of their own: all of them, or none if one is refused.

        prior({"shoe": (2, 98), "hat": {"a": 1, "b": 30}}), or names and an (n, 2) array.  A pair
        is as that of Model(prior=...).  What was learned of an item stays; unknown names are added.
        """
        if isinstance(names, Mapping):
            if pairs is not None:
                raise TypeError("prior() takes a mapping, or names and pairs")
            names, pairs = list(names), list(names.values())
        elif pairs is None:
            raise TypeError("prior() needs a mapping from names to pairs, or names and pairs")
        elif isinstance(names, (str, bytes)):
            names, pairs = [names], [pairs]
        if isinstance(pairs, (list, tuple)):
            pairs = [self._pair(pair) for pair in pairs]
        self._prior(names, pairs)

    def remove(self, names: Name | Iterable[Name]) -> int:
        """Forgets items with their priors; unknown names are no error.  Returns how many."""
        return self._remove(_name_list(names))

    def reset(self, names: Name | Iterable[Name]) -> int:
        """Makes items as if nothing had been seen of them; their priors stay.  Returns how many."""
        return self._reset(_name_list(names))

    # ---- questions

    def explain(
        self,
        items: Iterable[Any] | None = None,
        k: int | None = None,
        *,
        x: Any = None,
        draws: int = 0,
    ) -> Any:
        """What is believed about each item, and why, as a DataFrame.

        Without pandas it is a list of dicts.

        mean, sd: the belief.  examined, reward: its observations and the sum of their rewards.
        prior_mean, prior_sd: the belief before.  prior_share: of the prior in the belief, 1 to 0.
        known: whether it is an item of the model.  last: the number of the last lesson that showed
        it.  chance: with k, the chance to be in a list of k (see propensity()).
        """
        columns = self._explain(items, x)
        if columns["item"] is None:
            columns["item"] = range(len(columns["mean"]))
        if k is not None:
            candidates = None if x is not None else columns["item"]
            columns["chance"] = self._propensity(k, candidates, draws, x)[0]
        return table(columns, "item")

    def propensity(
        self,
        k: int,
        items: Iterable[Any] | None = None,
        draws: int = 0,
        *,
        x: Any = None,
        seed: Seed = None,
        greedy: bool = False,
        fresh_below: float = 0,
        least_fresh: int = 0,
        most_fresh: int | None = None,
    ) -> Propensity:
        """For each candidate the chance to be in the list that rank() would make, and its first.

        draws 0: exactly, for greedy lists and for kinds without features but ts-cascade.  Above 0:
        the share in so many lists, drawn from the seed.  The arrays are in the order of the items;
        without items in that of names().  Takes milliseconds, without the GIL.
        """
        chances = self._propensity(
            k, items, draws, x, seed, greedy, fresh_below, least_fresh, most_fresh
        )
        return Propensity(*chances)

    def list_propensity(
        self,
        shown: Sequence[Any],
        items: Iterable[Any] | None = None,
        *,
        x: Any = None,
        greedy: bool = False,
    ) -> Any:
        """For each j the exact chance that a list begins with shown[0] ... shown[j], in this order.

        items, x: the candidates, as of rank().  Of rows without items, shown has their numbers.
        For the kinds of which propensity() is exact, without bounds on fresh items.
        """
        if items is None and x is None:
            return self._list_propensity(shown=shown, greedy=greedy)
        if items is None:
            return self._list_propensity(places=list(shown), x=x, greedy=greedy)
        items = list(items)
        at = {_name_bytes(name): place for place, name in enumerate(items)}
        try:
            places = [at[_name_bytes(name)] for name in shown]
        except KeyError as missing:
            raise _error("EITEM", f"{missing} was shown and is no candidate") from None
        return self._list_propensity(places=places, items=items, x=x, greedy=greedy)

    # ---- models from it

    def copy(self) -> Model:
        """An independent model with the same state; of a store, a model in memory."""
        return self._copy(self._plain_type())

    def like(self, strength: float) -> Model:
        """A model whose prior is what this one believes, with its items and without its lessons.

        strength, above 0 and at most 1, scales how sure it is: 0.1 gives a tenth of the precision.
        """
        return self._like(self._plain_type(), strength)

    def _plain_type(self) -> type[Model]:
        return type(self)

    def __copy__(self) -> Model:
        other = self.copy()
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        other = self.copy()
        other.__dict__.update(_copying.deepcopy(self.__dict__, memo))
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        state = (type(self), self.to_bytes(), self.seed, self.ranked)
        return (_restore, state, self.__dict__ or None)

    # ---- bytes and files

    @classmethod
    def from_bytes(cls: type[M], image: bytes, *, seed: int = 0) -> M:
        """A model from its image (to_bytes()); bytes that are no valid model are refused."""
        return _restore(cls, image, seed, 0)

    @classmethod
    def load(cls: type[M], path: str | os.PathLike[str], *, seed: int = 0) -> M:
        """A model in memory from a file of save(), a store, or `oltr model create`.

        Another process may write to the store meanwhile; the model is that of this moment.
        """
        model = cls.__new__(cls)
        model._read_store(path, seed)
        return model

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the model to a file that load(), open() and the program `oltr model` read.

        The file appears under its name when it is complete and on the disk.  One that exists is
        kept, and a FileError raised, unless overwrite is true; a store that is open is never
        replaced.
        """
        path = os.path.realpath(os.fsdecode(path))
        if not overwrite and os.path.lexists(path):
            raise _exists(path)
        folder = os.path.dirname(path)
        try:
            made = tempfile.mkdtemp(prefix=".oltr-", dir=folder)
        except OSError as why:
            raise _error("EIO", f"cannot write {path}: {why.strerror}", FileError) from why
        new = os.path.join(made, "model")
        try:
            self._write_store(new)
            _place(new, path, overwrite)
        finally:
            for file in (new, new + ".log"):
                if os.path.lexists(file):
                    os.unlink(file)
            os.rmdir(made)

    # ---- the habits of MABWiser

    def partial_fit(
        self: M, decisions: Sequence[Any], rewards: Sequence[float], contexts: Any = None
    ) -> M:
        """Learns rewards of single items, as MABWiser does: each is a lesson with one slot.

        What differs: rewards are 0 or 1 except for kinds that learn from numbers; there is one
        model for all items of a kind with features, so that contexts has the features of the item
        that was chosen, as x of learn() has, and decisions are not read.
        """
        rewards = [float(reward) for reward in rewards]
        if len(decisions) != len(rewards):
            raise _error("EINVAL", f"{len(decisions)} decisions have {len(rewards)} rewards")
        if not self.contextual and contexts is None:
            lessons = [
                dict(shown=[name], rewards=[reward], examine="all")
                for name, reward in zip(decisions, rewards)
            ]
        elif contexts is None or len(contexts) != len(rewards):
            raise _error("EFEATURE", f"{self.kind} needs a row of features for each decision")
        else:
            lessons = [
                dict(x=[row], rewards=[reward], examine="all")
                for row, reward in zip(contexts, rewards)
            ]
        self.learn_many(lessons)
        return self

    def predict_expectations(self) -> dict[str, float]:
        """The mean of the belief about every item, by name.

        What differs from MABWiser: Thompson sampling gives means there as it draws them; here they
        are not drawn.  rank(1)[0] is what MABWiser's predict() returns.
        """
        if self.contextual:
            raise _error("EUNSUPPORTED", f"{self.kind} knows no items: use predict(x=rows)")
        names = self.names()
        return dict(zip(names, (float(mean) for mean in self.predict(names)[0])))

    def add_arm(self, name: Name, prior: Prior | None = None) -> None:
        """Adds an item, which rank() without items then ranks; a known one is refused.

        A model with priors gives it `prior` or its default prior.  A model without them adds it by
        a lesson of which nothing was looked at, which counts as a lesson.  Unknown names may also
        be ranked as they are, without this call.
        """
        if name in self:
            raise _error("ENAME", f"{name!r} is an item already")
        default = self.settings.get("default_prior")
        if prior is None and default is None:
            self.learn([name], [0], examined=0)
        else:
            self.prior({name: default if prior is None else prior})

    def remove_arm(self, name: Name) -> None:
        """Forgets an item with its prior; an unknown one is refused.  remove() takes several."""
        if self.remove(name) == 0:
            raise _error("ENAME", f"{name!r} is no item of the model")

    def warm_start(
        self, arm_to_features: Mapping[Name, Sequence[float]], distance_quantile: float
    ) -> dict[Name, Name]:
        """Gives items without observations those of the closest item that has some.

        As in MABWiser, distances are cosine distances of the features, and an item is left as it is
        when the closest trained one is farther than the quantile of all distances to the next
        neighbour.  Returns which item was taken for which.

        What differs: the observations are learned, as one or two lessons with weights, so that an
        item counts as trained afterwards; unknown names are added.
        """
        if self.contextual:
            raise _error("EUNSUPPORTED", f"{self.kind} shares what it learns by features already")
        if not 0 <= distance_quantile <= 1:
            raise _error("EVALUE", f"distance_quantile is from 0 to 1, not {distance_quantile}")
        if not isinstance(arm_to_features, Mapping):
            raise TypeError("warm_start() needs a mapping from names to features")
        names = list(arm_to_features)
        sums = self._explain(names, None)
        observed = [(float(n), float(s)) for n, s in zip(sums["examined"], sums["reward"])]
        if any(math.isnan(n) for n, _ in observed):
            raise _error("EUNSUPPORTED", f"{self.kind} does not count observations of items")
        trained = [n > 0 for n, _ in observed]
        taken = _closest(
            [list(arm_to_features[name]) for name in names], trained, distance_quantile
        )
        self.learn_many(
            lesson
            for cold, warm in taken.items()
            for lesson in _copied(names[cold], *observed[warm], self._takes_clicks)
        )
        return {names[cold]: names[warm] for cold, warm in taken.items()}


def _restore(cls: type[M], image: bytes, seed: int, ranked: int) -> M:
    model = cls.__new__(cls)
    model._read_image(image, seed, ranked)
    return model


# ---- files


def _exists(path: str) -> Error:
    return _error("EIO", f"{path} exists: give overwrite=True, or another path", FileError)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _place(new: str, path: str, overwrite: bool) -> None:
    """Moves a file to its path; an old store there is locked meanwhile, and its log removed.

    The new image and an old log do not belong together, which opening notices; so a crash between
    the two steps loses nothing silently.
    """
    folder = os.path.dirname(path)
    if not os.path.lexists(path):
        try:
            os.link(new, path)  # fails where another process was faster
        except FileExistsError:
            raise _exists(path) from None
        return _sync_folder(folder)
    if not overwrite:
        raise _exists(path)
    old = Store(path)
    try:
        os.replace(new, path)
        os.unlink(path + ".log")
        _sync_folder(folder)
    finally:
        old.close()


# ---- warm starts


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """The cosine distance, 0 to 2; infinite where a vector is zero."""
    if len(a) != len(b):
        raise _error("EFEATURE", f"items have {len(a)} and {len(b)} features")
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


def _closest(rows: list[list[float]], trained: list[bool], quantile: float) -> dict[int, int]:
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


def _copied(name: Name, n: float, total: float, clicks: bool) -> Iterator[dict[str, Any]]:
    """Lessons that are n observations of an item, with this sum of rewards."""
    parts = [(1.0, total), (0.0, n - total)] if clicks else [(total / n, n)]
    for reward, weight in parts:
        while weight > 0:
            part = min(weight, _MOST_WEIGHT)
            yield dict(shown=[name], rewards=[reward], weights=[part], examine="all")
            weight -= part


# ---- stores


class Store(Model):
    """A Model on a file: PATH is its image, PATH.log the calls since.  Made by open().

    All methods of a Model are there, and any number of threads may use it at once.  What was
    acknowledged is in the log, so a killed process loses nothing.  A store belongs to the process
    that opened it: open it after a fork.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        kind: str | None = None,
        *,
        sync: str = "second",
        read_only: bool = False,
        create_from: Model | None = None,
        checkpoint_bytes: int | None = None,
        prior: Prior | str | None = None,
        default_prior: Prior | None = None,
        most_items: int | None = None,
        window: int | None = None,
        examine: str | None = None,
        dim: int | None = None,
        candidates: int | None = None,
        seed: int | None = None,
        **params: float | str,
    ) -> None:
        self.path = os.fspath(path)
        given = dict(
            most_items=most_items, window=window, examine=examine, dim=dim, candidates=candidates
        )
        settings = _settings(prior, default_prior, given, params)
        if kind is None and settings:
            raise TypeError(f"{next(iter(settings))} is for a new store: give its kind too")
        if kind is not None and create_from is not None:
            raise TypeError("a store is made from a kind or from create_from: give one of them")
        wanted = None if kind is None else _wanted(kind, settings)
        if kind is None and create_from is None and not os.path.lexists(self.path):
            raise _error(
                "EIO",
                f"{os.fsdecode(self.path)} does not exist: give a kind to make a store there, "
                "as in oltr.open(path, 'ts-hyper')",
                FileError,
            )
        if seed is None:
            seed = int.from_bytes(os.urandom(8), "little")
        self._open_store(
            self.path, kind, settings, sync, read_only, checkpoint_bytes, seed, create_from
        )
        if wanted is not None and not self.stat.created:
            try:
                self._compare(wanted, settings)
            except Error:
                self.close()
                raise

    def _compare(self, wanted: Model, settings: Mapping[str, Any]) -> None:
        """Refuses to take a store for one with other settings."""
        if wanted.kind != self.kind:
            raise _error(
                "EMISMATCH",
                f"{os.fsdecode(self.path)} is a store of {self.kind}, not {wanted.kind}",
            )
        there = self.settings | self.params
        asked = wanted.settings | wanted.params
        for name in settings:
            if there[name] != asked[name]:
                raise _error(
                    "EMISMATCH",
                    f"{os.fsdecode(self.path)} was made with {name} {there[name]!r}, not "
                    f"{asked[name]!r}: leave it out, or make another store",
                )

    @property
    def closed(self) -> bool:
        """Whether it was closed, or opened before this process was forked."""
        return not self._is_open

    @property
    def stat(self) -> StoreState:
        """What opening found, and what was done since."""
        return StoreState(*self._stat())

    def checkpoint(self) -> None:
        """Writes a new image and empties the log.  It happens by itself when the log is long."""
        self._checkpoint()

    def sync(self) -> None:
        """Waits until everything is on the disk."""
        self._sync()

    def close(self) -> None:
        """Waits for calls of other threads, writes what is left to the disk, and closes it."""
        self._close()

    def __enter__(self: M) -> M:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if self._is_open:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, stacklevel=2, source=self)
            self.close()

    def __repr__(self) -> str:
        state = self._describe() if self._is_open else "closed"
        return f"{type(self).__name__}({os.fsdecode(self.path)!r}, {state})"

    def _plain_type(self) -> type[Model]:
        return Model

    def __copy__(self) -> Model:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a store is a file and cannot be pickled: pickle store.copy(), or its path")

    @classmethod
    def from_bytes(cls, image: bytes, *, seed: int = 0) -> Any:
        raise TypeError("make a Model from bytes, and a store by open(path, create_from=model)")

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, seed: int = 0) -> Any:
        raise TypeError("use open(path) for a store, or Model.load(path) for a model in memory")


def _wanted(kind: str, settings: Mapping[str, Any]) -> Model:
    """An empty model with the settings, checked before a file is touched."""
    model = Model.__new__(Model)
    model._make(kind, dict(settings), 0)
    _refuse_unread(model, settings)
    return model


def open(
    path: str | os.PathLike[str],
    kind: str | None = None,
    *,
    sync: str = "second",
    read_only: bool = False,
    create_from: Model | None = None,
    checkpoint_bytes: int | None = None,
    seed: int | None = None,
    **settings: Any,
) -> Store:
    """Opens a model on a file, and makes it where there is none: a context manager.

    kind, settings: as of Model(), for a new store.  One that exists must agree with them.
    create_from: a Model, of which a new store begins with a copy.
    sync: what a loss of power may lose: "none": everything since the last checkpoint; "second":
    about the last second; "always": nothing, and learning waits for the disk.
    read_only: nothing is written or locked; the model is that of the time of opening.
    checkpoint_bytes: a longer log is followed by a checkpoint; None: 64 MiB or the length of the
    image.
    seed: of lists that are ranked without one; None: a random number.

    An Error with the code "EBUSY" says that another process, or this one, has it open for writing.
    """
    return Store(
        path,
        kind,
        sync=sync,
        read_only=read_only,
        create_from=create_from,
        checkpoint_bytes=checkpoint_bytes,
        seed=seed,
        **settings,
    )
