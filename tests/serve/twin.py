"""twin.py - a model of the C library beside a key of the module: each call is made to both, and
replies, refusals and images must be equal.  So the module adds no rule of its own.
"""

import math
import os
import subprocess

from resp import ReplyError, to_bytes

WORD = {  # status of the library -> first word of the module's error
    "OLTR_EINVAL": "BADARG",
    "OLTR_EKIND": "BADKIND",
    "OLTR_EPARAM": "BADPARAM",
    "OLTR_EVALUE": "BADARG",
    "OLTR_EPRIOR": "BADPRIOR",
    "OLTR_EITEM": "BADITEM",
    "OLTR_ENAME": "BADITEM",
    "OLTR_ESLOTS": "BADARG",
    "OLTR_EEXAMINED": "BADARG",
    "OLTR_EREWARD": "BADREWARD",
    "OLTR_EFEATURE": "BADFEATURE",
    "OLTR_EUNSUPPORTED": "UNSUPPORTED",
    "OLTR_EMISMATCH": "MISMATCH",
    "OLTR_EFULL": "FULL",
    "OLTR_ESTATE": "BADIMAGE",
    "OLTR_ETRUNCATED": "BADIMAGE",
    "OLTR_EMAGIC": "BADIMAGE",
    "OLTR_EVERSION": "BADIMAGE",
    "OLTR_ECHECKSUM": "BADIMAGE",
    "OLTR_ECORRUPT": "BADIMAGE",
}


class Refused(Exception):
    """status is that of the library, text its sentence."""

    def __init__(self, status, text):
        super().__init__(f"{status} {text}")
        self.status, self.text, self.word = status, text, WORD[status]


def hexed(data):
    return to_bytes(data).hex() or "-"


