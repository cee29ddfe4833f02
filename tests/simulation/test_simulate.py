"""`simulate`: against SciPy, closed forms and itself; forces as numbers, traced and called; why runs stop."""

import csv
import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.native.propagator import Segment, StepControl
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.method_choice import method_for
from dalembert.simulation.options import Actions, Model

SWING = [0.3, -0.8, 0.5]


@pytest.fixture(scope="module")
def chain():
    return da.planar_chain(3)


def reference(mechanism, q, qd, times, tau=lambda t, q, qd: 0.0):
    """States at the times by SciPy on the forward dynamics (joints whose rates are qd)."""
    n, accelerations = mechanism.nv, da.compile(mechanism).forward_dynamics

    def f(t, x):
        force = tau(t, x[:n], x[n:]) + np.zeros(n)
        return np.concatenate([x[n:], accelerations(x[:n], x[n:], force)])

    return solve_ivp(f, times[[0, -1]], np.concatenate([q, qd]), t_eval=times, method="DOP853", rtol=1e-12, atol=1e-13).y.T


@pytest.mark.parametrize(("method", "error"), [("rk4", 1e-7), ("dopri5", 1e-7)])
def test_a_swinging_chain_moves_as_scipy_says(chain, method, error):
    run = da.simulate(chain, SWING, [0, 0, 0], 1.0, method=method, record=0.1)
    right = reference(chain, SWING, [0, 0, 0], run.times)
    assert run.reason == "finished" and run.times[-1] == 1.0 and run.q.shape == (11, 3)
    assert np.abs(run.q - right[:, :3]).max() < error and np.abs(run.qd - right[:, 3:]).max() < 10 * error
    assert run.energy_drift < 1e-8


def test_friction_and_springs_do_their_work():
    text = {"viscous": 0.3, "stiffness": 4.0, "rest": 0.1}
    chain = da.planar_chain(2)
    chain = chain.replace({f"q{k}.{name}": value for k in (1, 2) for name, value in text.items()})
    run = da.simulate(chain, [1.0, 0.5], [0, 0], 2.0)
    right = reference(chain, [1.0, 0.5], [0, 0], run.times[[0, -1]])
    assert np.abs(run.q[-1] - right[-1, :2]).max() < 1e-8
    assert run.work[-1] < -0.1 and np.abs(run.power_balance).max() < 1e-8


def test_a_free_body_keeps_energy_and_spatial_momentum():
    body = da.random_tree(5, 1, ["free"]).replace({"gravity[0]": 0, "gravity[1]": 0, "gravity[2]": 0}).without("friction", "springs")
    q, qd = body.random_state(2)
    run = da.simulate(body, q, qd, 3.0, h=2e-3)
    assert np.abs(np.linalg.norm(run.q[:, :4], axis=1) - 1).max() < 1e-15
    X = da.placement(body, run.q, body.bodies[-1].name)
    h = da.momenta(body, run.q, run.qd)
    linear = np.einsum("kij,kj->ki", X[:, :3, :3], h[:, 3:])
    angular = np.einsum("kij,kj->ki", X[:, :3, :3], h[:, :3]) + np.cross(X[:, :3, 3], linear)
    for momentum in (linear, angular):
        assert np.abs(momentum - momentum[0]).max() < 1e-8 * np.abs(momentum).max()
    assert run.energy_drift < 1e-6


def test_forces_as_numbers_traced_and_called_agree(chain):
    K = np.array([9.0, 6.0, 3.0])

    def control(t, q, qd):
        return -K * q - 2 * qd + np.array([da.sin(3 * t), 0, 0])

    def only_numbers(t, q, qd):
        return control(float(t), q, qd)

    traced, called = (da.simulate(chain, SWING, [0, 0, 0], 0.5, control=c, h=1e-2) for c in (control, only_numbers))
    assert (traced.forces["control"], called.forces["control"]) == ("traced", "called")
    assert np.abs(traced.q - called.q).max() < 1e-12 and np.abs(traced.work - called.work).max() < 1e-11
    adaptive = da.simulate(chain, SWING, [0, 0, 0], 0.5, control=only_numbers, method="dopri5", record=0.1)
    assert np.abs(adaptive.q[-1] - da.simulate(chain, SWING, [0, 0, 0], 0.5, control=control, method="dopri5",
                                               record=0.1).q[-1]).max() < 1e-12
    constant = da.simulate(chain, SWING, [0, 0, 0], 0.5, control=[1, 0, 0], forces=[0, 0.5, 0])
    right = reference(chain, SWING, [0, 0, 0], constant.times[[0, -1]], lambda *_: np.array([1, 0.5, 0]))
    assert np.abs(constant.q[-1] - right[-1, :3]).max() < 1e-7 and constant.energy_drift < 1e-9


