"""Copies, pickles, snapshots and files: exact for every kind."""

import copy
import ctypes
import os
import pathlib
import pickle

import oltr
import pytest
from engine import library
from scenes import CATALOGUE, KINDS, make, play

COPIERS = {
    "copy()": lambda policy: policy.copy(),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    **{f"pickle {protocol}": lambda policy, protocol=protocol: pickle.loads(
        pickle.dumps(policy, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)},
}


def with_prior(kind):
    """The settings of a policy that was given a prior, for kinds that take one."""
    if not CATALOGUE[kind]["uses_prior"] or CATALOGUE[kind]["contextual"]:
        return {}
    return {"prior": {"a": 2.0, "b": 5.0}}


@pytest.mark.parametrize("name", COPIERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_goes_on_to_the_same_bits(kind, name):
    policy = make(kind, seed=2**63 + 5, **with_prior(kind))
    play(policy, 25)
    policy.rank_many(3, 2, x=None if not policy.dim else [[0.1] * policy.dim] * policy.items)
    other = COPIERS[name](policy)
    assert other is not policy and type(other) is oltr.Policy
    assert (other.seed, other.round, other.rounds) == (2**63 + 5, 28, 25)
    assert other.params == policy.params and other.to_bytes() == policy.to_bytes()
    assert play(other, 25) == play(policy, 25)
    assert other.to_bytes() == policy.to_bytes()


@pytest.mark.parametrize("kind, param", [
    (kind, (param["name"], choice)) for kind in KINDS for param in CATALOGUE[kind]["params"]
    if param["type"] == "choice" and param["name"] != "prior" for choice in param["choices"]])
def test_copies_with_every_choice_of_a_parameter(kind, param):
    policy = make(kind, seed=3, **dict([param]))
    play(policy, 20)
    for other in (policy.copy(), pickle.loads(pickle.dumps(policy))):
        again = policy.copy()
        assert play(other, 20) == play(again, 20) and other.to_bytes() == again.to_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_copies_are_independent(kind):
    policy = make(kind)
    play(policy, 5)
    before = policy.to_bytes()
    play(policy.copy(), 20)
    assert policy.to_bytes() == before and policy.round == 5


@pytest.mark.parametrize("kind", KINDS)
def test_snapshots_and_files(kind, tmp_path):
    policy = make(kind, seed=4, **with_prior(kind))
    play(policy, 15)
    path = tmp_path / "a policy.oltr"
    policy.save(path)
    for other in (oltr.load(path, seed=4), oltr.Policy.load(str(path), 4),
                  oltr.load(os.fsencode(path), seed=4),
                  oltr.Policy.from_bytes(policy.to_bytes(), seed=4),
                  oltr.Policy.from_bytes(bytearray(policy.to_bytes()), 4, 15)):
        assert other.round == 15  # lists are counted on from those learned
        assert play(other, 10) == play(policy.copy(), 10)
    assert path.read_bytes() == policy.to_bytes()
    assert oltr.load(path).seed == 0
    assert oltr.load(path, round=7).rank(2, x=[[0.1] * policy.dim] * policy.items
                                         if policy.dim else None).round == 8


def test_programs_in_c_read_the_snapshot():
    policy = oltr.Policy("gts", 12)
    for _ in range(20):
        policy.learn(policy.rank(3), [0, 1])
    c, data = library(), policy.to_bytes()
    c.oltr_load.restype = ctypes.c_void_p
    c.oltr_load.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
    c.oltr_policy_rounds.argtypes = [ctypes.c_void_p]
    c.oltr_policy_rounds.restype = ctypes.c_uint64
    loaded = c.oltr_load(data, len(data), None)
    assert loaded and c.oltr_policy_rounds(loaded) == 20
    c.oltr_policy_free(loaded)


def test_subclasses_keep_their_attributes():
    policy = Noted("gts", 5, seed=3)
    policy.note = ["text"]
    for name, copier in COPIERS.items():
        other = copier(policy)
        assert type(other) is Noted and other.note == ["text"], name
        assert (other.note is policy.note) == (name in ("copy()", "copy.copy"))


class Noted(oltr.Policy):
    """A policy with attributes of its own."""


# ---- bytes from elsewhere


@pytest.mark.parametrize("data, code", [
    (b"", "EMAGIC"), (b"x" * 100, "EMAGIC"),
])
def test_bytes_that_are_no_snapshot(data, code):
    with pytest.raises(oltr.Error) as caught:
        oltr.Policy.from_bytes(data)
    assert caught.value.code == code and str(caught.value)


def test_a_snapshot_that_is_cut_short():
    with pytest.raises(oltr.Error) as caught:
        oltr.Policy.from_bytes(oltr.Policy("gts", 5).to_bytes()[:-9])
    assert caught.value.code == "ETRUNCATED"


def test_every_damaged_byte_is_found():
    data = oltr.Policy("ts-beta", 5, prior={"a": 1, "b": 2}).to_bytes()
    for i in range(len(data)):
        with pytest.raises(oltr.Error):
            oltr.Policy.from_bytes(data[:i] + bytes([data[i] ^ 0x55]) + data[i + 1:])
        with pytest.raises(oltr.Error):
            oltr.Policy.from_bytes(data[:i])


@pytest.mark.parametrize("data", ["text", 5, None, [1, 2], object()])
def test_what_is_no_bytes(data):
    with pytest.raises(TypeError):
        oltr.Policy.from_bytes(data)


def test_files_that_cannot_be_read_or_written(tmp_path):
    policy = oltr.Policy("gts", 5)
    for bad in (tmp_path / "no" / "such" / "folder", tmp_path):
        with pytest.raises(oltr.FileError) as caught:
            policy.save(bad)
        assert caught.value.code == "EIO" and isinstance(caught.value, OSError)
        with pytest.raises(oltr.FileError, match=str(tmp_path)):
            oltr.load(bad)
    for bad in (5, None, object(), ["x"]):
        with pytest.raises(TypeError):
            policy.save(bad)
    with pytest.raises(ValueError):
        policy.save("a\0b")
    assert list(pathlib.Path(tmp_path).iterdir()) == []


def test_exceptions_can_be_pickled():
    with pytest.raises(oltr.Error) as caught:
        oltr.Policy("gts", 5).rank(6)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is oltr.Error and again.code == "ESLOTS" and str(again) == str(caught.value)
