"""commands_create.py - OLTR.CREATE, its options and refusals; CREATE LIKE; INFO and KINDS."""

from contract import CANDIDATES, DIM, kinds, teach
from probe import Case, fields, main

CREATE = "OLTR.CREATE"


class Create(Case):
    def absent(self, key):
        self.assertEqual(self.call("EXISTS", key), 0)

    def test_every_servable_kind(self):
        made = kinds(self.redis)
        self.assertGreater(len(made), 14)
        for kind in made:
            self.assertEqual(self.call(*kind.create(kind.name)), b"OK")
            self.assertEqual(self.call("TYPE", kind.name), b"oltrmodel")
            info = fields(self.call("OLTR.INFO", kind.name))
            self.assertEqual(info[b"kind"], kind.name.encode())
            self.assertEqual(info[b"dim"], DIM if kind.contextual else 0)
            self.assertEqual((info[b"items"], info[b"lessons"]), (0, 0))
            if kind.contextual:
                self.assertEqual(info[b"candidates"], CANDIDATES)
            else:
                self.assertEqual(info[b"most_items"], 65536)

    def test_not_servable(self):
        rest = [k for k in kinds(self.redis, servable=False) if not k.servable]
        self.assertEqual([k.name for k in rest], ["toprank", "bubblerank"])
        self.refused("UNSUPPORTED", CREATE, "m", "toprank")
        self.absent("m")

    def test_kind(self):
        self.refused("BADKIND", CREATE, "m", "nonsense")
        self.refused("BADKIND", CREATE, "m", "")
        self.refused("BADKIND", CREATE, "m", b"gts\0x")
        self.refused("BADKIND", CREATE, "m", b"x" * 100000)
        self.refused("ERR", CREATE)
        self.refused("ERR", CREATE, "m")
        self.absent("m")

    def test_messages_are_one_line(self):
        """What a client sent is quoted in messages: line ends, %, and bytes that are no UTF-8."""
        for text in (b"x\r\n+OK\r\n", b"x\n-ERR", b"%s%n%d%s", b"\xff\xfe\x80", b"y" * 300):
            self.refused("BADKIND", CREATE, "m", text)
            self.refused("BADARG", CREATE, "m", "gts", text, 1)
            self.refused("BADARG", CREATE, "m", "gts", "EXAMINE", text)
            self.refused("BADPARAM", CREATE, "m", "gts", "SET", text, 1)
            self.refused("BADPARAM", CREATE, "m", "gts", "SET", "sigma", text)
            self.refused("BADKIND", "OLTR.KINDS", text)
            self.assertEqual(self.redis.client.call("ECHO", "in step"), b"in step")

    def test_key_that_exists(self):
        self.call(CREATE, "m", "gts")
        self.refused("EXISTS", CREATE, "m", "gts")
        self.refused("EXISTS", CREATE, "m", "ts-beta", "WINDOW", 3)
        self.call("SET", "text", "x")
        self.refused("EXISTS|WRONGTYPE", CREATE, "text", "gts")

    def test_options_in_any_order_and_case(self):
        options = [("WINDOW", 7), ("MAXITEMS", 50), ("CAPACITY", 20), ("EXAMINE", "ALL"), ("PRIOR", 2, 6)]
        names = []
        for turn in range(len(options)):
            turned = options[turn:] + options[:turn]
            words = [w.swapcase() if turn % 2 and isinstance(w, str) else w for option in turned for w in option]
            names.append(f"m{turn}")
            self.call("oltr.Create" if turn % 2 else CREATE, names[-1], "ts-beta", *words,
                      "set" if turn % 2 else "SET", "prior", "full")
        self.assertEqual(len({self.image(name) for name in names}), 1)
        info = fields(self.call("OLTR.INFO", names[0]))
        self.assertEqual((info[b"window"], info[b"most_items"]), (7, 50))
        self.assertEqual(info[b"examine"].upper(), b"ALL")
        self.assertEqual([float(x) for x in info[b"prior"]], [2.0, 6.0])

    def test_option_twice(self):
        for option in (("WINDOW", 7), ("MAXITEMS", 50), ("CAPACITY", 20), ("EXAMINE", "ALL"), ("PRIOR", 2, 6)):
            self.refused("BADARG", CREATE, "m", "ts-beta", *option, *option)
        for option in (("DIM", 3), ("CANDIDATES", 5)):
            self.refused("BADARG", CREATE, "m", "lints", "DIM" if option[0] != "DIM" else "WINDOW", 3, *option, *option)
        self.refused("BADARG", CREATE, "m", "ts-beta", "WINDOW", 7, "window", 8)
        self.absent("m")

    def test_option_without_value_or_unknown(self):
        for option in ("WINDOW", "MAXITEMS", "CAPACITY", "EXAMINE", "DIM", "CANDIDATES", "SET"):
            self.refused("BADARG", CREATE, "m", "ts-beta", option)
        self.refused("BADARG", CREATE, "m", "ts-beta", "PRIOR", 1)
        self.refused("BADARG", CREATE, "m", "ts-beta", "SET", "a")
        self.refused("BADARG", CREATE, "m", "ts-beta", "SET", "a", 2, "b")
        for word in ("WINDO", "WINDOWS", "", b"WINDOW\0", "STRENGTH", "ID"):
            self.refused("BADARG", CREATE, "m", "ts-beta", word, 3)
        self.absent("m")

    def test_numbers(self):
        for option in ("WINDOW", "MAXITEMS", "CAPACITY", "DIM", "CANDIDATES"):
            for text in ("", "x", "-1", "1.5", "nan", "inf", "1e3", " 4", "4 ", "0x10", "+", b"4\0",
                         "99999999999999999999999", "18446744073709551617", "-18446744073709551615"):
                kind = "lints" if option in ("DIM", "CANDIDATES") else "gts"
                self.refused("BADARG|TOOBIG", CREATE, "m", kind, option, text)
        for option in ("MAXITEMS", "DIM", "CANDIDATES"):
            kind = ("lints", "DIM", 4) if option == "CANDIDATES" else ("lints",) if option == "DIM" else ("gts",)
            self.refused("BADARG|BADFEATURE|BADPARAM|BADITEM", CREATE, "m", *kind, option, 0)
        self.absent("m")

    def test_caps(self):
        self.refused("TOOBIG", CREATE, "m", "lints", "DIM", 513)
        self.refused("TOOBIG", CREATE, "m", "lints", "DIM", 4, "CANDIDATES", 16385)
        self.refused("TOOBIG", CREATE, "m", "gts", "MAXITEMS", 65537)
        self.refused("TOOBIG", CREATE, "m", "gts", "MAXITEMS", 70000, "CAPACITY", 65536)
        self.refused("TOOBIG", CREATE, "m", "gts", "MAXITEMS", (1 << 20) + 1, "CAPACITY", (1 << 20) + 1)
        self.absent("m")
        self.call(CREATE, "dim", "lints", "DIM", 512, "CANDIDATES", 16)
        self.call(CREATE, "candidates", "lints", "DIM", 4, "CANDIDATES", 16384)
        self.call(CREATE, "items", "gts", "MAXITEMS", 65536)
        self.call(CREATE, "room", "random", "MAXITEMS", 100000, "CAPACITY", 100000)
        self.assertEqual(fields(self.call("OLTR.INFO", "room"))[b"most_items"], 100000)

    def test_capacity_makes_the_room(self):
        self.call(CREATE, "small", "gts")
        self.call(CREATE, "large", "gts", "CAPACITY", 5000)
        small, large = (self.call("MEMORY", "USAGE", key) for key in ("small", "large"))
        self.assertGreater(large, small + 5000 * 16)
        self.assertEqual(self.image("small"), self.image("large"))
        self.refused("BADARG|FULL", CREATE, "m", "gts", "MAXITEMS", 10, "CAPACITY", 11)

    def test_examine(self):
        for rule in ("CASCADE", "LAST", "ALL", "cascade", "Last"):
            self.call(CREATE, "e" + rule, "gts", "EXAMINE", rule)
            self.assertEqual(fields(self.call("OLTR.INFO", "e" + rule))[b"examine"].upper(), rule.upper().encode())
        for rule in ("", "DEPTH", "MASK", "RULE", "1", "ALLL"):
            self.refused("BADARG", CREATE, "m", "gts", "EXAMINE", rule)

    def test_every_slot_counts_where_a_kind_knows_slots(self):
        for kind, rule, seen in (("ts-beta", b"CASCADE", [1, 1, None]), ("pbm-ts", b"ALL", [1, 1, 1]),
                                 ("pbm-ucb", b"ALL", [1, 1, 1])):
            self.call(CREATE, kind, kind)
            self.assertEqual(fields(self.call("OLTR.INFO", kind))[b"examine"].upper(), rule)
            self.call("OLTR.LEARN", kind, "ITEMS", 3, "a", "b", "c", "CLICKS", 1, 2)
            for item, count in zip("abc", seen):
                told = fields(self.call("OLTR.EXPLAIN", kind, "ITEMS", 1, item)[0])
                self.assertEqual(float(told[b"examined"]), count or 0)

    def test_prior(self):
        self.call(CREATE, "moments", "gts", "PRIOR", 0.02, 0.01, "SET", "prior", "full")
        self.call(CREATE, "shapes", "ts-beta", "PRIOR", 2, 98, "SET", "prior", "mean")
        self.refused("BADPRIOR", CREATE, "m", "gts", "PRIOR", 0.02, 0.01)  # `prior` is none by default
        self.refused("BADPRIOR", CREATE, "m", "ts-cascade", "PRIOR", 2, 6)
        self.refused("BADPRIOR", CREATE, "m", "ts-beta", "PRIOR", -1, 6, "SET", "prior", "full")
        self.refused("BADPRIOR", CREATE, "m", "gts", "PRIOR", 0.1, 0, "SET", "prior", "full")
        self.refused("BADPRIOR", CREATE, "m", "lints", "DIM", 3, "PRIOR", 2, 6)
        for text in ("nan", "inf", "-inf", "x", "", "1e999"):
            self.refused("BADARG|BADPRIOR", CREATE, "m", "ts-beta", "PRIOR", text, 2, "SET", "prior", "full")
        self.absent("m")

    def test_parameters(self):
        self.call(CREATE, "m", "gts", "SET", "sigma", "0.25", "mean", "0.5")
        parameters = fields(fields(self.call("OLTR.INFO", "m"))[b"parameters"])
        self.assertEqual((float(parameters[b"sigma"]), float(parameters[b"mean"])), (0.25, 0.5))
        self.assertEqual(parameters[b"sampler"], b"posterior")
        for pair in (("sigm", 1), ("", 1), (b"sigma\0", 1), ("sigma", "x"), ("sigma", ""), ("sigma", "nan"),
                     ("sigma", -1), ("sigma", b"1\0"), ("sampler", "other"), ("WINDOW", 3), ("examine", "all")):
            self.refused("BADPARAM", CREATE, "n", "gts", "SET", *pair)
        self.absent("n")

    def test_contextual_needs_dim(self):
        self.refused("BADFEATURE", CREATE, "m", "lints")
        self.absent("m")

    def test_every_parameter_at_its_default(self):
        for kind in kinds(self.redis):
            pairs = [(p[b"name"], p[b"default"]) for p in kind.parameters]
            if not pairs:
                continue
            self.call(*kind.create("a:" + kind.name))
            self.call(*kind.create("b:" + kind.name, parameters=[w for pair in pairs for w in pair]))
            self.assertEqual(self.image("a:" + kind.name), self.image("b:" + kind.name), kind.name)


