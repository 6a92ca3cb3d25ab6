#!/usr/bin/env python3
"""How long oltr.run() takes to end after Ctrl-C, for small and for the largest experiments.

The signal is sent by another thread after a delay, so that it also arrives while the experiment is
still being checked or its data are generated.

usage: PYTHONPATH=build/release/python bench/python_interrupt.py [--strict]
"""

import argparse
import os
import signal
import sys
import threading
import time

import oltr

DELAYS = (0.01, 0.3, 1.5)
TARGET_S = 1


class Busy:
    """A policy that does not return in one of its rounds."""

    def __init__(self, n_items, k):
        self.shown = list(range(k))

    def rank(self, request):
        while request.t == 1000:
            pass
        return self.shown


def experiment(items, policy="gts", **world):
    return {
        "rounds": 2**40,
        "slots": 5,
        "replications": 1000,
        "checkpoints": 1,
        "world": {"kind": "uniform", "items": items, **world},
        "policies": [{"kind": policy}],
    }


QUERIES = {"train": 2000, "vali": 500, "test": 500}
DATA = {"kind": "dataset", "shape": "web30k", "generated": QUERIES}
CASES = {
    "gts, 30 items": (experiment(30), {}),
    "gts, 10^6 items": (experiment(10**6), {}),
    "gts, 10^7 items": (experiment(10**7), {}),
    "toprank, 3000 items": (experiment(3000, "toprank"), {}),
    "lints, 10^5 items x 100": (experiment(10**5, "lints", kind="linear", dim=100), {}),
    "dataset, training": ({**experiment(5), "world": DATA}, {}),
    "a policy that does not return": (experiment(30), {"policies": {"busy": Busy}}),
}


def measure(what, keywords, delay):
    """Seconds from the signal to KeyboardInterrupt; None where the run had ended before."""
    sent = []

    def send():
        time.sleep(delay)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    try:
        oltr.run(what, progress=False, **keywords)
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    return None


def main():
    """Prints a table; with --strict the exit code tells whether all ended within the target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strict", action="store_true")
    strict, met = parser.parse_args().strict, True
    print("Seconds from Ctrl-C to the end of `oltr.run`, by when it is sent; target: 1 s.\n")
    print("| experiment |" + "".join(f" after {delay} s |" for delay in DELAYS))
    print("|---|" + "---|" * len(DELAYS))
    for name, (what, keywords) in CASES.items():
        times = [measure(what, keywords, delay) for delay in DELAYS]
        met = met and all(seconds is not None and seconds <= TARGET_S for seconds in times)
        print(f"| {name} |" + "".join(f" {seconds:.3f} |" for seconds in times))
    print()
    return strict and not met


if __name__ == "__main__":
    sys.exit(main())
