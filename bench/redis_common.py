"""redis_common.py - what the benches of the Redis module share: options, names, CPU time, tables.

A bench is called with the path of oltr.so.  It prints a Markdown table.  Its exit code is 77 when
redis-server is not installed; the reason is printed.  With --strict it is 1 when a target is missed.
"""
import argparse
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "serve"))
sys.dont_write_bytecode = True

from server import need_redis  # noqa: E402

KINDS = ("gts", "ts-beta", "ts-hyper")
NAME_SIZE = 16


def parse_options(about):
    parser = argparse.ArgumentParser(description=about.strip().splitlines()[0])
    parser.add_argument("module", help="oltr.so")
    parser.add_argument("--quick", action="store_true", help="few requests: the figures mean nothing")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a target is missed")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows whose names have this text")
    options = parser.parse_args()
    os.environ["OLTR_MODULE"] = options.module
    need_redis()
    return options


def name(number):
    """Ids of one size, so that replies have one size."""
    return b"product:%08d" % number


def names(n, first=0):
    return [name(first + i) for i in range(n)]


def cpu_seconds(server):
    """User and system time of all threads of the server, in nanoseconds' resolution.

    The clock id is that of clock_getcpuclockid(3), which Python does not have."""
    return time.clock_gettime((~server.process.pid) << 3 | 2)


def learn_names(client, key, items, many=1000):
    """Makes the model of a key know the items."""
    for i in range(0, len(items), many):
        part = items[i : i + many]
        client.call("OLTR.LEARN", key, "FIXED", len(part[0]), b"".join(part), "CLICKS", 0)


class Table:
    """Rows of the report, and whether a target was missed."""

    def __init__(self, options, *columns):
        self.missed, self.judges = False, not options.quick
        print("| " + " | ".join(columns) + " | target | |")
        print("|" + "---|" * (len(columns) + 2), flush=True)

    def row(self, *cells, value=None, most=None, unit=""):
        """most: the bound on value; without it nothing is judged."""
        verdict = target = ""
        if most is not None and self.judges:
            target, verdict = f"<= {most:.4g}{unit}", "pass" if value <= most else "**MISS**"
            self.missed = self.missed or value > most
        print("| " + " | ".join(str(cell) for cell in cells) + f" | {target} | {verdict} |", flush=True)