class Like(Case):
    def test_like(self):
        for kind in kinds(self.redis):
            parent, child, weak = (f"{kind.name}:{n}" for n in ("parent", "child", "weak"))
            self.call(*kind.create_with_prior(parent))
            teach(self.redis.client, kind, parent, 20)
            reply = self.redis.attempt(CREATE, child, "LIKE", parent)
            if reply != b"OK":
                self.assertEqual(reply.word, "UNSUPPORTED", kind.name)
                self.assertEqual(self.call("EXISTS", child), 0)
                continue
            self.call(CREATE, weak, "like", parent, "strength", 0.25)
            a, b = (fields(self.call("OLTR.INFO", key)) for key in (parent, child))
            self.assertEqual((a[b"kind"], a[b"items"]), (b[b"kind"], b[b"items"]))
            self.assertNotEqual(self.image(child), self.image(weak), kind.name)

    def test_refusals(self):
        self.call(CREATE, "p", "gts", "PRIOR", 0.2, 0.1, "SET", "prior", "full")
        self.call("SET", "text", "x")
        self.refused("NOTFOUND", CREATE, "m", "LIKE", "none")
        self.refused("WRONGTYPE", CREATE, "m", "LIKE", "text")
        self.refused("EXISTS|WRONGTYPE", CREATE, "text", "LIKE", "p")
        self.refused("EXISTS", CREATE, "p", "LIKE", "p")
        for text in ("0", "-1", "1.0001", "nan", "inf", "x", ""):
            self.refused("BADARG", CREATE, "m", "LIKE", "p", "STRENGTH", text)
        for words in (("STRENGTH",), ("STRENGTH", 1, "STRENGTH", 1), ("WINDOW", 3), ("SET", "sigma", 1)):
            self.refused("BADARG", CREATE, "m", "LIKE", "p", *words)
        self.refused("BADARG|BADKIND|ERR", CREATE, "m", "LIKE")
        self.assertEqual(self.call("EXISTS", "m"), 0)
        self.call(CREATE, "m", "LIKE", "p", "STRENGTH", 1)


