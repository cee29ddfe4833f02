"""A user's own Lagrangian: against mechanisms, closed forms, conservation along motions; time, gyroscopic terms, forces."""

import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert import lagrange
from trees import derivative

RNG = np.random.default_rng(0)


def of_mechanism(m):
    """The Lagrangian of a mechanism, with its passive forces except springs as generalized forces."""
    def L(q, qd, t):
        return lagrange.kinetic_energy(m, q, qd) - lagrange.potential_energy(m, q)

    return da.lagrangian_system(L, m.nq, lambda q, qd, t: da.passive_force(m.without("springs"), q, qd), m.name)


@pytest.mark.parametrize("seed", range(3))
def test_lagrangian_of_a_mechanism_gives_its_equations(seed):
    m = da.random_tree(seed, 4, ["revolute", "prismatic", "universal", "helical", "follower"])
    system = of_mechanism(m)
    q, qd = (np.array([m.random_state(s)[k] for s in range(3)]) for k in (0, 1))
    x = RNG.standard_normal(qd.shape)
    size = np.abs(da.inverse_dynamics(m, q, qd, x)).max()
    assert np.allclose(system.inverse_dynamics(q, qd, x), da.inverse_dynamics(m, q, qd, x), rtol=0, atol=1e-12 * size)
    assert np.allclose(system.mass_matrix(q), da.mass_matrix(m, q), rtol=0, atol=1e-12 * np.abs(da.mass_matrix(m, q)).max())
    assert np.allclose(system.coriolis_matrix(q, qd), da.coriolis_matrix(m, q, qd), rtol=0, atol=1e-12 * size)
    assert np.allclose(system.energy(q, qd), da.kinetic_energy(m, q, qd) + da.potential_energy(m, q), rtol=1e-12)
    assert np.allclose(system.momenta(q, qd), da.momenta(m, q, qd), rtol=0, atol=1e-12 * size)
    found = system.forward_dynamics(q, qd, x)
    assert np.allclose(system.inverse_dynamics(q, qd, found), x, rtol=0, atol=1e-11 * size)
    assert np.array_equal(found[1], system.forward_dynamics(q[1], qd[1], x[1]))


def test_cart_and_pendulum_has_the_textbook_s_equations():
    """Cart M, pendulum m, l, angle from the hanging position: derived by hand."""
    M, m, l, g, c = 2.0, 0.5, 0.8, 9.81, 0.3

    def L(q, qd, t):
        (_, angle), (v, w) = q, qd
        return (M + m) * v**2 / 2 + m * l * v * w * da.cos(angle) + m * l**2 * w**2 / 2 + m * g * l * da.cos(angle)

    system = da.lagrangian_system(L, "x angle", lambda q, qd, t: [-c * qd[0], 0])
    q, qd, tau = RNG.standard_normal((3, 2))
    s, co = np.sin(q[1]), np.cos(q[1])
    D = np.array([[M + m, m * l * co], [m * l * co, m * l**2]])
    bias = np.array([-m * l * s * qd[1]**2, m * g * l * s])
    assert np.allclose(system.mass_matrix(q), D) and np.allclose(system.bias_force(q, qd), bias)
    assert np.allclose(system.generalized_forces(q, qd), [-c * qd[0], 0])
    assert np.allclose(system.forward_dynamics(q, qd, tau), np.linalg.solve(D, tau + [-c * qd[0], 0] - bias))
    assert system.cyclic == ("x",) and system.coordinate_names == ("x", "angle") and system.nq == system.nv == 2


