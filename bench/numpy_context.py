#!/usr/bin/env python3
"""Rounds with features: the time in numpy over the time of the engine.

Both are timed in this process, in thread CPU time and in turn: the engine through bench/helper.c,
numpy by the classes below.  Three items are observed in every round.  Each ratio is taken within a
repetition; the median is printed.

    numpy_context.py LIBRARY [--repetitions N] [--strict]
"""
import argparse
import ctypes
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the engine has one thread too
import numpy as np  # noqa: E402
from scipy.special import ndtr  # noqa: E402

OBSERVED = 3


def thread_ns():
    return time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)


class World:
    def __init__(self, dim, items, slots):
        self.rng = np.random.default_rng(3)
        x = self.rng.standard_normal((items, dim))
        self.x = x / np.linalg.norm(x, axis=1, keepdims=True)
        self.chance = 1 / (1 + np.exp(-self.x @ np.where(np.arange(dim) % 2, 1.0, -1.0)))
        self.slots = slots

    def show(self, score):
        some = np.argpartition(score, -self.slots)[-self.slots:]
        shown = some[np.argsort(score[some])[::-1]][:OBSERVED]
        return shown, self.rng.random(OBSERVED) < self.chance[shown]


class LinTs:
    """Linear Thompson sampling, with an inverse as usually written, or one Cholesky factor."""

    def __init__(self, dim, items, slots, inverse):
        self.w, self.inverse = World(dim, items, slots), inverse
        self.v, self.b = 1e-4 * np.eye(dim), np.zeros(dim)

    def round(self):
        w = self.w
        if self.inverse:
            cov = np.linalg.inv(self.v)
            theta = w.rng.multivariate_normal(cov @ self.b, 0.25 * cov)
        else:
            factor = np.linalg.cholesky(self.v)
            u = np.linalg.solve(factor, self.b)
            theta = np.linalg.solve(factor.T, u + 0.5 * w.rng.standard_normal(len(u)))
        shown, y = w.show(w.x @ theta)
        rows = w.x[shown]
        self.v += rows.T @ rows
        self.b += y @ rows


class LogTs:
    """Logistic Thompson sampling on counts per item: Newton to 1e-8 from the last root, then a
    Laplace sample."""

    def __init__(self, dim, items, slots):
        self.w, self.theta = World(dim, items, slots), np.zeros(dim)
        self.n, self.s, self.ridge = np.zeros(items), np.zeros(items), 1e-4 * np.eye(dim)

    def round(self):
        w, x = self.w, self.w.x
        for _ in range(50):
            p = 1 / (1 + np.exp(-np.clip(x @ self.theta, -700, 700)))
            hessian = self.ridge + (x * (self.n * p * (1 - p))[:, None]).T @ x
            step = np.linalg.solve(hessian, x.T @ (self.s - self.n * p) - 1e-4 * self.theta)
            length = np.linalg.norm(step)
            self.theta += step * min(1, 5 / max(length, 1e-300))
            if length < 1e-8 * (1 + np.linalg.norm(self.theta)):
                break
        factor = np.linalg.cholesky(hessian)
        theta = self.theta + np.linalg.solve(factor.T, w.rng.standard_normal(len(self.theta)))
        shown, y = w.show(x @ theta)
        self.n[shown] += 1
        self.s[shown] += y


class Root(LogTs):
    """The root of LogTs with lambda 1, for the two policies below."""

    def __init__(self, dim, items, slots):
        super().__init__(dim, items, slots)
        self.ridge = np.eye(dim)

    def solve(self):
        x = self.w.x
        for _ in range(50):
            p = 1 / (1 + np.exp(-(x @ self.theta)))
            hessian = self.ridge + (x * (self.n * p * (1 - p))[:, None]).T @ x
            step = np.linalg.solve(hessian, x.T @ (self.s - self.n * p) - self.theta)
            self.theta += step
            if np.linalg.norm(step) < 1e-8:
                return hessian
        return hessian

    def observe(self, score):
        shown, y = self.w.show(score)
        self.n[shown] += 1
        self.s[shown] += y
        return shown


