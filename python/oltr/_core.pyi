# Types of the extension.  The kinds of policies and their parameters are written by scripts/stubs.

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, SupportsFloat, SupportsIndex, final, overload

from typing_extensions import Self, TypeAlias

class _SupportsArray(Protocol):
    def __array__(self) -> Any: ...

# Numbers in one dimension, and in two: lists, or arrays of numpy, array and pandas.
_Numbers: TypeAlias = (
    Sequence[SupportsFloat] | _SupportsArray | memoryview | array[Any] | bytearray | Ranking
)
_Table: TypeAlias = Sequence[_Numbers] | _SupportsArray | memoryview
_Moment: TypeAlias = float | _Numbers
_Prior: TypeAlias = tuple[_Moment, _Moment] | list[_Moment] | Mapping[str, Any]
_Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]

# What is returned: a numpy array, or a memoryview where numpy is not installed.
_Array: TypeAlias = Any

# <kinds>
_Kind: TypeAlias = Literal[
    "gts",
    "ts-hyper",
    "ts-beta",
    "bayes-ucb",
    "ts-cascade",
    "cascade-ucb1",
    "cascade-klucb",
    "cascade-ucbv",
    "toprank",
    "maillard",
    "epsilon-greedy",
    "bubblerank",
    "pbm-ts",
    "pbm-ucb",
    "lints",
    "logts",
    "logts-newton",
    "lints-cascade",
    "cascade-lints",
    "cascade-linucb",
    "cascade-woful",
    "glm-ucb",
    "pg-ts",
    "ensemble",
    "random",
]
# </kinds>

version: str

class Error(ValueError):
    code: str | None

class FileError(Error, OSError): ...

def catalogue() -> list[dict[str, Any]]: ...
def check_interpreter() -> None: ...
def check_kind(name: str, /) -> None: ...
def ope_estimate(
    estimator: str,
    rewards: _Numbers | _Table | None = None,
    logged: _Numbers | _Table | None = None,
    evaluated: _Numbers | _Table | None = None,
    logged_slot: _Numbers | _Table | None = None,
    evaluated_slot: _Numbers | _Table | None = None,
    q: _Numbers | _Table | None = None,
    v: _Numbers | _Table | None = None,
    match: _Numbers | None = None,
    lengths: _Numbers | None = None,
    logs: bool = False,
    interval: str | None = None,
    confidence: float | None = None,
    resamples: SupportsIndex | None = None,
    seed: SupportsIndex | None = None,
    bound: float | None = None,
) -> tuple[Any, ...]: ...
def ope_estimators() -> tuple[str, ...]: ...
def ope_rates(
    rewards: _Table,
    items: _Table,
    n_items: SupportsIndex,
    folds: _Numbers,
    n_folds: SupportsIndex,
    strength: float,
    lengths: _Numbers,
) -> _Array: ...
def _make_ranking(*args: Any) -> Ranking: ...

@final
class Ranking(Sequence[int]):
    @property
    def items(self) -> _Array: ...
    @property
    def scores(self) -> _Array: ...
    @property
    def x(self) -> _Array | None: ...
    @property
    def round(self) -> int: ...
    @property
    def seed(self) -> int: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, slot: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, slots: slice, /) -> list[int]: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def count(self, item: Any, /) -> int: ...
    def index(self, item: Any, /) -> int: ...  # type: ignore[override]
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...