def test_a_control_that_remembers_something_is_told_where_to_keep_it(chain):
    class Integral:
        sum = np.zeros(3)

        def __call__(self, t, q, qd):
            self.sum = self.sum + 1e-3 * (0.3 - q)
            return 5 * (0.3 - q) - qd + self.sum

    with pytest.raises(ValueError, match="`states` and the method `rate`"):
        da.simulate(chain, SWING, [0, 0, 0], 0.1, control=Integral())
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="forces draws random numbers .*rng"):
        da.simulate(chain, SWING, [0, 0, 0], 0.1, forces=lambda t, q, qd: rng.standard_normal(3))
    called = Integral()
    called.traced = False
    run = da.simulate(chain, SWING, [0, 0, 0], 0.1, control=called, h=1e-2)
    assert run.forces["control"] == "called" and abs(called.sum).max() > 0


def test_many_trajectories_are_each_what_they_are_alone(chain):
    q = np.random.default_rng(0).normal(size=(23, 3))
    tau = np.random.default_rng(1).normal(size=(23, 3))
    for method in ("rk4", "dopri5"):
        many = da.simulate(chain, q, [0, 0, 0], 0.2, control=tau, method=method, record=0.05, threads=2)
        assert many.q.shape == (23, 5, 3) and many.work.shape == (23, 5)
        alone = da.simulate(chain, q[17], [0, 0, 0], 0.2, control=tau[17], method=method, record=0.05)
        assert np.array_equal(many.q[17], alone.q) and np.array_equal(many.work[17], alone.work)
        assert many.steps[17] == alone.steps


def test_a_run_that_cannot_go_on_says_when_and_why(chain):
    with pytest.warns(da.errors.DalembertWarning, match="the run ended early: .* is no longer a number after t = ") as told:
        bad = da.simulate(chain, SWING, [0, 0, 0], 20.0, h=0.5, method="explicit_euler", control=lambda t, q, qd: 1e3 * qd)
    assert len([w for w in told if "ended early" in str(w.message)]) == 1 and told[0].filename == __file__
    assert "no longer a number after t = " in bad.reason and len(bad.times) < 41
    assert np.isfinite(bad.q).all() and bad.times[-1] == float(bad.reason.split("t = ")[1].split(" ")[0])
    with pytest.warns(da.errors.DalembertWarning, match="2 of 2 trajectories ended early; trajectory 0: .* is no longer a number"):
        both = da.simulate(chain, [SWING, [0, 0, 0]], [0, 0, 0], 20.0, h=0.5, method="explicit_euler",
                           control=lambda t, q, qd: 1e3 * qd)
    assert both.reasons[0] == bad.reason and np.isnan(both.q[0, -1]).all() and np.array_equal(both.q[0, :len(bad.q)], bad.q)

    def blows_up(t, q, qd):
        return np.array([1 / (0.3 - t) ** 2, 0, 0])

    stuck = da.simulate(chain, SWING, [0, 0, 0], 1.0, control=blows_up, method="dopri5")
    assert stuck.reason.startswith("after t = 0.") and "step became too small" in stuck.reason and 0.29 < stuck.times[-1] <= 0.3


def test_a_state_from_which_nothing_is_determined_is_refused():
    massless = da.planar_chain(2).replace({"link2.mass": 0, **{f"link2.inertia[{i},{i}]": 0 for i in range(3)}})
    with pytest.raises(da.SingularMassMatrixError, match="q2"):
        da.simulate(massless, [0, 0], [0, 0], 1.0)


