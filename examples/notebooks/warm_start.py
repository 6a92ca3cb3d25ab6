# %% [markdown]
# # A warm start from a click log
#
# A page has shown lists for a month and kept a log.  A model that learns the log first shows good
# lists from its first request on.  The log is made here; with yours, change the part that reads
# it.
#
# Needs nothing but oltr.

# %%
import csv
import pathlib
import tempfile

import oltr

PRODUCTS, SLOTS, VIEWS = 200, 5, 4000
folder = pathlib.Path(tempfile.mkdtemp())
rng = oltr.Rng(1)
names = [f"sku-{i:03}" for i in range(PRODUCTS)]
rate = {name: 0.15 if i % 20 == 0 else 0.02 for i, name in enumerate(names)}  # ten good ones


def scan(shown):
    """A user who looks from the top and leaves after the first click."""
    clicks = []
    for name in shown:
        clicks.append(int(rng.uniform() < rate[name]))
        if clicks[-1]:
            break
    return clicks + [0] * (len(shown) - len(clicks))


# %% [markdown]
# ## The log: one row for each product of each list

# %%
log = folder / "clicks.csv"
with log.open("w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["list_id", "item", "position", "click"])
    for view in range(VIEWS):
        shown = sorted(names, key=lambda name: rng.uniform())[:SLOTS]  # the old page: any five
        for position, (name, click) in enumerate(zip(shown, scan(shown)), 1):
            rows.writerow([view, name, position, click])

# %% [markdown]
# ## Learn it
#
# A lesson is a shown list with its clicks and an id.  Its id makes it count once, so a log that
# is read twice does no harm.

# %%
lessons = {}
with log.open(newline="") as file:
    for row in csv.DictReader(file):
        shown, clicks = lessons.setdefault(row["list_id"], ([], []))
        shown.append(row["item"])
        clicks.append(int(row["click"]))

warm = oltr.Model("ts-hyper")
log_lessons = [(shown, clicks, f"log {key}") for key, (shown, clicks) in lessons.items()]
learned = warm.learn_many(log_lessons)
again = warm.learn_many(log_lessons)
print(f"{learned} lists learned, {again} when the log is read again")

# %% [markdown]
# ## Serve: the first 500 requests of a model with and without the log

# %%
def serve(model, requests=500):
    """Clicks of so many requests, learned as they come."""
    total = 0
    for request in range(requests):
        shown = model.rank(SLOTS, names, seed=f"session {request}")
        clicks = scan(shown)
        total += sum(clicks)
        model.learn(shown, clicks, id=f"request {request}")
    return total


cold = oltr.Model("ts-hyper")
warm_clicks, cold_clicks = serve(warm), serve(cold)
print(f"clicks in 500 requests: {warm_clicks} with the log, {cold_clicks} without")

# %% [markdown]
# ## Why it shows what it shows, and keeping it

# %%
shown = warm.rank(SLOTS, names, greedy=True)
for name, mean, sd in zip(shown, *warm.predict(shown)):
    print(f"{name}: {mean:.3f} +- {sd:.3f}")
warm.save(folder / "page.oltr")
with oltr.open(folder / "page.oltr") as page:  # on disk: what it learns from now on is kept
    print(page, "->", list(page.rank(3, names, seed="session 1")))
