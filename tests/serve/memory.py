"""memory.py - memory as the server sees it: maxmemory, MEMORY USAGE, freeing, and a disk that is full."""

import resource
import signal
import unittest

from contract import fill, kinds, teach
from probe import fields, main
from resp import ReplyError, retry
from server import Server

FILE_LIMIT = 300_000


def limit_files():
    """A disk of few bytes: a write beyond them fails, as the signal that would end the server is ignored."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))


class Memory(unittest.TestCase):
    def begin(self, **options):
        server = Server(**options)
        self.addCleanup(server.remove)
        return server, server.client(timeout=120)

    def used(self, client):
        text = client.call("INFO", "memory").decode()
        return int(next(line for line in text.splitlines() if line.startswith("used_memory:")).split(":")[1])

    def numbers(self, server):
        return {name.removeprefix("oltr_"): int(value) for name, value in server.info("oltr").items()}

    def test_maxmemory(self):
        server, client = self.begin(maxmemory_policy="noeviction")
        some = fill(client, 5, prior=True)
        client.call("OLTR.CREATE", "m", "ts-beta", "PRIOR", 2, 6, "SET", "prior", "full")
        client.call("OLTR.CREATE", "small", "ts-beta")
        image = client.call("OLTR.DUMP", "small")
        client.call("CONFIG", "SET", "maxmemory", self.used(client) + 400_000)
        refused = None
        for number in range(5000):
            names = [f"item {number} {i}" for i in range(20)]
            reply = client.attempt("OLTR.LEARN", "m", "ITEMS", 20, *names, "CLICKS", 0, "ID", number)
            if reply != 1:
                refused = reply
                break
        self.assertIsInstance(refused, ReplyError, "the memory of a model is not counted")
        self.assertEqual(refused.word, "OOM")
        client.call("CONFIG", "SET", "maxmemory", max(1, self.used(client) - 100_000))  # now for certain
        digests = server.digests()
        for command in (("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0), ("OLTR.CREATE", "n", "gts"),
                        ("OLTR.CREATE", "n", "LIKE", "m"), ("OLTR.PRIOR", "m", "a", 1, 1),
                        ("OLTR.MERGE", "small", image), ("OLTR.LOAD", "n", image)):
            self.assertEqual(getattr(client.attempt(*command), "word", ""), "OOM", command)
        for command in (("OLTR.RANK", "m", 10, "ALL"), ("OLTR.PREDICT", "m", "ITEMS", 1, "a"), ("OLTR.DUMP", "m"),
                        ("OLTR.EXPLAIN", "m", "ITEMS", 1, "a"), ("OLTR.INFO", "m"), ("OLTR.SCAN", "m", 0),
                        ("OLTR.PROPENSITY", "small", 1, "ITEMS", 2, "a", "b"), ("OLTR.KINDS",)):
            client.call(*command)
        self.assertEqual(server.digests(), digests)
        self.assertEqual(client.call("OLTR.REM", "m", "item 0 0"), 1)  # what frees is allowed
        self.assertEqual(client.call("OLTR.RESET", "m", "item 1 0"), 1)
        client.call("DEL", "m")
        client.call("CONFIG", "SET", "maxmemory", self.used(client) + 1_000_000)
        self.assertEqual(client.call("OLTR.LEARN", "small", "ITEMS", 1, "a", "CLICKS", 0), 1)
        self.assertGreater(len(some), 10)

    def test_eviction(self):
        server, client = self.begin(maxmemory_policy="allkeys-lru")
        client.call("CONFIG", "SET", "maxmemory", self.used(client) + 1_000_000)
        for number in range(300):
            client.call("OLTR.CREATE", f"m{number}", "gts", "CAPACITY", 500)
        self.assertLess(client.call("DBSIZE"), 300)
        self.assertGreater(int(server.info("stats")["evicted_keys"]), 0)
        retry(lambda: self.numbers(server)["models"] == client.call("DBSIZE"), 20)

    def test_usage_is_what_is_used(self):
        for kind_name, options, names in (("gts", (), 500), ("lints", ("DIM", 64, "CANDIDATES", 50), 0),
                                          ("ts-hyper", ("CAPACITY", 2000), 300), ("logts", ("DIM", 20), 0)):
            server, client = self.begin()
            client.many([("SET", f"warm{i}", i) for i in range(200)])
            before = self.used(client)
            for number in range(40):
                client.call("OLTR.CREATE", f"m{number}", kind_name, *options)
                for first in range(0, names, 50):
                    ids = [f"a name of twenty {i}" for i in range(first, first + 50)]
                    client.call("OLTR.LEARN", f"m{number}", "ITEMS", 50, *ids, "CLICKS", 0, "ID", first)
            grown = self.used(client) - before
            usage = sum(client.call("MEMORY", "USAGE", f"m{number}") for number in range(40))
            told = sum(fields(client.call("OLTR.INFO", f"m{number}"))[b"bytes"] for number in range(40))
            print(f"{kind_name}: used_memory grew by {grown}, MEMORY USAGE {usage}, OLTR.INFO {told}")
            self.assertLess(abs(grown - usage), 0.2 * grown + 50_000, kind_name)
            self.assertLess(abs(usage - told), 0.2 * usage + 50_000, kind_name)
            self.assertEqual(self.numbers(server)["bytes"], told)
            self.assertEqual(self.numbers(server)["models"], 40)
            server.remove()

    def test_ten_thousand_models_come_and_go(self):
        server, client = self.begin()
        create = [("OLTR.CREATE", f"m{i}", "ts-beta") for i in range(10_000)]
        learn = [("OLTR.LEARN", f"m{i}", "ITEMS", 3, "a", "b", f"c{i}", "CLICKS", 1, 2, "ID", "x") for i in range(10_000)]
        delete = [("DEL", f"m{i}") for i in range(10_000)]
        rounds = []
        for _ in range(3):
            for commands in (create, learn):
                for first in range(0, len(commands), 1000):
                    client.many(commands[first : first + 1000])
            full = self.used(client)
            self.assertEqual(self.numbers(server)["models"], 10_000)
            for first in range(0, len(delete), 1000):
                self.assertEqual(set(client.many(delete[first : first + 1000])), {1})
            rounds.append(self.used(client))
            self.assertEqual((self.numbers(server)["models"], self.numbers(server)["bytes"]), (0, 0))
        print(f"used_memory with 10,000 models {full}, after each deletion {rounds}")
        self.assertGreater(full - rounds[-1], 10_000 * 300)
        # the server shrinks its own table of keys, 128 kB, some time after the last deletion
        retry(lambda: self.used(client) - rounds[0] < 50_000)

    def big(self, client, key):
        client.call("OLTR.CREATE", key, "gts", "CAPACITY", 50000)
        for first in range(0, 20000, 1000):
            client.call("OLTR.LEARN", key, "FIXED", 8, b"".join(b"%08d" % i for i in range(first, first + 1000)),
                        "CLICKS", 0)

    def test_lazy_free(self):
        for command in (("UNLINK", "big"), ("FLUSHALL", "ASYNC"), ("FLUSHDB", "ASYNC")):
            server, client = self.begin()
            before = self.used(client)
            self.big(client, "big")
            self.assertGreater(self.used(client) - before, 1_000_000)
            client.call(*command)
            retry(lambda: self.used(client) - before < 200_000, 20)
            retry(lambda: self.numbers(server)["models"] == 0 and self.numbers(server)["bytes"] == 0, 20)
            self.assertGreaterEqual(int(server.info("memory")["lazyfreed_objects"]), 1, command)
            server.remove()

    def test_unlink_of_a_small_model_is_not_lazy(self):
        """free_effort says what freeing costs: a model of a few items is freed at once."""
        server, client = self.begin()
        for number in range(100):
            client.call("OLTR.CREATE", f"m{number}", "gts")
            client.call("OLTR.LEARN", f"m{number}", "ITEMS", 1, "a", "CLICKS", 0)
            client.call("UNLINK", f"m{number}")
        retry(lambda: self.numbers(server)["models"] == 0, 20)
        info = server.info("memory")
        self.assertEqual((info["lazyfree_pending_objects"], info["lazyfreed_objects"]), ("0", "0"))

    def test_learning_releases_nothing_and_leaks_nothing(self):
        """The same names again and again: memory stays; removed and added items: it stays bounded."""
        server, client = self.begin()
        client.call("OLTR.CREATE", "m", "ts-beta", "WINDOW", 100)
        learn = lambda turn: [("OLTR.LEARN", "m", "ITEMS", 2, f"n{i % 50}", f"t{turn}.{i}", "CLICKS", 0, "ID", f"{turn}.{i}")
                              for i in range(500)]
        remove = lambda turn: [("OLTR.REM", "m", *(f"t{turn}.{i}" for i in range(500)))]
        sizes = []
        for turn in range(12):
            client.many(learn(turn))
            self.assertEqual(client.many(remove(turn)), [500])
            client.many([("OLTR.RANK", "m", 10, "ALL"), ("OLTR.DUMP", "m"), ("OLTR.LEARN", "m", "ITEMS", 1, "", "CLICKS", 0)])
            sizes.append(self.used(client))
        self.assertLess(abs(sizes[-1] - sizes[3]), 60_000, sizes)


class FullDisk(unittest.TestCase):
    """Files end at 300,000 bytes (RLIMIT_FSIZE)."""

    def learn_until_refused(self, client, word):
        acknowledged = 0
        for number in range(20_000):
            reply = client.attempt("OLTR.LEARN", "m", "ITEMS", 3, "a", "b", f"c{number % 100}", "CLICKS", 1, 2,
                                   "ID", f"a long id, to fill the disk sooner {number:060}")
            if reply != 1:
                self.assertEqual(reply.word, word, reply)
                return acknowledged
            acknowledged += 1
        self.fail("the disk did not fill")

    def test_append_only_file(self):
        server = Server(appendonly="yes", appendfsync="everysec", before=limit_files)
        self.addCleanup(server.remove)
        client = server.client()
        client.call("OLTR.CREATE", "m", "ts-beta")
        acknowledged = self.learn_until_refused(client, "MISCONF")
        self.assertGreater(acknowledged, 500)
        lessons = fields(client.call("OLTR.INFO", "m"))[b"lessons"]
        self.assertEqual(len(client.call("OLTR.RANK", "m", 10, "ALL")), 10)  # reading goes on
        self.assertEqual(client.attempt("OLTR.CREATE", "n", "gts").word, "MISCONF")
        self.assertEqual(fields(client.call("OLTR.INFO", "m"))[b"lessons"], lessons)
        server.kill()
        server.before = None
        server.start()
        now = fields(server.call("OLTR.INFO", "m"))[b"lessons"]
        self.assertGreater(now, 500)
        self.assertLessEqual(now, acknowledged)
        # everysec holds back a write that failed, and answers; retries make the count exact
        with server.client() as client:
            answers = client.many([("OLTR.LEARN", "m", "ITEMS", 3, "a", "b", f"c{number % 100}", "CLICKS", 1, 2,
                                    "ID", f"a long id, to fill the disk sooner {number:060}")
                                   for number in range(acknowledged)])
        self.assertEqual(sum(answers), acknowledged - now)
        self.assertLess(acknowledged - now, 100)
        self.assertEqual(fields(server.call("OLTR.INFO", "m"))[b"lessons"], acknowledged)

    def test_always_ends_rather_than_lies(self):
        """With always the server ends itself when it cannot write; all that it acknowledged is there."""
        server = Server(appendonly="yes", appendfsync="always", before=limit_files)
        self.addCleanup(server.remove)
        client = server.client()
        client.call("OLTR.CREATE", "m", "ts-beta")
        acknowledged = 0
        try:
            for number in range(20_000):
                client.call("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0, "ID", f"{number:0200}")
                acknowledged += 1
        except Exception:
            pass
        self.assertGreater(acknowledged, 300)
        server.process.wait(20)
        server.kill()
        server.before = None
        server.start()
        self.assertEqual(fields(server.call("OLTR.INFO", "m"))[b"lessons"], acknowledged)

    def test_save(self):
        server = Server(before=limit_files, rdbcompression="no")
        self.addCleanup(server.remove)
        client = server.client()
        kind = next(k for k in kinds(client) if k.name == "gts")
        client.call(*kind.create("m"))
        teach(client, kind, "m", 20)
        client.call("SAVE")
        digests = server.digests()
        client.call("OLTR.CREATE", "big", "gts")
        for first in range(0, 20000, 1000):
            client.call("OLTR.LEARN", "big", "FIXED", 20, b"".join(b"%020d" % i for i in range(first, first + 1000)),
                        "CLICKS", 0)
        self.assertIsInstance(client.attempt("SAVE"), ReplyError)
        client.call("BGSAVE")
        server.wait_idle()
        self.assertEqual(server.info("persistence")["rdb_last_bgsave_status"], "err")
        self.assertEqual(len(client.call("OLTR.RANK", "big", 10, "ALL")), 10)
        server.kill()
        server.start()
        self.assertEqual(server.digests(), digests)


if __name__ == "__main__":
    main()
