"""equality.py - the same calls to the module and to the C library: equal replies, equal refusals, and
after each change an equal image (twin.py).
"""

import random

from contract import kinds
from probe import Case, main
from resp import ReplyError
from twin import Twin

CALLS = 40  # of each model


class Equality(Case):
    def script(self, kind, twin, prior):
        """Calls of all sorts, from a seed, valid and not."""
        dice = random.Random(f"{kind.name} {prior}")
        key, ids = twin.key, []
        self.redis.client.call("CONFIG", "SET", "oltr.max-exact", 1024)  # ts-hyper may have a quarter of it
        twin.do(*(kind.create_with_prior(key, "WINDOW", 9) if prior else kind.create(key, "WINDOW", 9, "MAXITEMS", 45)))
        other = "other:" + kind.name
        self.redis.client.call("DEL", other)
        self.redis.client.call(*(kind.create_with_prior(other) if prior else kind.create(other, "MAXITEMS", 45)))
        for turn in range(CALLS):
            self.one(kind, twin, dice, ids, turn, other)
            twin.equal()

    def one(self, kind, twin, dice, ids, turn, other):
        key, what = twin.key, dice.random()
        name = lambda: b"item%04d" % dice.randrange(60)
        if what < 0.45:
            ident = dice.choice(ids) if ids and dice.random() < 0.2 else f"id{turn}"
            ids.append(ident)
            lesson = kind.lesson(dice, key, ident, 60)
            if "CLICKS" in lesson and dice.random() < 0.2:
                n = len(lesson[3]) // 16 if kind.contextual else lesson[3] if lesson[2] == "ITEMS" else len(lesson[4]) // 8
                lesson += ["WEIGHTS", *(dice.choice((0.5, 1, 2, 0)) for _ in range(n))]
            twin.do(*lesson)
            self.redis.client.attempt(lesson[0], other, *kind.lesson(dice, other)[2:])
        elif what < 0.55:
            first, second = kind.pair(turn)
            twin.do("OLTR.PRIOR", key, name(), first, second)
        elif what < 0.62:
            twin.do("OLTR.REM", key, name(), name())
        elif what < 0.68:
            twin.do("OLTR.RESET", key, name(), name())
        elif what < 0.72:
            twin.do("OLTR.TRIM", key, "IDLE", dice.randint(1, 30))
        elif what < 0.78:
            twin.do("OLTR.FORGET", key, dice.choice((0, 0.5, 0.875, 1, 1.5)), "ID", f"tick{turn // 3}")
        elif what < 0.82:
            twin.do("OLTR.MERGE", key, self.image(other), "ID", f"merge{turn // 4}")
        else:
            self.read(kind, twin, dice, turn)

    def read(self, kind, twin, dice, turn):
        listed = ["ALL"] if not kind.contextual and dice.random() < 0.3 else kind.some(dice, dice.randint(1, 9), 60)
        rule = dice.choice(([], [], ["GREEDY"], ["FRESH", 2, 3], ["FRESH", 4, 2, "LEAST", 1],
                            ["FRESH", 3, 2.5, "GREEDY"]))
        twin.do("OLTR.RANK", twin.key, dice.randint(1, 9), *listed, "SEED", turn, "WITHSCORES", *rule)
        twin.do("OLTR.PREDICT", twin.key, *listed)
        twin.do("OLTR.PROPENSITY", twin.key, 3, *listed, *rule)
        twin.do("OLTR.PROPENSITY", twin.key, 3, *listed, "DRAWS", 20, "SEED", turn, *rule)

    def both(self, names, prior):
        done = 0
        for kind in kinds(self.redis.client):
            if not names(kind) or prior and not kind.uses_prior:
                continue
            twin = Twin(self, "m:" + kind.name)
            try:
                self.script(kind, twin, prior)
            finally:
                twin.close()
            done += 1
        self.assertGreater(done, 3)

    def test_kinds_by_item(self):
        self.both(lambda kind: not kind.contextual, False)

    def test_kinds_with_priors(self):
        self.both(lambda kind: not kind.contextual, True)

    def test_kinds_with_features(self):
        self.both(lambda kind: kind.contextual, False)

    def test_like(self):
        for kind in kinds(self.redis.client):
            twin = Twin(self, "m")
            self.redis.client.call("DEL", "m", "child")
            try:
                twin.do(*kind.create_with_prior("m"))
                for turn in range(10):
                    twin.do(*kind.lesson(random.Random(turn), "m"))
                reply = self.redis.attempt("OLTR.CREATE", "child", "LIKE", "m", "STRENGTH", 0.25)
                if isinstance(reply, ReplyError):
                    self.assertEqual(reply.word, "UNSUPPORTED", kind.name)
                    continue
                twin.library.say("like", 0.25)
                self.assertEqual(self.image("child"), twin.library.image(), kind.name)
            finally:
                twin.close()

    def test_loaded_image(self):
        """A model that a program wrote is the model that the server has."""
        for kind in kinds(self.redis.client):
            twin = Twin(self, "m")
            self.redis.client.call("DEL", "m")
            try:
                twin.do(*kind.create_with_prior("m"))
                for turn in range(10):
                    twin.do(*kind.lesson(random.Random(turn), "m"))
                image = twin.library.image()
                self.assertEqual(self.call("OLTR.LOAD", "m", image, "REPLACE"), b"OK")
                self.assertEqual(self.image("m"), image)
            finally:
                twin.close()


if __name__ == "__main__":
    main()
