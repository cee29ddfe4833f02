"""Cases that run with the slow checks, while cheaper ones of the same tests run by default."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
LONG_CASES = tuple((FOLDER / "long_cases.txt").read_text(encoding="utf-8").splitlines())
COLLECTED = pytest.StashKey()      # of the configuration: all tests by name, before any is deselected


def mark(config, items):
    """Marks the long cases slow, and keeps what was collected."""
    tests = config.stash[COLLECTED] = {item.nodeid.removeprefix(f"{FOLDER.name}/"): item for item in items}
    for name in {*LONG_CASES} & {*tests}:
        tests[name].add_marker(pytest.mark.slow)
