"""pages.py - what docs/redis.md, docs/redis-commands.md and README.md say, against a running server.

The lines with `$ ` of console blocks are run, and what follows is what they must print.  The tables
of commands, errors, limits, fields and events must have what the server has: no row more, none less.
The settings and the systemd drop-in of examples/redis are tried.

From the environment, beside that of server.py:
    OLTR_SOURCE           the repository
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from probe import fields
from resp import ReplyError
from server import Server, module_path, need_redis, redis_program

SOURCE = pathlib.Path(os.environ["OLTR_SOURCE"])
GUIDE, REFERENCE = "docs/redis.md", "docs/redis-commands.md"
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def page(name):
    return (SOURCE / name).read_text(encoding="utf-8")


def section(name, heading):
    """The text from a heading to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", page(name), re.M | re.S)
    assert found, f"{name} has no section {heading}"
    return found.group(1)


def rows(text):
    """The cells of all table rows but headings and rules; `a\\|b` is one cell."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    cells = [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]
    heads = {at - 1 for at, row in enumerate(cells) if set("".join(row)) <= set("-")}
    return [row for at, row in enumerate(cells) if at not in heads and at - 1 not in heads]


def names(text):
    """What a text has between backquotes."""
    return re.findall(r"`([^`]+)`", text)


def short(text):
    """Six digits of a fraction, as the last ones depend on the C library, and no sentence behind NOPERM, as
    Redis and Valkey have different ones."""
    return re.sub(r"NOPERM .*", "NOPERM", re.sub(r"([0-9]\.[0-9]{6})[0-9]+", r"\1", text))


class Pages(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.server = Server()
        self.redis = self.server.client()

    def tearDown(self):
        self.server.remove()

    # ---- examples that are run

    def shell(self, command, folder):
        """Runs it with a redis-cli that prints as for a terminal, on our server."""
        cli = folder / "redis-cli"
        if not cli.exists():
            cli.write_text(f'#!/bin/sh\nexec {shutil.which("redis-cli")} -s {self.server.socket} --no-raw "$@"\n')
            cli.chmod(0o755)
        path = f"{folder}:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": path},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr

    def console(self, name):
        """Pairs: a command, and what it prints."""
        for block in CONSOLE.findall(page(name)):
            for piece in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, _, output = piece.partition("\n")
                yield command, output

    def run_console(self, name, least):
        examples = list(self.console(name))
        self.assertGreaterEqual(len(examples), least, name)
        with tempfile.TemporaryDirectory() as folder:
            for command, output in examples:
                said = self.shell(command, pathlib.Path(folder))
                self.assertEqual(short(output).strip("\n"), short(said).strip("\n"), f"{name}: {command}")

    def test_guide(self):
        self.run_console(GUIDE, 18)

    def test_readme(self):
        """The lines of its section that call redis-cli: the last but one learns, the last ranks."""
        lines = [line.strip() for line in section("README.md", "Through Redis").splitlines()]
        commands = [line.split("  #")[0] for line in lines if line.startswith("redis-cli ")]
        with tempfile.TemporaryDirectory() as folder:
            said = [self.shell(command, pathlib.Path(folder)) for command in commands]
        self.assertEqual(said[0], "OK\n")
        self.assertEqual(said[-2], "(integer) 1\n")
        self.assertRegex(said[-1], r'^1\) "\w+"\n2\) "\w+"\n3\) "\w+"\n$')

    # ---- tables

    def test_commands(self):
        listed = {row[0].strip("`").split()[0] for row in rows(section(REFERENCE, "Commands"))}
        found = {name.decode().upper() for name in self.redis.call("COMMAND", "LIST", "FILTERBY", "MODULE", "oltr")}
        self.assertEqual(listed, found)
        answered = re.findall(r"\b[A-Z]{3,}\b", " ".join(row[0] for row in rows(section(REFERENCE, "Replies"))))
        self.assertLessEqual(found, {f"OLTR.{word}" for word in answered})

    def test_limits(self):
        listed = {names(row[0])[0]: row[1] for row in rows(section(REFERENCE, "Limits"))}
        pairs = self.redis.call("CONFIG", "GET", "oltr.*")
        self.assertEqual(listed, {k.decode(): v.decode() for k, v in fields(pairs).items()})

    def test_errors(self):
        """Every example of the table gets the error of its row."""
        for command in ("OLTR.CREATE home ts-hyper", "OLTR.CREATE small gts MAXITEMS 1",
                        "OLTR.CREATE rows lints DIM 2", "SET text words"):
            self.redis.call(*command.split())
        tried = 0
        for word, _, _, example in rows(section(REFERENCE, "Errors")):
            if example:
                reply = self.redis.attempt(*shlex.split(example.strip("`")))
                self.assertIsInstance(reply, ReplyError, example)
                self.assertEqual(reply.word, word.strip("`"), f"{example}: {reply.text}")
                tried += 1
        self.assertGreaterEqual(tried, 14)

    def test_maps(self):
        listed = {row[0]: names(row[1]) for row in rows(section(REFERENCE, "Replies")) if len(row) == 2}
        self.redis.call("OLTR.CREATE", "home", "ts-hyper")
        client = self.server.client(3)
        [explained] = client.call("OLTR.EXPLAIN", "home", "ITEMS", 1, "hat")
        self.assertEqual([key.decode() for key in explained], listed["EXPLAIN"])
        info = [key.decode() for key in client.call("OLTR.INFO", "home")]
        self.assertEqual(info, [name for name in listed["INFO"] if name != "ts-hyper"])
        kind = client.call("OLTR.KINDS", "ts-hyper")
        shown = [name for name in listed["KINDS kind"] if name not in ("clicks", "reals")]
        own = [key.decode() for key in kind]
        self.assertEqual(own + [key.decode() for key in kind[b"parameters"][0]], shown)

    def test_events(self):
        """One change of each kind, and the events that the page lists."""
        listed = {name for name in names(section(REFERENCE, "Events")) if name.startswith("oltr.")}
        self.redis.call("CONFIG", "SET", "notify-keyspace-events", "Ed")
        listener = self.server.client()
        listener.call("PSUBSCRIBE", "__keyevent@0__:*")
        self.redis.call("OLTR.CREATE", "home", "gts", "PRIOR", "0.1", "0.1", "SET", "prior", "full")
        image = self.redis.call("OLTR.DUMP", "home")
        for command in ("LEARN home ITEMS 2 hat shoe CLICKS 0", "PRIOR home coat 0.1 0.1", "RESET home hat",
                        "REM home hat", "LEARN home ITEMS 1 sock CLICKS 0", "TRIM home IDLE 1", "FORGET home 0.5"):
            self.redis.call(*f"OLTR.{command}".split())
        self.redis.call("OLTR.MERGE", "home", image)
        self.redis.call("OLTR.LOAD", "other", image)
        self.redis.call("PUBLISH", "__keyevent@0__:end", "")
        events = iter(lambda: listener.read()[2].decode().rsplit(":", 1)[1], "end")
        self.assertEqual(set(events), listed)

    def test_info_fields(self):
        listed = [names(row[0])[0] for row in rows(section(GUIDE, "Monitoring")) if row[0].startswith("`oltr_")]
        found = [name for name in self.server.info("oltr")]
        self.assertEqual(listed, found)

    def test_roles(self):
        """Every role of the table may do what its row says, on its keys, and no other command."""
        every = {name.decode() for name in self.redis.call("COMMAND", "LIST", "FILTERBY", "MODULE", "oltr")}
        named = set()
        for role, commands, keys in rows(section(GUIDE, "Access")):
            rules, [pattern] = names(commands)[0].split(), names(keys)
            allowed = {rule[1:] for rule in rules}
            named |= allowed & every
            self.redis.call("ACL", "SETUSER", "somebody", "reset", "on", "nopass", pattern + "home", *rules)
            for command in sorted(every | {"del"}):
                for key in ("home", "other"):
                    said = self.may(command, key)
                    self.assertEqual(said == b"OK", command in allowed and (key == "home" or command == "oltr.kinds"),
                                     f"{role}: {command} {key}: {said}")
        self.assertEqual(named, every)

    def may(self, command, key):
        """What the server says to a command of the user with arguments of every kind."""
        tail = {"oltr.create": ["gts"], "oltr.rank": ["1", "ALL"], "oltr.learn": ["ITEMS", "1", "a", "CLICKS", "0"],
                "oltr.propensity": ["1", "ALL"], "oltr.prior": ["a", "1", "1"], "oltr.rem": ["a"], "oltr.reset": ["a"],
                "oltr.trim": ["IDLE", "1"], "oltr.scan": ["0"], "oltr.forget": ["1"], "oltr.merge": ["x"],
                "oltr.load": ["x"], "oltr.predict": ["ALL"], "oltr.explain": ["ALL"]}.get(command, [])
        first = [] if command == "oltr.kinds" else [key]
        return self.redis.call("ACL", "DRYRUN", "somebody", command, *first, *tail)

    # ---- files of examples/redis

    def as_systemd(self, settings):
        """A program that starts a server by the last ExecStart of the drop-in, with other files."""
        line = re.findall(r"^ExecStart=(.+)$", page("examples/redis/oltr-systemd.conf"), re.M)[-1]
        for old, new in (("/usr/bin/redis-server", redis_program()), ("/etc/redis/redis.conf", "$1"),
                         ("/etc/redis/oltr.conf", str(settings)), ("--supervised systemd", "--supervised no")):
            self.assertIn(old, line)
            line = line.replace(old, new)
        program = settings.parent / "as-systemd"
        program.write_text(f"#!/bin/sh\nexec {line}\n")
        program.chmod(0o755)
        return str(program)

    def test_settings(self):
        """A server with oltr-redis.conf, but for the path of the module, started as the drop-in does."""
        text = page("examples/redis/oltr-redis.conf")
        self.assertIn("\nloadmodule /usr/local/lib/redis/modules/oltr.so\n", text)
        text = text.replace("/usr/local/lib/redis/modules/oltr.so", module_path())
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "oltr.conf"
            path.write_text(text)
            with Server(module=False, program=self.as_systemd(path)) as server:
                server.call("OLTR.CREATE", "home", "ts-hyper")
                for line in text.splitlines():
                    name, _, value = line.partition(" ")
                    if line and name not in ("#", "loadmodule") and not line.startswith("#"):
                        [(_, found)] = fields(server.call("CONFIG", "GET", name)).items()
                        wanted = value.replace("1gb", str(1 << 30))
                        self.assertEqual(found.decode(), wanted, name)

    def test_systemd(self):
        """The drop-in, merged into Debian's unit, as systemd-analyze reads it."""
        unit = pathlib.Path("/lib/systemd/system/redis-server.service")
        if not shutil.which("systemd-analyze") or not unit.exists():
            print("skipped in part: systemd-analyze or redis-server.service is not installed")
            return
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "redis-server.service"
            shutil.copy(unit, copy)
            extra = pathlib.Path(folder) / "redis-server.service.d"
            extra.mkdir()
            shutil.copy(SOURCE / "examples/redis/oltr-systemd.conf", extra / "oltr.conf")
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True,
                                  timeout=60)
            said = [line for line in (done.stdout + done.stderr).splitlines() if "oltr.conf" in line]
            self.assertEqual(said, [])
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    need_redis()
    unittest.main(verbosity=2)
