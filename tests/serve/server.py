"""server.py - throw-away Redis servers with the module loaded, for tests and examples.

Each server has a temporary folder and a unix socket in it, and a free loopback port where one is asked for; so
any number of tests run at once.  All servers are stopped and their folders removed at exit, also
after a failure, SIGTERM or SIGINT; a killed test takes its servers with it (PR_SET_PDEATHSIG).

    with Server(appendonly="yes", appendfsync="always") as server:
        redis = server.client()
        redis.call("OLTR.CREATE", "home", "ts-beta")
        server.kill()                   # SIGKILL
        server.start()                  # the same folder

From the environment:
    OLTR_MODULE           the module, oltr.so
    OLTR_REDIS_SERVER     the server program; otherwise redis-server in PATH
    OLTR_VALKEY_SERVER    a second one; otherwise valkey-server in PATH, or none
    OLTR_PRELOAD          a library that the server starts with: the sanitizer of the module
    OLTR_KEEP             1: the folders are left for inspection
"""

import atexit
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from resp import Client, Disconnected, ReplicationStream, ReplyError, retry, to_bytes

SKIPPED = 77
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1
LOGS = ("log", "output")
running = []  # servers that have a process or a folder


def redis_program():
    """The server to test, or None."""
    return shutil.which(os.environ.get("OLTR_REDIS_SERVER") or "redis-server")


def valkey_program():
    return shutil.which(os.environ.get("OLTR_VALKEY_SERVER") or "valkey-server")


def module_path():
    path = os.environ.get("OLTR_MODULE", "")
    if not path:
        sys.exit("OLTR_MODULE is not set: run this by ctest, or give the path of oltr.so")
    if not pathlib.Path(path).is_file():
        sys.exit(f"OLTR_MODULE={path}: no such file; build the target oltr_redis")
    return str(pathlib.Path(path).resolve())


