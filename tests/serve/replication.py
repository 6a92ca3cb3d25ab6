"""replication.py - replicas: full synchronisation in the middle of learning, streamed writes, a cut link with
partial resynchronisation, failover with the master killed under writers; from disk and diskless,
loaded into a second database set (swapdb).  Digests are equal for every kind.
"""

import random
import socket
import struct
import threading
import time
import unittest

from contract import crc64_redis, dump_payload, fill, kinds, rdb_length, teach, type_id
from probe import fields, main
from resp import Client, retry
from server import Server
from writers import Writers, to_server

WAYS = {
    "disk": ({"repl_diskless_sync": "no"}, {"repl_diskless_load": "disabled"}),
    "diskless": ({"repl_diskless_sync": "yes"}, {"repl_diskless_load": "disabled"}),
    "swapdb": ({"repl_diskless_sync": "yes"}, {"repl_diskless_load": "swapdb"}),
    "on empty": ({"repl_diskless_sync": "yes"}, {"repl_diskless_load": "on-empty-db"}),
}


class Replication(unittest.TestCase):
    maxDiff = 2000

    def master(self, **options):
        server = Server(port=True, **options)
        self.addCleanup(server.remove)
        return server

    def replica(self, master, **options):
        server = Server(port=True, **options)
        self.addCleanup(server.remove)
        return server.replicate(master)

    def equal(self, master, replica, count):
        replica.wait_synced(master)
        mine, his = replica.digests(), master.digests()
        self.assertEqual(mine, his)
        self.assertEqual(len(mine), count)

    def test_full_sync_while_learning(self):
        for way, (of_master, of_replica) in WAYS.items():
            with self.subTest(way):
                master = self.master(rdb_key_save_delay=20000, **of_master)
                some = fill(master.client(), 10, prior=True)
                writers = Writers(to_server(master), some)
                writers.wait_for(50)
                replica = self.replica(master, **of_replica)
                if way == "swapdb":  # it has data of its own, which it serves until the new set is there
                    writers.wait_for(20)
                replica_up = lambda: replica.info("replication")["master_link_status"] == "up"
                before = writers.count()
                retry(replica_up, 60)
                self.assertGreater(writers.count(), before, "nothing was learned during the synchronisation")
                writers.wait_for(100)
                writers.stop()
                self.equal(master, replica, len(some))
                info = replica.info("oltr")
                self.assertEqual((info["oltr_learns"], info["oltr_models"]), ("0", str(len(some))))
                master.remove()
                replica.remove()

    def swapping_pair(self):
        """A master and a replica that loads into a second set, slowly; ballast makes the transfer long."""
        master = self.master(repl_diskless_sync="yes")
        some = fill(master.client(), 10)
        master.client().many([("SET", f"ballast:{i}", bytes(random.Random(i).randbytes(20000))) for i in range(30)])
        replica = self.replica(master, repl_diskless_load="swapdb", loading_process_events_interval_bytes=1024)
        self.equal(master, replica, len(some) + 30)
        replica.call("CONFIG", "SET", "key-load-delay", 20000)
        return master, replica, some

    @staticmethod
    def lose_the_replica(master, replica, commands):
        """Cuts the link and writes more than the backlog holds, so that a full synchronisation follows."""
        replica.pause()
        with master.client() as client:
            client.many([("CONFIG", "SET", "rdb-key-save-delay", 50000), ("CONFIG", "SET", "repl-backlog-size", 16384)])
            client.call("CLIENT", "KILL", "TYPE", "replica")
            retry(lambda: master.info("replication")["connected_slaves"] == "0", 20)
            client.many([*commands, *[("SET", "ballast", b"x" * 30000)] * 30, ("DEL", "ballast")])
        replica.resume()

    def test_swapdb_serves_the_old_data(self):
        """While the new set is loaded the replica answers from the old one; then the models are the new."""
        master, replica, some = self.swapping_pair()
        old = fields(replica.call("OLTR.INFO", "model:gts"))[b"lessons"]
        gts = next(k for k in some if k.name == "gts")
        dice = random.Random(9)
        self.lose_the_replica(master, replica, [gts.lesson(dice, "model:gts") for _ in range(5)])
        retry(lambda: replica.info("persistence")["async_loading"] == "1", 30, pause=0.002)
        self.assertEqual(fields(replica.call("OLTR.INFO", "model:gts"))[b"lessons"], old)
        self.assertEqual(len(replica.call("OLTR.RANK", "model:gts", 3, "ALL")), 3)
        self.assertGreaterEqual(int(replica.info("oltr")["oltr_models"]), len(some))  # and those that are loaded
        self.equal(master, replica, len(some) + 30)
        retry(lambda: replica.info("oltr")["oltr_models"] == str(len(some)), 20)
        self.assertEqual(fields(replica.call("OLTR.INFO", "model:gts"))[b"lessons"], old + 5)

    def test_aborted_swapdb_keeps_the_old_data(self):
        master, replica, some = self.swapping_pair()
        digests = replica.digests()
        self.lose_the_replica(master, replica, [("OLTR.LEARN", "model:gts", "ITEMS", 1, "a", "CLICKS", 0)])
        retry(lambda: replica.info("persistence")["async_loading"] == "1", 30, pause=0.002)
        master.kill_children()
        master.kill()
        retry(lambda: replica.info("persistence")["async_loading"] == "0", 60)
        self.assertEqual(replica.digests(), digests)
        retry(lambda: replica.info("oltr")["oltr_models"] == str(len(some)), 20)
        self.assertTrue(replica.alive())

    def test_streamed_commands(self):
        """The stream has each write as it was sent, nothing of reads, refusals and doubles."""
        master = self.master()
        client, stream = master.client(), master.stream()
        done = [("OLTR.CREATE", "m", "ts-beta", "MAXITEMS", "50", "PRIOR", "2", "6", "SET", "prior", "full"),
                ("OLTR.LEARN", "m", "ITEMS", "2", b"a\0\r\n", "b", "CLICKS", "1", "2", "ID", "one"),
                ("OLTR.PRIOR", "m", "c", "1", "2"), ("OLTR.RESET", "m", "c"), ("OLTR.FORGET", "m", "0.5"),
                ("oltr.create", "n", "like", "m"), ("OLTR.REM", "m", "b", "nothing"),
                ("OLTR.LEARN", "m", "FIXED", "1", "z", "CLICKS", "0"), ("OLTR.TRIM", "m", "IDLE", "1")]
        none = [("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0, "ID", "one"), ("OLTR.RANK", "m", 3, "ALL"),
                ("OLTR.REM", "m", "nothing"), ("OLTR.RESET", "m", "nothing"), ("OLTR.LEARN", "m", "ITEMS", 1, "", "CLICKS", 0),
                ("OLTR.TRIM", "m", "IDLE", 1000), ("OLTR.DUMP", "m"), ("OLTR.CREATE", "m", "gts")]
        for number, command in enumerate(done):
            self.assertTrue(client.call(*command), command)
            for other in none if number else ():
                client.attempt(*other)
        client.call("SET", "end", 1)
        seen = [c for c in stream.until("SET") if c[0] != b"SELECT"]
        self.assertEqual(seen, [[w if isinstance(w, bytes) else w.encode() for w in c] for c in done])
        stream.close()

    def test_cut_link(self):
        master = self.master(repl_backlog_size="20mb")
        some = fill(master.client(), 5, prior=True)
        replica = self.replica(master)
        self.equal(master, replica, len(some))
        writers = Writers(to_server(master), some)
        for _ in range(4):
            writers.wait_for(40)
            master.call("CLIENT", "KILL", "TYPE", "replica")
            writers.wait_for(20)
            retry(lambda: master.info("replication")["connected_slaves"] == "1", 30)
        replica.call("REPLICAOF", "NO", "ONE")
        writers.wait_for(40)
        replica.replicate(master)
        writers.wait_for(40)
        writers.stop()
        self.equal(master, replica, len(some))
        stats = master.info("stats")
        self.assertGreaterEqual(int(stats["sync_partial_ok"]), 4)
        self.assertLessEqual(int(stats["sync_full"]), 2)

    def test_replica_refuses_writes(self):
        master = self.master()
        master.call("OLTR.CREATE", "m", "gts")
        replica = self.replica(master)
        replica.wait_synced(master)
        with replica.client() as client:
            for command in (("OLTR.LEARN", "m", "ITEMS", 1, "a", "CLICKS", 0), ("OLTR.CREATE", "n", "gts"),
                            ("OLTR.REM", "m", "a"), ("OLTR.FORGET", "m", 1)):
                self.assertEqual(client.attempt(*command).word, "READONLY")
            for command in (("OLTR.RANK", "m", 3, "ALL"), ("OLTR.INFO", "m"), ("OLTR.DUMP", "m"), ("OLTR.KINDS",),
                            ("OLTR.SCAN", "m", 0), ("OLTR.PREDICT", "m", "ALL"), ("OLTR.EXPLAIN", "m", "ALL"),
                            ("OLTR.PROPENSITY", "m", 3, "ALL")):
                client.call(*command)

    def test_failover(self):
        """The master is killed under writers; what WAIT confirmed is on the replica, and goes on there."""
        master = self.master(repl_backlog_size="20mb")
        some = fill(master.client(), 5, prior=True)
        replica, second = self.replica(master), self.replica(master)
        self.equal(master, replica, len(some))
        self.equal(master, second, len(some))
        at = [master]

        class Waiting(Client):  # acknowledged means: on both replicas
            def call(self, *args):
                answer = super().call(*args)
                if at[0] is master and super().call("WAIT", 2, 5000) < 2:
                    raise TimeoutError("not on two replicas")
                return answer

        writers = Writers(lambda: Waiting(at[0].socket, timeout=20), some)
        writers.wait_for(100)
        master.kill()
        replica.call("REPLICAOF", "NO", "ONE")
        second.replicate(replica)
        acknowledged = writers.snapshot()
        with replica.client(timeout=60) as client:
            answers = client.many([writers.lesson[i] for i in acknowledged])
            self.assertEqual(set(answers), {0}, "a lesson that was on two replicas is lost")
        at[0] = replica
        writers.wait_for(100)
        writers.stop()
        for key, count in writers.per_key().items():
            self.assertEqual(fields(replica.call("OLTR.INFO", key))[b"lessons"], count + 5, key)
        self.equal(replica, second, len(some))  # in part, or in full where the second was ahead of the first
        # the old master comes back empty, as a replica
        master.start()
        master.replicate(replica)
        self.equal(replica, master, len(some))

    def test_chain_and_restart(self):
        """A replica of a replica; a replica that restarts from its own append-only file."""
        master = self.master()
        some = fill(master.client(), 5)
        middle = self.replica(master, appendonly="yes")
        middle.wait_synced(master)
        last = self.replica(middle)
        for kind in some:
            teach(master.client(), kind, "model:" + kind.name, 10, 3, "more")
        self.equal(master, middle, len(some))
        last.wait_synced(middle)
        self.assertEqual(last.digests(), master.digests())
        middle.kill()
        for kind in some:
            teach(master.client(), kind, "model:" + kind.name, 10, 4, "again")
        middle.start()
        middle.replicate(master)
        self.equal(master, middle, len(some))


class Strangers(unittest.TestCase):
    """A replica that cannot read the data refuses and says why; the master is unharmed."""

    def test_replica_without_the_module(self):
        with Server(port=True) as master:
            some = fill(master.client(), 5)
            digests = master.digests()
            with Server(module=False) as replica:
                replica.replicate(master)
                retry(lambda: "oltrmodel" in replica.log(), 30)
                time.sleep(0.2)
            self.assertTrue(master.alive())
            self.assertEqual(master.digests(), digests)
            teach(master.client(), some[0], "model:" + some[0].name, 5, 9, "more")

    def test_stream_to_a_replica_without_the_module(self):
        with Server(port=True) as master, Server(module=False) as replica:
            replica.replicate(master)
            replica.wait_synced(master)
            master.call("OLTR.CREATE", "m", "gts")
            retry(lambda: "oltr.create" in replica.log().lower(), 30)
            self.assertTrue(master.alive())
            self.assertEqual(fields(master.call("OLTR.INFO", "m"))[b"lessons"], 0)

    def test_newer_encoding_in_restore(self):
        with Server(rdbcompression="no") as server:
            kind = next(k for k in kinds(server.client()) if k.name == "gts")
            client = server.client()
            client.call(*kind.create("m"))
            image, payload = client.call("OLTR.DUMP", "m"), client.call("DUMP", "m")
            version = int.from_bytes(payload[-10:-8], "little")
            self.assertEqual(dump_payload(image, 1, version), payload)
            for encver in (2, 3, 1023):
                before = server.log_mark()
                reply = client.attempt("RESTORE", f"n{encver}", 0, dump_payload(image, encver, version))
                self.assertEqual(reply.word, "ERR", encver)
                self.assertRegex(server.log(before), r"(?i)oltr.*(newer|version|encver|encoding)")
                self.assertEqual(client.call("EXISTS", f"n{encver}"), 0)
            self.assertEqual(client.call("RESTORE", "n1", 0, dump_payload(image, 1, version)), b"OK")
            self.assertEqual(client.call("OLTR.DUMP", "n1"), image)

    def test_newer_encoding_from_a_master(self):
        """A master of a later version: the replica refuses, logs why, and keeps running or ends by itself."""
        with Server(rdbcompression="no") as server, Server() as replica:
            server.call("OLTR.CREATE", "m", "gts")
            server.call("SAVE")
            data = (server.folder / "dump.rdb").read_bytes()
            at = data.index(rdb_length(type_id(1)))
            data = data[:at] + rdb_length(type_id(2)) + data[at + 9 :]
            data = data[:-8] + struct.pack("<Q", crc64_redis(data[:-8]))
            listener = socket.create_server(("127.0.0.1", 0))

            def play_master():
                connection, _ = listener.accept()
                with connection:
                    while True:
                        words = connection.recv(65536)
                        if not words:
                            return
                        if b"PSYNC" in words:
                            connection.sendall(b"+FULLRESYNC " + b"a" * 40 + b" 0\r\n$%d\r\n" % len(data) + data)
                        elif b"PING" in words:
                            connection.sendall(b"+PONG\r\n")
                        else:
                            connection.sendall(b"+OK\r\n" * words.upper().count(b"REPLCONF"))

            thread = threading.Thread(target=play_master, daemon=True)
            thread.start()
            replica.call("REPLICAOF", "127.0.0.1", listener.getsockname()[1])
            retry(lambda: "oltr" in replica.log() and "encver" in replica.log().lower()
                  or "newer" in replica.log().lower() or "encoding" in replica.log().lower(), 30)
            time.sleep(0.2)
            self.assertNotIn("crashed by signal", replica.log())
            listener.close()


if __name__ == "__main__":
    main()
