#!/usr/bin/env python3
"""A second, independent way through an experiment on a dataset.

Texts of judged documents and a CSV of scores are made up here; oltr reads, normalises and plays them, and so does this file, in numpy and from
the definitions alone: grades to attractions, scores to priors, features to standardised rows of length at most 1, one bandit for each query.

    Ensemble    learns nothing, so its regret on every query is a number: it must agree to the digits of the file
    GTS-P       told the mean and the standard deviation of the scores
    TS-Beta     told Beta(sum s, sum (1 - s))
    LinTS       the Gaussian posterior over the features

A second file has numbers without a unit, which are read as minmax, sigmoid and raw (`scores_as`).  Then the queries share the rounds (`traffic:
interleaved`), with one policy for each query and one for all; then users click and give rewards (`clicks: abandon`), and LinTS learns from either or both.

The last three are samplers: their mean regrets may differ by 4.5 standard errors of the difference (false alarm below 1e-5 for each of the
52 comparisons, with a fixed seed on both sides).

    dataset_twin.py OLTR_BINARY WORKDIR [--quick]

Exit status: 0 agreement, 1 disagreement, 2 wrong usage, 77 no numpy.
"""

import csv
import math
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")   # matrices of five rows gain nothing from threads
try:
    import numpy as np
except ImportError:
    print("skipped: no numpy")
    sys.exit(77)

SLOTS, ROUNDS, MODELS, FEATURES = 3, 200, 4, 6
SIGMA, RIDGE = 0.5, 0.01                       # of LinTS; GTS has the same sigma

EXPERIMENT = """\
seed: 11
rounds: {rounds}
slots: {slots}
replications: {replications}
checkpoints: [{rounds}]
world: {{kind: dataset, data: data, grades: {grades}, normalise: {normalise}, scores: {scores}, scores_as: {scores_as}}}
policies:
  - {{name: Ensemble, kind: ensemble, prior: mean}}
  - {{name: GTS-P, kind: gts, prior: full, sigma: {sigma}}}
  - {{name: TS-Beta, kind: ts-beta, prior: full}}
  - {{name: LinTS, kind: lints, radius: bayes, sigma: {sigma}, lambda: {ridge}}}
figures: []
"""


# ------------------------------------------------------------------ the data

class Query:
    def __init__(self, number, grades, rows):
        self.number, self.grades, self.rows = number, grades, rows


def make_split(rng, first, sizes):
    """Grades 0 to 4; the first feature knows a little, the third is constant, the fourth is large and of both signs."""
    queries = []
    for offset, n in enumerate(sizes):
        grades = rng.integers(0, 5, n)
        rows = rng.random((n, FEATURES))
        rows[:, 0] += 0.4 * grades
        rows[:, 2] = 7
        rows[:, 3] = rng.standard_normal(n) * 1e4
        queries.append(Query(first + offset, grades, np.float32(rows)))
    return queries


def write_split(path, queries):
    with open(path, "w", encoding="ascii") as out:
        for q in queries:
            for grade, row in zip(q.grades, q.rows):
                cells = " ".join(f"{i + 1}:{float(v)!r}" for i, v in enumerate(row))
                out.write(f"{grade} qid:{q.number} {cells}\n")


def make_scores(rng, queries):
    """Four models that know something: scores around the truth, some at the very ends."""
    scores = []
    for q in queries:
        logit = 0.7 * (q.grades[:, None] - 2.5) + 1.2 * rng.standard_normal((len(q.grades), MODELS))
        s = np.float32(1 / (1 + np.exp(-logit)))
        s[0, 0] = 0
        scores.append(s)
    return scores


def make_outputs(scores):
    """The same models without calibration: numbers of any size, a query where one model says nothing, some beyond 0 and 1."""
    outputs = [np.float32(2.5 * np.log(np.maximum(s, 1e-3) / np.maximum(1 - s, 1e-3)) + 0.4) for s in scores]
    outputs[1][:, 2] = 3.25
    return outputs


