#!/usr/bin/env python3
"""redis_lost.py - how many acknowledged lessons a kill or a failover loses: figures of docs/redis.md.

    redis_lost.py MODULE [KILLS]

Eight writers send lessons with ids and repeat what is not answered.  The server is killed (SIGKILL)
and started again, or its replica takes over at once.  Then every lesson that was acknowledged before is
sent again: an answer of 1 means that it was lost.  (The machine keeps its power, so what the kernel
has is not lost.)
"""

import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/serve"))
sys.dont_write_bytecode = True
from contract import kinds  # noqa: E402
from resp import Client, Disconnected  # noqa: E402
from server import Server, need_redis  # noqa: E402
from writers import Writers  # noqa: E402

KINDS = ("ts-beta", "gts", "ts-hyper")


class Waiting(Client):
    """Acknowledges a lesson when a replica has it."""

    def call(self, *args):
        reply = super().call(*args)
        if args[0] == "OLTR.LEARN" and super().call("WAIT", 1, 1000) < 1:
            raise Disconnected("no replica has it")
        return reply


def create_models(server):
    client = server.client()
    some = [kind for kind in kinds(client) if kind.name in KINDS]
    for kind in some:
        client.call(*kind.create("model:" + kind.name))
    return some


def lost(server, writers, acknowledged):
    """Those that the server learns when they are sent again."""
    with server.client(timeout=120) as client:
        answers = client.many([writers.lesson[ident] for ident in acknowledged])
        return [ident for ident, answer in zip(acknowledged, answers) if answer == 1]


def kills(policy, count):
    with Server(appendonly="yes", appendfsync=policy) as server:
        writers = Writers(lambda: Client(server.socket, timeout=60), create_models(server))
        missing, oldest = 0, 0.0
        for _ in range(count):
            writers.wait_for(300)
            killed = time.monotonic()
            server.kill()
            acknowledged = writers.snapshot()
            server.start()
            ids = lost(server, writers, acknowledged)
            missing += len(ids)
            oldest = max([oldest] + [killed - acknowledged[ident][1] for ident in ids])
        writers.stop()
        total = writers.count()
    print(f"appendfsync {policy}: {count} kills, {total} lessons acknowledged, {missing} lost", end="")
    print(f", the oldest {oldest:.1f} s old" if missing else "", flush=True)


def failover(connection):
    """Kills a primary under load; returns how many were acknowledged, and how many the replica lacks."""
    with Server(port=True) as primary, Server(port=True) as replica:
        some, now = create_models(primary), [primary]
        replica.replicate(primary).wait_synced(primary)
        client = primary.client()
        client.many([("SET", "streaming", 1), ("WAIT", 1, 10000)])  # the replica follows writes from here on
        writers = Writers(lambda: (connection if now[0] is primary else Client)(now[0].socket, timeout=60), some)
        writers.wait_for(400)
        primary.kill()
        acknowledged = writers.snapshot()
        replica.call("REPLICAOF", "NO", "ONE")
        missing = lost(replica, writers, acknowledged)
        now[0] = replica
        writers.stop()
        return len(acknowledged), len(missing)


def failovers(title, connection, count):
    found = [failover(connection) for _ in range(count)]
    total, missing = map(sum, zip(*found))
    some = sum(1 for _, n in found if n)
    print(f"{title}: {count} failovers, {total} lessons acknowledged, {missing} lost in {some} of them", flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: redis_lost.py MODULE [KILLS]")
    os.environ["OLTR_MODULE"] = sys.argv[1]
    need_redis()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    for policy in ("no", "everysec", "always"):
        kills(policy, count)
    failovers("without WAIT", Client, count)
    failovers("with WAIT 1 1000", Waiting, count)


if __name__ == "__main__":
    main()
