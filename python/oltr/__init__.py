"""oltr: online learning to rank.

Show a list of K items, see which were clicked, show a better list.
"""

from ._core import Error, FileError
from ._core import Request, Rng
from ._core import version as __version__
from .dataset import Dataset
from .experiments import run
from .result import Result
from .run_progress import Progress

__all__ = ["Error", "FileError", "__version__"]
__all__ += ["Dataset", "Progress", "Request", "Result", "Rng", "run"]