def write_scores(path, queries, scores):
    with open(path, "w", encoding="ascii") as out:
        out.write("query,document," + ",".join(f"model{m}" for m in range(MODELS)) + "\n")
        for q, s in zip(queries, scores):
            for d in range(len(s)):
                out.write(f"{q.number},{d}," + ",".join(repr(float(v)) for v in s[d]) + "\n")


# ----------------------------------------------------------- the definitions

ATTRACTION = {
    "err": [(2**g - 1) / 16 for g in range(5)],
    "navigational": [0.05, 0.3, 0.5, 0.7, 0.95],
}


def read_minmax(f):
    span = f.max() - f.min()
    return (f - f.min()) / span if span > 0 else np.full(len(f), 0.5)


def read_sigmoid(f):
    return 1 / (1 + np.exp(-(f - f.mean()) / f.std())) if f.std() > 0 else np.full(len(f), 0.5)


READ_AS = {
    "calibrated": lambda f: f,
    "minmax": read_minmax,
    "sigmoid": read_sigmoid,
    "raw": lambda f: np.clip(f, 0, 1),
}


def probabilities(scores, scores_as):
    """Query by query, model by model."""
    return [np.stack([READ_AS[scores_as](s[:, m].astype(float)) for m in range(MODELS)], axis=1) for s in scores]


def standard(train, test):
    """sign(x) log(1 + |x|), standardised on the training rows, constant columns away, the longest training row of length 1."""
    squash = lambda x: np.sign(x) * np.log1p(np.abs(x))
    fit = squash(np.concatenate([q.rows for q in train]).astype(float))
    keep = fit.std(axis=0) >= 1e-6
    low, high = fit.min(axis=0)[keep], fit.max(axis=0)[keep]
    mean, sd = fit.mean(axis=0)[keep], fit.std(axis=0)[keep]
    longest = np.linalg.norm((fit[:, keep] - mean) / sd, axis=1).max()
    rows = []
    for q in test:
        x = (np.clip(squash(q.rows.astype(float))[:, keep], low, high) - mean) / sd / longest
        x /= np.maximum(1, np.linalg.norm(x, axis=1))[:, None]
        rows.append(x)
    return rows


def minmax(train, test):
    """To [0,1] within the query; columns that are constant in every training query are away."""
    keep = np.any([np.ptp(q.rows, axis=0) > 0 for q in train], axis=0)
    rows = []
    for q in test:
        x = q.rows.astype(float)[:, keep]
        span = np.ptp(x, axis=0)
        rows.append((x - x.min(axis=0)) / np.where(span > 0, span, 1) * (span > 0))
    return rows


def reward(nu, lists):
    return 1 - np.prod(1 - nu[lists], axis=-1)


def best(nu):
    return 1 - np.prod(1 - np.sort(nu)[::-1][:SLOTS])


def top(score):
    return np.argsort(-score, axis=1)[:, :SLOTS]


def scan(rng, nu, lists):
    """How many slots each user examines, and the click of each slot."""
    attracted = rng.random(lists.shape) < nu[lists]
    first = np.where(attracted.any(axis=1), attracted.argmax(axis=1), SLOTS)
    slot = np.arange(SLOTS)
    return slot <= first[:, None], attracted & (slot == first[:, None])


class GaussP:
    def __init__(self, replications, scores, rows):
        s = np.clip(scores.astype(float), 1e-3, 1 - 1e-3)
        self.mean0, self.var0 = s.mean(axis=1), np.maximum(s.std(axis=1, ddof=1), 1e-2) ** 2
        self.n, self.s = np.zeros((replications, len(s))), np.zeros((replications, len(s)))

    def rank(self, rng):
        var = 1 / (1 / self.var0 + self.n / SIGMA**2)
        return top(var * (self.mean0 / self.var0 + self.s / SIGMA**2) + np.sqrt(var) * rng.standard_normal(var.shape))

    def learn(self, lists, seen, clicks):
        r = np.arange(len(lists))[:, None]
        self.n[r, lists] += seen
        self.s[r, lists] += clicks