def test_energy_of_a_charged_particle_in_a_magnetic_field_is_constant_and_the_field_does_no_work():
    """L = m v^2 / 2 + (B/2)(x y' - y x') - k r^2 / 2: linear in qd; circles of the closed form for k = 0."""
    m, B, k = 1.5, 2.0, 0.7

    def L(q, qd, t):
        return m * (qd @ qd) / 2 + B / 2 * (q[0] * qd[1] - q[1] * qd[0]) - k * (q @ q) / 2

    system = da.lagrangian_system(L, "x y")
    assert np.allclose(system.gyroscopic_matrix([1, 2]), [[0, -B], [B, 0]])
    q, qd = np.array([0.3, -0.4]), np.array([1.0, 0.5])
    assert np.allclose(system.bias_force(q, qd), system.gyroscopic_matrix(q) @ qd + k * q)
    assert system.energy(q, qd) == pytest.approx(m * qd @ qd / 2 + k * q @ q / 2)         # not p . qd: the field's part drops
    assert not np.allclose(system.momenta(q, qd), m * qd)
    run = integrated(system, q, qd, 3.0)
    assert np.ptp(system.energy(run[:, :2], run[:, 2:])) < 1e-9
    free = da.lagrangian_system(lambda q, qd, t: L(q, qd, t) + k * (q @ q) / 2, "x y")
    w = B / m
    end = integrated(free, q, qd, 1.0)[-1]
    turned = np.array([[np.sin(w), 1 - np.cos(w)], [np.cos(w) - 1, np.sin(w)]]) / w @ qd
    assert np.allclose(end[:2], q + turned, atol=1e-9)


def integrated(system, q, qd, end):
    def rates(t, x):
        return np.concatenate([x[system.nq:], system.forward_dynamics(x[:system.nq], x[system.nq:], [0] * system.nv, t)])

    done = solve_ivp(rates, (0, end), [*q, *qd], method="DOP853", rtol=1e-11, atol=1e-11)
    assert done.success
    return done.y.T


def test_explicit_time_pendulum_on_a_moving_support():
    """Kapitza's pendulum: support at a cos(wt); closed form, and dE/dt = -dL/dt along the motion."""
    l, a, w, g, mass = 0.7, 0.1, 5.0, 9.81, 2.0

    def L(q, qd, t):
        angle, rate = q[0], qd[0]
        v = (l * da.cos(angle) * rate, l * da.sin(angle) * rate - a * w * da.sin(w * t))
        return mass * (v[0]**2 + v[1]**2) / 2 - mass * g * (a * da.cos(w * t) - l * da.cos(angle))

    system = da.lagrangian_system(L, ["angle"])
    q, qd, tau, t = [0.4], [1.3], [0.2], 0.37
    expected = tau[0] / (mass * l**2) - (g - a * w**2 * np.cos(w * t)) / l * np.sin(q[0])
    qdd = system.forward_dynamics(q, qd, tau, t)
    assert qdd == pytest.approx([expected])
    rate = derivative(lambda h: system.energy([q[0] + h * qd[0] + h * h / 2 * qdd[0]], [qd[0] + h * qdd[0]], t + h), 1e-3)
    assert system.energy_rate(q, qd, tau, t) == pytest.approx(rate, rel=1e-8)
    assert system.forward_dynamics(q, qd, tau, [0.0, t])[1] == pytest.approx(qdd)         # a batch in time alone


def test_a_rotating_frame_has_centrifugal_and_coriolis_forces():
    """Bead on a plane that turns with W: L = m |v + W x r|^2 / 2; the energy is Jacobi's, T_2 - T_0."""
    m, W = 2.0, 1.5
    system = da.lagrangian_system(lambda q, qd, t: m * ((qd[0] - W * q[1])**2 + (qd[1] + W * q[0])**2) / 2, "x y")
    q, qd = RNG.standard_normal((2, 2))
    assert np.allclose(system.forward_dynamics(q, qd, [0, 0]), W**2 * q + 2 * W * np.array([qd[1], -qd[0]]))
    assert system.energy(q, qd) == pytest.approx(m * (qd @ qd) / 2 - m * W**2 * (q @ q) / 2)
    M, N = system.mass_matrix(q), system.gyroscopic_matrix(q)
    assert np.array_equal(N, -N.T) and np.allclose(M, m * np.eye(2))
    assert np.allclose(system.coriolis_matrix(q, qd), 0)


