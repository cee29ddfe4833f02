"""Formulations become programs, and programs C, where neither LLVM nor ctypes can be imported."""

import json
import subprocess
import sys

from dalembert import data

PROGRAM = """
import json, sys
import numpy
for name in ("llvmlite", "ctypes", "_ctypes"):
    sys.modules[name] = None

import dalembert as da
from dalembert.codegen.targets.registry import TARGETS
from dalembert.systems.kinds import system_of
from dalembert.tracing.quantities import traced

arm, chain = da.load(sys.argv[1]), da.planar_chain(100)
written = {}
for name, mechanism, quantity in (("arm", arm, "mass_matrix"), ("chain", chain, "forward_dynamics")):
    program = traced(mechanism, [quantity])
    for target in ("c", "numpy"):
        written[f"{name} {target}"] = sum(map(len, TARGETS[target].files(program, "f").values()))
    written[name] = system_of(mechanism).nv
written["native"] = [name for name in sys.modules if name.startswith("dalembert.native")]
print(json.dumps(written))
"""


def test_a_robot_and_a_long_chain_are_traced_and_written():
    done = subprocess.run([sys.executable, "-c", PROGRAM, data.path("ur5")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    written = json.loads(done.stdout)
    assert (written["arm"], written["chain"], written["native"]) == (6, 100, [])
    assert all(written[f"{name} {target}"] > 1000 for name in ("arm", "chain") for target in ("c", "numpy"))
