"""Every wrong argument gives an exception with a sentence, and changes nothing."""

import array
import ctypes
import decimal
import fractions

import numpy as np
import oltr
import pytest
from scenes import DIM, ITEMS, features


class Raises:
    """An object whose every method raises an exception of its own."""

    class Mine(Exception):
        """The exception."""

    def _raise(self, *arguments):
        raise Raises.Mine

    __index__ = __float__ = __len__ = __getitem__ = __iter__ = __int__ = __fspath__ = _raise


@pytest.fixture(name="policy")
def a_policy():
    policy = oltr.Policy("ts-beta", ITEMS, seed=1)
    policy.learn(policy.rank(3), [0, 1])
    yield policy
    assert (policy.round, policy.rounds) == (1, 1)  # nothing has changed
    assert policy.to_bytes() == policy.copy().to_bytes()
    policy.check()


@pytest.fixture(name="linear")
def a_linear_policy():
    policy = oltr.Policy("lints", ITEMS, dim=DIM)
    before = policy.to_bytes()
    yield policy
    assert policy.round == 0 and policy.to_bytes() == before


# ---- numbers


@pytest.mark.parametrize("k, error", [
    (0, oltr.Error), (ITEMS + 1, oltr.Error), (2**32 - 1, oltr.Error), (-1, ValueError),
    (2**32, ValueError), (2**64, ValueError), (10**4000, ValueError), (True, TypeError),
    (2.0, TypeError), ("2", TypeError), (None, TypeError), ([2], TypeError), (b"2", TypeError),
    (np.float64(2), TypeError), (decimal.Decimal(2), TypeError),
    (fractions.Fraction(2), TypeError), (Raises(), Raises.Mine), (np.array([1, 2]), TypeError),
])
def test_k(policy, k, error):
    for call in (policy.rank, policy.propensities, lambda number: policy.rank_many(2, number)):
        with pytest.raises(error):
            call(k)


@pytest.mark.parametrize("name, call", [
    ("seed", "rank"), ("round", "rank"), ("seed", "rank_many"), ("first_round", "rank_many"),
    ("seed", "propensities"), ("draws", "propensities"),
])
def test_seeds_and_rounds(policy, name, call):
    places = (2, 2) if call == "rank_many" else (2,)
    for bad, error in [(-1, ValueError), (2**64, ValueError), (1.5, TypeError), ("1", TypeError),
                       (False, TypeError), (Raises(), Raises.Mine)]:
        with pytest.raises(error, match=None if error is Raises.Mine else name):
            getattr(policy, call)(*places, **{name: bad})
    if "round" in name:
        with pytest.raises(ValueError):
            getattr(policy, call)(*places, **{name: 2**48})


def test_numbers_too_long_to_print(policy):
    for number in (10**5000, -(10**5000)):
        with pytest.raises(ValueError, match="k must be from 0 to 4294967295"):
            policy.rank(number)


def test_numbers_that_are_whole(policy):
    expected = policy.rank(2, round=9)
    for two, nine in [(np.int8(2), np.uint64(9)), (np.array(2), np.int32(9))]:
        assert policy.rank(two, round=nine) == expected


# ---- candidates


