"""soak.py - a long life: thousands of models, items that come and leave, forgetting, merges, deletions,
rewrites and saves, with a replica.  After the warm-up the memory of both processes stays flat, and
at the end the digests of master and replica are equal.

OLTR_SOAK_SECONDS: how long, 6 by default; an hour or more by hand.
"""

import os
import random
import time
import unittest

from contract import kinds, rows
from probe import main
from resp import ReplyError, retry
from server import Server

SECONDS = float(os.environ.get("OLTR_SOAK_SECONDS", "6"))
MODELS = 2000
MAY = {"FULL", "EXISTS", "NOTFOUND", "UNSUPPORTED", "MISMATCH"}  # what may be refused in this life


def resident(server):
    """Resident bytes of the process."""
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Soak(unittest.TestCase):
    def commands(self, dice, turn):
        """A batch: what many clients send."""
        batch = []
        for number in range(400):
            kind = dice.choice(self.kinds)
            key = f"{kind.name}:{dice.randrange(MODELS // len(self.kinds))}"
            what = dice.random()
            arriving = turn * 3 + dice.randrange(60)  # names come and go with time
            if what < 0.03:
                batch.append(("UNLINK", key))
            elif what < 0.12:
                batch.append(kind.create(key, "WINDOW", 50, "MAXITEMS", 300))
            elif what < 0.55 and not kind.contextual:
                n = dice.randint(1, 8)
                names = {f"item {arriving + dice.randrange(40)}" for _ in range(n)}
                batch.append(("OLTR.LEARN", key, "ITEMS", len(names), *names, "CLICKS", 1, dice.randint(1, len(names)),
                              "ID", f"{turn // 4}.{number}"))
            elif what < 0.55:
                batch.append(("OLTR.LEARN", key, "FP32", rows(dice, 5), "CLICKS", 1, dice.randint(1, 5), "ID", number))
            elif what < 0.6:
                batch.append(("OLTR.TRIM", key, "IDLE", dice.randint(5, 40)))
            elif what < 0.65:
                batch.append(("OLTR.REM", key, *(f"item {arriving + i}" for i in range(5))))
            elif what < 0.7:
                batch.append(("OLTR.FORGET", key, 0.9, "ID", f"tick {turn}"))
            elif what < 0.73:
                batch.append(("COPY", key, f"{kind.name}:copy{dice.randrange(5)}", "REPLACE"))
            elif what < 0.75:
                batch.append(("EXPIRE", key, 2))
            else:
                batch.append(("OLTR.RANK", key, 5, *(["FP32", rows(dice, 8)] if kind.contextual else ["ALL"])))
        return batch

    def merges(self, client, dice):
        """Deltas of one model into another of its kind."""
        for _ in range(10):
            kind = dice.choice(self.kinds)
            image = client.attempt("OLTR.DUMP", f"{kind.name}:{dice.randrange(20)}")
            if isinstance(image, bytes):
                self.check([client.attempt("OLTR.MERGE", f"{kind.name}:{dice.randrange(20)}", image)])

    def check(self, replies):
        for reply in replies:
            if isinstance(reply, ReplyError):
                self.assertIn(reply.word, MAY, reply.text)

    def test_soak(self):
        with Server(port=True, appendonly="yes", appendfsync="everysec") as master, Server() as replica:
            client = master.client(timeout=120)
            self.kinds = kinds(client)
            replica.replicate(master)
            dice, turn, marks = random.Random(1), 0, []
            start = time.monotonic()
            while time.monotonic() - start < SECONDS:
                turn += 1
                self.check(client.many(self.commands(dice, turn)))
                if turn % 10 == 0:
                    self.merges(client, dice)
                if turn % 100 == 50:
                    client.attempt("BGREWRITEAOF")
                if turn % 100 == 0:
                    client.attempt("BGSAVE")
                if turn % 20 == 0:
                    marks.append((time.monotonic() - start, resident(master), resident(replica)))
            client.call("WAIT", 1, 60000)
            master.wait_idle()
            client.many([("PERSIST", key) for key in client.call("KEYS", "*")])  # nothing expires while it is compared
            replica.wait_synced(master)
            digests = master.digests()
            self.assertEqual(replica.digests(), digests)
            for server in (master, replica):  # a model whose time is over is counted until it is deleted
                retry(lambda: int(server.info("oltr")["oltr_models"]) == len(digests), 30)
            self.flat(marks, turn, len(digests), master)

    def flat(self, marks, turn, models, master):
        """The last tenth against the time after the first third, for both processes."""
        warm = [m for m in marks if m[0] > SECONDS / 3]
        early, late = warm[: len(warm) // 4], warm[-max(1, len(warm) // 10) :]
        mean = lambda some, which: sum(m[which] for m in some) / len(some)
        figures = [(mean(early, which), mean(late, which)) for which in (1, 2)]
        text = ", ".join(f"{name} {a / 1e6:.1f} -> {b / 1e6:.1f} MB" for name, (a, b) in
                         zip(("master", "replica"), figures))
        print(f"{turn * 400} commands in {SECONDS:.0f} s, {models} models at the end, resident {text}, "
              f"{master.info('oltr')['oltr_learns']} lessons")
        for early_mean, late_mean in figures:
            self.assertLess(late_mean, 1.25 * early_mean + 8e6, text)


if __name__ == "__main__":
    main()
