#!/usr/bin/env python3
"""Rounds without features: the time in numpy and scipy over the time of the engine.

Both are timed in this process, in thread CPU time and in turn: the engine through bench/helper.c,
numpy by the classes below.  Each ratio is taken within a repetition; the median is printed.

    numpy_rounds.py LIBRARY [--repetitions N] [--json FILE] [--only KIND] [--strict]

The numpy code is written to be fast: no Python loop over items, the posterior updated instead of
recomputed, in-place draws where they help.  All learn WARMUP rounds before they are timed.
"""
import argparse
import ctypes
import json
import sys
import time

import numpy as np
from scipy.special import betaincinv

WARMUP = 2000
L, K = 30, 3
REPLICATIONS = 400


def thread_ns():
    return time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)


class World:
    """The paper's: attraction i ~ Beta(a_i, 10), a_i uniform on 1..10; users click once at most."""

    def __init__(self, rng, items):
        self.rng = rng
        self.a = rng.integers(1, 11, items).astype(float)
        self.b = np.full(items, 10.0)
        self.attraction = rng.beta(self.a, self.b)

    def scan(self, shown):
        """How many slots were examined, and whether the last of them was clicked."""
        for slot, item in enumerate(shown):
            if self.rng.random() < self.attraction[item]:
                return slot + 1, True
        return len(shown), False


def best(score, k):
    """The k largest, largest first."""
    some = np.argpartition(score, -k)[-k:]
    return some[np.argsort(score[some])[::-1]]


class Gts:
    """Gaussian Thompson sampling, prior N(0,1), likelihood deviation 1/2."""

    def __init__(self, seed, items=L, slots=K):
        self.rng = np.random.default_rng(seed)
        self.world, self.slots = World(self.rng, items), slots
        self.precision, self.weighted = np.ones(items), np.zeros(items)
        self.mean, self.sd = np.zeros(items), np.ones(items)

    def round(self):
        shown = best(self.rng.normal(self.mean, self.sd), self.slots)
        examined, clicked = self.world.scan(shown)
        seen = shown[:examined]
        self.precision[seen] += 4
        if clicked:
            self.weighted[seen[-1]] += 4
        self.mean[seen] = self.weighted[seen] / self.precision[seen]
        self.sd[seen] = 1 / np.sqrt(self.precision[seen])


class GtsBatched:
    """The same with all replications in one array; float32, as the engine samples."""

    replications = REPLICATIONS

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        a = self.rng.integers(1, 11, (REPLICATIONS, L))
        self.attraction = self.rng.beta(a, 10.0).astype(np.float32)
        self.precision = np.ones((REPLICATIONS, L), np.float32)
        self.weighted = np.zeros((REPLICATIONS, L), np.float32)
        self.mean, self.sd = np.zeros_like(self.precision), np.ones_like(self.precision)
        self.score = np.empty_like(self.mean)
        self.row = np.arange(REPLICATIONS)[:, None]

    def rank(self):
        self.rng.standard_normal(out=self.score, dtype=np.float32)
        self.score *= self.sd
        self.score += self.mean
        some = np.argpartition(self.score, L - K, axis=1)[:, L - K:]
        order = np.argsort(-self.score[self.row, some], axis=1)
        return some[self.row, order]

    def round(self):
        shown = self.rank()
        click = self.rng.random(shown.shape, dtype=np.float32) < self.attraction[self.row, shown]
        before = np.cumsum(click, axis=1) - click
        examined = before == 0
        precision = self.precision[self.row, shown] + np.float32(4) * examined
        weighted = self.weighted[self.row, shown] + np.float32(4) * (click & examined)
        self.precision[self.row, shown] = precision
        self.weighted[self.row, shown] = weighted
        self.mean[self.row, shown] = weighted / precision
        self.sd[self.row, shown] = 1 / np.sqrt(precision)


