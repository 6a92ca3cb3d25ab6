"""Rankings: a sequence, a buffer, equality, copies."""

import collections.abc
import copy
import pickle
import sys

import numpy as np
import oltr
import pytest


@pytest.fixture(name="ranking")
def a_ranking():
    return oltr.Policy("gts", 30, seed=7).rank(3)


def test_sequence(ranking):
    items = [16, 29, 13]
    assert isinstance(ranking, collections.abc.Sequence)
    assert len(ranking) == 3 and list(ranking) == items
    assert ranking[0] == 16 and ranking[-1] == 13 and ranking[np.int8(1)] == 29
    assert ranking[:2] == items[:2] and ranking[::-1] == items[::-1] and ranking[5:] == []
    assert ranking[2:0:-1] == [13, 29]
    assert 29 in ranking and 5 not in ranking
    assert ranking.index(13) == 2 and ranking.count(16) == 1
    assert list(reversed(ranking)) == items[::-1]
    match ranking:
        case [first, *_]:
            assert first == 16
        case _:
            pytest.fail("a sequence pattern must match")


@pytest.mark.parametrize("slot", [3, -4, 10**30, -(10**30)])
def test_slots_out_of_range(ranking, slot):
    with pytest.raises(IndexError):
        ranking[slot]


@pytest.mark.parametrize("slot", ["0", 1.0, None, (1,)])
def test_slots_of_wrong_types(ranking, slot):
    with pytest.raises(TypeError):
        ranking[slot]


def test_cannot_be_changed_or_made(ranking):
    with pytest.raises(TypeError):
        ranking[0] = 1
    with pytest.raises(TypeError):
        del ranking[0]
    with pytest.raises(TypeError):
        type(ranking)()
    with pytest.raises(AttributeError):
        ranking.round = 2
    with pytest.raises(ValueError):
        ranking.items[0] = 5


def test_buffer(ranking):
    view = memoryview(ranking)
    assert (view.format, view.itemsize, view.shape, view.strides) == ("I", 4, (3,), (4,))
    assert view.readonly and view.contiguous and view.nbytes == 12
    assert view.tolist() == list(ranking)
    assert bytes(ranking) == np.array(list(ranking), np.uint32).tobytes()
    with pytest.raises(TypeError):
        view[0] = 1


def test_items_without_a_copy(ranking):
    items = ranking.items
    assert items.dtype == np.uint32 and not items.flags.writeable
    address = np.asarray(ranking).__array_interface__["data"][0]
    assert items.__array_interface__["data"][0] == address
    expected = list(ranking)
    del ranking
    assert items.tolist() == expected  # the array keeps the ranking


def test_scores(ranking):
    assert ranking.scores.dtype == np.float64
    assert sorted(ranking.scores.tolist(), reverse=True) == ranking.scores.tolist()
    assert ranking.x is None


def test_equality_and_hash(ranking):
    same = oltr.Policy("gts", 30, seed=7).rank(3)
    assert ranking == same and hash(ranking) == hash(same)
    assert ranking == [16, 29, 13] and ranking == (16, 29, 13)
    assert hash(ranking) == hash((16, 29, 13))
    assert ranking != [16, 29] and ranking != [29, 16, 13]
    assert ranking != oltr.Policy("gts", 30, seed=7).rank(2)
    assert ranking != "x" and ranking is not None
    with pytest.raises(TypeError):
        ranking < same


def test_repr(ranking):
    assert repr(ranking) == "Ranking([16, 29, 13], round=1, seed=7)"


def test_equality_with_objects_that_raise(ranking):
    class Bad:
        def __eq__(self, other):
            raise KeyError("mine")

    with pytest.raises(KeyError):
        ranking == [Bad(), 1, 2]
    with pytest.raises(KeyError):
        ranking.index(Bad())


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    policy = oltr.Policy("lints", 6, dim=2, seed=2**63)
    ranking = policy.rank(4, x=[[i / 8, 1] for i in range(6)])
    again = pickle.loads(pickle.dumps(ranking, protocol))
    assert again == ranking and again.scores.tolist() == ranking.scores.tolist()
    assert (again.x == ranking.x).all()
    assert (again.seed, again.round) == (2**63, 1)
    policy.learn(again, [1, 0])
    assert copy.copy(ranking) is ranking and copy.deepcopy(ranking) is ranking


def test_forged_pickles_are_refused():
    make = oltr._core._make_ranking
    for parts in [(b"", b"", b""), (b"abc", b"x" * 8, b""), (b"x" * 4, b"x" * 7, b""),
                  (b"x" * 4, b"x" * 8, b"x" * 3), (b"x" * 8, b"x" * 16, b"x" * 4)]:
        with pytest.raises(ValueError):
            make(*parts, 0, 0)
    with pytest.raises(TypeError):
        make(1, 2, 3)


def test_reference_counts():
    policy = oltr.Policy("gts", 30)
    counts = [sys.getrefcount(oltr.Ranking)]
    rankings = [policy.rank(3) for _ in range(100)]
    counts.append(sys.getrefcount(oltr.Ranking))
    del rankings
    counts.append(sys.getrefcount(oltr.Ranking))
    assert counts == [counts[0], counts[0] + 100, counts[0]]
