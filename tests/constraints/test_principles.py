"""Principles on the same constraint: Chetaev's and the vakonomic one agree where they must, and differ as known."""

import numpy as np
import pytest

import dalembert as da
from masses import PRECISE, REFERENCE, Masses

pytestmark = pytest.mark.usefixtures("quickly_compiled")
BOTH = ("chetaev", "vakonomic")


class Skate(Masses):
    """A skate on an incline: unit mass and inertia, g sin = 1 along x."""

    name = "skate"

    def __init__(self, *principles):
        knife = da.constraints.Velocity("knife", lambda q, qd, t: [da.sin(q[2]) * qd[0] - da.cos(q[2]) * qd[1]])
        super().__init__(knife, masses=(1.0, 1.0, 1.0), principles=principles)
        self.coordinate_names = "x", "y", "phi"

    def bias_force(self, q, qd, t=0.0):
        return np.array([-1.0, 0, 0])

    def potential_energy(self, q, t=0.0):
        return -q[0]


def moved(system, q, qd, times, **given):
    return da.simulate(system, q, qd, [0.0, *times], **PRECISE, **given)


def test_a_skate_on_an_incline_by_both_principles():
    data = REFERENCE["skate_on_incline"]
    times = data["nonholonomic"]["t"]
    run = moved(Skate(), [0, 0, 0], [0, 0, 1], times)
    t = run.times
    np.testing.assert_allclose(run.q, np.column_stack([np.sin(t) ** 2 / 2, (t - np.sin(2 * t) / 2) / 2, t]), atol=4e-12)
    np.testing.assert_allclose(run.q[1:, 0], data["nonholonomic"]["x"], atol=4e-12)
    for mu, expected in data["vakonomic_by_mu0"].items():
        run = moved(Skate("vakonomic"), [0, 0, 0], [0, 0, 1], times, multipliers0=[float(mu)])
        np.testing.assert_allclose(run.q[1:], np.column_stack([expected[k] for k in ("x", "y", "phi")]), atol=5e-7)
        assert np.abs(run.power_balance).max() < 1e-11


def test_the_vakonomic_skate_is_its_reduced_system_in_the_frame_of_the_blade():
    """u' = g cos phi - mu phi', mu' = g sin phi + u phi', phi'' = mu u (g = 1)."""

    def reduced(t, q, qd):
        u, mu, x, y = q[1:]
        return np.array([mu * u, da.cos(q[0]) - mu * qd[0], da.sin(q[0]) + u * qd[0], u * da.cos(q[0]), u * da.sin(q[0])])

    class Reduced(da.System):
        name, coordinate_names = "reduced", ("phi",)
        internal_names, internal_states = ("u", "mu", "x", "y"), np.array([0.0, 0.3, 0.0, 0.0])

        def mass_matrix(self, q, t=0.0):
            return [[1.0]]

        def bias_force(self, q, qd, t=0.0):
            return np.zeros(1)

        def potential_energy(self, q, t=0.0):
            return 0 * q[0]

        def generalized_forces(self, q, qd, t=0.0):
            return reduced(t, [q[0], *self.internal_states], qd)[:1]

        def internal_rates(self, q, qd, tau, t=0.0):
            return reduced(t, [q[0], *self.internal_states], qd)[1:]

    times = [1.0, 2.0, 5.0, 10.0]
    whole = moved(Skate("vakonomic"), [0, 0, 0], [0, 0, 1], times, multipliers0=[0.3])
    run = moved(Reduced(), [0.0], [1.0], times)
    np.testing.assert_allclose(whole.q, np.column_stack([run.internal_states[:, 2:], run.q]), atol=1e-10)
    np.testing.assert_allclose(whole.internal_states[:, 0], run.internal_states[:, 1], atol=1e-10)


