"""commands_learn.py - LEARN in all its forms and refusals, FORGET, lessons that count once."""

import random
import struct

from contract import CANDIDATES, DIM, kinds, rows
from probe import Case, fields, main

LEARN = "OLTR.LEARN"
GARBAGE = ("x", "", "1.5", "-1", "nan", "1e0", "0x1", " 1", "18446744073709551617", b"1\0")


class Learn(Case):
    def setUp(self):
        super().setUp()
        self.call("OLTR.CREATE", "m", "ts-beta")
        self.call("OLTR.CREATE", "g", "gts")
        self.call("OLTR.CREATE", "x", "lints", "DIM", DIM, "CANDIDATES", CANDIDATES)

    def seen(self, key="m"):
        """{item: (examined, reward)}"""
        rows_ = [fields(row) for row in self.redis3.call("OLTR.EXPLAIN", key, "ALL")]
        return {row[b"item"].decode(): (row[b"examined"], row[b"reward"]) for row in rows_}

    def test_clicks(self):
        self.assertEqual(self.call(LEARN, "m", "ITEMS", 3, "a", "b", "c", "CLICKS", 1, 2), 1)
        self.assertEqual(self.seen(), {"a": (1, 0), "b": (1, 1), "c": (0, 0)})  # the cascade
        self.assertEqual(self.call(LEARN, "m", "ITEMS", 3, "a", "b", "c", "CLICKS", 0), 1)
        self.assertEqual(self.seen(), {"a": (2, 0), "b": (2, 1), "c": (1, 0)})
        self.assertEqual(self.lessons("m"), 2)

    def test_rules(self):
        for rule, c in (("LAST", (1, 1)), ("ALL", (1, 1)), ("CASCADE", (0, 0))):
            self.call("OLTR.CREATE", rule, "ts-beta", "EXAMINE", rule)
            self.call(LEARN, rule, "ITEMS", 4, "a", "b", "c", "d", "CLICKS", 2, 1, 3)
            seen = self.seen(rule)
            self.assertEqual(seen["a"], (1, 1), rule)
            self.assertEqual(seen["c"], c, rule)
            self.assertEqual(seen["d"], (int(rule == "ALL"), 0), rule)

    def test_seen_and_examined(self):
        self.call(LEARN, "m", "ITEMS", 4, "a", "b", "c", "d", "CLICKS", 1, 1, "SEEN", 3)
        self.assertEqual(self.seen(), {"a": (1, 1), "b": (1, 0), "c": (1, 0), "d": (0, 0)})
        self.call(LEARN, "m", "ITEMS", 4, "a", "b", "c", "d", "EXAMINED", 2, 4, 2, "CLICKS", 1, 4)
        self.assertEqual(self.seen(), {"a": (1, 1), "b": (2, 0), "c": (1, 0), "d": (1, 1)})
        four = (LEARN, "m", "ITEMS", 4, "a", "b", "c", "d")
        self.refused("BADARG", *four, "CLICKS", 1, 4, "SEEN", 3)
        self.refused("BADARG", *four, "CLICKS", 1, 4, "SEEN", 0)
        self.refused("BADARG", *four, "CLICKS", 1, 1, "EXAMINED", 1, 2)
        self.refused("BADARG", *four, "CLICKS", 0, "SEEN", 5)
        self.refused("BADARG", *four, "CLICKS", 0, "EXAMINED", 1, 5)
        self.refused("BADARG", *four, "CLICKS", 0, "EXAMINED", 1, 0)
        self.refused("BADARG", *four, "CLICKS", 0, "EXAMINED", 2, 1, 1)
        self.refused("BADARG", *four, "CLICKS", 0, "EXAMINED", 3, 1, 2)
        self.refused("BADARG", *four, "CLICKS", 0, "EXAMINED", 5, 1, 2, 3, 4, 5)
        self.refused("BADARG", *four, "CLICKS", 0, "SEEN", 2, "EXAMINED", 1, 1)
        for text in GARBAGE:
            self.refused("BADARG", *four, "CLICKS", 0, "SEEN", text)
            self.refused("BADARG", *four, "CLICKS", 0, "EXAMINED", text, 1)
            self.refused("BADARG", *four, "CLICKS", 0, "EXAMINED", 1, text)
            self.refused("BADARG", *four, "CLICKS", text, 1)
            self.refused("BADARG", *four, "CLICKS", 1, text)

    def test_positions(self):
        three = (LEARN, "m", "ITEMS", 3, "a", "b", "c")
        self.refused("BADARG", *three, "CLICKS", 1, 0)
        self.refused("BADARG", *three, "CLICKS", 1, 4)
        self.refused("BADARG", *three, "CLICKS", 2, 1, 1)
        self.refused("BADARG", *three, "CLICKS", 2, 1)
        self.refused("BADARG", *three, "CLICKS", 1, 1, 2)
        self.refused("BADARG", *three, "CLICKS", 4, 1, 2, 3, 4)
        self.refused("BADARG", *three, "CLICKS", 1000000000, 1)
        self.refused("BADARG", *three, "CLICKS")
        self.refused("BADARG", *three, "SEEN", 3)
        self.refused("BADARG", *three, "CLICKS", 1, 1, "REWARDS", 1, 0, 0)
        self.refused("BADARG", *three, "CLICKS", 1, 1, "CLICKS", 1, 1)
        self.refused("BADARG", *three, "CLICKS", 1, 1, "UNKNOWN", 1)
        self.assertEqual(self.call(LEARN, "m", "ITEMS", 3, "a", "b", "c", "CLICKS", 2, 3, 1), 1)  # any order

    def test_rewards(self):
        self.call(LEARN, "g", "ITEMS", 3, "a", "b", "c", "REWARDS", 0.5, -2, 0, "EXAMINED", 3, 1, 2, 3)
        self.assertEqual(self.seen("g"), {"a": (1, 0.5), "b": (1, -2), "c": (1, 0)})
        self.call(LEARN, "m", "ITEMS", 2, "a", "b", "REWARDS", 0, 1)
        self.assertEqual(self.seen(), {"a": (1, 0), "b": (1, 1)})
        two = ("ITEMS", 2, "a", "b")
        self.refused("BADREWARD", LEARN, "m", *two, "REWARDS", 0, 0.5)
        self.refused("BADREWARD", LEARN, "g", *two, "REWARDS", 0, "1e31")
        for text in ("nan", "inf", "-inf"):
            self.refused("BADREWARD|BADARG", LEARN, "g", *two, "REWARDS", 0, text)
        for text in ("x", "", "1x", b"1\0", "0x", " 1"):
            self.refused("BADREWARD|BADARG", LEARN, "g", *two, "REWARDS", 0, text)
        self.refused("BADARG", LEARN, "g", *two, "REWARDS", 1)
        self.refused("BADARG", LEARN, "g", *two, "REWARDS", 1, 0, 0)
        self.refused("BADARG", LEARN, "g", *two, "REWARDS")
        self.refused("BADARG", LEARN, "g", *two, "REWARDS", 1, 0, "REWARDS", 1, 0)

    def test_weights(self):
        self.call(LEARN, "m", "ITEMS", 2, "a", "b", "CLICKS", 1, 2, "WEIGHTS", 2, 0.5)
        self.assertEqual(self.seen(), {"a": (2, 0), "b": (0.5, 0.5)})
        two = (LEARN, "m", "ITEMS", 2, "a", "b", "CLICKS", 0)
        for text in ("0", "-1", "1e7"):
            self.refused("BADREWARD", *two, "WEIGHTS", 1, text)
        for text in ("nan", "inf", "x", ""):
            self.refused("BADREWARD|BADARG", *two, "WEIGHTS", 1, text)
        self.refused("BADARG", *two, "WEIGHTS", 1)
        self.refused("BADARG", *two, "WEIGHTS", 1, 1, 1)
        self.refused("BADARG", *two, "WEIGHTS", 1, 1, "WEIGHTS", 1, 1)

    def test_ids(self):
        one = (LEARN, "m", "ITEMS", 1, "a", "CLICKS", 0)
        for ident in (b"id", b"\0", b"\r\n", b"x" * 512, bytes(range(256))):
            self.assertEqual(self.call(*one, "ID", ident), 1)
            self.assertEqual(self.call(*one, "ID", ident), 0)
            self.assertEqual(self.call("oltr.learn", "m", "items", 1, "b", "id", ident, "clicks", 1, 1), 0)
        self.assertEqual(self.lessons("m"), 5)
        self.refused("BADITEM", *one, "ID", b"x" * 513)
        self.refused("BADITEM|BADARG", *one, "ID", "")
        self.refused("BADARG", *one, "ID")
        self.refused("BADARG", *one, "ID", "a", "ID", "b")

    def test_a_wrong_lesson_is_refused_though_its_id_is_known(self):
        """Either answer leaves the model alone; the probe sees to that."""
        one = (LEARN, "m", "ITEMS", 1, "a")
        self.call(*one, "CLICKS", 0, "ID", "i")
        self.refused("BADARG", *one, "CLICKS", 1, 2, "ID", "i")

    def test_window(self):
        self.call("OLTR.CREATE", "w", "ts-beta", "WINDOW", 3)
        learn = lambda ident: self.call(LEARN, "w", "ITEMS", 1, "a", "CLICKS", 0, "ID", ident)
        self.assertEqual([learn(i) for i in "abc"], [1, 1, 1])
        self.assertEqual([learn(i) for i in "abc"], [0, 0, 0])
        self.assertEqual(learn("d"), 1)
        self.assertEqual([learn("a"), learn("c"), learn("d")], [1, 0, 0])
        self.call("OLTR.CREATE", "n", "ts-beta", "WINDOW", 0)
        for _ in range(2):
            self.assertEqual(self.call(LEARN, "n", "ITEMS", 1, "a", "CLICKS", 0, "ID", "i"), 1)

    def test_lists(self):
        clicks = ("CLICKS", 0)
        self.refused("BADARG", LEARN, "m", "ALL", *clicks)
        self.refused("BADITEM", LEARN, "m", "ITEMS", 2, "a", "a", *clicks)
        self.refused("BADITEM", LEARN, "m", "ITEMS", 1, "", *clicks)
        self.refused("BADITEM", LEARN, "m", "ITEMS", 1, b"x" * 513, *clicks)
        self.refused("BADITEM", LEARN, "m", "FIXED", 2, "aabbaa", *clicks)
        self.refused("BADSHAPE", LEARN, "m", "FIXED", 2, "aab", *clicks)
        self.refused("BADFEATURE", LEARN, "m", "FP32", b"\0" * 16, *clicks)
        self.refused("BADSHAPE", LEARN, "x", "FP32", b"\0" * 17, *clicks)
        self.refused("BADFEATURE", LEARN, "x", "FP32", struct.pack("<4f", 0, float("nan"), 0, 0), *clicks)
        self.refused("BADFEATURE|UNSUPPORTED", LEARN, "x", "ITEMS", 1, "a", *clicks)
        for empty in (("ITEMS", 0), ("FIXED", 3, "")):
            self.refused("BADARG|BADSHAPE|BADITEM", LEARN, "m", *empty, *clicks)
        self.refused("BADARG|BADSHAPE", LEARN, "x", "FP32", "", *clicks)
        self.assertEqual(self.call(LEARN, "m", "FIXED", 512, b"x" * 512 + b"y" * 512, *clicks), 1)
        self.assertEqual(self.call(LEARN, "x", "FP32", rows(random.Random(1), CANDIDATES), *clicks), 1)
        self.refused("NOTFOUND", LEARN, "none", "ITEMS", 1, "a", *clicks)
        self.assertEqual(self.call("EXISTS", "none"), 0)
        self.call("SET", "text", "x")
        self.refused("WRONGTYPE", LEARN, "text", "ITEMS", 1, "a", *clicks)
        self.refused("ERR", LEARN, "m")

    def test_names_with_words_of_the_command(self):
        """What is in a list is never taken for an option."""
        names = ["CLICKS", "REWARDS", "ID", "SEEN", "ALL", "ITEMS"]
        self.assertEqual(self.call(LEARN, "m", "ITEMS", 6, *names, "CLICKS", 1, 6), 1)
        self.assertEqual(set(self.seen()), set(names))
        self.assertEqual(self.call(LEARN, "m", "ITEMS", 1, "CLICKS", "CLICKS", 0, "ID", "CLICKS"), 1)

    def test_full(self):
        self.call("OLTR.CREATE", "f", "ts-beta", "MAXITEMS", 3)
        self.assertEqual(self.call(LEARN, "f", "ITEMS", 2, "a", "b", "CLICKS", 0), 1)
        self.refused("FULL", LEARN, "f", "ITEMS", 3, "a", "c", "d", "CLICKS", 0)
        self.assertEqual(self.call(LEARN, "f", "ITEMS", 2, "c", "a", "CLICKS", 0), 1)
        self.refused("FULL", LEARN, "f", "ITEMS", 1, "d", "CLICKS", 0, "ID", "retry")
        self.assertEqual(self.call("OLTR.REM", "f", "a"), 1)
        self.assertEqual(self.call(LEARN, "f", "ITEMS", 1, "d", "CLICKS", 0, "ID", "retry"), 1)

    def test_slots(self):
        names = [f"n{i}" for i in range(1001)]
        self.assertEqual(self.call(LEARN, "m", "ITEMS", 1000, *names[:1000], "CLICKS", 1, 1000), 1)
        self.refused("TOOBIG", LEARN, "m", "ITEMS", 1001, *names, "CLICKS", 0)

    def test_every_kind(self):
        dice = random.Random(2)
        for kind in kinds(self.redis):
            key = "k:" + kind.name
            self.call(*kind.create(key))
            for turn in range(12):
                self.assertEqual(self.call(*kind.lesson(dice, key, f"id{turn}")), 1, kind.name)
            self.assertEqual(self.lessons(key), 12)
            self.assertEqual(self.call(*kind.lesson(dice, key, "id3")), 0, kind.name)


