"""caps.py - the caps as configuration, at run time and at the start; budgets that refuse a growing
model with TOOBIG and leave it as it was; what caps do not touch.
"""

import unittest

from probe import Case, fields, main
from resp import ReplyError
from server import Server, module_path

CAPS = {
    "oltr.max-slots": 1000,
    "oltr.max-candidates": 16384,
    "oltr.max-dim": 512,
    "oltr.max-items": 65536,
    "oltr.max-model-bytes": 67108864,
    "oltr.max-draws": 65536,
    "oltr.max-batch": 1000,
    "oltr.max-exact": 256,
}


class Caps(Case):
    def setUp(self):
        super().setUp()
        self.call("OLTR.CREATE", "m", "ts-beta")
        self.call("OLTR.CREATE", "x", "lints", "DIM", 4, "CANDIDATES", 64)
        self.addCleanup(self.defaults)

    def defaults(self):
        for name, value in CAPS.items():
            self.server.call("CONFIG", "SET", name, value)

    def test_defaults(self):
        for name, value in CAPS.items():
            self.assertEqual(self.call("CONFIG", "GET", name), [name.encode(), str(value).encode()])
        self.assertEqual(len(self.call("CONFIG", "GET", "oltr.*")), 2 * len(CAPS))

    def test_values_that_are_refused(self):
        for name in CAPS:
            for text in ("-1", "x", "", "0"):
                if (name, text) == ("oltr.max-exact", "0"):
                    continue  # no exact chances at all
                self.assertIsInstance(self.redis.attempt("CONFIG", "SET", name, text), ReplyError, (name, text))

    def test_slots(self):
        names = [f"n{i}" for i in range(6)]
        self.call("CONFIG", "SET", "oltr.max-slots", 5)
        self.refused("TOOBIG", "OLTR.RANK", "m", 6, "ALL")
        self.refused("TOOBIG", "OLTR.PROPENSITY", "m", 6, "ALL")
        self.refused("TOOBIG", "OLTR.LEARN", "m", "ITEMS", 6, *names, "CLICKS", 0)
        self.call("OLTR.RANK", "m", 5, "ALL")
        self.call("OLTR.LEARN", "m", "ITEMS", 5, *names[:5], "CLICKS", 0)

    def test_items_of_other_commands(self):
        """What is written item by item, in the model or in the reply, has the lower caps."""
        names = [f"n{i}" for i in range(6)]
        pairs = [part for name in names for part in (name, 1, 2)]
        self.call("OLTR.CREATE", "p", "ts-beta", "PRIOR", 2, 6, "SET", "prior", "full")
        self.call("CONFIG", "SET", "oltr.max-batch", 5)
        self.refused("TOOBIG", "OLTR.PRIOR", "p", *pairs)
        self.assertEqual(self.call("OLTR.PRIOR", "p", *pairs[:15]), 5)
        self.assertEqual(self.call("OLTR.PRIOR", "p", *pairs[15:]), 1)
        self.refused("TOOBIG", "OLTR.REM", "p", *names)
        self.refused("TOOBIG", "OLTR.RESET", "p", *names)
        self.refused("TOOBIG", "OLTR.PREDICT", "p", "ALL")
        self.refused("TOOBIG", "OLTR.PREDICT", "p", "ITEMS", 6, *names)
        self.assertEqual(len(self.call("OLTR.PREDICT", "p", "ITEMS", 5, *names[:5])), 5)
        self.assertEqual(len(self.call("OLTR.EXPLAIN", "p", "ALL")), 6)
        self.call("CONFIG", "SET", "oltr.max-exact", 5)
        self.refused("TOOBIG", "OLTR.EXPLAIN", "p", "ALL")
        self.assertEqual(len(self.call("OLTR.EXPLAIN", "p", "ITEMS", 5, *names[:5])), 5)
        self.assertEqual(self.call("OLTR.RESET", "p", *names[:5]), 5)
        self.assertEqual(self.call("OLTR.REM", "p", *names[:5]), 5)

    def test_candidates(self):
        names = [b"n%03d" % i for i in range(11)]
        self.call("CONFIG", "SET", "oltr.max-candidates", 10)
        for command in (("OLTR.RANK", "m", 3), ("OLTR.PREDICT", "m"), ("OLTR.EXPLAIN", "m"), ("OLTR.PROPENSITY", "m", 3)):
            self.refused("TOOBIG", *command, "ITEMS", 11, *names)
            self.refused("TOOBIG", *command, "FIXED", 4, b"".join(names))
            self.call(*command, "ITEMS", 10, *names[:10])
        self.refused("TOOBIG", "OLTR.RANK", "x", 3, "FP32", b"\0" * 16 * 11)
        self.call("OLTR.RANK", "x", 3, "FP32", b"\0" * 16 * 10)
        self.refused("TOOBIG", "OLTR.CREATE", "y", "lints", "DIM", 4, "CANDIDATES", 11)

    def test_all_is_not_capped_by_candidates(self):
        """ALL names no candidate; a model of more items than the cap is ranked or refused with TOOBIG."""
        names = [b"n%03d" % i for i in range(20)]
        self.call("OLTR.LEARN", "m", "ITEMS", 20, *names, "CLICKS", 0)
        self.call("CONFIG", "SET", "oltr.max-candidates", 10)
        reply = self.redis.attempt("OLTR.RANK", "m", 3, "ALL")
        self.assertTrue(isinstance(reply, list) and len(reply) == 3 or reply.word == "TOOBIG", reply)

    def test_dim_and_items(self):
        self.call("CONFIG", "SET", "oltr.max-dim", 8)
        self.refused("TOOBIG", "OLTR.CREATE", "y", "lints", "DIM", 9)
        self.call("OLTR.CREATE", "y", "lints", "DIM", 8)
        self.call("CONFIG", "SET", "oltr.max-items", 3)
        self.refused("TOOBIG", "OLTR.CREATE", "z", "gts", "MAXITEMS", 4)
        self.call("OLTR.CREATE", "z", "gts")
        self.assertEqual(fields(self.call("OLTR.INFO", "z"))[b"most_items"], 3)
        self.call("OLTR.CREATE", "room", "gts", "MAXITEMS", 40, "CAPACITY", 40)
        self.assertEqual(fields(self.call("OLTR.INFO", "room"))[b"most_items"], 40)
        self.refused("TOOBIG", "OLTR.CREATE", "w", "gts", "MAXITEMS", 40, "CAPACITY", 39)

    def test_draws_and_exact(self):
        self.call("OLTR.LEARN", "m", "ITEMS", 3, "a", "b", "c", "CLICKS", 0)
        self.call("CONFIG", "SET", "oltr.max-draws", 100)
        self.refused("TOOBIG", "OLTR.PROPENSITY", "m", 2, "ALL", "DRAWS", 101)
        self.call("OLTR.PROPENSITY", "m", 2, "ALL", "DRAWS", 100)
        self.call("CONFIG", "SET", "oltr.max-exact", 2)
        self.refused("TOOBIG", "OLTR.PROPENSITY", "m", 2, "ALL")
        self.call("OLTR.PROPENSITY", "m", 2, "ITEMS", 2, "a", "b")

    def test_budget_of_a_growing_model(self):
        self.call("OLTR.LEARN", "m", "ITEMS", 1, "first", "CLICKS", 0)
        self.call("CONFIG", "SET", "oltr.max-model-bytes", 65536)
        grown, refused = 0, None
        for number in range(2000):
            reply = self.redis.attempt("OLTR.LEARN", "m", "ITEMS", 2, f"a{number:030}", f"b{number:030}", "CLICKS", 0,
                                       "ID", number)
            if reply == 1:
                grown += 1
                continue
            refused = reply
            break
        self.assertGreater(grown, 5)
        self.assertEqual(refused.word, "TOOBIG", refused.text)
        self.assertLessEqual(fields(self.call("OLTR.INFO", "m"))[b"bytes"], 65536)
        image = self.image("m")
        self.refused("TOOBIG", "OLTR.LEARN", "m", "ITEMS", 2, f"a{number:030}", f"b{number:030}", "CLICKS", 0, "ID", number)
        self.assertEqual(self.image("m"), image)
        self.assertEqual(len(self.call("OLTR.RANK", "m", 10, "ALL")), 10)
        self.call("CONFIG", "SET", "oltr.max-model-bytes", 67108864)
        self.assertEqual(self.call("OLTR.LEARN", "m", "ITEMS", 2, f"a{number:030}", f"b{number:030}", "CLICKS", 0,
                                   "ID", number), 1)

    def test_budget_of_create_load_merge(self):
        self.call("OLTR.CREATE", "big", "lints", "DIM", 100, "CANDIDATES", 1000)
        image = self.image("big")
        self.call("OLTR.CREATE", "p", "gts", "CAPACITY", 10, "PRIOR", 0.1, 0.1, "SET", "prior", "full")
        pairs = [w for i in range(1000) for w in (f"item number {i}", 0.1, 0.1)]
        self.call("OLTR.CREATE", "large", "gts", "PRIOR", 0.1, 0.1, "SET", "prior", "full")
        self.call("OLTR.PRIOR", "large", *pairs)
        large = self.image("large")
        self.call("CONFIG", "SET", "oltr.max-model-bytes", 65536)
        self.refused("TOOBIG", "OLTR.CREATE", "y", "lints", "DIM", 100, "CANDIDATES", 1000)
        self.refused("TOOBIG", "OLTR.CREATE", "y", "gts", "CAPACITY", 60000)
        self.refused("TOOBIG", "OLTR.LOAD", "y", image)
        self.refused("TOOBIG", "OLTR.LOAD", "m", image, "REPLACE")
        self.refused("TOOBIG", "OLTR.PRIOR", "p", *pairs)
        self.refused("TOOBIG", "OLTR.MERGE", "p", large)
        self.refused("TOOBIG", "OLTR.CREATE", "y", "LIKE", "large")
        self.assertEqual(self.call("EXISTS", "y"), 0)
        self.assertEqual(fields(self.call("OLTR.INFO", "p"))[b"items"], 0)

    def test_a_model_of_a_million_items(self):
        """2^20 items only where CAPACITY makes the room at once."""
        self.refused("TOOBIG", "OLTR.CREATE", "y", "random", "MAXITEMS", 1 << 20)
        self.call("CONFIG", "SET", "oltr.max-model-bytes", 1 << 30)
        self.call("OLTR.CREATE", "y", "ts-beta", "MAXITEMS", 1 << 20, "CAPACITY", 1 << 20)
        self.assertEqual(self.call("OLTR.LEARN", "y", "ITEMS", 1, "a", "CLICKS", 0), 1)
        self.call("DEL", "y")