class Beta(GaussP):
    def __init__(self, replications, scores, rows):
        super().__init__(replications, scores, rows)
        s = np.clip(scores.astype(float), 1e-3, 1 - 1e-3)
        self.a, self.b = s.sum(axis=1), (1 - s).sum(axis=1)

    def rank(self, rng):
        return top(rng.beta(self.a + self.s, self.b + self.n - self.s))


class Linear:
    def __init__(self, replications, scores, rows):
        self.x = rows
        self.v = np.tile(RIDGE * np.eye(rows.shape[1]), (replications, 1, 1))
        self.b = np.zeros((replications, rows.shape[1]))

    def rank(self, rng):
        mean = np.linalg.solve(self.v, self.b[..., None])[..., 0]
        root = np.linalg.cholesky(np.linalg.inv(self.v))
        theta = mean + SIGMA * np.einsum("rij,rj->ri", root, rng.standard_normal(mean.shape))
        return top(theta @ self.x.T)

    def learn(self, lists, seen, clicks):
        x = self.x[lists] * seen[..., None]
        self.v += np.einsum("rki,rkj->rij", x, x)
        self.b += np.einsum("rki,rk->ri", x, clicks)


def play(policy, nu, rng, replications):
    regret = np.zeros(replications)
    for _ in range(ROUNDS):
        lists = policy.rank(rng)
        seen, clicks = scan(rng, nu, lists)
        policy.learn(lists, seen, clicks)
        regret += best(nu) - reward(nu, lists)
    return regret.mean(), regret.std(ddof=1) / math.sqrt(replications)


# ------------------------------------------------- queries share the rounds

TRAFFIC = """\
seed: 12
rounds: {rounds}
slots: {slots}
replications: {replications}
checkpoints: [{rounds}]
world: {{kind: dataset, data: data, grades: err, normalise: standard, scores: scores.csv, traffic: interleaved}}
policies:
  - {{name: TS-Beta, kind: ts-beta, prior: full}}
  - {{name: TS-Beta shared, kind: ts-beta, prior: full, shared: true}}
  - {{name: LinTS, kind: lints, radius: bayes, sigma: {sigma}, lambda: {ridge}}}
  - {{name: LinTS shared, kind: lints, radius: bayes, sigma: {sigma}, lambda: {ridge}, shared: true}}
figures: []
"""


class AllLinear:
    """One linear model for each of `models` queries, or one for all of them."""
    def __init__(self, replications, rows, models):
        d = rows.shape[1]
        self.x, self.models, self.r = rows, models, np.arange(replications)
        self.v = np.tile(RIDGE * np.eye(d), (replications, models, 1, 1))
        self.b = np.zeros((replications, models, d))

    def scores(self, rng, query):
        m = query % self.models
        v = self.v[self.r, m]
        mean = np.linalg.solve(v, self.b[self.r, m][..., None])[..., 0]
        root = np.linalg.cholesky(np.linalg.inv(v))
        return (mean + SIGMA * np.einsum("rij,rj->ri", root, rng.standard_normal(mean.shape))) @ self.x.T

    def learn(self, query, lists, seen, told):
        m = query % self.models
        x = self.x[lists] * seen[..., None]
        self.v[self.r, m] += np.einsum("rki,rkj->rij", x, x)
        self.b[self.r, m] += np.einsum("rki,rk->ri", x, told)


class AllBeta:
    def __init__(self, replications, scores):
        s = np.clip(scores.astype(float), 1e-3, 1 - 1e-3)
        self.r = np.arange(replications)[:, None]
        self.a, self.b = (np.tile(v.sum(axis=1), (replications, 1)) for v in (s, 1 - s))

    def scores(self, rng, query):
        return rng.beta(self.a, self.b)

    def learn(self, query, lists, seen, told):
        self.a[self.r, lists] += told
        self.b[self.r, lists] += seen & ~told


def play_traffic(policy, nu, of, rng, replications, rounds):
    regret = np.zeros(replications)
    ideal = np.array([best(nu[of == q]) for q in range(of.max() + 1)])
    for _ in range(rounds):
        query = rng.integers(0, of.max() + 1, replications)
        lists = top(np.where(of == query[:, None], policy.scores(rng, query), -np.inf))
        seen, clicks = scan(rng, nu, lists)
        policy.learn(query, lists, seen, clicks)
        regret += ideal[query] - reward(nu, lists)
    return regret.mean(), regret.std(ddof=1) / math.sqrt(replications)


