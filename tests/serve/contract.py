"""contract.py - what tests of the module share: every kind with its right list form, lessons drawn
from a seed, and images with their checksums put right.
"""

import random
import struct

from probe import fields

DIM = 4
CANDIDATES = 12


class Kind:
    """One kind of OLTR.KINDS, with ways to make and teach a model of it."""

    def __init__(self, name, entry):
        self.name, self.entry = name.decode(), entry
        self.contextual = bool(entry[b"contextual"])
        self.clicks = entry[b"rewards"] == b"clicks"
        self.uses_prior = bool(entry[b"uses_prior"])
        self.moments = bool(entry[b"takes_moments"])
        self.merges, self.forgets = bool(entry[b"can_merge"]), bool(entry[b"can_forget"])
        self.servable = bool(entry[b"servable"])
        self.parameters = [fields(p) for p in entry[b"parameters"]]

    def create(self, key, *options, parameters=()):
        """The command that makes a model; parameters are pairs behind SET."""
        shape = ("DIM", DIM, "CANDIDATES", CANDIDATES) if self.contextual else ()
        return ("OLTR.CREATE", key, self.name, *shape, *options, *(("SET", *parameters) if parameters else ()))

    def create_with_prior(self, key, *options):
        """The same with a default prior, where the kind reads one."""
        if not self.uses_prior:
            return self.create(key, *options)
        return self.create(key, "PRIOR", *self.pair(0), *options, parameters=("prior", "full"))

    def pair(self, number):
        """A prior in the form of the kind."""
        return (0.25 + number % 5 / 16, 0.125) if self.moments else (2 + number % 5, 6)

    def lesson(self, dice, key, ident=None, items=40):
        """A LEARN of a few items: clicks or rewards, sometimes with SEEN, EXAMINED or WEIGHTS."""
        n = dice.randint(1, 8)
        shown = self.some(dice, n, items)
        args = ["OLTR.LEARN", key, *shown]
        clicked = sorted(dice.sample(range(1, n + 1), dice.randint(0, min(n, 2))))
        if self.clicks or dice.random() < 0.5:
            args += ["CLICKS", len(clicked), *clicked]
        else:
            args += ["REWARDS", *(dice.randint(-8, 8) / 8 for _ in range(n))]
            clicked = range(1, n + 1)
        extra = dice.random()
        if extra < 0.25:
            args += ["SEEN", dice.randint(max(clicked, default=1), n)]
        elif extra < 0.5:
            seen = sorted({*clicked, *dice.sample(range(1, n + 1), dice.randint(1, n))})
            args += ["EXAMINED", len(seen), *seen]
        if ident is not None:
            args += ["ID", ident]
        return args

    def some(self, dice, n, items=40):
        """A list of n candidates in one of the forms of the kind."""
        if self.contextual:
            return ["FP32", rows(dice, n)]
        numbers = dice.sample(range(items), n)
        if dice.random() < 0.3:
            return ["FIXED", 8, b"".join(b"item%04d" % i for i in numbers)]
        return ["ITEMS", n, *(b"item%04d" % i for i in numbers)]


def rows(dice, n, dim=DIM):
    """n rows of features as float32, each shorter than 1."""
    return struct.pack(f"<{n * dim}f", *(dice.randint(-32, 32) / 64 for _ in range(n * dim)))


def kinds(client, servable=True):
    """The kinds of the catalogue, from the module itself."""
    found = [Kind(name, fields(client.call("OLTR.KINDS", name))) for name in client.call("OLTR.KINDS")]
    return [k for k in found if k.servable] if servable else found


def teach(client, kind, key, lessons, seed=1, prefix="id"):
    """Lessons with ids, in one pipeline; all must be learned."""
    dice = random.Random(f"{kind.name} {seed}")
    replies = client.many([kind.lesson(dice, key, f"{prefix}-{i}") for i in range(lessons)])
    assert replies == [1] * lessons, f"{kind.name}: {[r for r in replies if r != 1][:3]}"


def fill(client, lessons=20, prior=False, prefix="model:"):
    """A model of every servable kind, each with lessons; returns the kinds."""
    all_kinds = kinds(client)
    for kind in all_kinds:
        key = prefix + kind.name
        client.call(*(kind.create_with_prior(key) if prior else kind.create(key)))
        teach(client, kind, key, lessons)
    return all_kinds


# ---- checksums


def crc_table(polynomial):
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (polynomial if byte & 1 else 0)
        table.append(byte)
    return table


XZ = crc_table(0xC96C5795D7870F42)
JONES = crc_table(0x95AC9329AC4BC9B5)  # of RDB files and DUMP payloads


def crc64_xz(data):
    crc = 0xFFFFFFFFFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ XZ[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFFFFFFFFFF


def crc64_redis(data):
    crc = 0
    for byte in data:
        crc = crc >> 8 ^ JONES[(crc ^ byte) & 255]
    return crc


assert crc64_xz(b"123456789") == 0x995DC9BBDF1939FA
assert crc64_redis(b"123456789") == 0xE9C6D914C4B8D9CA


def seal(image):
    """The image with its length and both checksums put right, that of the snapshot inside first."""
    data = bytearray(image)
    at = data.find(b"OLTRSNAP", 8)
    if at > 0 and at + 40 <= len(data):
        size = struct.unpack_from("<Q", data, at + 16)[0]
        if 32 <= size <= len(data) - 8 - at:
            end = at + size
            struct.pack_into("<Q", data, end - 8, crc64_xz(bytes(data[at : end - 8])))
    if len(data) >= 32:
        struct.pack_into("<Q", data, 16, len(data))
        struct.pack_into("<Q", data, len(data) - 8, crc64_xz(bytes(data[:-8])))
    return bytes(data)


def seal_dump(payload):
    """A payload of DUMP with the checksum of the server put right."""
    body = bytes(payload[:-8])
    return body + struct.pack("<Q", crc64_redis(body))


# ---- the encoding of a module value in RDB and in DUMP


def rdb_length(value):
    if value < 1 << 6:
        return bytes([value])
    if value < 1 << 14:
        return bytes([0x40 | value >> 8, value & 255])
    if value < 1 << 32:
        return b"\x80" + struct.pack(">I", value)
    return b"\x81" + struct.pack(">Q", value)


def read_rdb_length(data, at):
    """(value, place behind it)"""
    first = data[at]
    if first >> 6 == 0:
        return first & 63, at + 1
    if first >> 6 == 1:
        return (first & 63) << 8 | data[at + 1], at + 2
    if first == 0x80:
        return struct.unpack_from(">I", data, at + 1)[0], at + 5
    if first == 0x81:
        return struct.unpack_from(">Q", data, at + 1)[0], at + 9
    raise ValueError("a length in another encoding")


MODULE_2, OPCODE_STRING, OPCODE_END = 7, 5, 0
NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def type_id(encver, name="oltrmodel"):
    """The 64-bit id of a module type: nine characters of six bits, and ten bits of version."""
    value = 0
    for character in name:
        value = value << 6 | NAME_CHARACTERS.index(character)
    return value << 10 | encver


def dump_payload(image, encver, rdb_version):
    """A payload for RESTORE that holds an image under any version of the encoding."""
    body = bytes([MODULE_2]) + rdb_length(type_id(encver)) + rdb_length(OPCODE_STRING)
    body += rdb_length(len(image)) + image + rdb_length(OPCODE_END) + struct.pack("<H", rdb_version)
    return body + struct.pack("<Q", crc64_redis(body))
