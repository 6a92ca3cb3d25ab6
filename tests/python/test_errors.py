"""The exceptions of the package."""

import oltr
import pytest


def test_error_is_a_value_error():
    assert issubclass(oltr.Error, ValueError)
    assert issubclass(oltr.FileError, oltr.Error)
    assert issubclass(oltr.FileError, OSError)


def test_version_is_that_of_the_project():
    assert oltr.__version__.count(".") >= 1


def test_error_can_be_raised_and_caught():
    with pytest.raises(ValueError, match="a sentence"):
        raise oltr.Error("a sentence")
