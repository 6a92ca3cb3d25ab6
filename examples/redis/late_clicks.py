#!/usr/bin/env python3
"""late_clicks.py - lists that stay the same on a reload, and clicks that come minutes later.

    python3 late_clicks.py [URL]

What was shown is kept in plain keys beside the model, for as long as clicks may come:
    {shop}:shown:VIEW     a list: the items, in the order of the slots
    {shop}:clicked:VIEW   a set: positions that were clicked
    {shop}:due            a sorted set: views, by the time when they are learned
The braces keep all of them in one slot of a cluster.  A worker learns each view once, when its time
has come: with its clicks, or as seen and not clicked.
"""

import sys

import redis

MODEL, DUE = "{shop}:model", "{shop}:due"
SLOTS, WAIT, KEEP = 3, 600, 7200  # seconds: until a view is learned; until it is forgotten

# RANK and the plain keys in one step, so that two reloads at the same time show the same list.
SHOW = """
local kept = redis.call('LRANGE', KEYS[2], 0, -1)
if #kept > 0 then return kept end
local shown = redis.call('OLTR.RANK', KEYS[1], ARGV[1], 'ALL', 'SEED', ARGV[2])
if #shown == 0 then return shown end
redis.call('RPUSH', KEYS[2], unpack(shown))
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('ZADD', KEYS[3], 'NX', ARGV[4], ARGV[2])
return shown
"""


def shown_key(view):
    return f"{{shop}}:shown:{view}"


def clicked_key(view):
    return f"{{shop}}:clicked:{view}"


def show(server, view, now):
    """The list of a view; every reload of it gets the same."""
    keys = [MODEL, shown_key(view), DUE]
    return server.eval(SHOW, len(keys), *keys, SLOTS, view, KEEP, now + WAIT)


def click(server, view, position):
    """A second click on the same position is the same click."""
    server.sadd(clicked_key(view), position)
    server.expire(clicked_key(view), KEEP)


def learn(server, view):
    """1, or 0 if the view was learned before or is too old."""
    shown = server.lrange(shown_key(view), 0, -1)
    clicks = sorted(int(position) for position in server.smembers(clicked_key(view)))
    if not shown:
        return 0
    lesson = ["ITEMS", len(shown), *shown, "CLICKS", len(clicks), *clicks, "ID", view]
    return server.execute_command("OLTR.LEARN", MODEL, *lesson)


def settle(server, now):
    """Learns the views that are due.  After a crash between two lines the view is still due: the
    next call learns it again, and its ID makes it count once."""
    learned = 0
    for view in server.zrangebyscore(DUE, "-inf", now, start=0, num=100):
        learned += learn(server, view)
        server.zrem(DUE, view)
        server.delete(shown_key(view), clicked_key(view))
    return learned


def create(server):
    options = ["EXAMINE", "LAST", "PRIOR", 1, 30, "SET", "prior", "full"]
    server.execute_command("OLTR.CREATE", MODEL, "ts-beta", *options)
    for item in ("shoe", "hat", "coat", "sock"):
        server.execute_command("OLTR.PRIOR", MODEL, item, 1, 30)


def main():
    url = sys.argv[1] if len(sys.argv) > 1 else "redis://127.0.0.1:6379"
    server = redis.Redis.from_url(url, decode_responses=True)
    server.delete(MODEL)
    create(server)
    before = show(server, "view 1", now=1000)
    print("the reload shows the same list:", show(server, "view 1", now=1030) == before)
    show(server, "view 2", now=1040)
    click(server, "view 1", 2)
    click(server, "view 1", 2)
    print("learned after a minute:", settle(server, now=1060))
    print("learned by a worker that crashes then:", learn(server, "view 1"))
    print("learned after eleven minutes:", settle(server, now=1700))
    print("learned after twelve minutes:", settle(server, now=1720))
    [clicked] = server.execute_command("OLTR.EXPLAIN", MODEL, "ITEMS", 1, before[1])
    print("clicks on the second item:", dict(zip(clicked[::2], clicked[1::2]))["reward"])


if __name__ == "__main__":
    main()
