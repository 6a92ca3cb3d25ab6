"""Policies and worlds written in Python, played by the simulator beside the built-in ones."""

import functools
import gc
import os
import subprocess
import sys
import textwrap
import threading
import traceback

import pytest

import oltr

SANITIZED = bool(os.environ.get("OLTR_SANITIZED"))

SMALL = {
    "rounds": 80,
    "slots": 2,
    "replications": 8,
    "checkpoints": [1, 40, 80],
    "world": {"kind": "beta", "items": 6, "prior": {"a": 1, "b": 4}},
    "policies": [{"name": "GTS", "kind": "gts"}],
}
ALONE = {key: value for key, value in SMALL.items() if key != "policies"}
SHORT = {**ALONE, "rounds": 5, "checkpoints": 1}
FEATURES = {**SMALL, "world": {"kind": "linear", "items": 6, "dim": 3}}


def run(experiment, **keywords):
    return oltr.run(experiment, **{"progress": False, "threads": 2, **keywords})


class Greedy:
    """Epsilon-greedy by scores."""

    def __init__(self, n_items):
        self.clicks, self.seen = [0.0] * n_items, [0] * n_items

    def scores(self, request):
        if request.rng.random() < 0.1:
            return request.rng.random(request.n)
        return [(c + 1) / (n + 2) for c, n in zip(self.clicks, self.seen)]

    def learn(self, items, rewards):
        for item, reward in zip(items, rewards):
            self.clicks[item] += reward
            self.seen[item] += 1


class Shuffled:
    """A random list, by rank."""

    def __init__(self, n_items, k):
        self.k = k

    def rank(self, request):
        assert request.k == self.k
        return request.rng.permutation(request.n)[: request.k]


# ---- policies


def test_the_same_bits_for_any_number_of_threads():
    policies = {"greedy": Greedy, "shuffled": Shuffled}
    results = [run(SMALL, policies=policies, threads=n) for n in (1, 2, 4)]
    rows = [result._rows("results") for result in results]
    assert rows[0] == rows[1] == rows[2]
    assert results[0].policies == ["GTS", "greedy", "shuffled"]
    pairs = [result._rows("pairs") for result in results]
    assert pairs[0] == pairs[1] == pairs[2]


def test_built_in_policies_play_as_without():
    alone = [row for row in run(SMALL)._rows("results")]
    beside = [row for row in run(SMALL, policies={"g": Greedy})._rows("results") if row[1] == "GTS"]
    assert beside == alone


def test_python_policies_alone_and_in_a_sweep():
    result = run(ALONE, policies={"greedy": Greedy})
    assert result.policies == ["greedy"]
    sweep = {"key": "slots", "values": [1, 3]}
    swept = run({**SMALL, "sweep": sweep}, policies={"greedy": Greedy, "shuffled": Shuffled})
    assert [point["slots"] for point in swept.points] == [1, 3]
    text = "rounds: 20\nslots: 2\nreplications: 2\nworld: {kind: uniform, items: 4}\n"
    assert run(text, policies={"greedy": Greedy}).policies == ["greedy"]
    assert run(text + "policies: [{kind: gts}]\n", policies={"g": Greedy}).policies == ["gts", "g"]


def test_learning_helps():
    world = {"kind": "uniform", "items": 8, "high": 0.5}
    experiment = {**ALONE, "rounds": 1500, "replications": 20, "world": world}
    result = run(experiment, policies={"greedy": Greedy, "shuffled": Shuffled})
    last = {row[1]: row[3] for row in result._last_rows()}
    assert last["greedy"] < 0.6 * last["shuffled"]


def test_it_is_the_engine_that_plays():
    """A policy that copies TopRank's rule of no learning: the first items, always."""

    class First:
        def __init__(self, n_items, k):
            self.list = list(range(k))

        def rank(self, request):
            return self.list

    world = {"kind": "fixed", "attraction": [0.5, 0.25, 0.1, 0.7]}
    result = run({**ALONE, "world": world}, policies={"first": First})
    best, shown = 1 - 0.3 * 0.5, 1 - 0.5 * 0.75
    row = result._last_rows()[0]
    assert row[3] == pytest.approx(80 * (best - shown))
    assert row[5] == pytest.approx(80 * shown)


