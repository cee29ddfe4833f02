"""`import dalembert` is quick: libraries that only some of it needs are imported when they are needed."""

import subprocess
import sys

import pytest

LATER = ("difflib", "hashlib", "llvmlite", "numpy.ma", "rich", "scipy", "sympy", "tomli_w")


def loaded(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_import_loads_none_of_the_libraries_of_single_features():
    assert not loaded("import dalembert").intersection(LATER)


def test_dynamics_of_a_robot_file_needs_numpy_alone():
    modules = loaded("import dalembert as da; arm = da.load('ur5', passive=False); da.mass_matrix(arm, [0.1] * 6)")
    assert not modules.intersection(LATER) and "dalembert.readers.urdf" in modules


def test_the_command_line_is_parsed_without_other_libraries():
    modules = loaded("from dalembert import cli; cli.run(['nosuch'])")
    assert not modules.intersection({"click", "numpy", "pydantic", "typer"})


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_waits_for_no_numerics(arguments):
    modules = loaded(f"from dalembert import cli; cli.run({arguments})")
    assert not modules.intersection({"numpy", "dalembert.model", "dalembert.expr"})