def sanitizer():
    """Variables of the environment for a server that loads a sanitized module.

    The server itself is not sanitized: what it still holds at its end is not a leak.
    """
    libraries = os.environ.get("OLTR_PRELOAD")
    if not libraries:
        return {}
    return {"LD_PRELOAD": libraries, "ASAN_OPTIONS": "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def need_redis():
    """Ends the program as skipped when there is no server to test."""
    if not redis_program():
        skip("redis-server is not installed")
    module_path()


def free_port():
    """A loopback port that nothing listens on now, below 55,536 (a cluster bus is 10,000 above)."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port < 55536:
            return port


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def stop_all():
    for server in list(running):
        server.remove()


def on_signal(number, frame):
    sys.exit(128 + number)


atexit.register(stop_all)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, on_signal)

DEFAULTS = {
    "save": "",
    "daemonize": "no",
    "appendonly": "no",
    "appendfsync": "everysec",
    "auto-aof-rewrite-percentage": "0",
    "enable-debug-command": "yes",
    "enable-module-command": "yes",
    "repl-diskless-sync-delay": "0",
    "repl-ping-replica-period": "3600",
    "repl-timeout": "7200",
    "repl-backlog-ttl": "0",
    "busy-reply-threshold": "60000",
    "loglevel": "verbose",
}


class Server:
    """One server process and its folder.

    Options are those of redis.conf with _ for -; a list gives several lines.  port=True listens on
    a free loopback port too.  module=False leaves the module out; module_args are its arguments.
    env adds variables of the environment.  before is called in the new process.  Servers are
    started from the main thread only: the kernel ties a child to the thread that made it.
    """

    def __init__(self, port=False, module=True, module_args=(), program=None, env=None, before=None,
                 folder=None, start=True, **options):
        self.program = program or redis_program()
        self.module, self.module_args = module, list(module_args)
        self.env, self.before = dict(env or {}), before
        self.options = dict(DEFAULTS)
        self.configure(**options)
        self.own_folder = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="oltr-serve-"))
        self.socket = str(self.folder / "socket")
        self.wants_port, self.port = port, 0
        self.process = None
        self.groups = []  # of processes, one for each start
        self.clients = []
        running.append(self)
        if start:
            self.start()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.remove()

    def configure(self, **options):
        for name, value in options.items():
            self.options[name.replace("_", "-")] = value

    # ---- the process

    def write_config(self):
        lines = [f"port {self.port}", "bind 127.0.0.1", f"unixsocket {self.socket}",
                 f"dir {self.folder}", f"logfile {self.folder}/log"]
        for name, value in self.options.items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                lines.append(f"{name} {one}" if one != "" else f'{name} ""')
        if self.module:
            lines.append(" ".join(["loadmodule", module_path(), *map(str, self.module_args)]))
        (self.folder / "redis.conf").write_text("\n".join(lines) + "\n")

    def prepare_child(self):
        die_with_parent()
        if self.before:
            self.before()

    def spawn(self):
        self.port = self.port or (free_port() if self.wants_port else 0)
        self.write_config()
        pathlib.Path(self.socket).unlink(missing_ok=True)
        with open(self.folder / "output", "ab") as output:
            self.process = subprocess.Popen(
                [self.program, str(self.folder / "redis.conf")], stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, cwd=self.folder, env={**os.environ, **sanitizer(), **self.env},
                preexec_fn=self.prepare_child, start_new_session=True)
        self.groups.append(self.process.pid)

    def start(self, wait=True):
        """Starts the process and waits until it has loaded its data; another port if one is taken."""
        for attempt in range(5):
            before = self.log_mark()
            self.spawn()
            if not wait:
                return self
            try:
                self.wait_ready()
                return self
            except RuntimeError:
                if not self.wants_port or "in use" not in self.log(before) or attempt == 4:
                    raise
                self.port = 0
        return self

    def wait_ready(self, seconds=120.0):
        def ready():
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with {self.process.returncode}:\n{self.tail()}")
            with Client(self.socket, timeout=seconds) as client:
                return b"\r\nloading:0" in client.call("INFO", "persistence")

        retry(ready, seconds, errors=(Disconnected, ReplyError, TimeoutError))

    def start_fails(self, seconds=60.0):
        """Starts the process, which must end by itself; returns what it has logged since."""
        before = self.log_mark()
        self.spawn()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("the server started, and was to refuse") from None
        code, self.process = self.process.returncode, None
        assert code >= 0, f"signal {-code} ended the server:\n{self.tail(60)}"
        return self.log(before)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def close_clients(self):
        for client in self.clients:
            client.close()
        self.clients = []

    def kill(self):
        """SIGKILL: nothing of the process runs any more."""
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None
        self.close_clients()

    def kill_children(self):
        """SIGKILL for the process and the children that save, of earlier starts too."""
        for group in self.groups:
            try:
                os.killpg(group, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.groups = []

    def pause(self):
        """SIGSTOP: it answers nothing until resume()."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """SIGTERM: an orderly end, which saves what the options say."""
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None
        self.close_clients()

    def restart(self, **options):
        self.stop()
        self.configure(**options)
        return self.start()

    def remove(self):
        """Ends the process, and children that it left, and removes the folder."""
        self.kill_children()
        self.kill()
        if self in running:
            running.remove(self)
        if self.own_folder and os.environ.get("OLTR_KEEP") != "1":
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---- what it says

    def log_mark(self):
        """A place in the log, for log()."""
        paths = [self.folder / name for name in LOGS]
        return [path.stat().st_size if path.exists() else 0 for path in paths]

    def log(self, mark=(0, 0)):
        """What was logged and printed since the mark."""
        text = ""
        for name, start in zip(LOGS, mark):
            path = self.folder / name
            text += path.read_bytes()[start:].decode("utf-8", "replace") if path.exists() else ""
        return text

    def tail(self, lines=25):
        return "\n".join(self.log().splitlines()[-lines:])

    def address(self):
        return ("127.0.0.1", self.port) if self.port else self.socket

    def client(self, protocol=2, timeout=30.0):
        """A connection, closed when the server is stopped."""
        client = Client(self.socket, protocol, timeout)
        self.clients.append(client)
        return client

    def call(self, *args):
        """One command on a connection of its own."""
        with Client(self.socket) as client:
            return client.call(*args)

    def info(self, section="everything"):
        """INFO as a dict of texts."""
        lines = self.call("INFO", section).decode("utf-8", "replace").splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line and line[0] != "#")

    def begin_backlog(self):
        """Makes the server count its replication offset, as it does with a replica."""
        ReplicationStream(self.socket).close()

    def stream(self):
        return ReplicationStream(self.socket)

    def aof_files(self):
        return sorted(p for p in (self.folder / "appendonlydir").glob("*") if p.is_file())

    def wait_idle(self, seconds=120.0):
        """Until no child saves or rewrites."""
        retry(lambda: all(self.info("persistence")[name] == "0" for name in
                          ("rdb_bgsave_in_progress", "aof_rewrite_in_progress", "aof_rewrite_scheduled")), seconds)

    # ---- replicas

    def replicate(self, master):
        self.call("REPLICAOF", "127.0.0.1", master.port)
        return self

    def wait_synced(self, master, seconds=120.0):
        """Until this replica has applied all that the master has written."""

        def synced():
            mine, his = self.info("replication"), master.info("replication")
            return mine.get("master_link_status") == "up" and mine["master_repl_offset"] == his["master_repl_offset"]

        retry(synced, seconds, errors=(Disconnected, ReplyError))

    def digests(self):
        """{key: digest} of all keys of database 0."""
        with Client(self.socket, timeout=120) as client:
            keys = sorted(client.call("KEYS", "*"))
            digests = client.call("DEBUG", "DIGEST-VALUE", *keys) if keys else []
            return dict(zip(keys, digests))


class Cluster:
    """masters with replicas each, all on loopback ports; every slot is served when it is made."""

    def __init__(self, masters=3, replicas=1, **options):
        options = {"cluster_enabled": "yes", "cluster_node_timeout": 2000, "cluster_replica_validity_factor": 0,
                   **options}
        count = masters * (1 + replicas)
        self.nodes = [Server(port=True, **options) for _ in range(count)]
        self.masters = self.nodes[:masters]
        self.ids = {}
        for epoch, node in enumerate(self.nodes, 1):
            node.call("CLUSTER", "SET-CONFIG-EPOCH", epoch)
            self.ids[node] = node.call("CLUSTER", "MYID").decode()
        for number, node in enumerate(self.masters):
            first, last = 16384 * number // masters, 16384 * (number + 1) // masters - 1
            node.call("CLUSTER", "ADDSLOTSRANGE", first, last)
        for node in self.nodes[1:]:
            node.call("CLUSTER", "MEET", "127.0.0.1", self.nodes[0].port)
        retry(lambda: all(self.known(node) == count for node in self.nodes), 60)
        self.replica_of = {}
        for number, node in enumerate(self.nodes[masters:]):
            master = self.masters[number % masters]
            self.replica_of[node] = master
            retry(lambda: node.call("CLUSTER", "REPLICATE", self.ids[master]), 30)
        retry(lambda: all(self.state(node) == "ok" for node in self.nodes), 60)
        for node, master in self.replica_of.items():
            node.wait_synced(master)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for node in self.nodes:
            node.remove()

    @staticmethod
    def cluster_info(node):
        lines = node.call("CLUSTER", "INFO").decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def known(self, node):
        return int(self.cluster_info(node)["cluster_known_nodes"])

    def state(self, node):
        return self.cluster_info(node)["cluster_state"]

    def owner(self, slot):
        """The live master that serves a slot."""
        for node in self.nodes:
            if not node.alive():
                continue
            for first, last, master, *_ in node.call("CLUSTER", "SLOTS"):
                if first <= slot <= last:
                    for other in self.nodes:
                        if other.port == master[1]:
                            return other
        return None


class ClusterClient:
    """Follows MOVED and ASK; counts them."""

    def __init__(self, cluster, timeout=10.0):
        self.cluster, self.timeout = cluster, timeout
        self.open, self.at = {}, {}
        self.moved = self.asked = 0

    def connection(self, port):
        if port not in self.open:
            self.open[port] = Client(("127.0.0.1", port), timeout=self.timeout)
        return self.open[port]

    def drop(self, port):
        client = self.open.pop(port, None)
        if client:
            client.close()

    def call(self, *args):
        key = to_bytes(args[1])
        port = self.at.get(key) or next(n.port for n in self.cluster.nodes if n.alive())
        asking = False
        for _ in range(16):
            try:
                client = self.connection(port)
                if asking:
                    client.call("ASKING")
                return client.call(*args)
            except ReplyError as error:
                if error.word not in ("MOVED", "ASK"):
                    raise
                asking = error.word == "ASK"
                port = int(error.text.rsplit(":", 1)[1])
                self.asked += asking
                self.moved += not asking
                if not asking:
                    self.at[key] = port
            except (Disconnected, TimeoutError):
                self.drop(port)
                self.at.pop(key, None)
                raise
        raise AssertionError(f"{args[:2]}: redirected without end")

    def close(self):
        for client in self.open.values():
            client.close()


def sleep_until(condition, seconds=60.0):
    return retry(condition, seconds, pause=0.01)


if __name__ == "__main__":  # a server to play with: OLTR_MODULE=... server.py [option value ...]
    need_redis()
    pairs = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    with Server(port=True, **{name.replace("-", "_"): value for name, value in pairs.items()}) as one:
        print(f"redis-cli -s {one.socket}    or    redis-cli -p {one.port}    (end with Ctrl-C)", flush=True)
        while one.alive():
            time.sleep(0.2)
