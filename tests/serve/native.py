"""native.py - a model behaves as a value of the server's own types: COPY, RENAME, EXPIRE, MULTI, WATCH, EVAL, WAIT,
OBJECT, keyspace events, SWAPDB, MOVE, ACL, COMMAND, MODULE; and INFO oltr counts what users did.
"""

import random
import time
import unittest

from contract import fill, kinds, teach
from probe import READING, WRITING, Case, fields, main
from resp import ReplyError, retry
from server import Server, module_path

EVENTS = {"CREATE", "LEARN", "PRIOR", "REM", "RESET", "TRIM", "FORGET", "MERGE", "LOAD"}


class Native(Case):
    def setUp(self):
        super().setUp()
        self.client = self.server.client(timeout=60)
        self.call("OLTR.CREATE", "m", "ts-beta", "PRIOR", 2, 6, "SET", "prior", "full")
        for number in range(5):
            self.call("OLTR.LEARN", "m", "ITEMS", 3, "a", "b", f"c{number}", "CLICKS", 1, 2, "ID", number)

    def test_copy(self):
        for kind in fill(self.client, 10, prior=True):
            key, copy = "model:" + kind.name, "copy:" + kind.name
            self.assertEqual(self.client.call("COPY", key, copy), 1)
            self.assertEqual(self.digest(copy), self.digest(key))
            original = self.image(key)
            teach(self.client, kind, copy, 10, 2, "later")  # they are independent
            self.assertEqual(self.image(key), original, kind.name)
            teach(self.client, kind, key, 10, 2, "later")
            self.assertEqual(self.image(key), self.image(copy), kind.name)
        self.assertEqual(self.client.call("COPY", "m", "copy:gts"), 0)
        self.assertEqual(self.client.call("COPY", "m", "copy:gts", "REPLACE"), 1)
        self.assertEqual(self.client.call("COPY", "m", "m", "DB", 3), 1)

    def test_rename_and_move(self):
        digest = self.digest("m")
        self.client.call("RENAME", "m", "n")
        self.assertEqual(self.digest("n"), digest)
        self.refused("NOTFOUND", "OLTR.INFO", "m")
        self.assertEqual(self.client.call("MOVE", "n", 2), 1)
        self.client.call("SELECT", 2)
        self.assertEqual(fields(self.client.call("OLTR.INFO", "n"))[b"lessons"], 5)
        self.client.call("SELECT", 0)
        self.client.call("SWAPDB", 0, 2)
        self.assertEqual(self.digest("n"), digest)

    def test_expire(self):
        self.assertEqual(self.client.call("TTL", "m"), -1)
        self.client.call("PEXPIRE", "m", 100000)
        self.call("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0)
        self.assertGreater(self.client.call("PTTL", "m"), 50000)  # a change keeps it
        self.client.call("PERSIST", "m")
        self.assertEqual(self.client.call("TTL", "m"), -1)
        self.client.call("PEXPIRE", "m", 30)
        time.sleep(0.1)
        self.assertEqual(self.client.attempt("OLTR.RANK", "m", 3, "ALL").word, "NOTFOUND")  # it may delete the key
        retry(lambda: self.server.info("oltr")["oltr_models"] == "0", 20)

    def test_load_replace_drops_the_expiry(self):
        self.client.call("EXPIRE", "m", 1000)
        self.call("OLTR.LOAD", "m", self.image("m"), "REPLACE")
        self.assertIn(self.client.call("TTL", "m"), (-1, 1000, 999))

    def test_multi(self):
        self.client.call("MULTI")
        for command in (("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0, "ID", "t"), ("OLTR.RANK", "m", 1, "ALL"),
                        ("OLTR.LEARN", "m", "ITEMS", 1, "", "CLICKS", 0), ("OLTR.INFO", "m")):
            self.assertEqual(self.client.call(*command), b"QUEUED")
        replies = self.client.call("EXEC")
        self.assertEqual(replies[0], 1)
        self.assertIsInstance(replies[2], ReplyError)
        self.assertEqual(fields(replies[3])[b"lessons"], 6)
        self.client.call("MULTI")
        self.client.call("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0)
        self.client.call("DISCARD")
        self.assertEqual(self.lessons("m"), 6)

    def watched(self, *command):
        """Whether a transaction that watches the key goes through after the command of another client."""
        watcher = self.server.client()
        watcher.call("WATCH", "m")
        reply = self.client.attempt(*command)
        watcher.call("MULTI")
        watcher.call("PING")
        done = watcher.call("EXEC") is not None
        watcher.close()
        return done, reply

    def test_watch(self):
        image = self.image("m")
        for command in (("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0, "ID", "w"), ("OLTR.PRIOR", "m", "a", 1, 3),
                        ("OLTR.RESET", "m", "a"), ("OLTR.REM", "m", "a"), ("OLTR.FORGET", "m", 0.5),
                        ("OLTR.MERGE", "m", image, "ID", "g"), ("OLTR.LEARN", "m", "ITEMS", 1, "z", "CLICKS", 0),
                        ("OLTR.TRIM", "m", "IDLE", 1), ("OLTR.LOAD", "m", image, "REPLACE")):
            done, reply = self.watched(*command)
            self.assertNotIsInstance(reply, ReplyError, command)
            self.assertFalse(done, f"{command[0]} -> {reply} did not touch the watched key")
        self.client.call("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0, "ID", "w")
        for command in (("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0, "ID", "w"), ("OLTR.RANK", "m", 3, "ALL"),
                        ("OLTR.LEARN", "m", "ITEMS", 2, "a", "a", "CLICKS", 0), ("OLTR.REM", "m", "nothing"),
                        ("OLTR.RESET", "m", "nothing"), ("OLTR.TRIM", "m", "IDLE", 1000), ("OLTR.CREATE", "m", "gts"),
                        ("OLTR.LOAD", "m", image), ("OLTR.LOAD", "m", "x", "REPLACE"), ("OLTR.MERGE", "m", "x"),
                        ("OLTR.DUMP", "m"), ("OLTR.INFO", "m"), ("OLTR.PREDICT", "m", "ALL"), ("OLTR.SCAN", "m", 0),
                        ("OLTR.EXPLAIN", "m", "ALL"), ("OLTR.PROPENSITY", "m", 2, "ALL"), ("OLTR.FORGET", "m", 7)):
            done, reply = self.watched(*command)
            self.assertTrue(done, f"{command[:6]} -> {reply} aborted a transaction")

    def test_watch_of_a_new_key(self):
        self.client.call("DEL", "m")
        self.assertEqual(self.watched("OLTR.CREATE", "m", "gts"), (False, b"OK"))

    def test_eval(self):
        script = "return redis.call('OLTR.LEARN', KEYS[1], 'ITEMS', 2, 'a', 'b', 'CLICKS', 1, 2, 'ID', ARGV[1])"
        self.assertEqual(self.client.call("EVAL", script, 1, "m", "e"), 1)
        self.assertEqual(self.client.call("EVAL", script, 1, "m", "e"), 0)
        ranked = self.client.call("EVAL", "return redis.call('OLTR.RANK', KEYS[1], 3, 'ALL')", 1, "m")
        self.assertEqual(len(ranked), 3)
        self.assertEqual(len(self.client.call("EVAL_RO", "return redis.call('OLTR.RANK', KEYS[1], 3, 'ALL')", 1, "m")), 3)
        self.assertIsInstance(self.client.attempt("EVAL_RO", script, 1, "m", "f"), ReplyError)
        error = self.client.attempt("EVAL", "return redis.call('OLTR.INFO', KEYS[1])", 1, "none")
        self.assertEqual(error.word, "NOTFOUND")
        caught = self.client.call("EVAL", "return redis.pcall('OLTR.INFO', KEYS[1])['err']", 1, "none")
        self.assertTrue(caught.startswith(b"NOTFOUND"), caught)
        kept = self.client.call("EVAL", "local l = redis.call('OLTR.RANK', KEYS[1], 3, 'ALL') "
                                        "redis.call('SET', KEYS[2], cjson.encode(l), 'EX', 60) return l", 2, "m", "shown")
        self.assertEqual(len(kept), 3)

    def test_scripts_replicate_the_commands(self):
        stream = self.server.stream()
        self.client.call("EVAL", "redis.call('OLTR.RANK', KEYS[1], 3, 'ALL') "
                                 "return redis.call('OLTR.REM', KEYS[1], 'a')", 1, "m")
        self.client.call("SET", "end", 1)
        seen = [c for c in stream.until("SET") if c[0] not in (b"SELECT", b"MULTI", b"EXEC")]
        self.assertEqual(seen, [[b"OLTR.REM", b"m", b"a"]])
        stream.close()

    def test_object_and_type(self):
        self.assertEqual(self.client.call("TYPE", "m"), b"oltrmodel")
        self.client.call("OBJECT", "ENCODING", "m")
        self.assertEqual(self.client.call("OBJECT", "REFCOUNT", "m"), 1)
        self.client.call("OBJECT", "IDLETIME", "m")
        self.assertEqual(self.client.call("SCAN", 0, "TYPE", "oltrmodel")[1], [b"m"])
        self.assertEqual(self.client.attempt("GET", "m").word, "WRONGTYPE")
        self.assertEqual(self.client.attempt("LPUSH", "m", 1).word, "WRONGTYPE")
        self.assertEqual(self.client.call("EXISTS", "m"), 1)
        self.assertGreater(self.client.call("MEMORY", "USAGE", "m"), 100)

    def test_dump_and_restore(self):
        payload = self.client.call("DUMP", "m")
        self.assertEqual(self.client.call("RESTORE", "n", 0, payload), b"OK")
        self.assertEqual(self.image("n"), self.image("m"))
        self.assertEqual(self.client.attempt("RESTORE", "n", 0, payload).word, "BUSYKEY")
        self.client.call("RESTORE", "n", 5000, payload, "REPLACE")
        self.assertGreater(self.client.call("PTTL", "n"), 0)

    def test_events(self):
        self.client.call("CONFIG", "SET", "notify-keyspace-events", "KEd")
        listener = self.server.client()
        listener.call("PSUBSCRIBE", "__key*__:*")
        image = self.image("m")
        done = [("OLTR.CREATE", "n", "ts-beta"), ("OLTR.CREATE", "l", "LIKE", "m"),
                ("OLTR.LEARN", "m", "ITEMS", 1, "z", "CLICKS", 0, "ID", "z"), ("OLTR.PRIOR", "m", "a", 1, 2),
                ("OLTR.RESET", "m", "a"), ("OLTR.FORGET", "m", 0.5), ("OLTR.MERGE", "m", image), ("OLTR.REM", "m", "b"),
                ("OLTR.TRIM", "m", "IDLE", 1), ("OLTR.LOAD", "k", image), ("OLTR.LOAD", "k", image, "REPLACE")]
        none = [("OLTR.LEARN", "m", "ITEMS", 1, "z", "CLICKS", 0, "ID", "z"), ("OLTR.REM", "m", "nothing"),
                ("OLTR.RANK", "m", 2, "ALL"), ("OLTR.CREATE", "n", "gts"), ("OLTR.LOAD", "k", image),
                ("OLTR.TRIM", "m", "IDLE", 1000), ("OLTR.RESET", "m", "nothing")]
        expected = []
        for command in done:
            self.client.call(*command)
            event = command[0].lower().encode()
            expected += [(b"__keyspace@0__:" + command[1].encode(), event), (b"__keyevent@0__:" + event, command[1].encode())]
        for command in none:
            self.client.attempt(*command)
        self.client.call("PUBLISH", "__key__:end", "end")
        seen = []
        while not seen or seen[-1][1] != b"end":
            seen.append(tuple(listener.read()[2:]))
        self.assertEqual(seen[:-1], expected)
        self.assertEqual({e[1].decode().split(".")[1].upper() for e in expected[::2]}, EVENTS)
        self.client.call("CONFIG", "SET", "notify-keyspace-events", "")

    def test_wait(self):
        self.assertEqual(self.client.call("WAIT", 0, 100), 0)

    def test_acl(self):
        self.client.call("ACL", "SETUSER", "reader", "on", ">p", "%R~*", "+oltr.rank", "+oltr.dump")
        self.client.call("ACL", "SETUSER", "writer", "on", ">p", "%RW~m*", "+oltr.learn", "+oltr.create", "+oltr.rank")
        self.client.call("ACL", "SETUSER", "child", "on", ">p", "%R~m", "%W~new", "+oltr.create")
        user = self.server.client()
        user.call("AUTH", "reader", "p")
        self.assertEqual(len(user.call("OLTR.RANK", "m", 3, "ALL")), 3)
        user.call("OLTR.DUMP", "m")
        self.assertEqual(user.attempt("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0).word, "NOPERM")
        self.client.call("ACL", "SETUSER", "reader", "+oltr.learn", "+oltr.rem", "+oltr.load", "+oltr.create")
        for command in (("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0), ("OLTR.REM", "m", "a"),
                        ("OLTR.LOAD", "n", "x"), ("OLTR.CREATE", "n", "gts")):
            self.assertEqual(user.attempt(*command).word, "NOPERM", command)  # the key may only be read
        user.call("AUTH", "writer", "p")
        self.assertEqual(user.call("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0), 1)
        self.assertEqual(user.attempt("OLTR.LEARN", "other", "ITEMS", 1, "a", "CLICKS", 0).word, "NOPERM")
        self.assertEqual(user.attempt("OLTR.CREATE", "mine", "LIKE", "other").word, "NOPERM")
        user.call("AUTH", "child", "p")
        self.assertEqual(user.attempt("OLTR.CREATE", "m", "gts").word, "NOPERM")
        self.assertEqual(user.call("OLTR.CREATE", "new", "LIKE", "m"), b"OK")

    def test_unsafe_words_of_options_are_no_keys(self):
        """LIKE is a key only behind CREATE key; a kind or an item of that name is not."""
        self.assertEqual(self.client.call("COMMAND", "GETKEYS", "OLTR.LEARN", "m", "ITEMS", 2, "LIKE", "x", "CLICKS", 0),
                         [b"m"])


class Commands(Case):
    def test_keys(self):
        for command in READING | WRITING:
            if command == b"OLTR.KINDS":
                self.assertIsInstance(self.redis.client.attempt("COMMAND", "GETKEYS", command, "gts"), ReplyError)
                continue
            arity = self.call("COMMAND", "INFO", command)[0][1]
            words = ("k", "a", "b", "c", "d", "e")[: arity - 1 if arity > 0 else 6]
            self.assertEqual(self.call("COMMAND", "GETKEYS", command, *words), [b"k"], command)
        self.assertEqual(self.call("COMMAND", "GETKEYS", "OLTR.CREATE", "k", "LIKE", "p"), [b"k", b"p"])
        self.assertEqual(self.call("COMMAND", "GETKEYS", "OLTR.CREATE", "k", "like", "p", "STRENGTH", 1), [b"k", b"p"])
        self.assertEqual(self.call("COMMAND", "GETKEYS", "OLTR.CREATE", "k", "gts", "SET", "sigma", 1), [b"k"])

    def test_flags(self):
        for command in READING | WRITING:
            info = self.call("COMMAND", "INFO", command)[0]
            flags = set(info[2])
            if command in READING:
                self.assertNotIn(b"write", flags, command)
                self.assertTrue(b"readonly" in flags or command == b"OLTR.KINDS", command)  # which reads no key
            else:
                self.assertIn(b"write", flags, command)
                self.assertNotIn(b"readonly", flags, command)
            if command.split(b".")[1] in (b"CREATE", b"LEARN", b"PRIOR", b"MERGE", b"LOAD"):
                self.assertIn(b"denyoom", flags, command)
            self.assertNotIn(b"movablekeys" if command != b"OLTR.CREATE" else b"", flags, command)

    def test_key_access(self):
        access = {b"RANK": b"RO", b"DUMP": b"RO", b"LEARN": b"RW", b"REM": b"RW", b"FORGET": b"RW", b"LOAD": b"OW",
                  b"CREATE": b"OW"}
        for name, flag in access.items():
            reply = self.redis.client.call("COMMAND", "GETKEYSANDFLAGS", b"OLTR." + name, "k", "a", "b", "c", "d", "e")
            self.assertEqual(reply[0][0], b"k")
            if flag == b"OW":
                self.assertTrue({b"OW", b"RW"} & set(reply[0][1]), name)
            else:
                self.assertIn(flag, reply[0][1], name)
        parent = self.redis.client.call("COMMAND", "GETKEYSANDFLAGS", "OLTR.CREATE", "k", "LIKE", "p")[1]
        self.assertEqual(parent[0], b"p")
        self.assertIn(b"RO", parent[1])

    def test_docs(self):
        for command in READING | WRITING:
            docs = fields(fields(self.call("COMMAND", "DOCS", command))[command.lower()])
            for part in (b"summary", b"complexity", b"since"):
                self.assertGreater(len(docs.get(part, b"")), 2, (command, part))
        listed = {c.upper() for c in self.call("COMMAND", "LIST", "FILTERBY", "MODULE", "oltr")}
        self.assertEqual(listed, READING | WRITING)

    def test_module_list(self):
        modules = [fields(m) for m in self.call("MODULE", "LIST")]
        modules = [m for m in modules if m[b"name"] == b"oltr"]  # some servers bring modules of their own
        self.assertEqual(len(modules), 1)
        self.assertGreater(modules[0][b"ver"], 0)


class Counts(Case):
    """INFO oltr."""

    NAMES = ["ranks", "learns", "duplicates", "merged", "refused", "unknown_ids", "removed", "grown", "longest_growth_us",
             "models", "bytes"]

    def setUp(self):
        super().setUp()
        self.client = self.server.client()

    def counts(self):
        info = self.server.info("oltr")
        return {name: int(info["oltr_" + name]) for name in self.NAMES}

    def moved(self, *commands):
        """What changed, by how much; bytes and times left out."""
        before = self.counts()
        replies = self.client.many(commands)
        after = self.counts()
        names = [n for n in self.NAMES if n not in ("bytes", "longest_growth_us", "grown")]
        return {n: after[n] - before[n] for n in names if after[n] != before[n]}, replies

    def test_counts(self):
        one = ("OLTR.LEARN", "m", "ITEMS", 2, "a", "b", "CLICKS", 0, "ID", "x")
        self.assertEqual(self.moved(("OLTR.CREATE", "m", "ts-beta"))[0], {"models": 1})
        self.assertEqual(self.moved(one)[0], {"learns": 1})
        self.assertEqual(self.moved(one, one)[0], {"duplicates": 2})
        self.assertEqual(self.moved(("OLTR.RANK", "m", 3, "ALL"))[0], {"ranks": 1})
        self.assertEqual(self.moved(("OLTR.RANK", "m", 3, "ITEMS", 3, "a", "new", "newer"))[0], {"ranks": 1, "unknown_ids": 2})
        self.assertEqual(self.moved(("OLTR.RANK", "m", 3, "FIXED", 1, "axyz"))[0], {"ranks": 1, "unknown_ids": 3})
        self.assertEqual(self.moved(("OLTR.REM", "m", "a", "none"))[0], {"removed": 1})
        self.assertEqual(self.moved(("OLTR.LEARN", "m", "ITEMS", 2, "c", "d", "CLICKS", 0),
                                    ("OLTR.TRIM", "m", "IDLE", 1))[0], {"learns": 1, "removed": 1})
        self.assertEqual(self.moved(("OLTR.MERGE", "m", self.image("m"), "ID", "y"))[0], {"merged": 1})
        self.assertEqual(self.moved(("OLTR.MERGE", "m", self.image("m"), "ID", "y"))[0], {"duplicates": 1})
        self.assertEqual(self.moved(("OLTR.LOAD", "n", self.image("m")))[0], {"models": 1})
        self.assertEqual(self.moved(("DEL", "n"))[0], {"models": -1})
        self.assertEqual(self.moved(("COPY", "m", "n"))[0], {"models": 1})
        for refused in (("OLTR.LEARN", "m", "ITEMS", 2, "a", "a", "CLICKS", 0), ("OLTR.RANK", "none", 3, "ALL"),
                        ("OLTR.CREATE", "m", "gts"), ("OLTR.RANK", "m", 0, "ALL"), ("OLTR.LOAD", "z", "x")):
            moved, replies = self.moved(refused)
            self.assertIsInstance(replies[0], ReplyError)
            self.assertEqual(moved, {"refused": 1}, refused)

    def test_growth(self):
        self.client.call("OLTR.CREATE", "m", "ts-beta")
        before = self.counts()
        for first in range(0, 4000, 500):
            self.client.call("OLTR.LEARN", "m", "FIXED", 6, b"".join(b"%06d" % i for i in range(first, first + 500)),
                             "CLICKS", 0)
        after = self.counts()
        self.assertGreater(after["grown"], before["grown"])
        self.assertGreaterEqual(after["longest_growth_us"], before["longest_growth_us"])
        self.assertGreater(after["bytes"], before["bytes"])
        self.client.call("OLTR.CREATE", "room", "ts-beta", "CAPACITY", 5000)
        before = self.counts()["grown"]
        self.client.call("OLTR.LEARN", "room", "FIXED", 6, b"".join(b"%06d" % i for i in range(500)), "CLICKS", 0)
        self.assertEqual(self.counts()["grown"], before)

    def test_restore_and_reload_do_not_count(self):
        kind = next(k for k in kinds(self.client) if k.name == "ts-beta")
        self.client.call(*kind.create("m"))
        teach(self.client, kind, "m", 20)
        payload = self.client.call("DUMP", "m")
        self.assertEqual(self.moved(("RESTORE", "n", 0, payload))[0], {"models": 1})
        self.assertEqual(self.moved(("DEBUG", "RELOAD"))[0], {})
        self.assertEqual(self.moved(("DEBUG", "LOADAOF"))[0], {})
        total = sum(fields(self.client.call("OLTR.INFO", key))[b"bytes"] for key in ("m", "n"))
        self.assertEqual(self.counts()["bytes"], total)


class Loading(unittest.TestCase):
    def test_unload(self):
        """A module with a type of its own cannot be unloaded; the server says so, and goes on."""
        with Server() as server:
            server.call("OLTR.CREATE", "m", "gts")
            with server.client() as client:
                reply = client.attempt("MODULE", "UNLOAD", "oltr")
                self.assertIsInstance(reply, ReplyError)
                self.assertEqual(client.call("OLTR.RANK", "m", 1, "ALL"), [])
                self.assertIsInstance(client.attempt("MODULE", "LOAD", module_path()), ReplyError)
                self.assertEqual(str(client.call("MODULE", "LIST")).count("oltr.so"), 1)

    def test_arguments_are_refused(self):
        """The module takes its settings as configuration; an argument would be ignored, so it is refused."""
        with Server(module_args=["max-slots", "5"], start=False) as server:
            self.assertIn("oltr", server.start_fails())

    def test_load_at_run_time(self):
        with Server(module=False) as server:
            server.call("MODULE", "LOAD", module_path())
            server.call("OLTR.CREATE", "m", "gts")
            dice = random.Random(1)
            with server.client() as client:
                for kind in kinds(client):
                    client.call(*kind.create(kind.name))
                    client.call(*kind.lesson(dice, kind.name))


if __name__ == "__main__":
    main()
