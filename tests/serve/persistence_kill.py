"""persistence_kill.py - SIGKILL under eight writers with ids and retries: every acknowledged lesson is
there after the restart, and each counts once.

With appendfsync always nothing that was acknowledged may be missing, also when the kill comes in
the middle of BGREWRITEAOF or BGSAVE.  With everysec the server may hold back writes for up to two
seconds while a fsync is under way; only those may be missing, and retries make the count exact.
(A killed process, not a machine without power: what was written to the kernel survives.)
"""

import time
import unittest

from contract import kinds
from probe import fields, main
from server import Server
from writers import Writers, to_server

HELD_BACK = 3.0  # seconds: two that the server may hold back writes, and one of grace


class Killing(unittest.TestCase):
    def begin(self, **options):
        """A server with models of several kinds, and ballast that makes children slow."""
        server = Server(appendonly="yes", **options)
        self.addCleanup(server.remove)
        client = server.client()
        some = [k for k in kinds(client) if k.name in ("ts-beta", "gts", "ts-hyper", "lints", "logts")]
        for kind in some:
            client.call(*kind.create("model:" + kind.name))
        client.many([("SET", f"ballast:{i}", i) for i in range(300)])
        return server, some

    def lessons(self, server, key):
        return fields(server.call("OLTR.INFO", key))[b"lessons"]

    def missing(self, server, writers, acknowledged):
        """Ids that a restarted server does not remember: it learns them when they are sent again."""
        with server.client(timeout=120) as client:
            ids = list(acknowledged)
            answers = client.many([writers.lesson[i] for i in ids])
            self.assertTrue(set(answers) <= {0, 1}, set(map(str, answers)) - {"0", "1"})
            return [i for i, answer in zip(ids, answers) if answer == 1]

    def exact(self, server, writers):
        for key, count in writers.per_key().items():
            self.assertEqual(self.lessons(server, key), count, key)

    def run_kills(self, server, some, rounds, child=None, more=80):
        """Kills the server again and again; child is (command, flag of INFO that says it runs)."""
        writers, in_child = Writers(to_server(server), some), 0
        for _ in range(rounds):
            writers.wait_for(more)
            if child:
                server.call(child[0])
                writers.wait_for(20)
                in_child += server.info("persistence")[child[1]] == "1"
            server.kill()
            acknowledged = writers.snapshot()  # what was answered before the kill
            server.start()
            self.assertEqual(self.missing(server, writers, acknowledged), [], "acknowledged lessons are lost")
        writers.wait_for(more)
        writers.stop()
        self.exact(server, writers)
        self.assertGreater(writers.retries, 0)
        digests = server.digests()
        server.restart()
        self.assertEqual(server.digests(), digests)
        if child:
            self.assertGreater(in_child, 0, f"no kill came in the middle of {child[0]}")
        print(f"{writers.count()} lessons, {rounds} kills, {in_child} in a child's work, {writers.retries} retries, "
              f"{writers.answers[0]} were there when sent again", flush=True)


class Kills(Killing):
    def test_always(self):
        server, some = self.begin(appendfsync="always")
        self.run_kills(server, some, 8)

    def test_everysec(self):
        server, some = self.begin(appendfsync="everysec")
        writers = Writers(to_server(server), some)
        for _ in range(4):
            writers.wait_for(400)
            killed = time.monotonic()
            server.kill()
            acknowledged = writers.snapshot()
            server.start()
            for ident in self.missing(server, writers, acknowledged):
                age = killed - acknowledged[ident][1]
                self.assertLess(age, HELD_BACK, f"{ident} was acknowledged {age:.1f} s before the kill and is lost")
        writers.stop()
        self.exact(server, writers)


class Children(Killing):
    """Kills in the middle of what a child of the server writes."""

    def test_always_in_rewrite(self):
        for preamble in ("yes", "no"):
            server, some = self.begin(appendfsync="always", aof_use_rdb_preamble=preamble, rdb_key_save_delay=20000)
            self.run_kills(server, some, 3, ("BGREWRITEAOF", "aof_rewrite_in_progress"))
            server.remove()

    def test_always_in_save(self):
        server, some = self.begin(appendfsync="always", rdb_key_save_delay=20000)
        self.run_kills(server, some, 3, ("BGSAVE", "rdb_bgsave_in_progress"))


if __name__ == "__main__":
    main()