def test_ties_are_broken_uniformly():
    class Equal:
        def __init__(self, n_items):
            pass

        def scores(self, request):
            return [0.0] * request.n

    seen = set()

    class Watched(Equal):
        def learn(self, items, rewards):
            seen.add(items[0])

    run(ALONE, policies={"equal": Watched})
    assert seen == set(range(6))


@pytest.mark.parametrize("kind", [list, tuple, "array", "uint32", "int64", "slice"])
def test_lists_and_arrays_are_taken(kind):
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    import array

    makers = {
        "array": lambda items: array.array("I", items),
        "uint32": lambda items: numpy.array(items, numpy.uint32),
        "int64": lambda items: numpy.array(items),
        "slice": lambda items: numpy.repeat(numpy.array(items), 2)[::2],
    }
    make = makers.get(kind, kind)

    class Ranks:
        def __init__(self, n_items):
            pass

        def rank(self, request):
            return make([3, 1])

        def learn(self, items, rewards):
            assert items == [3, 1][: len(items)] and all(isinstance(i, int) for i in items)

    class Scores(Ranks):
        rank = None

        def scores(self, request):
            return make([0, 5, 1, 9, 2, 3])

    rows = run(ALONE, policies={"ranks": Ranks, "scores": Scores})._last_rows()
    assert rows[0][3:] == rows[1][3:]


def test_what_a_factory_is_given():
    given = []

    def factory(n_items, k, dim, rounds, prior=None):
        given.append((n_items, k, dim, rounds, prior))
        return Shuffled(n_items, k)

    run(ALONE, policies={"mine": factory})
    n_items, k, dim, rounds, prior = given[-1]
    assert (n_items, k, dim, rounds) == (6, 2, 0, 80)
    assert list(prior["a"]) == [1.0] * 6 and list(prior["b"]) == [4.0] * 6
    given.clear()
    run({**FEATURES, "policies": [{"kind": "lints"}]}, policies={"mine": factory})
    assert given[-1][2] == 3 and given[-1][4] is None
    bound = functools.partial(lambda n_items, name, **more: Shuffled(n_items, more["k"]), name="x")
    assert run(ALONE, policies={"bound": bound}).policies == ["bound"]


def test_prior_as_mean_and_deviation():
    got = []

    def factory(n_items, prior):
        got.append(prior)
        return Greedy(n_items)

    class Told:
        n_items = 4

        def draw(self, rng):
            return {"attraction": [0.1, 0.2, 0.3, 0.4], "prior": ([0.1] * 4, [0.5] * 4)}

    run(ALONE | {"world": {}}, world=Told(), policies={"mine": factory})
    mean, sd = got[-1]
    assert list(mean) == [0.1] * 4 and list(sd) == [0.5] * 4


def test_features():
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    kept = []

    class Linear:
        def __init__(self, n_items, dim):
            self.a, self.b = numpy.eye(dim), numpy.zeros(dim)

        def scores(self, request):
            x = request.x
            assert x.dtype == numpy.float32 and x.shape == (request.n, 3)
            assert request.x is x
            kept.append((x, x.copy()))
            return x @ numpy.linalg.solve(self.a, self.b)

        def learn(self, items, rewards, x):
            assert x.shape == (len(items), 3)
            assert (x == kept[-1][0][items]).all()
            self.a += x.T @ x
            self.b += x.T @ numpy.array(rewards)

    for contexts in ("fixed", "fresh"):
        kept.clear()
        experiment = {**FEATURES, "world": {**FEATURES["world"], "contexts": contexts}}
        run({**experiment, "policies": [{"kind": "lints"}]}, policies={"ridge": Linear}, threads=1)
        assert all((x == copy).all() for x, copy in kept)  # later rounds do not change it


def test_a_policy_of_the_engine_inside():
    """A Python policy around oltr.Policy plays as the built-in one does, but for its draws."""
    policy = getattr(oltr, "Policy", None)
    if policy is None:
        pytest.skip("this build has no oltr.Policy")

    class Inside:
        def __init__(self, n_items):
            self.policy = policy("gts", n_items)

        def rank(self, request):
            return list(self.policy.rank(request.k, seed=int(request.rng.integers(2**31))))

        def learn(self, items, rewards):
            self.policy.learn(items, rewards)

    result = run({**SMALL, "replications": 200}, policies={"in": Inside})
    rows = {row[1]: row[3:5] for row in result._last_rows()}
    difference = abs(rows["GTS"][0] - rows["in"][0])
    assert difference < 6 * (rows["GTS"][1] + rows["in"][1])


