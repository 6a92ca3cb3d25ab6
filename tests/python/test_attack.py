"""Callers that do their worst: each test once ended in a crash, a deadlock or a broken object."""

import gc
import signal
import subprocess
import sys
import threading
import time

import oltr
import pytest
from oltr import _core


def run_alone(code, timeout=120):
    """Runs code in a process of its own, so that a crash or a deadlock fails one test only."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


LARGE = """
import os, signal, threading, time, oltr
x = [[0.5] + [0.0] * 59] * 100
def policy():
    return oltr.Policy("lints", 100, dim=60)
def until(end, *calls):
    threads = [threading.Thread(target=lambda call=call: loop(call, end)) for call in calls]
    for thread in threads: thread.start()
    return threads
def loop(call, end):
    while time.monotonic() < end: call()
"""

# ---- threads, signal handlers, forks


def test_policies_that_are_merged_crosswise_do_not_wait_for_each_other():
    run_alone(LARGE + """
a, b = policy(), policy()
def both(p, q):
    p.merge(q)
    p.forget(0.5)
end = time.monotonic() + 1
threads = until(end, lambda: both(a, b), lambda: both(b, a), lambda: a.rank_many(20, 5, x=x),
                lambda: b.rank_many(20, 5, x=x))
for thread in threads: thread.join(60)
assert not any(thread.is_alive() for thread in threads)
""")


def test_a_signal_handler_may_read_the_policy_whose_change_it_interrupts():
    run_alone(LARGE + """
p, busy = policy(), []
def handle(number, frame):
    if not busy:
        busy.append(1)
        p.rank_many(5, 5, x=x)
        busy.clear()
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
end = time.monotonic() + 1
threads = until(end, lambda: p.rank_many(2000, 5, x=x))
loop(lambda: (p.forget(0.9), p.learn_many([[0, 1]] * 9, [[0, 1]] * 9, x=x)), end)
signal.setitimer(signal.ITIMER_REAL, 0)
threads[0].join()
""")


def test_the_child_of_a_fork_does_not_wait_for_threads_of_the_parent():
    out = run_alone(LARGE + """
p = policy()
end = time.monotonic() + 1.5
until(end, lambda: p.rank_many(20000, 5, x=x), lambda: p.rank_many(20000, 5, x=x))
time.sleep(0.3)
for _ in range(5):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        p.learn(p.rank(5, x=x), [1])
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert out.split() == ["7"] * 5


def test_a_policy_that_was_being_changed_is_refused_in_the_child_of_a_fork():
    out = run_alone("""
import os, signal, threading, time, oltr
p, q = oltr.Policy("lints", 20, dim=300), oltr.Policy("lints", 20, dim=300)
thread = threading.Thread(target=lambda: [p.forget(0.9) for _ in range(60)])
thread.start()
torn = 0
while thread.is_alive():
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        q.forget(0.5)
        try:
            p.rounds
        except RuntimeError as error:
            os._exit(7 if "forked" in str(error) else 1)
        os._exit(0)
    torn += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print(torn > 0)
""")
    assert out.split() == ["True"]


# ---- code that runs in the middle of a call


class Resizer:
    """Garbage whose finalizer resizes a policy."""

    def __init__(self, policy):
        self.policy = policy
        self.cycle = self

    def __del__(self):
        self.policy.resize(10_000)


@pytest.mark.parametrize("call", ["rank", "rank_many", "propensities"])
def test_a_finalizer_resizes_the_policy_while_its_error_is_made(call):
    arguments = {"rank": (60,), "rank_many": (2, 60), "propensities": (60, 20)}[call]
    threshold = gc.get_threshold()
    gc.freeze()  # collections look at the objects of this test only
    try:
        for first in range(1, 30):
            policy = oltr.Policy("gts", 50)
            policy.rank(3)
            gc.collect()
            gc.disable()
            Resizer(policy)
            gc.set_threshold(first)
            gc.enable()
            try:
                getattr(policy, call)(*arguments)
            except oltr.Error:  # unless the policy was resized before
                pass
            gc.set_threshold(*threshold)
            gc.collect()
            assert policy.items == 10_000 and len(policy.rank(3)) == 3
    finally:
        gc.enable()
        gc.set_threshold(*threshold)
        gc.unfreeze()


