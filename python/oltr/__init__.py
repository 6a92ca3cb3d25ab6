"""oltr: online learning to rank.

Show a list of K items, see which were clicked, show a better list.

>>> import oltr
>>> policy = oltr.Policy("gts", 30)
>>> ranking = policy.rank(3)
>>> policy.learn(ranking, [0, 1])
"""

from ._core import Error, FileError
from ._core import Ranking
from ._core import Request, Rng
from ._core import version as __version__
from .catalogue import policies
from .dataset import Dataset
from .experiments import run
from .policy import Policy, load
from .result import Result
from .run_progress import Progress

__all__ = ["Error", "FileError", "Policy", "Ranking", "__version__", "load", "policies"]
__all__ += ["Dataset", "Progress", "Request", "Result", "Rng", "run"]
