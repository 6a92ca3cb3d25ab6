"""Policies: the same lists and beliefs as the engine gives, settings, priors, changes of items."""

import gc
import weakref

import numpy as np
import oltr
import pytest
from engine import Engine
from scenes import CATALOGUE, DIM, ITEMS, KINDS, SLOTS, clicks_of, features, make, play, x_of

# ---- the engine's bits


@pytest.mark.parametrize("kind", KINDS)
def test_same_lists_scores_and_beliefs_as_the_engine(kind):
    policy, x = make(kind, seed=11), x_of(kind)
    engine = Engine(kind, ITEMS, dim=policy.dim, seed=11)
    for _ in range(60):
        ranking = policy.rank(SLOTS, x=x)
        items, scores = engine.rank(SLOTS, x=x)
        assert list(ranking) == items
        assert ranking.scores.tolist() == scores
        clicks = clicks_of(policy.round)
        policy.learn(ranking, clicks)
        engine.learn(items, clicks, x=x)
    assert policy.rounds == policy.round == 60
    if CATALOGUE[kind]["can_predict"]:
        assert [array.tolist() for array in policy.predict(x=x)] == list(engine.predict(x=x))


@pytest.mark.parametrize("kind", ["gts", "ts-beta", "lints", "logts"])
def test_same_bits_with_candidates(kind):
    policy, engine = make(kind, seed=3), Engine(kind, ITEMS, dim=make(kind).dim, seed=3)
    candidates = [17, 3, 8, 11, 0, 19, 5]
    x = features(2, len(candidates)) if policy.dim else None
    for _ in range(40):
        ranking = policy.rank(4, candidates, x)
        items, _ = engine.rank(4, candidates, x)
        assert list(ranking) == items
        policy.learn(ranking, [0, 1, 0])  # the ranking remembers its features
        engine.learn(items, [0, 1, 0], candidates, x)
    mean, sd = policy.predict(candidates, x)
    assert [mean.tolist(), sd.tolist()] == list(engine.predict(candidates, x))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if CATALOGUE[kind]["takes_weights"]])
def test_same_bits_with_masks_and_weights(kind):
    policy, engine = make(kind, seed=5), Engine(kind, ITEMS, dim=make(kind).dim, seed=5)
    x, mask, weights = x_of(kind), [1, 0, 1, 1], [2.0, 1.0, 0.5, 3.0]
    for _ in range(30):
        ranking = policy.rank(4, x=x)
        items, _ = engine.rank(4, x=x)
        assert ranking == items
        policy.learn(ranking, [1, 0, 0, 1], examined=mask, weights=weights)
        engine.learn(items, [1, 0, 0, 1], x=x, examined=mask, weights=weights)
    if CATALOGUE[kind]["can_predict"]:
        assert policy.predict(x=x)[0].tolist() == engine.predict(x=x)[0]


def test_same_bits_with_a_prior_and_parameters():
    mean, sd = [i / ITEMS for i in range(ITEMS)], [0.1 + i / 100 for i in range(ITEMS)]
    policy = oltr.Policy("gts", ITEMS, prior=(mean, sd), sigma=0.3, seed=2)
    engine = Engine("gts", ITEMS, seed=2, moments={"mean": mean, "sd": sd}, prior="full",
                    sigma=0.3)
    for _ in range(20):
        ranking = policy.rank(SLOTS)
        assert list(ranking) == engine.rank(SLOTS)[0]
        policy.learn(ranking, [0, 1])
        engine.learn(list(ranking), [0, 1])
    assert policy.predict()[1].tolist() == engine.predict()[1]


# ---- rounds and seeds


def test_rounds_count_from_one_and_can_be_given():
    policy = oltr.Policy("gts", 30, seed=7)
    lists = [policy.rank(3) for _ in range(4)]
    assert [ranking.round for ranking in lists] == [1, 2, 3, 4]
    again = policy.rank(3, round=2)
    assert again == lists[1] and again.round == 2 and policy.round == 4
    other = policy.rank(3, seed=8, round=2)
    assert other.seed == 8 and other == oltr.Policy("gts", 30, seed=8).rank(3, round=2)
    assert policy.rank(3, seed=8).round == 5  # another seed, the next round