def test_candidates_of_propensities_that_come_with_a_resize(monkeypatch):
    numpy = pytest.importorskip("numpy")
    policy, empty = oltr.Policy("gts", 10), numpy.empty

    def resizing(*arguments, **named):
        policy.resize(200_000)
        return empty(*arguments, **named)

    monkeypatch.setattr(numpy, "empty", resizing)
    with pytest.raises(oltr.Error, match="item 150000"):
        policy.propensities(2, 50, candidates=[0, 1, 150_000])


class World:
    """Its truth loses its parts while the first of them is converted."""

    n_items, dim = 3, 2

    class Number:
        def __init__(self, truth):
            self.truth = truth

        def __float__(self):
            self.truth.clear()
            gc.collect()
            return 0.5

    def draw(self, rng):
        truth = {}
        truth["features"] = [[float(i), 1.0 + i] for i in range(3)]
        truth["prior"] = {"a": [1.0 + i for i in range(3)], "b": [2.0 + i for i in range(3)]}
        truth["attraction"] = [World.Number(truth), 0.25, 0.5]
        return truth


def test_a_truth_that_is_cleared_while_it_is_read():
    result = oltr.run(
        {"slots": 2, "rounds": 5, "replications": 3, "policies": [{"kind": "random"}]},
        world=World(),
        progress=False,
    )
    assert result is not None


REQUESTS = """
import sys
sys.modules["numpy"] = sys.modules["pandas"] = None
import oltr
class World:
    n_items, dim = 4, 3
    def draw(self, rng):
        return {"attraction": [0.5] * 4, "features": [[float(i)] * 3 for i in range(4)]}
    def advance(self, t, truth, rng):
        return {"attraction": [0.5] * 4, "features": [[float(t)] * 3 for i in range(4)]}
class Policy:
    kept = []
    def __init__(self, n_items): pass
    def rank(self, request):
        x = request.x
        {action}
        return [0, 1]
oltr.run({{"slots": 2, "rounds": 50, "replications": 2}}, policies={{"p": Policy}}, world=World(),
         progress=False, threads=1)
{after}
"""


def test_the_features_of_a_request_that_were_released():
    run_alone(REQUESTS.replace("{{", "{").replace("}}", "}")
              .replace("{action}", "x.release()").replace("{after}", ""))


def test_a_part_of_the_features_of_a_request_is_kept():
    run_alone(REQUESTS.replace("{{", "{").replace("}}", "}")
              .replace("{action}", "self.kept.append(x.cast('B').cast('f'))")
              .replace("{after}", "assert len({tuple(v.tolist()) for v in Policy.kept}) > 10"))


# ---- internal calls


class Options:
    def items(self):
        return [1, 2]


def test_wrong_arguments_of_internal_calls():
    with pytest.raises(TypeError, match="settings must be a dict"):
        oltr.Model.__new__(oltr.Model)._make("ts-beta", Options())
    model = oltr.Model("ts-beta")
    model.learn(["a", "b"], [0, 1])
    with pytest.raises(TypeError, match="give places"):
        model._list_propensity(shown=["a"], items=["a", "b"])
    text = b"{world: {kind: uniform, items: 5}, slots: 2, rounds: 9, replications: 2, policies: " \
           b"[{kind: random}]}"
    rest = (None, False, 1, None, None, False, None)
    maker = ("own", lambda *arguments: 7, False, 0, bytes(32))
    with pytest.raises(TypeError, match="learns_x"):
        _core.run("text", text, (), (maker,), *rest)
    for overrides, makers, world in (((3,), (), None), ((), (3,), None), ((), (), 3)):
        with pytest.raises(TypeError, match="tuple"):
            _core.run("text", text, overrides, makers, world, *rest[1:])


def test_a_model_that_was_not_made_keeps_no_features():
    rows = [[0.5, 0.5]]
    before = sys.getrefcount(rows)
    for _ in range(10):
        with pytest.raises(oltr.Error, match="not made"):
            oltr.Model.__new__(oltr.Model).learn(["a"], [1], x=rows)
    assert sys.getrefcount(rows) == before


