"""images_damaged.py - LOAD, MERGE and RESTORE of images that are cut at every byte or flipped at random,
raw and with the checksums put right: refused, or a model that works; no NaN; what was saved loads.
"""

import math
import random

from contract import DIM, dump_payload, fill, seal, seal_dump
from probe import Case, fields, main
from resp import ReplyError

FLIPS = 400  # of each sort, over all kinds
# A right checksum over wrong content: the library's word says which part is wrong.
WORDS = ("BADIMAGE", "BADPRIOR", "BADFEATURE", "BADITEM", "UNSUPPORTED", "TOOBIG", "OOM")


class Damage(Case):
    """The probe is left out where thousands of payloads are tried; digests are compared at the end."""

    options = {"rdbcompression": "no"}  # a payload of DUMP holds the image as it is

    def setUp(self):
        super().setUp()
        self.client = self.server.client(timeout=120)
        self.kinds = {k.name: k for k in fill(self.client, 3, prior=True)}

    def works(self, key, kind, image):
        """A model that was accepted ranks and predicts numbers, learns, and saves to what loads again."""
        dice = random.Random(9)
        listed = kind.some(dice, 4)
        info = fields(self.client.call("OLTR.INFO", key))
        if kind.contextual and (info[b"dim"] != DIM or info[b"candidates"] < 4):
            listed = ["FP32", b"\0" * (4 * info[b"dim"] * min(4, info[b"candidates"]))]
        for command in (("OLTR.RANK", key, 4, *listed, "WITHSCORES"), ("OLTR.PREDICT", key, *listed)):
            reply = self.client.attempt(*command)
            if isinstance(reply, ReplyError):
                self.assertIn(reply.word, ("UNSUPPORTED", "BADFEATURE"), (kind.name, reply.text))
                continue
            if command[0] == "OLTR.RANK":  # an upper confidence bound of an unseen item is infinite
                good = all(not math.isnan(float(score)) for score in reply[1::2])
            else:
                good = all(math.isfinite(float(x)) for row in reply for x in row[1:])
            self.assertTrue(good, (kind.name, command[0], reply, image.hex()))
        again = self.client.call("OLTR.DUMP", key)
        self.assertEqual(self.client.call("OLTR.LOAD", "again", again, "REPLACE"), b"OK")
        self.assertEqual(self.client.call("OLTR.DUMP", "again"), again, kind.name)
        reply = self.client.attempt("OLTR.LEARN", key, *listed, "CLICKS", 0)
        if isinstance(reply, ReplyError):
            self.assertIn(reply.word, ("FULL", "BADFEATURE", "BADREWARD", "UNSUPPORTED", "TOOBIG", "BADITEM"), reply.text)
        self.assertTrue(again)

    def try_image(self, image, kind, base):
        """LOAD, MERGE or RESTORE of bytes that may be anything; how many were accepted."""
        reply = self.client.attempt("OLTR.LOAD", "t", image, "REPLACE")
        if reply == b"OK":
            self.works("t", kind, image)
        else:
            self.assertIn(reply.word, WORDS, reply.text)
        merged = self.client.attempt("OLTR.MERGE", "into", image)
        if merged == 1:
            self.client.call("OLTR.LOAD", "into", base, "REPLACE")
        else:
            self.assertIn(merged.word, (*WORDS, "MISMATCH", "FULL"), merged.text)
        restored = self.client.attempt("RESTORE", "r", 0, dump_payload(image, 1, self.rdb_version), "REPLACE")
        self.assertEqual(reply == b"OK" or getattr(reply, "word", "") == "TOOBIG", restored == b"OK",
                         (kind.name, reply, restored))
        if restored == b"OK" and reply == b"OK":
            self.works("r", kind, image)
        return reply == b"OK"

    def begin(self, name):
        """The image of a kind, and a second model of it to merge into."""
        key = "model:" + name
        base = self.client.call("OLTR.DUMP", key)
        payload = self.client.call("DUMP", key)
        self.rdb_version = int.from_bytes(payload[-10:-8], "little")
        self.assertEqual(payload, dump_payload(base, 1, self.rdb_version))  # one string, the image
        self.client.call("OLTR.LOAD", "into", base, "REPLACE")
        return base

    def unharmed(self, before):
        after = self.server.digests()
        for key, digest in before.items():
            self.assertEqual(after[key], digest, key)

    def test_cut_at_every_byte(self):
        before = self.server.digests()
        for name in ("ts-beta", "logts"):
            base = self.begin(name)
            for size in range(len(base)):
                for image in (base[:size], seal(base[:size])):
                    self.assertFalse(self.try_image(image, self.kinds[name], base), (name, size))
        self.unharmed(before)

    def test_dump_payload_cut_at_every_byte(self):
        before = self.server.digests()
        payload = self.client.call("DUMP", "model:ts-hyper")
        for size in range(len(payload)):
            raw = self.client.attempt("RESTORE", "r", 0, payload[:size])
            self.assertIsInstance(raw, ReplyError, size)
            if size > 10:
                cut = payload[: size - 10] + payload[-10:]
                sealed = self.client.attempt("RESTORE", "r", 0, seal_dump(cut))
                self.assertIsInstance(sealed, ReplyError, size)
        self.assertEqual(self.client.call("RESTORE", "r", 0, payload), b"OK")
        self.assertEqual(self.digest("r"), self.digest("model:ts-hyper"))
        self.unharmed(before)

    def flips(self, sealed):
        before, accepted, tried = self.server.digests(), 0, 0
        names = sorted(self.kinds)
        for number, name in enumerate(names):
            dice, base = random.Random(f"{name} {sealed}"), self.begin(name)
            for _ in range(FLIPS // len(names) + 1):
                image = bytearray(base)
                for _ in range(dice.choice((1, 1, 1, 2, 4))):
                    at = dice.randrange(len(image))
                    image[at] = dice.choice((image[at] ^ 1 << dice.randrange(8), 0, 255, dice.randrange(256)))
                image = seal(image) if sealed else bytes(image)
                if image == base:
                    continue
                tried += 1
                accepted += self.try_image(image, self.kinds[name], base)
        self.unharmed(before)
        return accepted, tried

    def test_flips(self):
        accepted, tried = self.flips(False)
        self.assertEqual(accepted, 0)
        print(f"{tried} flipped images, all refused")

    def test_flips_with_right_checksums(self):
        accepted, tried = self.flips(True)
        print(f"{tried} flipped and sealed images, {accepted} accepted and used")
        self.assertGreater(accepted, tried // 20)
        self.assertLess(accepted, tried)


if __name__ == "__main__":
    main()
