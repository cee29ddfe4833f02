"""`import dalembert` is quick: libraries that only some of it needs are imported when they are needed."""

import subprocess
import sys

import pytest

LATER = ("rich", "scipy", "sympy", "tomli_w", "typer")


def loaded(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_import_loads_none_of_the_libraries_of_single_features():
    assert not loaded("import dalembert").intersection(LATER)


def test_dynamics_of_a_generated_chain_needs_numpy_alone():
    assert not loaded("import dalembert as da; da.mass_matrix(da.planar_chain(2), [0.1, 0.2])").intersection(LATER)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_waits_for_no_numerics(arguments):
    modules = loaded(f"from dalembert import cli; cli.run({arguments})")
    assert not modules.intersection({"numpy", "dalembert.model", "dalembert.expr"})
