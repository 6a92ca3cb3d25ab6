"""probe.py - what must hold around every command, and the frame of the tests.

Universal probe: a command that is answered with an error or with 0 has changed nothing, and a
reading command never does: the digest of its key, the bytes of the append-only file and the
replication offset are as before.  A write that was done moved the two counts, and the digest.

A test is a method of a Case; its methods call the server through self.redis, a Probe.
"""

import sys
import unittest

from resp import ReplyError, to_bytes
from server import SKIPPED, Server, need_redis

READING = {b"OLTR." + name for name in
           (b"RANK", b"PREDICT", b"EXPLAIN", b"PROPENSITY", b"SCAN", b"DUMP", b"INFO", b"KINDS")}
WRITING = {b"OLTR." + name for name in (b"CREATE", b"LEARN", b"PRIOR", b"REM", b"RESET", b"TRIM", b"FORGET",
                                        b"MERGE", b"LOAD")}

CHANGING = {b"OLTR." + name for name in (b"CREATE", b"LEARN", b"REM", b"TRIM")}  # others may leave the same bytes


class Probe:
    """A connection whose OLTR commands are watched.  The server needs appendonly and a backlog."""

    def __init__(self, server, protocol=2):
        self.server = server
        self.client = server.client(protocol)
        self.watch = server.client()
        self.probed = 0

    def state(self, keys):
        """(digests, bytes of the append-only file, replication offset)"""
        commands = [("INFO", "replication")] + [("DEBUG", "DIGEST-VALUE", key) for key in keys]
        info, *digests = self.watch.many(commands)
        offset = next(line for line in info.splitlines() if line.startswith(b"master_repl_offset:"))
        size = sum(path.stat().st_size for path in self.server.aof_files())
        return [d[0] if isinstance(d, list) else d for d in digests], size, int(offset.split(b":")[1])

    def keys(self, args):
        name = to_bytes(args[0]).upper()
        if name not in READING | WRITING or name == b"OLTR.KINDS":
            return []
        keys = [to_bytes(args[1])] if len(args) > 1 else []
        if name == b"OLTR.CREATE" and len(args) > 3 and to_bytes(args[2]).upper() == b"LIKE":
            keys.append(to_bytes(args[3]))
        return keys

    def attempt(self, *args):
        """The reply, an error too, after the probe."""
        name = to_bytes(args[0]).upper()
        if name not in READING | WRITING:
            return self.client.attempt(*args)
        keys = self.keys(args)
        before = self.state(keys)
        reply = self.client.attempt(*args)
        after = self.state(keys)
        self.probed += 1
        shown = repr(args[:8])[:300]
        if name in READING or isinstance(reply, ReplyError) or reply == 0:
            for what, old, new in zip(("digest", "append-only file", "replication offset"), before, after):
                assert old == new, f"{shown} -> {reply!r} changed the {what}: {old} to {new}"
        else:
            assert before[1] < after[1], f"{shown} -> {reply!r} wrote nothing to the append-only file"
            assert before[2] < after[2], f"{shown} -> {reply!r} was not replicated"
            same = before[0][0] == after[0][0]
            assert not (same and name in CHANGING), f"{shown} -> {reply!r} left the digest as it was"
        return reply

    def call(self, *args):
        reply = self.attempt(*args)
        if isinstance(reply, ReplyError):
            raise reply
        return reply


class Case(unittest.TestCase):
    """Tests with one server for the class, emptied before each test.

    options are of the server.  self.redis is a probing connection (RESP2), self.redis3 one of RESP3.
    """

    options = {}
    module_args = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(module_args=cls.module_args, **{"appendonly": "yes", "appendfsync": "no",
                                                            **cls.options})
        cls.server.begin_backlog()

    @classmethod
    def tearDownClass(cls):
        if getattr(cls, "server", None):
            cls.server.remove()

    def setUp(self):
        if not self.server.alive():
            self.fail("the server is gone:\n" + self.server.tail())
        self.server.call("FLUSHALL")
        self.redis = Probe(self.server)
        self.redis3 = Probe(self.server, 3)

    def tearDown(self):
        self.server.close_clients()
        if not self.server.alive():
            self.fail("the server died:\n" + self.server.tail(60))

    # ---- words for the tests

    def call(self, *args):
        return self.redis.call(*args)

    def refused(self, word, *args, text=""):
        """The command is an error with this first word; text is a part of the sentence behind it.

        word may be several with | between them, where the contract leaves it open.
        """
        for probe in (self.redis, self.redis3):
            reply = probe.attempt(*args)
            shown = repr(args[:12])[:400]
            self.assertIsInstance(reply, ReplyError, f"{shown} was answered with {reply!r}, not {word}")
            self.assertIn(reply.word, word.split("|"), f"{shown}: {reply.text}")
            self.assertGreater(len(reply.text), len(reply.word) + 8, f"{shown}: no sentence in {reply.text!r}")
            if text:
                self.assertIn(text, reply.text, shown)
        return reply

    def image(self, key):
        return self.redis.client.call("OLTR.DUMP", key)

    def digest(self, key, server=None):
        return (server or self.server).call("DEBUG", "DIGEST-VALUE", key)[0]

    def lessons(self, key):
        return fields(self.redis.client.call("OLTR.INFO", key))[b"lessons"]


def fields(reply):
    """A map of either protocol as a dict."""
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2]))


def main():
    """Runs the tests of the calling file; all skipped is 77."""
    need_redis()
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    result = program.result
    if not result.testsRun:
        print("no test was run")
        sys.exit(1)
    for _, reason in result.skipped:
        print(f"skipped: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if len(result.skipped) == result.testsRun else 0)
