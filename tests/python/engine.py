"""The engine through ctypes on liboltr.so: an independent way to the lists and beliefs of a policy.

Only what the comparisons need: policies by kind, parameters and prior; rank, learn and predict.
"""

import ctypes
import os
import pathlib

import oltr
import pytest

POINTER = ctypes.c_void_p


class Rng(ctypes.Structure):
    """oltr_rng."""

    _fields_ = [("word", ctypes.c_uint32 * 10)]


class Prior(ctypes.Structure):
    """oltr_prior."""

    _fields_ = [("a", POINTER), ("b", POINTER), ("mean", POINTER), ("sd", POINTER),
                ("reserved", POINTER * 4)]


class Settings(ctypes.Structure):
    """oltr_settings."""

    _fields_ = [("info", POINTER), ("n_items", ctypes.c_uint32), ("dim", ctypes.c_uint32),
                ("value", ctypes.c_double * 12), ("prior", Prior), ("memory", POINTER),
                ("custom", POINTER), ("custom_bytes", ctypes.c_size_t), ("size", ctypes.c_uint32),
                ("reserved32", ctypes.c_uint32), ("reserved", ctypes.c_uint64 * 4)]


class Query(ctypes.Structure):
    """oltr_query."""

    _fields_ = [("n_items", ctypes.c_uint32), ("item", POINTER), ("dim", ctypes.c_uint32),
                ("stride", ctypes.c_uint32), ("x", POINTER), ("reserved", POINTER * 2)]


class Shown(ctypes.Structure):
    """oltr_ranking."""

    _fields_ = [("k", ctypes.c_uint32), ("item", POINTER), ("score", POINTER),
                ("reserved", POINTER * 2)]


class Seen(ctypes.Structure):
    """oltr_feedback."""

    _fields_ = [("n_examined", ctypes.c_uint32), ("reward", POINTER), ("examined", POINTER),
                ("weight", POINTER), ("reserved", POINTER * 2)]


class Failure(ctypes.Structure):
    """oltr_error."""

    _fields_ = [("code", ctypes.c_int), ("msg", ctypes.c_char * 256)]


def library():
    """liboltr.so of this build; skips the test where it was not built."""
    beside = pathlib.Path(oltr.__file__).parent.parent.parent / "liboltr.so"
    path = os.environ.get("OLTR_LIBRARY", str(beside))
    if not os.path.exists(path):
        pytest.skip(f"{path} was not built")
    c = ctypes.CDLL(path)
    c.oltr_policy_new.restype = c.oltr_scratch_new.restype = POINTER
    c.oltr_policy_new.argtypes = [ctypes.POINTER(Settings), ctypes.POINTER(Failure)]
    c.oltr_scratch_new.argtypes = c.oltr_policy_free.argtypes = [POINTER]
    c.oltr_scratch_free.argtypes = [POINTER]
    c.oltr_settings_init.argtypes = [ctypes.POINTER(Settings), ctypes.c_char_p, ctypes.c_uint32,
                                     POINTER]
    c.oltr_settings_set.argtypes = [ctypes.POINTER(Settings), ctypes.c_char_p, ctypes.c_char_p,
                                    POINTER]
    c.oltr_rng_make.restype = c.oltr_rng_at.restype = Rng
    c.oltr_rng_make.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
    c.oltr_rng_at.argtypes = [Rng, ctypes.c_uint32, ctypes.c_uint64]
    c.oltr_rank.argtypes = [POINTER, POINTER, Rng, POINTER, POINTER]
    c.oltr_learn.argtypes = [POINTER, POINTER, POINTER, POINTER]
    c.oltr_predict.argtypes = [POINTER] * 4
    return c


def doubles(numbers):
    """A C array of doubles."""
    return (ctypes.c_double * len(numbers))(*numbers)


class Engine:
    """A policy of liboltr.so."""

    def __init__(self, kind, items, dim=0, seed=0, moments=None, **params):
        self.library = library()
        self.items, self.dim = items, dim
        settings, self.failure = Settings(), Failure()
        assert self.library.oltr_settings_init(settings, kind.encode(), items, None) == 0
        settings.dim = dim
        for name, value in params.items():
            text = str(value).encode()
            assert self.library.oltr_settings_set(settings, name.encode(), text, None) == 0
        if moments:
            self.moments = {name: doubles(numbers) for name, numbers in moments.items()}
            for name, numbers in self.moments.items():
                setattr(settings.prior, name, ctypes.addressof(numbers))
        self.policy = self.library.oltr_policy_new(settings, self.failure)
        assert self.policy, self.failure.msg
        self.scratch = self.library.oltr_scratch_new(self.policy)
        self.rng = self.library.oltr_rng_make(seed, 0)
        self.round = 0

    def __del__(self):
        if hasattr(self, "scratch"):
            self.library.oltr_scratch_free(self.scratch)
            self.library.oltr_policy_free(self.policy)

    def query(self, candidates, x):
        """oltr_query and the arrays that it points to."""
        n = len(candidates) if candidates is not None else len(x) if x is not None else self.items
        query, arrays = Query(n), []
        if candidates is not None:
            arrays.append((ctypes.c_uint32 * n)(*candidates))
            query.item = ctypes.addressof(arrays[-1])
        if x is not None:
            flat = [number for row in x for number in row]
            arrays.append((ctypes.c_float * len(flat))(*flat))
            query.dim, query.x = len(x[0]), ctypes.addressof(arrays[-1])
        return query, arrays

    def rank(self, k, candidates=None, x=None):
        """The list and its scores."""
        self.round += 1
        query, arrays = self.query(candidates, x)
        items, scores = (ctypes.c_uint32 * k)(), (ctypes.c_double * k)()
        shown = Shown(k, ctypes.addressof(items), ctypes.addressof(scores))
        rng = self.library.oltr_rng_at(self.rng, 0, self.round)
        status = self.library.oltr_rank(self.policy, ctypes.byref(query), rng, self.scratch,
                                  ctypes.byref(shown))
        assert status == 0 and arrays is not None
        return list(items), list(scores)

    def learn(self, items, clicks, candidates=None, x=None, examined=None, weights=None):
        """One lesson."""
        query, arrays = self.query(candidates, x)
        list_, rewards = (ctypes.c_uint32 * len(items))(*items), doubles(clicks)
        shown = Shown(len(items), ctypes.addressof(list_))
        seen = Seen(len(clicks), ctypes.addressof(rewards))
        if examined is not None:
            mask = (ctypes.c_uint8 * len(clicks))(*examined)
            seen.examined = ctypes.addressof(mask)
        if weights is not None:
            numbers = doubles(weights)
            seen.weight = ctypes.addressof(numbers)
        status = self.library.oltr_learn(self.policy, ctypes.byref(query), ctypes.byref(shown),
                                   ctypes.byref(seen))
        assert status == 0 and arrays is not None

    def predict(self, candidates=None, x=None):
        """Means and standard deviations."""
        query, arrays = self.query(candidates, x)
        mean, sd = doubles([0] * query.n_items), doubles([0] * query.n_items)
        status = self.library.oltr_predict(self.policy, ctypes.byref(query), mean, sd)
        assert status == 0 and arrays is not None
        return list(mean), list(sd)
