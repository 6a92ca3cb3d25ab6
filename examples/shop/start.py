"""start.py - starts the shop: a Redis server of its own with the module oltr, the ranker, the visitors, the pages.

The Redis server listens on a socket in a new folder, keeps nothing on disk, and ends with the shop.
usage: start.py MODULE [--port N] [--seed N]
"""

import argparse
import ctypes
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

try:
    import redis
except ImportError:
    sys.exit("The shop needs redis-py: apt install python3-redis, or pip install redis.")

from ranker import KEY, Ranker
from visitors import Visitors
from web import Server

PR_SET_PDEATHSIG = 1


def end_with_parent():
    """The Redis server is ended by the system even if the shop is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Redis:
    """A Redis server with the module, until `stop`."""

    def __init__(self, module):
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        if not program:
            sys.exit("The shop needs a Redis server: apt install redis-server.")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="oltr-shop-"))
        self.socket = self.folder / "redis.sock"
        self.log = self.folder / "redis.log"
        command = [program, "--port", "0", "--unixsocket", self.socket, "--unixsocketperm", "700", "--dir", self.folder,
                   "--logfile", self.log, "--save", "", "--appendonly", "no", "--daemonize", "no", "--loadmodule", module]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=end_with_parent)
        self.client = redis.Redis(unix_socket_path=str(self.socket))

    def wait(self):
        for _ in range(600):
            try:
                return self.client.ping()
            except redis.exceptions.ConnectionError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        said = self.log.read_text(errors="replace").splitlines()[-6:] if self.log.exists() else ["(no log)"]
        sys.exit("\n".join(["The Redis server did not start. The end of its log:", *said]))

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def arguments():
    parser = argparse.ArgumentParser(prog="examples/shop/run", description="A shop that learns from clicks, on 127.0.0.1.")
    parser.add_argument("module", help="the Redis module, oltr.so")
    parser.add_argument("--port", type=int, default=0, help="of the web server; 0, the default, is any free port")
    parser.add_argument("--seed", type=int, default=1, help="of the simulated visitors")
    return parser.parse_args()


def serve(client, port, seed):
    ranker = Ranker(client)
    ranker.restart()
    visitors = Visitors(ranker, seed)
    try:
        server = Server(port, ranker, visitors)
    except (OSError, OverflowError) as failure:
        sys.exit(f"The port {port} cannot be used ({failure}); give another one with --port.")
    visitors.start()
    print(f"The shop is open: http://127.0.0.1:{server.server_address[1]}/  (Ctrl-C closes it)", flush=True)
    try:
        server.serve_forever()
    finally:
        visitors.end()
        visitors.join(5)
        server.server_close()


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    options = arguments()
    if not pathlib.Path(options.module).is_file():
        sys.exit(f"There is no module {options.module}.")
    signal.signal(signal.SIGTERM, interrupt)
    server = Redis(pathlib.Path(options.module).resolve())
    try:
        server.wait()
        print(f"To look into it: redis-cli -s {server.socket} OLTR.INFO {KEY}", flush=True)
        serve(server.client, options.port, options.seed)
    except KeyboardInterrupt:
        print("closed")
    finally:
        server.stop()


if __name__ == "__main__":
    main()