def test_real_rewards_or_clicks():
    seen = {"rewards": set(), "clicks": set()}

    class Rewards(Greedy):
        def learn(self, items, rewards):
            seen[self.feedback].update(rewards)

        feedback = "rewards"

    class Clicks(Rewards):
        feedback = "clicks"

    world = {"kind": "scalar", "items": 6, "dim": 2}
    run({**ALONE, "world": world}, policies={"r": Rewards, "c": Clicks})
    assert seen["clicks"] == {0.0, 1.0}
    assert len(seen["rewards"]) > 100


def test_a_dataset_with_a_python_policy():
    sizes = set()

    class Sized(Greedy):
        def scores(self, request):
            sizes.add(request.n)
            assert request.x.shape[0] == request.n
            return super().scores(request)

    world = {
        "kind": "dataset", "shape": "web30k", "rankers": 0,
        "generated": {"train": 5, "vali": 2, "test": 4},
    }  # fmt: skip
    result = run({**ALONE, "world": world}, policies={"sized": Sized})
    assert len(sizes) > 1
    assert len(result._rows("queries")) == 4
    run({**ALONE, "world": {**world, "traffic": "interleaved"}}, policies={"sized": Sized})


def test_request_outside_of_a_call():
    kept = []

    class Keeps(Greedy):
        def scores(self, request):
            kept.append(request)
            return super().scores(request)

    run(FEATURES, policies={"keeps": Keeps}, threads=1)
    assert 1 <= kept[-1].t <= 80 and kept[-1].n == 6
    assert isinstance(kept[-1].rng.normal(), float)
    with pytest.raises(RuntimeError, match="while the policy ranks and learns"):
        kept[-1].x
    with pytest.raises(TypeError):
        oltr.Request()


# ---- mistakes of policies

WRONG = {
    "too few": ([1], "rank() returned 1 items, and 2 are needed"),
    "too many": ([1, 2, 3], "rank() returned 3 items, and 2 are needed"),
    "twice": ([4, 4], "rank() returned item 4 twice"),
    "beyond": ([1, 6], "rank() returned item 6; the candidates are 0 to 5"),
    "negative": ([1, -1], "must be whole numbers"),
    "huge": ([1, 2**70], "must be whole numbers"),
    "fraction": ([1, 0.5], "must be whole numbers"),
    "text": (["a", "b"], "is not a number"),
    "string": ("ab", "must be an array or a list"),
    "none": (None, "must be an array or a list"),
    "number": (3, "must be an array or a list"),
    "nested": ([[1, 2]], "is not a number"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_lists_are_refused(case):
    answer, words = WRONG[case]

    class Wrong:
        def __init__(self, n_items):
            pass

        def rank(self, request):
            return answer if request.t == 7 else [0, 1]

    with pytest.raises((ValueError, TypeError)) as caught:
        run(ALONE, policies={"wrong": Wrong})
    assert words in str(caught.value)
    assert caught.value.__notes__[0].startswith("in policy wrong, replication ")
    assert caught.value.__notes__[0].endswith(", round 7")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([0.0] * 5, "scores() returned 5 scores, and 6 are needed"),
        ([0.0] * 5 + [float("nan")], "scores() returned nan for item 5"),
        ([0.0] * 5 + [10**400], "the number at place 5 is too large"),
        ([0.0] * 5 + [None], "is not a number"),
        (None, "must be an array or a list"),
        ({}, "must be an array or a list"),
    ],
)
def test_wrong_scores_are_refused(answer, words):
    class Wrong:
        def __init__(self, n_items):
            pass

        def scores(self, request):
            return answer

    with pytest.raises((ValueError, TypeError, OverflowError)) as caught:
        run(ALONE, policies={"wrong": Wrong})
    assert words in str(caught.value)


def test_infinite_scores_are_fine():
    class Keen(Greedy):
        def scores(self, request):
            return [float("inf"), -float("inf"), 0, 1, 2, 3]

        def learn(self, items, rewards):
            assert items[0] == 0

    run(ALONE, policies={"keen": Keen})


