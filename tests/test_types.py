"""Types that a user's checker sees: the public names and no others, with real types."""

import runpy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dalembert as da
import stubs
from dalembert.closed_forms.quantities.verified_forms import ClosedForms
from dalembert.codegen.targets import registry
from dalembert.errors import ELSEWHERE
from dalembert.integrators import methods
from dalembert.readers.formats import FORMATS
from dalembert.systems import kinds
from dalembert.tracing.quantities import QUANTITIES

ROOT = Path(__file__).parents[1]
SESSION = Path(__file__).parent / "scripts" / "session.py"


def checked(folder, text):
    """What `mypy --strict` says of a script, with this checkout as an installed package."""
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=",
               f"--cache-dir={ROOT / '.mypy_cache' / 'users'}", str(script)]
    done = subprocess.run(command, cwd=ROOT / "src", capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.stdout


def assigned(text):
    """Names that the script gives to results."""
    import ast

    targets = [t for node in ast.parse(text).body if isinstance(node, (ast.Assign, ast.AnnAssign))
               for t in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    return [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]


def test_the_stub_lists_the_public_names():
    assert stubs.STUB.read_text(encoding="utf-8") == stubs.stub(), "run: python tests/stubs.py"


@pytest.mark.slow
def test_a_users_script_passes_strict_checks_and_knows_every_type(tmp_path):
    text = SESSION.read_text(encoding="utf-8")
    names = assigned(text)
    said = checked(tmp_path, text + "".join(f"reveal_type({name})\n" for name in names))
    revealed = [line for line in said.splitlines() if "Revealed type" in line]
    assert len(revealed) == len(names) > 30 and "error" not in said, said
    assert not [line for line in revealed if "Any" in line.replace("tuple[Any, ...]", "")], said


def test_the_same_script_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = runpy.run_path(str(SESSION))
    assert (tmp_path / "run.csv").is_file() and results["spring"] == pytest.approx([-0.15]) and not results["failures"]


@pytest.mark.slow
@pytest.mark.parametrize("use", ["da.nonsense"])
def test_misspelt_names_are_errors(tmp_path, use):
    said = checked(tmp_path, f"import dalembert as da\narm = da.planar_chain(2)\n{use}\n")
    assert "has no attribute" in said or "Module has" in said, said


@pytest.mark.slow
def test_modules_of_registries_have_the_interface_that_their_registry_asks_for(tmp_path):
    """They are imported by name, of which a checker of the package knows nothing."""
    listed = [("Target", "from dalembert.codegen.targets import {} as x", registry.MODULES.values()),
              ("Reader", "import {} as x", [f.module for f in FORMATS.values()]),
              ("Method", "from dalembert.integrators.{} import METHOD as x", methods.MODULES),
              ("tuple[type, Callable[..., System]]", "from dalembert.systems.{} import SYSTEM_OF as x", kinds.MODULES)]
    text = "from collections.abc import Callable\nfrom dalembert.codegen.targets.registry import Target\n" \
           "from dalembert.integrators import Method\nfrom dalembert.readers.formats import Reader\nfrom dalembert.systems.system import System\n"
    for number, (interface, imported, module) in enumerate((i, s, m) for i, s, modules in listed for m in modules):
        text += f"{imported.format(module)}{number}\nvalue{number}: {interface} = x{number}\n"
    said = checked(tmp_path, text + "wrong: Reader = x0\n")
    faults = [line for line in said.splitlines() if " error: " in line]
    assert len(faults) == 1 and 'variable has type "Reader"' in faults[0], said


def public(x):
    """Names that an editor offers after a dot."""
    return [name for name in dir(x) if not name.startswith("_")]


@pytest.mark.parametrize("module", [da, da.hamilton, da.lagrange, da.controllers, da.convert, da.data, da.generators, da.solids],
                         ids=lambda m: m.__name__)
def test_completion_after_a_module_lists_its_public_names(module):
    assert dir(module) == sorted(module.__all__) and all(hasattr(module, name) for name in module.__all__)


def test_completion_after_compiled_objects_lists_quantities():
    arm = da.planar_chain(1)
    system = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2 + da.cos(q[0]), "q")
    assert dir(da.compile(arm)) == sorted([*QUANTITIES, "dtype", "formulation", "function", "mechanism", "parameters",
                                           "source", "write"])
    assert dir(da.compile(system)) == sorted([*system.quantities, "function", "parameters", "source", "system",
                                              "write"])
    assert all(hasattr(da.Dynamics, name) for name in QUANTITIES)
    assert set(da.compile(system).__annotations__) == set(system.quantities)


def test_completion_after_objects_lists_public_names():
    arm, sheets = da.planar_chain(1), {"in_full", "factored", "abridged", "solved"}
    system = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2 + da.cos(q[0]), "q")
    run = da.simulate(arm, [0.1], [0.0], 0.01)
    swept = da.sweep(lambda x: x, {"x": [1.0]}, ThreadPoolExecutor(1))
    hold, law = da.controllers.Hold([0.0]), da.controllers.PD(arm, [0.0], 1.0, 1.0)
    tracking, control = {"mechanism", "reference", "system"}, da.controllers
    for x, some, hidden in ((arm, {"bodies", "joints", "nq", "replace", "random_state", "check"}, {"warned", "changeable"}),
                            (run, {"q", "times", "energy", "plot", "to_csv", "tau"}, {"applied", "law", "held", "ended"}),
                            (da.equations(arm), {"text", "mass_matrix", "linearize", "report"}, sheets),
                            (da.equations(system), {"text", "mass_matrix", "linearize"}, sheets),
                            (swept, {"results", "errors", "status", "to_xarray"}, set()),
                            (system, {"lagrangian", "mass_matrix", "replace", "parameters"}, set()),
                            (kinds.system_of(arm), {"mass_matrix", "quantities", "observables", "constraints"}, set()),
                            (law, {"mechanism", "q_ref", "K_p", "K_d", "system"}, set()), (hold, {"q"}, set()),
                            (control.Sinusoids([0.0], [1.0]), {"center", "amplitude"}, set()),
                            (control.Quintic([[0.0], [1.0]], [0.0, 1.0]), {"points", "times"}, set()),
                            (control.ComputedTorque(arm, hold, 1.0, 1.0), tracking, set()),
                            (control.AdaptivePassivity(arm, hold, 1.0, 1.0, 1.0), tracking | {"rate", "states"}, set()),
                            (control.Limited(law, [1.0]), {"controller", "limits"}, set()),
                            (control.Sampled.of(law, 0.01), {"law", "period", "delay", "memory"}, set())):
        assert some <= set(dir(x)) and not hidden & set(dir(x)) and dir(x) == public(x), x


