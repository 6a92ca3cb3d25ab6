#!/usr/bin/env python3
"""A second, independent simulation of the non-contextual policies.

Unit tests can only show that a policy does what its author believed it should
do.  A wrong logarithm, a tie broken by item number or a prior handed to the
wrong policy leaves every unit test green and bends the regret curve.  This
tool therefore plays the same experiments twice: once here, in numpy, written
from the published definitions alone, and once with the oltr binary.  The two
share no code and no random numbers, so their mean regrets and mean rewards may
differ by chance only: by at most four standard errors at every checkpoint.

    regret_twin.py OLTR_BINARY WORKDIR [--quick]    compare the two
    regret_twin.py --self [--quick]                 the numpy side alone

Exit status: 0 agreement, 1 disagreement, 2 wrong usage, 77 no numpy or scipy.
"""

import argparse
import csv
import math
import pathlib
import subprocess
import sys
import time
from typing import NamedTuple

try:
    import numpy as np
    from scipy import special
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

CHECKPOINTS = (30, 100, 300, 1000)
OLTR_REPLICATIONS = 1000
TOLERATED_Z = 4.0
EXACT = 1e-9


# ------------------------------------------------------------------ the users

class Cascade:
    """They scan from the top and leave with their first click; a click is the reward."""
    settings = ("clicks: cascade",)

    def reward(self, attraction):
        return 1 - np.prod(1 - attraction, axis=1)

    def browse(self, attraction, rng):
        """Which slots were examined, and which one was clicked."""
        attracted = rng.random(attraction.shape) < attraction
        earlier = np.cumsum(attracted, axis=1) - attracted
        examined = earlier == 0
        return examined, attracted & examined

    def best(self, nu, slots):
        return np.argsort(-nu, axis=1)[:, :slots]


class PositionBased:
    """They examine every slot with its own chance; policies learn from all slots."""

    def __init__(self, *examine):
        self.examine = np.array(examine)
        self.settings = ("clicks: pbm", f"examine: [{', '.join(map(str, examine))}]")

    def reward(self, attraction):
        return attraction @ self.examine

    def browse(self, attraction, rng):
        clicked = rng.random(attraction.shape) < attraction * self.examine
        return np.ones(attraction.shape, dtype=bool), clicked

    def place(self, lists):
        """A list, best first, with the best in the slot that is examined most."""
        placed = np.empty_like(lists)
        placed[:, np.argsort(-self.examine, kind="stable")] = lists
        return placed

    def best(self, nu, slots):
        return self.place(np.argsort(-nu, axis=1)[:, :slots])


# ----------------------------------------------------------------- the worlds

class Instances(NamedTuple):
    """Replications x items: the attractions, and the Beta prior that is told."""
    attraction: np.ndarray
    a: np.ndarray
    b: np.ndarray


class BetaWorld:
    """A new instance each replication: nu_i ~ Beta(a_i, 10), a_i in {1..10}."""
    name, items, slots, b = "beta", 30, 3, 10.0
    users = Cascade()
    a_values = tuple(range(1, 11))

    def draw(self, replications, rng):
        a = rng.choice(self.a_values, (replications, self.items)).astype(float)
        b = np.full_like(a, self.b)
        return Instances(rng.beta(a, b), a, b)

    def settings(self):
        return ["kind: beta", f"items: {self.items}"]

    def random_reward(self):
        skip = np.mean([self.b / (a + self.b) for a in self.a_values])
        return 1 - skip ** self.slots

    def ensemble_reward(self):
        """Exact: walk down the values of a, counting the items that have each."""
        def no_click(values, items_left, slots_left):
            if slots_left == 0:
                return 1.0
            share, skip = 1 / len(values), self.b / (values[-1] + self.b)
            if len(values) == 1:
                return skip ** slots_left
            total = 0.0
            for n in range(items_left + 1):
                chance = (math.comb(items_left, n) * share ** n
                          * (1 - share) ** (items_left - n))
                shown = min(n, slots_left)
                total += chance * skip ** shown * no_click(
                    values[:-1], items_left - n, slots_left - shown)
            return total
        return 1 - no_click(self.a_values, self.items, self.slots)


class MisspecifiedWorld(BetaWorld):
    """The truth is Beta(1, 10) for every item; the policies are told Beta(5, 6)."""
    name, shift = "misspecified", 4
    a_values = (1,)

    def draw(self, replications, rng):
        truth = super().draw(replications, rng)
        return Instances(truth.attraction, truth.a + self.shift, truth.b - self.shift)

    def settings(self):
        return super().settings() + ["prior: {a: 1, b: 10}",
                                     f"misspecification: {self.shift}"]