class Boom(Exception):
    pass


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("where", ["factory", "rank", "scores", "learn"])
def test_exceptions_come_out(where, threads):
    class Fails(Greedy):
        def __init__(self, n_items):
            super().__init__(n_items)
            self.fail("factory", 9)

        def fail(self, call, t):
            if call == where and t > 8:
                raise Boom(call)

        def scores(self, request):
            self.fail("scores", request.t)
            return super().scores(request)

        def learn(self, items, rewards):
            self.fail("learn", sum(self.seen))
            super().learn(items, rewards)

    class Ranks(Fails):
        def rank(self, request):
            self.fail("rank", request.t)
            return [0, 1]

    with pytest.raises(Boom, match=where) as caught:
        run(SMALL, policies={"fails": Ranks if where == "rank" else Fails}, threads=threads)
    assert "fail" in "".join(traceback.format_tb(caught.value.__traceback__))
    note = caught.value.__notes__[0]
    assert note.startswith("in policy fails")
    assert ("round" in note) == (where != "factory")
    assert run(SMALL, policies={"greedy": Greedy}).policies  # nothing is left behind


def test_system_exit_and_keyboard_interrupt_come_out():
    class Leaves(Greedy):
        def scores(self, request):
            sys.exit(3)

    class Interrupts(Greedy):
        def scores(self, request):
            raise KeyboardInterrupt

    with pytest.raises(SystemExit):
        run(ALONE, policies={"leaves": Leaves})
    with pytest.raises(KeyboardInterrupt):
        run(ALONE, policies={"interrupts": Interrupts})


def test_a_list_that_changes_while_it_is_read():
    class Evil:
        def __init__(self, answer):
            self.answer = answer

        def __float__(self):
            if self.answer:  # the first of a list
                self.answer.clear()
                gc.collect()
            return 1.0

        __index__ = __float__

    class Changes(Greedy):
        def scores(self, request):
            answer = []
            answer += [Evil(answer) for _ in range(request.n)]
            return answer

    run(SHORT, policies={"changes": Changes})  # a tuple was made of it first

    class ChangesItems(Greedy):
        def rank(self, request):
            answer = []
            answer += [Evil(answer) for _ in range(request.k)]
            return answer

    with pytest.raises(ValueError, match="twice"):
        run(SHORT, policies={"changes": ChangesItems})


@pytest.mark.parametrize(
    ("policies", "exception", "words"),
    [
        ({"x": 3}, TypeError, "must be a class or a function"),
        ({"x": Greedy(6)}, TypeError, "must be a class or a function"),
        ({"x": object}, TypeError, ""),
        ({"x": lambda: Greedy(6)}, TypeError, "as its first argument"),
        ({"x": lambda n, colour: Greedy(n)}, TypeError, "needs 'colour'"),
        ({"x": lambda n: object()}, TypeError, "has neither rank(request) nor scores(request)"),
        ({"x": lambda n: None}, TypeError, "has neither rank(request) nor scores(request)"),
        ({"": Greedy}, ValueError, "a line of text"),
        ({"a\nb": Greedy}, ValueError, "a line of text"),
        ({3: Greedy}, ValueError, "a line of text"),
        ({"x" * 121: Greedy}, ValueError, "longer than 120 bytes"),
        ({"GTS": Greedy}, oltr.Error, "two policies are called `GTS`"),
        ([Greedy], TypeError, "must be a dict"),
    ],
)
def test_mistakes_in_policies(policies, exception, words):
    with pytest.raises(exception) as caught:
        run(SMALL, policies=policies)
    assert words in str(caught.value)


def test_an_unknown_feedback():
    class Odd(Greedy):
        feedback = "both"

    with pytest.raises(ValueError, match="feedback of policy 'odd'"):
        run(SMALL, policies={"odd": Odd})


# ---- worlds


class Steps:
    """Attractions that are drawn, and change every 20 rounds."""

    n_items = 6

    def draw(self, rng):
        return {"attraction": rng.beta([1.0] * 6, [4.0] * 6), "age": 0}

    def advance(self, t, truth, rng):
        if t % 20 == 0:
            return {"attraction": rng.beta([1.0] * 6, [4.0] * 6), "age": truth["age"] + 1}
        return None


