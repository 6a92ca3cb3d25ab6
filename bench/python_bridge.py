#!/usr/bin/env python3
"""What a policy written in Python costs a round of the simulator, beyond its own code.

A policy whose rank() returns a list that was made before, and whose learn() does nothing, plays
beside `random`, the built-in policy that learns nothing.  The simulator measures the CPU time of a
round of each (rank, users, learn).  The whole round of the Python policy is an upper bound of the
bridge; minus the empty methods, called from Python alone, it is what the bridge adds.  Results with
features have the cost of copying them.

usage: PYTHONPATH=build/release/python bench/python_bridge.py [--strict]
"""

import argparse
import sys
import timeit

import oltr

ROUNDS, REPLICATIONS, REPEATS = 100_000, 2, 5
TARGET_NS = 1500  # the bridge of a round of a policy whose methods do nothing


class Idle:
    """rank and learn, and nothing in them."""

    def __init__(self, n_items, k):
        self.shown = list(range(k))

    def rank(self, request):
        return self.shown

    def learn(self, items, rewards):
        pass


class IdleScores:
    def __init__(self, n_items):
        self.numbers = [0.0] * n_items

    def scores(self, request):
        return self.numbers

    def learn(self, items, rewards):
        pass


class IdleFeatures(Idle):
    def rank(self, request):
        request.x
        return self.shown

    def learn(self, items, rewards, x):
        pass


def measure(world, items, slots, policies, threads):
    """The least nanoseconds of a round of each policy."""
    experiment = {
        "rounds": ROUNDS,
        "slots": slots,
        "replications": REPLICATIONS * threads,
        "checkpoints": 1,
        "world": {"kind": world, "items": items},
        "policies": [{"name": "random", "kind": "random"}],
    }
    best = None
    for _ in range(REPEATS):
        result = oltr.run(experiment, policies=policies, threads=threads, progress=False)
        times = result.points[0]["ns_per_round"]
        best = times if best is None else [min(pair) for pair in zip(best, times)]
    return dict(zip(result.policies, best))


def empty_calls():
    """Nanoseconds of rank() and learn() of Idle when Python calls them."""
    idle = Idle(30, 3)
    rank, learn, items, rewards = idle.rank, idle.learn, [1, 2, 3], [0.0, 0.0, 1.0]

    def both():
        rank(idle)
        learn(items, rewards)

    def neither():
        pass

    count = 200_000
    calls = min(timeit.repeat(both, number=count, repeat=5))
    return 1e9 * (calls - min(timeit.repeat(neither, number=count, repeat=5))) / count


CASES = (
    ("beta", 30, 3, {"rank": Idle, "scores": IdleScores}, 1),
    ("beta", 30, 3, {"rank": Idle, "scores": IdleScores}, 2),
    ("beta", 1000, 10, {"rank": Idle, "scores": IdleScores}, 1),
    ("linear", 30, 3, {"rank": Idle, "rank, x": IdleFeatures}, 1),
)


def main():
    """Prints a table; with --strict the exit code tells whether the target is met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strict", action="store_true")
    strict, own, met = parser.parse_args().strict, empty_calls(), True
    print(f"rank() and learn() called from Python: {own:.0f} ns; bridge: a round minus that.\n")
    print("| world | L | K | threads | policy | round, ns | `random`, ns | bridge, ns | target |")
    print("|---|---|---|---|---|---|---|---|---|")
    for world, items, slots, policies, threads in CASES:
        times = measure(world, items, slots, policies, threads)
        for label in policies:
            bridge = times[label] - own
            target = f"{TARGET_NS}" if label == "rank" else ""
            met = met and (not target or bridge <= TARGET_NS)
            print(
                f"| {world} | {items} | {slots} | {threads} | {label} | {times[label]:.0f} "
                f"| {times['random']:.0f} | {bridge:.0f} | {target} |"
            )
    print()
    return strict and not met


if __name__ == "__main__":
    sys.exit(main())
