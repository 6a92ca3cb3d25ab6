#!/usr/bin/env python3
"""rank_page.py - a page of five products that learns from clicks, through Redis.

    python3 rank_page.py [URL]          redis://127.0.0.1:6379 unless given, or unix:///path

Needs redis-py (Debian: python3-redis) and a server with the module oltr.  The users are simulated:
they look from the top, and click one of the five best products 20 times as often as another.
"""

import random
import sys

import redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

KEY, SLOTS, VIEWS = "page:python", 5, 2000
PRODUCTS = [f"product {i}" for i in range(50)]
GOOD = set(PRODUCTS[::10])  # the users know this, the model does not


def connect(url):
    """Repeats a command that got no answer: each LEARN has an ID, so it counts once."""
    return redis.Redis.from_url(
        url,
        decode_responses=True,
        socket_timeout=1,
        retry=Retry(ExponentialBackoff(cap=1, base=0.05), 3),
        retry_on_error=[redis.ConnectionError, redis.TimeoutError],
    )


def create(server):
    try:
        server.execute_command("OLTR.CREATE", KEY, "ts-hyper")
    except redis.ResponseError as error:
        if not str(error).startswith("EXISTS "):  # the first word of an error is fixed
            raise


def rank(server, session):
    """The SLOTS best of the candidates, as strings; a session sees nearly the same again."""
    candidates = ["ITEMS", len(PRODUCTS), *PRODUCTS]
    return server.execute_command("OLTR.RANK", KEY, SLOTS, *candidates, "SEED", session)


def learn(server, view, shown, clicks):
    """1, or 0 if this view was learned before.  Clicks are positions from 1."""
    lesson = ["ITEMS", len(shown), *shown, "CLICKS", len(clicks), *clicks, "ID", view]
    return server.execute_command("OLTR.LEARN", KEY, *lesson)


def user_clicks(user, shown):
    """The position of the first product that attracts this user, if any does."""
    for position, product in enumerate(shown, start=1):
        if user.random() < (0.2 if product in GOOD else 0.01):
            return [position]
    return []


def main():
    server = connect(sys.argv[1] if len(sys.argv) > 1 else "redis://127.0.0.1:6379")
    create(server)
    user, good = random.Random(7), []
    for n in range(VIEWS):
        shown = rank(server, f"session {n}")
        learn(server, f"view {n}", shown, user_clicks(user, shown))
        good.append(len(GOOD.intersection(shown)))
    print("good products of 5, first 100 views:", sum(good[:100]) / 100)
    print("good products of 5, last 100 views:", sum(good[-100:]) / 100)
    print("the same view again counts:", learn(server, f"view {VIEWS - 1}", shown, []))


if __name__ == "__main__":
    main()