# ---- the end of the interpreter, and others beside it


def test_a_run_of_a_daemon_thread_ends_before_the_interpreter():
    out = run_alone("""
import threading, time, oltr
def work():
    try:
        oltr.run({"world": {"kind": "beta", "items": 10}, "slots": 3, "rounds": 10**6,
                  "replications": 10**4, "policies": [{"kind": "gts"}]}, progress=False)
    except BaseException as exception:
        print(type(exception).__name__)
        raise
threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
""")
    assert out.split() == ["SystemExit"]


def test_a_second_interpreter_gets_a_sentence():
    pytest.importorskip("_xxsubinterpreters")
    out = run_alone("""
import sys
import _xxsubinterpreters as interpreters
import oltr
second = interpreters.create()
try:
    interpreters.run_string(second, f"import sys; sys.path[:0] = {sys.path!r}; import oltr")
except Exception as exception:
    print(exception)
interpreters.destroy(second)
oltr.Policy("gts", 5).rank(2)
""")
    assert "imported by another interpreter" in out


# ---- Ctrl-C at any moment


def test_exceptions_of_signal_handlers_at_any_moment_leave_objects_whole(tmp_path):
    class Now(Exception):
        pass

    def raise_now(number, frame):
        raise Now

    x = [[0.1, 0.2, 0.3]] * 40
    policy, other = oltr.Policy("lints", 40, dim=3), oltr.Policy("lints", 40, dim=3)
    model = oltr.Model("ts-beta")
    lesson = [dict(shown=["a", "b"], clicks=[0, 1])] * 50
    calls = [
        lambda: policy.learn(policy.rank(5, x=x), [0, 1]),
        lambda: policy.rank_many(300, 5, x=x),
        lambda: policy.learn_many([[0, 1, 2]] * 300, [[0, 1, 0]] * 300, x=x),
        lambda: policy.merge(other),
        lambda: policy.propensities(3, 500, x=x),
        lambda: policy.copy().to_bytes(),
        lambda: policy.save(tmp_path / "policy"),
        lambda: model.learn_many(lesson),
        lambda: model.rank(2),
        lambda: model.copy().to_bytes(),
    ]
    before = signal.signal(signal.SIGALRM, raise_now)
    caught, end = 0, time.monotonic() + 1.5
    try:
        while time.monotonic() < end:
            for number, call in enumerate(calls):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0002 + 0.0007 * ((caught + number) % 13))
                    while True:
                        call()
                except Now:
                    caught += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    policy.check()
    model.check()
    policy.forget(0.5)  # no reader or writer was left behind
    assert caught > 20 and len(policy.rank(3, x=x)) == 3 and len(model.rank(2)) == 2


def test_threads_do_everything_to_one_policy_at_once():
    policy, other = oltr.Policy("gts", 400), oltr.Policy("gts", 400)
    failures, end = [], time.monotonic() + 1

    def change_size():
        policy.resize(400 if policy.items == 300 else 300)

    def merge():
        try:
            policy.merge(other)
        except oltr.Error:  # the other has more items at the moment
            pass

    def learn():
        try:
            policy.learn(policy.rank(5), [0, 1])
        except oltr.Error as error:  # resized between the two calls
            assert error.code == "EITEM"

    calls = [
        learn,
        lambda: policy.rank_many(50, 5),
        lambda: policy.learn_many([[0, 1, 2]] * 30, [[0, 1, 0]] * 30),
        lambda: policy.propensities(3, 50, candidates=[5, 6, 7, 8]),
        lambda: policy.copy().to_bytes(),
        lambda: (policy.predict(), policy.params, repr(policy), policy.rounds),
        change_size,
        merge,
    ]

    def work(call):
        try:
            while time.monotonic() < end:
                try:
                    call()
                except RuntimeError as error:
                    assert "resized by another call" in str(error)
                except oltr.Error as error:  # made smaller after the call had read its size
                    assert error.code == "EITEM"
        except BaseException as error:  # the thread tells the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), "deadlock"
    assert not failures
    policy.check()
