#!/usr/bin/env python3
"""The longest single commands of the Redis module: each at the caps of its arguments.

A server runs one command after the other, so the longest one is what all other clients wait for.  The
first number is the time of the command as the server measures it (INFO commandstats, SLOWLOG), the
second the CPU time of the server for the request with its parsing and its reply, the third what a
client waits on a connection that is otherwise idle.  Each is the least of the repetitions.  Judged is
the lesser of the first two: where other processes share the processor, the first has their time in it.
Commands whose time is that of a whole model are listed without a target.

    redis_longest.py MODULE [--quick] [--strict] [--only TEXT]
"""
import random
import re
import struct
import sys
import time

from redis_common import KINDS, NAME_SIZE, Table, cpu_seconds, learn_names, names, parse_options
from resp import encode
from server import Server

REPETITIONS, MOST_SECONDS = 15, 2  # of one command
MOST_US = 1000
PONG = b"+PONG\r\n"


class Sizes:
    """The caps, or small numbers."""

    def __init__(self, quick):
        self.items, self.room = (512, 1024) if quick else (65_536, 1 << 20)
        self.candidates, self.slots, self.exact = (128, 50, 20) if quick else (16_384, 1000, 256)
        self.dim, self.draws = (8, 64) if quick else (512, 65_536)
        self.scores = 1024 if quick else 1 << 20  # draws x candidates


class Clock:
    def __init__(self, server):
        self.server, self.client, self.other = server, server.client(), server.client()

    def once(self, command):
        """Microseconds of the command, of the server's CPU, and of the client."""
        self.other.call("CONFIG", "RESETSTAT")
        data = encode(command) + encode(["PING"])
        cpu, begin, reply = cpu_seconds(self.server), time.perf_counter(), bytearray()
        self.client.send_raw(data)
        while not reply.endswith(PONG):
            reply += self.client.socket.recv(1 << 22)
        end, cpu = time.perf_counter(), cpu_seconds(self.server) - cpu
        if reply[:1] == b"-":
            sys.exit(f"redis_longest.py: {command[:2]}: {reply[:200].decode('latin-1')}")
        stats = self.other.call("INFO", "commandstats").decode()
        usec = re.search(rf"cmdstat_{re.escape(command[0].lower())}:calls=1,usec=(\d+)", stats).group(1)
        return int(usec), 1e6 * cpu, 1e6 * (end - begin)

    def least(self, prepare, command, repetitions):
        took, until = [], time.monotonic() + MOST_SECONDS
        while not took or (len(took) < repetitions and time.monotonic() < until):
            for one in prepare:
                self.other.call(*one)
            took.append(self.once(command))
        return [min(column) for column in zip(*took)]


def fixed(items):
    return ["FIXED", NAME_SIZE, b"".join(items)]


def rows(dice, n, dim):
    some = struct.pack(f"<{dim}f", *[dice.gauss(0, 1) for _ in range(dim)])
    return b"".join(some[4 * (i % dim) :] + some[: 4 * (i % dim)] for i in range(n))


PRIOR = {"gts": (0.3, 0.1), "ts-beta": (3, 7), "ts-hyper": (3, 7)}


