"""Stores: a Model on a file, and how a file takes its place."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from ._core import Error, FileError
from .model import M, Model, engine_settings, refuse_unread
from .refusal import refusal


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
        seed: int | None = None,
        **options: Any,
    ) -> None:
        self.path = os.fspath(path)
        settings = engine_settings(**options)
        if kind is None and settings:
            raise TypeError(f"{next(iter(settings))} is for a new store: give its kind too")
        if kind is not None and create_from is not None:
            raise TypeError("a store is made from a kind or from create_from: give one of them")
        wanted = None if kind is None else _wanted(kind, settings)
        if kind is None and create_from is None and not os.path.lexists(self.path):
            raise refusal(
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
            raise refusal(
                "EMISMATCH",
                f"{os.fsdecode(self.path)} is a store of {self.kind}, not {wanted.kind}",
            )
        there = self.settings | self.params
        asked = wanted.settings | wanted.params
        for name in settings:
            if there[name] != asked[name]:
                raise refusal(
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
    refuse_unread(model, settings)
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


# ---- files


def file_exists(path: str) -> Error:
    return refusal("EIO", f"{path} exists: give overwrite=True, or another path", FileError)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def place_file(new: str, path: str, overwrite: bool) -> None:
    """Moves a file to its path; an old store there is locked meanwhile, and its log removed.

    The new image and an old log do not belong together, which opening notices; so a crash between
    the two steps loses nothing silently.
    """
    folder = os.path.dirname(path)
    if not os.path.lexists(path):
        try:
            os.link(new, path)  # fails where another process was faster
        except FileExistsError:
            raise file_exists(path) from None
        return _sync_folder(folder)
    if not overwrite:
        raise file_exists(path)
    old = Store(path)
    try:
        os.replace(new, path)
        os.unlink(path + ".log")
        _sync_folder(folder)
    finally:
        old.close()