class GlmUcb(Root):
    """The bound with the inverse of V kept by three rank-one updates a round."""

    def __init__(self, dim, items, slots):
        super().__init__(dim, items, slots)
        self.inverse, self.t = np.eye(dim), 1

    def round(self):
        x, d = self.w.x, len(self.theta)
        self.solve()
        width = np.sqrt(np.einsum("ij,ij->i", x @ self.inverse, x))
        alpha = 0.5 / 0.19661193 * np.sqrt(d / 2 * np.log1p(2 * self.t / d) + np.log(10000))
        for item in self.observe(x @ self.theta + alpha * width):
            u = self.inverse @ x[item]
            self.inverse -= np.outer(u, u) / (1 + x[item] @ u)
        self.t += 1


class PgTs(Root):
    """Ten sweeps; a Polya-Gamma draw is a normal of its moments beyond 20, else the sum of PG(1, z)
    by the method of Devroye (2009), all of a sweep at once."""

    cut = 0.64

    def polya_gamma(self, z):
        rng, n = self.w.rng, self.n
        half = np.maximum(np.abs(z), 1e-3) / 2
        tanh = np.tanh(half) / half
        mean, variance = n * tanh / 4, n * (tanh - 1 / np.cosh(half) ** 2) / (16 * half ** 2)
        omega = mean + np.sqrt(np.maximum(variance, 0)) * rng.standard_normal(len(n))
        few = np.flatnonzero(n <= 20)
        if len(few):
            each = np.repeat(few, n[few].astype(int))
            omega[few] = np.bincount(each, self.jacobi(half[each]), len(n))[few] / 4
        return np.maximum(omega, 0)

    def jacobi(self, h):
        t, rng = self.cut, self.w.rng
        rate = np.pi ** 2 / 8 + h * h / 2
        behind = np.pi / (2 * rate) * np.exp(-rate * t)
        before = 2 * (np.exp(-h) * ndtr((t * h - 1) / t ** 0.5)
                      + np.exp(h) * ndtr(-(t * h + 1) / t ** 0.5))
        chance = behind / (behind + before)
        x, left = np.zeros(len(h)), np.arange(len(h))
        while len(left):
            u = rng.random(len(left)) / chance[left]
            far = u < 1
            beyond, below = left[far], left[~far]
            x[beyond] = t - np.log(u[far]) / rate[beyond]
            x[below] = self.inverse_gaussian(h[below])
            left = left[~self.accepted(x[left], rng.random(len(left)))]
        return x

    def inverse_gaussian(self, h):
        """Of mean 1/h and shape 1, below the cut."""
        t, rng = self.cut, self.w.rng
        x, left = np.empty(len(h)), np.arange(len(h))
        while len(left):
            g, narrow = h[left], h[left] * t >= 1
            e = rng.standard_exponential((3, len(left)))
            wide = t / (1 + t * e[0]) ** 2
            good = (e[0] ** 2 <= 2 * e[1] / t) & (e[2] >= g * g * wide / 2)
            if narrow.any():
                a = rng.standard_normal(len(left)) ** 2 / g
                share = 1 / (1 + a / 2 + np.sqrt(a + a * a / 4))
                share = np.where(rng.random(len(left)) * (1 + share) > 1, 1 / share, share)
                wide = np.where(narrow, share / g, wide)
                good = np.where(narrow, share <= t * g, good)
            x[left], left = wide, left[~good]
        return x

    def accepted(self, x, u):
        """By the alternating series; its second term is at most 0.0058."""
        yes = u <= 1 - 0.0058
        for i in np.flatnonzero(~yes):
            unit = 2 / x[i] if x[i] <= self.cut else np.pi ** 2 * x[i] / 2
            total, k = 1.0, 0
            while True:
                k += 1
                term = (2 * k + 1) * np.exp(-k * (k + 1) * unit)
                total += -term if k % 2 else term
                if u[i] <= total if k % 2 else u[i] > total:
                    yes[i] = k % 2
                    break
        return yes

    def round(self):
        x, rng, d = self.w.x, self.w.rng, len(self.theta)
        factor = np.linalg.cholesky(self.solve())
        theta = self.theta + np.linalg.solve(factor.T, rng.standard_normal(d))
        moment = x.T @ (self.s - self.n / 2)
        for _ in range(10):
            factor = np.linalg.cholesky(self.ridge + (x.T * self.polya_gamma(x @ theta)) @ x)
            u = np.linalg.solve(factor, moment)
            theta = np.linalg.solve(factor.T, u + rng.standard_normal(d))
        self.observe(x @ theta)