class Info(Case):
    FIELDS = [b"kind", b"dim", b"candidates", b"items", b"most_items", b"lessons", b"window", b"examine", b"prior",
              b"bytes", b"parameters", b"learned"]

    def test_shapes(self):
        self.call(CREATE, "m", "ts-hyper")
        self.call("OLTR.LEARN", "m", "ITEMS", 2, "a", "b", "CLICKS", 1, 2)
        two, three = self.redis.call("OLTR.INFO", "m"), self.redis3.call("OLTR.INFO", "m")
        self.assertIsInstance(two, list)
        self.assertIsInstance(three, dict)
        self.assertEqual(two[::2], self.FIELDS)
        self.assertEqual(list(three), self.FIELDS)
        self.assertIsInstance(three[b"parameters"], dict)
        self.assertEqual(fields(fields(two)[b"parameters"]), three[b"parameters"])
        self.assertIsNone(three[b"prior"])
        learned = three[b"learned"]
        self.assertEqual(set(learned), {b"shift", b"slope", b"weight"})
        for mean, sd in learned.values():
            self.assertIsInstance(mean, float)
            self.assertGreaterEqual(sd, 0)
        self.assertEqual((three[b"items"], three[b"lessons"]), (2, 1))
        self.assertGreater(three[b"bytes"], 100)

    def test_learned_is_empty_elsewhere(self):
        self.call(CREATE, "m", "gts", "PRIOR", 0.25, 0.125, "SET", "prior", "full")
        info = self.redis3.call("OLTR.INFO", "m")
        self.assertEqual(info[b"learned"], {})
        self.assertEqual(info[b"prior"], [0.25, 0.125])

    def test_refusals(self):
        self.refused("NOTFOUND", "OLTR.INFO", "m")
        self.call("SET", "text", "x")
        self.refused("WRONGTYPE", "OLTR.INFO", "text")
        self.refused("ERR", "OLTR.INFO")
        self.refused("ERR", "OLTR.INFO", "m", "x")