@pytest.mark.parametrize("candidates, error, text", [
    ([1, 1], oltr.Error, "candidate 0 and candidate 1 are both item 1"),
    ([1, ITEMS], oltr.Error, f"candidate 1 is item {ITEMS}"),
    ([1], oltr.Error, "cannot be filled from 1 candidates"),
    ([], oltr.Error, "cannot be filled from 0 candidates"),
    (list(range(ITEMS)) + [0], oltr.Error, "made for 20 at most"),
    ([1, -1], ValueError, ": -1 at place 1"),
    ([1, 2.5], ValueError, "2.5 at place 1"),
    ([1, 2**32], ValueError, "at place 1"),
    ([1, 10**400], ValueError, "place 1 is too large"),
    ([1, float("nan")], ValueError, "nan at place 1"),
    ([1, "2"], TypeError, "'2' at place 1 is not a number"),
    ([1, None], TypeError, "None at place 1"),
    ([1, [2]], TypeError, "at place 1"),
    ([True, False], TypeError, "not truth values"),
    (np.array([True, False, True]), TypeError, "flatnonzero"),
    (np.array([[1, 2]]), ValueError, "1 dimension, not 2"),
    (np.array(3), ValueError, "1 dimension, not 0"),
    (np.array([1, 2], complex), TypeError, "format"),
    (np.array(["1", "2"]), TypeError, "format"),
    (np.array([1, 2], object), TypeError, "format"),
    (np.array([1, 2], np.float16), TypeError, "format"),
    (np.array([1, np.nan]), ValueError, "nan at place 1"),
    (np.array([1, -1]), ValueError, ": -1 at place 1"),
    (np.array([1, 2**63], np.uint64), ValueError, "at place 1"),
    (np.array([1, 2], ">i4"), TypeError, "format"),
    (np.array([1, 2], "datetime64[s]"), ValueError, ""),
    ("12", TypeError, "not '12'"),
    (b"\1\2", TypeError, "not b"),
    (5, TypeError, "not 5"),
    ({1, 2}, TypeError, "an array or a list"),
    ({1: 2}, TypeError, "an array or a list"),
    (iter([1, 2]), TypeError, "an array or a list"),
    (array.array("u", "ab"), TypeError, "format"),
])
def test_candidates(policy, candidates, error, text):
    for call in (lambda: policy.rank(2, candidates), lambda: policy.rank_many(3, 2, candidates),
                 lambda: policy.propensities(2, 5, candidates)):
        with pytest.raises(error, match=text):
            call()


@pytest.mark.parametrize("candidates", [
    [3, 1, 2], (3, 1, 2), [3.0, 1.0, 2.0], array.array("B", [3, 1, 2]), bytearray([3, 1, 2]),
    array.array("q", [3, 1, 2]), np.array([3, 1, 2], np.int16), np.array([3, 0, 1, 0, 2])[::2],
    np.array([2, 1, 3])[::-1], (ctypes.c_long * 3)(3, 1, 2), (ctypes.c_uint16 * 3)(3, 1, 2),
    memoryview(np.array([3, 1, 2])), range(3, 0, -1), np.array([3.0, 1, 2], np.float32),
    np.array([3, 1, 2], np.int64), np.broadcast_to(np.array([3, 1, 2]), (3,)), [np.int8(3), 1, 2],
])
def test_good_candidates(policy, candidates):
    expected = policy.rank(2, [3, 1, 2] if not isinstance(candidates, range) else [3, 2, 1],
                           round=5)
    assert policy.rank(2, candidates, round=5) == expected


def test_candidates_of_standard_size():
    """A format with a prefix has sizes of its own: '<l' has four bytes, a native 'l' eight."""
    testbuffer = pytest.importorskip("_testbuffer")
    data = testbuffer.ndarray([3, 1, 2], shape=[3], format="<l")
    assert memoryview(data).itemsize == 4
    policy = oltr.Policy("gts", 9)
    assert policy.rank(2, data, round=1) == policy.rank(2, [3, 1, 2], round=1)


# ---- features


@pytest.mark.parametrize("x, error, text", [
    (None, oltr.Error, "ranks by features, and the query has none"),
    (np.zeros((ITEMS, DIM + 1)), oltr.Error, "has 5 features, the policy was made for 4"),
    (np.zeros((ITEMS + 1, DIM)), oltr.Error, "21 candidates"),
    (np.zeros((2, DIM)), oltr.Error, "cannot be filled from 2 candidates"),
    (np.zeros((0, DIM)), oltr.Error, "cannot be filled from 0"),
    (np.full((ITEMS, DIM), np.nan), oltr.Error, "feature 0 is -?nan"),
    (np.full((ITEMS, DIM), np.inf), oltr.Error, "feature 0 is inf"),
    (np.full((ITEMS, DIM), 1e7), oltr.Error, "at most 1e"),
    (np.full((ITEMS, DIM), 1e300), ValueError, "float32"),
    (np.zeros(DIM), ValueError, "2 dimensions, not 1"),
    (np.zeros((ITEMS, DIM, 1)), ValueError, "2 dimensions, not 3"),
    ([0] * ITEMS, TypeError, "a list of rows"),
    ([[0] * DIM] * 3 + [[0]], ValueError, "row 3 of x has 1 numbers, the first row 4"),
    ([["a"] * DIM] * ITEMS, TypeError, "'a' at place 0"),
    ([[10**400] * DIM] * ITEMS, ValueError, "too large"),
    ("text", TypeError, "x must be"),
    ([Raises()] * ITEMS, Raises.Mine, ""),
    ([[Raises()] * DIM] * ITEMS, Raises.Mine, ""),
])
def test_features(linear, x, error, text):
    for call in (lambda: linear.rank(3, x=x), lambda: linear.rank_many(2, 3, x=x),
                 lambda: linear.propensities(3, 5, x=x)):
        with pytest.raises(error, match=text):
            call()


