"""Simulations by 'rodas5p': closed forms of stiff springs, compiled and interpreted, batches, controls, events, refusals."""

import numpy as np
import pytest

import dalembert as da
from dalembert.simulation.event_loop import EventLoop
from dalembert.simulation.interpreted_propagator import InterpretedPropagator
from dalembert.systems.kinds import system_of

RODAS = {"method": "rodas5p", "rtol": 1e-8, "atol": 1e-10}
ARM = da.planar_chain(2)
STATE = [0.5, 0.2], [0.0, 0.0]
OMEGA, ZETA, SLOW = 1e4, 0.02, 3.0


class Bushing(da.System):
    """Masses 1 and 3 on a soft spring to the ground and a stiff one between; its modes in closed form."""

    name, coordinate_names = "bushing", ("x", "y")
    K = np.array([[SLOW**2 + 3 * OMEGA**2, -3 * OMEGA**2], [-3 * OMEGA**2, 3 * SLOW**2 + 3 * OMEGA**2]])
    D = 2 * ZETA / OMEGA * 3 * OMEGA**2 / 2 * np.array([[1.0, -1.0], [-1.0, 1.0]])

    def mass_matrix(self, q, t=0.0):
        return np.diag([1.0, 3.0])

    def bias_force(self, q, qd, t=0.0):
        return self.K @ q

    def generalized_forces(self, q, qd, t=0.0):
        return -self.D @ qd

    def potential_energy(self, q, t=0.0):
        return q @ (self.K @ q) / 2

    def exact(self, t, q):
        """q from rest: the common motion, and the stretched spring, a damped oscillator."""
        M, apart = np.array([1.0, 3.0]), np.array([1.0, -1.0 / 3.0])
        common, stretch = M @ q / 4, (q[0] - q[1]) * 0.75
        omega, decay = np.sqrt(4 * OMEGA**2 + SLOW**2), 2 * ZETA * OMEGA
        fast = np.sqrt(omega**2 - decay**2)
        wave = np.exp(-decay * t) * (np.cos(fast * t) + decay / fast * np.sin(fast * t))
        return common * np.cos(SLOW * t) + stretch * wave * apart


def both(system, q, qd, duration, **options):
    """Runs by 'dop853' and 'rodas5p'."""
    explicit = da.simulate(system, q, qd, duration, method="dop853", rtol=1e-10, atol=1e-12, record=duration / 4, **options)
    return explicit, da.simulate(system, q, qd, duration, record=duration / 4, **(RODAS | options))


def off(runs):
    explicit, implicit = runs
    return max(np.abs(explicit.q - implicit.q).max(), np.abs(explicit.qd - implicit.qd).max() / 10)


def test_a_stiff_damped_spring_follows_its_closed_form_and_holds_no_step_down():
    system, q = Bushing(), np.array([0.11, 0.09])
    times = np.array([0.0, 1e-4, 1e-3, 0.1, 1.0, 2.0])
    for rtol, steps in ((1e-5, 1000), (1e-8, 5000)):
        run = da.simulate(system, q, [0.0, 0.0], times, method="rodas5p", rtol=rtol, atol=rtol, h=1e-6)
        exact = np.array([system.exact(t, q) for t in times])
        assert np.abs(run.q - exact).max() < 10 * rtol and run.steps < steps
    explicit = da.simulate(system, q, [0.0, 0.0], times, method="dop853", rtol=1e-5, atol=1e-5, h=1e-6)
    assert explicit.steps > 5000


def steady(system, q, qd, h, **options):
    """The end of half a second in steps of one length: the tolerance refuses none."""
    run = da.simulate(system, q, qd, 0.5, method="rodas5p", rtol=1e3, atol=1e3, h=h, longest_step=h, record=0.5, **options)
    assert run.steps == round(0.5 / h) and not run.rejected
    return np.concatenate([run.q[-1], run.qd[-1]])


@pytest.mark.parametrize("constrained", [False, True])
def test_order_5_of_motions_under_forces_of_time_and_on_constraints(constrained):
    if constrained:
        start = turning(da.loops.four_bar(), 3.0)
        options = {}
    else:
        start, options = (ARM, *STATE), {"control": swept}
    exact = da.simulate(*start, 0.5, method="dop853", rtol=1e-13, atol=1e-14, record=0.5, **options)
    end = np.concatenate([exact.q[-1], exact.qd[-1]])
    errors = [np.abs(steady(*start, h, **options) - end).max() for h in (1 / 64, 1 / 128, 1 / 256)]
    orders = np.log2(errors[:-1] / np.array(errors[1:]))
    assert (orders > 4.6).all() and errors[-1] > 1e-12, (errors, orders)


def test_work_of_the_damper_is_booked():
    run = da.simulate(Bushing(), [0.11, 0.09], [0.0, 0.0], 1.0, method="rodas5p", rtol=1e-9, atol=1e-12, h=1e-6)
    assert run.energy_drift < 1e-7 and run.work[-1] < -1.0


