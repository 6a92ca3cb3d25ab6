"""framework.py - the tests' own tools on a server without the module: start, kill, restart, a
replica, a cluster, the replication stream, and that the probe sees a change.
"""

import unittest

from probe import Probe, main
from resp import ReplyError
from server import Cluster, ClusterClient, Server


class Framework(unittest.TestCase):
    def test_replies(self):
        with Server(module=False) as server:
            two, three = server.client(), server.client(3)
            binary = bytes(range(256)) + b"\r\n\0"
            self.assertEqual(two.call("SET", "k", binary), b"OK")
            self.assertEqual(two.many([("GET", "k"), ("GET", "no"), ("INCR", "k"), ("PING",)])[:2], [binary, None])
            with self.assertRaises(ReplyError) as caught:
                two.call("INCR", "k")
            self.assertEqual(caught.exception.word, "ERR")
            two.call("ZADD", "z", "1.5", "a")
            self.assertEqual(two.call("ZSCORE", "z", "a"), b"1.5")
            self.assertEqual(three.call("ZSCORE", "z", "a"), 1.5)
            self.assertEqual(three.call("ZRANGE", "z", 0, -1, "WITHSCORES"), [[b"a", 1.5]])
            self.assertIsInstance(three.call("CONFIG", "GET", "maxmemory"), dict)
            self.assertIsNone(three.call("GET", "no"))
            big = b"x" * 3_000_000
            two.call("SET", "big", big)
            self.assertEqual(two.call("GET", "big"), big)

    def test_kill_and_restart(self):
        with Server(module=False, appendonly="yes", appendfsync="always") as server:
            server.call("SET", "k", "v")
            server.kill()
            self.assertFalse(server.alive())
            server.start()
            self.assertEqual(server.call("GET", "k"), b"v")
            server.restart(maxmemory="100mb")
            self.assertEqual(server.call("CONFIG", "GET", "maxmemory")[1], b"104857600")
            folder = server.folder
        self.assertFalse(folder.exists())

    def test_replica_and_stream(self):
        with Server(module=False, port=True) as master, Server(module=False) as replica:
            master.call("SET", "before", "1")
            stream = master.stream()
            self.assertTrue(stream.snapshot.startswith(b"REDIS"))
            replica.replicate(master)
            master.call("SET", "after", "2")
            master.call("SET", "end", "3")
            master.call("PUBLISH", "done", "x")
            seen = [c for c in stream.until("PUBLISH") if c != [b"SELECT", b"0"]]  # each new replica gets a SELECT
            self.assertEqual(seen, [[b"SET", b"after", b"2"], [b"SET", b"end", b"3"]])
            stream.close()
            replica.wait_synced(master)
            self.assertEqual(replica.digests(), master.digests())
            self.assertEqual(len(replica.digests()), 3)

    def test_probe_sees_changes(self):
        with Server(module=False, appendonly="yes", appendfsync="no") as server:
            server.begin_backlog()
            probe = Probe(server)
            first = probe.state([b"k"])
            self.assertEqual(first, probe.state([b"k"]))
            probe.call("SET", "k", "v")
            second = probe.state([b"k"])
            for old, new in zip(first, second):
                self.assertNotEqual(old, new)

    def test_server_that_refuses(self):
        with Server(module=False, start=False, no_such_option="1") as server:
            self.assertIn("no-such-option", server.start_fails())

    def test_cluster(self):
        with Cluster(module=False) as cluster:
            client = ClusterClient(cluster)
            for number in range(20):
                client.call("SET", f"k{number}", number)
            self.assertGreater(client.moved, 0)
            self.assertGreater(len({client.at.get(f"k{n}".encode()) for n in range(20)}), 2)
            client.close()


if __name__ == "__main__":
    main()
