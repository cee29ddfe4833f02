"""Natural frequencies of beams, from the mass matrix of a mechanism and derivatives of its forces, against frequency equations.

A beam of length, stiffness and mass per length 1 has the circular frequencies b^2; `beams.json` has b (or b^2, turning) to 18 digits.
"""

import json
from math import comb

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.special

import dalembert as da
from oracles import DATA
from reference import reference

beams = da.beams
HINGE, HELD, LOOSE = da.Revolute((0, 0, 1)), da.Fixed(), da.Planar((0, 0, 1))
TIPS = {"clamped_tip_mass_mu_0.1": 0.1, "clamped_tip_mass_mu_0.5": 0.5, "clamped_tip_mass_mu_1": 1, "clamped_tip_mass_mu_5": 5}
HUBS = {"hinged_hub_inertia_0.1": 0.1, "hinged_hub_inertia_1": 1, "hinged_hub_inertia_10": 10}
UNIT = {"EIy": 1.0, "EIz": 1.0, "mass_per_length": 1.0, "kinematics": "first_order"}


def mechanism(modes, root=HELD, hub=0, load=None, length=1.0, **numbers):
    """A beam on a joint, with a moment of inertia at the joint and a body at its end: mass, moment of inertia, distance of its centre."""
    beam = da.Beam(length, **UNIT | numbers)
    bodies = [da.Body("base"), da.Body("arm", beam=beam, modes=modes)]
    joints = [da.Joint("root", root, "base", "arm", rotor_inertia=hub)]
    if load is not None:
        mass, inertia, distance = load
        bodies.append(da.Body("load", mass, (distance, 0, 0), (inertia, 0, inertia, 0, 0, inertia)))
        joints.append(da.Joint("grip", HELD, "arm", "load", da.Origin((length, 0, 0))))
    return da.Mechanism("beam", bodies, joints, gravity=(0, 0, 0))


def frequencies(mechanism, rigid=0, count=3):
    """The first circular frequencies above those of rigid motions."""
    q, zero = mechanism.neutral(), np.zeros(mechanism.nv)
    K = da.inverse_dynamics_derivatives(mechanism, q, zero, zero).dtau_dq
    squares = scipy.linalg.eigh(K, da.mass_matrix(mechanism, q), eigvals_only=True)
    assert np.abs(squares[:rigid]).max(initial=0) < 1e-4
    return np.sqrt(squares[rigid:rigid + count])


def exact(case, count=3):
    return np.array(reference("beams", case)["betaL"][:count], dtype=float) ** 2


def between(start, end, count=14):
    """Polynomials with zeros of some order at both ends: xi^start (1 - xi)^end P_k(2 xi - 1)."""
    at_ends = [0] * start + [(-1)**j * comb(end, j) for j in range(end + 1)]
    legendre = [[(-1)**(k + j) * comb(k, j) * comb(k + j, j) for j in range(k + 1)] for k in range(count)]
    return {"bend_y": beams.ShapePolynomials(tuple(tuple(np.convolve(np.array(at_ends, object), np.array(row, object))) for row in legendre))}


# In b; the error of b^2 is twice as large, and in the stated 1e-8 for b below 1e-8.
CASES = {"clamped_free": ({"bend_y": 14}, {}, 0), "clamped_clamped_and_free_free": (between(2, 2), {}, 0),
         "free_free": ({"bend_y": 14}, {"root": LOOSE}, 3), "pinned_free_and_clamped_pinned": ({"bend_y": 14}, {"root": HINGE}, 1),
         "clamped_pinned": (between(2, 1), {}, 0), "pinned_pinned": (between(1, 1), {}, 0), "pinned_pinned_sines": ({"bend_y": beams.pinned_pinned(3)}, {}, 0)}
CASES |= {case: ({"bend_y": 14}, {"load": (mass, 0, 0)}, 0) for case, mass in TIPS.items()}
CASES |= {case: ({"bend_y": 14}, {"root": HINGE, "hub": inertia}, 1) for case, inertia in HUBS.items()}
IN_TABLE = {"free_free": "clamped_clamped_and_free_free", "clamped_pinned": "pinned_free_and_clamped_pinned"}


@pytest.mark.parametrize("case", CASES)
def test_first_three_eigenvalues_with_at_most_14_modes(case):
    modes, options, rigid = CASES[case]
    expected = (np.arange(1, 4) * np.pi)**2 if case.startswith("pinned_pinned") else exact(IN_TABLE.get(case, case))
    np.testing.assert_allclose(np.sqrt(frequencies(mechanism(modes, **options), rigid)), np.sqrt(expected), rtol=1e-9)


