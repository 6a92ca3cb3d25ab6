#!/usr/bin/env python3
"""Memory of models in a Redis server.

used_memory is what the server has allocated, RSS what the process holds of the machine's memory; both
less what the server takes without a key, and with the keys.  A model has learned one list of all its
items, with an ID.  Names have 16 bytes.

    redis_memory.py MODULE [--quick] [--strict] [--only TEXT]
"""
import sys

from redis_common import KINDS, NAME_SIZE, Table, learn_names, names, parse_options
from server import Server

PIPELINE = 200
IDS = 1100  # more lessons than the window has ids by default


def ask(client, commands):
    for reply in client.many(commands):
        if reply not in (b"OK", 1):
            sys.exit(f"redis_memory.py: {reply}")


def make_models(client, kind, models, items):
    for first in range(0, models, PIPELINE):
        commands = []
        for number in range(first, min(first + PIPELINE, models)):
            key, blob = f"model:{number}", b"".join(names(min(items, 1000), 100 * number))
            commands.append(("OLTR.CREATE", key, kind))
            commands.append(("OLTR.LEARN", key, "FIXED", NAME_SIZE, blob, "CLICKS", 0, "ID", key))
        ask(client, commands)
        for number in range(first, min(first + PIPELINE, models)):
            if items > 1000:
                learn_names(client, f"model:{number}", names(items, 100 * number))


def fill_windows(client, models):
    for number in range(models):
        ask(client, [("OLTR.LEARN", f"model:{number}", "FIXED", NAME_SIZE, names(1, 100 * number)[0], "CLICKS", 0,
                      "ID", f"lesson:{lesson}") for lesson in range(IDS)])


def memory(server):
    info = server.info("memory")
    return int(info["used_memory"]), int(info["used_memory_rss"])


def models_row(table, kind, models, items, windows=False, most=None):
    with Server(loglevel="notice") as server:
        before = memory(server)
        client = server.client()
        make_models(client, kind, models, items)
        if windows:
            fill_windows(client, models)
        client.close()
        used, rss = (now - then for now, then in zip(memory(server), before))
    ids = f", {IDS:,} lessons with IDs" if windows else ""
    table.row(f"{kind}: {models:,} models of {items:,} items{ids}", f"{used / models:,.0f}", f"{used / 1e6:.1f}",
              f"{rss / 1e6:.1f}", value=max(used, rss) / 1e6, most=most, unit=" MB")


def main():
    options = parse_options(__doc__)
    scale = 1000 if options.quick else 1
    table = Table(options, "models", "bytes each", "used_memory, MB", "RSS, MB")
    for kind in KINDS:
        if options.only not in kind:
            continue
        models_row(table, kind, 100_000 // scale, 30, most=500)
        models_row(table, kind, max(2, 2000 // scale), 300)
        models_row(table, kind, max(2, 200 // scale), 3000)
        models_row(table, kind, max(2, 200 // scale), 30, windows=True)
    return options.strict and table.missed


if __name__ == "__main__":
    sys.exit(main())
