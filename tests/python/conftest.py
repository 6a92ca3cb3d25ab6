"""What all tests of the package share.

CTest sets PYTHONPATH to the package of the build; by hand:

    PYTHONPATH=build/dev/python /usr/bin/python3 -m pytest -q tests/python
"""


def pytest_terminal_summary(terminalreporter):
    """Prints the reason of every skipped test in the form that scripts/test collects."""
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        reason = str(reason).removeprefix("Skipped: ")
        terminalreporter.write_line(f"skipped in part: {report.nodeid}: {reason}")
