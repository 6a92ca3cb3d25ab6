"""examples.py - runs the programs of examples/redis as they are, and checks what they print.

From the environment, beside that of server.py:
    OLTR_SOURCE           the repository
    OLTR_RANK_PAGE        the program of rank_page.c, or empty
    OLTR_NPM              the folder for packages of npm (node_packages.py)
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from node_packages import DEBIAN, node_clients
from server import Server, need_redis

EXAMPLES = pathlib.Path(os.environ["OLTR_SOURCE"]) / "examples/redis"
# 0.5 of 5 are good by chance.
LEARNED = re.compile(
    r"good products of 5, first 100 views: [0-2]\.?\d*\n"
    r"good products of 5, last 100 views: (4\.[0-9]+|5\.?0*)\n"
    r"the same view again counts: 0\n$"
)
HAT_FIRST = re.compile(r"lessons: 500\n\[ 'hat', '(shoe|coat)', '(shoe|coat)' \]\n$")
LATE = """the reload shows the same list: True
learned after a minute: 0
learned by a worker that crashes then: 1
learned after eleven minutes: 1
learned after twelve minutes: 0
clicks on the second item: 1
"""
EDGE = """pulled: True and again: False
merged: 1 with 300 lessons
pulled: True with 300 lessons
best: [b'hat']
"""


def run(command, **environment):
    """What a program prints; it must end within a minute, and well."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
    assert done.returncode == 0, f"{command[:2]} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


class Examples(unittest.TestCase):
    def partly(self, reason):
        print(f"skipped in part: {reason}")

    def need_redis_py(self):
        if importlib.util.find_spec("redis") is None:
            self.partly("redis-py is not installed (Debian: python3-redis)")
            return False
        return True

    def setUp(self):
        self.server = Server(port=True)
        self.url = f"redis://127.0.0.1:{self.server.port}"

    def tearDown(self):
        self.server.remove()

    def test_python(self):
        if self.need_redis_py():
            said = run([sys.executable, EXAMPLES / "rank_page.py", self.url])
            self.assertRegex(said, LEARNED)

    def test_late_clicks(self):
        if self.need_redis_py():
            self.assertEqual(run([sys.executable, EXAMPLES / "late_clicks.py", self.url]), LATE)

    def test_edge(self):
        if self.need_redis_py():
            with Server(port=True) as edge:
                edge_url = f"redis://127.0.0.1:{edge.port}"
                self.assertEqual(run([sys.executable, EXAMPLES / "edge.py", self.url, edge_url]), EDGE)

    def test_c(self):
        if not os.environ.get("OLTR_RANK_PAGE"):
            self.partly("hiredis is not installed (Debian: libhiredis-dev)")
            return
        said = run([os.environ["OLTR_RANK_PAGE"], "127.0.0.1", str(self.server.port)])
        self.assertRegex(said, LEARNED)

    def test_node(self):
        """Each program with every version of its client; it finds the client by NODE_PATH."""
        found, missing = node_clients()
        for reason in missing:
            self.partly(reason)
        for client, folder in found.items():
            name = "ioredis" if client.startswith("ioredis") else "redis"
            program = {"redis": "rank_page.js", "ioredis": "rank_page_ioredis.js"}[name]
            with tempfile.TemporaryDirectory() as path:
                (pathlib.Path(path) / name).symlink_to(folder)
                self.server.call("FLUSHALL")
                said = run(["node", EXAMPLES / program, self.url], NODE_PATH=f"{path}:{DEBIAN}")
            self.assertRegex(said, LEARNED if name == "redis" else HAT_FIRST, client)
            print(f"{program}: {client}")


if __name__ == "__main__":
    need_redis()
    unittest.main(verbosity=2)
