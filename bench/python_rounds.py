#!/usr/bin/env python3
"""Rounds in a Python loop: the time over that of the same loop in plain C.

    python_rounds.py LOOPS LIBOLTR [--repetitions N] [--strict]

LOOPS is the library of bench/python_loops.c, LIBOLTR the shared library, which the same rounds are
played through with ctypes; PYTHONPATH must have the package.  The three are timed in this process,
in thread CPU time and in turn; each ratio is taken within a repetition, and medians are printed.
Threads are measured in wall-clock time, beside a spin loop in C in the same moments.
"""

import argparse
import ctypes
import statistics
import sys
import threading
import time

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)
import oltr

L, K = 30, 3
CLICKS = [0, 1]


def thread_ns():
    """The CPU time of this thread."""
    return time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)


# ---- plain C


class Loops:
    """The loops of python_loops.c."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.loop_new.restype = ctypes.c_void_p
        self.library.loop_new.argtypes = [ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint32]
        self.library.loop_rounds.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32,
                                       ctypes.c_void_p]
        self.library.loop_many.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32,
                                     ctypes.c_void_p, ctypes.c_void_p]
        self.library.loop_spin.argtypes = [ctypes.c_uint64]
        self.library.loop_spin.restype = ctypes.c_uint64

    def rounds(self, kind, items, dim, k, x):
        """A function that plays n rounds."""
        loop = self.library.loop_new(kind.encode(), items, dim)
        address = None if x is None else x.ctypes.data

        def play(n):
            if self.library.loop_rounds(loop, n, k, address):
                raise RuntimeError("a round in C failed")

        return play

    def many(self, kind, items, k, clicks):
        """A function that ranks and learns n lists at once."""
        loop = self.library.loop_new(kind.encode(), items, 0)
        lists = np.empty(clicks.shape, np.uint32)

        def play(n):
            if self.library.loop_many(loop, n, k, lists.ctypes.data, clicks.ctypes.data):
                raise RuntimeError("a batch in C failed")

        return play


# ---- the extension


def extension_rounds(kind, items, dim, k, x):
    """A function that plays n rounds with oltr.Policy."""
    policy = oltr.Policy(kind, items, dim=dim)

    def play(n):
        rank, learn = policy.rank, policy.learn
        for _ in range(n):
            learn(rank(k), CLICKS)

    def play_with_features(n):
        rank, learn = policy.rank, policy.learn
        for _ in range(n):
            learn(rank(k, x=x), CLICKS)

    return play if x is None else play_with_features


def extension_many(kind, items, k, clicks):
    """A function that ranks and learns n lists at once with oltr.Policy."""
    policy = oltr.Policy(kind, items)

    def play(n):
        policy.learn_many(policy.rank_many(n, k), clicks)

    return play


# ---- ctypes


class Rng(ctypes.Structure):
    """oltr_rng."""

    _fields_ = [("key", ctypes.c_uint32 * 2), ("counter", ctypes.c_uint32 * 4),
                ("word", ctypes.c_uint32 * 4)]


class Ranking(ctypes.Structure):
    """oltr_ranking."""

    _fields_ = [("k", ctypes.c_uint32), ("item", ctypes.c_void_p), ("score", ctypes.c_void_p),
                ("reserved", ctypes.c_void_p * 2)]


class Feedback(ctypes.Structure):
    """oltr_feedback."""

    _fields_ = [("n_examined", ctypes.c_uint32), ("reward", ctypes.c_void_p),
                ("examined", ctypes.c_void_p), ("weight", ctypes.c_void_p),
                ("reserved", ctypes.c_void_p * 2)]


def ctypes_rounds(path, policy, k):
    """A function that plays n rounds of a loaded snapshot, as a program with ctypes would: arrays
    are kept between rounds, the list is read and the clicks are written in each."""
    c = ctypes.CDLL(path)
    pointer = ctypes.c_void_p
    c.oltr_load.restype = c.oltr_scratch_new.restype = pointer
    c.oltr_load.argtypes = [ctypes.c_char_p, ctypes.c_size_t, pointer]
    c.oltr_scratch_new.argtypes = [pointer]
    c.oltr_rng_make.restype = c.oltr_rng_at.restype = Rng
    c.oltr_rng_make.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
    c.oltr_rng_at.argtypes = [Rng, ctypes.c_uint32, ctypes.c_uint64]
    c.oltr_rank.argtypes = [pointer, pointer, Rng, pointer, ctypes.POINTER(Ranking)]
    c.oltr_learn.argtypes = [pointer, pointer, ctypes.POINTER(Ranking), ctypes.POINTER(Feedback)]
    snapshot = policy.to_bytes()
    engine = c.oltr_load(snapshot, len(snapshot), None)
    scratch = c.oltr_scratch_new(engine)
    seed = c.oltr_rng_make(0, 0)
    round_number = 0

    def play(n):
        nonlocal round_number
        for _ in range(n):
            round_number += 1
            items = (ctypes.c_uint32 * k)()
            scores = (ctypes.c_double * k)()
            shown = Ranking(k, ctypes.addressof(items), ctypes.addressof(scores))
            rng = c.oltr_rng_at(seed, 0, round_number)
            if c.oltr_rank(engine, None, rng, scratch, ctypes.byref(shown)):
                raise RuntimeError("a list was refused")
            list(items)
            clicks = (ctypes.c_double * 2)(*CLICKS)
            seen = Feedback(2, ctypes.addressof(clicks))
            if c.oltr_learn(engine, None, ctypes.byref(shown), ctypes.byref(seen)):
                raise RuntimeError("a lesson was refused")

    return play


# ---- measurement


def time_in_turn(players, rounds, repetitions):
    """Nanoseconds a round, one row for each repetition and one column for each player."""
    for play, n in zip(players, rounds):
        play(n)
    table = []
    for _ in range(repetitions):
        row = []
        for play, n in zip(players, rounds):
            begin = thread_ns()
            play(n)
            row.append((thread_ns() - begin) / n)
        table.append(row)
    return table


def median(values):
    """Of an iterable."""
    return statistics.median(list(values))


def report(text, value, bound, least=False):
    """Prints a row of the table; returns whether the target is met."""
    met = value >= bound if least else value <= bound
    sign = "at least" if least else "at most"
    print(f"| {text} | {value:,.2f} | {sign} {bound:g} | {'yes' if met else 'NO'} |")
    return met


def compare_gts(loops, liboltr, repetitions):
    """The round of thirty items."""
    players = [loops.rounds("gts", L, 0, K, None), extension_rounds("gts", L, 0, K, None),
               ctypes_rounds(liboltr, oltr.Policy("gts", L), K)]
    table = time_in_turn(players, [20000, 20000, 2000], repetitions)
    c, ours, theirs = (median(column) for column in zip(*table))
    print(f"\ngts, {L} items, {K} slots, ns a round: C {c:.0f}, oltr {ours:.0f}, "
          f"ctypes {theirs:.0f}\n")
    print("| rank + learn of gts | measured | target | met |\n|---|---|---|---|")
    more = median(row[1] - row[0] for row in table)
    return [report("ns more than plain C", more, 250),
            report("ctypes over oltr", median(row[2] / row[1] for row in table), 15, least=True)]


def compare_lints(loops, repetitions):
    """The round with features."""
    items, dim, k = 120, 136, 10
    x = np.random.default_rng(1).normal(size=(items, dim)).astype(np.float32) / dim
    players = [loops.rounds("lints", items, dim, k, x), extension_rounds("lints", items, dim, k, x)]
    table = time_in_turn(players, [1000, 1000], repetitions)
    c, ours = (median(column) for column in zip(*table))
    print(f"\nlints, {items} items, {dim} features, ns a round: C {c:.0f}, oltr {ours:.0f}\n")
    print("| rank + learn of lints | measured | target | met |\n|---|---|---|---|")
    return [report("oltr over C", median(row[1] / row[0] for row in table), 1.15)]


def compare_many(loops, repetitions):
    """Batches of ten thousand lists."""
    n = 10000
    clicks = np.zeros((n, K))
    clicks[:, 1] = 1
    players = [loops.many("gts", L, K, clicks), extension_many("gts", L, K, clicks)]
    table = time_in_turn(players, [n, n], repetitions)
    c, ours = (median(column) for column in zip(*table))
    print(f"\ngts in batches of {n}, ns a round: C {c:.0f}, oltr {ours:.0f}\n")
    print("| rank_many + learn_many | measured | target | met |\n|---|---|---|---|")
    return [report("oltr over C", median(row[1] / row[0] for row in table), 1.5)]


def wall_ns(works):
    """Wall-clock time of these functions, each in a thread."""
    threads = [threading.Thread(target=work) for work in works]
    begin = time.perf_counter_ns()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter_ns() - begin


def compare_threads(loops, repetitions):
    """Two threads that rank big batches by one policy, beside two that spin."""
    policy = oltr.Policy("gts", 1000)
    works = {"rank_many": lambda: policy.rank_many(20000, 10),
             "spin": lambda: loops.c.loop_spin(20_000_000)}
    gains = {name: [] for name in works}
    for _ in range(repetitions):
        for name, work in works.items():
            gains[name].append(2 * wall_ns([work]) / wall_ns([work, work]))
    rank, spin = median(gains["rank_many"]), median(gains["spin"])
    print("\n| two threads over one | measured | target | met |\n|---|---|---|---|")
    return [report(f"rank_many over the spin loop, which gains {spin:.2f}", rank / spin, 0.8, True)]


def main():
    """Measures everything; with --strict the exit code tells whether all targets are met."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("loops")
    parser.add_argument("liboltr")
    parser.add_argument("--repetitions", type=int, default=25)
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    loops = Loops(options.loops)
    met = compare_gts(loops, options.liboltr, options.repetitions)
    met += compare_lints(loops, options.repetitions)
    met += compare_many(loops, options.repetitions)
    met += compare_threads(loops, max(options.repetitions // 5, 1))
    return options.strict and not all(met)


if __name__ == "__main__":
    sys.exit(main())
