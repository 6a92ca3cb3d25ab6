# %% [markdown]
# # A wrong prior, in one figure
#
# The paper *Overcoming Prior Misspecification in Online Learning to Rank* asks for a policy that
# is as good as the informed ones when its prior is right, and does not suffer when it is wrong.
# The true prior of every item is Beta(1, 10) here; the policies are told Beta(1 + c, 10 - c).
#
# Needs matplotlib and pandas.  A file of cells: run it as a program, or open it in Jupyter
# (jupytext), VS Code or Spyder.

# %%
import oltr

result = oltr.run(
    {
        "title": "Regret when the prior is wrong",
        "world": {"kind": "beta", "items": 30, "prior": {"a": 1, "b": 10}},
        "slots": 3,
        "rounds": 1000,
        "replications": 100,
        "policies": [
            {"name": "TS-Beta", "kind": "ts-beta", "prior": "full"},
            {"name": "GTS-Pmean", "kind": "gts", "prior": "mean"},
            {"name": "GTS", "kind": "gts"},
            {"name": "TS-Hyper", "kind": "ts-hyper", "prior": "full"},
        ],
        "sweep": {"key": "world.misspecification", "values": [0, 2, 4, 6, 8]},
    }
)
result

# %% [markdown]
# Left: the prior is right.  Right: the policies are told Beta(9, 2) where Beta(1, 10) is true.
# TS-Beta trusts what it is told.  GTS is told nothing.  TS-Hyper is told the same as TS-Beta, and
# learns by how much it is wrong.

# %%
axes = result.plot()
axes.figure.savefig("prior_misspecification.png", dpi=120)

# %% [markdown]
# The bars are one standard error.  Policies of a replication meet the same users, so the
# difference of two is known better than either: `pairs` has it, at the end of the run.

# %%
pairs = result.pairs
last = pairs[pairs["round"] == pairs["round"].max()]
print(last[(last["policy"] == "TS-Beta") & (last["other"] == "TS-Hyper")].to_string(index=False))

# %% [markdown]
# What TS-Hyper has learned about its prior can be read from a policy: here it was told Beta(9,
# 2), so mean log-odds of +1.5, and the truth has -2.3.  The shift should be near -3.8; below -3
# it is learned in whole numbers, so -4 is the closest.

# %%
policy = oltr.Policy("ts-hyper", 30, prior={"a": 9, "b": 2}, seed=1)
rng = oltr.Rng(7)
attraction = [rng.beta(1, 10) for _ in range(30)]
for _ in range(2000):
    shown = policy.rank(3)
    clicks = []
    for item in shown:
        clicks.append(int(rng.uniform() < attraction[item]))
        if clicks[-1]:
            break  # the user leaves after the first click
    policy.learn(shown, clicks)
for hyper in policy.hyper():
    print(f"{hyper['name']:>7}: {hyper['mean']:6.2f} +- {hyper['sd']:.2f}")
