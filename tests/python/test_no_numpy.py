"""The package without numpy and pandas: memoryviews and lists of dicts in their place."""

import os
import subprocess
import sys

BLOCK = """
import sys
sys.modules["numpy"] = sys.modules["pandas"] = None
import oltr
"""


def run(program):
    """Runs a program in a Python that cannot import numpy or pandas."""
    result = subprocess.run([sys.executable, "-B", "-c", BLOCK + program], env=dict(os.environ),
                            text=True, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_rounds():
    assert run("""
policy = oltr.Policy("gts", 30, seed=7)
ranking = policy.rank(3)
policy.learn(ranking, [0, 1])
policy.learn(ranking.items, (1, 0, 1), examined=[1, 0, 1])
print(ranking.items.tolist(), type(ranking.items).__name__, len(ranking.scores.tolist()))
mean, sd = policy.predict()
print(round(mean[16], 4), mean.format, len(sd))
""").split("\n") == ["[16, 29, 13] memoryview 3", "0.4444 d 30", ""]


def test_batches():
    assert run("""
policy = oltr.Policy("gts", 30, seed=7)
lists = policy.rank_many(4, 3)
print(lists.shape, lists.format, lists.tolist()[0])
policy.learn_many(lists, [[0, 1, 0]] * 4)
print(policy.rounds, policy.rank_many(0, 3).tolist())
chances = policy.propensities(2, 100)
print(chances.shape, round(sum(row[0] for row in chances.tolist()), 9))
""").split("\n") == ["(4, 3) I [16, 29, 13]", "4 []", "(30, 2) 1.0", ""]


def test_tables():
    assert run("""
policy = oltr.Policy("ts-beta", 3, prior={"a": 1, "b": [1, 2, 3]})
policy.learn([2, 0], [0, 1])
print(policy.frame()[2])
print(policy.prior["b"].tolist(), oltr.policies()[0]["name"], oltr.policies("gts")[1]["default"])
""").split("\n") == [
        "{'item': 2, 'mean': 0.2, 'sd': 0.16329931618554522, 'observations': 1.0, 'rewards': 0.0}",
        "[1.0, 2.0, 3.0] gts 0.0", ""]


def test_features_and_other_arrays():
    assert run("""
import array
policy = oltr.Policy("lints", 3, dim=2)
flat = memoryview(array.array("f", [1, 0, 0, 1, 1, 1]))
x = flat.cast("B").cast("f", (3, 2))
ranking = policy.rank(2, array.array("q", [0, 1, 2]), x)
policy.learn(ranking, array.array("b", [1]))
print(policy.rounds, ranking.x.shape, oltr.Policy("ts-hyper", 3).hyper()[0]["values"].format)
""") == "1 (2, 2) d\n"


def test_off_policy_evaluation():
    assert run("""
from oltr import ope
model = oltr.Model("ts-beta")
for name in "abc":
    model.learn([name], [0])
lists, rewards = [["a", "b"], ["c", "a"], ["b"]], [[0, 1], [1, 0], [0]]
logged = ope.chances(model, lists, rewards=rewards, slots=True)
print(logged.prefix.shape, logged.prefix.format, round(logged.prefix[0, 0], 6), logged.q.shape)
for name in ("sips", "iips", "rips"):
    result = ope.estimate(rewards, logged, logged, estimator=name, interval="normal")
    print(name, round(result.value, 6))
print(ope.compare({"same": logged}, rewards, logged).frame()[0]["n"], result.frame()[0]["estimator"])
""").split("\n") == ["(3, 2) d 0.333333 (3, 2)", "sips 0.666667", "iips 0.666667", "rips 0.666667",
                      "3 rips", ""]


def test_the_import_is_light():
    """numpy and pandas are imported when they are needed, not with the package."""
    program = "import sys, oltr; print([m for m in ('numpy', 'pandas') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-B", "-c", program], env=dict(os.environ), text=True,
                            capture_output=True, check=True)
    assert result.stdout == "[]\n"