class Start(unittest.TestCase):
    def test_configuration_file(self):
        with Server(start=False) as server:
            server.configure(**{"oltr.max-slots": "7", "oltr.max-exact": "9"})
            server.start()
            self.assertEqual(server.call("CONFIG", "GET", "oltr.max-slots")[1], b"7")
            self.assertEqual(server.call("CONFIG", "GET", "oltr.max-exact")[1], b"9")

    def test_loadex(self):
        with Server(module=False) as server:
            server.call("MODULE", "LOADEX", module_path(), "CONFIG", "oltr.max-slots", 11)
            self.assertEqual(server.call("CONFIG", "GET", "oltr.max-slots")[1], b"11")
            self.assertEqual(server.call("CONFIG", "GET", "oltr.max-dim")[1], b"512")

    def test_bad_values_refuse_the_load(self):
        with Server(module=False) as server:
            with self.assertRaises(ReplyError):
                server.call("MODULE", "LOADEX", module_path(), "CONFIG", "oltr.max-slots", "x")
            self.assertNotIn("oltr", str(server.call("MODULE", "LIST")))
            server.call("MODULE", "LOAD", module_path())

    def test_rewrite(self):
        with Server() as server:
            server.call("CONFIG", "SET", "oltr.max-slots", 12)
            server.call("CONFIG", "REWRITE")
            text = (server.folder / "redis.conf").read_text()
            self.assertIn("oltr.max-slots 12", text)