def test_all_stored_cases_are_covered():
    stored = json.loads((DATA / "reference" / "beams.json").read_text())
    others = {"rotating_cantilever", "spin_up_beam", "elastica_end_moment", "elastica_end_force", "princeton_beam"}
    assert stored.keys() - others <= {*CASES}


@pytest.mark.parametrize("case", TIPS)
def test_three_loaded_modes_suffice(case):
    """Eigenfunctions of the loaded beam; 14 of the beam without its load err by 3e-7 to 1e-4."""
    mass = TIPS[case]
    loaded = frequencies(mechanism({"bend_y": beams.clamped_loaded(3, mass)}, load=(mass, 0, 0)))
    np.testing.assert_allclose(loaded, exact(case), rtol=1e-13)
    free = frequencies(mechanism({"bend_y": beams.clamped_free(14)}, load=(mass, 0, 0)))
    assert 1e-7 < abs(free / exact(case) - 1).max() < 1e-3


@pytest.mark.parametrize("direction", ["bend_y", "bend_z"])
def test_sphere_at_the_end(direction):
    """Link and payload of the two-link example: clamped, and pinned at its start."""
    stored = reference("flexible_links", "eigenfrequencies")
    numbers = stored["beam"]
    ratios = numbers["M"] / (numbers["rhoF"] * numbers["l"]), numbers["Jc"] / (numbers["rhoF"] * numbers["l"]**3), numbers["R"] / numbers["l"]
    load = numbers["M"], numbers["Jc"], numbers["R"]
    beam = {"EIy": numbers["EJ"], "EIz": numbers["EJ"], "mass_per_length": numbers["rhoF"], "length": numbers["l"]}
    for modes in (14, beams.clamped_loaded(3, *ratios)):
        found = frequencies(mechanism({direction: modes}, load=load, **beam))
        np.testing.assert_allclose(found, stored["clamped_tip_sphere"]["omega"][:3], rtol=1e-10)
    hinge = da.Revolute((0, 0, 1) if direction == "bend_y" else (0, 1, 0))
    found = frequencies(mechanism({direction: 14}, root=hinge, load=load, **beam), rigid=1)
    np.testing.assert_allclose(found, stored["pinned_tip_sphere"]["omega"][:3], rtol=1e-9)


@pytest.mark.parametrize("mu", ["0", "2", "10", "10.137257521776773"])
def test_point_masses_of_the_specification(mu):
    """Its table of a clamped beam with a point mass at the end, those of beams.json left out, and the link of the example with its payload as a point."""
    stored = reference("flexible_links", "eigenfrequencies")
    found = frequencies(mechanism({"bend_y": 14}, load=(float(mu), 0, 0)))
    np.testing.assert_allclose(np.sqrt(found), stored["clamped_tip_mass_table"][mu][:3], rtol=1e-9)
    if mu.startswith("10."):
        np.testing.assert_allclose(found * np.sqrt(129.4 / 0.24661502330679877) / 0.64, stored["clamped_tip_point_mass"]["omega"][:3], rtol=1e-9)
        pinned = frequencies(mechanism({"bend_y": 14}, root=HINGE, load=(float(mu), 0, 0)), rigid=1)
        np.testing.assert_allclose(np.sqrt(pinned), stored["pinned_tip_point_mass"]["lambda"][:3], rtol=1e-9)


def test_two_links_in_a_line_are_one_beam():
    """Twice the length, with the payload at its end: a quarter of the frequencies of the unit in time."""
    stored = reference("flexible_links", "eigenfrequencies")
    numbers = stored["beam"]
    load = numbers["M"], numbers["Jc"], numbers["R"]
    beam = {"EIy": numbers["EJ"], "EIz": numbers["EJ"], "mass_per_length": numbers["rhoF"], "length": 2 * numbers["l"]}
    np.testing.assert_allclose(frequencies(mechanism({"bend_y": 14}, load=load, **beam)), stored["check_2l_beam_omega"][:3], rtol=1e-9)


