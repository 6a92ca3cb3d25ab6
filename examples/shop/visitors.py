"""visitors.py - simulated visitors: they read their list from the top and leave with the first click.

Whether visitor n clicks a product depends on the seed, n and the tastes only, so a run can be repeated.
The ranker does not know the tastes; it gets lists and clicks, as from any visitor.
"""

import collections
import random
import threading

from products import RATES, TOLD, best_of, changed_tastes, clicks_per_list
from ranker import Failure

SPEEDS = (5, 25, 250)  # lists a second
RECENT = 100  # the line is the mean of so many lists
FIRST_POINT = 20  # and begins after so many
MOST_POINTS = 300
MOST_MARKS = 12


class Line:
    """Clicks per list over time.  Beyond MOST_POINTS points every second one is left out."""

    def __init__(self):
        self.lists, self.clicks = 0, 0
        self.recent = collections.deque(maxlen=RECENT)
        self.points, self.step = [], 5

    def add(self, clicked):
        self.lists += 1
        self.clicks += clicked
        self.recent.append(clicked)
        if self.lists >= FIRST_POINT and self.lists % self.step == 0:
            self.points.append((self.lists, self.level()))
        if len(self.points) > MOST_POINTS:
            self.step *= 2
            self.points = [point for point in self.points if point[0] % self.step == 0]

    def level(self):
        return sum(self.recent) / len(self.recent) if self.lists >= FIRST_POINT else None


class Visitors(threading.Thread):
    def __init__(self, ranker, seed):
        super().__init__(daemon=True)
        self.ranker, self.seed = ranker, seed
        self.lock = threading.Lock()  # for everything below, and for making the ranker anew
        self.wake = threading.Event()
        self.on, self.speed, self.ended, self.trouble = False, SPEEDS[1], False, None
        self.begin()

    def begin(self):
        self.rates, self.changes, self.marks, self.line = RATES, 0, [], Line()

    def run(self):
        while not self.ended:
            self.wake.wait(1 / self.speed if self.on else None)
            self.wake.clear()
            with self.lock:
                if self.on and not self.ended:
                    self.visit_or_stop()

    def visit_or_stop(self):
        try:
            self.visit(self.line.lists + 1)
        except Failure as failure:
            self.on, self.trouble = False, f"The visitors stopped: {failure}"

    def visit(self, number):
        """A lesson whose answer was lost is sent again with the same id, and counts once."""
        guest = f"guest {number}"
        shown = self.ranker.rank(guest)
        clicked = self.first_click(shown, number)
        self.ranker.learn(shown, clicked, guest)
        self.line.add(clicked > 0)

    def first_click(self, shown, number):
        """Its position from 1, or 0."""
        draws = random.Random(f"{self.seed} {number}")
        for position, id in enumerate(shown, 1):
            if draws.random() < self.rates[id]:
                return position
        return 0

    # What the buttons of the page do.

    def set(self, on, speed):
        with self.lock:
            self.on, self.speed, self.trouble = on, speed, None
        self.wake.set()

    def change_tastes(self):
        with self.lock:
            self.changes += 1
            self.rates = changed_tastes(self.seed, self.changes)
            self.mark("tastes change")

    def forget(self, keep, id):
        with self.lock:
            counted = self.ranker.forget(keep, id)
            if counted:
                self.mark("forget")
            return counted

    def restart(self):
        with self.lock:
            self.ranker.restart()
            self.begin()

    def mark(self, what):
        self.marks = [*self.marks, (self.line.lists, what)][-MOST_MARKS:]

    def end(self):
        self.ended = True
        self.wake.set()

    def state(self):
        with self.lock:
            line = self.line
            return {
                "on": self.on,
                "speed": self.speed,
                "trouble": self.trouble,
                "lists": line.lists,
                "clicks": line.clicks,
                "recent": line.level(),
                "line": list(line.points),
                "marks": self.marks,
                "best": clicks_per_list(best_of(self.rates), self.rates),
                "told": clicks_per_list(best_of(TOLD), self.rates),
                "rates": list(self.rates.values()),
            }
