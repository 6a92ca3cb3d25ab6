"""commands_rank.py - RANK, PREDICT, EXPLAIN, PROPENSITY: lists in every form, shapes of replies in both
protocols, the rules of exploration, and refusals.
"""

import random
import struct

from contract import CANDIDATES, DIM, kinds, rows, teach
from probe import Case, fields, main

RANK = "OLTR.RANK"
ODD = [b"a", b"\0", b"\r\n", b"a\0b", b"\xff\xfe", b" ", b"$3\r\nabc\r\n", b"x" * 512]


class Ranking(Case):
    def setUp(self):
        super().setUp()
        self.call("OLTR.CREATE", "m", "ts-beta")
        self.call("OLTR.CREATE", "x", "lints", "DIM", DIM, "CANDIDATES", CANDIDATES)

    def learn(self, key="m", n=20):
        for i in range(n):
            self.call("OLTR.LEARN", key, "ITEMS", 3, f"i{i % 10}", f"i{(i + 1) % 10}", f"i{(i + 5) % 10}",
                      "CLICKS", 1, 1 + i % 3)

    def test_empty_model(self):
        self.assertEqual(self.call(RANK, "m", 10, "ALL"), [])
        self.assertEqual(self.call(RANK, "m", 10, "ALL", "WITHSCORES"), [])
        self.assertEqual(self.redis3.call(RANK, "m", 10, "ALL", "WITHSCORES"), [])
        self.assertEqual(self.call("OLTR.PREDICT", "m", "ALL"), [])
        self.assertEqual(self.call("OLTR.EXPLAIN", "m", "ALL"), [])
        self.assertEqual(self.call("OLTR.PROPENSITY", "m", 3, "ALL"), [])

    def test_forms_agree(self):
        self.learn()
        names = [f"i{i}".encode() for i in range(10)]
        by_items = self.call(RANK, "m", 10, "ITEMS", 10, *names, "SEED", "s")
        by_blob = self.call(RANK, "m", 10, "FIXED", 2, b"".join(names), "SEED", "s")
        self.assertEqual(by_items, by_blob)
        self.assertEqual(sorted(by_items), names)
        self.assertEqual(set(self.call(RANK, "m", 10, "ALL", "SEED", "s")), set(names))
        self.assertEqual(len(self.call(RANK, "m", 3, "ALL")), 3)
        self.assertEqual(len(self.call(RANK, "m", 1000, "ALL")), 10)

    def test_odd_names(self):
        self.call("OLTR.LEARN", "m", "ITEMS", len(ODD), *ODD, "CLICKS", 1, len(ODD))
        for probe in (self.redis, self.redis3):
            self.assertEqual(sorted(probe.call(RANK, "m", 50, "ALL")), sorted(ODD))
            self.assertEqual(sorted(probe.call(RANK, "m", 50, "ITEMS", len(ODD), *ODD)), sorted(ODD))
            self.assertEqual([row[0] for row in probe.call("OLTR.PREDICT", "m", "ITEMS", len(ODD), *ODD)], ODD)
        blob = b"\0\r\n*\r\n\0a$5\r\n"
        ids = [blob[i : i + 3] for i in range(0, 12, 3)]
        self.assertEqual(sorted(self.call(RANK, "m", 9, "FIXED", 3, blob)), sorted(ids))

    def test_scores(self):
        self.learn()
        two = self.redis.call(RANK, "m", 5, "ALL", "SEED", "s", "WITHSCORES")
        three = self.redis3.call(RANK, "m", 5, "ALL", "SEED", "s", "WITHSCORES")
        self.assertEqual(len(two), 10)
        self.assertEqual([[name, float(score)] for name, score in zip(two[::2], two[1::2])], three)
        for name, score in three:
            self.assertIsInstance(score, float)
        scores = [score for _, score in three]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertEqual(self.call(RANK, "m", 5, "ALL", "SEED", "s"), two[::2])

    def test_rows(self):
        dice = random.Random(1)
        blob = rows(dice, 5)
        for probe in (self.redis, self.redis3):
            self.assertEqual(sorted(probe.call(RANK, "x", 9, "FP32", blob)), [0, 1, 2, 3, 4])
        scored = self.redis3.call(RANK, "x", 2, "FP32", blob, "WITHSCORES", "SEED", "s")
        self.assertEqual([place for place, _ in scored], self.call(RANK, "x", 2, "FP32", blob, "SEED", "s"))
        predicted = self.call("OLTR.PREDICT", "x", "FP32", blob)
        self.assertEqual([row[0] for row in predicted], [0, 1, 2, 3, 4])

    def test_seed(self):
        self.learn()
        same = {tuple(self.call(RANK, "m", 10, "ALL", "SEED", "user 7")) for _ in range(5)}
        self.assertEqual(len(same), 1)
        texts = {tuple(self.call(RANK, "m", 10, "ALL", "SEED", f"user {i}")) for i in range(40)}
        self.assertGreater(len(texts), 20)
        unseeded = {tuple(self.call(RANK, "m", 10, "ALL")) for _ in range(40)}
        self.assertGreater(len(unseeded), 20)
        self.call(RANK, "m", 3, "ALL", "SEED", bytes(range(256)))
        self.assertNotEqual(self.call(RANK, "m", 10, "ALL", "SEED", b"a\0b"),
                            self.call(RANK, "m", 10, "ALL", "SEED", b"a\0c"))

    def test_seeds_of_two_processes_differ(self):
        self.learn()
        lists = []
        for _ in range(2):
            self.server.close_clients()
            self.server.restart()
            with self.server.client() as client:
                lists.append([client.call(RANK, "m", 10, "ALL") for _ in range(10)])
        self.server.begin_backlog()
        self.assertNotEqual(lists[0], lists[1])

    def test_greedy(self):
        self.learn(n=60)
        mean = {row[0]: float(row[1]) for row in self.call("OLTR.PREDICT", "m", "ALL")}
        scored = self.redis3.call(RANK, "m", 10, "ALL", "GREEDY", "WITHSCORES")
        self.assertEqual([mean[name] for name, _ in scored], sorted(mean.values(), reverse=True))
        self.assertEqual([score for _, score in scored], sorted(mean.values(), reverse=True))

    def test_fresh(self):
        self.learn(n=40)
        names = [f"i{i}" for i in range(10)] + [f"new{i}" for i in range(10)]
        for most in (0, 1, 3):
            for turn in range(10):
                shown = self.call(RANK, "m", 8, "ITEMS", 20, *names, "FRESH", most, 1, "SEED", turn)
                self.assertEqual(len(shown), 8)
                self.assertLessEqual(sum(n.startswith(b"new") for n in shown), most)
        for least in (2, 5):
            for turn in range(10):
                shown = self.call(RANK, "m", 8, "ITEMS", 20, *names, "SEED", turn, "FRESH", 8, 1, "LEAST", least)
                self.assertGreaterEqual(sum(n.startswith(b"new") for n in shown), least)
                shown = self.call(RANK, "m", 8, "ITEMS", 20, *names, "GREEDY", "FRESH", 8, 1, "LEAST", least)
                self.assertGreaterEqual(sum(n.startswith(b"new") for n in shown), least)
        # a page is never short: with too few others the fresh fill it
        self.assertEqual(len(self.call(RANK, "m", 15, "ITEMS", 20, *names, "FRESH", 0, 1)), 15)

    def test_options(self):
        self.learn()
        good = (RANK, "m", 3, "ITEMS", 3, "i1", "i2", "i3")
        order = [("SEED", "s"), ("WITHSCORES",), ("GREEDY",), ("FRESH", 2, 1, "LEAST", 1)]
        replies = []
        for turn in range(4):
            turned = order[turn:] + order[:turn]
            replies.append(self.call(*good, *(w for option in turned for w in option)))
        self.assertEqual(replies, replies[:1] * 4)
        self.assertEqual(self.call("oltr.rank", "m", 3, "items", 3, "i1", "i2", "i3", "seed", "s", "withscores", "greedy",
                                   "fresh", 2, 1, "least", 1), replies[0])
        for option in order:
            self.refused("BADARG", *good, *option, *option)
        self.refused("BADARG", *good, "SEED")
        self.refused("BADARG", *good, "FRESH")
        self.refused("BADARG", *good, "FRESH", 1)
        self.refused("BADARG", *good, "LEAST", 1)
        self.refused("BADARG", *good, "FRESH", 2, 1, "LEAST")
        self.refused("BADARG", *good, "WITHSCORE")
        self.refused("BADARG", *good, "DRAWS", 10)
        self.refused("BADARG", *good, "ID", "x")
        self.refused("BADARG", RANK, "m", 3, "SEED", "s", "ALL")
        for text in ("x", "-1", "1.5", "", "nan", "99999999999"):
            self.refused("BADARG", *good, "FRESH", text, 1)
            self.refused("BADARG", *good, "FRESH", 1, 1, "LEAST", text)
        for text in ("x", "-1", "", "nan"):
            self.refused("BADARG", *good, "FRESH", 1, text)
        self.refused("BADARG", *good, "FRESH", 1, 1, "LEAST", 2)

    def test_lists_that_are_wrong(self):
        for command in ((RANK, "m", 3), ("OLTR.PREDICT", "m"), ("OLTR.EXPLAIN", "m"), ("OLTR.PROPENSITY", "m", 3)):
            self.refused("BADARG", *command, "ITEMS", 3, "a", "b")
            self.refused("BADARG", *command, "ITEMS", 1, "a", "b")
            self.refused("BADARG", *command, "NAMES", 1, "a")
            for text in ("x", "-1", "", "1.5", "4294967297", "18446744073709551617"):
                self.refused("BADARG", *command, "ITEMS", text, "a")
            self.refused("BADITEM", *command, "ITEMS", 2, "a", "")
            self.refused("BADITEM", *command, "ITEMS", 2, "a", b"x" * 513)
            self.refused("BADSHAPE", *command, "FIXED", 3, "abcd")
            self.refused("BADSHAPE", *command, "FIXED", 3, "ab")
            for text in ("x", "-1", ""):
                self.refused("BADARG", *command, "FIXED", text, "ab")
            self.refused("BADARG|BADITEM|BADSHAPE", *command, "FIXED", 0, "")
            self.refused("BADARG|BADITEM|BADSHAPE", *command, "FIXED", 513, b"x" * 513)
            self.refused("BADARG", *command, "FIXED", 3)
            self.refused("BADARG", *command, "FP32")
            self.refused("NOTFOUND", command[0], "none", *command[2:], "ALL")
        for command in ((RANK, "m", 3), ("OLTR.PROPENSITY", "m", 3)):
            self.refused("BADITEM", *command, "ITEMS", 3, "a", "b", "a")
            self.refused("BADITEM", *command, "ITEMS", 2, b"\0", b"\0")
            self.refused("BADITEM", *command, "FIXED", 2, "aabbaa")
        self.learn()
        self.refused("BADITEM", RANK, "m", 3, "ITEMS", 2, "i1", "i1")  # known names too
        self.call(RANK, "m", 3, "FIXED", 512, b"x" * 512 + b"y" * 512)
        self.call("SET", "text", "x")
        for command in ((RANK, "text", 3), ("OLTR.PREDICT", "text"), ("OLTR.EXPLAIN", "text"),
                        ("OLTR.PROPENSITY", "text", 3)):
            self.refused("WRONGTYPE", *command, "ALL")

    def test_form_of_the_kind(self):
        for command in ((RANK, "m", 3), ("OLTR.PREDICT", "m"), ("OLTR.EXPLAIN", "m"), ("OLTR.PROPENSITY", "m", 3)):
            self.refused("BADFEATURE", *command, "FP32", b"\0" * 16)
        for command in ((RANK, "x", 3), ("OLTR.PREDICT", "x"), ("OLTR.EXPLAIN", "x"), ("OLTR.PROPENSITY", "x", 3)):
            for form in (("ALL",), ("ITEMS", 1, "a"), ("FIXED", 1, "a")):
                self.refused("BADFEATURE|UNSUPPORTED", *command, *form)
            self.refused("BADSHAPE", *command, "FP32", b"\0" * 15)
            self.refused("BADSHAPE", *command, "FP32", b"\0" * 20)
            for value in (float("nan"), float("inf"), 2e6):
                row = struct.pack("<8f", 0, 0, 0, 0, 0, value, 0, 0)
                draws = ("DRAWS", 5) if command[0] == "OLTR.PROPENSITY" else ()
                self.refused("BADFEATURE", *command, "FP32", row, *draws)
        self.refused("BADITEM|TOOBIG|BADSHAPE|BADARG", RANK, "x", 3, "FP32", b"\0" * 16 * (CANDIDATES + 1))

    def test_unaligned_rows(self):
        """Features arrive at any address."""
        blob = rows(random.Random(3), 6)
        want = self.call(RANK, "x", 6, "FP32", blob, "SEED", "s")
        for size in range(1, 9):
            self.assertEqual(self.call(RANK, "x", 6, "FP32", blob, "SEED", "s"), want)
            self.call("OLTR.CREATE", b"x" * (size + 1), "lints", "DIM", DIM, "CANDIDATES", CANDIDATES)
            self.assertEqual(self.call(RANK, b"x" * (size + 1), 6, "FP32", blob, "SEED", "s"), want)

    def test_slots(self):
        self.learn()
        for text in ("0", "-1", "x", "", "1.5", "nan", b"3\0", "18446744073709551617"):
            self.refused("BADARG", RANK, "m", text, "ALL")
            self.refused("BADARG", "OLTR.PROPENSITY", "m", text, "ALL")
        self.refused("TOOBIG", RANK, "m", 1001, "ALL")
        self.refused("TOOBIG", "OLTR.PROPENSITY", "m", 1001, "ALL")
        self.refused("ERR", RANK, "m", 3)
        self.refused("ERR", "OLTR.PREDICT", "m")
        self.refused("ERR", "OLTR.EXPLAIN", "m")
        self.refused("ERR", "OLTR.PROPENSITY", "m", 3)

    def test_every_kind(self):
        dice = random.Random(5)
        for kind in kinds(self.redis):
            key = "k:" + kind.name
            self.call(*kind.create(key))
            teach(self.redis.client, kind, key, 10)
            listed = kind.some(dice, 6)
            shown = self.redis3.call(RANK, key, 4, *listed, "WITHSCORES", "SEED", 1)
            self.assertEqual(len(shown), 4, kind.name)
            for _, score in shown:
                self.assertEqual(score, score, kind.name)
            reply = self.redis3.attempt("OLTR.PREDICT", key, *listed)
            if isinstance(reply, list):
                for _, mean, sd in reply:
                    self.assertTrue(abs(mean) < 1e30 and 0 <= sd < 1e30, kind.name)
            else:
                self.assertEqual(reply.word, "UNSUPPORTED", kind.name)
            self.assertEqual(len(self.call("OLTR.EXPLAIN", key, *listed)), 6)
            drawn = self.redis3.call("OLTR.PROPENSITY", key, 4, *listed, "DRAWS", 500, "SEED", 1)
            self.assertAlmostEqual(sum(row[1] for row in drawn), 4, delta=1e-9, msg=kind.name)
            self.assertAlmostEqual(sum(row[2] for row in drawn), 1, delta=1e-9, msg=kind.name)


