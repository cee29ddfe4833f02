"""`dalembert bench`: what is measured and said, with tiny sizes; no times are asserted."""

import importlib.metadata
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from dalembert import cli
from dalembert.commandline import measurement
from dalembert.commandline.peers import plain_urdf
from dalembert.commandline.timing import Times, side_by_side

MODELS = Path(__file__).parent / "data" / "models"
UR5 = str(MODELS / "ur5" / "ur5.urdf")
TINY = ("--states", "3", "--repeats", "1")


@pytest.fixture
def run(capsys):
    """Runs a command line in this process; gives (exit code, standard output, standard error)."""
    def runs(*arguments):
        code = cli.run(arguments)
        return code, *capsys.readouterr()
    return runs


@pytest.fixture
def alone(monkeypatch):
    """No other engine is installed."""
    def missing(package):
        if package in measurement.PACKAGES.values():
            raise importlib.metadata.PackageNotFoundError(package)
        return "1.0"
    monkeypatch.setattr(measurement, "version", missing)


def test_bench_measures_three_quantities_and_names_missing_engines(run, alone):
    code, out, err = run("bench", UR5, *TINY)
    assert (code, err) == (0, "")
    for text in ("mechanism ur5, nv 6", *measurement.QUANTITIES, "compiled, whole batch", "Pinocchio: not installed (pip install pin)",
                 "MuJoCo: not installed (pip install mujoco)", "CasADi: not installed (pip install casadi)"):
        assert text in out


def test_bench_as_json(run, alone):
    code, out, err = run("bench", UR5, *TINY, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["mechanism"], found["nv"], found["states"], found["repeats"]) == ("ur5", 6, 3, 1)
    assert [(r["quantity"], r["engine"], r["times_dalembert"]) for r in found["measured"]] == [
        (quantity, "dalembert", 1.0) for quantity in measurement.QUANTITIES]
    assert all(r["ns_low"] <= r["ns"] <= r["ns_high"] for r in found["measured"])
    assert set(found["absent"]) == {"Pinocchio", "MuJoCo", "CasADi"}


@pytest.mark.parametrize("engine, package", [("Pinocchio", "pinocchio"), ("MuJoCo", "mujoco")])
@pytest.mark.parametrize("path, base", [("ur5/ur5.urdf", "fixed"), ("kinova/kinova.urdf", "fixed"), ("panda/panda.urdf", "fixed"),
                                        ("solo12/solo12.urdf", "free")])
def test_installed_engines_compute_the_same(run, engine, package, path, base):
    pytest.importorskip(package)
    code, out, err = run("bench", str(MODELS / path), "--base", base, *TINY, "--json")
    assert (code, err) == (0, "")
    rows = [r for r in json.loads(out)["measured"] if r["engine"] == engine]
    assert [r["quantity"] for r in rows] == list(measurement.QUANTITIES)
    assert max(r["difference"] for r in rows) < 1e-10      # relative; forward dynamics solves with M


def test_an_engine_that_cannot_read_the_model_is_named_with_its_reason(run, tmp_path):
    pytest.importorskip("pinocchio")
    file = tmp_path / "arm.toml"
    code, _, _ = run("bench", str(file), *TINY)
    assert code == 2      # no such file
    import dalembert as da

    da.save(da.planar_chain(2), file)
    code, out, err = run("bench", str(file), *TINY)
    assert (code, err) == (0, "")
    assert "Pinocchio: does not take the model: " in out and "Traceback" not in out


def test_an_engine_that_computes_something_else_is_not_timed(run, monkeypatch):
    pytest.importorskip("pinocchio")
    monkeypatch.setattr(measurement, "_difference", lambda ours, theirs: 0.5)
    code, out, _ = run("bench", UR5, *TINY, "--json")
    found = json.loads(out)
    assert code == 0 and {r["engine"] for r in found["measured"]} == {"dalembert"}
    assert found["absent"]["Pinocchio, mass_matrix"] == "differs by 5.0e-01 of the largest entry"


def test_wrong_sizes_are_usage_errors(run):
    code, out, err = run("bench", UR5, "--states", "0")
    assert (code, out) == (2, "") and err.startswith("error: ") and "--states" in err


def test_other_engines_are_imported_only_when_asked_for(run):
    assert run("bench", "--help")[0] == 0
    assert "dalembert.commandline.peers" in sys.modules      # imported by this test, and yet:
    source = Path(measurement.__file__).read_text(encoding="utf-8")
    assert "\nimport pinocchio" not in source and "\nimport mujoco" not in source


def test_times_of_contenders_are_per_unit_and_ratios_by_rounds():
    times = side_by_side({"a": lambda: None, "b": lambda: sum(range(1000))}, units=10, rounds=4)
    assert [len(t.rounds) for t in times.values()] == [4, 4] and all(t.median > 0 for t in times.values())
    quick, slow = Times(np.array([1.0, 2.0, 3.0])), Times(np.array([2.0, 8.0, 9.0]))
    assert quick.ratio(slow) == 3.0 and quick.median == 2.0
    assert quick.spread == pytest.approx((1.2, 2.8))


def test_text_for_other_engines_has_no_shapes_friction_or_followers():
    text = plain_urdf(MODELS / "panda" / "panda.urdf", locked=["panda_joint2"], floating=True)
    for tag in ("<visual", "<collision", "<mimic", "<dynamics"):
        assert tag not in text
    assert 'name="panda_joint2" type="fixed"' in text and 'type="floating"' in text
