"""Null space and coordinate partitioning: motion on constraints without multipliers."""

import numpy as np
import pytest

import dalembert as da
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.coordinate_partitioning import CoordinatePartitioning
from dalembert.systems.kinds import system_of
from dalembert.systems.tangent_space import null_space_accelerations

MINIMAL = ("null_space", "partitioning")
SMALL = (0.8, 0.6, 0.7)      # crank, coupler, rocker [m] on a ground of 1 m: no link turns fully
GRASHOF = (0.4, 0.9, 0.7)      # its crank does


def four_bar(sizes, coupler=1.5, closure=None):
    """Four-bar with a closure of five rows, of which two are independent."""
    names, masses = ("crank", "coupler", "rocker"), (0.8, coupler, 1.1)
    rods = [da.Body(name, m, (l / 2, 0, 0) if m else (0, 0, 0), (0, 0, m * l * l / 12, 0, 0, m * l * l / 12)) for name, l, m in zip(names, sizes, masses)]
    turn = da.Revolute((0, 0, 1))
    joints = (da.Joint("a", turn, "base", "crank"), da.Joint("b", turn, "crank", "coupler", da.Origin((sizes[0], 0, 0))),
              da.Joint("d", turn, "base", "rocker", da.Origin((1, 0, 0))))
    pin = da.constraints.Closure("pin", closure or turn, ("coupler", (sizes[1], 0, 0)), ("rocker", (sizes[2], 0, 0)))
    return da.Mechanism("four-bar", (da.Body("base"), *rods), joints, gravity=(0, -9.81, 0)).constrained(pin)


def start(loop, rate=2.0):
    """The open branch, with a rate of the crank."""
    system = system_of(loop)
    q = da.assemble(loop, [0.9, -0.4, 1.5], fixed=["a"])
    form = da.minimal_form(loop, q, np.zeros(3), independent=["a"])
    return system.project(q, form.B @ [rate])


@pytest.mark.parametrize("sizes", [GRASHOF, SMALL])
def test_accelerations_are_those_with_multipliers(sizes):
    loop = four_bar(sizes)
    system, tau = system_of(loop), np.array([0.3, -0.2, 0.5])
    q, qd = start(loop)
    rows, force = ConstraintSet(system), system.applied(q, qd, tau)
    exact = system.forward_dynamics(q, qd, tau)
    entries = CoordinatePartitioning(rows, np.zeros(3))
    marks = entries.chosen(q, qd, 0.0)
    assert sorted(marks) == [0, 2, 2]
    np.testing.assert_allclose(null_space_accelerations(rows, force, q, qd, 0.0), exact, rtol=1e-12)
    for some in (marks, [0, 2, 2], [2, 0, 2], [2, 2, 0]):
        np.testing.assert_allclose(CoordinatePartitioning(rows, some).accelerations(force, q, qd, 0.0), exact, rtol=1e-11)


def test_dependent_coordinates_follow_from_the_independent_one():
    loop = four_bar(GRASHOF)
    q, qd = start(loop)
    rows = ConstraintSet(system_of(loop))
    for free in range(3):
        marks = np.where(np.arange(3) == free, 0.0, 2.0)
        off = q + 0.002 * np.array([1, -2, 1.5]), qd + 0.1 * np.array([-1, 1, 2])
        there = CoordinatePartitioning(rows, marks).completed(*off, 0.0)
        assert there[0][free] == off[0][free] and there[1][free] == off[1][free]
        assert np.abs(rows.position(there[0])).max() < 1e-8 and np.abs(rows.rates(*there, 0.0).velocity).max() < 1e-13


@pytest.mark.parametrize("stabilisation", MINIMAL)
def test_motions_are_those_of_projection_with_loops_closed_to_rounding(stabilisation):
    loop = four_bar(GRASHOF)
    exact = da.simulate(loop, *start(loop), 3.0, rtol=1e-12, atol=1e-13, record=0.1)
    run = da.simulate(loop, *start(loop), 3.0, stabilisation=stabilisation, rtol=1e-11, atol=1e-12, record=0.1)
    assert run.stabilisation == stabilisation and run.reason == "finished"
    assert np.abs(run.q - exact.q).max() < 1e-8 and np.abs(run.multipliers - exact.multipliers).max() < 1e-6
    assert run.residual.max() < 1e-14 and run.velocity_residual.max() < 1e-13 and abs(run.energy_drift) < 1e-9
    assert ("switched" in run.summary()) == (stabilisation == "partitioning")