class Forget(Case):
    def test_forget(self):
        for kind in kinds(self.redis):
            key = "k:" + kind.name
            self.call(*kind.create(key))
            for turn in range(5):
                self.call(*kind.lesson(random.Random(turn), key))
            reply = self.redis.attempt("OLTR.FORGET", key, 0.5, "ID", "tick")
            if not kind.forgets:
                self.assertEqual(reply.word, "UNSUPPORTED", kind.name)
                continue
            self.assertEqual(reply, 1, kind.name)
            self.assertEqual(self.call("OLTR.FORGET", key, 0.5, "ID", "tick"), 0)
            self.assertEqual(self.call("oltr.forget", key, 0), 1)

    def test_refusals(self):
        self.call("OLTR.CREATE", "m", "ts-beta")
        for text in ("-0.1", "1.1", "nan", "inf", "x", ""):
            self.refused("BADARG", "OLTR.FORGET", "m", text)
        self.refused("BADARG", "OLTR.FORGET", "m", 0.5, "ID")
        self.refused("BADARG", "OLTR.FORGET", "m", 0.5, "ID", "a", "ID", "b")
        self.refused("BADARG", "OLTR.FORGET", "m", 0.5, "IDS", "a")
        self.refused("BADITEM", "OLTR.FORGET", "m", 0.5, "ID", b"x" * 513)
        self.refused("NOTFOUND", "OLTR.FORGET", "none", 0.5)
        self.refused("ERR", "OLTR.FORGET", "m")


if __name__ == "__main__":
    main()
