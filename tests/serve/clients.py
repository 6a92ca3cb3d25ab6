"""clients.py - the same conversation through every client library gives the same replies.

The conversation has all list forms, ids sent twice, names with NUL and CRLF, rows of floats, images
that are dumped and loaded, pipelines and every common error.  It is held once by resp.py, which
reads the protocol byte by byte; there the replies are checked.  Then it is held through redis-py,
node-redis, ioredis and hiredis on servers of their own, alone and in a cluster, in RESP2 and RESP3,
and each reply must be the one that resp.py got.

Debian has redis-py, node-redis 4 and hiredis.  ioredis and a current node-redis come from npm, into
the build folder.  A client that is missing is skipped, with the reason.

From the environment, beside that of server.py:
    OLTR_TALK_HIREDIS     the program of talk_hiredis.c, or empty
    OLTR_NPM              the folder for packages of npm (node_packages.py)
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import unittest

from node_packages import DEBIAN, node_clients
from resp import ReplyError, to_bytes
from server import Cluster, ClusterClient, Server, need_redis

HERE = pathlib.Path(__file__).resolve().parent
BINARY = [b"nul\0inside", b"line\r\nend", bytes(range(256)), "\u00e4pfel".encode(), b"$3\r\nfoo\r\n"]


def rows(*values):
    return struct.pack(f"<{len(values)}f", *values)


# ---- the conversation


def conversation(send):
    """send(command, ...) returns the replies of one command or of a pipeline.  {a}, {b} and {c} are
    keys of different nodes of a cluster."""

    def one(*command):
        return send(list(map(to_bytes, command)))[0]

    yield "create", [one("OLTR.CREATE", "{a}beta", "ts-beta"), one("oltr.create", "{b}rows", "lints", "DIM", 2),
                     one("OLTR.CREATE", "{c}hyper", "ts-hyper", "WINDOW", 100, "SET", "weight_max", 64)]
    lesson = ["ITEMS", len(BINARY), *BINARY, "CLICKS", 1, 2, "ID", b"view\r\n\0 1"]
    yield "an ID twice", [one("OLTR.LEARN", "{a}beta", *lesson), one("OLTR.LEARN", "{a}beta", *lesson)]
    yield "ALL", [one("OLTR.RANK", "{a}beta", 3, "ALL", "SEED", b"\0seed")]
    yield "ITEMS", [one("OLTR.RANK", "{a}beta", 10, "ITEMS", 3, BINARY[1], b"un\0known", BINARY[0], "GREEDY", "SEED", "s")]
    yield "FIXED", [one("OLTR.RANK", "{c}hyper", 2, "FIXED", 4, b"a\0\r\nb\xff\r\n....", "SEED", "s"),
                    one("OLTR.LEARN", "{c}hyper", "FIXED", 4, b"a\0\r\nb\xff\r\n", "REWARDS", 0, 1)]
    yield "FP32", [one("OLTR.LEARN", "{b}rows", "FP32", rows(1, 0, 0, 1), "REWARDS", "0.5", "-1.25", "SEEN", 2),
                   one("OLTR.RANK", "{b}rows", 2, "FP32", rows(0, 1, 1, 0, 0.5, 0.5), "SEED", "s"),
                   one("OLTR.PREDICT", "{b}rows", "FP32", rows(1, 0))]
    yield "scores", [one("OLTR.RANK", "{a}beta", 2, "ALL", "WITHSCORES", "GREEDY", "SEED", "s"),
                     one("OLTR.PREDICT", "{a}beta", "ITEMS", 1, BINARY[1]),
                     one("OLTR.EXPLAIN", "{a}beta", "ITEMS", 2, BINARY[1], "new"),
                     one("OLTR.PROPENSITY", "{a}beta", 2, "ALL")]
    yield "looking", [one("OLTR.INFO", "{c}hyper"), one("OLTR.SCAN", "{a}beta", 0, "COUNT", 100)]
    image = one("OLTR.DUMP", "{a}beta")
    yield "DUMP and LOAD", [image, one("OLTR.LOAD", "{b}copy", image), one("OLTR.DUMP", "{b}copy"),
                            one("OLTR.DUMP", "{b}copy", "IFNEWER", 1),
                            one("OLTR.MERGE", "{b}copy", image, "ID", "delta 1"),
                            one("OLTR.MERGE", "{b}copy", image, "ID", "delta 1")]
    yield "a child", [one("OLTR.CREATE", "{a}child", "LIKE", "{a}beta", "STRENGTH", "0.5")]
    learn = [["OLTR.LEARN", "{c}hyper", "ITEMS", 2, "shoe", "hat", "CLICKS", 1, 2, "ID", n // 2] for n in range(100)]
    learn[50] = ["OLTR.LEARN", "{c}hyper", "ITEMS", 2, "shoe", "shoe", "CLICKS", 0]
    yield "a pipeline", send(*[list(map(to_bytes, command)) for command in learn])
    yield "full", [one("OLTR.CREATE", "{c}full", "gts", "MAXITEMS", 1)]
    yield "errors", [one(*(image if part == "{image}" else part for part in command)) for command in ERRORS.values()]


ERRORS = {
    "NOTFOUND": ("OLTR.RANK", "{a}nothing", 3, "ALL"),
    "EXISTS": ("OLTR.CREATE", "{a}beta", "ts-beta"),
    "WRONGTYPE": ("GET", "{a}beta"),
    "BADARG": ("OLTR.RANK", "{a}beta", "three", "ALL"),
    "BADKIND": ("OLTR.CREATE", "{a}new", "no-such-kind"),
    "BADPARAM": ("OLTR.CREATE", "{a}new", "ts-beta", "SET", "no_such", 1),
    "BADITEM": ("OLTR.RANK", "{a}beta", 3, "ITEMS", 2, "twice", "twice"),
    "BADREWARD": ("OLTR.LEARN", "{a}beta", "ITEMS", 1, "shoe", "REWARDS", 7),
    "BADSHAPE": ("OLTR.RANK", "{b}rows", 3, "FP32", b"123"),
    "BADPRIOR": ("OLTR.PRIOR", "{a}child", "shoe", -1, 0),
    "BADIMAGE": ("OLTR.LOAD", "{a}new", "no image\r\n"),
    "BADFEATURE": ("OLTR.RANK", "{b}rows", 3, "ALL"),
    "MISMATCH": ("OLTR.MERGE", "{b}rows", "{image}"),
    "UNSUPPORTED": ("OLTR.PROPENSITY", "{b}rows", 3, "FP32", rows(1, 0)),
    "FULL": ("OLTR.LEARN", "{c}full", "ITEMS", 2, "shoe", "hat", "CLICKS", 0),
    "TOOBIG": ("OLTR.RANK", "{a}beta", 1001, "ALL"),
    "ERR": ("OLTR.RANK", "{a}beta"),
}


def check(talk, protocol):
    """What the replies must be, on those of resp.py."""
    said = {name: replies for name, replies in talk}
    assert said["create"] == [b"OK"] * 3, said["create"]
    assert said["an ID twice"] == [1, 0]
    assert len(said["ALL"][0]) == 3 and set(said["ALL"][0]) <= set(BINARY)
    assert said["ITEMS"][0][0] == BINARY[1] and set(said["ITEMS"][0]) == {BINARY[0], BINARY[1], b"un\0known"}
    assert set(said["FIXED"][0]) <= {b"a\0\r\n", b"b\xff\r\n", b"...."} and said["FIXED"][1] == 1
    assert said["FP32"][0] == 1 and sorted(said["FP32"][1]) != [0] and len(said["FP32"][1]) == 2
    scored = said["scores"][0]
    assert scored[0] == BINARY[1] and float(scored[1]) > 0.5 if protocol == 2 else scored[0][0] == BINARY[1]
    if protocol == 3:
        assert isinstance(scored[0][1], float) and isinstance(said["looking"][0], dict)
    image, loaded, again, newer, merged, twice = said["DUMP and LOAD"]
    assert (loaded, again, newer, merged, twice) == (b"OK", image, None, 1, 0)
    assert said["a child"] == [b"OK"]
    wanted = [1, 0] * 50
    wanted[50] = "BADITEM"
    wanted[51] = 1
    found = [reply.word if isinstance(reply, ReplyError) else reply for reply in said["a pipeline"]]
    assert found == wanted, found
    words = [reply.word if isinstance(reply, ReplyError) else reply for reply in said["errors"]]
    assert words == list(ERRORS), words


def plain(reply):
    """A reply of resp.py as the programs talk_* print it."""
    if isinstance(reply, bytes):
        return {"b": reply.hex()}
    if isinstance(reply, ReplyError):
        return {"e": reply.text}
    if isinstance(reply, dict):
        return {"m": [[plain(key), plain(value)] for key, value in reply.items()]}
    return [plain(one) for one in reply] if isinstance(reply, list) else reply


# ---- who speaks


def speak_raw(server, protocol):
    client = server.client(protocol)
    return list(conversation(lambda *commands: client.many(commands)))


def speak_raw_cluster(cluster):
    client = ClusterClient(cluster)

    def attempt(command):
        try:
            return client.call(*command)
        except ReplyError as error:
            return error

    return list(conversation(lambda *commands: [attempt(command) for command in commands]))


class Talker:
    """A program talk_*; replies that a command needs are turned back into bytes."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "NODE_PATH": str(DEBIAN)})
        self.version = self.line()

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            raise AssertionError(f"{self.process.args[:3]} ended with {self.process.wait()}")
        return json.loads(text)

    def send(self, *commands):
        hexadecimal = [[argument.hex() for argument in command] for command in commands]
        self.process.stdin.write(json.dumps(hexadecimal) + "\n")
        self.process.stdin.flush()
        return [bytes.fromhex(r["b"]) if isinstance(r, dict) and "b" in r else r for r in self.line()]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(30)