class FixedWorld:
    """The same attractions in every replication; everyone is told Beta(1, 10)."""
    name, slots = "fixed", 2
    users = Cascade()
    levels = ((2, 0.2), (2, 0.1), (12, 0.05))

    def __init__(self):
        self.attraction = np.repeat([v for _, v in self.levels],
                                    [n for n, _ in self.levels])
        self.items = len(self.attraction)

    def draw(self, replications, rng):
        nu = np.tile(self.attraction, (replications, 1))
        return Instances(nu, np.full_like(nu, 1.0), np.full_like(nu, 10.0))

    def settings(self):
        levels = ", ".join(f"[{n}, {v}]" for n, v in self.levels)
        a, b = (", ".join([x] * self.items) for x in ("1", "10"))
        return ["kind: fixed", f"levels: [{levels}]",
                f"prior: {{a: [{a}], b: [{b}]}}"]

    def random_reward(self):
        """One minus the mean, over all lists, of the chance that no item attracts."""
        symmetric = np.zeros(self.slots + 1)
        symmetric[0] = 1
        for skip in 1 - self.attraction:
            symmetric[1:] += skip * symmetric[:-1]
        return 1 - symmetric[-1] / math.comb(self.items, self.slots)

    ensemble_reward = random_reward            # all prior means tie


class SteepWorld(FixedWorld):
    """Few items and wide gaps, so that even the cautious policies learn in time."""
    name = "steep"
    levels = ((1, 0.8), (1, 0.5), (4, 0.1))


class LogUniformWorld:
    """log nu uniform; policies are told Beta(n m, n (1 - m)), logit m off by N(shift, sd^2)."""
    name, items, slots = "log-uniform", 30, 3
    users = Cascade()
    low, high, weight, shift, sd = 0.01, 0.5, 20.0, 1.0, 1.0

    def draw(self, replications, rng):
        nu = np.exp(rng.uniform(math.log(self.low), math.log(self.high),
                                (replications, self.items)))
        error = rng.normal(self.shift, self.sd, nu.shape)
        mean = special.expit(special.logit(nu) + error)
        return Instances(nu, self.weight * mean, self.weight * (1 - mean))

    def settings(self):
        return ["kind: log-uniform", f"items: {self.items}", f"low: {self.low}",
                f"high: {self.high}", f"prior_n: {self.weight}",
                f"prior_shift: {self.shift}", f"prior_noise: {self.sd}"]

    def random_reward(self):
        mean = (self.high - self.low) / math.log(self.high / self.low)
        return 1 - (1 - mean) ** self.slots

    def ensemble_reward(self):
        """Three largest of independent z = logit nu + error, by quadrature over the third."""
        steps = (np.arange(2000) + 0.5) / 2000
        nu = self.low * (self.high / self.low) ** steps
        z = np.linspace(special.logit(self.low) - 7, special.logit(self.high) + 7, 4000)
        bell = np.exp(-0.5 * ((z[:, None] - special.logit(nu)) / self.sd) ** 2)
        bell *= (z[1] - z[0]) / (self.sd * math.sqrt(2 * math.pi) * len(nu))
        density, skip = bell.sum(axis=1), bell @ (1 - nu)
        below = np.cumsum(density) - density / 2
        above = np.cumsum(skip[::-1])[::-1] - skip / 2
        n = self.items
        return 1 - n * (n - 1) * (n - 2) / 2 * np.sum(skip * above ** 2 * below ** (n - 3))


