#!/usr/bin/env python3
"""How long oltr.run() takes to end after Ctrl-C, for small and for the largest experiments.

The signal is sent by another thread after a delay, so that it also arrives while the experiment is
still being checked or its data are generated.

usage: PYTHONPATH=build/release/python bench/python_interrupt.py
"""

import os
import signal
import threading
import time

import oltr


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
    delays = (0.01, 0.3, 1.5)
    head = f"{'seconds from Ctrl-C to the end, sent after':<44}"
    print(head + "".join(f"{delay:>8} s" for delay in delays))
    for name, (what, keywords) in CASES.items():
        times = [measure(what, keywords, delay) for delay in delays]
        print(f"{name:<44}" + "".join(f"{t:>10.3f}" for t in times))


if __name__ == "__main__":
    main()