# ---- the clients


def redis_py_protocols():
    """RESP3 came with version 5 of redis-py; None where it is not installed."""
    try:
        import redis
    except ImportError:
        return None
    return (2, 3) if int(redis.__version__.split(".")[0]) >= 5 else (2,)


def clients():
    """(name, command, protocols, has a cluster client), and the reasons why others are missing"""
    found, missing = [], []
    protocols = redis_py_protocols()
    if protocols:
        found.append(("redis-py", [sys.executable, str(HERE / "talk_redis_py.py")], protocols, True))
    else:
        missing.append("redis-py is not installed (Debian: python3-redis)")
    if os.environ.get("OLTR_TALK_HIREDIS"):
        found.append(("hiredis", [os.environ["OLTR_TALK_HIREDIS"]], (2,), False))
    else:
        missing.append("hiredis is not installed (Debian: libhiredis-dev)")
    folders, reasons = node_clients()
    for name, folder in folders.items():
        command = ["node", str(HERE / "talk_node.js"), str(folder)]
        found.append((name, command, (2, 3) if name.endswith("6") else (2,), True))
    return found, missing + reasons


# ioredis does not know the keys of a module's commands: in a cluster it asks any node and follows
# MOVED, so commands that are sent without waiting may be done in another order.
FOLLOWS_MOVED = ("ioredis 5", "ioredis 6")
# It computes a double of RESP3 digit by digit, and is off by its last bit.
ROUNDS_DOUBLES = ("ioredis 6",)


