"""ranker.py - the ranker of the shop: one key of a Redis server with the module oltr.

Everything that is learned is in that key.  Each method is one command, but for `restart`.
"""

import redis

from products import IDS, SLOTS, TOLD, TOLD_WEIGHT

KEY = "shop"
Failure = redis.exceptions.RedisError


def shapes(rate):
    """The two numbers of a Beta prior with this mean."""
    return rate * TOLD_WEIGHT, (1 - rate) * TOLD_WEIGHT


def as_map(reply):
    """A map: a dict of RESP3, or the flat array of RESP2."""
    pairs = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2])
    return {name.decode(): value for name, value in pairs}


class Ranker:
    def __init__(self, client):
        self.client = client

    def call(self, command, *words):
        return self.client.execute_command("OLTR." + command, KEY, *words)

    def restart(self):
        """A new ranker in place of the old one, in one transaction: no reader finds the key missing.

        ts-hyper learns how far its prior can be trusted.  Products without a prior of their own, which
        the shop does not have, would start from the average.
        """
        average = shapes(sum(TOLD.values()) / len(TOLD))
        told = [word for id in IDS for word in (id, *shapes(TOLD[id]))]
        with self.client.pipeline(transaction=True) as batch:
            batch.delete(KEY)
            batch.execute_command("OLTR.CREATE", KEY, "ts-hyper", "PRIOR", *average, "SET", "prior", "full")
            batch.execute_command("OLTR.PRIOR", KEY, *told)
            batch.execute()

    def rank(self, visitor):
        """The list for a visitor: the same text draws the same noise, so a reload shows nearly the same list."""
        return [id.decode() for id in self.call("RANK", SLOTS, "ALL", "SEED", visitor)]

    def learn(self, shown, clicked, id):
        """clicked is a position from 1, or 0.  What counts as seen is the model's rule, the cascade: the products
        down to the click, all of them without one.  The answer is False for an id that was seen before."""
        clicks = [1, clicked] if clicked else [0]
        return self.call("LEARN", "ITEMS", len(shown), *shown, "CLICKS", *clicks, "ID", id) == 1

    def forget(self, keep, id):
        return self.call("FORGET", keep, "ID", id) == 1

    def beliefs(self):
        """For every product in the order of the shop: mean, sd, and the share of the prior in them, 0 to 1."""
        out = []
        for reply in self.call("EXPLAIN", "ITEMS", len(IDS), *IDS):
            about = as_map(reply)
            out.append({name: float(about[name]) for name in ("mean", "sd", "prior_share")})
        return out

    def info(self):
        """The number of lessons, and how much of the told order holds as far as is known, 0 to 1."""
        about = as_map(self.call("INFO"))
        return {"lessons": int(about["lessons"]), "order": float(as_map(about["learned"])["slope"][0])}
