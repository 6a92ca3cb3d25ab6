"""cluster.py - three masters and three replicas: MOVED, the migration of a slot with ASK under writers, a failover
of a killed master under writers; lessons are counted once and digests of masters and replicas are equal.
"""

import unittest

from contract import kinds
from probe import fields, main
from resp import Disconnected, ReplyError, retry
from server import Cluster, ClusterClient
from writers import Writers


class InCluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(cluster_allow_replica_migration="no")
        cls.client = ClusterClient(cls.cluster)
        cls.kinds = kinds(cls.cluster.masters[0].client())
        for kind in cls.kinds:
            cls.client.call(*kind.create("model:" + kind.name))

    @classmethod
    def tearDownClass(cls):
        for node in cls.cluster.nodes:
            node.remove()

    def lessons(self, key):
        return retry(lambda: [fields(self.client.call("OLTR.INFO", key))[b"lessons"]], 60,
                     errors=(Disconnected, TimeoutError, ReplyError))[0]

    def slot(self, key):
        return self.cluster.nodes[-1].call("CLUSTER", "KEYSLOT", key)

    def exact(self, before, writers):
        for key, count in writers.per_key().items():
            self.assertEqual(self.lessons(key), before[key] + count, key)

    def before(self):
        return {"model:" + kind.name: self.lessons("model:" + kind.name) for kind in self.kinds}

    def pairs(self):
        """(master, replica) of the nodes that live, as the nodes say now."""
        for node in self.cluster.nodes:
            info = node.info("replication") if node.alive() else {}
            if info.get("role") == "slave":
                yield next(n for n in self.cluster.nodes if n.port == int(info["master_port"])), node

    def equal(self):
        checked = 0
        for master, replica in list(self.pairs()):
            replica.wait_synced(master)
            self.assertEqual(replica.digests(), master.digests())
            checked += len(master.digests())
        return checked

    def test_1_moved(self):
        wrong = next(n for n in self.cluster.masters if n is not self.cluster.owner(self.slot("model:gts")))
        with wrong.client() as client:
            for command in (("OLTR.RANK", "model:gts", 3, "ALL"), ("OLTR.LEARN", "model:gts", "ITEMS", 1, "a", "CLICKS", 0)):
                self.assertEqual(client.attempt(*command).word, "MOVED")
            child = client.attempt("OLTR.CREATE", "model:gts", "LIKE", "model:ts-beta")
            self.assertEqual(child.word, "CROSSSLOT")
        self.assertEqual(self.client.call("OLTR.CREATE", "{model:ts-beta}:child", "LIKE", "model:ts-beta"), b"OK")
        self.assertEqual(self.client.call("OLTR.KINDS", "gts")[0], b"title")
        self.assertEqual(self.equal(), len(self.kinds) + 1)

    def test_2_slot_migration(self):
        """A slot moves, key by key, while writers learn in it: they follow ASK and then MOVED."""
        some = [k for k in self.kinds if k.name in ("ts-beta", "gts", "ts-hyper")]
        before, slot = self.before(), self.slot("model:gts")
        source = self.cluster.owner(slot)
        target = next(n for n in self.cluster.masters if n is not source)
        digest = source.call("DEBUG", "DIGEST-VALUE", "model:gts")[0]
        clients = []

        def connect():
            clients.append(ClusterClient(self.cluster))
            return clients[-1]

        writers = Writers(connect, some, n=4)
        writers.wait_for(40)
        target.call("CLUSTER", "SETSLOT", slot, "IMPORTING", self.cluster.ids[source])
        source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", self.cluster.ids[target])
        writers.wait_for(40)
        keys = source.call("CLUSTER", "GETKEYSINSLOT", slot, 100)
        self.assertIn(b"model:gts", keys)
        source.call("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
        writers.wait_for(60)
        for node in (target, *(n for n in self.cluster.masters if n is not target)):
            node.call("CLUSTER", "SETSLOT", slot, "NODE", self.cluster.ids[target])
        writers.wait_for(60)
        writers.stop()
        self.assertGreater(sum(c.asked for c in clients), 0, "nobody was sent to the other node by ASK")
        self.exact(before, writers)
        self.assertNotEqual(target.call("DEBUG", "DIGEST-VALUE", "model:gts")[0], digest)
        self.assertEqual(source.call("CLUSTER", "COUNTKEYSINSLOT", slot), 0)
        self.equal()

    def test_3_migrate_copies_the_bytes(self):
        slot = self.slot("model:lints")
        source = self.cluster.owner(slot)
        target = next(n for n in self.cluster.masters if n is not source)
        image = self.client.call("OLTR.DUMP", "model:lints")
        target.call("CLUSTER", "SETSLOT", slot, "IMPORTING", self.cluster.ids[source])
        source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", self.cluster.ids[target])
        source.call("MIGRATE", "127.0.0.1", target.port, "model:lints", 0, 5000)
        for node in (target, source):
            node.call("CLUSTER", "SETSLOT", slot, "NODE", self.cluster.ids[target])
        self.assertEqual(self.client.call("OLTR.DUMP", "model:lints"), image)
        with source.client() as client:
            self.assertEqual(client.attempt("OLTR.INFO", "model:lints").word, "MOVED")

    def test_4_failover(self):
        """A master is killed under writers, and its replica takes over.

        Replication is asynchronous: the last lessons before the kill may be missing on the replica.
        Every lesson is sent again afterwards, and each counts once.
        """
        before = self.before()
        writers = Writers(lambda: ClusterClient(self.cluster, timeout=5), self.kinds, n=4, name="failover")
        writers.wait_for(100)
        victim = self.cluster.owner(self.slot("model:ts-beta"))
        replica = next(r for m, r in self.pairs() if m is victim)
        victim.kill()
        retry(lambda: replica.info("replication")["role"] == "master", 60)
        retry(lambda: all(self.cluster.state(n) == "ok" for n in self.cluster.nodes if n.alive()), 60)
        writers.wait_for(50)
        writers.stop()
        client, missing = ClusterClient(self.cluster), 0
        for ident in writers.lesson:
            missing += retry(lambda: [client.call(*writers.lesson[ident])], 60, errors=(Disconnected, TimeoutError))[0]
        self.exact(before, writers)
        victim.start()
        retry(lambda: victim.info("replication")["role"] == "slave", 60)
        self.assertGreaterEqual(self.equal(), len(self.kinds))
        print(f"{writers.count()} lessons, {writers.retries} retries, {missing} were lost with the master and sent again")


if __name__ == "__main__":
    main()