class Counting:
    """Policies on counts: scores() of all items, the K best shown, clicks counted."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.world = World(self.rng, L)
        self.n, self.s = np.zeros(L), np.zeros(L)
        self.t = 1

    def round(self):
        shown = best(self.scores(), K)
        examined, clicked = self.world.scan(shown)
        seen = shown[:examined]
        self.n[seen] += 1
        if clicked:
            self.s[seen[-1]] += 1
        self.t += 1


class TsBeta(Counting):
    def scores(self):
        return self.rng.beta(self.world.a + self.s, self.world.b + self.n - self.s)


class BayesUcb(Counting):
    def scores(self):
        return betaincinv(self.world.a + self.s, self.world.b + self.n - self.s, 1 - 1 / self.t)


class KlUcb(Counting):
    """All bounds at once, by bisection to 1e-12."""

    def scores(self):
        log_t = np.log(max(self.t, 3))
        n = np.maximum(self.n, 1)
        p = self.s / n
        inner = np.clip(p, 1e-15, 1 - 1e-15)
        constant = inner * np.log(inner) + (1 - inner) * np.log1p(-inner)
        budget = (log_t + 3 * np.log(log_t)) / n
        low, high = p.copy(), np.ones(L)
        while np.max(high - low) > 1e-12:
            middle = np.minimum(0.5 * (low + high), 1 - 1e-15)
            beyond = constant - inner * np.log(middle) - (1 - inner) * np.log1p(-middle) > budget
            high = np.where(beyond, middle, high)
            low = np.where(beyond, low, middle)
        return np.where(self.n > 0, low, np.inf)


class Maillard(Counting):
    """Gumbel-top-K of the log-weights -n kl(p, p_max)."""

    def scores(self):
        n = np.maximum(self.n, 1)
        p = np.clip(self.s / n, 1e-15, 1 - 1e-15)
        most = p.max()
        kl = p * np.log(p / most) + (1 - p) * np.log((1 - p) / (1 - most))
        weight = np.where(self.n > 0, -n * kl, 1000)
        return weight + self.rng.gumbel(size=L)


class EpsilonGreedy(Counting):
    """The best by S/(N+1), ties by a random key; slots replaced with chance 0.1."""

    def round(self):
        rate = self.s / (self.n + 1)
        order = np.lexsort((self.rng.random(L), -rate))
        shown = list(order[:K])
        if (explore := self.rng.random(K) < 0.1).any():
            shown, left = [], list(order)
            for slot in range(K):
                at = self.rng.integers(len(left)) if explore[slot] else 0
                shown.append(left.pop(at))
        examined, clicked = self.world.scan(shown)
        for item in shown[:examined]:
            self.n[item] += 1
        if clicked:
            self.s[shown[examined - 1]] += 1


class BubbleRank(Counting):
    """With matrices of all pairs, and a Python loop over the few slots."""

    def __init__(self, seed):
        super().__init__(seed)
        self.base = np.argsort(-self.world.a / (self.world.a + self.world.b), kind="stable")
        self.lead, self.decided = np.zeros((L, L)), np.zeros((L, L))
        self.scale = 4 * np.log(10000)

    def beats(self, i, j):
        return self.lead[i, j] > 2 * np.sqrt(self.decided[i, j] * self.scale)

    def win(self, i, j):
        self.lead[i, j] += 1
        self.lead[j, i] -= 1
        self.decided[i, j] += 1
        self.decided[j, i] += 1

    def round(self):
        base, first = self.base, self.t % 2
        shown = base[:K + 1].copy()
        for slot in range(first, K, 2):
            i, j = shown[slot], shown[slot + 1]
            if not self.beats(i, j) and self.rng.random() < 0.5:
                shown[slot], shown[slot + 1] = j, i
        examined, clicked = self.world.scan(shown[:K])
        if clicked and examined > first:
            slot = examined - 1
            other = slot + 1 - 2 * ((slot - first) % 2)
            self.win(shown[slot], shown[other])
        for at in range(K):
            if self.beats(base[at + 1], base[at]):
                base[at], base[at + 1] = base[at + 1], base[at]
        self.t += 1


class Position(Counting):
    """Slot l is examined with chance 1/l."""

    def __init__(self, seed):
        super().__init__(seed)
        self.kappa = 1 / np.arange(1, K + 1)
        self.expected = np.zeros(L)
        self.missed = np.zeros((L, K))

    def round(self):
        shown = best(self.scores(), K)
        examined, clicked = self.world.scan(shown)
        seen = shown[:examined]
        self.n[seen] += 1
        self.expected[seen] += self.kappa[:examined]
        self.missed[seen, np.arange(examined)] += 1
        if clicked:
            self.s[seen[-1]] += 1
            self.missed[seen[-1], examined - 1] -= 1
        self.learned(seen)
        self.t += 1

    def learned(self, seen):
        pass


class PbmUcb(Position):
    def scores(self):
        e = np.maximum(self.expected, 1e-9)
        bound = self.s / e + np.sqrt(self.n / e * np.log(self.t) / (2 * e))
        return np.where(self.n > 0, bound, np.inf)


class PbmTs(Position):
    """Exact: rejection from Beta laws, TRIES draws of every item at once.

    With k the least kappa that has a miss, every log(1 - kappa theta) is a concave function of
    log(1 - k theta).  Its tangents at the mode bound f by that of a Beta variable k theta.
    """

    TRIES, STEPS = 3, 3

    def __init__(self, seed):
        super().__init__(seed)
        self.least, self.b = np.ones(L), np.ones(L)
        self.power, self.top = np.zeros(L), np.zeros(L)

    def learned(self, seen):
        """Newton's method for the mode, then the tangents."""
        s, missed = self.s[seen], self.missed[seen]
        some, weighed = missed > 0, missed * self.kappa
        most = (some * self.kappa).max(axis=1)
        far = np.where(some, most[:, None] - self.kappa, 0)
        z = s / np.maximum(weighed.sum(axis=1), 1e-9)
        for _ in range(self.STEPS):
            share = 1 / (1 + far * z[:, None])
            part = weighed * share
            z += (s - part.sum(axis=1) * z) / np.maximum((part * share).sum(axis=1), 1e-9)
        at = np.minimum(z / (1 + most * z), 0.999)
        below, least = 1 - np.outer(at, self.kappa), np.where(some, self.kappa, 1).min(axis=1)
        end = 1 - least * at
        power = (weighed / below).sum(axis=1) * end / least
        self.least[seen], self.power[seen], self.b[seen] = least, power, 1 + power
        self.top[seen] = (missed * np.log(below)).sum(axis=1) - power * np.log(end)

    def attempts(self, item):
        scaled = self.rng.beta(1 + self.s[item], self.b[item], (self.TRIES, len(item)))
        theta = scaled / self.least[item]
        inside = np.minimum(theta, 1 - 1e-16)
        log_f = (self.missed[item] * np.log1p(-inside[:, :, None] * self.kappa)).sum(axis=2)
        above = log_f - self.power[item] * np.log1p(-scaled) - self.top[item]
        return theta, (above >= -self.rng.standard_exponential(above.shape)) & (theta <= 1)

    def scores(self):
        item, score = np.arange(L), np.empty(L)
        while len(item):
            theta, accepted = self.attempts(item)
            first, column = accepted.argmax(axis=0), np.arange(len(item))
            score[item] = theta[first, column]
            item = item[~accepted[first, column]]
        return score


