"""commands_items.py - PRIOR, REM, RESET, TRIM, SCAN: items that come and go, all or none."""

import random

from contract import CANDIDATES, DIM
from probe import Case, fields, main


class Items(Case):
    def setUp(self):
        super().setUp()
        self.call("OLTR.CREATE", "m", "ts-beta", "PRIOR", 2, 6, "SET", "prior", "full")
        self.call("OLTR.CREATE", "n", "ts-beta")
        self.call("OLTR.CREATE", "x", "lints", "DIM", DIM, "CANDIDATES", CANDIDATES)
        self.call("SET", "text", "x")

    def learn(self, *names, key="m", clicks=()):
        return self.call("OLTR.LEARN", key, "ITEMS", len(names), *names, "CLICKS", len(clicks), *clicks)

    def names(self, key="m"):
        return self.call("OLTR.RANK", key, 1000, "ALL")

    def explain(self, name, key="m"):
        return fields(self.redis3.call("OLTR.EXPLAIN", key, "ITEMS", 1, name)[0])

    def test_prior(self):
        self.learn("a", "b")
        self.assertEqual(self.call("OLTR.PRIOR", "m", "a", 1, 9, "new", 3, 1), 2)
        self.assertEqual(sorted(self.names()), [b"a", b"b", b"new"])
        a = self.explain("a")
        self.assertAlmostEqual(a[b"prior_mean"], 0.1, places=12)
        self.assertEqual(a[b"examined"], 1)  # what was learned stays
        self.assertAlmostEqual(self.explain("new")[b"mean"], 0.75, places=12)

    def test_prior_all_or_none(self):
        self.learn("a")
        for bad in (("b", 0, 1), ("b", "nan", 1), ("b", -1, 1), ("b", "inf", 1), ("b", "x", 1), ("b", "", 1)):
            self.refused("BADPRIOR|BADARG", "OLTR.PRIOR", "m", "a", 1, 9, "c", 1, 1, *bad)
        self.refused("BADPRIOR", "OLTR.PRIOR", "m", "a", 1, 9, "b", 0, 1)
        self.refused("BADITEM", "OLTR.PRIOR", "m", "a", 1, 9, "", 1, 1)
        self.refused("BADITEM", "OLTR.PRIOR", "m", "a", 1, 9, b"x" * 513, 1, 1)
        self.refused("BADITEM", "OLTR.PRIOR", "m", "a", 1, 9, "a", 1, 1)
        self.assertEqual(self.names(), [b"a"])
        self.call("OLTR.CREATE", "f", "ts-beta", "MAXITEMS", 2, "PRIOR", 2, 6, "SET", "prior", "full")
        self.refused("FULL", "OLTR.PRIOR", "f", "a", 1, 1, "b", 1, 1, "c", 1, 1)
        self.assertEqual(self.names("f"), [])
        self.assertEqual(self.call("OLTR.PRIOR", "f", "a", 1, 1, "b", 1, 1), 2)

    def test_prior_refusals(self):
        self.refused("BADPRIOR", "OLTR.PRIOR", "n", "a", 1, 1)  # made without priors
        self.refused("UNSUPPORTED", "OLTR.PRIOR", "x", "a", 1, 1)
        self.refused("NOTFOUND", "OLTR.PRIOR", "none", "a", 1, 1)
        self.refused("WRONGTYPE", "OLTR.PRIOR", "text", "a", 1, 1)
        self.refused("ERR", "OLTR.PRIOR", "m", "a", 1)
        self.refused("BADARG|ERR", "OLTR.PRIOR", "m", "a", 1, 1, "b", 1)

    def test_rem(self):
        self.learn("a", "b", "c", clicks=(3,))
        self.assertEqual(self.call("OLTR.REM", "m", "none"), 0)
        self.assertEqual(self.call("OLTR.REM", "m", "a", "none", "c"), 2)
        self.assertEqual(self.names(), [b"b"])
        self.assertEqual(self.call("OLTR.REM", "m", "a"), 0)
        self.assertEqual(self.explain("a")[b"known"], 0)
        self.assertEqual(self.call("OLTR.REM", "m", "b", "b"), 1)
        self.assertEqual(self.names(), [])
        self.assertEqual(self.lessons("m"), 1)

    def test_reset(self):
        self.learn("a", "b", clicks=(2,))
        self.call("OLTR.PRIOR", "m", "a", 1, 9)
        self.assertEqual(self.call("OLTR.RESET", "m", "none"), 0)
        self.assertEqual(self.call("OLTR.RESET", "m", "a", "none"), 1)
        a = self.explain("a")
        self.assertEqual((a[b"examined"], a[b"known"]), (0, 1))
        self.assertAlmostEqual(a[b"mean"], 0.1, places=12)
        self.assertEqual(self.explain("b")[b"examined"], 1)

    def test_rem_and_reset_refusals(self):
        for command in ("OLTR.REM", "OLTR.RESET"):
            self.refused("UNSUPPORTED", command, "x", "a")
            self.refused("NOTFOUND", command, "none", "a")
            self.refused("WRONGTYPE", command, "text", "a")
            self.refused("BADITEM", command, "m", "")
            self.refused("BADITEM", command, "m", "a", b"x" * 513)
            self.refused("ERR", command, "m")

    def test_trim(self):
        self.learn("old", "both")
        for _ in range(5):
            self.learn("both", "new")
        self.assertEqual(self.call("OLTR.TRIM", "m", "IDLE", 6), 0)
        self.assertEqual(self.call("oltr.trim", "m", "idle", 5), 1)
        self.assertEqual(sorted(self.names()), [b"both", b"new"])
        self.assertEqual(self.call("OLTR.TRIM", "m", "IDLE", 1), 0)
        self.assertEqual(self.call("OLTR.TRIM", "m", "IDLE", (1 << 63) - 1), 0)
        for text in ("0", "-1", "x", "", "1.5", "nan"):
            self.refused("BADARG", "OLTR.TRIM", "m", "IDLE", text)
        self.refused("BADARG", "OLTR.TRIM", "m", "IDLES", 1)
        self.refused("UNSUPPORTED", "OLTR.TRIM", "x", "IDLE", 1)
        self.refused("NOTFOUND", "OLTR.TRIM", "none", "IDLE", 1)
        self.refused("WRONGTYPE", "OLTR.TRIM", "text", "IDLE", 1)
        self.refused("ERR", "OLTR.TRIM", "m", "IDLE")
        self.refused("ERR", "OLTR.TRIM", "m", "IDLE", 1, 1)

    def scan(self, key="m", between=lambda: None, **count):
        """All ids of a whole scan; between is called after each step."""
        cursor, found, steps = "0", [], 0
        options = [w for pair in count.items() for w in pair]
        while True:
            cursor, ids = self.call("OLTR.SCAN", key, cursor, *options)
            found += ids
            steps += 1
            self.assertLess(steps, 10000)
            if cursor in (b"0", 0):
                return found
            between()

    def test_scan(self):
        self.assertEqual(self.scan(), [])
        names = [b"n%03d" % i for i in range(100)]
        for i in range(0, 100, 10):
            self.learn(*names[i : i + 10])
        for options in ({}, {"COUNT": 1}, {"count": 7}, {"COUNT": 99}, {"COUNT": 100}, {"COUNT": 16384}):
            self.assertEqual(sorted(self.scan(**options)), names, options)
        self.assertEqual(self.scan("x"), [])

    def test_scan_under_removal(self):
        """Items that are there during the whole scan are returned, whatever is removed meanwhile."""
        names = [b"n%03d" % i for i in range(60)]
        for seed in range(6):
            dice = random.Random(seed)
            self.call("DEL", "m")
            self.call("OLTR.CREATE", "m", "ts-beta")
            for i in range(0, 60, 10):
                self.learn(*names[i : i + 10])
            left = set(names)

            def remove():
                for name in dice.sample(sorted(left), min(len(left), dice.randint(0, 4))):
                    left.discard(name)
                    self.call("OLTR.REM", "m", name)

            found = self.scan(COUNT=3, between=remove)
            self.assertLessEqual(left, set(found), seed)

    def test_scan_refusals(self):
        self.learn("a")
        for text in ("x", "-1", "", "1.5", "18446744073709551617"):
            self.refused("BADARG", "OLTR.SCAN", "m", text)
        for text in ("x", "-1", "", "0", "1.5"):
            self.refused("BADARG", "OLTR.SCAN", "m", 0, "COUNT", text)
        self.refused("BADARG", "OLTR.SCAN", "m", 0, "COUNT")
        self.refused("BADARG", "OLTR.SCAN", "m", 0, "COUNTS", 1)
        self.refused("BADARG", "OLTR.SCAN", "m", 0, "COUNT", 1, "COUNT", 1)
        self.refused("TOOBIG", "OLTR.SCAN", "m", 0, "COUNT", 16385)
        self.refused("NOTFOUND", "OLTR.SCAN", "none", 0)
        self.refused("WRONGTYPE", "OLTR.SCAN", "text", 0)
        self.refused("ERR", "OLTR.SCAN", "m")
        cursor, ids = self.call("OLTR.SCAN", "m", 4000000000)  # a cursor of items that are gone
        self.assertIn(cursor, (b"0", 0))
        self.assertLessEqual(set(ids), {b"a"})


if __name__ == "__main__":
    main()
