"""Runs pytest on files of this folder; exit code 77 (skipped) where it is not installed."""

import signal
import sys

# A shell starts its background jobs with SIGINT ignored, which every child would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    import pytest
except ImportError:
    print("skipped: pytest is not installed; run scripts/setup test")
    sys.exit(77)

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