def test_features_and_candidates_of_different_lengths(linear):
    with pytest.raises(ValueError, match="x has 20 rows for 3 candidates"):
        linear.rank(2, [1, 2, 3], features())


def test_one_bad_feature_is_named(linear):
    x = np.array(features(), np.float32)
    x[7, 2] = np.nan
    with pytest.raises(oltr.Error, match=r"candidate 7 \(item 7\): feature 2 is") as caught:
        linear.rank(3, x=x)
    assert caught.value.code == "EFEATURE"
    with pytest.raises(oltr.Error, match=r"candidate 2 \(item 9\): feature 2"):
        linear.rank(3, [4, 5, 9, 6], x[[4, 5, 7, 6]])
    with pytest.raises(oltr.Error):
        linear.learn([7, 1], [1, 0], x=x)


# ---- lessons


@pytest.mark.parametrize("arguments, error, text", [
    (([1, 2], [0, 2]), oltr.Error, r"slot 1 \(item 2\): a reward of 2"),
    (([1, 2], [0, 0.5]), oltr.Error, "a reward of 0.5"),
    (([1, 2], [0, float("nan")]), oltr.Error, "a reward of -?nan"),
    (([1, 2], [0, -1]), oltr.Error, "a reward of -1"),
    (([1, 1], [0, 0]), oltr.Error, "slot 0 and slot 1 are both item 1"),
    (([1, ITEMS], [0, 0]), oltr.Error, "slot 1 is item 20"),
    (([1, 2], [0, 0, 0]), oltr.Error, "clicks of 3 slots, and the list has 2"),
    (([], []), oltr.Error, "list of 0 slots"),
    (([1, 2], [0, 1], 3), oltr.Error, "examined is 3, but there are clicks of 2"),
    (([1, 2], [0, 1], -1), ValueError, "examined"),
    (([1, 2], [0, 1], True), TypeError, "examined"),
    (([1, 2], [0, 1], "1"), TypeError, "examined"),
    (([1, 2], [0, 1], 1.5), TypeError, "examined"),
    (([1, 2], [0, 1], [1]), oltr.Error, "mask examined has 1 entries for 2 clicks"),
    (([1, 2], [0, 1], [1, 2]), oltr.Error, "slot 1: the mask holds 2"),
    (([1, 2], [0, 1], [1, 256]), ValueError, "0 or 1"),
    (([1, 2], [0, 1], [1, -1]), ValueError, "0 or 1"),
    (([1, 2], [0, 1], [1, 0.5]), ValueError, "0 or 1"),
    (([1, 2], [0, 1], None, [2, 3]), oltr.Error, "slot 0 shows item 1, which is not among"),
    (([1, 2], [0, 1], None, None, None, [1]), oltr.Error, "1 weights for 2 clicks"),
    (([1, 2], [0, 1], None, None, None, [1, 0]), oltr.Error, "a weight of 0"),
    (([1, 2], [0, 1], None, None, None, [1, float("nan")]), oltr.Error, "a weight of -?nan"),
    (([1, 2], "01"), TypeError, "clicks"),
    (([1, 2], 1), TypeError, "clicks"),
    (([1, 2], [[0, 1]]), TypeError, "at place 0"),
    (([1, 2], np.zeros((1, 2))), ValueError, "1 dimension, not 2"),
    (([1, 2], [10**400, 0]), ValueError, "too large"),
    (("12", [0, 1]), TypeError, "items"),
    ((3, [0, 1]), TypeError, "items"),
    ((None, [0, 1]), TypeError, "needs the argument 'ranking'"),
    (([1, 2], None), TypeError, "needs the argument 'clicks'"),
    ((Raises(), [0, 1]), Raises.Mine, ""),
    (([1, 2], Raises()), Raises.Mine, ""),
    (([1, 2], [Raises(), 1]), Raises.Mine, ""),
    (([1, 2], [0, 1], Raises()), Raises.Mine, ""),
])
def test_lessons(policy, arguments, error, text):
    with pytest.raises(error, match=text):
        policy.learn(*arguments)


