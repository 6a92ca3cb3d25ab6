#!/usr/bin/env python3
"""CPU time of the server for a request to the Redis module, next to commands of the server itself.

The time is that of the server process, user and system, for a fixed number of requests: parsing, the
command, the reply, and with the append-only file its write.  Eight connections send pipelines of 16.
All commands take turns within a round, and the least of the rounds counts, as others share the
processor and its caches; the ratios are therefore of one run.  ZREVRANGE 0 9 is on a sorted set of 120, ZADD changes the score of a random member of
1,000.  Models have learned their items; lists of LEARN are 10 random items of 1,000 with one click,
and every LEARN has an ID of its own.  ZADD and LEARN run with appendfsync everysec, the others without
an append-only file.  The targets of ranking are for gts; samples of Beta distributions take longer.

    redis_load.py MODULE [--quick] [--strict] [--only TEXT]
"""
import itertools
import random
import socket
import statistics
import struct
import sys

from redis_common import KINDS, NAME_SIZE, Table, cpu_seconds, learn_names, name, names, parse_options
from resp import encode
from server import Server

CONNECTIONS, PIPELINE, ROUNDS = 8, 16, 40
ROWS, DIM = 120, 136
PONG = b"+PONG\r\n"
FIXED_OF_PING = 25 / 0.67  # FIXED 1000 takes at most 25 us where PING takes 0.67


class Connection:
    def __init__(self, server):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(server.socket)

    def send(self, data):
        self.socket.sendall(data)

    def receive(self, size):
        while size:
            data = self.socket.recv(min(size, 1 << 20))
            if not data:
                sys.exit("redis_load.py: the server closed a connection")
            size -= len(data)

    def until_pong(self):
        data = b""
        while not data.endswith(PONG):
            data += self.socket.recv(1 << 20)
        return data[: -len(PONG)]


