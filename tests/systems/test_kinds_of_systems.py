"""What every system does, for all kinds that are listed: it is compiled, printed, simulated, swept and controlled as a
mechanism is; a new one is a file and a line."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from bead import Bead, BeadEquations

import dalembert as da
from dalembert import controllers, hamilton, lagrange
from dalembert.systems.kinds import KINDS, system_of


class HeavyTop(da.System):
    """A symmetric top on a fixed point in Euler angles: precession, nutation, spin."""

    name = "heavy top"
    coordinate_names = ("precession", "nutation", "spin")

    def __init__(self, across=0.3, along=0.1, weight=4.0):
        self.across, self.along, self.weight = across, along, weight      # kg m^2, kg m^2, N m

    def mass_matrix(self, q, t=0.0):
        s, c = da.sin(q[1]), da.cos(q[1])
        return [[self.across * s * s + self.along * c * c, 0, self.along * c],
                [0, self.across, 0],
                [self.along * c, 0, self.along]]

    def bias_force(self, q, qd, t=0.0):
        (a, b, g), s, c, d = qd, da.sin(q[1]), da.cos(q[1]), self.across - self.along
        return np.array([2 * d * s * c * a * b - self.along * s * b * g,
                         -d * s * c * a * a + self.along * s * a * g - self.weight * s,
                         -self.along * s * a * b])

    def potential_energy(self, q, t=0.0):
        return self.weight * da.cos(q[1])


def arm():
    return da.planar_chain(2).replace({f"q{k}.rotor_inertia": 2e-3 for k in (1, 2)} | {f"q{k}.gear_ratio": 50 for k in (1, 2)})


def ball_on_flexible_base():
    """A spherical joint behind a flexible revolute one: quaternions beside motors."""
    joints = [da.Joint("turn", da.Revolute((0, 0, 1)), "base", "arm", rotor_inertia=(1e-3,), gear_ratio=(30,)),
              da.Joint("ball", da.Spherical(), "arm", "ball", origin=da.Origin((0.4, 0, 0)))]
    bodies = [da.Body("base"), da.Body("arm", 2, (0.2, 0, 0), (0.01, 0, 0.02, 0, 0, 0.02)),
              da.Body("ball", 1, (0, 0, -0.1), (0.004, 0, 0.005, 0, 0, 0.003))]
    return da.Mechanism("ball", tuple(bodies), tuple(joints))


SYSTEMS = {
    "heavy top": HeavyTop,
    "reduced": lambda: lagrange.flexible_joints(arm(), stiffness=400.0, damping=0.5),
    "full": lambda: lagrange.flexible_joints(arm(), stiffness=400.0, model="full"),
    "planar chain": lambda: hamilton.planar_chain([1.0, 0.7], [0.5, 0.4]),
    "turntable": lambda: hamilton.turntable(hamilton.planar_chain([1.0, 0.7], [0.5, 0.4]), 0.3, 1.5),
    "natural": lambda: hamilton.nonnatural(da.planar_chain(2), a=lambda q, t: [0.1 * da.sin(q[1]), 0.2 * q[0]]),
    "Lagrangian": lambda: da.lagrangian_system(lambda q, qd, t: (qd @ qd) / 2 + q[0] * qd[1] - q[1] * qd[0], "x y"),
    "mechanism": lambda: da.planar_chain(2),
    "bead": Bead,
}


@pytest.fixture(params=SYSTEMS, scope="module")
def source(request):
    """An object of each kind: those of the package, a system itself, and a kind that only the line below makes known."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(KINDS, Bead, BeadEquations)
        yield SYSTEMS[request.param]()


def test_every_listed_kind_has_an_example():
    kinds = {kind for kind in KINDS for make in SYSTEMS.values() if isinstance(make(), kind)}
    assert kinds == {*KINDS} - {Bead} and not isinstance(Bead(), (da.System, *kinds))


def start(system):
    rng = np.random.default_rng(2)
    return 0.4 + 0.3 * rng.uniform(size=system.nq), rng.uniform(-1, 1, system.nv)


def test_energy_changes_by_work_alone(source):
    system = system_of(source)
    run = da.simulate(source, *start(system), 0.5, method="dop853", rtol=1e-11, atol=1e-12)
    assert run.reason == "finished"
    assert run.energy_drift < 1e-9


def test_momenta_and_accelerations_give_the_same_motion(source):
    q, qd = start(system_of(source))
    runs = [da.simulate(source, q, qd, 0.3, method="dop853", rtol=1e-11, atol=1e-12, formulation=name)
            for name in ("lagrange", "hamilton")]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-9)
    np.testing.assert_allclose(runs[0].qd, runs[1].qd, atol=1e-8)