class PgTsGammas(PgTs):
    """The draws up to 20 are approximate: 16 gammas, and a normal for the rest of the sum."""

    shares = (np.arange(1, 17) - 0.5) ** 2

    def polya_gamma(self, z):
        rng, n = self.w.rng, self.n
        half = np.maximum(np.abs(z), 1e-3) / 2
        tanh = np.tanh(half) / half
        mean, variance = n * tanh / 4, n * (tanh - 1 / np.cosh(half) ** 2) / (16 * half ** 2)
        few = np.flatnonzero(n <= 20)
        omega = np.zeros(len(n))
        if len(few):
            share = 1 / (2 * np.pi ** 2 * (self.shares + (z[few, None] / (2 * np.pi)) ** 2))
            omega[few] = (rng.standard_gamma(n[few, None], share.shape) * share).sum(axis=1)
            mean[few] -= n[few] * share.sum(axis=1)
            variance[few] -= n[few] * (share ** 2).sum(axis=1)
        omega += mean + np.sqrt(np.maximum(variance, 0)) * rng.standard_normal(len(n))
        return np.maximum(omega, 0)


def time_numpy(twin, rounds):
    start = thread_ns()
    for _ in range(rounds):
        twin.round()
    return (thread_ns() - start) / rounds


ROWS = [  # name, engine's kind, numpy twin, dim, items, slots, numpy rounds, aim
    ("lints d=10 L=30 K=3: numpy, inverse and multivariate_normal", "lints",
     lambda: LinTs(10, 30, 3, True), 10, 30, 3, 200, 120),
    ("lints d=10 L=30 K=3: numpy, Cholesky", "lints",
     lambda: LinTs(10, 30, 3, False), 10, 30, 3, 300, 60),
    ("logts d=10 L=30 K=3: numpy on counts, root to 1e-8", "logts",
     lambda: LogTs(10, 30, 3), 10, 30, 3, 150, 25),
    ("glm-ucb d=10 L=30 K=3: numpy on counts, inverse by updates", "glm-ucb",
     lambda: GlmUcb(10, 30, 3), 10, 30, 3, 150, 100),
    ("pg-ts d=10 L=30 K=3: numpy, 10 sweeps, exact up to 20", "pg-ts",
     lambda: PgTs(10, 30, 3), 10, 30, 3, 30, 100),
    ("pg-ts d=10 L=30 K=3: numpy, 10 sweeps, approximate by gammas", "pg-ts",
     lambda: PgTsGammas(10, 30, 3), 10, 30, 3, 30, None),
]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("library")
    arguments.add_argument("--repetitions", type=int, default=15)
    arguments.add_argument("--strict", action="store_true")
    given = arguments.parse_args()
    engine = ctypes.CDLL(given.library).oltr_bench_context
    engine.restype = ctypes.c_int64
    engine.argtypes = [ctypes.c_char_p] + [ctypes.c_uint32] * 5
    missed = 0
    print("| what | median | aim | | numpy / ours |\n|---|---|---|---|---|")
    for name, kind, make, dim, items, slots, rounds, aim in ROWS:
        twin = make()
        time_numpy(twin, 500)
        pairs = [(time_numpy(twin, rounds),
                  engine(kind.encode(), dim, items, slots, 3000, 500) / 3000)
                 for _ in range(given.repetitions)]
        ratio = float(np.median([a / b for a, b in pairs]))
        a, b = np.median(pairs, axis=0)
        missed += aim is not None and ratio < aim
        verdict = "" if aim is None else "pass" if ratio >= aim else "**MISS**"
        print(f"| {name} | {ratio:.1f} | {f'>= {aim}' if aim else ''} | {verdict} | "
              f"{a / 1000:.1f} us / {b / 1000:.2f} us |")
    ratios = []
    for _ in range(given.repetitions):
        ratios.append(engine(b"logts-newton", 136, 120, 10, 300, 300)
                      / engine(b"lints", 136, 120, 10, 300, 300))
    ratio = float(np.median(ratios))
    missed += ratio > 3
    print(f"| logts-newton d=136 L=120 K=10: to lints | {ratio:.2f} | <= 3 | "
          f"{'pass' if ratio <= 3 else '**MISS**'} | |")
    return 1 if given.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())
