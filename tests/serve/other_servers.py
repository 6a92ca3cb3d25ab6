"""other_servers.py - the same module in Redis and in Valkey: equal digests after the same commands, RDB files and
append-only files read by the other server, a Valkey replica of a Redis master.

A second server is needed: OLTR_VALKEY_SERVER, or valkey-server in PATH.  Redis 7.0 refuses the RDB
format 11 of Valkey 8 whatever is in it; there the number in the file is lowered to 10, which the
values of modules have been written in since, so that the bytes of the models are still compared.
"""

import struct
import unittest

from contract import crc64_redis, fill, teach
from instruction_sets import play
from probe import main
from server import Server, valkey_program


def lowered(data, version):
    """An RDB file with another number of its format and the checksum put right."""
    data = b"REDIS%04d" % version + data[9:-8]
    return data + struct.pack("<Q", crc64_redis(data))


class OtherServers(unittest.TestCase):
    def setUp(self):
        self.valkey = valkey_program()
        if not self.valkey:
            self.skipTest("no second server: set OLTR_VALKEY_SERVER, or install valkey-server")

    def pair(self, **options):
        one, two = Server(port=True, **options), Server(port=True, program=self.valkey, **options)
        self.addCleanup(one.remove)
        self.addCleanup(two.remove)
        return one, two

    def test_same_digests(self):
        one, two = self.pair()
        self.assertEqual(play(one.client(3), 1), play(two.client(3), 1))  # RESP3: numbers, not texts
        self.assertEqual(one.digests(), two.digests())
        print("compared:", one.info("server")["redis_version"], "and",
              two.info("server").get("valkey_version", two.info("server")["redis_version"]))

    def read_by(self, program, data, digests):
        """A server that starts from the RDB file has the same models."""
        with Server(program=program, start=False) as server:
            path = server.folder / "dump.rdb"
            path.write_bytes(data)
            try:
                server.start()
            except RuntimeError:
                self.assertIn("format version", server.log(), server.tail())
                path.write_bytes(lowered(data, 10))
                server.start()
                print(f"{program} refuses the format {data[5:9].decode()}; read with the number 0010")
            self.assertEqual(server.digests(), digests)

    def test_rdb_both_ways(self):
        one, two = self.pair()
        for server, other in ((one, two), (two, one)):
            fill(server.client(), 15, prior=True)
            server.call("SAVE")
            data = (server.folder / "dump.rdb").read_bytes()
            if not data.startswith(b"REDIS"):
                self.skipTest(f"the file begins with {data[:9]!r}")
            self.read_by(other.program, data, server.digests())

    def test_append_only_file_both_ways(self):
        one, two = self.pair(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
        for server, other in ((one, two), (two, one)):
            some = fill(server.client(), 10, prior=True)
            server.call("BGREWRITEAOF")
            server.wait_idle()
            for kind in some:
                teach(server.client(), kind, "model:" + kind.name, 5, 3, "later")
            digests = server.digests()
            server.kill()
            files = {path.name: path.read_bytes() for path in server.aof_files()}
            with Server(program=other.program, start=False, appendonly="yes", aof_use_rdb_preamble="no") as reader:
                (reader.folder / "appendonlydir").mkdir()
                for name, data in files.items():
                    (reader.folder / "appendonlydir" / name).write_bytes(data)
                reader.start()
                self.assertEqual(reader.digests(), digests)
            server.start()

    def test_replica(self):
        one, two = self.pair()
        some = fill(one.client(), 10)
        two.replicate(one)
        two.wait_synced(one)
        for kind in some:
            teach(one.client(), kind, "model:" + kind.name, 10, 3, "later")
        two.wait_synced(one)
        self.assertEqual(one.digests(), two.digests())

    def test_images_both_ways(self):
        one, two = self.pair()
        for server, other in ((one, two), (two, one)):
            client, reader = server.client(), other.client()
            reader.call("FLUSHALL")
            client.call("FLUSHALL")
            for kind in fill(client, 10):
                key = "model:" + kind.name
                reader.call("OLTR.LOAD", key, client.call("OLTR.DUMP", key))
            self.assertEqual(other.digests(), server.digests())


if __name__ == "__main__":
    main()