class NotForTheMaster(unittest.TestCase):
    """A replica with lower caps, and an append-only file under lower caps, take what the master decided."""

    def commands(self):
        names = [f"n{i}" for i in range(20)]
        return [("OLTR.CREATE", "m", "ts-beta", "MAXITEMS", 50), ("OLTR.CREATE", "default", "gts"),
                ("OLTR.CREATE", "x", "lints", "DIM", 90, "CANDIDATES", 5000),
                ("OLTR.LEARN", "m", "ITEMS", 20, *names, "CLICKS", 0),
                ("OLTR.LEARN", "x", "FP32", b"\0" * 360 * 20, "CLICKS", 0)]

    LOW = {"oltr.max-slots": 3, "oltr.max-candidates": 3, "oltr.max-dim": 3, "oltr.max-items": 3,
           "oltr.max-model-bytes": 65536}

    def lower(self, server):
        for name, value in self.LOW.items():
            server.call("CONFIG", "SET", name, value)

    def test_replica(self):
        with Server(port=True) as master, Server() as replica:
            replica.replicate(master)
            replica.wait_synced(master)
            self.lower(replica)
            for command in self.commands():
                master.call(*command)
            replica.wait_synced(master)
            self.assertEqual(replica.digests(), master.digests())
            self.assertEqual(len(replica.digests()), 3)

    def test_append_only_file(self):
        with Server(appendonly="yes", appendfsync="always") as server:
            for command in self.commands():
                server.call(*command)
            digests = server.digests()
            server.stop()
            server.configure(**self.LOW)
            server.start()
            self.assertEqual(server.digests(), digests)
            self.assertEqual(server.call("CONFIG", "GET", "oltr.max-items")[1], b"3")

    def test_rdb(self):
        with Server() as server:
            for command in self.commands():
                server.call(*command)
            digests = server.digests()
            server.call("SAVE")
            server.stop()
            server.configure(**self.LOW)
            server.start()
            self.assertEqual(server.digests(), digests)


if __name__ == "__main__":
    main()