class UniformWorld:
    """nu uniform; the told Beta(n nu, n (1 - nu)) of a random half of the items are permuted
    among these, and three times as sure."""
    name, items, slots = "uniform", 20, 3
    users = Cascade()
    low, high, weight, factor = 0.02, 0.4, 10.0, 3.0

    def draw(self, replications, rng):
        nu = rng.uniform(self.low, self.high, (replications, self.items))
        told, weight = nu.copy(), np.full_like(nu, self.weight)
        for row in range(replications):
            half = rng.choice(self.items, self.items // 2, replace=False)
            told[row, half] = nu[row, rng.permutation(half)]
            weight[row, half] *= self.factor
        return Instances(nu, weight * told, weight * (1 - told))

    def settings(self):
        return ["kind: uniform", f"items: {self.items}", f"low: {self.low}",
                f"high: {self.high}", f"prior_n: {self.weight}", "prior_order: permuted",
                f"prior_weight: {self.factor}", "prior_share: 0.5"]

    def random_reward(self):
        return 1 - (1 - (self.low + self.high) / 2) ** self.slots

    def ensemble_reward(self):
        return None


class PositionWorld(FixedWorld):
    """Users who look at the second slot most, and at a slot below it less than at the first."""
    name, slots = "position", 3
    levels = ((2, 0.1), (1, 0.6), (4, 0.1), (2, 0.4))
    users = PositionBased(0.6, 0.9, 0.3)

    def random_reward(self):
        return self.attraction.mean() * self.users.examine.sum()

    ensemble_reward = random_reward


# --------------------------------------------------------------- the policies

def top_slots(index, slots, rng):
    """The items with the largest indices, largest first, ties uniformly random."""
    left, key = index.copy(), rng.random(index.shape)
    rows = np.arange(len(index))
    lists = np.empty((len(index), slots), dtype=np.intp)
    for slot in range(slots):
        best = left.max(axis=1, keepdims=True)
        lists[:, slot] = np.where(left == best, key, -1.0).argmax(axis=1)
        left[rows, lists[:, slot]] = -np.inf
    return lists


def by_distinct_pair(function, x, y):
    """function(x, y) for whole numbers, evaluated once for each distinct pair."""
    width = int(y.max()) + 1
    codes, where = np.unique((x * width + y).astype(np.int64), return_inverse=True)
    return function(codes // width, codes % width)[where].reshape(x.shape)


class Policy:
    """Counts what was seen and clicked; shows the items with the largest index."""
    prior = "none"

    def __init__(self, world, told, rounds, rng):
        self.slots, self.rounds, self.rng = world.slots, rounds, rng
        self.users = world.users
        self.shape = told.a.shape
        self.rows = np.arange(self.shape[0])[:, None]
        self.seen, self.clicks = np.zeros(self.shape), np.zeros(self.shape)
        self.use_prior(told.a, told.b)

    def use_prior(self, a, b):
        pass

    def rank(self, t):
        return top_slots(self.index(t), self.slots, self.rng)

    def learn(self, lists, examined, clicked):
        self.seen[self.rows, lists] += examined
        self.clicks[self.rows, lists] += clicked

    def mean(self):
        return self.clicks / np.maximum(self.seen, 1)


class Random(Policy):
    def index(self, t):
        return np.zeros(self.shape)


class Ensemble(Policy):
    prior = "full"

    def use_prior(self, a, b):
        self.prior_mean = a / (a + b)

    def index(self, t):
        return self.prior_mean


class GaussianSampling(Policy):
    """GTS: the normal posterior of a normal model, prior N(0, 1)."""
    variance = 0.5 ** 2

    def use_prior(self, a, b):
        self.prior_mean, self.prior_variance = 0.0, 1.0

    def index(self, t):
        spread = 1 / (1 / self.prior_variance + self.seen / self.variance)
        centre = spread * (self.prior_mean / self.prior_variance
                           + self.clicks / self.variance)
        return centre + np.sqrt(spread) * self.rng.standard_normal(self.shape)


class GaussianSamplingMean(GaussianSampling):
    prior = "mean"

    def use_prior(self, a, b):
        self.prior_mean, self.prior_variance = a / (a + b), 1.0


class GaussianSamplingFull(GaussianSampling):
    prior = "full"

    def use_prior(self, a, b):
        self.prior_mean = a / (a + b)
        self.prior_variance = a * b / ((a + b) ** 2 * (a + b + 1))


class GaussianSamplingReleased(Policy):
    """The sampler of the released experiment code: deviation 1/n, no prior."""

    def index(self, t):
        deviation = 1 / np.maximum(self.seen, 1)
        return self.mean() + deviation * self.rng.standard_normal(self.shape)


class BetaSampling(Policy):
    def use_prior(self, a, b):
        self.a, self.b = 1.0, 1.0

    def index(self, t):
        return self.rng.beta(self.a + self.clicks, self.b + self.seen - self.clicks)


class BetaSamplingFull(BetaSampling):
    prior = "full"

    def use_prior(self, a, b):
        self.a, self.b = a, b


class BayesUCB(Policy):
    """The quantile of the Beta posterior at level 1 - 1/t."""

    def use_prior(self, a, b):
        self.a, self.b = 1.0, 1.0

    def index(self, t):
        def quantile(a, b):
            return special.betaincinv(a, b, 1 - 1 / t)
        return by_distinct_pair(quantile, self.a + self.clicks,
                                self.b + self.seen - self.clicks)


class BayesUCBFull(BayesUCB):
    prior = "full"

    def use_prior(self, a, b):
        self.a, self.b = a, b


class TSCascade(Policy):
    """One normal number a round, shared by all items."""

    def index(self, t):
        shared = self.rng.standard_normal((self.shape[0], 1))
        mean, share = self.mean(), math.log(t + 1) / (self.seen + 1)
        return mean + shared * np.maximum(np.sqrt(mean * (1 - mean) * share), share)


class UpperBound(Policy):
    """Unseen items first; after that the bound of the subclass."""

    def index(self, t):
        bound = self.bound(t, np.maximum(self.seen, 1))
        return np.where(self.seen > 0, bound, np.inf)


class CascadeUCB1(UpperBound):
    def bound(self, t, n):
        return self.mean() + np.sqrt(1.5 * math.log(max(t - 1, 1)) / n)


class CascadeUCBV(UpperBound):
    def bound(self, t, n):
        mean, log = self.mean(), math.log(t)
        wide = mean + np.sqrt(4 * mean * (1 - mean) * log / n) + 6 * log / n
        return np.minimum(1, wide)


def kl_upper(mean, level):
    """The largest q >= mean with kl(mean, q) <= level, by bisection."""
    low, high = mean.copy(), np.ones_like(mean)
    for _ in range(40):
        q = (low + high) / 2
        inside = special.rel_entr(mean, q) + special.rel_entr(1 - mean, 1 - q) <= level
        low, high = np.where(inside, q, low), np.where(inside, high, q)
    return low


class CascadeKLUCB(UpperBound):
    def bound(self, t, n):
        budget = math.log(t) + 3 * math.log(math.log(t)) if t >= 3 else 0.0
        return by_distinct_pair(lambda n, s: kl_upper(s / n, budget / n),
                                n, self.clicks)


class TopRank(Policy):
    """Blocks of items not yet told apart, each shuffled anew every round."""

    def __init__(self, *args):
        super().__init__(*args)
        self.block = np.zeros(self.shape, dtype=int)
        square = self.shape + self.shape[1:]
        self.lead, self.decided = np.zeros(square), np.zeros(square)
        self.beats = np.zeros(square, dtype=bool)
        self.log_constant = math.log(
            4 * math.sqrt(2 / math.pi) / math.erf(math.sqrt(2)) * self.rounds)

    def index(self, t):
        return self.rng.random(self.shape) - self.block

    def learn(self, lists, examined, clicked):
        run = np.flatnonzero(clicked.any(axis=1))
        winner = lists[run, clicked[run].argmax(axis=1)]
        rivals = self.block[run] == self.block[run, winner][:, None]
        rivals[np.arange(len(run)), winner] = False
        self.lead[run, winner] += rivals
        self.lead[run, :, winner] -= rivals
        self.decided[run, winner] += rivals
        self.decided[run, :, winner] += rivals
        won = self.new_edges(run, winner)
        self.beats[run, winner] |= won
        for r in run[won.any(axis=1)]:
            self.block[r] = partition(self.beats[r])

    def new_edges(self, run, winner):
        """Only a pair with the clicked item in it, and only in its favour."""
        n = self.decided[run, winner]
        logs = self.log_constant + 0.5 * np.log(np.maximum(n, 1))
        far_ahead = self.lead[run, winner] >= np.sqrt(2 * n * logs)
        return (n > 0) & far_ahead & ~self.beats[run, winner]


def partition(beats):
    """Peel off, again and again, the items that no remaining item beats."""
    block = np.zeros(len(beats), dtype=int)
    remaining, level = np.ones(len(beats), dtype=bool), 0
    while remaining.any():
        free = remaining & ~beats[remaining].any(axis=0)
        if not free.any():                 # a cycle: nobody can be told apart
            free = remaining.copy()
        block[free], level = level, level + 1
        remaining &= ~free
    return block


class Recalibrated(Policy):
    """TS-Hyper: the told prior up to a shift, a slope and a weight that all items share.

    The chances of the recalibrations are kept as numbers, replications x (shift,
    slope) x weight, and scaled to a largest of 1 after every round.
    """
    prior = "full"
    shift = np.array([-8, -7, -6, -5, -4, -3, -2.5, -2, -1.5, -1, -.5, 0, .5, 1, 1.5, 2, 3, 4])
    slope, slope_chance = np.array([0, .5, 1]), np.array([.2, .3, .5])
    weight = 2.0 ** np.arange(-2, 5)

    def use_prior(self, a, b):
        logit = np.log(a / b)
        centre = logit.mean(axis=1, keepdims=True)
        ordered = (logit - centre)[..., None, None] * self.slope
        moved = centre[..., None, None] + self.shift[:, None] + ordered
        self.told_mean = special.expit(moved).reshape(*a.shape, -1)
        self.told_sum = (a + b)[..., None] * self.weight
        hyperprior = (np.exp(-self.shift ** 2 / (2 * 3 ** 2))[:, None, None]
                      * self.slope_chance[:, None]
                      * np.exp(-np.log(self.weight) ** 2 / (2 * 1.5 ** 2)))
        cells = hyperprior.reshape(1, -1, len(self.weight))
        self.chance = np.tile(cells / cells.max(), (len(a), 1, 1))

    def index(self, t):
        """One recalibration a replication, then every item from its Beta."""
        heap = self.chance.reshape(len(self.chance), -1).cumsum(axis=1)
        point = heap[:, -1:] * self.rng.random((len(heap), 1))
        mean, weight = np.divmod((heap <= point).sum(axis=1), len(self.weight))
        n = self.told_sum[self.rows[:, 0], :, weight]
        a = n * self.told_mean[self.rows[:, 0], :, mean]
        return self.rng.beta(a + self.clicks, n - a + self.seen - self.clicks)

    def learn(self, lists, examined, clicked):
        rows = self.rows[:, 0]
        for slot in range(self.slots):
            item, hit = lists[:, slot], clicked[:, slot:slot + 1]
            mean, n = self.told_mean[rows, item], self.told_sum[rows, item]
            seen, clicks = self.seen[rows, item][:, None], self.clicks[rows, item][:, None]
            same = np.where(hit, clicks, seen - clicks)
            factor = np.where(hit, mean, 1 - mean)[..., None] * (n / (n + seen))[:, None, :]
            factor += (same / (n + seen))[:, None, :]
            factor[~examined[:, slot]] = 1
            self.chance *= factor
        self.chance /= self.chance.max(axis=(1, 2), keepdims=True)
        super().learn(lists, examined, clicked)


class RecalibratedMean(Recalibrated):
    """Told the means alone, each worth a + b = 2 observations."""
    prior = "mean"

    def use_prior(self, a, b):
        super().use_prior(2 * a / (a + b), 2 * b / (a + b))


class RecalibratedFlat(Recalibrated):
    """Told nothing: it learns the level and the spread of the click rates."""
    prior = "none"

    def use_prior(self, a, b):
        super().use_prior(np.ones_like(a), np.ones_like(b))


class Maillard(Policy):
    """A list drawn without replacement, by the weights exp(-n kl(mean, best mean))."""

    def index(self, t):
        mean = self.mean()
        most = mean.max(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            kl = special.rel_entr(mean, most) + special.rel_entr(1 - mean, 1 - most)
        sure = -1e6 * (self.seen - self.clicks)    # most is 1: the fewest misses first
        weight = np.where(most < 1, -self.seen * np.where(np.isfinite(kl), kl, 0), sure)
        weight = np.where(self.seen > 0, weight, 1e4)
        return weight + self.rng.gumbel(size=self.shape)


class EpsilonGreedy(Policy):
    """Slot after slot: the largest rate left or, with chance 0.1, any item left."""
    epsilon, start, looks = 0.1, 0.0, 1.0

    def rank(self, t):
        rate = (self.clicks + self.looks * self.start) / (self.seen + self.looks)
        left = np.ones(self.shape, dtype=bool)
        lists = np.empty((self.shape[0], self.slots), dtype=np.intp)
        for slot in range(self.slots):
            key = self.rng.random(self.shape)
            best = np.where(left, rate, -1).max(axis=1, keepdims=True)
            greedy = np.where(left & (rate == best), key, -1).argmax(axis=1)
            anyone = np.where(left, self.rng.random(self.shape), -1).argmax(axis=1)
            explores = self.rng.random(self.shape[0]) < self.epsilon
            lists[:, slot] = np.where(explores, anyone, greedy)
            left[self.rows[:, 0], lists[:, slot]] = False
        return lists


class OptimisticGreedy(EpsilonGreedy):
    """Every item begins with the rate 1/2, as if from five observations."""
    epsilon, start, looks = 0.02, 0.5, 5.0


class BubbleRank(Policy):
    """The order of the prior, improved by exchanging neighbours that clicks have decided."""
    prior = "full"
    log_scale = 4 * math.log(3)                # horizon: 3, so that there are exchanges

    def use_prior(self, a, b):
        self.base = np.argsort(-a / (a + b), axis=1, kind="stable")
        square = self.shape + self.shape[1:]
        self.lead, self.decided = np.zeros(square), np.zeros(square)

    def beats(self, i, j):
        rows = self.rows[:, 0]
        return self.lead[rows, i, j] > 2 * np.sqrt(self.decided[rows, i, j] * self.log_scale)

    def rank(self, t):
        self.first = t % 2                     # slots from 0: first, first + 2, ...
        lists = self.base[:, :self.slots + 1].copy()
        for slot in range(self.first, self.slots, 2):
            i, j = lists[:, slot].copy(), lists[:, slot + 1].copy()
            swap = ~self.beats(i, j) & (self.rng.random(len(i)) < 0.5)
            lists[:, slot] = np.where(swap, j, i)
            lists[:, slot + 1] = np.where(swap, i, j)
        return lists[:, :self.slots]

    def count(self, won, i, j):
        rows = self.rows[won, 0]
        i, j = i[won], j[won]
        self.lead[rows, i, j] += 1
        self.lead[rows, j, i] -= 1
        self.decided[rows, i, j] += 1
        self.decided[rows, j, i] += 1

    def learn(self, lists, examined, clicked):
        base = self.base.copy()
        for slot in range(self.first, self.slots, 2):
            i, above = lists[:, slot], clicked[:, slot]
            if slot + 1 < self.slots:
                j, below = lists[:, slot + 1], clicked[:, slot + 1]
                self.count(above & ~below, i, j)
                self.count(below & ~above, j, i)
            else:                              # the other one of the pair was not shown
                upper, lower = base[:, slot], base[:, slot + 1]
                other = np.where(i == upper, lower, upper)
                self.count(above & ~self.beats(upper, lower), i, other)
        for at in range(self.slots):
            i, j = self.base[:, at].copy(), self.base[:, at + 1].copy()
            worse = self.beats(j, i)
            self.base[:, at] = np.where(worse, j, i)
            self.base[:, at + 1] = np.where(worse, i, j)


class PositionPolicy(Policy):
    """Knows how likely each slot is examined; the best item goes where users look most."""

    def __init__(self, *args):
        super().__init__(*args)
        self.missed = np.zeros(self.shape + (self.slots,))

    def rank(self, t):
        return self.users.place(top_slots(self.index(t), self.slots, self.rng))

    def learn(self, lists, examined, clicked):
        super().learn(lists, examined, clicked)
        self.missed[self.rows, lists, np.arange(self.slots)] += ~clicked


class PositionUCB(PositionPolicy):
    def __init__(self, *args):
        super().__init__(*args)
        self.expected = np.zeros(self.shape)

    def learn(self, lists, examined, clicked):
        super().learn(lists, examined, clicked)
        self.expected[self.rows, lists] += self.users.examine

    def index(self, t):
        n = np.maximum(self.expected, 1e-9)
        bound = self.clicks / n + np.sqrt(self.seen / n * math.log(t) / (2 * n))
        return np.where(self.seen > 0, bound, np.inf)


class PositionSampling(PositionPolicy):
    """theta^S prod_l (1 - kappa_l theta)^M_l by its distribution function in 400 cells."""
    cells = 400

    def __init__(self, *args):
        super().__init__(*args)
        middle = (np.arange(self.cells) + 0.5) / self.cells
        self.log_click = np.log(middle)
        self.log_miss = np.log1p(-np.outer(self.users.examine, middle))
        flat = np.arange(1, self.cells + 1) / self.cells
        self.below = np.tile(flat, self.shape + (1,))

    def learn(self, lists, examined, clicked):
        super().learn(lists, examined, clicked)
        density = (self.clicks[self.rows, lists][..., None] * self.log_click
                   + self.missed[self.rows, lists] @ self.log_miss)
        mass = np.exp(density - density.max(axis=-1, keepdims=True)).cumsum(axis=-1)
        self.below[self.rows, lists] = mass / mass[..., -1:]

    def index(self, t):
        u = self.rng.random(self.shape)[..., None]
        cell = np.minimum((self.below < u).sum(axis=-1), self.cells - 1)[..., None]
        high = np.take_along_axis(self.below, cell, axis=-1)
        low = np.where(cell > 0, np.take_along_axis(self.below, np.maximum(cell - 1, 0), axis=-1), 0)
        return ((cell + (u - low) / np.maximum(high - low, 1e-300)) / self.cells)[..., 0]


class Entry(NamedTuple):
    name: str
    kind: str
    policy: type
    parameters: str = ""


POLICIES = (
    Entry("GTS", "gts", GaussianSampling, "sigma: 0.5"),
    Entry("GTS-Pmean", "gts", GaussianSamplingMean, "sigma: 0.5"),
    Entry("GTS-P", "gts", GaussianSamplingFull, "sigma: 0.5"),
    Entry("GTS-released", "gts", GaussianSamplingReleased, "sampler: released"),
    Entry("TS-Beta-flat", "ts-beta", BetaSampling),
    Entry("TS-Beta", "ts-beta", BetaSamplingFull),
    Entry("BayesUCB-flat", "bayes-ucb", BayesUCB),
    Entry("BayesUCB", "bayes-ucb", BayesUCBFull),
    Entry("TS-Cascade", "ts-cascade", TSCascade),
    Entry("CascadeUCB1", "cascade-ucb1", CascadeUCB1),
    Entry("CascadeKL-UCB", "cascade-klucb", CascadeKLUCB),
    Entry("CascadeUCB-V", "cascade-ucbv", CascadeUCBV),
    Entry("TopRank", "toprank", TopRank),
    Entry("Ensemble", "ensemble", Ensemble),
    Entry("Random", "random", Random),
    Entry("TS-Hyper", "ts-hyper", Recalibrated),
    Entry("TS-Hyper-mean", "ts-hyper", RecalibratedMean),
    Entry("TS-Hyper-flat", "ts-hyper", RecalibratedFlat),
    Entry("Maillard", "maillard", Maillard),
    Entry("Greedy", "epsilon-greedy", EpsilonGreedy),
    Entry("Greedy-start", "epsilon-greedy", OptimisticGreedy, "epsilon: 0.02, start: 0.5, looks: 5"),
    Entry("BubbleRank", "bubblerank", BubbleRank, "horizon: 3"),
    Entry("PBM-UCB", "pbm-ucb", PositionUCB),
    Entry("PBM-TS", "pbm-ts", PositionSampling),
)
WORLDS = (BetaWorld(), FixedWorld(), MisspecifiedWorld(), SteepWorld(), LogUniformWorld(),
          UniformWorld(), PositionWorld())
CAUTIOUS = ("CascadeUCB-V", "TopRank")     # hardly better than Random for long
BY_SLOT = ("BubbleRank", "PBM-UCB", "PBM-TS")  # learn from clicks in every slot

# Played in one world each: slow ones, and BubbleRank, which without a good prior learns too slowly.
ALONE = {"TS-Hyper-mean": "beta", "TS-Hyper-flat": "fixed", "Greedy-start": "beta",
         "BubbleRank": "beta"}


def policies_of(world):
    if isinstance(world, SteepWorld):
        return [e for e in POLICIES if e.name in CAUTIOUS + ("Random",)]
    if isinstance(world, (LogUniformWorld, UniformWorld)):     # what a prior changes
        return [e for e in POLICIES if e.name in
                ("GTS", "GTS-Pmean", "GTS-P", "TS-Beta-flat", "TS-Beta", "Ensemble", "Random")]
    if isinstance(world, PositionWorld):
        return [e for e in POLICIES if e.name in BY_SLOT + ("Random",)]
    return [e for e in POLICIES if ALONE.get(e.name, world.name) == world.name
            and e.name not in BY_SLOT[1:]]


# ------------------------------------------------------------- the simulation

def simulate(world, entry, replications, checkpoints, seed):
    """Cumulative regret and reward, each replications x checkpoints."""
    rng = np.random.default_rng(seed)
    told = world.draw(replications, rng)
    nu, users = told.attraction, world.users
    policy = entry.policy(world, told, checkpoints[-1], rng)
    best = users.reward(np.take_along_axis(nu, users.best(nu, world.slots), axis=1))
    reward, regrets, rewards = np.zeros(replications), [], []
    for t in range(1, checkpoints[-1] + 1):
        lists = policy.rank(t)
        shown = np.take_along_axis(nu, lists, axis=1)
        reward += users.reward(shown)
        policy.learn(lists, *users.browse(shown, rng))
        if t in checkpoints:
            regrets.append(t * best - reward)
            rewards.append(reward.copy())
    return np.array(regrets).T, np.array(rewards).T


class Row(NamedTuple):
    """What one policy had collected by one round; errors are standard errors."""
    regret: float
    regret_error: float
    reward: float
    reward_error: float
    replications: int


def summarise(regrets, rewards, checkpoints):
    n = len(regrets)
    return {t: Row(g.mean(), g.std(ddof=1) / math.sqrt(n),
                   w.mean(), w.std(ddof=1) / math.sqrt(n), n)
            for t, g, w in zip(checkpoints, regrets.T, rewards.T)}


def simulate_world(number, world, replications, checkpoints):
    return {e.name: summarise(*simulate(world, e, replications, checkpoints,
                                        [301, number, POLICIES.index(e)]), checkpoints)
            for e in policies_of(world)}


# ----------------------------------------------------- is the twin itself sane

def check_inversions():
    """The two numerical inversions must undo what they invert."""
    faults = []
    a, b = (x.ravel() for x in np.meshgrid([1, 2, 5, 17, 90, 300], [1, 6, 40, 1000]))
    for t in (2, 30, 1000):
        level = 1 - 1 / t
        back = special.betainc(a, b, special.betaincinv(a, b, level))
        if not np.allclose(back, level, rtol=0, atol=1e-9):
            faults.append(f"Beta quantile at level {level}")
    mean = np.linspace(0, 0.8, 17)
    for level in (0.01, 0.3, 1.0):
        q = kl_upper(mean, level)
        back = special.rel_entr(mean, q) + special.rel_entr(1 - mean, 1 - q)
        if not np.allclose(back, level, rtol=0, atol=1e-7):
            faults.append(f"KL bound at level {level}")
    return faults


def check_world(world, ours):
    """Closed-form rewards of those that do not learn; the others beat Random."""
    faults = []
    closed = {"Random": world.random_reward(), "Ensemble": world.ensemble_reward()}
    for name in closed.keys() & ours.keys():
        for t, row in ours[name].items() if closed[name] is not None else ():
            z = score(row.reward, t * closed[name], row.reward_error, 0.0)
            if not abs(z) <= TOLERATED_Z:
                faults.append(f"{world.name}: reward of {name} at round {t} is "
                              f"{row.reward:.4f}, closed form {t * closed[name]:.4f}")
    last = max(ours["Random"])
    bar = ours["Random"][last]
    learners = ours.keys() - closed.keys()
    if not isinstance(world, SteepWorld):
        learners -= set(CAUTIOUS)
    for name in sorted(learners):
        row = ours[name][last]
        gain = (bar.regret - row.regret) / math.hypot(bar.regret_error, row.regret_error)
        if not gain > TOLERATED_Z:
            faults.append(f"{world.name}: {name} does not learn")
    return faults


# ------------------------------------------------------------ the oltr binary

def policy_line(entry):
    parts = [f"name: {entry.name}", f"kind: {entry.kind}"]
    if entry.policy.prior != "none":
        parts.append(f"prior: {entry.policy.prior}")
    if entry.parameters:
        parts.append(entry.parameters)
    return "  - {" + ", ".join(parts) + "}"


def experiment_text(world, checkpoints):
    lines = [f"title: Regret twin, world {world.name}", "seed: 7",
             f"rounds: {checkpoints[-1]}", f"slots: {world.slots}",
             f"replications: {OLTR_REPLICATIONS}",
             f"checkpoints: [{', '.join(map(str, checkpoints))}]", "world:"]
    lines += ["  " + line for line in [*world.settings(), *world.users.settings]]
    lines += ["policies:"] + [policy_line(e) for e in policies_of(world)]
    return "\n".join(lines) + "\n"


def run_oltr(binary, folder, world, checkpoints):
    """Run the matching experiment; what results.csv says, by policy and round."""
    file, out = folder / f"{world.name}.yaml", folder / f"out-{world.name}"
    file.write_text(experiment_text(world, checkpoints))
    results = out / "results.csv"
    results.unlink(missing_ok=True)
    command = [binary, "run", str(file), "-o", str(out), "-j", "2", "--no-figures", "--force"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace")
    except OSError as error:
        sys.exit(f"cannot run {binary}: {error.strerror}")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with status {done.returncode}:\n{done.stdout}")
    if not results.exists():
        sys.exit(f"{' '.join(command)}\nleft no {results}")
    return read_results(results)


def read_results(path):
    """reward_error is not in the file: not a number here, see disagreements()."""
    theirs = {}
    with open(path, newline="") as stream:
        for line in csv.DictReader(stream):
            theirs.setdefault(line["policy"], {})[int(line["round"])] = Row(
                float(line["regret"]), float(line["regret_se"]),
                float(line["reward"]), math.nan, int(line["replications"]))
    return theirs


# ------------------------------------------------------------- the comparison

def score(mine, other, my_error, other_error):
    """Difference in standard errors; without any error only equality will do."""
    error = math.hypot(my_error, other_error)
    if error == 0:
        return 0.0 if abs(mine - other) <= EXACT else math.inf
    return (mine - other) / error


def disagreements(world, ours, theirs):
    """Print one line for each policy and round; return those that disagree."""
    faults = []
    for name, rounds in ours.items():
        for t, mine in rounds.items():
            other = theirs.get(name, {}).get(t)
            label = f"{world.name}: {name} at round {t}"
            if other is None:
                faults.append(f"{label}: no row in results.csv")
                continue
            if other.replications != OLTR_REPLICATIONS:
                faults.append(f"{label}: {other.replications} replications, "
                              f"asked for {OLTR_REPLICATIONS}")
            # The same law with more replications: our deviation serves for both.
            reward_error = mine.reward_error * math.sqrt(
                mine.replications / OLTR_REPLICATIONS)
            zs = (score(mine.regret, other.regret, mine.regret_error, other.regret_error),
                  score(mine.reward, other.reward, mine.reward_error, reward_error))
            print(f"{world.name:<13} {name:<14} {t:>5} "
                  f"{mine.regret:>10.4f} {other.regret:>10.4f} {zs[0]:>6.2f} "
                  f"{mine.reward:>10.4f} {other.reward:>10.4f} {zs[1]:>6.2f}")
            for what, z in zip(("regret", "reward"), zs):
                if not abs(z) <= TOLERATED_Z:
                    faults.append(f"{label}: {what} {getattr(mine, what):.6g} here, "
                                  f"{getattr(other, what):.6g} there, z = {z:.2f}")
    return faults


def print_own(world, ours):
    for name, rounds in ours.items():
        for t, row in rounds.items():
            print(f"{world.name:<13} {name:<14} {t:>5} "
                  f"{row.regret:>10.4f} {row.regret_error:>8.4f} "
                  f"{row.reward:>10.4f} {row.reward_error:>8.4f}")


HEADING = f"{'world':<13} {'policy':<14} {'round':>5} "
OWN_HEADING = HEADING + f"{'regret':>10} {'se':>8} {'reward':>10} {'se':>8}"
TWIN_HEADING = HEADING + (f"{'regret':>10} {'oltr':>10} {'z':>6} "
                          f"{'reward':>10} {'oltr':>10} {'z':>6}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", nargs="?", help="the oltr program")
    parser.add_argument("workdir", nargs="?", help="folder for experiments and results")
    parser.add_argument("--quick", action="store_true", help="300 rounds only")
    parser.add_argument("--self", action="store_true", dest="alone",
                        help="run and check the numpy side alone")
    options = parser.parse_args()
    if not options.alone and options.workdir is None:
        parser.error("OLTR_BINARY and WORKDIR are needed, or --self")
    return options


def main():
    options = arguments()
    checkpoints = CHECKPOINTS[:-1] if options.quick else CHECKPOINTS
    replications = 200 if options.quick else 400
    if not options.alone:
        folder = pathlib.Path(options.workdir)
        folder.mkdir(parents=True, exist_ok=True)
    faults, seconds, rows = check_inversions(), 0.0, 0
    print(OWN_HEADING if options.alone else TWIN_HEADING)
    for number, world in enumerate(WORLDS):
        start = time.perf_counter()
        ours = simulate_world(number, world, replications, checkpoints)
        seconds += time.perf_counter() - start
        rows += sum(map(len, ours.values()))
        faults += check_world(world, ours)
        if options.alone:
            print_own(world, ours)
        else:
            theirs = run_oltr(options.binary, folder, world, checkpoints)
            faults += disagreements(world, ours, theirs)
    for fault in faults:
        print("DISAGREES", fault)
    print(f"{rows} rows, {replications} replications here in {seconds:.0f} s: "
          + (f"{len(faults)} disagreements" if faults else "all agree"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
