#!/usr/bin/env python3
"""edge.py - an edge that ranks from its own copy of a model and sends what it has learned.

    python3 edge.py CENTRAL_URL EDGE_URL

Two servers with the module oltr: the central one has the model, the edge has a copy of it and its
own lessons, the deltas.  Ranking and learning need the edge only, so they go on when the central
server or the way to it is down.  Images are bytes: no decode_responses.
"""

import sys
import time

import redis

MODEL, COPY, BATCH = "page:home", "copy:home", "batch:home"
KIND = "ts-hyper"  # the same for the model and its deltas, as all options of CREATE
EDGE = "edge 7"  # a name that no other edge has

# Learns into the delta of the current batch.  One script, so that no lesson can come into a batch
# after push() has closed it.
LEARN = """
local delta = 'delta:home:' .. redis.call('GET', KEYS[1])
if redis.call('EXISTS', delta) == 0 then redis.call('OLTR.CREATE', delta, ARGV[1]) end
return redis.call('OLTR.LEARN', delta, unpack(ARGV, 2))
"""


def begin(edge):
    """The first number is the time: an edge that lost its data uses no number twice."""
    edge.set(BATCH, time.time_ns(), nx=True)


def lessons(server, key):
    """How many lessons a model has, or None if there is no model."""
    try:
        pairs = server.execute_command("OLTR.INFO", key)
    except redis.ResponseError as error:
        if str(error).startswith("NOTFOUND "):
            return None
        raise
    return dict(zip(pairs[::2], pairs[1::2]))[b"lessons"]


def pull(central, edge):
    """Fetches the model if it has learned something since; an unchanged one costs a few bytes."""
    have = lessons(edge, COPY)
    newer = [] if have is None else ["IFNEWER", have]
    image = central.execute_command("OLTR.DUMP", MODEL, *newer)
    if image is not None:
        edge.execute_command("OLTR.LOAD", COPY, image, "REPLACE")
    return image is not None


def learn(edge, *lesson):
    return edge.eval(LEARN, 1, BATCH, KIND, *lesson)


def push(central, edge):
    """Begins a new batch and sends the older ones.  A batch is deleted when it has been merged; one
    that is sent twice, because the answer was lost or the edge crashed, counts once by its ID."""
    current = edge.incr(BATCH)
    counted = 0
    for key in edge.scan_iter("delta:home:*"):
        batch = int(key.rsplit(b":", 1)[1])
        if batch < current:
            delta = edge.execute_command("OLTR.DUMP", key)
            counted += central.execute_command("OLTR.MERGE", MODEL, delta, "ID", f"{EDGE} {batch}")
            edge.delete(key)
    return counted


def main():
    central, edge = (redis.Redis.from_url(url) for url in sys.argv[1:3])
    central.execute_command("OLTR.CREATE", MODEL, KIND)
    begin(edge)
    print("pulled:", pull(central, edge), "and again:", pull(central, edge))
    for n in range(300):  # every user clicks the hat
        learn(edge, "ITEMS", 3, "shoe", "hat", "coat", "CLICKS", 1, 2, "ID", f"view {n}")
    print("merged:", push(central, edge), "with", lessons(central, MODEL), "lessons")
    print("pulled:", pull(central, edge), "with", lessons(edge, COPY), "lessons")
    print("best:", edge.execute_command("OLTR.RANK", COPY, 1, "ALL", "GREEDY"))


if __name__ == "__main__":
    main()