def test_compiled_quantities_are_those_of_the_plain_functions(source):
    system, dynamics = system_of(source), da.compile(source)
    q, qd = start(system)
    state = {"q": q, "qd": qd, "qdd": np.cos(q[:system.nv]), "tau": np.sin(qd), "p": qd, "t": 0.3}
    for name in ("mass_matrix", "kinetic_energy", "potential_energy", "forward_dynamics", "inverse_dynamics", "momenta"):
        quantity = system.quantities[name]
        given = [state[i] for i in quantity.inputs]
        np.testing.assert_allclose(getattr(dynamics, name)(*given), quantity.function(*given), rtol=1e-12, atol=1e-12,
                                   err_msg=name)


def test_closed_forms_are_verified(source):
    text = da.equations(source).text("mass_matrix")
    assert "M11" in text


def test_sweeps_run_side_by_side(source):
    system = system_of(source)
    q, qd = start(system)
    with ThreadPoolExecutor(1) as executor:                     # processes begin slowly, and are tested with sweeps
        found = da.sweep(source, {"qd[0]": [0.0, 0.5]}, executor, t=0.2, q=q, qd=qd)
    for k, rate in enumerate((0.0, 0.5)):
        alone = da.simulate(source, q, [rate, *qd[1:]], 0.2)
        np.testing.assert_array_equal(found["q"][k], alone.q[-1])


def test_controllers_hold_a_posture(source):
    system = system_of(source)
    q = start(system)[0]
    law = controllers.GravityPD(source, q, 50.0, 20.0)
    run = da.simulate(source, q, np.zeros(system.nv), 0.2, control=law)
    assert run.forces["control"] == "traced"
    assert np.abs(run.q - q).max() < 1e-9


def test_runs_are_written_and_read(source, tmp_path):
    pytest.importorskip("xarray")
    run = da.simulate(source, *start(system_of(source)), 0.1)
    run.to_netcdf(tmp_path / "run.nc")
    np.testing.assert_array_equal(da.Run.load(source, tmp_path / "run.nc").q, run.q)
    assert "mechanism" not in run.summary() and run.to_csv(tmp_path / "run.csv").is_file()


def test_a_top_precesses_steadily_where_its_theory_says_so():
    top, angle, spin = HeavyTop(), 0.6, 30.0
    d = top.across - top.along
    a, b, c = d * np.cos(angle), -top.along * spin, top.weight          # d cos r^2 - J spin r + w = 0, with r the precession
    rate = (-b - np.sqrt(b * b - 4 * a * c)) / (2 * a)
    run = da.simulate(top, [0, angle, 0], [rate, 0, spin], 1.0, method="dop853", rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(run.q[:, 1], angle, atol=1e-9)
    np.testing.assert_allclose(run.q[-1, 0], rate, atol=1e-8)


def test_a_system_that_was_changed_is_compiled_anew():
    top = HeavyTop()
    first = da.simulate(top, [0, 0.5, 0], [0, 0, 20.0], 0.2)
    top.weight = 8.0
    second = da.simulate(top, [0, 0.5, 0], [0, 0, 20.0], 0.2)
    assert abs(first.q[-1, 1] - second.q[-1, 1]) > 1e-4
    np.testing.assert_array_equal(second.q, da.simulate(HeavyTop(weight=8.0), [0, 0.5, 0], [0, 0, 20.0], 0.2).q)


def test_quaternions_of_links_turn_beside_motors():
    flexible = lagrange.flexible_joints(ball_on_flexible_base(), stiffness=200.0)
    system = system_of(flexible)
    q, qd = system.neutral(), np.array([0.3, 1.0, -2.0, 0.5, 0.0])
    run = da.simulate(flexible, q, qd, 0.3, method="dop853", rtol=1e-10, atol=1e-12)
    assert run.energy_drift < 1e-8
    np.testing.assert_allclose(np.linalg.norm(run.q[:, 1:5], axis=1), 1, atol=1e-12)
    with pytest.raises(da.DalembertError, match="no Lagrangian"):
        da.equations(flexible)


def test_things_that_are_no_systems_are_refused_by_name():
    for call in (lambda: da.compile(3), lambda: da.equations("arm"), lambda: da.simulate([1], [0], [0], 1)):
        with pytest.raises(TypeError, match="a (int|str|list) "):
            call()