@pytest.mark.slow
def test_turning_cantilever():
    """Flap and lag about the steady turn, by the stiffness of second-order kinematics; first order loses the stiffening."""
    table = reference("beams", "rotating_cantilever")["table"]
    turning = mechanism({"bend_y": 12, "bend_z": 12}, root=HINGE, kinematics="second_order")
    zero = np.zeros((len(table), turning.nv))
    speeds = zero.copy()
    speeds[:, 0] = [row["eta"] for row in table]
    K = da.inverse_dynamics_derivatives(turning, zero, speeds, zero).dtau_dq
    M = da.mass_matrix(turning, zero[0])
    for plane, name in ((slice(1, 13), "nu_inplane"), (slice(13, 25), "nu_flap")):
        for row, stiffness in zip(table, K, strict=True):
            squares = scipy.linalg.eigh(stiffness[plane, plane], M[plane, plane], eigvals_only=True)
            np.testing.assert_allclose(np.sqrt(squares[:3]), np.array(row[name], dtype=float), rtol=1e-8)
    known = reference("flexible_links", "rotating_beam")
    for speed, flap, lag in zip(known["gamma"], known["flap1"], known["lag1"], strict=True):
        speeds[0, 0] = speed
        K = da.inverse_dynamics_derivatives(turning, zero[0], speeds[0], zero[0]).dtau_dq
        for plane, first in ((slice(1, 13), lag), (slice(13, 25), flap)):
            assert np.sqrt(scipy.linalg.eigh(K[plane, plane], M[plane, plane], eigvals_only=True)[0]) == pytest.approx(first, rel=2e-9)
    lag = [frequencies_turning(speed) for speed in (0, 3, 4)]
    np.testing.assert_allclose(lag, exact("clamped_free", 1) ** 2 - np.array([0, 9, 16]), rtol=1e-8)      # unstable from 3.516 on


def frequencies_turning(speed):
    """Square of the first lag frequency without foreshortening."""
    turning = mechanism({"bend_y": 8}, root=HINGE)
    zero = np.zeros(9)
    K = da.inverse_dynamics_derivatives(turning, zero, [speed, *zero[1:]], zero).dtau_dq
    return scipy.linalg.eigh(K[1:, 1:], da.mass_matrix(turning, zero)[1:, 1:], eigvals_only=True)[0]


def test_turning_beam_that_twists():
    """The propeller moment: w^2 = w0^2 + Omega^2 (Iz - Iy) / Ix, turning about z, with w0 = pi/2 sqrt(GJ / Ix) / l."""
    Ix, Iy, Iz, speed = 0.5, 0.1, 0.4, 3.0
    blade = mechanism({"twist": da.beams.clamped_free(2, "twist")}, root=HINGE, kinematics="second_order", GJ=1.0, rotary_inertia=(Ix, Iy, Iz))
    zero = np.zeros(blade.nv)
    K = da.inverse_dynamics_derivatives(blade, zero, [speed, 0, 0], zero).dtau_dq
    squares = scipy.linalg.eigh(K[1:, 1:], da.mass_matrix(blade, zero)[1:, 1:], eigvals_only=True)
    np.testing.assert_allclose(squares, (np.array([1, 3]) * np.pi / 2) ** 2 / Ix + speed**2 * (Iz - Iy) / Ix, rtol=1e-12)


def hermite_errors(elements, count=3):
    """Relative errors of b; the stiffness is that of the forces for unit displacements."""
    arm = mechanism({"bend_y": beams.hermite(elements)})
    K = -da.passive_force(arm, np.eye(arm.nv), np.zeros((arm.nv, arm.nv)))
    squares = scipy.linalg.eigh(K, da.mass_matrix(arm, np.zeros(arm.nv)), eigvals_only=True)[:count]
    return abs(squares**0.25 / np.sqrt(exact("clamped_free")) - 1)


def test_hermite_elements_have_order_4():
    errors = np.array([hermite_errors(n) for n in (4, 8, 16)])
    orders = np.log2(errors[:-1] / errors[1:])
    assert (orders[1] > 3.9).all() and (orders[1] < 4.1).all(), orders
    b = np.sqrt(exact("clamped_free"))
    np.testing.assert_allclose(errors[-1], (b / 16)**4 / 2880, rtol=0.02)      # the leading term
    assert (hermite_errors(36) < 1e-6).all()


@pytest.mark.slow
def test_floor_of_rounding_of_hermite_elements():
    """64 elements: without rounding the first error is 2.6e-10; that of K, about 1e-16 (4 n)^4 / b^4, is 1e-8."""
    first, second, third = hermite_errors(64)
    assert 5e-10 < first < 1e-7 and second < 5e-8 and third == pytest.approx(7.8e-8, rel=0.2)