def rounded(reply):
    """With 14 digits of every float."""
    if isinstance(reply, float):
        return float(f"{reply:.14g}")
    if isinstance(reply, dict) and "m" in reply:
        return {"m": rounded(reply["m"])}
    return [rounded(one) for one in reply] if isinstance(reply, list) else reply


def without_bytes(reply):
    """The memory of a model depends on where the allocator happens to put its blocks."""
    key = plain(b"bytes")
    if isinstance(reply, dict) and "m" in reply:
        return {"m": [[name, None if name == key else value] for name, value in reply["m"]]}
    if isinstance(reply, list) and key in reply:
        return [None if at and reply[at - 1] == key else one for at, one in enumerate(reply)]
    return reply


def as_client(name, reply):
    """redis-py takes the word ERR off."""
    if name == "redis-py" and isinstance(reply, dict) and reply.get("e", "").startswith("ERR "):
        return {"e": reply["e"][4:]}
    return reply


class Clients(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.found, cls.missing = clients()
        cls.held = []

    def compare(self, name, command, mode, port, protocol, wanted):
        talker = Talker([*command, mode, "127.0.0.1", str(port), str(protocol)])
        try:
            for (part, replies), (_, expected) in zip(conversation(talker.send), wanted):
                got = [plain(reply) if isinstance(reply, bytes) else reply for reply in replies]
                expected = [as_client(name, plain(reply)) for reply in expected]
                if part == "looking":
                    got, expected = [[without_bytes(reply) for reply in said] for said in (got, expected)]
                if name in FOLLOWS_MOVED and mode == "cluster" and part == "a pipeline":
                    got, expected = sorted(got, key=str), sorted(expected, key=str)
                if name in ROUNDS_DOUBLES and protocol == 3:
                    got, expected = rounded(got), rounded(expected)
                self.assertEqual(got, expected, f"{name} {talker.version}, {mode}, RESP{protocol}: {part}")
        finally:
            talker.close()
        self.held.append(f"{name} {talker.version}: {mode}, RESP{protocol}")

    def test_single(self):
        with Server(port=True) as server:
            for protocol in (2, 3):
                server.call("FLUSHALL")
                wanted = speak_raw(server, protocol)
                check(wanted, protocol)
                for name, command, protocols, _ in self.found:
                    if protocol in protocols:
                        server.call("FLUSHALL")
                        self.compare(name, command, "single", server.port, protocol, wanted)

    def test_cluster(self):
        with Cluster(masters=3, replicas=0) as cluster:
            wanted = {2: speak_raw_cluster(cluster)}
            check(wanted[2], 2)
            with Server() as server:  # RESP3 of one server; a cluster answers the same
                wanted[3] = speak_raw(server, 3)
            for name, command, protocols, has_cluster in self.found:
                for protocol in protocols if has_cluster else ():
                    for node in cluster.nodes:
                        node.call("FLUSHALL")
                    self.compare(name, command, "cluster", cluster.nodes[0].port, protocol, wanted[protocol])

    @classmethod
    def tearDownClass(cls):
        print("\n".join(cls.held))
        for reason in cls.missing:
            print(f"skipped in part: {reason}")


if __name__ == "__main__":
    need_redis()
    unittest.main(verbosity=2)
