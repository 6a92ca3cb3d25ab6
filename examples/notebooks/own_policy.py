# %% [markdown]
# # Your own policy against ours
#
# A policy in Python plays in the simulator beside the built-in ones: it meets the same users, and
# its results are the same for any number of threads.  It has `scores(request)` or
# `rank(request)`, and `learn(items, rewards)`.
#
# Needs matplotlib and pandas.

# %%
import oltr


class EpsilonGreedy:
    """The items with the best click rate so far; with a small chance a list drawn at random."""

    def __init__(self, n_items):
        self.seen = [0] * n_items
        self.clicked = [0.0] * n_items

    def scores(self, request):
        if request.rng.uniform() < 0.05:
            return [0.0] * len(self.seen)  # all tied: ties are broken at random
        return [c / n if n else 1.0 for c, n in zip(self.clicked, self.seen)]

    def learn(self, items, rewards):
        for item, reward in zip(items, rewards):
            self.seen[item] += 1
            self.clicked[item] += reward


# %%
result = oltr.run(
    {
        "title": "Epsilon-greedy and Thompson sampling",
        "world": {"kind": "beta", "items": 30},
        "slots": 3,
        "rounds": 5000,
        "replications": 40,
        "policies": [{"name": "GTS", "kind": "gts"}, {"name": "TS-Hyper", "kind": "ts-hyper"}],
    },
    policies={"epsilon-greedy": EpsilonGreedy},
)
result

# %%
axes = result.plot()
axes.figure.savefig("own_policy.png", dpi=120)

# %% [markdown]
# Is the difference more than chance?  Paired by replication:

# %%
pairs = result.pairs
print(pairs[pairs["round"] == pairs["round"].max()].to_string(index=False))