def test_stepped_beam():
    """EI and mass per length change at 0.4: determinant of the conditions of both pieces."""
    at, EI, m = 0.4, (8.0, 1.0), (2.0, 0.5)

    def determinant(w):
        b1, b2 = (np.sqrt(w) * (m[k] / EI[k])**0.25 for k in (0, 1))

        def rows(b, x, EI):      # of c, s, C, S: value, slope, moment, shear
            c, s, C, S = np.cos(b * x), np.sin(b * x), np.cosh(b * x), np.sinh(b * x)
            return np.array([[c, s, C, S], [-s * b, c * b, S * b, C * b], [-c * b * b * EI, -s * b * b * EI, C * b * b * EI, S * b * b * EI],
                             [s * b**3 * EI, -c * b**3 * EI, S * b**3 * EI, C * b**3 * EI]])

        A = np.zeros((8, 8))
        A[:2, :4] = rows(b1, 0, EI[0])[:2]
        A[2:6, :4], A[2:6, 4:] = rows(b1, at, EI[0]), -rows(b2, at, EI[1])
        A[6:, 4:] = rows(b2, 1, EI[1])[2:]
        return np.linalg.det(A / np.linalg.norm(A, axis=1, keepdims=True))

    expected = roots(determinant, np.linspace(0.5, 160, 2000))
    numbers = {"EIz": beams.pieces(((at, EI[0]), (1, EI[1]))), "mass_per_length": beams.pieces(((at, m[0]), (1, m[1])))}
    elements = frequencies(mechanism({"bend_y": 3}, **numbers))      # a kink of the curvature, which polynomials smear
    assert abs(elements / expected - 1).max() > 1e-4
    nodes = beams.hermite(5)      # a node at the step
    np.testing.assert_allclose(frequencies(mechanism({"bend_y": nodes}, **numbers)), expected, rtol=5e-3)
    arm = chain_of_pieces(at, EI, m)
    np.testing.assert_allclose(frequencies(arm), expected, rtol=1e-9)


def chain_of_pieces(at, EI, m):
    """Two beams, the second fixed to the end of the first."""
    bodies = [da.Body("base")]
    joints = []
    for k, length in enumerate((at, 1 - at)):
        beam = da.Beam(length, **UNIT | {"EIz": EI[k], "mass_per_length": m[k]})
        bodies.append(da.Body(f"piece{k}", beam=beam, modes={"bend_y": 10}))
        joints.append(da.Joint(f"weld{k}", HELD, bodies[k].name, f"piece{k}", da.Origin((at * (k > 0), 0, 0))))
    return da.Mechanism("pieces", bodies, joints, gravity=(0, 0, 0))


def roots(f, grid):
    """The first three zeros of a function."""
    values = np.array([f(x) for x in grid])
    brackets = [(a, b) for a, b, s, t in zip(grid[:-1], grid[1:], values[:-1], values[1:], strict=True) if s * t < 0]
    return np.array([scipy.optimize.brentq(f, a, b, xtol=1e-13, rtol=1e-14) for a, b in brackets[:3]])


def test_tapered_wedge():
    """Height from 1 to 1/4 at constant width: EI = s^3, m = s with s = 1 - 3/4 xi. (EI w'')'' = w^2 m w has the solutions
    s^(-1/2) J1, Y1, I1, K1 (2 k sqrt(s)), k^2 = w / (3/4)^2 (Mabie and Rogers, J. Acoust. Soc. Am. 36, 1964)."""
    ratio = 0.25

    def determinant(w):
        k = np.sqrt(w) / (1 - ratio)
        functions = (scipy.special.jv, -1), (scipy.special.yv, -1), (scipy.special.iv, 1), (lambda n, x: (-1)**n * scipy.special.kv(n, x), 1)
        A = np.zeros((4, 4))
        for column, (Z, sign) in enumerate(functions):
            def w_of(n, s, Z=Z):      # d/ds of s^(-n/2) Z_n(2 k sqrt(s)) is, but for its sign, k times that of n + 1
                return s**(-n / 2) * Z(n, 2 * k * np.sqrt(s))

            A[0, column] = w_of(1, 1.0)
            A[1, column] = sign * k * w_of(2, 1.0)
            A[2, column] = k**2 * w_of(3, ratio)      # moment over s^3
            s = ratio
            A[3, column] = 3 * s**2 * k**2 * w_of(3, s) + s**3 * sign * k**3 * w_of(4, s)      # shear
        A /= np.abs(A).max(axis=0)
        return np.linalg.det(A / np.linalg.norm(A, axis=1, keepdims=True))

    expected = roots(determinant, np.linspace(0.5, 60, 1500))
    tapered = {"EIz": beams.tapered(*((1 - 0.75 * k / 3)**3 for k in range(4))), "mass_per_length": beams.tapered(1.0, ratio)}
    np.testing.assert_allclose(frequencies(mechanism({"bend_y": 14}, **tapered)), expected, rtol=2e-8)


