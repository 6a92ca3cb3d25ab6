"""instruction_sets.py - servers with other vector instructions (OLTR_CPU) give the same digests after the same
commands, and the same lists for the same seeds; each reads what the other saved.
"""

import os
import random
import struct
import unittest

from contract import kinds
from probe import main
from server import Server


def available():
    """The instructions of this processor, by what the kernel says."""
    text = open("/proc/cpuinfo", encoding="ascii", errors="replace").read()
    found = ["plain"]
    if " avx2 " in text:
        found.append("avx2")
    if " avx512f " in text:
        found.append("avx512")
    if os.uname().machine == "aarch64":
        found.append("neon")
    return found


def play(client, seed):
    """The same commands for every server; all replies."""
    replies = []
    for kind in kinds(client):
        dice, key = random.Random(f"{kind.name} {seed}"), f"{kind.name}:{seed}"
        commands = [kind.create_with_prior(key)]
        commands += [kind.lesson(dice, key, f"id{i}") for i in range(60)]
        if kind.forgets:
            commands.append(("OLTR.FORGET", key, 0.75))
        commands += [kind.lesson(dice, key) for i in range(20)]
        for turn in range(10):
            listed = kind.some(dice, 8)
            commands += [("OLTR.RANK", key, 5, *listed, "SEED", turn, "WITHSCORES"), ("OLTR.PREDICT", key, *listed),
                         ("OLTR.PROPENSITY", key, 3, *listed, "DRAWS", 50, "SEED", turn)]
        answers = client.many(commands)
        replies.append((kind.name, [str(a) for a in answers]))
    client.call("OLTR.CREATE", f"wide:{seed}", "lints", "DIM", 136, "CANDIDATES", 64)
    dice = random.Random(seed)
    for turn in range(10):
        blob = struct.pack("<1360f", *(dice.randint(-100, 100) / 1200 for _ in range(1360)))
        replies.append(client.call("OLTR.LEARN", f"wide:{seed}", "FP32", blob, "CLICKS", 1, 3))
        replies.append(client.call("OLTR.RANK", f"wide:{seed}", 10, "FP32", blob, "SEED", turn, "WITHSCORES"))
    return replies


class InstructionSets(unittest.TestCase):
    def test_same_digests(self):
        digests, replies, saved = {}, {}, {}
        for cpu in available():
            with Server(env={"OLTR_CPU": cpu}) as server:
                replies[cpu] = [play(server.client(), seed) for seed in (1, 2)]
                digests[cpu] = server.digests()
                server.call("SAVE")
                saved[cpu] = (server.folder / "dump.rdb").read_bytes()
        if len(digests) < 2:
            self.skipTest("this processor has no vector instructions to compare")
        for cpu in digests:
            self.assertEqual(digests[cpu], digests["plain"], cpu)
            self.assertEqual(replies[cpu], replies["plain"], cpu)
        later = {}
        for cpu in digests:  # each goes on from the file of another
            with Server(start=False, env={"OLTR_CPU": cpu}) as server:
                other = "plain" if cpu != "plain" else list(digests)[-1]
                (server.folder / "dump.rdb").write_bytes(saved[other])
                server.start()
                self.assertEqual(server.digests(), digests["plain"])
                play(server.client(), 3)
                later[cpu] = server.digests()
        for cpu in later:
            self.assertEqual(later[cpu], later["plain"], cpu)
        print("compared:", ", ".join(digests))


if __name__ == "__main__":
    main()
