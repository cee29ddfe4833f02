"""Exponents of coupled systems: the third source's claims, each true or false as the spectrum says."""

import numpy as np
import pytest

import dalembert as da
from masses import PRECISE, REFERENCE, Masses, harmonic, steady

pytestmark = pytest.mark.usefixtures("quickly_compiled")


def cart(coupling, mass=1.0):
    """The mass as a mechanism, whose numbers have paths."""
    body = da.Body("cart", mass)
    joint = da.Joint("x1", da.Prismatic((1, 0, 0)), "rail", "cart")
    return da.Mechanism("cart", (da.Body("rail"), body), (joint,)).constrained(coupling)


def spectrum(coupling, mass=1.0, internal=(0.0, 0.0, 0.0)):
    return da.exponents(Masses(coupling, masses=(mass,)), [0.0], [1.0], list(internal))


def same(found, expected):
    """The same complex numbers in any order, repeated ones to the root of rounding."""
    found, expected = (sorted(np.round(np.asarray(x, complex), 6), key=lambda z: (z.real, z.imag)) for x in (found, expected))
    np.testing.assert_allclose(found, expected, atol=3e-5)


def test_the_matrix_is_the_sources_with_its_sign():
    """State (x1, x1', x2, x2', p*): z' = A z; the source writes z' + A z = 0, whose exponents are those of -A."""
    alpha, c, m = -3.0, 4.0, 1.7
    A = da.state_matrix(Masses(steady(alpha, c), masses=(m,)), [0.0], [1.0], [0.0, 0.0, 0.0])
    np.testing.assert_allclose(A, [[0, 1, 0, 0, 0], [0, 0, 0, 0, 1 / m], [0, 0, 0, 1, 0], [0, 1, 0, 0, 0], [0, alpha, 0, 0, -c]], atol=1e-15)
    undamped = da.state_matrix(Masses(steady(alpha, 0.0), masses=(m,)), [0.0], [1.0], [0.0, 0.0, 0.0])
    assert [np.linalg.matrix_rank(np.linalg.matrix_power(undamped, k)) for k in (1, 2, 3)] == [3, 2, 2]
    assert np.linalg.eigvals(-undamped).real.max() == pytest.approx(np.linalg.eigvals(undamped).real.max(), abs=1e-9)   # symmetric


@pytest.mark.parametrize("name", REFERENCE["figures"])
def test_exponents_of_the_figures(name):
    case = REFERENCE["figures"][name]
    same(spectrum(steady(case["alpha"], case["c"])), [0, 0, 0, *(complex(*s) for s in case["exponents"])])


def test_the_stable_region_is_alpha_below_0_and_c_above_0():
    """Routh's region by random sampling of m, alpha and c; the map has the same."""
    rng = np.random.default_rng(1)
    m, (alpha, c) = rng.uniform(0.2, 3, 200), rng.uniform(-4, 4, (2, 200))
    found = da.exponents(cart(steady()), [0.0], [1.0], [0.0, 0, 0], parameters={"cart.mass": m, "speed.alpha": alpha, "speed.c": c})
    moving = np.sort(np.abs(found), axis=1)[:, 3:]
    growth = np.array([row[np.argsort(np.abs(row))[3:]].real.max() for row in found])
    np.testing.assert_array_equal(growth < 0, (alpha < 0) & (c > 0))
    np.testing.assert_allclose(moving.prod(axis=1), np.abs(alpha) / m, rtol=1e-6)
    values = {"speed.alpha": np.linspace(-4, 4, 9), "speed.c": np.linspace(-4, 4, 9)}
    chart = da.stability_map(cart(steady()), [0.0], [1.0], values, [0.0, 0, 0])
    a, b = np.meshgrid(*chart.values, indexing="ij")
    np.testing.assert_array_equal(chart.is_stable, (a < 0) & (b > 0))
    assert chart.zeros == 3 and chart.exponents.shape == (9, 9, 5)


def test_claims_of_the_source_about_growth():
    def fastest(alpha, c=0.0):
        return spectrum(steady(alpha, c)).real.max()

    assert fastest(0.1) == pytest.approx(np.sqrt(0.1)) and fastest(0.5) > 0            # alpha < 1 is not stable
    assert all(fastest(1.0, c) > 0 for c in (0.5, 5.0, 50.0))                          # damping alone slows, and does not stabilise
    assert fastest(1.0, 50.0) == pytest.approx(1 / 50, rel=1e-3)
    assert fastest(400.0) == pytest.approx(20.0)                                       # grows with alpha, and does not tend to 0
    assert fastest(-1.0, -0.5) == pytest.approx(0.25) and fastest(2.0, 3.0) > 0
    assert fastest(-3.0) < 3e-4 and fastest(-3.0, 4.0) < 3e-4