def test_other_coordinates_become_independent_where_the_crank_stands():
    """Crank and rocker come to dead centres, where they cannot be the independent ones."""
    loop = four_bar(SMALL)
    state = start(loop, 0.5)
    exact = da.simulate(loop, *state, 4.0, rtol=1e-12, atol=1e-13, record=0.02)
    assert np.abs(np.diff(np.sign(exact.qd[:, 0]))).max() == 2      # the crank turns back
    run = da.simulate(loop, *state, 4.0, stabilisation="partitioning", rtol=1e-11, atol=1e-12, record=0.02)
    switches, dependent = run.observables["switches"], run.observables["dependent_entries"]
    assert switches[0] == 0 and switches[-1] >= 4 and (np.diff(switches) >= 0).all()
    assert {*np.argmin(dependent, axis=1)} >= {0, 1} and set(np.unique(dependent)) == {0, 2}
    assert np.abs(run.q - exact.q).max() < 1e-7 and run.residual.max() < 1e-14
    assert f"switched {int(switches[-1])} times" in run.summary()


@pytest.mark.parametrize("stabilisation", MINIMAL)
@pytest.mark.parametrize("method, order", [("rk4", 4), ("implicit_midpoint", 2)])
def test_methods_keep_their_order(stabilisation, method, order):
    """Over switches of the partition too."""
    loop = four_bar(SMALL)
    state = start(loop, 0.5)
    exact = da.simulate(loop, *state, 1.0, rtol=1e-12, atol=1e-13, record=1.0).q[-1]
    runs = [da.simulate(loop, *state, 1.0, method=method, h=h, stabilisation=stabilisation, record=1.0) for h in (0.004, 0.002)]
    errors = [np.abs(run.q[-1] - exact).max() for run in runs]
    assert order - 0.6 < np.log2(errors[0] / errors[1]) < order + 1.5
    if stabilisation == "partitioning":
        assert runs[1].observables["switches"][-1] > 0


@pytest.mark.parametrize("stabilisation", MINIMAL)
def test_batches_inputs_and_functions_that_are_called(stabilisation):
    loop = four_bar(GRASHOF)
    states = [start(loop, rate) for rate in (1.0, 2.0, 3.0)]
    q, qd = (np.array(part) for part in zip(*states))
    options = {"stabilisation": stabilisation, "record": 0.5, "method": "rk4", "h": 0.01}
    masses = [1.0, 1.5, 2.0]
    runs = da.simulate(loop, q, qd, 1.0, parameters={"coupler.mass": masses}, **options)
    for k, mass in enumerate(masses):
        alone = da.simulate(loop.replace({"coupler.mass": mass}), q[k], qd[k], 1.0, **options)
        np.testing.assert_allclose(runs.q[k], alone.q, atol=1e-9)

    def called(t, q, qd):
        return np.array([0.3 if float(q[0]) > -50 else 0.0, 0, 0])      # a branch, which cannot be traced

    if stabilisation == "null_space":
        return
    traced = da.simulate(loop, *states[0], 0.5, control=lambda t, q, qd: np.array([0.3, 0, 0]), **options)
    np.testing.assert_allclose(da.simulate(loop, *states[0], 0.5, control=called, **options).q, traced.q, atol=1e-9)


@pytest.mark.parametrize("stabilisation", ["null_space", pytest.param("partitioning", marks=pytest.mark.slow)])
def test_bricard_moves_though_its_rows_are_redundant(stabilisation):
    loop, q = da.loops.bricard()
    state = q, np.zeros(5)
    exact = da.simulate(loop, *state, 1.0, record=0.5)
    run = da.simulate(loop, *state, 1.0, stabilisation=stabilisation, record=0.5)
    assert run.reason == "finished" and np.abs(run.q - exact.q).max() < 1e-6 and run.residual.max() < 1e-12


@pytest.mark.parametrize("stabilisation", MINIMAL)
def test_constraints_on_velocities_alone(stabilisation):
    """A sleigh on a knife edge down an incline."""
    class Sleigh(da.System):
        name, coordinate_names = "sleigh", ("x", "y", "angle")
        constraints = (da.constraints.Velocity("edge", lambda q, qd, t: [qd[0] * da.sin(q[2]) - qd[1] * da.cos(q[2])], "m/s"),)

        def mass_matrix(self, q, t=0.0):
            return [[1, 0, 0], [0, 1, 0], [0, 0, 0.5]]

        def bias_force(self, q, qd, t=0.0):
            return np.array([9.81 * 0.5, 0, 0])

        def potential_energy(self, q, t=0.0):
            return 9.81 * 0.5 * q[0]

    exact = da.simulate(Sleigh(), [0, 0, 0], [0, 0, 2.0], 3.0, record=0.1)
    run = da.simulate(Sleigh(), [0, 0, 0], [0, 0, 2.0], 3.0, stabilisation=stabilisation, record=0.1)
    assert np.abs(run.q - exact.q).max() < 1e-8 and run.velocity_residual.max() < 1e-13
    if stabilisation == "partitioning":
        assert run.observables["switches"][-1] > 0 and set(np.unique(run.observables["dependent_entries"])) == {0, 1}