def test_weights_where_they_are_not_taken():
    policy = oltr.Policy("toprank", 5)
    with pytest.raises(oltr.Error, match="does not learn from weights") as caught:
        policy.learn([1, 2], [0, 1], weights=[1, 1])
    assert caught.value.code == "EUNSUPPORTED"


def test_a_ranking_of_another_policy(policy, linear):
    with pytest.raises(oltr.Error, match="ranks by features"):
        linear.learn(policy.rank(3, round=1), [0, 1])
    big = oltr.Policy("gts", 1000, seed=3).rank(5)
    with pytest.raises(oltr.Error, match="the items are 0 to 19"):
        policy.learn(big, [0, 1])


# ---- calls


@pytest.mark.parametrize("call", [
    lambda p: p.rank(), lambda p: p.rank(1, 2, 3, 4, 5, 6), lambda p: p.rank(1, k=2),
    lambda p: p.rank(1, kk=2), lambda p: p.learn([1]), lambda p: p.learn(clicks=[1]),
    lambda p: p.predict(1, 2, 3), lambda p: p.merge(), lambda p: p.merge(1, 2),
    lambda p: p.forget(), lambda p: p.forget("x"), lambda p: p.forget(None), lambda p: p.check(1),
    lambda p: p.resize(), lambda p: p.reset("1"), lambda p: p.hyper(1), lambda p: p.forget(True),
    lambda p: p.rank(2, **{"\ud800": 1}), lambda p: p.reset(1.5), lambda p: p.resize(1.5),
])
def test_wrong_calls(policy, call):
    with pytest.raises(TypeError):
        call(policy)


@pytest.mark.parametrize("call, error", [
    (lambda: oltr.Policy(), TypeError),
    (lambda: oltr.Policy("gts"), TypeError),
    (lambda: oltr.Policy("gts", 5, 3), TypeError),
    (lambda: oltr.Policy("gts", 5, kind="gts"), TypeError),
    (lambda: oltr.Policy(5, 5), TypeError),
    (lambda: oltr.Policy(b"gts", 5), TypeError),
    (lambda: oltr.Policy("gts\0", 5), ValueError),
    (lambda: oltr.Policy("\ud800", 5), ValueError),
    (lambda: oltr.Policy("gts", 0), oltr.Error),
    (lambda: oltr.Policy("gts", 2**29), oltr.Error),
    (lambda: oltr.Policy("gts", -1), ValueError),
    (lambda: oltr.Policy("gts", 2**32), ValueError),
    (lambda: oltr.Policy("gts", "5"), TypeError),
    (lambda: oltr.Policy("gts", 5.0), TypeError),
    (lambda: oltr.Policy("gts", 5, dim=-1), ValueError),
    (lambda: oltr.Policy("gts", 5, dim="x"), TypeError),
    (lambda: oltr.Policy("gts", 5, dim=3), oltr.Error),
    (lambda: oltr.Policy("lints", 5, dim=5000), oltr.Error),
    (lambda: oltr.Policy("lints", 5), oltr.Error),
    (lambda: oltr.Policy("gts", 5, seed=-1), ValueError),
    (lambda: oltr.Policy("gts", 5, seed=None), TypeError),
    (lambda: oltr.Policy("gts", 5, seed="x"), TypeError),
    (lambda: oltr.Policy("gts", 5, sigma=True), TypeError),
    (lambda: oltr.Policy("gts", 5, sigma="0.5"), TypeError),
    (lambda: oltr.Policy("gts", 5, sigma=10**400), ValueError),
    (lambda: oltr.Policy("gts", 5, sigma=None), TypeError),
    (lambda: oltr.Policy("gts", 5, sampler=1), TypeError),
    (lambda: oltr.Policy("gts", 5, sampler=True), TypeError),
    (lambda: oltr.Policy("gts", 5, nothing=1), oltr.Error),
    (lambda: oltr.Policy("gts", 5, sigma__=1), oltr.Error),
    (lambda: oltr.Policy("gts", 5, **{"x" * 100: 1}), oltr.Error),
    (lambda: oltr.Policy("gts", 5, **{"": 1}), oltr.Error),
    (lambda: oltr.Policy("gts", 5, **{"a\0b": 1}), ValueError),
    (lambda: oltr.Policy("gts", 5, sigma=Raises()), Raises.Mine),
    (lambda: oltr.Policy("gts", Raises()), Raises.Mine),
])
def test_wrong_policies(call, error):
    with pytest.raises(error) as caught:
        call()
    assert error is Raises.Mine or str(caught.value)


