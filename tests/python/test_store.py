"""oltr.open: a model on disk, its restart, its threads and its processes."""

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings

import oltr
import pytest


def lessons(n, seed=5):
    chance = random.Random(seed)
    for i in range(n):
        shown = chance.sample([f"sku-{j}" for j in range(60)], 5)
        yield dict(shown=shown, clicks=[int(chance.random() < 0.2) for _ in shown], id=f"view {i}")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home.oltr"


def do_everything(model):
    """Every kind of change."""
    assert model.learn_many(lessons(100)) == 100
    for lesson in lessons(150):
        model.learn(**lesson)
    model.prior({"sku-1": (2, 40), "new": (1, 30)})
    assert model.remove(["sku-2", "none"]) == 1
    assert model.reset("sku-3") == 1
    assert model.forget(0.5, "tick") and not model.forget(0.5, "tick")
    other = oltr.Model("ts-beta", prior=(1, 20))
    other.learn(["sku-4", "other"], [0, 1])
    assert model.merge(other, "delta") and not model.merge(other, "delta")
    assert model.trim(30) > 0


@pytest.mark.parametrize("sync", ["none", "second", "always"])
@pytest.mark.parametrize("checkpoint_bytes", [None, 1, 3000])
def test_a_store_is_a_model_that_stays(path, sync, checkpoint_bytes):
    model = oltr.Model("ts-beta", prior=(1, 20))
    do_everything(model)
    with oltr.open(
        path, "ts-beta", prior=(1, 20), sync=sync, checkpoint_bytes=checkpoint_bytes
    ) as store:
        assert isinstance(store, oltr.Model) and store.stat.created and not store.closed
        do_everything(store)
        assert store.to_bytes() == model.to_bytes() and store.lessons == model.lessons
        assert store.settings == model.settings and store.params == model.params
        assert list(store) == list(model) and store.names() == model.names() and "new" in store
        assert store.rank(5, seed="ann") == list(model.rank(5, seed="ann"))
        assert store.explain(k=3).equals(model.explain(k=3)) if has_pandas() else True
        assert store.copy().to_bytes() == model.to_bytes() and type(store.copy()) is oltr.Model
        assert type(store.like(0.5)) is oltr.Model
        store.check()
        assert (store.stat.checkpoints > 0) == (checkpoint_bytes is not None)
    assert store.closed
    with oltr.open(path) as store:
        assert store.to_bytes() == model.to_bytes()
        assert (store.stat.replayed == 0) == (checkpoint_bytes == 1)
        store.checkpoint()
        store.sync()
        assert store.stat.checkpoints == 1
    with oltr.open(path, read_only=True) as store:
        assert store.to_bytes() == model.to_bytes() and store.stat.replayed == 0


def has_pandas():
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


def test_one_writer_and_any_number_of_readers(path):
    with oltr.open(path, "gts") as store:
        store.learn(["a"], [1])
        with pytest.raises(oltr.Error) as caught:
            oltr.open(path)
        assert caught.value.code == "EBUSY"
        with oltr.open(path, read_only=True) as reader, oltr.open(path, read_only=True) as second:
            assert reader.names() == second.names() == ["a"]
            store.learn(["b"], [1])
            assert reader.names() == ["a"]
            before = reader.to_bytes()
            for change in (
                lambda: reader.learn(["c"], [1]),
                lambda: reader.forget(0.5),
                lambda: reader.checkpoint(),
                lambda: reader.learn_many([(["c"], [1])]),
                lambda: reader.remove("a"),
                lambda: reader.trim(1),
                lambda: reader.merge(store),
            ):
                with pytest.raises(oltr.Error, match="read only") as caught:
                    change()
                assert caught.value.code == "EUNSUPPORTED"
            assert reader.to_bytes() == before
    oltr.open(path).close()


def test_refused_changes_leave_files_and_model(path):
    with oltr.open(path, "ts-beta", sync="none", most_items=3) as store:
        store.learn(["a", "b"], [1, 0])
        image, number = store.to_bytes(), store.stat.number
        for change in (
            lambda: store.learn(["a", "a"], [0, 0]),
            lambda: store.learn(["x" * 513], [0]),
            lambda: store.learn(["c", "d"], [0, 0]),
            lambda: store.learn(["a"], rewards=[0.5]),
            lambda: store.prior({"a": (1, 1)}),
            lambda: store.forget(2),
            lambda: store.trim(0),
            lambda: store.merge(oltr.Model("gts")),
            lambda: store.learn(["a"], [1], id="i" * 600),
        ):
            with pytest.raises(oltr.Error):
                change()
            assert store.to_bytes() == image and store.stat.number == number
        with pytest.raises(oltr.Error) as caught:
            store.learn_many([(["a"], [1]), (["a"], [0]), (["c", "d"], [0, 0]), (["a"], [1])])
        assert caught.value.code == "EFULL" and caught.value.done == 2 and store.lessons == 3


