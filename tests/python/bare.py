"""The installed package in an environment with nothing else: no numpy, no pandas, no pytest."""

import sys

import oltr

for module in ("numpy", "pandas", "matplotlib", "tqdm"):
    assert module not in sys.modules, f"{module} was imported"
policy = oltr.Policy("gts", 30, seed=1)
for _ in range(100):
    ranking = policy.rank(3)
    policy.learn(ranking, [0, 1])
assert len(policy.rank_many(5, 3).tolist()) == 5
mean, sd = policy.predict()
assert len(mean) == 30 and mean.tolist() == oltr.Policy.from_bytes(policy.to_bytes()).predict()[0].tolist()
model = oltr.Model("ts-hyper")
shown = model.rank(2, ["shoe", "hat", "coat"], seed="session 7")
assert model.learn(shown, [0, 1], id="view 1") and not model.learn(shown, [0, 1], id="view 1")
assert model.explain()[0]["item"] in ("shoe", "hat", "coat")
result = oltr.run(
    {
        "world": {"kind": "beta", "items": 10},
        "slots": 3,
        "rounds": 100,
        "replications": 10,
        "policies": [{"kind": "gts"}, {"kind": "random"}],
    },
    progress=False,
)
assert result.summary[0]["regret"] < result.summary[1]["regret"]
estimate = oltr.ope.estimate([[0, 1]] * 3, [[0.5, 0.2]] * 3, [[0.5, 0.3]] * 3, estimator="rips")
assert abs(estimate.value - 1.5) < 1e-12 and estimate.frame()[0]["n"] == 3
print(f"oltr {oltr.__version__} works without other packages:\n{result}")