class PbmTsCells(Position):
    """In 400 cells, and wrong once a posterior is narrower than some of them.  The distribution
    functions are kept, and renewed for the items seen."""

    def __init__(self, seed):
        super().__init__(seed)
        middle = (np.arange(400) + 0.5) / 400
        self.log_click, self.log_miss = np.log(middle), np.log1p(-np.outer(self.kappa, middle))
        self.below = np.tile(np.arange(1, 401) / 400, (L, 1))
        self.row = np.arange(L)

    def learned(self, seen):
        density = np.outer(self.s[seen], self.log_click) + self.missed[seen] @ self.log_miss
        mass = np.exp(density - density.max(axis=1, keepdims=True)).cumsum(axis=1)
        self.below[seen] = mass / mass[:, -1:]

    def scores(self):
        u = self.rng.random(L)
        cell = np.minimum((self.below < u[:, None]).sum(axis=1), 399)
        high = self.below[self.row, cell]
        low = np.where(cell > 0, self.below[self.row, cell - 1], 0)
        return (cell + (u - low) / np.maximum(high - low, 1e-300)) / 400


def engine_of(path):
    play = ctypes.CDLL(path).oltr_bench_rounds
    play.argtypes = [ctypes.c_char_p] + [ctypes.c_uint32] * 4
    play.restype = ctypes.c_int64
    return lambda kind, rounds: play(kind.encode(), L, K, rounds, WARMUP) / rounds