@pytest.mark.parametrize("stabilisation", [pytest.param("null_space", marks=pytest.mark.slow), "partitioning"])
def test_a_loop_of_ball_joints_closes(stabilisation):
    rods = [da.Body(name, 1.0, (0.25, 0.05, 0.0), (0.02, 0.001, 0.0, 0.03, 0.002, 0.04)) for name in ("one", "two")]
    joints = (da.Joint("s1", da.Spherical(), "base", "one"), da.Joint("s2", da.Spherical(), "one", "two", da.Origin((0.5, 0, 0))))
    pin = da.constraints.Closure("pin", da.Spherical(), ("two", (0.5, 0, 0)), ("base", (0.6, 0.3, 0.2)))
    loop = da.Mechanism("balls", (da.Body("base"), *rods), joints).constrained(pin)
    system, random = system_of(loop), np.random.default_rng(3)
    state = system.project(system.integrate(system.neutral(), 0.5 * random.normal(size=6)), 0.3 * random.normal(size=6))
    exact = da.simulate(loop, *state, 0.5, record=0.1)
    run = da.simulate(loop, *state, 0.5, stabilisation=stabilisation, record=0.1)
    assert np.abs(run.q - exact.q).max() < 1e-7 and run.residual.max() < 1e-14


def test_null_space_goes_with_momenta_and_other_principles_do_not():
    loop = four_bar(GRASHOF)
    state = start(loop)
    exact = da.simulate(loop, *state, 1.0, record=1.0).q[-1]
    run = da.simulate(loop, *state, 1.0, method="dop853", formulation="hamilton", stabilisation="null_space", record=1.0)
    assert np.abs(run.q[-1] - exact).max() < 1e-6
    with pytest.raises(ValueError, match=r"states \(q, p\) have not"):
        da.simulate(loop, *state, 1.0, method="dop853", formulation="hamilton", stabilisation="partitioning")
    for method in ("rattle", "radau_iia", "half_explicit4", "generalized_alpha", "radau5"):
        with pytest.raises(ValueError, match="take|give|leave"):
            da.simulate(loop, *state, 1.0, method=method, stabilisation="null_space", h=0.01)


# --- links without mass ---


@pytest.fixture(scope="module")
def massless():
    with pytest.warns(da.DalembertWarning, match="close a loop by constraints"):
        return four_bar(GRASHOF, coupler=0)


@pytest.mark.parametrize("stabilisation", ["null_space", *(pytest.param(other, marks=pytest.mark.slow) for other in ("projection", "partitioning"))])
def test_a_link_without_mass_moves_as_the_limit_of_light_ones(massless, stabilisation):
    state = start(massless)
    run = da.simulate(massless, *state, 2.0, stabilisation=stabilisation, record=0.5)
    assert run.reason == "finished" and run.residual.max() < 1e-14 and abs(run.energy_drift) < 1e-8
    errors = []
    for mass in (1e-3, 1e-4):
        light = da.simulate(four_bar(GRASHOF, mass), *state, 2.0, record=0.5)
        errors.append(max(np.abs(run.q - light.q).max(), 1e-2 * np.abs(run.multipliers - light.multipliers).max()))
    assert errors[1] < 0.12 * errors[0] < 0.01