@pytest.mark.parametrize("seed", range(3))
def test_example_b_is_a_saddle_with_the_wrong_frequency(seed):
    m, w = np.random.default_rng(seed).uniform(0.5, 2, 2)
    root = np.sqrt(1 + 4 * m * w ** 2)
    sigma, nu = np.sqrt((1 + root) / (2 * m)), np.sqrt(2 * w ** 2 / (1 + root))
    same(spectrum(harmonic(w), m), [0, sigma, -sigma, 1j * nu, -1j * nu])
    assert nu < w
    if seed == 0:
        data = REFERENCE["harmonic_eq10"]
        found = spectrum(harmonic(1.0))
        assert found.real.max() == pytest.approx(data["sigma"]) and found.imag.max() == pytest.approx(data["nu"])


def test_the_sources_devices_fail_for_example_b():
    """m s^4 + m c s^3 - alpha (s^2 + w^2) = 0: neutral for alpha < -4 m w^2 and c = 0, else unstable."""
    for alpha, c in ((-100.0, 0.0), (-3.0, 0.0), (-5.0, 0.5), (-5.0, -0.5), (2.0, 1.0)):
        same(spectrum(harmonic(alpha=alpha, c=c)), [0, *np.roots([1, c, -alpha, 0, -alpha])])
    assert abs(spectrum(harmonic(alpha=-100.0)).real).max() < 1e-6 < spectrum(harmonic(alpha=-3.9)).real.max()
    slow = np.sort(np.abs(spectrum(harmonic(alpha=-100.0)).imag))[1]
    assert slow == pytest.approx(1.00508962, abs=1e-8)
    assert spectrum(harmonic(alpha=-5.0, c=0.5)).real.max() == pytest.approx(0.1224, abs=5e-5)
    assert spectrum(harmonic(alpha=-5.0, c=-0.5)).real.max() == pytest.approx(0.3724, abs=5e-5)


def test_a_servo_constraint_has_the_poles_of_its_error_and_those_of_its_generator():
    program = da.generators.Harmonic(1.0, 1.0).derivative()
    servo = da.constraints.Servo("s", "x1", program, ["x1"], frequency=5.0, damping=0.6)
    expected = np.roots([1, 6.0, 25.0])
    same(da.exponents(Masses(servo), [1.0], [0.0]), [*expected, 1j, -1j])


def test_a_perturbation_of_a_saddle_grows_as_its_exponent_says():
    """One of 1e-12 in x1' at Q = 1/3 is 1e-12 cosh(t): it is 5e-8 at 11.5 s and would be 0.05 at 25 s."""
    run = da.simulate(Masses(steady(Q=1 / 3)), [0.0], [1 / 3 + 1e-12], [0, 11.5, 25.0], multipliers0=[0.0], **PRECISE)
    assert run.qd[1, 0] - 1 / 3 == pytest.approx(1e-12 * np.cosh(11.5), rel=1e-2)
    assert run.qd[2, 0] - 1 / 3 == pytest.approx(1e-12 * np.cosh(25.0), rel=1e-2)


def test_multipliers_on_the_stable_manifold():
    m, Q, e0 = 1.7, 0.8, -0.05
    system = Masses(steady(Q=Q), masses=(m,))
    mu = da.stable_multipliers(system, [0.0], [Q + e0], ([0.0], [Q], [0.0, 0, 0]))
    assert mu == pytest.approx(-np.sqrt(m) * e0)
    run = da.simulate(system, [0.0], [Q + e0], [0, 2.0, 5.0], multipliers0=mu, **PRECISE)
    np.testing.assert_allclose(run.qd[:, 0] - Q, e0 * np.exp(-run.times / np.sqrt(m)), atol=1e-11)
    with pytest.raises(da.ConstraintError, match="no multipliers that are states"):
        da.stable_multipliers(Masses(), [0.0], [0.0], ([0.0], [0.0], []))
    with pytest.raises(da.ConstraintError, match=r"internal_states are needed: multipliers of 'masses' have no default \(speed.x, speed.v, speed.mu\)"):
        da.exponents(system, [0.0], [Q])


def test_faults_are_named():
    with pytest.raises(da.DalembertError, match="quaternions"):
        da.exponents(da.random_tree(3, 1, "spherical"), [1.0, 0, 0, 0], [0, 0, 0])
    with pytest.raises(da.ShapeError, match=r"qd has shape \(2,\), expected \(1,\)"):
        da.exponents(da.planar_chain(1), [0.0], [0.0, 1.0])
    with pytest.raises(da.ShapeError, match="numbers has 1 entries, expected two"):
        da.stability_map(da.planar_chain(1), [0.0], [0.0], {"link1.mass": [1.0]})
    with pytest.raises(da.UnknownNameError, match="mas"):
        da.exponents(da.planar_chain(1), [0.0], [0.0], parameters={"link1.mas": 1.0})