def test_a_free_body_has_the_term_of_its_quasi_velocities():
    """The skate as a mechanism on a free joint, psi = -u_y in the body's axes: `ad` of a free joint."""
    planar = da.Mechanism("planar", (da.Body("base"), da.Body("skate", 1.0, (0, 0, 0), (1.0, 0, 1.0, 0, 0, 1.0))),
                          (da.Joint("j", da.Free(), "base", "skate"),), gravity=(1.0, 0, 0))
    knife = da.constraints.Velocity("knife", lambda q, qd, t: [-qd[4]])
    skate = planar.constrained(knife, principle="vakonomic")
    q, qd = np.array([1.0, 0, 0, 0, 0, 0, 0]), np.array([0, 0, 1.0, 0, 0, 0])
    run = moved(skate, q, qd, [1.0, 2.0, 5.0, 10.0], multipliers0=[0.3])
    expected = REFERENCE["skate_on_incline"]["vakonomic_by_mu0"]["0.3"]
    np.testing.assert_allclose(run.q[1:, 4], expected["x"], atol=5e-7)
    np.testing.assert_allclose(run.q[1:, 5], expected["y"], atol=5e-7)


# w1, w2 and mu at t = 1, 2, 5, 10 of Suslov's problem with time
SUSLOV = {
    "chetaev": [[0.40715540, -0.20016711], [0.42722262, -0.11300935], [0.50756828, -0.13161407], [0.45134544, 0.06374073]],
    0.0: [[0.37665039, -0.23755216, -0.26363185], [0.35835623, -0.22320299, -0.23733926],
          [0.51928700, 0.02135328, 0.56989159], [0.42237517, 0.21052271, 0.25528026]],
    0.25: [[0.42696889, -0.17027187, -0.00901120], [0.43774243, -0.08864758, 0.01638249],
           [0.28338844, 0.28711992, 0.78670741], [-0.34039192, 0.21123129, 0.86441115]]}


@pytest.mark.parametrize("case", SUSLOV)
def test_suslovs_problem_in_angular_velocities(case):
    I = np.array([[1, 0.1, 0.2], [0.1, 1.5, -0.3], [0.2, -0.3, 2]])
    body = da.Body("top", 1.0, (0, 0, 0), tuple(I[np.tril_indices(3)]))
    top = da.Mechanism("top", (da.Body("base"), body), (da.Joint("ball", da.Spherical(), "base", "top"),), gravity=(0, 0, 0))
    psi = da.constraints.Velocity("w3", lambda q, qd, t: [qd[2] - 0.2 * da.sin(t)])
    principle, given = (case, {}) if case == "chetaev" else ("vakonomic", {"multipliers0": [case]})
    run = da.simulate(top.constrained(psi, principle=principle), [1.0, 0, 0, 0], [0.4, -0.3, 0], [0, 1, 2, 5, 10.0],
                      method="dop853", rtol=1e-13, atol=1e-13, **given)
    found = run.qd[1:, :2] if case == "chetaev" else np.column_stack([run.qd[1:, :2], run.internal_states[1:]])
    np.testing.assert_allclose(found, SUSLOV[case], atol=6e-9)
    np.testing.assert_allclose(run.qd[:, 2], 0.2 * np.sin(run.times), atol=1e-13)
    assert np.abs(run.power_balance).max() < 1e-12                    # of a constraint that depends on time


def test_an_integrable_constraint_has_one_motion_under_both_principles():
    """psi = f(q) dphi/dt: the same motion for every mu(0), and lambda = -mu' after normalising f."""

    class Bead(Masses):
        name = "bead"

        def __init__(self, f, *principles):
            psi = da.constraints.Velocity("circle", lambda q, qd, t: [f(q) * (q[0] * qd[0] + q[1] * qd[1])])
            super().__init__(psi, masses=(1.0, 1.0), principles=principles)

        def bias_force(self, q, qd, t=0.0):
            return np.array([0, 1.0])

        def potential_energy(self, q, t=0.0):
            return q[1]

    start, scaled = ([1.0, 0], [0, 0.3]), lambda q: 1 + q[0] ** 2
    for principle, given in (("chetaev", {}), ("vakonomic", {"multipliers0": [0.0]}), ("vakonomic", {"multipliers0": [0.7]})):
        run = moved(Bead(scaled, principle), *start, [5.0], **given)
        np.testing.assert_allclose(run.q[-1], [-0.91843461, -0.39557284], atol=6e-9)
    plain = moved(Bead(lambda q: 1.0), *start, [5.0])
    states = moved(Bead(lambda q: 1.0, "vakonomic"), *start, [5.0], multipliers0=[0.7])
    np.testing.assert_allclose(states.observables["multipliers"], plain.observables["multipliers"], atol=1e-10)