class Load:
    """One command: what is sent, and the CPU time of a request in microseconds, of each round."""

    def __init__(self, text, server, requests, commands, beside=None, most=None):
        self.text, self.server = text, server
        self.pipelines = max(1, requests // (CONNECTIONS * PIPELINE))
        self.commands = commands  # a function: the bytes of one command
        self.beside, self.most = beside, most
        self.took = []
        self.size = 0  # of the replies to a pipeline

    def batch(self):
        """The bytes of one pipeline."""
        return b"".join(self.commands() for _ in range(PIPELINE))

    def probe(self, connection):
        """Sends one pipeline, looks for errors in it, and takes the size of its replies."""
        connection.send(self.batch() + encode(["PING"]))
        replies = connection.until_pong()
        if b"\r\n-" in b"\r\n" + replies:
            sys.exit(f"redis_load.py: {self.text}: {replies[:200].decode('latin-1')}")
        self.size = len(replies)

    def play(self, connections):
        batches = [self.batch() for _ in range(self.pipelines * CONNECTIONS)]
        before = cpu_seconds(self.server)
        while batches:
            for connection in connections:
                connection.send(batches.pop())
            for connection in connections:
                connection.receive(self.size)
        requests = self.pipelines * CONNECTIONS * PIPELINE
        self.took.append(1e6 * (cpu_seconds(self.server) - before) / requests)

    def least(self):
        return min(self.took)


def always(*args):
    command = encode(args)
    return lambda: command


def zadd(dice):
    return lambda: encode(["ZADD", "scores", dice.random(), name(dice.randrange(1000))])


lessons = itertools.count()


def learn(dice, kind, form):
    """LEARN of random lists, each with another id."""
    texts = []
    for _ in range(500):
        items = [name(i) for i in dice.sample(range(1000), 10)]
        shown = ["ITEMS", 10, *items] if form == "ITEMS" else ["FIXED", NAME_SIZE, b"".join(items)]
        texts.append(encode(["OLTR.LEARN", kind, *shown, "CLICKS", 1, 1 + dice.randrange(10), "ID", "%020d"]))
    texts = [text.replace(b"$5\r\n%020d", b"$20\r\n%020d") for text in texts]
    return lambda: dice.choice(texts) % next(lessons)


def shorts():
    """Names of 8 bytes, as numbers of 64 bits are."""
    return [b"p%07d" % i for i in range(1000)]


def fill_reading(server, sizes, dice):
    client = server.client()
    client.call("ZADD", "top", *[part for i in range(120) for part in (dice.random(), name(i))])
    for kind in KINDS:
        for n in sizes:
            client.call("OLTR.CREATE", f"{kind}:{n}", kind)
            learn_names(client, f"{kind}:{n}", names(n))
        client.call("OLTR.CREATE", f"{kind}:short", kind)
        learn_names(client, f"{kind}:short", shorts())
    client.call("OLTR.CREATE", "lints", "lints", "DIM", DIM, "CANDIDATES", ROWS)


def fill_writing(server, dice):
    client = server.client()
    client.call("ZADD", "scores", *[part for i in range(1000) for part in (dice.random(), name(i))])
    for kind in KINDS:
        client.call("OLTR.CREATE", kind, kind)
        learn_names(client, kind, names(1000))


def reading_loads(server, n, sizes, dice):
    ping = Load("PING", server, n, always("PING"))
    top = Load("ZREVRANGE 0 9", server, n, always("ZREVRANGE", "top", 0, 9), ping)
    loads = [ping, top]
    for kind in KINDS:
        for items in sizes:
            loads.append(Load(f"{kind}: RANK 10 ALL, {items:,} items", server, n // (1 + items // 500),
                              always("OLTR.RANK", f"{kind}:{items}", 10, "ALL"), top,
                              1.3 if items == 120 and kind == "gts" else None))
        some = dice.sample(names(1000), 120)
        loads.append(Load(f"{kind}: RANK 10 ITEMS 120", server, n // 4,
                          always("OLTR.RANK", f"{kind}:1000", 10, "ITEMS", 120, *some), ping))
        for few, all_of, key in ((120, shorts(), "short"), (1000, shorts(), "short"), (1000, names(1000), 1000)):
            judged = kind == "gts" and few == 1000 and key == "short"
            size, blob = len(all_of[0]), b"".join(dice.sample(all_of, few))
            loads.append(Load(f"{kind}: RANK 10 FIXED, {few:,} ids of {size} bytes", server, n // (2 + few // 50),
                              always("OLTR.RANK", f"{kind}:{key}", 10, "FIXED", size, blob), ping,
                              FIXED_OF_PING if judged else None))
    rows = struct.pack(f"<{ROWS * DIM}f", *[dice.gauss(0, 1) for _ in range(ROWS * DIM)])
    stored = Load(f"SET of {len(rows):,} bytes", server, n // 16, always("SET", "rows", rows), ping)
    loads += [stored, Load(f"lints: RANK 10 FP32, {ROWS} x {DIM}", server, n // 16,
                           always("OLTR.RANK", "lints", 10, "FP32", rows, "SEED", "a"), stored)]
    return loads


def writing_loads(server, n, dice):
    changed = Load("ZADD", server, n, zadd(dice))
    loads = [changed]
    for kind in KINDS:
        for form in ("ITEMS", "FIXED"):
            loads.append(Load(f"{kind}: LEARN {form}, K=10, ID", server, n, learn(dice, kind, form), changed, 3))
    return loads


def measure(loads, rounds):
    lines = {load.server: [Connection(load.server) for _ in range(CONNECTIONS)] for load in loads}
    for load in loads:
        load.probe(lines[load.server][0])
    for _ in range(rounds):
        for load in loads:
            load.play(lines[load.server])


def check_counters(server):
    """No request was refused, and no lesson was counted as seen before."""
    counters = server.info("oltr")
    if int(counters["oltr_refused"]) or int(counters["oltr_duplicates"]):
        sys.exit(f"redis_load.py: refused or doubled requests: {counters}")


def main():
    options = parse_options(__doc__)
    dice = random.Random(1)
    n, rounds, sizes = (512, 1, (30, 120)) if options.quick else (8_000, ROUNDS, (30, 120, 1000, 10_000))
    if options.quick:
        sizes += (1000,)
    with Server(loglevel="notice") as reading, Server(loglevel="notice", appendonly="yes") as writing:
        fill_reading(reading, sizes, dice)
        fill_writing(writing, dice)
        loads = reading_loads(reading, n, sizes, dice) + writing_loads(writing, n, dice)
        kept = {load for load in loads if options.only in load.text}
        loads = [load for load in loads if load in kept or any(load is one.beside for one in kept)]
        measure(loads, rounds)
        check_counters(reading)
        check_counters(writing)
    table = Table(options, "request", "us of CPU", "median", "ratio")
    for load in loads:
        ratio = load.least() / load.beside.least() if load.beside else 1
        table.row(load.text, f"{load.least():.2f}", f"{statistics.median(load.took):.2f}",
                  f"{ratio:.2f} x {load.beside.text}" if load.beside else "", value=ratio, most=load.most)
    return options.strict and table.missed


if __name__ == "__main__":
    sys.exit(main())
