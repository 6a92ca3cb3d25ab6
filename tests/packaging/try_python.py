"""Tries the installed Python package without numpy; usage: try_python.py VERSION."""

import sys

import oltr

assert oltr.__version__ == sys.argv[1], oltr.__version__
assert "numpy" not in sys.modules, "import oltr imports numpy"
