"""`dalembert bench`: what is measured and said, with tiny sizes; no times are asserted."""

import importlib.metadata
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import data
from dalembert.commandline import measurement
from dalembert.commandline.demonstration import compare_speed
from dalembert.commandline.output import console
from dalembert.commandline.peers import plain_urdf
from dalembert.reports import timing
from dalembert.reports.timing import Times, side_by_side

UR5 = str(data.path("ur5"))
TINY = ("--states", "3", "--repeats", "1")


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


@pytest.mark.parametrize("engine, package", [("Pinocchio", "pinocchio"), ("MuJoCo", "mujoco"),
                                             ("CasADi", "casadi")])
@pytest.mark.parametrize("robot, base", [("ur5", "fixed"), ("kinova", "fixed"), ("panda", "fixed"), ("solo12", "free")])
def test_installed_engines_compute_the_same(run, engine, package, robot, base):
    pytest.importorskip(package)
    code, out, err = run("bench", robot, "--base", base, *TINY, "--json")
    assert (code, err) == (0, "")
    rows = [r for r in json.loads(out)["measured"] if r["engine"] == engine]
    assert [r["quantity"] for r in rows] == list(measurement.QUANTITIES)
    assert max(r["difference"] for r in rows) < 1e-10      # relative; forward dynamics solves with M


def test_an_engine_that_cannot_read_the_model_is_named_with_its_reason(run, tmp_path):
    pytest.importorskip("pinocchio")
    file = tmp_path / "arm.toml"
    code, _, _ = run("bench", str(file), *TINY)
    assert code == 2      # no such file
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
    assert quick.quiet_ratio(slow) == pytest.approx(3.2 / 1.2)


def test_each_turn_begins_with_a_call_that_does_not_count():
    """The first call of a turn takes 1 s of this clock, as on cold caches, all others 1 ms."""
    now, last, order = [0.0], [""], []

    def work(name):
        now[0] += 1e-3 if last[0] == name else 1.0
        last[0] = name
        order.append(name)

    times = side_by_side({name: (lambda name=name: work(name)) for name in "ab"}, {"a": 1, "b": 10}, 3, clock=lambda: now[0])
    assert times["a"].rounds == pytest.approx([1e-3] * 3) and times["b"].rounds == pytest.approx([1e-4] * 3)
    turns = [name for k, name in enumerate(order) if k and order[k - 1] != name]
    assert turns == ["b", "a", "b", "a", "b"]      # b's preparation; then ab, ba, ab, where turns of one and the same join


def test_slow_things_get_fewer_rounds(monkeypatch):
    monkeypatch.setattr(timing, "MOST", 0.0)
    assert len(side_by_side({"a": lambda: None}, rounds=50)["a"].rounds) == timing.FEWEST
    assert len(side_by_side({"a": lambda: None}, rounds=2)["a"].rounds) == 2


@pytest.mark.parametrize("expression", [
    lambda x: da.where(da.absolute(x[0]) < x[1], da.atan2(x[0], x[1]), da.tanh(x[2])) - da.minimum(x[1], x[2]) / x[1],
    lambda x: da.hypot(x[0], x[1]) * da.sqrt(x[1]) + da.sign(x[0]) * x[2] ** 3 + da.maximum(-x[0], da.exp(x[2]))])
def test_expressions_are_the_same_in_casadi(expression):
    pytest.importorskip("casadi")
    f = da.function(lambda x: da.array([expression(x)]), x=(3,))
    x = np.random.default_rng(0).standard_normal((20, 3))
    x[:, 1] = 0.2 + np.abs(x[:, 1])
    (buffer, evaluate), names, shape = measurement._casadi_function(f.program, 20)
    out = np.empty((20, 1))
    buffer.set_arg(0, x.data)
    buffer.set_res(0, out.data)
    evaluate()
    assert (names, shape) == (("x",), (1,))
    np.testing.assert_allclose(out, f(x), rtol=1e-14, atol=1e-15)


def test_the_demos_comparison_names_engines_that_are_missing(alone, capsys):
    compare_speed(console(sys.stdout), da.planar_chain(2), Path("none"))
    assert capsys.readouterr().out == "\nNo other engine is installed here (pin, mujoco, casadi): no speeds are compared.\n"


def test_the_demos_comparison_has_all_engines_that_are_installed(capsys):
    for package in ("pinocchio", "mujoco", "casadi"):
        pytest.importorskip(package)
    compare_speed(console(sys.stdout), da.load(UR5, passive=False, exact_angles=False), Path(UR5))
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines() if line.startswith(measurement.QUANTITIES)]
    assert rows == [[quantity, engine] for quantity in measurement.QUANTITIES for engine in ("dalembert", *measurement.PACKAGES)]


def test_text_for_other_engines_has_no_shapes_friction_or_followers():
    text = plain_urdf(data.path("panda"), locked=["panda_joint2"], floating=True)
    for tag in ("<visual", "<collision", "<mimic", "<dynamics"):
        assert tag not in text
    assert 'name="panda_joint2" type="fixed"' in text and 'type="floating"' in text