@pytest.mark.parametrize("principle", BOTH)
def test_work_of_a_constraint_with_time_is_booked(principle):
    """psi = a(q) v + a0(q, t): the reaction's power is -lambda a0."""
    moving = da.constraints.Velocity("moving", lambda q, qd, t: [qd[0] - q[1] * qd[1] - 0.3 * da.cos(t)])
    system = Masses(moving, masses=(1.0, 2.0), principles=(principle,))
    run = moved(system, [0, 0.2], [0.3 + 0.2 * 0.4, 0.4], [1.0, 3.0], **({"multipliers0": [0.1]} if principle == "vakonomic" else {}))
    assert np.abs(run.power_balance).max() < 1e-12 < np.abs(run.work[-1])
    if principle == "chetaev":
        a0 = -0.3 * np.cos(run.times)
        lam = run.observables["multipliers"][:, 0]
        power = da.compile(system).energy_rate(run.q, run.qd, np.zeros((len(a0), 2)), run.times)
        np.testing.assert_allclose(power, -lam * a0, atol=1e-12)


def test_a_constraint_quadratic_in_velocities_is_gausss_least_constraint():
    """Appell's and Hamel's psi = x'^2 + y'^2 - z'^2: accelerations are those of least constraint under psi' = 0."""
    psi = da.constraints.Velocity("cone", lambda q, qd, t: [qd[0] ** 2 + qd[1] ** 2 - qd[2] ** 2])
    for principle in ("chetaev", "gauss"):
        system = Masses(psi, masses=(1.0, 2.0, 0.5), principles=(principle,))
        v, tau = np.array([0.6, 0.8, 1.0]), np.array([0.3, -0.2, -4.0])
        found = system.forward_dynamics(np.zeros(3), v, tau)
        M, J = np.diag(system.masses), 2 * v * [1, 1, -1]
        basis = np.linalg.svd(J[None])[2][1:].T                       # of accelerations that keep psi' = 0
        least = basis @ np.linalg.solve(basis.T @ M @ basis, basis.T @ tau)
        np.testing.assert_allclose(found, least, rtol=1e-13)


def test_vakonomic_differs_from_chetaev_by_a_hessian_where_psi_is_quadratic():
    """The Euler-Lagrange equations of L + mu psi, differenced: (M + mu psi_vv) v' + psi_v mu' = tau - (mu psi)_vq v + mu psi_q."""

    def psi(q, qd, t):
        return [qd[0] ** 2 + q[0] * qd[1] - q[1] * qd[0] * t]

    system = Masses(da.constraints.Velocity("curved", psi), masses=(1.0, 2.0), principles=("vakonomic",))
    q, v, mu, t, tau = np.array([0.4, 0.7]), np.array([0.5, -0.9]), 0.3, 0.6, np.array([0.2, 0.1])
    own = system.with_internal([mu])
    a, rate = own.forward_dynamics(q, v, tau, t), own.internal_rates(q, v, tau, t)[0]

    def momentum(s):
        """d(T + mu psi)/dv along the motion."""
        qs, vs, ms, h = q + s * v, v + s * a, mu + s * rate, 1e-6
        up = [ms * (psi(qs, vs + d, t + s)[0] - psi(qs, vs - d, t + s)[0]) / (2 * h) for d in h * np.eye(2)]
        return np.array(system.masses) * vs + up

    slope = [mu * (psi(q + d, v, t)[0] - psi(q - d, v, t)[0]) / 2e-6 for d in 1e-6 * np.eye(2)]
    np.testing.assert_allclose((momentum(1e-4) - momentum(-1e-4)) / 2e-4, tau + slope, atol=1e-7)


def test_the_vakonomic_principle_asks_for_multipliers_at_the_start():
    with pytest.raises(da.ConstraintError, match=r"multipliers0= is needed: knife.mu of 'skate' are states.*0 is no default.*stable manifold"):
        da.simulate(Skate("vakonomic"), [0, 0, 0], [0, 0, 1], 1.0)
    with pytest.raises(da.ShapeError, match=r"multipliers0 has shape \(2,\), expected \(1,\)"):
        da.simulate(Skate("vakonomic"), [0, 0, 0], [0, 0, 1], 1.0, multipliers0=[0.0, 1.0])
    with pytest.raises(da.UnknownNameError, match="'knif'.*Did you mean 'knife'"):
        da.simulate(Skate("vakonomic"), [0, 0, 0], [0, 0, 1], 1.0, multipliers0={"knif": 0.0})
    several = da.simulate(Skate("vakonomic"), [0, 0, 0], [0, 0, 1], [0, 1.0], multipliers0={"knife": [[0.0], [0.3]]}, **PRECISE)
    np.testing.assert_allclose(several.q[:, -1, 0], [0.29501195553, 0.18573351703], atol=1e-10)