@pytest.mark.parametrize(("joint", "q", "qd"), [
    (da.Spherical(), [1, 0, 0, 0], [1.0, 2.0, 0.5]), (da.Free(), [0, 0, 0, 1, 0, 0, 0], [0, 0, 3, 1.0, 2.0, 0.5])])
def test_quaternions_turn_as_by_explicit_methods(joint, q, qd):
    body = da.Body("b", 1.0, (0.1, 0, -0.5), (0.3, 0, 0.4, 0, 0, 0.2))
    top = da.Mechanism("top", (da.Body("base"), body), (da.Joint("s", joint, "base", "b"),))
    start = top.neutral(), np.array(qd) if joint == da.Spherical() else np.roll(qd, 3)
    runs = both(top, *start, 1.0)
    assert off(runs) < 1e-7
    length = np.linalg.norm(runs[1].q[:, : 4] if joint == da.Spherical() else runs[1].q[:, quaternion(top)], axis=1)
    assert np.abs(length - 1).max() < 1e-14


def quaternion(mechanism):
    (at,) = mechanism.quaternions.values()
    return slice(at, at + 4)


class Integral:
    """A controller with states of its own."""

    states = np.zeros(2)

    def __call__(self, t, q, qd, states):
        return -5 * q - qd - 2 * states

    def rate(self, t, q, qd, states):
        return q - 0.1 * states


def swept(t, q, qd):
    return np.array([2 * da.sin(5 * t), -qd[1]])


def branched(t, q, qd):
    return -3 * q - 0.5 * qd if t < 10 else q


def sampled(k, t, q, qd, memory):
    return -20 * q - 3 * qd - memory, memory + 0.1 * q


@pytest.mark.parametrize("control", [
    swept, branched, Integral(), [1.0, -0.5], da.controllers.Sampled(sampled, 0.05, memory=[0.0, 0.0])],
    ids=["traced", "called", "with states", "numbers", "sampled"])
def test_controls_act_as_by_explicit_methods(control):
    assert off(both(ARM, *STATE, 0.4, control=control)) < 3e-6


def test_other_systems_move_as_by_explicit_methods():
    swing = da.lagrangian_system(
        lambda q, qd, t: qd[0] ** 2 * (1 + q[0] ** 2) / 2 - 50 * q[0] ** 2 + 0.1 * da.sin(3 * t) * q[0], ("x",))
    assert off(both(swing, [0.5], [0.0], 1.0)) < 1e-7
    rough = ARM.replace({"q1.viscous": 0.5, "q1.coulomb": 0.3})
    assert off(both(rough, *STATE, 0.5, friction="sign")) < 1e-6


def turning(assembly, rate):
    """A loop, and a state in which its first joint turns at a rate."""
    mechanism = assembly.mechanism
    return mechanism, *system_of(mechanism).project(assembly.q, rate * np.eye(mechanism.nv)[0])


@pytest.mark.parametrize("loop", ["four_bar", "slider_crank", pytest.param("bricard", marks=pytest.mark.slow)])
def test_loops_move_as_by_explicit_methods_and_ends_meet_them(loop):
    """Bricard's rows depend on each other: one is left out of the elimination."""
    runs = both(*turning(getattr(da.loops, loop)(), 0.0 if loop == "bricard" else 3.0), 0.5)
    assert off(runs) < 1e-6 and runs[1].stabilisation == "projection"
    assert runs[1].residual.max() < 1e-14 and runs[1].velocity_residual.max() < 1e-13
    assert np.abs(runs[0].multipliers - runs[1].multipliers).max() < 1e-5 * np.abs(runs[0].multipliers).max()


def test_velocities_that_are_constrained_alone_move_as_by_explicit_methods():
    free = da.lagrangian_system(lambda q, qd, t: (qd[0] ** 2 + qd[1] ** 2 + 0.2 * qd[2] ** 2) / 2 + 0.3 * da.cos(q[0]), ("x", "y", "turn"))
    blade = da.constraints.Velocity("blade", lambda q, qd, t: [-da.sin(q[2]) * qd[0] + da.cos(q[2]) * qd[1]], "m/s")
    assert off(both(free.constrained(blade), [0.1, 0, 0.2], [np.cos(0.2), np.sin(0.2), 0.7], 0.5)) < 1e-6