@pytest.mark.parametrize("owner, name, meant", [
    (da, "massmatrix", "mass_matrix"), (da, "Mechansim", "Mechanism"), (da, "forward_kinematics", "placement"),
    (da.planar_chain(1), "dof", "nv"), (da.simulate(da.planar_chain(1), [0.1], [0.0], 0.01), "t", "times"),
    (da.planar_chain(1), "coordinatenames", "coordinate_names"), (da.compile(da.planar_chain(1)), "massmatrix", "mass_matrix"),
    (da.simulate(da.planar_chain(1), [0.1], [0.0], 0.01), "kineticenergy", "kinetic_energy"),
    (da.compile(da.lagrangian_system(lambda q, qd, t: qd[0] ** 2, "q")), "massmatrix", "mass_matrix")],
    ids=lambda x: x if isinstance(x, str) else "")
def test_a_misspelt_attribute_names_the_nearest(owner, name, meant):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'. Did you mean '{meant}'"):
        getattr(owner, name)
    assert not hasattr(owner, "__nothing__")


def test_names_of_other_tools_without_a_counterpart_mislead_nobody():
    with pytest.raises(AttributeError, match="has no attribute 'inverse_kinematics'.$"):
        _ = da.inverse_kinematics
    known = {*dir(da), *dir(da.Mechanism), *dir(da.Run), *da.Run.__dataclass_fields__, *da.Mechanism.__dataclass_fields__, *dir(ClosedForms), *methods.METHODS}
    assert {*filter(None, ELSEWHERE.values())} <= known


def test_a_property_that_fails_says_why():
    class Failing(da.Run):
        @property
        def energy(self):
            return self.mechanism.nonsense

    failing = Failing.__new__(Failing)
    object.__setattr__(failing, "mechanism", da.planar_chain(1))
    with pytest.raises(AttributeError, match="'Mechanism' object has no attribute 'nonsense'"):
        _ = failing.energy