def test_a_lagrangian_that_is_not_quadratic_in_the_velocity():
    """A relativistic particle: p = v / sqrt(1 - v^2), energy 1 / sqrt(1 - v^2), mass (1 - v^2)^(-3/2)."""
    system = da.lagrangian_system(lambda q, qd, t: -da.sqrt(1 - qd[0]**2), "x")
    assert system.momenta([0], [0.6]) == pytest.approx([0.75]) and system.energy([0], [0.6]) == pytest.approx(1.25)
    assert system.mass_matrix([0], [0.6]) == pytest.approx(np.array([[0.8**-3]]))
    assert system.forward_dynamics([0], [0.6], [1.0]) == pytest.approx([0.8**3])
    with pytest.raises(TypeError, match=r"depends on qd: mass_matrix\(q, qd, t\)"):
        system.mass_matrix([0])
    with pytest.raises(da.DalembertError, match="not quadratic in qd"):
        system.coriolis_matrix([0], [0.6])


def test_parameters_stay_symbols_until_they_have_values():
    with da.Graph():
        m, k = da.symbols("m k")
        system = da.lagrangian_system(lambda q, qd, t: m * qd[0]**2 / 2 - k * q[0]**2 / 2, "x")
        assert system.parameters == ("k", "m")
        (a,) = system.forward_dynamics([2.0], [0.0], [0.0])
        assert da.evaluate(a, {m: 2, k: 3}) == pytest.approx(-3)
        numbers = system.replace({"m": 2, "k": 3.0})
        assert numbers.parameters == () and numbers.forward_dynamics([2.0], [0.0], [0.0]) == pytest.approx([-3])
        with pytest.raises(da.ShapeError, match="parameters k, m need values"):
            system.forward_dynamics([[2.0], [1.0]], [0.0], [0.0])
        with pytest.raises(da.UnknownNameError, match="unknown parameter 'mm'"):
            system.replace({"mm": 1})


def double_pendulum():
    return of_mechanism(da.planar_chain(2))


def test_expressions_traced_quantities_and_pickle_give_the_same_numbers():
    system = double_pendulum()
    q, qd, tau = RNG.standard_normal((3, 2))
    expected = system.forward_dynamics(q, qd, tau)
    with da.Graph():
        s = [da.symbols(n, 2) for n in ("a", "b", "c")]
        found = da.evaluate(system.forward_dynamics(*s), dict(zip(np.concatenate(s), [*q, *qd, *tau], strict=True)))
        assert np.allclose(found, expected, rtol=1e-12)
    inputs, outputs = system.traced(["forward_dynamics", "energy", "mass_matrix"])
    assert list(inputs) == ["q", "qd", "tau", "t"] and inputs["t"].shape == (1,)
    at = dict(zip(np.concatenate([inputs[k] for k in ("q", "qd", "tau", "t")]), [*q, *qd, *tau, 0], strict=True))
    assert np.allclose(da.evaluate(outputs["forward_dynamics"], at), expected, rtol=1e-12)
    assert da.evaluate(outputs["energy"], at) == pytest.approx(system.energy(q, qd))
    assert np.array_equal(pickle.loads(pickle.dumps(system)).forward_dynamics(q, qd, tau), expected)
    with pytest.raises(da.UnknownNameError, match="Did you mean 'energy'"):
        system.traced(["enrgy"])


def test_the_traced_equations_compile():
    system = double_pendulum()
    f = da.function(lambda q, qd, tau: system.forward_dynamics(q, qd, tau), q=(2,), qd=(2,), tau=(2,))
    q, qd, tau = RNG.standard_normal((3, 5, 2))
    assert np.allclose(f(q, qd, tau), system.forward_dynamics(q, qd, tau), rtol=1e-11)