def test_a_link_without_mass_is_a_rod_of_constant_length(massless):
    """Crank and rocker alone, held apart by a distance; the force along the rod is that of the pin."""
    state = start(massless)
    bodies = [body for body in massless.bodies if body.name != "coupler"]
    joints = [joint for joint in massless.joints if joint.name != "b"]
    rod = da.constraints.Distance("rod", ("crank", (0.4, 0, 0)), ("rocker", (0.7, 0, 0)), 0.9)
    pair = da.Mechanism("pair", tuple(bodies), tuple(joints), gravity=(0, -9.81, 0)).constrained(rod)
    run = da.simulate(massless, *state, 2.0, rtol=1e-11, atol=1e-12, record=0.5)
    other = da.simulate(pair, state[0][[0, 2]], state[1][[0, 2]], 2.0, rtol=1e-11, atol=1e-12, record=0.5)
    assert np.abs(run.q[:, [0, 2]] - other.q).max() < 1e-9
    np.testing.assert_allclose(np.linalg.norm(run.multipliers, axis=1), np.abs(other.multipliers[:, 0]), rtol=1e-7)
    A = [da.linearize(own, q, qd, np.zeros(len(q)), independent=["a"]).A for own, q, qd in
         ((massless, *state), (pair, state[0][[0, 2]], state[1][[0, 2]]))]
    np.testing.assert_allclose(*A, rtol=1e-8)


def test_a_link_without_mass_is_refused_where_the_inverse_of_m_is_needed(massless):
    state = start(massless)
    for options in ({"method": "rattle"}, {"method": "radau_iia"}, {"method": "generalized_alpha"}, {"formulation": "hamilton"}):
        with pytest.raises(ValueError, match="links without mass"):
            da.simulate(massless, *state, 1.0, h=0.01, **options)
    assert [finding.severity for finding in massless.check()] == ["note"]
    alone = da.Mechanism("free", massless.bodies, massless.joints, gravity=massless.gravity)
    spin = alone.constrained(da.constraints.Holonomic("crank", lambda q, t: [q[0] - 0.3], "rad"))
    with pytest.raises(da.SingularMassMatrixError):
        da.simulate(spin, [0.3, 0, 0], [0, 0, 0], 1.0)
    with pytest.raises(da.SingularMassMatrixError):
        da.simulate(spin, [0.3, 0, 0], [0, 0, 0], 1.0, stabilisation="null_space")


def test_a_mass_at_the_pin_of_its_joint_is_part_of_the_link_before(massless):
    """The coupler as a point mass on the crank's end, where the joint moves no inertia."""
    point = da.Body("coupler", 0.6)
    bodies = tuple(point if body.name == "coupler" else body for body in massless.bodies)
    loop = da.Mechanism("point", bodies, massless.joints, gravity=massless.gravity).constrained(*massless.constraints)
    state = start(loop)
    run = da.simulate(loop, *state, 1.0, record=0.5)
    crank = [body for body in massless.bodies if body.name == "crank"][0]
    tip = crank.mass * 0.2 + 0.6 * 0.4, crank.mass + 0.6
    com = tip[0] / tip[1]
    about = crank.inertia[5] + crank.mass * (0.2 - com) ** 2 + 0.6 * (0.4 - com) ** 2
    heavier = da.Body("crank", tip[1], (com, 0, 0), (0, 0, about, 0, 0, about))
    lumped = tuple(heavier if body.name == "crank" else body for body in massless.bodies)
    with pytest.warns(da.DalembertWarning):
        other = da.Mechanism("lumped", lumped, massless.joints, gravity=massless.gravity).constrained(*massless.constraints)
    np.testing.assert_allclose(da.simulate(other, *state, 1.0, record=0.5).q, run.q, atol=1e-8)
    weighed = da.simulate(loop, *state, 1.0, record=0.5, parameters={"rocker.mass": 1.1})
    np.testing.assert_allclose(weighed.q, run.q, atol=1e-9)


class Wire(da.System):
    """A cart, and a point without mass on a parabola above it, whose weight acts on the cart."""

    name, coordinate_names, massless = "wire", ("x", "height"), True
    constraints = (da.constraints.Holonomic("parabola", lambda q, t: [q[1] - q[0] * q[0]], "m"),)

    def mass_matrix(self, q, t=0.0):
        return [[1.0, 0], [0, 0]]

    def bias_force(self, q, qd, t=0.0):
        return np.array([0, 9.81])

    def potential_energy(self, q, t=0.0):
        return 9.81 * q[1]


def test_a_system_of_ones_own_says_that_some_velocities_move_no_inertia():
    run = da.simulate(Wire(), [0.5, 0.25], [0, 0], 2.0, record=0.1)
    assert np.abs(run.q[:, 0] - 0.5 * np.cos(np.sqrt(2 * 9.81) * run.times)).max() < 1e-9
    assert np.abs(run.multipliers - 9.81).max() < 1e-12
    unsaid = type("Unsaid", (Wire,), {"massless": False})()
    with pytest.raises(da.SingularMassMatrixError, match="massless = True"):
        da.simulate(unsaid, [0.5, 0.25], [0, 0], 2.0)