class Policy:
    # <overloads>
    @overload
    def __new__(
        cls,
        kind: Literal["gts"],
        items: int,
        *,
        dim: int = 0,
        prior: _Prior | Literal["none", "mean", "sd", "full"] | None = None,
        seed: int = 0,
        mean: float = 0.0,
        sd: float = 1.0,
        sigma: float = 0.5,
        sampler: Literal["posterior", "released", "race"] = "posterior",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["ts-hyper"],
        items: int,
        *,
        dim: int = 0,
        prior: _Prior | Literal["none", "mean", "full"] | None = None,
        seed: int = 0,
        a: float = 1.0,
        b: float = 1.0,
        shift_min: float = -8.0,
        shift_max: float = 4.0,
        shift_sd: float = 3.0,
        slope: Literal["learned", "fixed"] = "learned",
        slope_none: float = 0.4,
        slope_half: float = 0.6,
        weight_min: float = 0.25,
        weight_max: float = 16.0,
        weight_sd: float = 1.5,
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["ts-beta"],
        items: int,
        *,
        dim: int = 0,
        prior: _Prior | Literal["none", "mean", "full"] | None = None,
        seed: int = 0,
        a: float = 1.0,
        b: float = 1.0,
        sampler: Literal["gammas", "race"] = "gammas",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["bayes-ucb"],
        items: int,
        *,
        dim: int = 0,
        prior: _Prior | Literal["none", "mean", "full"] | None = None,
        seed: int = 0,
        a: float = 1.0,
        b: float = 1.0,
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["ts-cascade"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        clock: Literal["printed", "released"] = "printed",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["cascade-ucb1"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        alpha: float = 1.5,
        bonus: Literal["printed", "released"] = "printed",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["cascade-klucb"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        budget: Literal["printed", "released"] = "printed",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["cascade-ucbv"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["toprank"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        horizon: int = 10000,
        rule: Literal["printed", "released"] = "printed",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["maillard"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["epsilon-greedy"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        epsilon: float = 0.1,
        start: float = 0.0,
        looks: float = 1.0,
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["bubblerank"],
        items: int,
        *,
        dim: int = 0,
        prior: _Prior | Literal["none", "mean", "full"] | None = None,
        seed: int = 0,
        horizon: int = 10000,
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["pbm-ts"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        slots: int = 8,
        decay: float = 1.0,
        examine1: float = 0.0,
        examine2: float = 0.0,
        examine3: float = 0.0,
        examine4: float = 0.0,
        examine5: float = 0.0,
        examine6: float = 0.0,
        examine7: float = 0.0,
        examine8: float = 0.0,
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["pbm-ucb"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        eps: float = 0.0,
        decay: float = 1.0,
        examine1: float = 0.0,
        examine2: float = 0.0,
        examine3: float = 0.0,
        examine4: float = 0.0,
        examine5: float = 0.0,
        examine6: float = 0.0,
        examine7: float = 0.0,
        examine8: float = 0.0,
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["lints"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        radius: Literal["theory", "bayes", "released"] = "theory",
        lambda_: float = 0.0001,
        S: float = 1.0,
        sigma: float = 0.5,
        horizon: int = 10000,
        norm: Literal["accept", "scale", "refuse"] = "accept",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["logts"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        lambda_: float = 0.0001,
        weights: Literal["fresh", "stale", "none"] = "fresh",
        scale: Literal["unit", "theory"] = "unit",
        S: float = 1.0,
        sigma: float = 0.5,
        horizon: int = 10000,
        drift: float = 0.1,
        rows: int = 0,
        link: Literal["logit", "probit", "cloglog"] = "logit",
        norm: Literal["accept", "scale", "refuse"] = "accept",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["logts-newton"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        alpha: float = 4.0,
        v: float = 1.0,
        slots: int = 3,
        clip: float = 0.0,
        step: Literal["printed", "exact"] = "printed",
        norm: Literal["accept", "scale", "refuse"] = "accept",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["lints-cascade"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        lambda_: float = 1.0,
        R: float = 0.25,
        variant: Literal["printed", "released"] = "printed",
        norm: Literal["accept", "scale", "refuse"] = "accept",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["cascade-lints"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        sigma: float = 1.0,
        norm: Literal["accept", "scale", "refuse"] = "accept",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["cascade-linucb"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        sigma: float = 1.0,
        width: Literal["printed", "released", "given"] = "printed",
        c: float = 1.0,
        S: float = 1.0,
        horizon: int = 10000,
        norm: Literal["accept", "scale", "refuse"] = "accept",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["cascade-woful"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        scale: float = 1.0,
        S: float = 1.0,
        slots: int = 3,
        horizon: int = 10000,
        variant: Literal["printed", "released"] = "printed",
        norm: Literal["accept", "scale", "refuse"] = "accept",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["glm-ucb"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        lambda_: float = 1.0,
        width: Literal["theory", "given"] = "theory",
        alpha: float = 1.0,
        sigma: float = 0.5,
        S: float = 1.0,
        horizon: int = 10000,
        rows: int = 0,
        link: Literal["logit", "probit", "cloglog"] = "logit",
        norm: Literal["accept", "scale", "refuse"] = "accept",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["pg-ts"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
        lambda_: float = 1.0,
        sweeps: int = 10,
        rows: int = 0,
        norm: Literal["accept", "scale", "refuse"] = "accept",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["ensemble"],
        items: int,
        *,
        dim: int = 0,
        prior: _Prior | Literal["none", "mean", "full"] | None = None,
        seed: int = 0,
        rule: Literal["mean", "map", "released"] = "mean",
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        kind: Literal["random"],
        items: int,
        *,
        dim: int = 0,
        prior: None = None,
        seed: int = 0,
    ) -> Self: ...
    # </overloads>
    @property
    def kind(self) -> str: ...
    @property
    def params(self) -> dict[str, Any]: ...
    @property
    def prior(self) -> dict[str, _Array] | None: ...
    @property
    def items(self) -> int: ...
    @property
    def dim(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def round(self) -> int: ...
    def rank(
        self,
        k: SupportsIndex,
        candidates: _Numbers | None = None,
        x: _Table | None = None,
        seed: SupportsIndex | None = None,
        round: SupportsIndex | None = None,
    ) -> Ranking: ...
    def learn(
        self,
        ranking: _Numbers,
        clicks: _Numbers,
        examined: SupportsIndex | _Numbers | None = None,
        candidates: _Numbers | None = None,
        x: _Table | None = None,
        weights: _Numbers | None = None,
    ) -> None: ...
    def rank_many(
        self,
        n: SupportsIndex,
        k: SupportsIndex,
        candidates: _Numbers | None = None,
        x: _Table | None = None,
        seed: SupportsIndex | None = None,
        first_round: SupportsIndex | None = None,
    ) -> _Array: ...
    def learn_many(
        self,
        items: _Table,
        clicks: _Table,
        examined: _Numbers | _Table | None = None,
        candidates: _Numbers | None = None,
        x: _Table | None = None,
        weights: _Table | None = None,
    ) -> None: ...
    def predict(
        self, candidates: _Numbers | None = None, x: _Table | None = None
    ) -> tuple[_Array, _Array]: ...
    def propensities(
        self,
        k: SupportsIndex,
        draws: SupportsIndex = 10000,
        candidates: _Numbers | None = None,
        x: _Table | None = None,
        seed: SupportsIndex | None = None,
    ) -> _Array: ...
    def merge(self, other: Policy, /) -> None: ...
    def forget(self, keep: float, /) -> None: ...
    def check(self) -> None: ...
    def resize(self, items: SupportsIndex, prior: _Prior | None = None) -> None: ...
    def reset(self, item: SupportsIndex, /) -> None: ...
    def hyper(self) -> list[dict[str, Any]]: ...
    def _numbers(self) -> _Array | None: ...
    def save(self, path: _Path, /) -> None: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def load(
        cls, path: _Path, seed: SupportsIndex = 0, round: SupportsIndex | None = None
    ) -> Self: ...
    @classmethod
    def from_bytes(
        cls, data: bytes | bytearray | memoryview, seed: SupportsIndex = 0,
        round: SupportsIndex | None = None,
    ) -> Self: ...
    def copy(self) -> Self: ...
    def __copy__(self) -> Self: ...

@final
class Shown(Sequence[Any]):
    @property
    def scores(self) -> _Array: ...
    @property
    def places(self) -> _Array: ...
    @property
    def seed(self) -> str | bytes | int: ...
    @property
    def x(self) -> _Array | None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, slot: SupportsIndex, /) -> Any: ...
    @overload
    def __getitem__(self, slots: slice, /) -> tuple[Any, ...]: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    def count(self, name: Any, /) -> int: ...
    def index(self, name: Any, /) -> int: ...  # type: ignore[override]

class Model:
    @property
    def kind(self) -> str: ...
    @property
    def lessons(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def ranked(self) -> int: ...
    @property
    def contextual(self) -> bool: ...
    @property
    def _takes_clicks(self) -> bool: ...
    @property
    def _is_open(self) -> bool: ...
    def __len__(self) -> int: ...
    def __contains__(self, name: object, /) -> bool: ...
    def rank(
        self,
        k: SupportsIndex,
        items: Iterable[Any] | None = None,
        *,
        x: _Table | None = None,
        seed: str | bytes | SupportsIndex | None = None,
        greedy: bool = False,
        fresh_below: float = 0,
        least_fresh: int = 0,
        most_fresh: int | None = None,
    ) -> Shown: ...
    def learn(
        self,
        shown: Iterable[Any] | None,
        clicks: _Numbers | None = None,
        *,
        rewards: _Numbers | None = None,
        clicked: Iterable[Any] | None = None,
        id: str | bytes | None = None,
        examined: SupportsIndex | _Numbers | None = None,
        weights: _Numbers | None = None,
        x: _Table | None = None,
        examine: Literal["cascade", "last", "all"] | None = None,
    ) -> bool: ...
    def learn_many(self, lessons: Iterable[Mapping[str, Any] | tuple[Any, ...]]) -> int: ...
    def predict(
        self, items: Iterable[str | bytes] | None = None, *, x: _Table | None = None
    ) -> tuple[_Array, _Array]: ...
    def trim(self, idle: SupportsIndex) -> int: ...
    def forget(self, keep: float, id: str | bytes | None = None) -> bool: ...
    def merge(self, other: Model, id: str | bytes | None = None) -> bool: ...
    def names(self) -> list[str]: ...
    def hyper(self) -> dict[str, dict[str, Any]]: ...
    def seen(self, id: str | bytes, /) -> bool: ...
    def check(self) -> None: ...
    def to_bytes(self) -> bytes: ...
    def _make(self, kind: Any, settings: Any = None, seed: Any = 0) -> None: ...
    def _read_image(self, image: Any, seed: Any = 0, ranked: Any = 0) -> None: ...
    def _read_store(self, path: Any, seed: Any = 0) -> None: ...
    def _open_store(
        self,
        path: Any,
        kind: Any = None,
        settings: Any = None,
        sync: Any = "second",
        read_only: Any = False,
        checkpoint_bytes: Any = 0,
        seed: Any = 0,
        create_from: Any = None,
    ) -> None: ...
    def _write_store(self, path: Any) -> None: ...
    def _explain(self, items: Any = None, x: Any = None) -> dict[str, Any]: ...
    def _propensity(
        self,
        k: Any,
        items: Any = None,
        draws: Any = 0,
        x: Any = None,
        seed: Any = None,
        greedy: Any = False,
        fresh_below: Any = 0,
        least_fresh: Any = 0,
        most_fresh: Any = None,
    ) -> tuple[_Array, _Array]: ...
    def _ope_chances(
        self,
        places: _Table,
        lengths: _Numbers,
        sets: tuple[tuple[Any, Any], ...],
        set_of: _Numbers,
        rates: _Table | None = None,
        fold_of: _Numbers | None = None,
        slots: bool = False,
        match: bool = False,
        greedy: bool = False,
        draws: SupportsIndex = 0,
        seed: SupportsIndex = 0,
    ) -> tuple[_Array, ...]: ...
    def _list_propensity(
        self,
        shown: Any = None,
        places: Any = None,
        items: Any = None,
        x: Any = None,
        greedy: Any = False,
    ) -> _Array: ...
    def _prior(self, names: Any, pairs: Any) -> None: ...
    def _pair(self, prior: Any) -> tuple[float, float]: ...
    def _remove(self, names: Any) -> int: ...
    def _reset(self, names: Any) -> int: ...
    def _like(self, type: Any, strength: Any) -> Any: ...
    def _copy(self, type: Any) -> Any: ...
    def _settings(self) -> tuple[dict[str, Any], dict[str, Any]]: ...
    def _checkpoint(self) -> None: ...
    def _sync(self) -> None: ...
    def _close(self) -> None: ...
    def _stat(self) -> tuple[Any, ...]: ...
# ---- experiments

_Parameter: TypeAlias = float | _Numbers

@final
class Rng:
    def __new__(
        cls, seed: SupportsIndex, replication: SupportsIndex = 0, stream: SupportsIndex = 0,
        round: SupportsIndex = 0,
    ) -> Self: ...
    @overload
    def random(self, size: None = None) -> float: ...
    @overload
    def random(self, size: SupportsIndex) -> _Array: ...
    def uniform(
        self, low: _Parameter = 0.0, high: _Parameter = 1.0, size: SupportsIndex | None = None
    ) -> Any: ...
    def normal(
        self, loc: _Parameter = 0.0, scale: _Parameter = 1.0, size: SupportsIndex | None = None
    ) -> Any: ...
    def beta(self, a: _Parameter, b: _Parameter, size: SupportsIndex | None = None) -> Any: ...
    def gamma(
        self, shape: _Parameter, scale: _Parameter = 1.0, size: SupportsIndex | None = None
    ) -> Any: ...
    def integers(
        self, low: SupportsIndex, high: SupportsIndex | None = None,
        size: SupportsIndex | None = None,
    ) -> Any: ...
    def permutation(self, n: SupportsIndex, /) -> _Array: ...
    def fork(self, id: SupportsIndex, /) -> Rng: ...

@final
class Request:
    @property
    def t(self) -> int: ...
    @property
    def k(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def x(self) -> _Array: ...
    @property
    def rng(self) -> Rng: ...

@final
class Outcome:
    def rows(self, table: str, /) -> _Array: ...
    def about(self) -> dict[str, Any]: ...

def run(
    name: str, text: bytes, overrides: tuple[tuple[str, str, str], ...],
    policies: tuple[tuple[Any, ...], ...], world: tuple[Any, ...] | None, replaces: bool,
    threads: int, partial: str | None, keep_scores: str | None, resumes: bool, report: Any, /,
) -> Outcome: ...

# ---- datasets

@final
class Judged:
    @property
    def query(self) -> _Array: ...
    @property
    def first_row(self) -> _Array: ...
    @property
    def grade(self) -> _Array: ...
    @property
    def x(self) -> _Array: ...
    @property
    def counts(self) -> tuple[int, int, int]: ...
    @property
    def report(self) -> dict[str, Any]: ...
    def one(self, query: SupportsIndex, /) -> tuple[int, _Array, _Array]: ...
    def save(self, path: _Path, /) -> None: ...

def read_dataset(
    path: _Path, lenient: bool, cache: bool, threads: int, most_features: int, /
) -> Judged: ...