class Kinds(Case):
    FIELDS = [b"title", b"summary", b"source", b"rewards", b"contextual", b"uses_prior", b"takes_moments",
              b"can_merge", b"can_forget", b"exact_copy", b"order_free", b"servable", b"parameters"]

    def test_shapes(self):
        names = self.call("OLTR.KINDS")
        self.assertIn(b"ts-hyper", names)
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            two, three = self.redis.call("OLTR.KINDS", name), self.redis3.call("OLTR.KINDS", name)
            self.assertEqual(two[::2], self.FIELDS)
            self.assertEqual(list(three), self.FIELDS)
            self.assertIn(three[b"rewards"], (b"clicks", b"reals"))
            for flag in self.FIELDS[4:12]:
                self.assertIn(three[flag], (0, 1), (name, flag))
            for parameter in three[b"parameters"]:
                self.assertEqual(list(parameter), [b"name", b"type", b"default", b"min", b"max", b"choices", b"help"])
        self.refused("BADKIND", "OLTR.KINDS", "nonsense")
        self.refused("ERR|BADARG", "OLTR.KINDS", "gts", "gts")

    def test_facts(self):
        entry = {kind.name: kind for kind in kinds(self.redis, servable=False)}
        self.assertTrue(entry["lints"].contextual and not entry["gts"].contextual)
        self.assertTrue(entry["gts"].moments and not entry["ts-beta"].moments)
        self.assertTrue(entry["ts-beta"].clicks and not entry["gts"].clicks)
        self.assertFalse(entry["toprank"].servable)


if __name__ == "__main__":
    main()