def fill(client, s, kind):
    """full has all items, half is before its growth, part has as many as PREDICT replies with, small as many as EXPLAIN
    and exact chances have, and given has priors."""
    for key, n in (("none", 0), ("full", s.items), ("half", s.items // 2), ("part", s.slots), ("small", s.exact)):
        client.call("DEL", key)
        client.call("OLTR.CREATE", key, kind)
        learn_names(client, key, names(n), s.slots)
    client.call("DEL", "given")
    client.call("OLTR.CREATE", "given", kind, "PRIOR", *PRIOR[kind], "SET", "prior", "full")
    learn_names(client, "given", names(s.items), s.slots)


def model_commands(s, dice, kind):
    """What each kind of names is asked: text, preparation, command, and whether it has a target."""
    every = names(s.items)
    many, shown, new = dice.sample(every, s.candidates), dice.sample(every, s.slots), names(s.slots, 10 * s.items)
    pairs = [part for one in shown for part in (one, *PRIOR[kind])]
    half, full, empty, given = [("COPY", name, "work", "REPLACE") for name in ("half", "full", "none", "given")]
    clicks = ["CLICKS", 1, 1]
    yield f"RANK 10 ALL of {s.items:,}", [], ["OLTR.RANK", "full", 10, "ALL"], True
    yield f"RANK {s.slots:,} ALL of {s.items:,}", [], ["OLTR.RANK", "full", s.slots, "ALL"], True
    yield f"RANK 10 FRESH 2 of {s.items:,}", [], ["OLTR.RANK", "full", 10, "ALL", "FRESH", 2, 2], True
    yield (f"RANK 10 FRESH 4 LEAST 4 of {s.items:,}", [full, ("OLTR.RESET", "work", *shown[:50])],
           ["OLTR.RANK", "work", 10, "ALL", "FRESH", 4, 1, "LEAST", 4], True)
    yield f"RANK {s.slots:,} FIXED {s.candidates:,}", [], ["OLTR.RANK", "full", s.slots, *fixed(many)], True
    yield (f"RANK {s.slots:,} ITEMS {s.candidates:,}", [],
           ["OLTR.RANK", "full", s.slots, "ITEMS", s.candidates, *many], True)
    yield (f"RANK 10 FIXED {s.candidates:,} unknown", [],
           ["OLTR.RANK", "full", 10, *fixed(names(s.candidates, 10 * s.items))], True)
    yield f"LEARN {s.slots:,} known", [full], ["OLTR.LEARN", "work", *fixed(shown), *clicks], True
    yield f"LEARN {s.slots:,} new", [empty], ["OLTR.LEARN", "work", *fixed(new), *clicks], True
    yield (f"LEARN 1 new: room {s.items // 2:,} to {s.items:,}", [half],
           ["OLTR.LEARN", "work", *fixed(new[:1]), *clicks], True)
    yield (f"LEARN {s.slots:,} new: room {s.items // 2:,} to {s.items:,}", [half],
           ["OLTR.LEARN", "work", *fixed(new), *clicks], True)
    yield f"PRIOR {s.slots:,} of {s.items:,}", [given], ["OLTR.PRIOR", "work", *pairs], True
    yield f"REM {s.slots:,} of {s.items:,}", [full], ["OLTR.REM", "work", *shown], True
    yield f"RESET {s.slots:,} of {s.items:,}", [full], ["OLTR.RESET", "work", *shown], True
    yield f"TRIM of {s.items:,}", [full], ["OLTR.TRIM", "work", "IDLE", 1], True
    yield f"SCAN COUNT {s.candidates:,}", [], ["OLTR.SCAN", "full", 0, "COUNT", s.candidates], True
    yield f"PREDICT ALL of {s.slots:,}", [], ["OLTR.PREDICT", "part", "ALL"], True
    yield f"PREDICT FIXED {s.slots:,}", [], ["OLTR.PREDICT", "full", *fixed(shown)], True
    yield f"EXPLAIN ALL of {s.exact}", [], ["OLTR.EXPLAIN", "small", "ALL"], True
    for k in (1, 10, s.exact // 2):
        yield f"PROPENSITY {k}, exact, {s.exact}", [], ["OLTR.PROPENSITY", "small", k, "ALL"], True
    for n in (s.scores // s.draws, s.candidates):
        yield (f"PROPENSITY 10, {s.scores // n:,} draws of {n:,}", [],
               ["OLTR.PROPENSITY", "full", 10, *fixed(many[:n]), "DRAWS", s.scores // n], True)
    yield "INFO", [], ["OLTR.INFO", "full"], True
    yield f"FORGET of {s.items:,}", [full], ["OLTR.FORGET", "work", 0.9], False
    yield f"DUMP of {s.items:,}", [], ["OLTR.DUMP", "full"], False
    yield f"COPY of {s.items:,}", [("DEL", "work")], ["COPY", "full", "work"], False
    yield f"CREATE LIKE one of {s.items:,}", [("DEL", "work")], ["OLTR.CREATE", "work", "LIKE", "full"], False


def image_commands(s, image):
    full = ("COPY", "full", "work", "REPLACE")
    yield f"LOAD of {s.items:,}", [("DEL", "work")], ["OLTR.LOAD", "work", image], False
    yield f"MERGE of {s.items:,}", [full], ["OLTR.MERGE", "work", image], False


def create_commands(s, kind):
    gone = [("DEL", "work")]
    yield "CREATE", gone, ["OLTR.CREATE", "work", kind], True
    yield f"CREATE CAPACITY {s.items:,}", gone, ["OLTR.CREATE", "work", kind, "CAPACITY", s.items], True
    yield f"CREATE CAPACITY {s.room // 2:,}", gone, ["OLTR.CREATE", "work", kind, "CAPACITY", s.room // 2], False


def row_commands(s, dice):
    """Models of rows: the time is that of the arithmetic, candidates x dim or slots x dim x dim."""
    made = ["OLTR.CREATE", "rows", "lints", "DIM", s.dim, "CANDIDATES", s.candidates]
    yield f"CREATE DIM {s.dim} CANDIDATES {s.candidates:,}", [("DEL", "rows")], made, True
    for n in (120, s.slots, s.candidates):
        yield f"RANK 10 FP32 {n:,} x {s.dim}", [], ["OLTR.RANK", "rows", 10, "FP32", rows(dice, n, s.dim)], False
    for n in (10, s.slots):
        yield (f"LEARN FP32 {n:,} x {s.dim}", [],
               ["OLTR.LEARN", "rows", "FP32", rows(dice, n, s.dim), "CLICKS", 1, n], False)
    yield f"PREDICT FP32 {s.slots:,} x {s.dim}", [], ["OLTR.PREDICT", "rows", "FP32", rows(dice, s.slots, s.dim)], False


def measure(table, clock, label, commands, options):
    for text, prepare, command, judged in commands:
        text = f"{label}: {text}"
        if options.only not in text:
            continue
        took = clock.least(prepare, command, 1 if options.quick else REPETITIONS)
        table.row(text, *[f"{value:,.0f}" for value in took], value=min(took[:2]),
                  most=MOST_US if judged else None, unit=" us")


def main():
    options = parse_options(__doc__)
    s, dice = Sizes(options.quick), random.Random(1)
    table = Table(options, "command", "command, us", "CPU, us", "client, us")
    with Server(loglevel="notice") as server:
        clock = Clock(server)
        client = server.client()
        for kind in KINDS:
            measure(table, clock, kind, create_commands(s, kind), options)
            fill(client, s, kind)
            measure(table, clock, kind, model_commands(s, dice, kind), options)
            measure(table, clock, kind, image_commands(s, client.call("OLTR.DUMP", "full")), options)
        client.call("OLTR.CREATE", "rows", "lints", "DIM", s.dim, "CANDIDATES", s.candidates)
        measure(table, clock, "lints", row_commands(s, dice), options)
    return options.strict and table.missed


if __name__ == "__main__":
    sys.exit(main())