def test_seed_is_64_bits():
    most = 2**64 - 1
    assert oltr.Policy("gts", 30, seed=most).seed == most
    assert oltr.Policy("gts", 30).rank(5, seed=most) == oltr.Policy("gts", 30, seed=most).rank(5)


def test_the_last_round_of_a_seed():
    policy = oltr.Policy.from_bytes(oltr.Policy("gts", 9).to_bytes(), round=2**48 - 2)
    assert policy.rank(2).round == 2**48 - 1
    with pytest.raises(ValueError, match="another seed"):
        policy.rank(2)
    with pytest.raises(ValueError, match="another seed"):
        policy.rank_many(1, 2)
    assert policy.rank_many(2, 2, first_round=2**48 - 2).shape == (2, 2)
    assert policy.round == 2**48 - 1


# ---- learning


def test_examined_by_depth_by_mask_and_by_default():
    depth, default, mask = (oltr.Policy("ts-beta", 6, seed=1) for _ in range(3))
    items = [4, 2, 0]
    default.learn(items, [0, 1])
    depth.learn(items, [0, 1, 1], examined=2)
    mask.learn(items, [0, 1, 1], examined=[True, True, False])
    for other in (depth, mask):
        assert other.predict()[0].tolist() == default.predict()[0].tolist()
    by_numpy = oltr.Policy("ts-beta", 6)
    by_numpy.learn(np.array(items), np.array([0, 1, 1]), examined=np.int64(2))
    assert by_numpy.to_bytes() == default.to_bytes()
    by_numpy.learn(np.array(items), np.array([0.0, 1, 1]), examined=np.array([0, 1, 0]))
    default.learn(items, [0, 1, 1], examined=[0, 1, 0])
    assert by_numpy.to_bytes() == default.to_bytes()


def test_a_list_of_which_nothing_was_examined_is_a_round():
    policy = oltr.Policy("gts", 5)
    policy.learn(policy.rank(2), [])
    assert policy.rounds == 1


def test_a_ranking_keeps_its_features():
    policy, other = (oltr.Policy("lints", ITEMS, dim=DIM, seed=4) for _ in range(2))
    x = np.array(features(), np.float32)
    ranking = policy.rank(3, x=x)
    assert other.rank(3, x=x) == ranking
    other.learn(list(ranking), [1, 0, 1], x=x)
    expected = x[ranking.items].copy()
    x[:] = 0
    assert (ranking.x == expected).all()
    policy.learn(ranking, [1, 0, 1])
    assert policy.to_bytes() == other.to_bytes()


def test_rows_of_long_lists_of_candidates():
    """The table by which rows are found, and the search, give the same rows."""
    items, dim = 700, 3
    policy = oltr.Policy("lints", items, dim=dim)
    candidates = np.random.default_rng(1).permutation(items)[:600].astype(np.uint32)
    x = np.random.default_rng(2).normal(size=(600, dim)).astype(np.float32)
    place = {int(item): row for row, item in enumerate(candidates)}
    for k in (3, 300):
        ranking = policy.rank(k, candidates, x)
        assert (ranking.x == x[[place[item] for item in ranking]]).all()


def test_arrays_of_every_form_are_the_same():
    x = np.array(features(), np.float64)
    forms = [x, x.astype(np.float32), x.tolist(), np.asfortranarray(x), x.astype(np.float32)[:, :],
             np.repeat(x, 2, axis=1)[:, ::2], memoryview(x), [row for row in x],
             tuple(map(tuple, x)), np.vstack([x, x]).astype(np.float32)[:ITEMS],
             np.hstack([x, x]).astype(np.float32)[:, :DIM]]
    lists = {tuple(oltr.Policy("lints", ITEMS, dim=DIM, seed=9).rank(5, x=form)) for form in forms}
    assert len(lists) == 1


def test_data_frames_and_series_are_arrays():
    pandas = pytest.importorskip("pandas")
    x = features()
    policy = oltr.Policy("lints", ITEMS, dim=DIM)
    assert policy.rank(3, x=pandas.DataFrame(x), round=1) == policy.rank(3, x=x, round=1)
    series = pandas.Series([3, 1, 4, 15])
    gts = oltr.Policy("gts", ITEMS)
    assert gts.rank(2, series, round=1) == gts.rank(2, [3, 1, 4, 15], round=1)


# ---- settings


