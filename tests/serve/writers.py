"""writers.py - threads that teach lessons with ids, and retry those that were not answered: what a
careful caller does.
"""

import random
import threading
import time

from resp import Client, Disconnected, ReplyError

AGAIN = ("LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MISCONF", "NOREPLICAS")


class Writers:
    """n threads; each lesson has an id of its own and is sent until it is answered with 1 or 0.

    connect() gives a connection with call() and close(); it is called again after each failure.
    name begins the ids.  acknowledged is {id: (key, time of the answer)}; answers counts replies 1 and 0.
    """

    def __init__(self, connect, kinds, n=8, prefix="model:", items=40, name="writer"):
        self.connect, self.kinds, self.prefix, self.items, self.name = connect, kinds, prefix, items, name
        self.acknowledged, self.answers = {}, {0: 0, 1: 0}
        self.lesson = {}  # id: the command
        self.lock, self.ending, self.problems = threading.Lock(), threading.Event(), []
        self.retries = 0
        self.threads = [threading.Thread(target=self.run, args=(i,), daemon=True) for i in range(n)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        dice, turn, client = random.Random(number), 0, None
        try:
            while not self.ending.is_set():
                kind = self.kinds[(number + turn) % len(self.kinds)]
                key, ident = self.prefix + kind.name, f"{self.name} {number} lesson {turn}"
                client = self.deliver(client, kind.lesson(dice, key, ident, self.items), key, ident)
                turn += 1
        except Exception as problem:  # reported by stop()
            self.problems.append(problem)
        if client:
            client.close()

    def deliver(self, client, lesson, key, ident):
        """Sends one lesson until it is answered; returns the connection."""
        with self.lock:
            self.lesson[ident] = lesson
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                client = client or self.connect()
                answer = client.call(*lesson)
                with self.lock:
                    self.acknowledged[ident] = (key, time.monotonic())
                    self.answers[answer] += 1
                return client
            except ReplyError as error:
                if error.word not in AGAIN:
                    raise
            except (Disconnected, TimeoutError, OSError):
                pass
            if client:
                client.close()
            client = None
            self.retries += 1
            time.sleep(0.02)
        raise TimeoutError(f"{ident} was not answered within two minutes")

    def count(self):
        with self.lock:
            return len(self.acknowledged)

    def wait_for(self, more, seconds=120.0):
        """Until so many more lessons were acknowledged."""
        goal, deadline = self.count() + more, time.monotonic() + seconds
        while self.count() < goal and not self.problems:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.count()} of {goal} lessons within {seconds} s")
            time.sleep(0.005)

    def snapshot(self):
        """{id: (key, time)} of what has been acknowledged by now."""
        with self.lock:
            return dict(self.acknowledged)

    def stop(self):
        """All threads end after the answer to their last lesson."""
        self.ending.set()
        for thread in self.threads:
            thread.join(150)
        if self.problems:
            raise self.problems[0]

    def per_key(self):
        counts = {}
        for key, _ in self.acknowledged.values():
            counts[key] = counts.get(key, 0) + 1
        return counts


def to_server(server):
    """A connect() for one server."""
    return lambda: Client(server.socket, timeout=60)