@pytest.mark.parametrize(("options", "error", "part"), [
    ({"method": "rk5"}, da.UnknownNameError, "rk4"), ({"t": -1.0}, ValueError, "positive duration"),
    ({"t": [0, 1, 0.5]}, ValueError, "increase"), ({"t": [0, 1, 1.5]}, ValueError, "equal distances"),
    ({"t": np.inf}, ValueError, "expected a duration"), ({"h": 0}, ValueError, "positive step"),
    ({"record": -1}, ValueError, "positive spacing"), ({"t": [0, 1], "record": 0.1}, ValueError, "spacing of the records"),
    ({"control": [1, 2]}, da.ShapeError, "control has shape"), ({"control": lambda t, q, qd: q[:2]}, da.ShapeError, "returned shape"),
    ({"control": np.zeros((4, 3)), "q": np.zeros((2, 3))}, ValueError, "shape"), ({"t": 1e9, "record": 1.0}, ValueError, "records")])
def test_wrong_options_are_refused(chain, options, error, part):
    arguments = {"q": SWING, "qd": [0, 0, 0], "t": 1.0} | options
    with pytest.raises(error, match=part):
        da.simulate(chain, **arguments)


def test_times_may_be_given_and_a_run_goes_on_where_another_ended(chain):
    whole = da.simulate(chain, SWING, [0, 0, 0], [0, 0.1, 0.35, 1.0], method="dopri5")
    assert whole.times.tolist() == [0, 0.1, 0.35, 1.0]
    first = da.simulate(chain, SWING, [0, 0, 0], 0.5, method="dopri5")
    second = da.simulate(chain, *first.final(), [0.5, 1.0], method="dopri5")
    assert np.abs(second.q[-1] - whole.q[-1]).max() < 1e-7


