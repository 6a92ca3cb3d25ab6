"""node_packages.py - the folders of Node clients: Debian's, and those of npm in the build folder.

npm gets a bounded time, and is not asked again for ten minutes after it failed.  OLTR_NPM is the
folder that it installs into; without it, or without a network, the clients of npm are missing, and the
tests say so.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import time

DEBIAN = pathlib.Path("/usr/share/nodejs")  # for NODE_PATH: only Debian's node looks there by itself
NPM = {"ioredis5": "npm:ioredis@5.8.2", "ioredis6": "npm:ioredis@6.0.0", "redis6": "npm:redis@6.3.1"}
NPM_SECONDS = 120
PATIENT = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=30000"]
ASK_AGAIN = 600  # seconds


def node_version():
    """The first number of `node --version`, or 0."""
    if not shutil.which("node"):
        return 0
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return int(said.lstrip("v").split(".")[0])


def install(folder):
    """Why npm could not install the packages, or an empty text.  Two tests may call it at once."""
    wanted = [f"{name}@{source}" for name, source in NPM.items()]
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / "installed"
        if stamp.exists() and stamp.read_text() == str(wanted):
            return ""
        failed = folder / "failed"
        if failed.exists() and time.time() - failed.stat().st_mtime < ASK_AGAIN:
            return failed.read_text()
        problem = ask_npm(folder, wanted)
        (failed if problem else stamp).write_text(problem or str(wanted))
        return problem


def ask_npm(folder, wanted):
    command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", *PATIENT]
    try:
        done = subprocess.run(command + wanted, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=NPM_SECONDS)
    except subprocess.TimeoutExpired:
        return f"npm did not install {', '.join(NPM)} within {NPM_SECONDS} s"
    said = " ".join(line for line in done.stderr.splitlines() if " error " in line)
    return f"npm could not install {', '.join(NPM)}: {said[:200]}" if done.returncode else ""


def node_clients():
    """{"node-redis of Debian": folder, "ioredis 5": folder, ...}, and why others are missing"""
    found, missing = {}, []
    version = node_version()
    if not version:
        return found, ["node is not installed (Debian: nodejs): no node-redis, no ioredis"]
    if (DEBIAN / "redis" / "package.json").exists():
        found["node-redis 4 of Debian"] = DEBIAN / "redis"
    else:
        missing.append("node-redis is not installed (Debian: node-redis)")
    if not shutil.which("npm") or not os.environ.get("OLTR_NPM"):
        return found, missing + ["npm is not installed: no ioredis, no current node-redis"]
    folder = pathlib.Path(os.environ["OLTR_NPM"]).resolve()
    problem = install(folder)
    if problem:
        return found, missing + [problem]
    found["ioredis 5"] = folder / "node_modules/ioredis5"
    if version >= 20:
        found["ioredis 6"] = folder / "node_modules/ioredis6"
        found["node-redis 6"] = folder / "node_modules/redis6"
    else:
        missing.append(f"Node {version}: ioredis 6 and node-redis 6 need Node 20")
    return found, missing
