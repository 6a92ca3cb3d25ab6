"""Models: items by name, in memory; what a page or a service ranks with."""

from __future__ import annotations

import copy as _copying
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, Union

from ._core import FileError, Shown
from ._core import Model as _Base
from .frames import table
from .refusal import refusal
from .warm_start import closest, copied

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


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _name_list(names: Name | Iterable[Name]) -> list[Name]:
    return [names] if isinstance(names, (str, bytes)) else list(names)


def _name_bytes(name: Name) -> Name:
    """The same value for a str and its bytes."""
    if isinstance(name, str):
        return name.encode("utf-8", "surrogateescape")
    return name


_MODEL_SETTINGS = ("most_items", "window", "examine", "dim", "candidates")


def engine_settings(
    prior: Prior | str | None = None, default_prior: Prior | None = None, **given: Any
) -> dict[str, Any]:
    """The settings of the engine by name; what was not given is left out."""
    settings = {}
    for name, value in given.items():
        if value is not None or name not in _MODEL_SETTINGS:
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


def refuse_unread(model: Model, settings: Mapping[str, Any]) -> None:
    """Settings that a model of this kind would not read."""
    unread = ("most_items",) if model.contextual else ("dim", "candidates")
    for name in unread:
        if name in settings:
            why = "has no items of its own" if model.contextual else "ranks names, not features"
            raise refusal("EPARAM", f"{model.kind} {why}: leave out {name}")


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
        settings = engine_settings(
            prior=prior,
            default_prior=default_prior,
            most_items=most_items,
            window=window,
            examine=examine,
            dim=dim,
            candidates=candidates,
            **params,
        )
        self._make(kind, settings, seed)
        refuse_unread(self, settings)

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
        """Forgets what was learned about items and keeps their priors.  Returns how many."""
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

        draws 0: exactly, for greedy lists and for kinds without features except ts-cascade, pbm-ts
        and epsilon-greedy.  draws n: the share in n lists, drawn from the seed.  The arrays are in
        the order of the items; without items in that of names().  Takes milliseconds, without the
        GIL.
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
            raise refusal("EITEM", f"{missing} was shown and is no candidate") from None
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
        from .store import file_exists, place_file

        path = os.path.realpath(os.fsdecode(path))
        if not overwrite and os.path.lexists(path):
            raise file_exists(path)
        folder = os.path.dirname(path)
        try:
            made = tempfile.mkdtemp(prefix=".oltr-", dir=folder)
        except OSError as why:
            raise refusal("EIO", f"cannot write {path}: {why.strerror}", FileError) from why
        new = os.path.join(made, "model")
        try:
            self._write_store(new)
            place_file(new, path, overwrite)
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
            raise refusal("EINVAL", f"{len(decisions)} decisions have {len(rewards)} rewards")
        if not self.contextual and contexts is None:
            lessons = [
                dict(shown=[name], rewards=[reward], examine="all")
                for name, reward in zip(decisions, rewards)
            ]
        elif contexts is None or len(contexts) != len(rewards):
            raise refusal("EFEATURE", f"{self.kind} needs a row of features for each decision")
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
            raise refusal("EUNSUPPORTED", f"{self.kind} knows no items: use predict(x=rows)")
        names = self.names()
        return dict(zip(names, (float(mean) for mean in self.predict(names)[0])))

    def add_arm(self, name: Name, prior: Prior | None = None) -> None:
        """Adds an item, which rank() without items then ranks; a known one is refused.

        A model with priors gives it `prior` or its default prior.  A model without them adds it by
        a lesson of which nothing was looked at, which counts as a lesson.  Unknown names may also
        be ranked as they are, without this call.
        """
        if name in self:
            raise refusal("ENAME", f"{name!r} is an item already")
        default = self.settings.get("default_prior")
        if prior is None and default is None:
            self.learn([name], [0], examined=0)
        else:
            self.prior({name: default if prior is None else prior})

    def remove_arm(self, name: Name) -> None:
        """Forgets an item with its prior; an unknown one is refused.  remove() takes several."""
        if self.remove(name) == 0:
            raise refusal("ENAME", f"{name!r} is no item of the model")

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
            raise refusal("EUNSUPPORTED", f"{self.kind} shares what it learns by features already")
        if not 0 <= distance_quantile <= 1:
            raise refusal("EVALUE", f"distance_quantile is from 0 to 1, not {distance_quantile}")
        if not isinstance(arm_to_features, Mapping):
            raise TypeError("warm_start() needs a mapping from names to features")
        names = list(arm_to_features)
        sums = self._explain(names, None)
        observed = [(float(n), float(s)) for n, s in zip(sums["examined"], sums["reward"])]
        if any(math.isnan(n) for n, _ in observed):
            raise refusal("EUNSUPPORTED", f"{self.kind} does not count observations of items")
        trained = [n > 0 for n, _ in observed]
        taken = closest(
            [list(arm_to_features[name]) for name in names], trained, distance_quantile
        )
        self.learn_many(
            lesson
            for cold, warm in taken.items()
            for lesson in copied(names[cold], *observed[warm], self._takes_clicks)
        )
        return {names[cold]: names[warm] for cold, warm in taken.items()}


def _restore(cls: type[M], image: bytes, seed: int, ranked: int) -> M:
    model = cls.__new__(cls)
    model._read_image(image, seed, ranked)
    return model
