"""Tries the installed Python package: ranking, learning, a store; usage: try_python.py VERSION.

Run in an empty folder.  It needs no other package; where numpy is installed, importing oltr must
not import it.
"""

import sys

import oltr

NAMES = ["shoe", "hat", "coat", "sock"]


def try_policy():
    """Item 3 alone is clicked, and becomes the item with the largest mean."""
    policy = oltr.Policy("gts", 10, seed=1)
    for _ in range(200):
        ranking = policy.rank(3)
        policy.learn(ranking, [int(item == 3) for item in ranking])
    mean, _ = policy.predict()
    assert max(range(10), key=lambda item: mean[item]) == 3, list(mean)
    assert list(policy.copy().rank(3)) == list(policy.rank(3)), "a copy goes another way"


def try_model():
    """The hat alone is clicked, and is shown first; an id counts once."""
    model = oltr.Model("ts-hyper")
    for view in range(50):
        shown = model.rank(2, NAMES, seed=f"session {view}")
        assert model.learn(shown, clicked=[name for name in shown if name == "hat"], id=f"{view}")
    assert not model.learn(["hat"], [1], id="7"), "a lesson was learned twice"
    assert model.rank(1, NAMES, greedy=True) == ["hat"]
    return model


def try_store(model):
    """What a store has learned is there when it is opened again."""
    with oltr.open("page.oltr", create_from=model) as store:
        assert store.learn(["coat", "sock"], [0, 1], id="last")
        image = store.to_bytes()
    with oltr.open("page.oltr") as store:
        assert store.seen("last") and store.lessons == 51 and store.to_bytes() == image


def try_run():
    """An experiment: a policy that learns is better than one that does not."""
    world = {"kind": "beta", "items": 10}
    policies = [{"name": "GTS", "kind": "gts"}, {"name": "Random", "kind": "random"}]
    experiment = {"world": world, "slots": 3, "rounds": 200, "replications": 10}
    result = oltr.run({**experiment, "policies": policies}, progress=False)
    result.to_csv("out")
    with open("out/summary.csv", encoding="utf-8") as file:
        rows = [line.split(",") for line in file.read().splitlines()]
    at = rows[0].index("regret")
    assert float(rows[1][at]) < float(rows[2][at]), rows


assert oltr.__version__ == sys.argv[1], oltr.__version__
assert "numpy" not in sys.modules, "import oltr imports numpy"
try_policy()
try_store(try_model())
try_run()