class Users:
    """The dependent click model, in Python."""

    n_items = 5

    def draw(self, rng):
        return rng.uniform(0.1, 0.9, size=5)

    def scan(self, items, truth, rng):
        rewards = []
        for item in items:
            liked = rng.fork(item).random() < truth[item]
            rewards.append(float(liked))
            if liked and rng.fork(1000 + item).random() < 0.7:
                break
        return rewards

    def value(self, items, truth):
        left = 1.0
        for item in items:
            left *= 1 - 0.7 * truth[item]
        return 1 - left

    def best(self, k, truth):
        return Users.value(self, sorted(range(5), key=lambda i: -truth[i])[:k], truth)

    def worst(self, k, truth):
        return Users.value(self, sorted(range(5), key=lambda i: truth[i])[:k], truth)


NO_WORLD = {key: value for key, value in SMALL.items() if key != "world"}


@pytest.mark.parametrize("world", [Steps, Users])
def test_worlds_give_the_same_bits_for_any_number_of_threads(world):
    policies = [{"kind": "gts"}, {"kind": "ts-beta"}, {"kind": "random"}]
    rows = [
        run({**NO_WORLD, "policies": policies}, world=world(), policies={"g": Greedy}, threads=n)
        for n in (1, 2, 4)
    ]
    assert rows[0]._rows("results") == rows[1]._rows("results") == rows[2]._rows("results")
    assert rows[0].points[0]["items"] == world.n_items


def test_a_world_is_as_a_built_in_one():
    """Fixed attractions in Python and in the engine: the same users, the same bits."""

    class Fixed:
        n_items = 4

        def draw(self, rng):
            return [0.5, 0.25, 0.1, 0.7]

    policies = [{"kind": "gts"}, {"kind": "cascade-ucb1"}, {"kind": "random"}]
    given = {**NO_WORLD, "policies": policies}
    theirs = run({**given, "world": {"kind": "fixed", "attraction": [0.5, 0.25, 0.1, 0.7]}})
    mine = run(given, world=Fixed())
    assert mine._rows("results") == theirs._rows("results")
    assert mine._rows("metrics") == theirs._rows("metrics")
    # parameters of the click model are those of the experiment
    few = {**given, "world": {"no_click": 1}}
    assert run(few, world=Fixed())._rows("results") != mine._rows("results")
    with pytest.raises(oltr.Error, match="levels"):
        run({**given, "world": {"levels": [[2, 0.1]]}}, world=Fixed())


def test_a_world_with_features_and_prior():
    class Linear:
        n_items, dim = 7, 3

        def draw(self, rng):
            theta = rng.random(3)
            x = [[rng.random() / 3 for _ in range(3)] for _ in range(7)]
            attraction = [sum(a * b for a, b in zip(row, theta)) for row in x]
            prior = {"a": [10 * p + 0.1 for p in attraction], "b": [10.0] * 7}
            return {"attraction": attraction, "features": x, "prior": prior}

        def advance(self, t, truth, rng):
            if t == 40:
                return {"attraction": truth["attraction"][:5], "features": truth["features"][:5]}
            return None

    sizes = set()

    class Sized(Greedy):
        def scores(self, request):
            sizes.add(request.n)
            assert request.x.shape == (request.n, 3)
            return super().scores(request)[: request.n]

    policies = [{"kind": "lints"}, {"kind": "gts", "prior": "full"}, {"kind": "random"}]
    result = run({**NO_WORLD, "policies": policies}, world=Linear(), policies={"s": Sized})
    assert sizes == {5, 7}
    assert result.points[0]["dim"] == 3


def test_a_world_with_real_rewards():
    class Reals:
        n_items, rewards = 4, "reals"

        def draw(self, rng):
            return rng.normal(size=4)

    class RealUsers(Reals):
        def scan(self, items, truth, rng):
            return [truth[item] + rng.normal() for item in items]

        def value(self, items, truth):
            return sum(truth[item] for item in items)

        def best(self, k, truth):
            return sum(sorted(truth)[-k:])

    given = {**NO_WORLD, "policies": [{"kind": "gts"}]}
    for world in (Reals(), RealUsers()):
        assert run(given, world=world)._last_rows()[0][3] >= 0
    with pytest.raises(oltr.Error, match="learns from clicks only"):
        run({**given, "policies": [{"kind": "ts-beta"}]}, world=RealUsers())