@pytest.mark.parametrize("prior, error", [
    (5, TypeError), (True, TypeError), ((1,), TypeError), ((1, 2, 3), TypeError), ({}, TypeError),
    ({"mean": 1}, TypeError), ({"mean": 1, "a": 2}, TypeError), ({"a": 1, "sd": 2}, TypeError),
    ({"mean": 1, "sd": 2, "other": 3}, TypeError), ({1: 2, 3: 4}, TypeError),
    (([1, 2], 3), ValueError), ((1, [1] * 6), ValueError), ((1, -1), oltr.Error),
    ((1, 0), oltr.Error), ((float("nan"), 1), oltr.Error), ((1, [1, 1, 1, 1, float("inf")]),
                                                            oltr.Error),
    (("x", 1), TypeError), ((None, 1), TypeError), (([1, 2, 3, 4, "x"], 1), TypeError),
    ((np.zeros((5, 1)), 1), ValueError), ({"mean": 1, "sd": 1, "take": 5}, TypeError),
    ({"mean": 1, "sd": 1, "take": "all"}, oltr.Error),
    ({"mean": 1, "sd": 1, "take": "x" * 50}, ValueError), ((Raises(), 1), Raises.Mine),
    ({"mean": 1, "sd": 1, "take": "none"}, oltr.Error), (b"full", TypeError),
    (np.array([[1, 2]]), TypeError), ((True, 1), TypeError),
])
def test_wrong_priors(prior, error):
    with pytest.raises(error):
        oltr.Policy("gts", 5, prior=prior)


def test_kinds_without_a_prior_refuse_one():
    with pytest.raises(oltr.Error) as caught:
        oltr.Policy("cascade-ucb1", 5, prior=(0.5, 0.1))
    assert caught.value.code == "EPRIOR"


# ---- objects that do something during the call


def test_a_list_that_changes_itself():
    policy, grown = oltr.Policy("gts", 9), []

    class Grows:
        def __float__(self):
            grown.extend([0.0] * 1000)
            clicks.clear()
            return 1.0

    clicks = [Grows(), 0.0, Grows()]
    policy.learn([1, 2, 3], clicks)
    assert policy.rounds == 1 and clicks == []

    class Rows:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            if i >= 2:
                raise IndexError
            table.clear()
            return 0.5

    table = [Rows(), Rows(), Rows()]
    linear = oltr.Policy("lints", 3, dim=2)
    assert len(linear.rank(2, x=table)) == 2 and table == []


def test_a_row_whose_length_lies():
    class Lies(list):
        def __len__(self):
            return 100

    linear = oltr.Policy("lints", 3, dim=2)
    with pytest.raises(ValueError, match="row 0 of x has 2 numbers, the first row 100"):
        linear.rank(2, x=[Lies([1, 2]), [1, 2], [3, 4]])