@pytest.mark.parametrize("make, error, message", [
    (lambda: da.lagrangian_system(lambda q, qd, t: qd @ qd, ""), ValueError, "names are needed"),
    (lambda: da.lagrangian_system(lambda q, qd, t: qd @ qd, "x x"), ValueError, "'x' is given twice"),
    (lambda: da.lagrangian_system(lambda q, qd, t: qd @ qd, "x t"), ValueError, "'t' is the time"),
    (lambda: da.lagrangian_system(lambda q, qd, t: qd, "x y"), da.ShapeError, r"array of shape \(2,\), expected one number"),
    (lambda: da.lagrangian_system(lambda q, qd, t: qd @ qd, "x y", lambda q, qd, t: [1]), da.ShapeError,
     r"forces returns 1 entries, expected 2: one per coordinate \(x, y\)"),
    (lambda: double_pendulum().energy([1, 2, 3], [1, 2]), da.ShapeError, r"q has shape \(3,\).*'planar chain' has 2 \(q1, q2\)"),
    (lambda: da.lagrangian_system(lambda q, qd, t: qd[0]**2 - 1 / q[0], "x").bias_force([0.0], [1.0]), da.OverflowedError,
     "not finite at this state"),
    (lambda: da.lagrangian_system(lambda q, qd, t: qd[0]**2, "x y").forward_dynamics([0, 0], [0, 0], [1, 1]),
     da.SingularMassMatrixError, "coordinate 'y': the mass matrix of 'system' is singular"),
    (lambda: da.lagrangian_system(lambda q, qd, t: (qd[0] + qd[1])**2 * q[0], "x y").forward_dynamics(
        [[1, 0], [1, 0]], [0, 0], [1, 1]), da.SingularMassMatrixError, "in row 0.*smallest singular value"),
])
def test_errors_say_what_and_where(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("name, what, instead", [
    ("x_dot", "the velocity of 'x'", r"qd\[0\]"), ("x", "coordinate 'x'", r"q\[0\]"), ("t", "the time", "the argument t"),
    ("x_ddot", "the acceleration of 'x'", r"qdd\[0\]"), ("force_on_x", "the force on 'x'", r"tau\[0\]"),
    ("momentum_of_x", "the momentum of 'x'", r"p\[0\]")])
def test_a_parameter_with_the_name_of_a_symbol_of_the_system_is_refused(name, what, instead):
    """It would be taken for the coordinate, its rate or the time: m x_dot^2/2 - k x^2/2 with k called x_dot loses the spring."""
    with da.Graph():
        k = da.symbol(name)
        says = f"L uses a symbol '{name}', which is the name of {what}: for that take {instead}; give a parameter another name"
        with pytest.raises(ValueError, match=says):
            da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 - k * q[0]**2 / 2, "x")
        with pytest.raises(ValueError, match=says.replace("L uses", "forces uses")):
            da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2, "x", lambda q, qd, t: [-k * qd[0]])
        c = da.symbol("c")
        spring = da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 - c * q[0]**2 / 2, "x")
        with pytest.raises(ValueError, match=says.replace("L uses", "a value uses")):
            spring.replace({"c": 2 * k})
    assert spring.replace({"c": 3.0}).forward_dynamics([2.0], [0.0], [0.0]) == pytest.approx([-6.0])


@pytest.mark.parametrize("coordinates", ["x x_dot", "x_ddot x", "x force_on_x", "momentum_of_x x"])
def test_coordinates_with_the_name_of_another_symbol_of_the_system_are_refused(coordinates):
    with pytest.raises(ValueError, match="is the name of the .+ of 'x' too|is the name of the force on 'x' too"):
        da.lagrangian_system(lambda q, qd, t: qd @ qd / 2, coordinates)


def test_parameters_of_any_other_name_are_parameters():
    with da.Graph():
        names = ["q", "qd", "q1", "p", "tau", "s", "y", "h", "q[0]", "input q[0]", "parameters", "x_dot_"]
        values = da.symbols(" ".join(n for n in names if " " not in n))
        system = da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 - sum(values) * q[0]**2 / 2, "x")
    assert sorted(system.parameters) == sorted(n for n in names if " " not in n)
    found = system.replace(dict.fromkeys(system.parameters, 2.0))
    assert found.forward_dynamics([1.0], [0.0], [0.0]) == pytest.approx([-22.0])
    assert da.compile(found).forward_dynamics([1.0], [0.0], [0.0], 0.0) == pytest.approx([-22.0])
