"""oltr: online learning to rank.

Show a list of K items, see which were clicked, show a better list.

>>> import oltr
>>> policy = oltr.Policy("gts", 30)
>>> ranking = policy.rank(3)
>>> policy.learn(ranking, [0, 1])
"""

from ._core import Error, FileError
from ._core import Ranking
from ._core import version as __version__
from .catalogue import policies
from .model import Model, Propensity, Shown, Store, StoreState, open
from .policy import Policy, load

__all__ = ["Error", "FileError", "Policy", "Ranking", "__version__", "load", "policies"]
__all__ += ["Model", "Propensity", "Shown", "Store", "StoreState", "open"]