class Predicting(Case):
    def setUp(self):
        super().setUp()
        self.call("OLTR.CREATE", "m", "ts-beta", "PRIOR", 2, 6, "SET", "prior", "full")
        self.call("OLTR.LEARN", "m", "ITEMS", 2, "a", "b", "CLICKS", 1, 2)

    def test_predict(self):
        two, three = (p.call("OLTR.PREDICT", "m", "ITEMS", 3, "b", "a", "new") for p in (self.redis, self.redis3))
        self.assertEqual([[n, float(m), float(s)] for n, m, s in two], three)
        self.assertEqual([row[0] for row in three], [b"b", b"a", b"new"])
        self.assertAlmostEqual(three[0][1], 3 / 9, places=15)
        self.assertAlmostEqual(three[1][1], 2 / 9, places=15)
        self.assertAlmostEqual(three[2][1], 2 / 8, places=15)
        self.assertEqual([row[0] for row in self.call("OLTR.PREDICT", "m", "ALL")], [b"a", b"b"])

    def test_explain(self):
        names = [b"item", b"known", b"mean", b"sd", b"examined", b"reward", b"prior_mean", b"prior_sd", b"prior_share",
                 b"last"]
        two, three = (p.call("OLTR.EXPLAIN", "m", "ITEMS", 2, "b", "new") for p in (self.redis, self.redis3))
        self.assertEqual([list(row) for row in three], [names, names])
        self.assertEqual([row[::2] for row in two], [names, names])
        b, new = three
        self.assertEqual((b[b"item"], b[b"known"], b[b"examined"], b[b"reward"], b[b"last"]), (b"b", 1, 1.0, 1.0, 1))
        self.assertEqual((new[b"item"], new[b"known"], new[b"examined"]), (b"new", 0, 0.0))
        self.assertAlmostEqual(b[b"prior_mean"], 0.25, places=15)
        self.assertAlmostEqual(b[b"prior_share"], 8 / 9, places=12)
        self.assertEqual(new[b"prior_share"], 1.0)

    def test_numbers_that_a_kind_does_not_have(self):
        self.call("OLTR.CREATE", "r", "random")
        self.call("OLTR.LEARN", "r", "ITEMS", 1, "a", "CLICKS", 0)
        for probe in (self.redis, self.redis3):
            row = fields(probe.call("OLTR.EXPLAIN", "r", "ITEMS", 1, "a")[0])
            self.assertIsNone(row[b"mean"])
            self.assertIsNone(row[b"sd"])
        self.refused("UNSUPPORTED", "OLTR.PREDICT", "r", "ITEMS", 1, "a")

    def test_propensity(self):
        exact = self.redis3.call("OLTR.PROPENSITY", "m", 2, "ITEMS", 4, "a", "b", "c", "d")
        self.assertEqual([row[0] for row in exact], [b"a", b"b", b"c", b"d"])
        self.assertAlmostEqual(sum(row[1] for row in exact), 2, delta=1e-8)
        self.assertAlmostEqual(sum(row[2] for row in exact), 1, delta=1e-8)
        drawn = self.redis3.call("OLTR.PROPENSITY", "m", 2, "ITEMS", 4, "a", "b", "c", "d", "DRAWS", 65536, "SEED", "s")
        for a, b in zip(exact, drawn):
            self.assertAlmostEqual(a[1], b[1], delta=0.012)  # six standard errors of 65,536 draws
        flat = self.redis.call("OLTR.PROPENSITY", "m", 2, "ITEMS", 4, "a", "b", "c", "d")
        self.assertEqual([[n, float(p), float(f)] for n, p, f in flat], exact)
        greedy = self.redis3.call("OLTR.PROPENSITY", "m", 1, "ITEMS", 2, "a", "b", "GREEDY")
        self.assertEqual(greedy, [[b"a", 0.0, 0.0], [b"b", 1.0, 1.0]])
        ruled = self.redis3.call("OLTR.PROPENSITY", "m", 2, "ITEMS", 4, "a", "b", "c", "d", "FRESH", 1, 1, "LEAST", 1)
        self.assertAlmostEqual(sum(row[1] for row in ruled[2:]), 1, delta=1e-8)

    def test_draws(self):
        good = ("OLTR.PROPENSITY", "m", 2, "ALL")
        for text in ("x", "-1", "", "1.5", "99999999999"):
            self.refused("BADARG|TOOBIG", *good, "DRAWS", text)
        self.refused("TOOBIG", *good, "DRAWS", 65537)
        self.refused("BADARG", *good, "DRAWS", 10, "DRAWS", 10)
        self.refused("BADARG", *good, "DRAWS")
        self.refused("BADARG", *good, "WITHSCORES")
        names = [f"n{i}" for i in range(257)]
        self.refused("TOOBIG", "OLTR.PROPENSITY", "m", 2, "ITEMS", 257, *names)
        self.call("OLTR.PROPENSITY", "m", 2, "ITEMS", 256, *names[:256])
        self.call("OLTR.PROPENSITY", "m", 2, "ITEMS", 256, *names[:256], "DRAWS", 4096)
        self.refused("TOOBIG", "OLTR.PROPENSITY", "m", 2, "ITEMS", 257, *names, "DRAWS", 4096)
        self.call("OLTR.CREATE", "c", "ts-cascade")
        self.refused("UNSUPPORTED", "OLTR.PROPENSITY", "c", 1, "ITEMS", 2, "a", "b", text="DRAWS")
        self.call("OLTR.PROPENSITY", "c", 1, "ITEMS", 2, "a", "b", "DRAWS", 50)


if __name__ == "__main__":
    main()