def test_a_run_writes_csv_and_pickles(chain, tmp_path):
    run = da.simulate(chain, SWING, [0, 0, 0], 0.1, record=0.05)
    with open(run.to_csv(tmp_path / "run.csv"), newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head[:2] == ["time", "q1"] and np.array_equal(np.array(rows, dtype=float)[:, 1:4], run.q)
    again = pickle.loads(pickle.dumps(run))
    assert np.array_equal(again.q, run.q) and again.energy_drift == run.energy_drift
    assert "stopped: finished" in run.summary()
    with pytest.raises(da.ShapeError):
        da.simulate(chain, [SWING, SWING], [0, 0, 0], 0.1).to_csv(tmp_path / "many.csv")


@pytest.mark.parametrize(("method", "drift"), [("explicit_euler", 0.1), ("symplectic_euler", 0.05), ("semi_implicit_euler", 0.05), ("rk4", 1e-8),
                                               ("dop853", 1e-9), ("implicit_midpoint", 1e-4), ("gauss4", 1e-8),
                                               ("gauss6", 1e-10), ("discrete_gradient", 1e-11), ("lie_rk4", 1e-8),
                                               ("radau5", 1e-6)])
def test_every_method_moves_the_chain_and_keeps_its_energy_as_it_should(chain, method, drift):
    run = da.simulate(chain, SWING, [0, 0, 0], 0.5, method=method, record=0.05)
    right = da.simulate(chain, SWING, [0, 0, 0], 0.5, method="dop853", rtol=1e-12, atol=1e-13, record=0.05)
    assert run.reason == "finished" and run.energy_drift < drift
    assert np.abs(run.q - right.q).max() < max(100 * drift, 1e-4)


@pytest.mark.parametrize("joints, formulation", [
    (["revolute"], "hamilton"), (["spherical"], "newton_euler"), (["spherical"], "hamilton"), (["universal", "planar"], "newton_euler"),
    *(pytest.param(joints, formulation, marks=pytest.mark.slow) for joints in (["free", "spherical"], ["universal", "planar"], ["revolute"])
      for formulation in ("newton_euler", "hamilton"))])
def test_the_discrete_gradient_keeps_the_energy_and_invents_no_work(joints, formulation):
    """To the rounding of the iteration for a step, on quaternions too, whose length has no energy."""
    m = da.random_tree(5, 2, joints).without("friction")
    q, qd = m.random_state(2)
    options = {"method": "discrete_gradient", "h": 1e-2, "formulation": formulation, "record": 0.1}
    run = da.simulate(m, q, 0.3 * qd, 1.0, **options)
    assert run.reason == "finished" and not run.work.any() and run.energy_drift < 1e-12
    driven = da.simulate(m, q, 0.3 * qd, 1.0, control=lambda t, q, qd: 0.2 * da.sin(3 * t) - 0.1 * qd, **options)
    right = da.simulate(m, q, 0.3 * qd, 1.0, control=lambda t, q, qd: 0.2 * da.sin(3 * t) - 0.1 * qd, method="dop853",
                        record=0.1)
    assert driven.energy_drift < 1e-12 and np.abs(driven.work - right.work).max() < 1e-2 * np.abs(right.work).max()


def test_lie_group_steps_keep_quaternions_and_called_forces_agree():
    m = da.random_tree(5, 2, ["spherical", "revolute"]).without("friction", "springs")
    q, qd = m.random_state(2)
    run, right = (da.simulate(m, q, 0.3 * qd, 0.5, method=method, record=0.05) for method in ("lie_rk4", "dop853"))
    assert np.abs(run.q - right.q).max() < 1e-8
    called = da.simulate(m, q, 0.3 * qd, 0.05, method="gauss4", record=0.05, h=5e-3,
                         control=lambda t, q, qd: 0 * qd if t >= 0 else None)
    traced = da.simulate(m, q, 0.3 * qd, 0.05, method="gauss4", record=0.05, h=5e-3)
    assert called.forces["control"] == "called" and np.abs(called.q - traced.q).max() < 1e-10


@pytest.mark.parametrize("method", ["rk4", "dopri5", "gauss4"])
def test_functions_called_from_machine_code_do_what_they_do_in_python(method):
    """With quaternions, a controller with states, and further forces: the same motion as the loop in Python."""
    from dalembert.simulation.interpreted_propagator import InterpretedPropagator

    m = da.random_tree(4, 3, ["free", "revolute"]).without("friction")

    class Integral:
        states = np.zeros(2)

        def __call__(self, t, q, qd, z):
            if t < 0:
                raise AssertionError
            return -qd + z[0] * np.ones(m.nv)

        def rate(self, t, q, qd, z):
            return [float(q[-1]), -z[1]]

    def push(t, q, qd):
        return list(np.full(m.nv, 0.1 * np.sin(float(t))))

    motion = FirstOrderSystem(Model(m), Actions(Integral(), push))
    way = method_for(motion, method)
    assert motion.kinds == {"control": "called", "forces": "called"} and motion.code.compiles(way)
    q, qd = m.random_state(1)
    x = np.hstack([q, 0.1 * qd, 0.0, 0.0, 0.5])[None]
    times = np.linspace(0, 0.05, 6)
    repeats = 1 if method != "dopri5" else 1000
    segment, control = Segment(x, times, 1e-2, motion.constants, repeats), StepControl(1e-8, 1e-8)
    fast, plain = motion.code.propagate(way, control, lambda t: None)(segment), InterpretedPropagator(motion, way, control)(segment)
    assert np.abs(fast.x - plain.x).max() < 1e-12 and np.array_equal(fast.steps, plain.steps)


def test_a_called_force_that_returns_or_raises_nonsense_is_named(chain):
    def wrong(t, q, qd):
        return [1.0, 2.0, 3.0] if t < 0.05 else np.zeros(2)

    with pytest.raises(da.ShapeError, match=r"control returned shape \(2,\), expected \(3,\)"):
        da.simulate(chain, SWING, [0, 0, 0], 1.0, control=lambda t, q, qd: wrong(float(t), q, qd))
    with pytest.raises(ZeroDivisionError):
        da.simulate(chain, SWING, [0, 0, 0], 1.0, forces=lambda t, q, qd: np.zeros(3) if t < 0.05 else 1 // 0)
