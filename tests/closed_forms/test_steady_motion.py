"""Linear equations about steady motions: the benchmark bicycle from its nonlinear equations, a coin that rolls upright."""

import copy
import pickle

import numpy as np
import pytest

import dalembert as da
from nonholonomic import COIN, coin
from whipple import BENCHMARK, VELOCITIES, bicycle

pytestmark = pytest.mark.usefixtures("quickly_compiled")


@pytest.fixture(scope="module")
def upright():
    """The bicycle's equations about straight running, with symbols v and g."""
    with da.Graph():
        system = bicycle(da.symbol("g"))
    eom = da.quasi_velocity_equations(system, VELOCITIES)
    return eom.linearize(dict.fromkeys(eom.coordinates, 0), {"roll_dot": 0, "steer_dot": 0})


def matrices(linear, v, g=9.81):
    """M, D and K of roll and steer at a speed."""
    with linear.graph:
        values = {da.symbol("v"): v, da.symbol("g"): g}
    M, D, K = (np.array(da.evaluate(linear.entries(f"{name}_matrix"), values), float) for name in ("mass", "damping", "stiffness"))
    return M[:2, :2], D[:2, :2], K[:2][:, [3, 5]]


def test_the_bicycle_has_the_matrices_of_the_benchmark(upright):
    assert upright.text() == """Mass matrix
M11 = 80.8172
M12 = 2.31941
M22 = 0.297842
M33 = 97.619

Damping and gyroscopic matrix
D12 = 33.8664 v
D21 = -0.850356 v
D22 = 1.6854 v

Stiffness matrix
K14 = -80.95 g
K16 = 76.5973 v^2 - 2.59952 g
K24 = -2.59952 g
K26 = 2.65432 v^2 - 0.803295 g
"""
    (M, _, K0), (_, C1, K2) = matrices(upright, 0, 1), matrices(upright, 1, 0)
    for found, name in ((M, "M"), (C1, "C1"), (K0, "K0"), (K2, "K2")):
        np.testing.assert_allclose(found, np.array(BENCHMARK[name], float), rtol=1e-12, atol=1e-12)
    assert max(upright.verified.values()) < 1e-10


@pytest.mark.parametrize("speed", range(11))
def test_the_bicycle_has_the_eigenvalues_of_the_benchmark(upright, speed):
    M, D, K = matrices(upright, speed)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    expected = np.array([float(re) + 1j * float(im) for re, im in BENCHMARK["eigenvalues"][str(speed)]])
    found = np.linalg.eigvals(A)
    gaps = np.abs(found[:, None] - expected)
    assert max(gaps.min(axis=0).max(), gaps.min(axis=1).max()) < 2e-11      # of values up to 24.6


@pytest.mark.slow
def test_the_bicycle_that_is_pushed_a_little_moves_as_its_linear_equations_say(upright):
    """At 5 m/s, between weave and capsize speeds, it rights itself."""
    system = bicycle()
    v, rate = 5.0, 0.01
    frame = da.quasi_velocity_equations(system, VELOCITIES).model
    here = {x: 0.0 for x in frame.q} | dict(zip(frame.u, (rate, 0.0, v), strict=True))
    qd = np.array(da.evaluate(frame.velocities, here), float)
    run = da.simulate(system, np.zeros(8), qd, 4.0, method="dop853", rtol=1e-10, atol=1e-13, record=0.1)
    assert run.reason == "finished" and run.energy_drift < 1e-9
    assert np.abs(run.observables["constraint_residual"]).max() < 1e-12
    M, D, K = matrices(upright, v)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    values, vectors = np.linalg.eig(A)
    amplitudes = np.linalg.solve(vectors, [0, 0, rate, 0])
    linear = (np.exp(np.outer(run.times, values)) * amplitudes @ vectors.T).real
    roll, steer = run.q[:, 3], run.q[:, 5]
    np.testing.assert_allclose(np.stack([roll, steer], 1), linear[:, :2], atol=1e-7)      # of 2e-3, but for cubes
    assert np.abs(roll[-1]) < 0.1 * np.abs(roll).max()


def test_a_coin_that_rolls_upright_is_stable_beyond_a_speed():
    with da.Graph():
        eom = da.quasi_velocity_equations(coin(*da.symbols("m r A C g")), COIN, "appell")
    linear = eom.linearize({"x": 0, "y": 0, "yaw": 0, "theta": np.pi / 2, "psi": 0}, {"omega1": 0, "omega2": 0})
    assert linear.text() == """Mass matrix
M11 = A + m r^2
M22 = A
M33 = C + m r^2

Damping and gyroscopic matrix
D12 = -(C + m r^2) omega3
D21 = C omega3

Stiffness matrix
K14 = -m r g
"""      # (A + m r^2) A s^2 + C (C + m r^2) omega3^2 - A m g r: stable where omega3^2 > A m g r/(C (C + m r^2))
    assert linear.text("velocity_basis", "drift_matrix") == """Rates of the coordinates by quasi-velocities
B13 = -r
B32 = 1
B41 = 1
B53 = 1

Rates of the coordinates by coordinates
N23 = -r omega3
"""
    assert max(linear.verified.values()) < 1e-11


def test_copies_and_files_derive_the_same_forms():
    eom = da.quasi_velocity_equations(coin(), COIN, "boltzmann_hamel")
    linear = eom.linearize({"x": 0, "y": 0, "yaw": 0, "theta": np.pi / 2, "psi": 0}, {"omega1": 0, "omega2": 0})
    for forms in (eom, linear):
        again = pickle.loads(pickle.dumps(forms))
        assert again.text() == copy.copy(forms).text() == forms.text() and max(again.verified.values()) < 1e-10


def test_what_moves_not_steadily_says_which_force_it_takes():
    with da.Graph():
        eom = da.quasi_velocity_equations(coin(*da.symbols("m r A C g")), COIN)
    place = {"x": 0, "y": 0, "yaw": 0, "theta": 1, "psi": 0}
    with pytest.raises(da.DalembertError, match="does not move steadily there: the force on 'omega1' has to be .*tau='hold'"):
        eom.linearize(place, {"omega1": 0, "omega2": 0})
    held = eom.linearize(place, {"omega1": 0, "omega2": 0}, "hold")
    assert held.text("equilibrium_forces") == "Forces of the steady motion\ntau1 = 0.540302 m r g\n"
    with pytest.raises(da.ShapeError, match="u has 2 values, expected 3: omega1, omega2, omega3"):
        eom.linearize(place, [0, 0])
    with pytest.raises(da.UnknownNameError, match="'speed'"):
        eom.linearize(place, {"speed": 0})
