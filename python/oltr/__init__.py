"""oltr: online learning to rank.

Show a list of K items, see which were clicked, show a better list.
"""

from ._core import Error, FileError
from ._core import version as __version__
from .model import Model, Propensity, Shown, Store, StoreState, open

__all__ = ["Error", "FileError", "__version__"]
__all__ += ["Model", "Propensity", "Shown", "Store", "StoreState", "open"]