class Fixed4:
    n_items = 4

    def __init__(self, answer=(0.1, 0.2, 0.3, 0.4)):
        self.answer = answer

    def draw(self, rng):
        return self.answer


def fixed4(**changes):
    return type("Changed", (Fixed4,), changes)()


BAD_DRAWS = [
    (None, "must be an array or a list"),
    ([0.1] * 5, "a world of 4 items returned 5 attractions"),
    ([], "returned 0 attractions"),
    ([0.1], "draw() left 1 items"),
    ([0.1, 0.2, 0.3, 1.5], "the attraction of item 3 is 1.5; it must be from 0 to 1"),
    ([0.1, 0.2, 0.3, float("nan")], "the attraction of item 3 is nan"),
    ("abcd", "must be an array or a list"),
    ({}, 'with the key "attraction"'),
    ({"attraction": [0.1] * 4, "prior": 3}, "the prior of a world is"),
    ({"attraction": [0.1] * 4, "prior": {"a": [1] * 4}}, "the prior of a world is"),
    ({"attraction": [0.1] * 4, "prior": ([1] * 3, [1] * 3)}, "a prior has 3 and 3 numbers"),
    ({"attraction": [0.1] * 4, "features": [[1.0]] * 4}, "features are 4 x 1 numbers"),
]


@pytest.mark.parametrize("at", range(len(BAD_DRAWS)))
def test_bad_draws_are_refused(at):
    answer, words = BAD_DRAWS[at]
    with pytest.raises((ValueError, TypeError)) as caught:
        run(NO_WORLD, world=Fixed4(answer))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("world", "exception", "words"),
    [
        (3, TypeError, "a world needs n_items and draw(rng)"),
        (Fixed4, TypeError, "call it first"),
        (fixed4(n_items=0), ValueError, "world.n_items"),
        (fixed4(n_items=2.5), ValueError, "world.n_items"),
        (fixed4(n_items=True), ValueError, "world.n_items"),
        (fixed4(dim=-1), ValueError, "world.dim"),
        (fixed4(dim=2), ValueError, 'must return "features"'),
        (fixed4(rewards="odd"), ValueError, "world.rewards"),
        (fixed4(draw=3), TypeError, "world.draw must be a method"),
        (fixed4(scan=lambda *a: []), TypeError, "need scan, value and best"),
        (fixed4(worst=lambda *a: 0.0), TypeError, "belongs to scan"),
        (fixed4(n_items=1), oltr.Error, "slots"),
    ],
)
def test_mistakes_in_worlds(world, exception, words):
    with pytest.raises(exception) as caught:
        run(NO_WORLD, world=world)
    assert words in str(caught.value)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("where", ["draw", "advance", "scan", "value", "best", "worst"])
def test_exceptions_of_worlds_come_out(where, threads):
    calls = []

    def fails(self, *arguments):
        calls.append(where)
        if len(calls) > 3:
            raise Boom(where)
        return getattr(Users, where)(self, *arguments) if where != "advance" else None

    world = type("Fails", (Users,), {where: fails})()
    with pytest.raises(Boom, match=where) as caught:
        run(NO_WORLD, world=world, threads=threads)
    assert caught.value.__notes__[0].startswith(f"in {where}() of the world")


@pytest.mark.parametrize(
    ("where", "answer", "words"),
    [
        ("scan", [0, 1, 0], "scan() returned 3 rewards for a list of 2 items"),
        ("scan", [0, 0.5], "scan() returned the reward 0.5 for slot 1; it must be 0 or 1"),
        ("scan", None, "must be an array or a list"),
        ("value", float("nan"), "returned nan"),
        ("value", "x", "must be real number"),
        ("best", None, "must be real number"),
        ("best", float("inf"), "returned inf"),
    ],
)
def test_wrong_answers_of_users(where, answer, words):
    world = type("Wrong", (Users,), {where: lambda self, *arguments: answer})()
    with pytest.raises((ValueError, TypeError)) as caught:
        run(NO_WORLD, world=world)
    assert words in str(caught.value)