def test_attributes_and_repr():
    policy = oltr.Policy("lints", 7, dim=3, seed=5, lambda_=2)
    assert (policy.kind, policy.items, policy.dim, policy.seed) == ("lints", 7, 3, 5)
    assert policy.params["lambda"] == 2.0 and policy.prior is None
    assert repr(policy) == "Policy('lints', items=7, dim=3, lambda=2.0, seed=5, rounds=0)"
    same = oltr.Policy("lints", 7, dim=3, seed=5, **policy.params)
    assert same.params == policy.params
    with pytest.raises(AttributeError):
        policy.seed = 3


def test_types_of_parameters():
    policy = oltr.Policy("gts", 5, sigma=np.float32(0.25), mean=1, sampler="released")
    assert policy.params["sigma"] == 0.25 and policy.params["mean"] == 1.0
    assert policy.params["sampler"] == "released"
    integers = [(entry["name"], param["name"]) for entry in CATALOGUE.values()
                for param in entry["params"] if param["type"] == "integer"]
    for kind, name in integers:
        assert isinstance(make(kind).params[name], int)


@pytest.mark.parametrize("prior", [
    (0.5, 0.25), [0.5, 0.25], {"mean": 0.5, "sd": 0.25},
    ([0.5] * 4, np.full(4, 0.25)), {"mean": np.float32(0.5), "sd": (0.25,) * 4},
])
def test_forms_of_a_prior(prior):
    policy = oltr.Policy("gts", 4, prior=prior)
    assert policy.params["prior"] == "full"
    assert policy.prior["mean"].tolist() == [0.5] * 4
    assert policy.prior["sd"].tolist() == [0.25] * 4
    assert policy.predict()[0].tolist() == [0.5] * 4


def test_beta_priors_and_what_is_taken():
    policy = oltr.Policy("ts-beta", 3, prior={"a": [1, 2, 3], "b": 4})
    assert policy.predict()[0].tolist() == [1 / 5, 2 / 6, 3 / 7]
    taken = oltr.Policy("gts", 3, prior={"mean": 0.5, "sd": 0.1, "take": "mean"})
    assert taken.params["prior"] == "mean" and taken.predict()[1].tolist() == [1.0] * 3


def test_a_text_sets_the_parameter_prior():
    with pytest.raises(oltr.Error) as caught:
        oltr.Policy("gts", 3, prior="mean")  # and there is no prior
    assert caught.value.code == "EPRIOR"
    assert oltr.Policy("gts", 3, prior="none").params["prior"] == "none"
    with pytest.raises(oltr.Error, match="must be one of none, mean, sd, full"):
        oltr.Policy("gts", 3, prior="whole")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if CATALOGUE[kind]["uses_prior"]])
def test_a_given_prior_is_used(kind):
    prior = {"a": 2.0, "b": 6.0}
    if CATALOGUE[kind]["contextual"]:
        prior = (0.1, 0.2)
    policy = make(kind, prior=prior)
    assert policy.prior is not None
    assert policy.params.get("prior", "full") == "full"


# ---- changes


@pytest.mark.parametrize("kind", [kind for kind in KINDS if CATALOGUE[kind]["can_merge"]])
def test_merge_adds_histories(kind):
    one, two = make(kind, seed=1), make(kind, seed=2)
    play(one, 10)
    play(two, 15)
    one.merge(two)
    assert one.rounds == 25 and two.rounds == 15
    one.check()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not CATALOGUE[kind]["can_merge"]])
def test_merge_is_refused(kind):
    with pytest.raises(oltr.Error) as caught:
        make(kind).merge(make(kind))
    assert caught.value.code == "EUNSUPPORTED"


def test_merge_of_others_is_refused():
    policy = oltr.Policy("gts", 5)
    with pytest.raises(oltr.Error) as caught:
        policy.merge(oltr.Policy("gts", 6))
    assert caught.value.code == "EMISMATCH"
    with pytest.raises(ValueError, match="itself"):
        policy.merge(policy)
    with pytest.raises(TypeError, match="takes a Policy"):
        policy.merge("gts")


def test_forget_moves_towards_the_prior():
    policy = oltr.Policy("ts-beta", 4)
    policy.learn([0, 1], [1, 1])
    assert policy.predict()[0][0] == pytest.approx(2 / 3)
    policy.forget(0.5)
    assert policy.predict()[0][0] == pytest.approx(1.5 / 2.5)
    policy.forget(0)
    assert policy.predict()[0].tolist() == [0.5] * 4
    for keep in (-0.1, 1.5, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="from 0 to 1"):
            policy.forget(keep)


