#!/usr/bin/env python3
"""redis_sizes.py - memory and image of models in a server, by kind and number of items: a table of
docs/redis.md.

    redis_sizes.py MODULE [--quick]

For each row: MEMORY USAGE, the growth of used_memory, and the length of OLTR.DUMP.  Items have names
of 15 bytes and are learned in lists of 10 with an id each, so that ids take their share: WINDOW is
1,000.  The last rows are 1,000 small models each.  --quick: small models only.
"""

import os
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/serve"))
sys.dont_write_bytecode = True
from server import Server, need_redis  # noqa: E402

ROWS = [(kind, items) for items in (30, 1000, 10000, 60000) for kind in ("ts-hyper", "ts-beta", "gts")]
FEATURES = [("lints", 10), ("logts", 10), ("lints", 136), ("logts", 136)]


def used(redis):
    redis.call("MEMORY", "PURGE")
    lines = redis.call("INFO", "memory").splitlines()
    return next(int(line.split(b":")[1]) for line in lines if line.startswith(b"used_memory:"))


def learn_items(key, items):
    for first in range(0, items, 10):
        names = [f"product {n:07d}" for n in range(first, min(first + 10, items))]
        yield ("OLTR.LEARN", key, "ITEMS", len(names), *names, "CLICKS", 0, "ID", first)


def learn_rows(key, dim):
    draw = random.Random(7)
    for lesson in range(2000):
        blob = struct.pack(f"<{10 * dim}f", *(draw.uniform(-1, 1) / dim**0.5 for _ in range(10 * dim)))
        yield ("OLTR.LEARN", key, "FP32", blob, "CLICKS", 1, 1 + lesson % 10, "ID", lesson)


def send(redis, commands):
    batch = []
    for command in commands:
        batch.append(command)
        if len(batch) == 100:
            redis.many(batch)
            batch = []
    redis.many(batch)


def measure(redis, create, lessons, what):
    redis.call("FLUSHALL")
    before = used(redis)
    redis.call("OLTR.CREATE", "model", *create, "WINDOW", 1000)
    send(redis, lessons)
    said = redis.call("MEMORY", "USAGE", "model")
    image = redis.call("OLTR.DUMP", "model")
    if what:
        print(f"| {what} | {said:,} | {used(redis) - before:,} | {len(image):,} |", flush=True)


def many(redis, kind, items, count):
    redis.call("FLUSHALL")
    before = used(redis)
    for number in range(count):
        redis.call("OLTR.CREATE", f"model {number}", kind)
        send(redis, learn_items(f"model {number}", items))
    each = (used(redis) - before) / count
    print(f"| {count:,} models of {kind}, {items} items | | {each:,.0f} each | |")


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: redis_sizes.py MODULE [--quick]")
    os.environ["OLTR_MODULE"] = sys.argv[1]
    quick = "--quick" in sys.argv
    need_redis()
    with Server(save="") as server:
        redis = server.client()
        measure(redis, ["gts"], learn_items("model", 10000), "")  # the server's own buffers grow once
        print("| kind, items | MEMORY USAGE | used_memory | OLTR.DUMP |\n|---|---|---|---|")
        for kind, items in ROWS[: 3 if quick else None]:
            measure(redis, [kind], learn_items("model", items), f"`{kind}`, {items:,}")
        for kind, dim in () if quick else FEATURES:
            measure(redis, [kind, "DIM", dim], learn_rows("model", dim), f"`{kind}`, {dim} features")
        for kind in ("ts-hyper", "ts-beta", "gts"):
            many(redis, kind, 30, 10 if quick else 1000)


if __name__ == "__main__":
    main()