def test_opening_what_does_not_fit(path, tmp_path):
    with pytest.raises(oltr.FileError, match="give a kind"):
        oltr.open(path)
    with pytest.raises(oltr.FileError):
        oltr.open(path, read_only=True)
    assert not path.exists()
    with pytest.raises(TypeError, match="kind"):
        oltr.open(path, b=50)
    with pytest.raises(TypeError):
        oltr.open(path, "gts", create_from=oltr.Model("gts"))
    for bad in (
        lambda: oltr.open(path, "nope"),
        lambda: oltr.open(path, "ts-beta", nope=1),
        lambda: oltr.open(path, "ts-beta", dim=3),
        lambda: oltr.open(path, "gts", sync="often"),
    ):
        with pytest.raises(ValueError):
            bad()
    for bad in (
        lambda: oltr.open(3, "gts"),
        lambda: oltr.open(None, "gts"),
        lambda: oltr.open(path, 3),
        lambda: oltr.open(path, create_from="x"),
        lambda: oltr.open(path, "gts", seed="x"),
    ):
        with pytest.raises(TypeError):
            bad()
    with pytest.raises(ValueError):
        oltr.open("a\0b", "gts")
    assert os.listdir(tmp_path) == []
    oltr.open(path, "ts-beta", b=50, window=100).close()
    oltr.open(path, "ts-beta").close()
    oltr.open(path, "ts-beta", b=50.0, window="100").close()
    for settings in (
        dict(kind="gts"),
        dict(kind="ts-beta", b=30),
        dict(kind="ts-beta", window=7),
        dict(kind="ts-beta", prior=(1, 2)),
        dict(kind="ts-beta", examine="last"),
    ):
        with pytest.raises(oltr.Error) as caught:
            oltr.open(path, **settings)
        assert caught.value.code == "EMISMATCH"
    oltr.open(path).close()  # none of them kept it locked
    path.write_bytes(b"damaged")
    with pytest.raises(oltr.Error):
        oltr.open(path)
    with pytest.raises(oltr.FileError):
        oltr.open(tmp_path / "no" / "folder", "gts")


def test_a_store_from_a_model(path):
    model = oltr.Model("ts-hyper")
    model.learn(["a", "b"], [0, 1], id="1")
    with oltr.open(path, create_from=model) as store:
        assert store.to_bytes() == model.to_bytes()
        store.learn(["c"], [1])
    assert "c" not in model
    with oltr.open(path, create_from=model) as store:
        assert "c" in store and not store.stat.created


def test_closed_stores_say_so(path):
    store = oltr.open(path, "ts-beta")
    store.learn(["a"], [1])
    store.close()
    store.close()
    assert repr(store).endswith("closed)")
    calls = [
        lambda: store.rank(1),
        lambda: store.rank(1, ["a"]),
        lambda: store.learn(["a"], [1]),
        lambda: len(store),
        lambda: store.learn_many([(["a"], [1])]),
        lambda: store.names(),
        lambda: "a" in store,
        lambda: store.lessons,
        lambda: store.to_bytes(),
        lambda: store.checkpoint(),
        lambda: store.sync(),
        lambda: store.stat,
        lambda: store.params,
        lambda: store.explain(),
        lambda: store.predict(),
        lambda: store.propensity(1),
        lambda: store.hyper(),
        lambda: store.seen("a"),
        lambda: store.check(),
        lambda: store.copy(),
        lambda: store.like(1),
        lambda: store.forget(1),
        lambda: store.trim(1),
        lambda: store.remove("a"),
        lambda: oltr.Model("ts-beta").merge(store),
        lambda: store.merge(oltr.Model("ts-beta")),
        lambda: store.list_propensity(["a"]),
        lambda: store.nbytes,
        lambda: list(store),
        lambda: store.save(path),
    ]
    for call in calls[:-1]:
        with pytest.raises(oltr.Error, match="closed"):
            call()
    with pytest.raises(oltr.Error):
        calls[-1]()
    with pytest.raises(oltr.Error, match="not on a store"):
        oltr.Model("gts")._checkpoint()
    with pytest.raises(TypeError, match="pickle"):
        import pickle

        pickle.dumps(store)