def compare_traffic(oltr, work, test, scores, rows, replications):
    rounds = 3 * ROUNDS
    text = TRAFFIC.format(rounds=rounds, slots=SLOTS, replications=replications, sigma=SIGMA, ridge=RIDGE)
    found = run_text(oltr, work, text)
    played = [i for i, q in enumerate(test) if len(q.grades) >= SLOTS]
    of = np.concatenate([np.full(len(test[i].grades), j) for j, i in enumerate(played)])
    nu = np.array(ATTRACTION["err"])[np.concatenate([test[i].grades for i in played])]
    x, s = (np.concatenate([part[i] for i in played]) for part in (rows, scores))
    rng, faults = np.random.default_rng(6), 0
    for name, policy in (("TS-Beta", AllBeta(replications, s)), ("TS-Beta shared", AllBeta(replications, s)),
                         ("LinTS", AllLinear(replications, x, len(played))), ("LinTS shared", AllLinear(replications, x, 1))):
        faults += differs(name, found[name], play_traffic(policy, nu, of, rng, replications, rounds))
    return faults


# -------------------------------------------------- users click and give rewards

GRADED = """\
seed: 13
rounds: {rounds}
slots: {slots}
replications: {replications}
checkpoints: [{rounds}]
world: {{kind: dataset, data: data, grades: linear, normalise: standard, rankers: 0, clicks: abandon, abandon: 0.2, noise_sd: 0.3}}
policies:
  - {{name: rewards, kind: lints, radius: bayes, sigma: {sigma}, lambda: {ridge}}}
  - {{name: clicks, kind: lints, radius: bayes, sigma: {sigma}, lambda: {ridge}, feedback: clicks}}
  - {{name: both, kind: lints, radius: bayes, sigma: {sigma}, lambda: {ridge}, feedback: both}}
figures: []
"""


def play_graded(feedback, x, nu, rng, replications):
    policy, query = AllLinear(replications, x, 1), np.zeros(replications, int)
    weight = 0.8 ** np.arange(SLOTS)
    ideal, regret = weight @ np.sort(nu)[::-1][:SLOTS], np.zeros(replications)
    for _ in range(ROUNDS):
        lists = top(policy.scores(rng, query))
        stays = rng.random((replications, SLOTS)) >= 0.2
        seen = np.cumprod(np.column_stack([np.ones(replications), stays[:, :-1]]), axis=1) > 0
        grades = nu[lists] + 0.3 * rng.standard_normal(lists.shape)
        clicks = rng.random(lists.shape) < nu[lists]
        for told in ([grades] if feedback != "clicks" else []) + ([clicks] if feedback != "rewards" else []):
            policy.learn(query, lists, seen, told * seen)
        regret += ideal - nu[lists] @ weight
    return regret


def compare_graded(oltr, work, test, rows, replications):
    text = GRADED.format(rounds=ROUNDS, slots=SLOTS, replications=replications, sigma=SIGMA, ridge=RIDGE)
    run_text(oltr, work, text)
    with open(work / "out" / "queries.csv", newline="", encoding="ascii") as file:
        found = {(int(row["query"]), row["policy"]): (float(row["regret"]), float(row["regret_se"])) for row in csv.DictReader(file)}
    rng, faults, q = np.random.default_rng(7), 0, 1
    for feedback in ("rewards", "clicks", "both"):
        regret = play_graded(feedback, rows[q], test[q].grades / 4, rng, replications)
        faults += differs(feedback, found[test[q].number, feedback], (regret.mean(), regret.std(ddof=1) / math.sqrt(replications)))
    return faults


# ----------------------------------------------------------------- comparing

def run_text(oltr, work, text):
    (work / "twin.yaml").write_text(text, encoding="ascii")
    subprocess.run([oltr, "run", "twin.yaml", "-o", "out", "-q", "--no-figures", "--force"], cwd=work, check=True)
    with open(work / "out" / "summary.csv", newline="", encoding="ascii") as file:
        return {row["policy"]: (float(row["regret"]), float(row["regret_se"])) for row in csv.DictReader(file)}