def test_holonomic_rows_are_the_same_under_both_principles_and_need_no_states():
    rod = da.constraints.Holonomic("rod", lambda q, t: [q @ q - 1.0])
    ends = [moved(Masses(rod, masses=(1.0, 1.0), principles=(p,)), [1.0, 0], [0, 1.0], [1.0]).q[-1] for p in BOTH]
    np.testing.assert_array_equal(*ends)


def test_the_servo_principle_keeps_the_rows_by_actuators_alone():
    """A pendulum whose rod's tip is to stay on a line: chetaev pushes along the row, servo along the driven coordinate."""

    def height(q, t):
        return [q[0] + 0.5 * q[1] - 0.1 * da.sin(t)]

    line = da.constraints.Holonomic("line", height)
    class Driven(Masses):
        driven = (1,)

    kept = Driven(line, masses=(1.0, 2.0), principles=("servo",))
    run = moved(kept, [0.0, 0.0], [0.1, 0.0], [1.0, 3.0])
    np.testing.assert_allclose(run.q[:, 0], 0.1 * run.times, atol=1e-13)                          # no force on the first mass
    np.testing.assert_allclose(run.observables["controls"][:, 0], 2 * 2 * -0.1 * np.sin(run.times), atol=1e-12)
    assert np.abs(run.power_balance).max() < 1e-13 and np.abs(run.observables["constraint_residual"]).max() < 1e-15


def test_vakonomic_rows_stand_beside_holonomic_ones():
    """A skate on a circular track of radius 1, in (x, y, phi) with the circle as rows, and in (theta, phi)."""

    def knife(x, y, phi, xd, yd, phid):
        return [xd * da.sin(phi) - yd * da.cos(phi) - 0.3 * phid]

    circle = da.constraints.Holonomic("circle", lambda q, t: [(q[0] ** 2 + q[1] ** 2 - 1) / 2])
    psi = da.constraints.Velocity("knife", lambda q, qd, t: knife(*q, *qd))
    whole = Masses(circle, psi, masses=(1.0, 1.0, 0.5), principles=("chetaev", "vakonomic"))

    def on_circle(q, qd, t):
        theta, phi = q
        x, y = da.cos(theta), da.sin(theta)
        return knife(x, y, phi, -y * qd[0], x * qd[0], qd[1])

    reduced = Masses(da.constraints.Velocity("knife", on_circle), masses=(1.0, 0.5), principles=("vakonomic",))
    theta, phi, rate = 0.4, 0.9, 0.8
    x, y = np.cos(theta), np.sin(theta)
    turn = knife(x, y, phi, -y * rate, x * rate, 0.0)[0] / 0.3
    times = [1.0, 2.0]
    one = moved(whole, [x, y, phi], [-y * rate, x * rate, turn], times, multipliers0=[0.2])
    two = moved(reduced, [theta, phi], [rate, turn], times, multipliers0=[0.2])
    np.testing.assert_allclose(one.q, np.column_stack([np.cos(two.q[:, 0]), np.sin(two.q[:, 0]), two.q[:, 1]]), atol=1e-10)
    np.testing.assert_allclose(one.internal_states, two.internal_states, atol=1e-10)


def test_forces_without_multipliers_are_no_silent_nan():
    state = np.zeros(3), np.array([0, 0, 1.0]), np.zeros(3)
    for call in (lambda: da.multipliers(Skate("vakonomic"), *state), lambda: Skate("vakonomic").forward_dynamics(*state)):
        with pytest.raises(da.ConstraintError, match="without a default|have no default"):
            call()
    compiled = da.compile(Skate("vakonomic"))
    own = Skate("vakonomic").with_internal([0.3])
    np.testing.assert_allclose(compiled.multipliers(*state, 0.0, [0.3]), own.multipliers(*state), atol=1e-14)