def twin_ns(twin, rounds):
    start = thread_ns()
    for _ in range(rounds):
        twin.round()
    return (thread_ns() - start) / rounds / getattr(twin, "replications", 1)


def compare(engine, row, repetitions):
    """Quartiles of numpy's time over the engine's, and the median times."""
    name, kind, make, rounds, target = row
    twin = make(1)
    twin_ns(twin, WARMUP)
    pairs = []
    for r in range(repetitions):
        ours = engine(kind, 4000) if r % 2 else None
        theirs = twin_ns(twin, rounds)
        pairs.append((theirs, ours or engine(kind, 4000)))
    theirs, ours = np.array(pairs).T
    low, median, high = np.percentile(theirs / ours, [25, 50, 75])
    return {"name": name, "low": low, "median": median, "high": high, "target": target,
            "pass": target is None or median >= target, "numpy_ns": np.median(theirs),
            "ours_ns": np.median(ours)}


# name, policy, twin, rounds of the twin in one repetition, target
ROWS = [
    ("gts L=30 K=3: numpy round by round / ours", "gts", Gts, 400, 250),
    (f"gts L=30 K=3: numpy, {REPLICATIONS} replications at once / ours", "gts", GtsBatched, 20, 12),
    ("ts-beta L=30 K=3: numpy / ours", "ts-beta", TsBeta, 300, None),
    ("bayes-ucb L=30 K=3: scipy betaincinv / ours", "bayes-ucb", BayesUcb, 200, 12),
    ("cascade-klucb L=30 K=3: numpy bisection / ours", "cascade-klucb", KlUcb, 100, None),
    ("maillard L=30 K=3: numpy / ours", "maillard", Maillard, 300, 100),
    ("epsilon-greedy L=30 K=3: numpy / ours", "epsilon-greedy", EpsilonGreedy, 300, 100),
    ("bubblerank L=30 K=3: numpy / ours", "bubblerank", BubbleRank, 300, 100),
    ("pbm-ts L=30 K=3: numpy, exact / ours", "pbm-ts", PbmTs, 100, 100),
    ("pbm-ts L=30 K=3: numpy, approximate in 400 cells / ours", "pbm-ts", PbmTsCells, 200, None),
    ("pbm-ucb L=30 K=3: numpy / ours", "pbm-ucb", PbmUcb, 300, 100),
]


def show(results):
    print("| what | median | quartiles | target | | |\n|---|---|---|---|---|---|")
    for r in results:
        target = f">= {r['target']}" if r["target"] else ""
        verdict = "" if r["target"] is None else "pass" if r["pass"] else "**MISS**"
        print(f"| {r['name']} | {r['median']:.3g} | {r['low']:.3g} - {r['high']:.3g} | {target} | "
              f"{verdict} | {r['numpy_ns']:.0f} ns / {r['ours_ns']:.0f} ns |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", help="liboltr_bench.so")
    parser.add_argument("--repetitions", type=int, default=25)
    parser.add_argument("--json", help="write the rows there too")
    parser.add_argument("--only", help="policies with this text in their kind")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    options = parser.parse_args()
    engine = engine_of(options.library)
    rows = [row for row in ROWS if not options.only or options.only in row[1]]
    results = [compare(engine, row, options.repetitions) for row in rows]
    show(results)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"repetitions": options.repetitions, "rows": results}, file, indent=1,
                      default=bool)
    sys.exit(options.strict and not all(r["pass"] for r in results))


if __name__ == "__main__":
    main()
