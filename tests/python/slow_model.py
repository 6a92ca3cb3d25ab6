"""A slow and obvious twin of oltr.Model for ts-beta and gts: dictionaries, no numerics but sums."""

import math
from collections import OrderedDict


class SlowModel:
    """Counts by name, in the order of the item numbers of the engine."""

    def __init__(self, kind, *, prior=None, sigma=None, a=1, b=1, window=65536, examine="cascade"):
        self.kind, self.prior, self.sigma, self.a, self.b = kind, prior, sigma, a, b
        self.window, self.examine = window, examine
        self.items = OrderedDict()  # name: [observations, rewards, last lesson, prior]
        self.ids = OrderedDict()
        self.lessons = 0

    def _once(self, id):
        if id is None:
            return True
        if id in self.ids:
            return False
        return True

    def _remember(self, id):
        if id is not None:
            self.ids[id] = None
            while len(self.ids) > self.window:
                self.ids.popitem(last=False)

    def depth(self, rewards, examine):
        clicked = [slot for slot, reward in enumerate(rewards) if reward > 0]
        if examine == "all" or not clicked:
            return len(rewards)
        return (clicked[0] if examine == "cascade" else clicked[-1]) + 1

    def learn(self, shown, rewards, id=None, examined=None, weights=None, examine=None):
        if not self._once(id):
            return False
        if isinstance(examined, int):
            mask = [slot < examined for slot in range(len(shown))]
        elif examined is not None:
            mask = [bool(seen) for seen in examined]
        else:
            depth = self.depth(rewards, examine or self.examine)
            mask = [slot < depth for slot in range(len(shown))]
        self.lessons += 1
        for slot, name in enumerate(shown):
            item = self.items.setdefault(name, [0, 0, 0, self.prior])
            weight = 1 if weights is None else weights[slot]
            if mask[slot]:
                item[0] += weight
                item[1] += weight * rewards[slot]
            item[2] = self.lessons
        self._remember(id)
        return True

    def give_prior(self, priors):
        for name, pair in priors.items():
            item = self.items.setdefault(name, [0, 0, self.lessons, self.prior])
            item[3] = pair

    def _remove_one(self, name):
        """The last item takes the place of the removed one."""
        names = list(self.items)
        at = names.index(name)
        names[at] = names[-1]
        names.pop()
        kept = self.items
        self.items = OrderedDict((n, kept[n]) for n in names)

    def remove(self, names):
        there = [name for name in OrderedDict.fromkeys(names) if name in self.items]
        for name in there:
            self._remove_one(name)
        return len(there)

    def reset(self, names):
        count = 0
        for name in names:
            if name in self.items:
                self.items[name][:2] = [0, 0]
                count += 1
        return count

    def trim(self, idle):
        count = 0
        for name in reversed(list(self.items)):
            if idle <= self.lessons and self.items[name][2] <= self.lessons - idle:
                self._remove_one(name)
                count += 1
        return count

    def forget(self, keep, id=None):
        if not self._once(id):
            return False
        for item in self.items.values():
            item[0] *= keep
            item[1] *= keep
        self._remember(id)
        return True

    def mean(self, name):
        n, s, _, prior = self.items[name]
        if self.kind == "ts-beta":
            a, b = prior or (self.a, self.b)
            return (a + s) / (a + b + n)
        mean, sd = prior
        precision = 1 / sd**2 + n / self.sigma**2
        return (mean / sd**2 + s / self.sigma**2) / precision

    def sd(self, name):
        n, s, _, prior = self.items[name]
        if self.kind == "ts-beta":
            a, b = prior or (self.a, self.b)
            a, b = a + s, b + n - s
            return math.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
        return 1 / math.sqrt(1 / prior[1] ** 2 + n / self.sigma**2)