def test_rotary_inertia_lowers_frequencies_as_rayleigh_says():
    """Pinned beam with radius of gyration r: w^2 = b^4 / (1 + r^2 b^2), b = k pi."""
    pinned = mechanism({"bend_y": beams.pinned_pinned(3)}, rotary_inertia=(0, 0, 0.01))
    b = np.arange(1, 4) * np.pi
    np.testing.assert_allclose(frequencies(pinned), b**2 / np.sqrt(1 + 0.01 * b**2), rtol=1e-13)


@pytest.mark.parametrize("direction, numbers, load", [("twist", {"GJ": 1.0, "rotary_inertia": (1.0, 0, 0)}, (0.1, 0.4, 0)), ("stretch", {"EA": 1.0}, (0.4, 0.1, 0))])
def test_bars_that_twist_and_stretch(direction, numbers, load):
    """cos b = 0; b tan b = 1 / 0.4 with a body at the end; linear elements have order 2."""
    expected = (np.arange(1, 4) - 0.5) * np.pi
    for modes in (12, beams.clamped_free(3, direction)):
        np.testing.assert_allclose(frequencies(mechanism({direction: modes}, **numbers)), expected, rtol=1e-10)
    loaded = roots(lambda b: np.cos(b) - 0.4 * b * np.sin(b), np.linspace(0.1, 10, 500))
    shapes = beams.clamped_loaded(3, 0.4, 0.4, direction=direction)
    np.testing.assert_allclose(frequencies(mechanism({direction: shapes}, load=load, **numbers)), loaded, rtol=1e-12)
    errors = [frequencies(mechanism({direction: beams.hermite(n, direction)}, **numbers)) / expected - 1 for n in (4, 8)]
    np.testing.assert_allclose(errors[0] / errors[1], 4, rtol=0.1)


@pytest.mark.parametrize("direction, axis", [("bend_y", 2), ("bend_z", 1)])
def test_load_of_bodies_at_the_end_gives_exact_modes(direction, axis):
    """Two bodies on fixed joints, one beyond the other and turned, on a beam that is turned in its body: three loaded modes are those of 14 polynomials."""
    numbers = {"EIy": 1.0, "EIz": 1.0, "mass_per_length": 1.0}
    beam = da.Beam(1.0, kinematics="first_order", origin=da.Origin((0.1, 0, 0), (("z", 0.4),)), **numbers)
    end = da.Origin((0.1 + np.cos(0.4), np.sin(0.4), 0), (("z", 0.4),))
    bodies = [da.Body("base"), da.Body("arm", beam=beam, modes={direction: 14}), da.Body("hand", 0.5, (0.05, 0, 0), (0.02, 0, 0.03, 0, 0, 0.04)),
              da.Body("load", 1.5, (0, 0, 0.1), (0.01, 0, 0.01, 0, 0, 0.02))]
    joints = [da.Joint("root", HELD, "base", "arm"), da.Joint("wrist", HELD, "arm", "hand", end),
              da.Joint("grip", HELD, "hand", "load", da.Origin((0.2, 0, 0), (("y", np.pi / 2),)))]
    polynomial = da.Mechanism("arm", bodies, joints, gravity=(0, 0, 0))
    load = da.tip_load(polynomial, "arm", direction)
    assert load.mass_ratio == 2 and load.offset == pytest.approx((0.5 * 0.05 + 1.5 * (0.2 + 0.1)) / 2)
    bodies[1] = da.Body("arm", beam=beam, modes={direction: beams.clamped_loaded(3, *load)})
    np.testing.assert_allclose(frequencies(da.Mechanism("arm", bodies, joints, gravity=(0, 0, 0))), frequencies(polynomial), rtol=1e-9)


def test_a_load_without_a_beam_is_refused():
    arm = mechanism({"bend_y": 2}, load=(1.0, 0, 0))
    assert da.tip_load(arm, "arm") == (1, 0, 0)
    for name, error in (("load", da.ModelError), ("leg", da.UnknownNameError)):
        with pytest.raises(error):
            da.tip_load(arm, name)
    with pytest.raises(da.UnknownNameError, match="direction"):
        da.tip_load(arm, "arm", "bend")