def test_an_advance_that_is_refused():
    class Grows(Fixed4):
        def advance(self, t, truth, rng):
            return [0.1] * (4 if t < 10 else 5)

    with pytest.raises(ValueError, match="returned 5 attractions") as caught:
        run(NO_WORLD, world=Grows())
    assert caught.value.__notes__[0].endswith("round 10")

    class Shrinks(Fixed4):
        n_items, dim = 4, 1

        def draw(self, rng):
            return {"attraction": [0.1] * 4, "features": [[0.5]] * 4}

        def advance(self, t, truth, rng):
            return [0.1, 0.2]

    with pytest.raises(ValueError, match='must return "features"'):
        run(NO_WORLD, world=Shrinks())


# ---- random numbers


def test_rng_is_the_generator_of_the_engine():
    rng = oltr.Rng(7, 3, 0, 12)
    again = oltr.Rng(7, replication=3, stream=0, round=12)
    assert [rng.random() for _ in range(5)] == [again.random() for _ in range(5)]
    assert oltr.Rng(7).random() != oltr.Rng(8).random()
    assert oltr.Rng(7).fork(1).random() == oltr.Rng(7).fork(1).random()
    assert oltr.Rng(7).fork(1).random() != oltr.Rng(7).fork(2).random()


def test_rng_moments():
    rng = oltr.Rng(1)
    n = 20_000

    def mean(values):
        return sum(values) / len(values)

    assert abs(mean(rng.random(n)) - 0.5) < 0.02
    assert abs(mean(rng.uniform(-1, 3, n)) - 1) < 0.06
    assert abs(mean(rng.normal(2, 3, size=n)) - 2) < 0.13
    assert abs(mean(rng.beta(2, 6, n)) - 0.25) < 0.01
    assert abs(mean(rng.gamma(3, 2, n)) - 6) < 0.15
    assert set(rng.integers(2, 5, n)) == {2, 3, 4}
    assert set(rng.integers(3, size=100)) == {0, 1, 2}
    assert sorted(rng.permutation(10)) == list(range(10))
    assert len(rng.permutation(0)) == 0 and len(rng.random(0)) == 0
    assert list(rng.normal([1.0, 2.0], 0.0)) == [1.0, 2.0]
    assert 0 <= rng.integers(5) < 5 and isinstance(rng.integers(5), int)


@pytest.mark.parametrize(
    "call",
    [
        lambda rng: rng.beta(0, 1),
        lambda rng: rng.beta(1, float("nan")),
        lambda rng: rng.beta([1.0, -1.0], [1.0, 1.0]),
        lambda rng: rng.beta([1.0], [1.0, 1.0]),
        lambda rng: rng.beta([1.0], 2, size=3),
        lambda rng: rng.normal(0, -1),
        lambda rng: rng.normal(float("inf")),
        lambda rng: rng.gamma(-1),
        lambda rng: rng.uniform(0, float("inf")),
        lambda rng: rng.integers(0),
        lambda rng: rng.integers(5, 5),
        lambda rng: rng.integers(-3),
        lambda rng: rng.integers(2**40),
        lambda rng: rng.random(-1),
        lambda rng: rng.permutation(-1),
        lambda rng: rng.fork(-1),
        lambda rng: oltr.Rng(-1),
        lambda rng: oltr.Rng(0, round=2**48),
    ],
)
def test_rng_refuses(call):
    with pytest.raises(ValueError):
        call(oltr.Rng(1))


@pytest.mark.parametrize(
    "call",
    [
        lambda rng: rng.beta(1),
        lambda rng: rng.beta("a", 1),
        lambda rng: rng.normal(size=2.5),
        lambda rng: rng.normal(colour=1),
        lambda rng: rng.uniform(1, 2, 3, 4),
        lambda rng: rng.integers(1.5),
        lambda rng: rng.permutation("x"),
        lambda rng: oltr.Rng(),
        lambda rng: oltr.Rng("x"),
    ],
)
def test_rng_refuses_types(call):
    with pytest.raises(TypeError):
        call(oltr.Rng(1))


# ---- threads, memory, partial results


def test_runs_from_several_python_threads():
    expected = run(SMALL, policies={"g": Greedy}, threads=1)._rows("results")
    rows = []

    def work():
        for threads in (1, 2, 3):
            rows.append(run(SMALL, policies={"g": Greedy}, threads=threads)._rows("results"))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert len(rows) == 9 and all(row == expected for row in rows)


def test_a_run_inside_a_policy():
    inner = run(ALONE, policies={"g": Greedy})._rows("results")

    class Outer(Greedy):
        def scores(self, request):
            if request.t == 1:
                assert run(ALONE, policies={"g": Greedy}, threads=2)._rows("results") == inner
            return super().scores(request)

    run({**ALONE, "replications": 2}, policies={"outer": Outer}, world=None)


