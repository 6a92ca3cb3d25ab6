"""oltr: online learning to rank.

Show a list of K items, see which were clicked, show a better list.

A policy ranks items by number:

>>> import oltr
>>> policy = oltr.Policy("gts", 30)
>>> ranking = policy.rank(3)
>>> policy.learn(ranking, [0, 1])

A model ranks items by name, and a store keeps a model on disk:

>>> model = oltr.Model("ts-hyper")
>>> shown = model.rank(2, ["shoe", "hat", "coat"], seed="session 7")
>>> model.learn(shown, [0, 1], id="view 1")
True

An experiment measures policies in a simulated world:

>>> result = oltr.run({"world": {"kind": "beta", "items": 10}, "slots": 3, "rounds": 100,
...                    "replications": 10, "policies": [{"kind": "gts"}, {"kind": "random"}]})

The log of one policy says what another would have earned: help(oltr.ope).

Start with help(oltr.Policy), help(oltr.Model), help(oltr.open), help(oltr.run), and
oltr.policies(), the catalogue.
"""

from . import _core, ope
from ._core import Error, FileError, Ranking, Request, Rng
from ._core import version as __version__
from .catalogue import policies
from .dataset import Dataset
from .experiments import run
from .model import Model, Propensity, Shown
from .policy import Policy, load
from .result import Result
from .run_progress import Progress
from .store import Store, StoreState, open

_core.check_interpreter()

__all__ = [
    "Dataset",
    "Error",
    "FileError",
    "Model",
    "Policy",
    "Progress",
    "Propensity",
    "Ranking",
    "Request",
    "Result",
    "Rng",
    "Shown",
    "Store",
    "StoreState",
    "__version__",
    "load",
    "ope",
    "open",
    "policies",
    "run",
]