def differs(name, theirs, here):
    distance = abs(theirs[0] - here[0]) / math.hypot(theirs[1], here[1])
    if distance > 4.5:
        print(f"{name}: oltr {theirs[0]} +- {theirs[1]}, here {here[0]:.4f} +- {here[1]:.4f}: {distance:.1f} standard errors")
    return int(distance > 4.5)


def run(oltr, work, grades, normalise, scores_as, replications):
    text = EXPERIMENT.format(rounds=ROUNDS, slots=SLOTS, replications=replications, grades=grades, normalise=normalise, sigma=SIGMA, ridge=RIDGE,
                             scores="scores.csv" if scores_as == "calibrated" else "outputs.csv", scores_as=scores_as)
    (work / "twin.yaml").write_text(text, encoding="ascii")
    subprocess.run([oltr, "run", "twin.yaml", "-o", "out", "-q", "--no-figures", "--force"], cwd=work, check=True)
    with open(work / "out" / "queries.csv", newline="", encoding="ascii") as file:
        return {(int(row["query"]), row["policy"]): (float(row["regret"]), float(row["regret_se"])) for row in csv.DictReader(file)}


def compare(found, test, scores, rows, grades, replications):
    faults = 0
    rng = np.random.default_rng(5)
    for q, s, x in zip(test, scores, rows):
        if len(q.grades) < SLOTS:
            faults += any(number == q.number for number, _ in found)
            continue
        nu = np.array(ATTRACTION[grades])[q.grades]
        order = np.argsort(-np.clip(s.astype(float), 1e-3, 1 - 1e-3).mean(axis=1))[:SLOTS]
        exact = ROUNDS * (best(nu) - reward(nu, order))
        if abs(found[q.number, "Ensemble"][0] - exact) > 1e-6 * (1 + exact):
            print(f"query {q.number}, Ensemble: oltr {found[q.number, 'Ensemble'][0]}, here {exact}")
            faults += 1
        for name, kind in (("GTS-P", GaussP), ("TS-Beta", Beta), ("LinTS", Linear)):
            mean, se = play(kind(replications, s, x), nu, rng, replications)
            theirs, theirs_se = found[q.number, name]
            distance = abs(mean - theirs) / math.hypot(se, theirs_se)
            if distance > 4.5:
                print(f"query {q.number}, {name}: oltr {theirs} +- {theirs_se}, here {mean:.4f} +- {se:.4f}: {distance:.1f} standard errors")
                faults += 1
    return faults


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    oltr, work = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    replications = 300 if "--quick" in sys.argv else 2000
    (work / "data").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(3)
    train, test = make_split(rng, 1, [8] * 30), make_split(rng, 1000, [6, 14, 2, 9])
    scores = make_scores(rng, test)
    write_split(work / "data" / "train.txt", train)
    write_split(work / "data" / "vali.txt", make_split(rng, 500, [8] * 3))   # without it, a fifth of the training queries would go
    write_split(work / "data" / "test.txt", test)
    write_scores(work / "scores.csv", test, scores)
    faults = 0
    outputs = make_outputs(scores)
    write_scores(work / "outputs.csv", test, outputs)
    for grades, normalise, scale, scores_as in (("err", "standard", standard, "calibrated"), ("navigational", "minmax", minmax, "calibrated"),
                                                ("err", "standard", standard, "minmax"), ("err", "standard", standard, "sigmoid"),
                                                ("err", "standard", standard, "raw")):
        found = run(oltr, work, grades, normalise, scores_as, replications)
        told = probabilities(scores if scores_as == "calibrated" else outputs, scores_as)
        faults += compare(found, test, told, scale(train, test), grades, replications)
    faults += compare_traffic(oltr, work, test, scores, standard(train, test), replications)
    faults += compare_graded(oltr, work, test, standard(train, test), replications)
    print("oltr and numpy agree" if not faults else f"{faults} disagreements")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