def test_progress_while_python_policies_play():
    seen = []
    run({**SMALL, "rounds": 4000}, policies={"g": Greedy}, threads=4, progress=seen.append)
    assert seen[-1].share == 1.0


def test_threads_of_python_stay_usable():
    """Code that asks for the current thread or keeps numbers by thread works in a policy."""
    names = set()
    local = threading.local()

    class Asks(Greedy):
        def scores(self, request):
            local.count = getattr(local, "count", 0) + 1
            names.add(threading.current_thread().name)
            return super().scores(request)

    run(ALONE, policies={"asks": Asks}, threads=2)
    assert names and not hasattr(local, "count")


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_flat_and_references_are_released():
    alive = []

    class Counted(Greedy):
        def __init__(self, n_items):
            super().__init__(n_items)
            alive.append(1)

        def __del__(self):
            alive.pop()

    class Fails(Counted):
        def learn(self, items, rewards, x=None):
            raise Boom

    def work(count):
        for _ in range(count):
            run(FEATURES, policies={"counted": Counted})
            run(NO_WORLD, world=Steps(), policies={"counted": Counted})
            run(NO_WORLD, world=Users(), policies={"counted": Counted})
            try:
                run(SMALL, policies={"fails": Fails})
            except Boom:
                pass
        gc.collect()

    work(10)
    assert not alive
    if SANITIZED:
        pytest.skip("a sanitizer keeps freed memory")
    before = resident()
    work(60)
    assert not alive
    assert resident() - before < 8 << 20
    counts = [sys.getrefcount(Counted), sys.getrefcount(None)]
    work(5)
    assert sys.getrefcount(Counted) <= counts[0] + 2
    assert abs(sys.getrefcount(None) - counts[1]) < 500


class Enough(Exception):
    pass


def stop(progress):
    raise Enough


def test_partial_results_of_another_policy_are_refused(tmp_path):
    kept = tmp_path / "kept.oltr"
    long = {**SMALL, "rounds": 20_000, "replications": 200}
    with pytest.raises(Enough):
        run(long, policies={"mine": Greedy}, partial=kept, progress=stop)
    assert kept.exists()

    class Other(Greedy):
        def learn(self, items, rewards):
            pass

    with pytest.raises(oltr.Error) as caught:
        run(long, policies={"mine": Other}, partial=kept)
    assert caught.value.code == "EMISMATCH"
    bound = functools.partial(Shuffled, k=2)
    with pytest.raises(oltr.Error):
        run(long, policies={"mine": bound}, partial=kept)


def test_digests_tell_policies_and_worlds_apart():
    from oltr.own_policy import digest

    def one(n_items):
        return Greedy(n_items)

    def two(n_items):
        return Shuffled(n_items, 2)

    assert digest(Greedy) == digest(Greedy)
    kinds = [Greedy, Shuffled, one, two, functools.partial(Shuffled, k=2), len]
    kinds += [functools.partial(Shuffled, k=3), Fixed4(), Fixed4((0.1, 0.2, 0.3, 0.5)), Steps()]
    assert len({digest(kind) for kind in kinds}) == len(kinds)
    assert all(len(digest(kind)) == 32 for kind in kinds)

    class Unpicklable:
        def __reduce__(self):
            raise Boom

    assert len(digest(Unpicklable())) == 32


def test_the_interpreter_ends_cleanly():
    """With a run that a daemon thread has left behind."""
    code = """
    import threading, time
    import oltr
    class Slow:
        def __init__(self, n_items, k): self.list = list(range(k))
        def rank(self, request): return self.list
    experiment = {"rounds": 10**9, "slots": 2, "replications": 2, "checkpoints": 1,
                  "world": {"kind": "uniform", "items": 5}}
    started = threading.Event()
    def work():
        oltr.run(experiment, policies={"slow": Slow}, progress=lambda p: started.set())
    threading.Thread(target=work, daemon=True).start()
    started.wait(60)
    print("end", flush=True)
    """
    quiet = {**os.environ, "TSAN_OPTIONS": "report_thread_leaks=0"}  # they end with the process
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=quiet)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "end\n"
