"""Sources stay readable: short functions, few arguments, few tokens on a line; `benchmarks/density.py` measures them.

All of the package is measured with lint.
"""

import sys
from pathlib import Path

import pytest

import dalembert

ROOT = Path(__file__).parents[1]
LINES, ARGUMENTS = 50, 8
TOKENS_A_LINE = 9.8      # on the mean, 9.77 on 2026-11-28
# Public entry points, whose explicit keywords stay, and commands.
ENTRY_POINTS = {"load", "simulate", "sweep", "equations", "dynamics", "Propagator.run", "elastic_line"}
# To be split: longer than 50 lines where each argument or operand has a line of its own.
LONG: set[str] = set()
# To be given objects in place of arguments that belong together.
WIDE = {"step", "records", "steps"}


@pytest.fixture(scope="module")
def density():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        import density

        yield density
    del sys.modules["density"]


@pytest.fixture(scope="module")
def modules(density):
    return density.package(Path(dalembert.__file__).parent)


@pytest.mark.slow
def test_functions_are_short(modules):
    long = [f"{f.module}: {f.name} has {f.lines} lines" for m in modules for f in m.functions
            if f.lines > LINES and f.name not in ENTRY_POINTS | LONG]
    assert not long, long


@pytest.mark.slow
def test_functions_take_few_arguments(modules):
    wide = [f"{f.module}: {f.name} takes {f.arguments}" for m in modules for f in m.functions
            if f.arguments > ARGUMENTS and f.name not in ENTRY_POINTS | WIDE]
    assert not wide, wide


@pytest.mark.slow
def test_lines_are_not_packed(modules):
    assert sum(m.tokens for m in modules) / sum(m.lines for m in modules) < TOKENS_A_LINE


def test_what_is_measured_is_code(density):
    text = '"""Of a module."""\n\n\nclass C:\n    """Of a class."""\n\n    def f(self, a, *, b=1):  # why\n        """Of f.\n\n        More.\n        """\n' \
           '        x = "\'text\'"\n\n        def g(): return a + b\n        return g, x\n'
    found = density.measured(text, "m.py")
    assert found.lines == 5 and [(f.name, f.lines, f.arguments) for f in found.functions] == [("C.f", 5, 2), ("C.f.g", 1, 0)]
    assert found.tokens == 3 + 14 + 3 + 9 + 4
    assert any(line.startswith("all ") for line in density.table([found])) and len([*density.extremes([*found.functions])]) == 3 + 2 + 2
