"""A new target, system, method of integration, joint type and format are a file and a line of another each.

Put into a copy of the package, they are reached by every door; the suites that run over what is listed run over them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from difflib import ndiff
from pathlib import Path
from typing import NamedTuple

import pytest

import dalembert as da

PACKAGE, TESTS = Path(da.__file__).parent, Path(__file__).parent


class Addition(NamedTuple):
    """A file that tests keep, its room in the package, and the line by which another file lists it."""

    file: str
    room: str
    listed_in: str
    opens: str             # the line before it
    line: str
    suite: str


ADDITIONS = {
    "target": Addition("codegen/targets/plain_python.py", "codegen/targets", "codegen/targets/registry.py", "MODULES = {",
                       '    "python": "plain_python",', "codegen/targets/test_registry.py"),
    "system": Addition("systems/bead.py", "systems", "systems/kinds.py", "MODULES = (",
                       '    "bead",', "systems/test_kinds_of_systems.py"),
    "method": Addition("integrators/heun.py", "integrators", "integrators/methods.py", "MODULES = (",
                       '    "heun",', "integrators/test_conformance.py"),
    "joint type": Addition("model/crank.py", "model/joints", "model/joints/__init__.py", "# isort: off",
                           "from dalembert.model.joints.crank import Crank as Crank", "model/test_joint_conformance.py"),
    "format": Addition("readers/pendulums.py", "readers", "readers/formats.py", "FORMATS: dict[str, Format] = {",
                       '    "pendulums": Format((".pendulums",), b"%", "dalembert.readers.pendulums"),', "readers/test_formats.py"),
}
DOORS = """
import json, sys
import dalembert as da
from dalembert.systems.bead import Bead

def error(call):
    try:
        call()
    except da.UnknownNameError as unknown:
        return str(unknown)

arm = da.load(b"%rod 1.5 0.5\\n")
crank = da.random_tree(1, 2, ["crank"])
da.save(crank, sys.argv[1])
bead = da.simulate(Bead(), [0.5], [0.0], 0.1, h=0.01, method="heun")
print(json.dumps({
    "format": arm.nv,
    "joint type": [j.type.name for j in crank.joints if j.type.name == "crank"] and da.load(sys.argv[1]) == crank,
    "method": [bead.method, error(lambda: da.simulate(arm, [0.0], [0.0], 1.0, method="none"))],
    "system": [type(bead.mechanism).__name__, bead.energy_drift],
    "target": [*da.compile(arm).source("python", ["mass_matrix"])],
}))
"""


def add(package, addition):
    """Put the file into the package, and its line at the beginning of the list."""
    shutil.copy(TESTS / addition.file, package / addition.room)
    path = package / addition.listed_in
    lines = path.read_text(encoding="utf-8").splitlines()
    lines.insert(lines.index(addition.opens) + 1, addition.line)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """Folder of a copy of the package with all of them."""
    folder = tmp_path_factory.mktemp("extended")
    shutil.copytree(PACKAGE, folder / "dalembert", ignore=shutil.ignore_patterns("__pycache__"))
    for addition in ADDITIONS.values():
        add(folder / "dalembert", addition)
    return folder


def environment(*folders):
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}


@pytest.fixture(scope="module")
def reached(extended, tmp_path_factory):
    file = tmp_path_factory.mktemp("written") / "crank.toml"
    done = subprocess.run([sys.executable, "-c", DOORS, file], env=environment(extended), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_package_knows_none_of_them():
    words = [re.compile(rf"\b{word}\b") for word in ("heun", "Crank", "Bead", "plain_python", "pendulums")]
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert not [(path.name, word.pattern) for path, text in texts.items() for word in words if word.search(text)]


def test_a_file_and_a_line_are_all_that_each_adds(extended):
    changed = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")
               if path.read_bytes() != (extended / "dalembert" / path.relative_to(PACKAGE)).read_bytes()}
    assert changed == {addition.listed_in for addition in ADDITIONS.values()}
    for addition in ADDITIONS.values():
        old, new = ((root / addition.listed_in).read_text(encoding="utf-8").splitlines()
                    for root in (PACKAGE, extended / "dalembert"))
        assert [line for line in ndiff(old, new) if line[0] in "+-"] == [f"+ {addition.line}"]


def test_a_format_is_read(reached):
    assert reached["format"] == 1


def test_a_joint_type_is_drawn_written_and_read(reached):
    assert reached["joint type"] is True


def test_a_method_integrates_and_is_listed(reached):
    name, message = reached["method"]
    assert name == "heun" and "heun" in message


def test_a_kind_of_system_is_simulated(reached):
    name, drift = reached["system"]
    assert name == "Bead" and 0 < drift < 1e-3


def test_a_target_is_written(reached):
    assert len(reached["target"]) == 1 and reached["target"][0].endswith("mass_matrix.py")


@pytest.mark.slow
def test_every_suite_runs_over_them_as_parts_of_the_package(extended, tmp_path):
    """The suites of this folder, in which their files say no more than where they are in the package."""
    shutil.copytree(TESTS, tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__", "test_*", "data"))
    for addition in ADDITIONS.values():
        shutil.copy(TESTS / addition.suite, tmp_path / "tests" / addition.suite)
        module = f"dalembert.{addition.room.replace('/', '.')}.{Path(addition.file).stem}"
        (tmp_path / "tests" / addition.file).write_text(f"from {module} import *\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "markers=slow", "-m", "not slow", "tests",
                           "-k", "python or bead or heun or crank or pendulums"], cwd=tmp_path,
                          env=environment(extended), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