def test_a_store_that_is_not_closed_is_a_warning(path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        store = oltr.open(path, "gts")
        store.learn(["a"], [1])
        del store
        gc.collect()
    assert any(issubclass(w.category, ResourceWarning) for w in caught)
    with oltr.open(path) as store:
        assert store.names() == ["a"]


def test_seeds_of_a_store(path):
    items = [f"i{i}" for i in range(30)]
    with oltr.open(path, "ts-beta") as store:
        drawn = [list(store.rank(5, items)) for _ in range(3)]
    with oltr.open(path) as store:
        assert [list(store.rank(5, items)) for _ in range(3)] != drawn
    again = []
    for _ in range(2):
        with oltr.open(path, seed=7) as store:
            again.append([list(store.rank(5, items)) for _ in range(3)])
    assert again[0] == again[1]


def test_threads_rank_while_others_learn(path):
    items = [f"i{i}" for i in range(200)]
    stop, failures, counts = threading.Event(), [], []
    store = oltr.open(path, "ts-beta", sync="second", checkpoint_bytes=200_000)

    def work(job):
        try:
            n = 0
            while not stop.is_set():
                job(n)
                n += 1
            counts.append(n)
        except BaseException as error:
            failures.append(error)
            stop.set()

    def learn(n):
        if n % 40 == 0:
            store.learn_many([(random.sample(items, 4), [0, 1, 0, 0]) for _ in range(100)])
        elif n % 101 == 0:
            store.forget(0.9)
        elif n % 301 == 0:
            store.checkpoint()
        else:
            store.learn(random.sample(items, 4), [0, 1, 0, 0])

    def rank(n):
        shown = store.rank(10, items if n % 2 else None)
        assert len(set(shown)) == len(shown)
        if n % 25 == 0:
            store.propensity(3, items[:20], draws=20)
            store.explain(items[:5], k=2, draws=10)
            store.copy().check()

    threads = [threading.Thread(target=work, args=(job,)) for job in (learn, learn, rank, rank)]
    for thread in threads:
        thread.start()
    stop.wait(2.5)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures and len(counts) == 4 and min(counts) > 0
    image = store.to_bytes()
    store.close()
    with oltr.open(path) as store:
        assert store.to_bytes() == image


def test_closing_waits_for_calls_of_other_threads(path):
    for _ in range(20):
        store = oltr.open(path, "ts-beta", sync="always")
        ended = []

        def work():
            try:
                for i in range(10_000):
                    store.learn_many([(["a", "b"], [0, 1])] * 20)
                    store.propensity(1, ["a", "b", "c"])
            except oltr.Error as error:
                ended.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.01)
        store.close()
        for thread in threads:
            thread.join()
        assert len(ended) == 3 and all("closed" in why for why in ended)


def test_many_threads_wait_for_the_disk_together(path):
    with oltr.open(path, "gts", sync="always") as store:
        threads = [
            threading.Thread(
                target=lambda t=t: [store.learn([f"i{t}"], [1], id=f"{t} {i}") for i in range(25)]
            )
            for t in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.lessons == 200


CHILD = """
import sys, oltr
store = oltr.open(sys.argv[1], "ts-beta", sync="always")
for i in range(10**6):
    if i % 3:
        store.learn(["a", "b", f"i{i % 50}"], [0, 1, 0], id=f"view {i}")
    else:
        store.learn_many([(["c"], [1], f"view {i}"), (["d"], [0], f"more {i}")])
    print(i, flush=True)
"""


@pytest.mark.parametrize("wait", [0.2, 0.35, 0.5])
def test_a_killed_process_loses_nothing_that_was_acknowledged(path, wait):
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "0\n"
    time.sleep(wait)
    os.kill(child.pid, signal.SIGKILL)
    acknowledged = [0] + [
        int(line) for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")
    ]
    child.wait()
    assert len(acknowledged) > 3
    with oltr.open(path) as store:
        store.check()
        assert all(store.seen(f"view {i}") for i in acknowledged)
        assert all(store.seen(f"more {i}") for i in acknowledged if i % 3 == 0)
        assert store.stat.replayed >= len(acknowledged)
        assert not store.learn(["a"], [1], id=f"view {acknowledged[-1]}")


def test_a_store_is_not_for_the_child_of_a_fork(path):
    code = """
import os, sys, oltr
store = oltr.open(sys.argv[1], "ts-beta")
store.learn(["a"], [1])
child = os.fork()
if child == 0:
    try:
        store.rank(1)
    except oltr.Error as error:
        good = "fork" in str(error) and store.closed
    store.close()
    del store
    os._exit(0 if good else 1)
assert os.waitpid(child, 0)[1] == 0
store.learn(["b"], [1])
store.close()
with oltr.open(sys.argv[1]) as store:
    assert store.names() == ["a", "b"]
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code, str(path)], check=True, timeout=60)


def test_a_full_disk_is_an_error_and_ids_make_sending_again_safe(tmp_path):
    code = """
import resource, signal, sys, oltr
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = sys.argv[1]
store = oltr.open(path, "ts-beta", sync="none")
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
done = 0
try:
    for i in range(10000):
        store.learn(["a", "b", f"i{i % 9}"], [0, 1, 0], id=f"view {i}")
        done += 1
except oltr.FileError as error:
    assert error.code == "EIO" and isinstance(error, OSError) and done > 10
else:
    raise SystemExit("no error")
assert store.stat.failed
assert len(store.rank(2)) == 2
for change in (lambda: store.learn(["a"], [1]), lambda: store.close()):
    try:
        change()
    except oltr.FileError:
        continue
    raise SystemExit("accepted")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with oltr.open(path) as store:
    assert store.lessons in (done, done + 1)
    applied = [
        store.learn(["a", "b", f"i{i % 9}"], [0, 1, 0], id=f"view {i}") for i in range(done + 5)
    ]
    assert sum(applied) in (4, 5) and store.lessons == done + 5
"""
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "home.oltr")], check=True, timeout=60
    )