def test_a_policy_that_is_changed_by_its_own_argument():
    policy = oltr.Policy("gts", 9)

    class Shrinks:
        def __index__(self):
            policy.resize(2)
            return 5

    with pytest.raises(oltr.Error, match="5 slots cannot be filled from 2"):
        policy.rank(Shrinks())

    class Learns:
        def __float__(self):
            policy.learn([0, 1], [1, 0])
            return 1.0

    policy.learn([0, 1], [Learns(), 0])
    assert policy.rounds == 2

    class ShrinksAgain(Shrinks):
        def __float__(self):
            policy.resize(1)
            return 1.0

    with pytest.raises(oltr.Error, match="2 slots cannot be filled from 1"):
        policy.learn([0, 1], [ShrinksAgain(), 0])
    with pytest.raises((RuntimeError, oltr.Error)):
        grown = oltr.Policy("gts", 3, prior=(1, 1))

        class Resizes:
            def __float__(self):
                grown.resize(8, prior=(1, 1))
                return 1.0

        grown.resize(5, prior=([Resizes(), 1.0], 1))


def test_buffers_cannot_be_resized_during_a_call():
    """The view is held while numbers are converted, so that its owner cannot move the memory."""
    policy, caught = oltr.Policy("gts", 9), []
    items = array.array("I", [3, 1, 2])

    class Resizes:
        def __float__(self):
            try:
                items.extend(range(10000))
            except BufferError:
                caught.append(True)
            return 1.0

    policy.learn(items, [Resizes(), 0])
    assert caught == [True] and policy.rounds == 1
    items.append(4)  # the view was released
    policy.learn(items, [1])


def test_buffers_are_released_after_errors():
    policy = oltr.Policy("gts", 9)
    candidates, clicks = array.array("I", [3, 1, 1]), array.array("d", [0, 1, 5])
    for call in (lambda: policy.rank(2, candidates), lambda: policy.learn(candidates, clicks),
                 lambda: policy.rank(2, candidates, x=5), lambda: policy.predict(candidates, "x"),
                 lambda: policy.learn(clicks, candidates, "x"),
                 lambda: policy.rank_many(3, 2, candidates)):
        with pytest.raises((ValueError, TypeError)):
            call()
    candidates.append(1)
    clicks.append(1)


def test_released_and_read_only_buffers():
    policy = oltr.Policy("gts", 9)
    view = memoryview(array.array("I", [3, 1, 2]))
    assert policy.rank(2, view.toreadonly())
    view.release()
    with pytest.raises(ValueError):
        policy.rank(2, view)


def test_messages_are_short():
    policy = oltr.Policy("gts", 9)
    with pytest.raises(TypeError) as caught:
        policy.rank(list(range(100000)))
    assert len(str(caught.value)) < 300


def test_repr_that_raises():
    class Bad:
        def __repr__(self):
            raise Raises.Mine

    with pytest.raises((Raises.Mine, TypeError)):
        oltr.Policy("gts", 9).rank(Bad())


def test_features_that_a_kind_would_not_read_are_refused():
    policy, rows = oltr.Policy("ts-beta", 3, seed=1), [[1.0, 2.0]] * 3
    state, sentence = policy.to_bytes(), "ts-beta does not rank by features: leave out x"
    for call in (
        lambda: policy.rank(2, x=rows),
        lambda: policy.learn([0, 1], [0, 1], x=rows[:2]),
        lambda: policy.predict(x=rows),
        lambda: policy.rank_many(4, 2, x=rows),
        lambda: policy.learn_many([[0, 1]], [[0, 1]], x=rows),
        lambda: policy.propensities(2, x=rows),
    ):
        with pytest.raises(oltr.Error, match=sentence) as caught:
            call()
        assert caught.value.code == "EFEATURE"
    assert policy.to_bytes() == state and policy.round == 0


def test_the_file_of_a_model_is_no_snapshot_of_a_policy(tmp_path):
    oltr.Model("gts").save(tmp_path / "page.oltr")
    sentence = r"page\.oltr is not a snapshot.*oltr\.Model\.load"
    with pytest.raises(oltr.Error, match=sentence) as caught:
        oltr.load(tmp_path / "page.oltr")
    assert caught.value.code == "EMAGIC"
