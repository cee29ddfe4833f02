"""The list of long cases is one of cases that are there, and leaves each of their tests a case that runs by default."""

from collections import Counter

from long_cases import COLLECTED, FOLDER, LONG_CASES


def test_each_is_listed_once_in_order():
    assert list(LONG_CASES) == sorted({*LONG_CASES})


def test_each_is_a_case_of_a_test_that_has_others(request):
    """Of files that were collected, all of them in the whole run; of others the files are there."""
    collected = request.config.stash[COLLECTED]
    files = {name.partition("::")[0] for name in collected}
    by_default = Counter(name.partition("[")[0] for name in {*collected} - {*LONG_CASES})
    for name in LONG_CASES:
        file, _, case = name.partition("::")
        assert (FOLDER / file).exists() and case, name
        assert file not in files or (name in collected and by_default[name.partition("[")[0]]), name