class Library:
    """The program model_calls, which holds one model."""

    def __init__(self):
        self.process = subprocess.Popen([os.environ["OLTR_MODEL_CALLS"]], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(20)

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().rstrip("\n").split(" ", 2)
        if answer[0] == "ok":
            return answer[1:] if len(answer) < 3 else answer[1:2] + answer[2].split(" ")
        if answer[0] != "error":
            raise AssertionError(f"model_calls ended at: {words[:6]}")
        raise Refused(answer[1], answer[2] if len(answer) > 2 else "")

    def image(self):
        return bytes.fromhex(self.say("image")[0])


def split_list(args, dim):
    """(words of the list for the library, candidates in the order of the list, what is behind)."""
    form = to_bytes(args[0]).upper()
    if form == b"ALL":
        return ["a"], None, args[1:]
    if form == b"ITEMS":
        n = int(args[1])
        names = [to_bytes(a) for a in args[2 : 2 + n]]
        return ["n", n, *map(hexed, names)], names, args[2 + n :]
    if form == b"FIXED":
        size, blob = int(args[1]), to_bytes(args[2])
        names = [blob[i : i + size] for i in range(0, len(blob), size)]
        return ["n", len(names), *map(hexed, names)], names, args[3:]
    n = len(args[1]) // (4 * dim)
    return ["x", n, dim, hexed(args[1])], list(range(n)), args[2:]


def options_of(args, flags=()):
    """{option: values} of words behind a list; flags have no value, CLICKS and EXAMINED a count."""
    found, at = {}, 0
    while at < len(args):
        word = to_bytes(args[at]).upper().decode()
        if word in flags:
            found[word], at = True, at + 1
        elif word in ("CLICKS", "EXAMINED"):
            n = int(args[at + 1])
            found[word], at = [int(a) for a in args[at + 2 : at + 2 + n]], at + 2 + n
        elif word in ("REWARDS", "WEIGHTS"):
            end = at + 1
            while end < len(args) and not to_bytes(args[end]).isalpha():
                end += 1
            found[word], at = [float(a) for a in args[at + 1 : end]], end
        elif word == "FRESH":
            found[word], at = (int(args[at + 1]), float(args[at + 2])), at + 3
        else:
            found[word], at = args[at + 1], at + 2
    return found


class Twin:
    """One key and one model.  Commands are those of the module, with valid syntax."""

    def __init__(self, case, key, dim=0):
        self.case, self.key, self.dim = case, key, dim
        self.library = Library()

    def close(self):
        self.library.close()

    # ---- one command to both

    def do(self, *args):
        """The reply of the module, which is that of the library; a refusal of both is returned."""
        verb = to_bytes(args[0]).decode().upper().removeprefix("OLTR.").lower()
        try:
            expected = getattr(self, "do_" + verb)(list(args[2:]))
        except Refused as refusal:
            expected = refusal
        reply = self.case.redis.attempt(*args)
        shown = repr(args)[:300]
        if isinstance(expected, Refused):
            self.case.assertIsInstance(reply, ReplyError, f"{shown}: {reply!r}, the library: {expected}")
            self.case.assertEqual(reply.word, expected.word, f"{shown}: {reply.text}, the library: {expected}")
        else:
            self.case.assertNotIsInstance(reply, ReplyError, f"{shown}: {reply}, the library: {expected}")
            self.same(reply, expected, shown)
        return reply

    def same(self, reply, expected, shown):
        if isinstance(expected, float):
            value = float(reply) if reply is not None else math.nan
            self.case.assertTrue(value == expected or math.isnan(value) and math.isnan(expected),
                                 f"{shown}: {reply!r}, the library: {expected!r}")
        elif isinstance(expected, list):
            self.case.assertEqual(len(reply), len(expected), f"{shown}: {reply!r}, the library: {expected!r}")
            for one, other in zip(reply, expected):
                self.same(one, other, shown)
        else:
            self.case.assertEqual(reply, expected, shown)

    def equal(self):
        """The two images are the same bytes."""
        image = self.case.image(self.key)
        self.case.assertEqual(image, self.library.image(), f"{self.key}: the images differ")
        return image

    # ---- the calls of the library

    def do_create(self, args):
        words, at = ["new", args[0], "most_items", 65536], 1
        while at < len(args):
            option = to_bytes(args[at]).upper().decode()
            if option == "SET":
                words += args[at + 1 :]
                break
            if option == "PRIOR":
                words += ["default_prior", f"{args[at + 1]},{args[at + 2]}"]
                at += 3
                continue
            name = {"MAXITEMS": "most_items", "CAPACITY": None}.get(option, option.lower())
            if name:
                words += [name, str(args[at + 1]).lower()]
            if option == "DIM":
                self.dim = int(args[at + 1])
            at += 2
        self.library.say(*words)
        return b"OK"

    def do_learn(self, args):
        words, shown, behind = split_list(args, self.dim)
        options, n = options_of(behind), len(shown)
        rewards = options.get("REWARDS") or [float(i + 1 in options["CLICKS"]) for i in range(n)]
        examine, depth, mask = 0, 0, []
        if "SEEN" in options:
            examine, depth = 4, int(options["SEEN"])
        elif "EXAMINED" in options:
            examine, mask = 5, [int(i + 1 in options["EXAMINED"]) for i in range(n)]
        weights = options.get("WEIGHTS") or ["-"]
        return int(self.library.say("learn", hexed(options.get("ID", b"")), examine, depth, *words,
                                    *map(repr, rewards), *weights, *mask)[0])

    def do_prior(self, args):
        words = []
        for at in range(0, len(args), 3):
            words += [hexed(args[at]), args[at + 1], args[at + 2]]
        self.library.say("prior", len(args) // 3, *words)
        return len(args) // 3

    def do_rem(self, args):
        return int(self.library.say("remove", len(args), *map(hexed, args))[0])

    def do_reset(self, args):
        return int(self.library.say("reset", len(args), *map(hexed, args))[0])

    def do_trim(self, args):
        return int(self.library.say("trim", args[1])[0])

    def do_forget(self, args):
        return int(self.library.say("forget", args[0], hexed(args[2] if len(args) > 2 else b""))[0])

    def do_merge(self, args):
        return int(self.library.say("merge", hexed(args[2] if len(args) > 2 else b""), hexed(args[0]))[0])

    def do_load(self, args):
        self.library.say("load", hexed(args[0]))
        return b"OK"

    def names(self):
        """The names of the model in its order."""
        image = self.library.image()
        at = 56 if image[36] else 40
        names, n, at = [], int.from_bytes(image[at : at + 4], "little"), at + 4
        for _ in range(n):
            size = int.from_bytes(image[at : at + 4], "little")
            names.append(image[at + 4 : at + 4 + size])
            at += 4 + size
        return names

    @staticmethod
    def show(options):
        most, below = options.get("FRESH", (0, 0.0))
        return [int("GREEDY" in options), below, options.get("LEAST", 0), most]

    def do_rank(self, args):
        words, listed, behind = split_list(args[1:], self.dim)
        options = options_of(behind, ("GREEDY", "WITHSCORES"))
        listed = self.names() if listed is None else listed
        got = self.library.say("rank", args[0], hexed(options["SEED"]), *self.show(options), *words)
        names = [listed[int(place)] for place in got[::2]]
        if "WITHSCORES" not in options:
            return names
        return [value for name, score in zip(names, got[1::2]) for value in (name, float(score))]

    def do_predict(self, args):
        words, listed, _ = split_list(args, self.dim)
        got = self.library.say("predict", *words)
        listed = self.names() if listed is None else listed
        return [[name, float(mean), float(sd)] for name, mean, sd in zip(listed, got[::2], got[1::2])]

    def do_propensity(self, args):
        words, listed, behind = split_list(args[1:], self.dim)
        options = options_of(behind, ("GREEDY",))
        got = self.library.say("propensity", args[0], options.get("DRAWS", 0), hexed(options.get("SEED", b"")),
                               *self.show(options), *words)
        listed = self.names() if listed is None else listed
        return [[name, float(chance), float(first)] for name, chance, first in zip(listed, got[::2], got[1::2])]
