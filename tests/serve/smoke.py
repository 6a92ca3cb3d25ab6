"""smoke.py - every command of the module once, in one server, with its reply; and that COMMAND knows each of them.

The other tests of this folder go into depth.  This one is the first to read when a build does not work at all.
"""

import struct
import sys

from server import Server, need_redis

ROWS = struct.pack("<6f", 1, 0, 0, 1, 0.5, 0.5)

# command, and its reply or what the reply must fulfil
STEPS = [
    (("OLTR.CREATE", "home", "ts-beta"), b"OK"),
    (("OLTR.LEARN", "home", "ITEMS", 3, "a", "b", "c", "CLICKS", 1, 2, "ID", "list-1"), 1),
    (("OLTR.LEARN", "home", "ITEMS", 3, "a", "b", "c", "CLICKS", 1, 2, "ID", "list-1"), 0),
    (("OLTR.RANK", "home", 2, "ALL", "GREEDY"), [b"b", b"c"]),
    (("OLTR.RANK", "home", 9, "FIXED", 1, "abcd", "SEED", "me"), lambda r: sorted(r) == [b"a", b"b", b"c", b"d"]),
    (("OLTR.PREDICT", "home", "ITEMS", 1, "c"), [[b"c", b"0.5", b"0.28867513459481287"]]),
    (("OLTR.EXPLAIN", "home", "ITEMS", 1, "b"), lambda r: r[0][:4] == [b"item", b"b", b"known", 1]),
    (("OLTR.PROPENSITY", "home", 1, "ALL"), lambda r: abs(sum(float(row[1]) for row in r) - 1) < 1e-9),
    (("OLTR.CREATE", "like", "LIKE", "home", "STRENGTH", 0.5), b"OK"),
    (("OLTR.PRIOR", "like", "x", 1, 9, "y", 2, 8), 2),
    (("OLTR.SCAN", "like", 0, "COUNT", 100), lambda r: r[0] == b"0" and len(r[1]) == 5),
    (("OLTR.RESET", "home", "a", "nobody"), 1),
    (("OLTR.REM", "home", "a"), 1),
    (("OLTR.TRIM", "home", "IDLE", 5), 0),
    (("OLTR.FORGET", "home", 0.5, "ID", "night-1"), 1),
    (("OLTR.INFO", "home"), lambda r: r[:2] == [b"kind", b"ts-beta"] and r[r.index(b"lessons") + 1] == 1),
    (("OLTR.KINDS",), lambda r: b"gts" in r and b"lints" in r),
    (("OLTR.KINDS", "lints"), lambda r: r[r.index(b"contextual") + 1] == 1),
    (("OLTR.CREATE", "rows", "lints", "DIM", 2, "CANDIDATES", 3), b"OK"),
    (("OLTR.LEARN", "rows", "FP32", ROWS, "REWARDS", 1, 0, 0.5, "EXAMINED", 2, 1, 3), 1),
    (("OLTR.RANK", "rows", 3, "FP32", ROWS), lambda r: sorted(r) == [0, 1, 2]),
    (("OLTR.DUMP", "rows", "IFNEWER", 1), None),
]


def check(client, args, wanted):
    reply = client.attempt(*args)
    good = wanted(reply) if callable(wanted) else reply == wanted
    assert good, f"{args}: {reply!r}"


def check_images(client):
    image = client.call("OLTR.DUMP", "home")
    check(client, ("OLTR.LOAD", "copy", image), b"OK")
    check(client, ("OLTR.LOAD", "copy", image, "REPLACE"), b"OK")
    check(client, ("OLTR.MERGE", "copy", image, "ID", "delta"), 1)
    assert client.call("OLTR.DUMP", "copy") != image


def check_commands(client, tried):
    """COMMAND has every command that was tried and no other, each with a summary and arguments."""
    found = set(client.call("COMMAND", "LIST", "FILTERBY", "MODULE", "oltr"))
    assert found == tried, found ^ tried
    for name in found:
        docs = client.call("COMMAND", "DOCS", name)[1]
        assert {b"summary", b"since", b"complexity", b"arguments"} <= set(docs[::2]), (name, docs)


def main():
    need_redis()
    with Server() as server:
        client = server.client()
        for args, wanted in STEPS:
            check(client, args, wanted)
        check_images(client)
        tried = {args[0].lower().encode() for args, _ in STEPS} | {b"oltr.load", b"oltr.merge"}
        check_commands(client, tried)
        info = server.info("oltr")
        assert info["oltr_models"] == "4" and info["oltr_refused"] == "0", info
    print(f"{len(tried)} commands work")


if __name__ == "__main__":
    sys.exit(main())