def test_a_stiff_connecting_rod_in_a_loop_holds_no_step_down():
    """Its bending decays at 1e5 1/s; the slider follows the rigid mechanism."""
    beam = da.Beam(0.3, EIz=2e3, mass_per_length=0.3, damping=da.Rayleigh(stiffness=1e-3))
    z, moment = da.Revolute((0, 0, 1)), (0, 0, 0, 0, 0, 2e-4)

    def slider_crank(modes):
        bodies = [da.Body("base"), da.Body("crank", 0.12, (0.075, 0, 0), moment), da.Body("rod", beam=beam, modes=modes), da.Body("slider", 0.2)]
        joints = [da.Joint("main", z, "base", "crank"), da.Joint("knee", z, "crank", "rod", da.Origin((0.15, 0, 0))),
                  da.Joint("guide", da.Prismatic((1, 0, 0)), "base", "slider", da.Origin((0.45, 0, 0)))]
        pin = da.constraints.Closure("pin", z, ("rod", (0.3, 0, 0)), ("slider", (0, 0, 0)))
        mechanism = da.Mechanism("slider-crank", bodies, joints, gravity=(0, -9.81, 0)).constrained(pin)
        return mechanism, *system_of(mechanism).project(np.zeros(mechanism.nq), 10 * np.eye(mechanism.nv)[0])

    bent = da.simulate(*slider_crank({"bend_y": 2}), 0.5, record=0.1, method="rodas5p", rtol=1e-6, atol=1e-8)
    rigid = da.simulate(*slider_crank(0), 0.5, record=0.1, method="dop853", rtol=1e-9)
    assert np.abs(bent.q[:, :3] - rigid.q).max() < 1e-3 and bent.steps < 500 and bent.residual.max() < 1e-14
    assert 1e-9 < np.abs(bent.q[:, 3:]).max() < 1e-4


def test_events_are_found_where_explicit_methods_find_them():
    def height(t, q, qd):
        return q[0] - 0.3

    def branching(t, q, qd):
        return float(q[0]) - 0.3 if t < 10 else 1.0

    expected = da.simulate(ARM, *STATE, 2.0, method="dop853", rtol=1e-11, atol=1e-12, events=height).events
    for event in (height, branching):
        found = da.simulate(ARM, *STATE, 2.0, events=event, **RODAS).events
        assert len(found) == len(expected) > 0
        assert all(abs(a.t - b.t) < 1e-7 and abs(a.q[0] - 0.3) < 1e-12 for a, b in zip(found, expected, strict=True))


def test_compiled_and_interpreted_runs_agree(monkeypatch):
    compiled = da.simulate(ARM, *STATE, 0.5, control=swept, record=0.05, **RODAS)
    monkeypatch.setattr(EventLoop, "_propagator", lambda loop: InterpretedPropagator(loop.motion, loop.method, loop.control))
    interpreted = da.simulate(ARM, *STATE, 0.5, control=swept, record=0.05, **RODAS)
    assert np.abs(compiled.q - interpreted.q).max() < 1e-11 and compiled.steps == interpreted.steps
    loop = turning(da.loops.four_bar(), 3.0)
    interpreted = da.simulate(*loop, 0.05, record=0.01, **RODAS)
    monkeypatch.undo()
    compiled = da.simulate(*loop, 0.05, record=0.01, **RODAS)
    assert np.abs(compiled.q - interpreted.q).max() < 1e-11 and compiled.steps == interpreted.steps


def test_trajectories_side_by_side_are_as_single_ones_to_the_last_bit():
    q = np.array([0.5, 0.2]) + np.linspace(0, 0.3, 5)[:, None]
    masses = np.linspace(1, 2, 5)
    path = "link1.mass"
    together = da.simulate(ARM, q, 0 * q, 0.5, parameters={path: masses}, record=0.1, **RODAS)
    for row in range(5):
        alone = da.simulate(ARM, q[row], [0, 0], 0.5, parameters={path: masses[row]}, record=0.1, **RODAS)
        assert np.array_equal(alone.q, together.q[row])


def test_a_run_goes_on_from_a_folder_with_the_same_bits(tmp_path):
    zarr = pytest.importorskip("zarr")
    assert zarr
    stored = da.simulate(ARM, *STATE, 0.5, record=0.01, store=tmp_path / "run.zarr", **RODAS)
    assert np.array_equal(np.asarray(stored.q), da.simulate(ARM, *STATE, 0.5, record=0.01, **RODAS).q)


def test_refusals_name_another_method():
    loop = da.loops.four_bar()
    with pytest.raises(ValueError, match="rodas5p solves for multipliers in its stages .* stabilisation='projection'"):
        da.simulate(loop.mechanism, loop.q, np.zeros(3), 1.0, stabilisation="null_space", **RODAS)
    with pytest.raises(ValueError, match=r"rodas5p steps velocities, .* take a formulation in \(q, qd\)"):
        da.simulate(ARM, *STATE, 1.0, formulation="hamilton", **RODAS)
    rough = ARM.replace({"q1.coulomb": 0.3})
    with pytest.raises(ValueError, match="rodas5p takes accelerations .* friction='sign' without stops"):
        da.simulate(rough, *STATE, 1.0, **RODAS)
