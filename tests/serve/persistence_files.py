"""persistence_files.py - restarts from RDB, from the append-only file with and without a preamble, and
from files that were cut or damaged; DEBUG RELOAD; nothing of it is counted in INFO oltr.
"""

import struct
import unittest

from contract import crc64_redis, fill, rdb_length, teach, type_id
from probe import fields, main
from server import Server


class Files(unittest.TestCase):
    def begin(self, lessons=25, **options):
        server = Server(**options)
        self.addCleanup(server.remove)
        self.kinds = fill(server.client(), lessons, prior=True)
        return server

    def goes_on_equal(self, server, twin_images):
        """After the restart each model learns on to the bytes that the original would have."""
        client = server.client()
        for kind in self.kinds:
            teach(client, kind, "model:" + kind.name, 15, 7, "later")
            self.assertEqual(client.call("OLTR.DUMP", "model:" + kind.name), twin_images[kind.name], kind.name)

    def later_images(self, server):
        """What each model becomes after the same later lessons, on a server of its own."""
        with Server() as other:
            a, b = server.client(), other.client()
            images = {}
            for kind in self.kinds:
                key = "model:" + kind.name
                b.call("OLTR.LOAD", key, a.call("OLTR.DUMP", key))
                teach(b, kind, key, 15, 7, "later")
                images[kind.name] = b.call("OLTR.DUMP", key)
            return images

    def nothing_counted(self, server):
        info = server.info("oltr")
        for name in ("ranks", "learns", "duplicates", "merged", "refused", "removed"):
            self.assertEqual(info["oltr_" + name], "0", name)
        self.assertEqual(int(info["oltr_models"]), len(self.kinds))

    def test_rdb(self):
        server = self.begin()
        later, digests = self.later_images(server), server.digests()
        server.call("SAVE")
        server.restart()
        self.assertEqual(server.digests(), digests)
        self.nothing_counted(server)
        self.goes_on_equal(server, later)

    def test_aof(self):
        server = self.begin(appendonly="yes", appendfsync="always")
        later, digests = self.later_images(server), server.digests()
        server.kill()
        server.start()
        self.assertEqual(server.digests(), digests)
        self.nothing_counted(server)
        self.goes_on_equal(server, later)

    def test_rewritten_aof(self):
        for preamble in ("yes", "no"):
            server = self.begin(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble)
            server.call("EXPIRE", "model:gts", 100000)
            later, digests = self.later_images(server), server.digests()
            server.call("BGREWRITEAOF")
            server.wait_idle()
            base = next(path for path in server.aof_files() if ".base." in path.name)
            self.assertEqual(base.read_bytes().count(b"OLTR.LOAD"), 0 if preamble == "yes" else len(self.kinds))
            server.kill()
            server.start()
            self.assertEqual(server.digests(), digests, preamble)
            self.assertGreater(server.call("TTL", "model:gts"), 90000)
            self.nothing_counted(server)
            self.goes_on_equal(server, later)
            server.remove()

    def test_debug_reload(self):
        server = self.begin(appendonly="yes", appendfsync="always")
        digests = server.digests()
        server.call("DEBUG", "RELOAD")
        self.assertEqual(server.digests(), digests)
        server.call("DEBUG", "LOADAOF")
        self.assertEqual(server.digests(), digests)

    def test_truncated_aof(self):
        """Cut inside its last command: that command is missing and no other."""
        server = self.begin(0, appendonly="yes", appendfsync="always", aof_load_truncated="yes")
        client = server.client()
        for number in range(30):
            client.call("OLTR.LEARN", "model:ts-beta", "ITEMS", 2, "a", "b", "CLICKS", 1, 2, "ID", number)
        path = next(p for p in server.aof_files() if ".incr." in p.name)
        server.kill()
        whole = path.read_bytes()
        last = whole.rindex(b"*")
        for cut in (last + 1, last + 20, len(whole) - 1):
            path.write_bytes(whole[:cut])
            server.start()
            self.assertEqual(fields(server.call("OLTR.INFO", "model:ts-beta"))[b"lessons"], 29, cut)
            self.assertEqual(server.call("OLTR.LEARN", "model:ts-beta", "ITEMS", 2, "a", "b", "CLICKS", 1, 2,
                                         "ID", 29), 1)
            server.kill()
        path.write_bytes(whole[: last + 20])
        server.configure(aof_load_truncated="no")
        self.assertIn("Unexpected end of file", server.start_fails())

    def rdb_of_one_model(self, server):
        """(bytes of the RDB, place of the id of the type, place of the image in it)"""
        server.call("CONFIG", "SET", "rdbcompression", "no")
        server.call("SAVE")
        data = (server.folder / "dump.rdb").read_bytes()
        image = server.call("OLTR.DUMP", "m")
        return data, data.index(rdb_length(type_id(1))), data.index(image)

    def with_checksum(self, data):
        return data[:-8] + struct.pack("<Q", crc64_redis(data[:-8]))

    def try_rdb(self, server, data):
        """The server refuses the file, and ends by itself, without a signal; what it logged."""
        (server.folder / "dump.rdb").write_bytes(data)
        text = server.start_fails()
        self.assertNotIn("crashed by signal", text)
        self.assertNotIn("ASSERTION FAILED", text)
        return text

    def test_damaged_rdb(self):
        server = Server()
        self.addCleanup(server.remove)
        server.call("OLTR.CREATE", "m", "ts-beta")
        server.call("OLTR.LEARN", "m", "ITEMS", 2, "tea", "milk", "CLICKS", 1, 2)
        data, at_type, at_image = self.rdb_of_one_model(server)
        server.kill()
        flipped = bytearray(data)
        flipped[at_image + 60] ^= 4
        text = self.try_rdb(server, self.with_checksum(bytes(flipped)))
        self.assertIn("oltr", text)
        self.assertIn("checksum", text)
        for cut in (at_image + 3, at_image + 100, at_image - 1):
            self.try_rdb(server, data[:cut])
        newer = data[:at_type] + rdb_length(type_id(2)) + data[at_type + 9 :]
        text = self.try_rdb(server, self.with_checksum(newer))
        self.assertRegex(text, r"(?i)oltr.*(newer|version|encver|encoding)")
        (server.folder / "dump.rdb").write_bytes(data)
        server.start()
        self.assertEqual(fields(server.call("OLTR.INFO", "m"))[b"lessons"], 1)

    def test_without_the_module(self):
        server = self.begin(3)
        server.call("SAVE")
        server.stop()
        server.module = False
        text = server.start_fails()
        self.assertIn("oltrmodel", text)
        server.module = True
        server.start()
        self.assertEqual(len(server.digests()), len(self.kinds))


if __name__ == "__main__":
    main()
