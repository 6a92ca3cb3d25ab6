"""commands_images.py - DUMP, LOAD, MERGE: images that come back as the same bytes, and refusals."""

import random

from contract import crc64_xz, fill, kinds, seal, teach
from probe import Case, main


class Images(Case):
    def test_dump_and_load(self):
        for kind in fill(self.redis.client, 20, prior=True):
            key, copy = "model:" + kind.name, "copy:" + kind.name
            image = self.call("OLTR.DUMP", key)
            self.assertEqual(image[:8], b"OLTRMODL")
            self.assertEqual(int.from_bytes(image[-8:], "little"), crc64_xz(image[:-8]))
            self.assertEqual(self.call("OLTR.LOAD", copy, image), b"OK")
            self.assertEqual(self.call("OLTR.DUMP", copy), image, kind.name)
            teach(self.redis.client, kind, key, 20, 2, "later")
            teach(self.redis.client, kind, copy, 20, 2, "later")
            self.assertEqual(self.image(key), self.image(copy), kind.name)  # the copy goes on to the same bits
            self.assertEqual(self.redis3.call("OLTR.DUMP", key), self.image(key))

    def test_ifnewer(self):
        self.call("OLTR.CREATE", "m", "ts-beta")
        self.assertIsNone(self.call("OLTR.DUMP", "m", "IFNEWER", 0))
        self.call("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0)
        self.assertEqual(self.call("OLTR.DUMP", "m", "ifnewer", 0), self.image("m"))
        for probe in (self.redis, self.redis3):
            self.assertIsNone(probe.call("OLTR.DUMP", "m", "IFNEWER", 1))
            self.assertIsNone(probe.call("OLTR.DUMP", "m", "IFNEWER", 1 << 60))
        for text in ("x", "-1", "", "1.5"):
            self.refused("BADARG", "OLTR.DUMP", "m", "IFNEWER", text)
        self.refused("BADARG|ERR", "OLTR.DUMP", "m", "IFNEWER")
        self.refused("BADARG", "OLTR.DUMP", "m", "NEWER", 1)
        self.refused("NOTFOUND", "OLTR.DUMP", "none")
        self.call("SET", "text", "x")
        self.refused("WRONGTYPE", "OLTR.DUMP", "text")

    def test_load_refusals(self):
        self.call("OLTR.CREATE", "m", "ts-beta")
        self.call("OLTR.CREATE", "g", "gts")
        self.call("SET", "text", "x")
        image = self.image("m")
        self.refused("EXISTS", "OLTR.LOAD", "m", image)
        self.refused("EXISTS|WRONGTYPE", "OLTR.LOAD", "text", image)
        self.refused("WRONGTYPE", "OLTR.LOAD", "text", image, "REPLACE")
        self.assertEqual(self.call("OLTR.LOAD", "g", image, "replace"), b"OK")
        self.assertEqual(self.image("g"), image)
        self.refused("BADARG", "OLTR.LOAD", "n", image, "REPLAC")
        self.refused("BADARG", "OLTR.LOAD", "g", image, "REPLACE", "REPLACE")
        self.refused("BADIMAGE", "OLTR.LOAD", "n", "")
        self.refused("BADIMAGE", "OLTR.LOAD", "n", "nonsense")
        self.refused("BADIMAGE", "OLTR.LOAD", "g", image[:-1], "REPLACE")
        self.refused("BADIMAGE", "OLTR.LOAD", "n", image + b"\0")
        self.refused("BADIMAGE", "OLTR.LOAD", "n", seal(image[:8] + b"\2" + image[9:]))  # a later format
        self.refused("ERR", "OLTR.LOAD", "n")
        self.assertEqual(self.call("EXISTS", "n"), 0)

    def test_merge(self):
        for kind in kinds(self.redis):
            into, delta = "into:" + kind.name, "delta:" + kind.name
            self.call(*kind.create(into))
            self.call(*kind.create(delta))
            teach(self.redis.client, kind, into, 8, 1)
            teach(self.redis.client, kind, delta, 8, 2)
            reply = self.redis.attempt("OLTR.MERGE", into, self.image(delta), "ID", "delta 1")
            if not kind.merges:
                self.assertEqual(reply.word, "UNSUPPORTED", kind.name)
                continue
            self.assertEqual(reply, 1, kind.name)
            self.assertEqual(self.call("oltr.merge", into, self.image(delta), "id", "delta 1"), 0)
            self.assertEqual(self.lessons(into), 16, kind.name)
            self.assertEqual(self.call("OLTR.MERGE", into, self.image(delta)), 1)

    def test_merge_refusals(self):
        self.call("OLTR.CREATE", "m", "ts-beta")
        self.call("OLTR.CREATE", "other", "ts-beta", "SET", "a", 2)
        self.call("OLTR.CREATE", "g", "gts")
        self.call("OLTR.CREATE", "f", "ts-beta", "MAXITEMS", 1)
        self.call("OLTR.LEARN", "m", "ITEMS", 2, "a", "b", "CLICKS", 0)
        image = self.image("m")
        self.refused("MISMATCH", "OLTR.MERGE", "g", image)
        self.refused("MISMATCH", "OLTR.MERGE", "other", image)
        self.refused("FULL", "OLTR.MERGE", "f", image)
        self.refused("BADIMAGE", "OLTR.MERGE", "m", "nonsense")
        self.refused("BADIMAGE", "OLTR.MERGE", "m", image[:-1])
        self.refused("BADITEM", "OLTR.MERGE", "m", image, "ID", b"x" * 513)
        self.refused("BADARG", "OLTR.MERGE", "m", image, "ID")
        self.refused("BADARG", "OLTR.MERGE", "m", image, "IDS", "x")
        self.refused("BADARG", "OLTR.MERGE", "m", image, "ID", "x", "ID", "x")
        self.refused("NOTFOUND", "OLTR.MERGE", "none", image)
        self.call("SET", "text", "x")
        self.refused("WRONGTYPE", "OLTR.MERGE", "text", image)
        self.refused("ERR", "OLTR.MERGE", "m")

    def test_deltas_sent_twice(self):
        """Edges learn into deltas and send each twice: the same image as one learner."""
        dice, deltas = random.Random(3), 30
        kind = next(k for k in kinds(self.redis) if k.name == "ts-beta")
        for key in ("all", "one"):
            self.call(*kind.create(key))
        for number in range(deltas):
            self.call(*kind.create("delta"))
            lessons = [kind.lesson(dice, "delta") for _ in range(5)]
            for lesson in lessons:
                self.redis.client.call(*lesson)
                self.redis.client.call(lesson[0], "one", *lesson[2:])
            image = self.image("delta")
            self.assertEqual(self.call("OLTR.MERGE", "all", image, "ID", number), 1)
            self.assertEqual(self.call("OLTR.MERGE", "all", image, "ID", number), 0)
            self.call("DEL", "delta")
        both = [{row[0]: row[1:] for row in self.call("OLTR.PREDICT", key, "ALL")} for key in ("all", "one")]
        self.assertEqual(both[0], both[1])


if __name__ == "__main__":
    main()