def test_resize_and_reset():
    policy = oltr.Policy("ts-beta", 3)
    policy.rank(3)  # makes a scratch for three items
    policy.learn([0, 2], [1, 0])
    before = policy.predict()[0].tolist()
    policy.resize(500)
    assert policy.items == 500 and len(policy.rank(500)) == 500
    assert policy.predict()[0].tolist() == before + [0.5] * 497
    policy.reset(0)
    assert policy.predict()[0][0] == 0.5
    policy.resize(2)
    assert policy.items == 2
    with pytest.raises(oltr.Error) as caught:
        policy.reset(2)
    assert caught.value.code == "EITEM"


def test_resize_with_a_prior():
    policy = oltr.Policy("gts", 2, prior=(0.5, 0.1))
    with pytest.raises(oltr.Error, match="give the same for its 2 new items"):
        policy.resize(4)
    policy.resize(4, prior=([0.25, 0.75], 0.1))
    assert policy.prior["mean"].tolist() == [0.5, 0.5, 0.25, 0.75]
    with pytest.raises(ValueError, match="3 numbers for 1 items"):
        policy.resize(5, prior=([1, 2, 3], 0.1))
    with pytest.raises(oltr.Error, match="no new items"):
        policy.resize(1, prior=(0.5, 0.1))
    assert policy.items == 4


def test_hyper_of_ts_hyper():
    policy = oltr.Policy("ts-hyper", 8, prior={"a": 1, "b": [2, 3, 4, 5, 6, 7, 8, 9]})
    play_some = [policy.learn(policy.rank(3), [0, 0, 1]) for _ in range(50)]
    assert len(play_some) == 50
    hyper = policy.hyper()
    assert [entry["name"] for entry in hyper] == ["shift", "slope", "weight"]
    for entry in hyper:
        assert sum(entry["chances"].tolist()) == pytest.approx(1)
        mean = sum(v * c for v, c in zip(entry["values"].tolist(), entry["chances"].tolist()))
        assert entry["mean"] == pytest.approx(mean)
    assert oltr.Policy("gts", 4).hyper() == []


# ---- tables


def test_frame():
    pandas = pytest.importorskip("pandas")
    policy = oltr.Policy("ts-beta", 4)
    policy.learn([2, 0], [0, 1])
    frame = policy.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["item"].tolist() == [0, 1, 2, 3]
    assert frame["observations"].tolist() == [1, 0, 1, 0]
    assert frame["rewards"].tolist() == [1, 0, 0, 0]
    assert frame["mean"].tolist() == policy.predict()[0].tolist()
    assert policy.frame(candidates=[2, 0])["rewards"].tolist() == [0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_frame_of_every_kind(kind):
    policy = make(kind)
    play(policy, 5)
    frame = policy.frame(x=x_of(kind))
    assert len(frame) == ITEMS
    assert ("mean" in frame) == CATALOGUE[kind]["can_predict"]


@pytest.mark.parametrize("candidate", [-1, 4, 1.5])
def test_frame_of_items_that_are_not_there(candidate):
    for kind in ("ts-beta", "cascade-ucb1"):
        with pytest.raises((IndexError, ValueError)):
            oltr.Policy(kind, 4).frame(candidates=[0, candidate])


def test_frame_does_not_take_a_prior_for_sums():
    policy = oltr.Policy("ensemble", 3, prior=(0.5, 0.1))
    assert "observations" not in policy.frame()
    with_prior = oltr.Policy("gts", 3, prior=(0.5, 0.1))
    with_prior.learn([1], [1])
    assert with_prior.frame()["observations"].tolist() == [0, 1, 0]


# ---- life


def test_weak_references_and_the_end():
    policy = oltr.Policy("gts", 5)
    policy.rank(2)
    gone = weakref.ref(policy)
    del policy
    gc.collect()
    assert gone() is None


def test_subclasses():
    class Mine(oltr.Policy):
        def best(self):
            return self.rank(1)[0]

    policy = Mine("gts", 5, seed=1)
    policy.note = "kept"
    assert 0 <= policy.best() < 5
    assert repr(policy).startswith("Mine('gts'")
    copied = policy.copy()
    assert type(copied) is Mine and copied.note == "kept"
