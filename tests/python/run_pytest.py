"""Runs pytest on files of this folder; exit code 77 (skipped) where it is not installed."""

import sys

try:
    import pytest
except ImportError:
    print("skipped: pytest is not installed; run scripts/setup test")
    sys.exit(77)

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
