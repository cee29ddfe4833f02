"""Large static deflections of beams by exact kinematics, and by elements: beside elliptic integrals, rods of others, and closed forms."""

from functools import cache

import numpy as np
import pytest

import dalembert as da
from reference import reference

LIGHT = 1e-12      # kg/m, kg m: of beams that are to be without weight


@cache
def cantilever(modes, elements=1, kinematics="exact", length=1.0, origin=None, **section):
    beam = da.Beam(length, mass_per_length=LIGHT, rotary_inertia=(LIGHT, 0, 0), kinematics=kinematics, origin=origin or da.Origin(), **section)
    bodies = [da.Body("wall"), da.Body("beam", beam=beam, modes=dict(modes), elements=elements), da.Body("tip", 1.0)]
    joints = [da.Joint("clamp", da.Fixed(), "wall", "beam"), da.Joint("end", da.Fixed(), "beam", "tip", da.Origin((length, 0, 0)))]
    return da.Mechanism("cantilever", bodies, joints, gravity=(0, 0, 0))


def bent(mechanism, force):
    """Place and turn of the tip under a dead force, the weight of a kilogram there: by Newton's method on plain functions."""
    weighed, q, rest = mechanism.replace(gravity=force), mechanism.neutral(), np.zeros(mechanism.nv)
    for _ in range(100):
        step = np.linalg.solve(da.inverse_dynamics_derivatives(weighed, q, rest, rest).dtau_dq, -da.inverse_dynamics(weighed, q, rest, rest))
        q = q + step * min(1.0, 0.5 / abs(step).max())
        if abs(step).max() < 1e-9:
            return da.placement(weighed, q, "tip")
    raise AssertionError(f"no equilibrium under {force}")


def loaded(mechanism, force=(0, 0, 0), moment=(0, 0, 0)):
    """The same under a dead load, by `static_deflection`."""
    load = da.ExternalForce("tip", force=force, moment=moment)
    return da.placement(mechanism, da.static_deflection(mechanism, mechanism.neutral(), external_forces=[load]).q, "tip")


# modes in each direction, elements, kinematics, largest error of x / L, y / L and the angle up to P L^2 / EI = 10
ELASTICA = [(8, 1, "exact", 4e-9), (6, 1, "exact", 2e-6), (4, 1, "exact", 2e-5), (3, 4, "exact", 1e-6), (3, 4, "third_order", 6e-4), (2, 8, "second_order", 2e-3)]


@pytest.mark.parametrize("modes, elements, kinematics, error", [
    case if k == 1 else pytest.param(*case, marks=pytest.mark.slow) for k, case in enumerate(ELASTICA)])
def test_elastica_under_an_end_force(modes, elements, kinematics, error):
    """By elliptic integrals (beams.json); errors fall with the modes."""
    beam = cantilever((("bend_y", modes),), elements, kinematics, EIz=1.0)
    for row in reference("beams", "elastica_end_force")["table"]:
        X = bent(beam, force=(0, -row["PL2_over_EI"], 0))
        stored = [float(row[key]) for key in ("tip_x_over_L", "tip_deflection_over_L", "tip_angle")]
        np.testing.assert_allclose([X[0, 3], -X[1, 3], np.arctan2(-X[1, 0], X[0, 0])], stored, rtol=0, atol=error)


@pytest.mark.parametrize("turns", [0.25, 0.5, 1.0, 1.9])
def test_end_moment_bends_to_a_circle_and_beyond(turns):
    """Curvature M / EI: constant, so that one mode of each of 4 elements has it."""
    M = 2 * np.pi * turns
    X = loaded(cantilever((("bend_y", 1),), 4, EIz=1.0), moment=(0, 0, M))
    np.testing.assert_allclose(X[:2, 3], [np.sin(M) / M, (1 - np.cos(M)) / M], atol=1e-9)


def test_too_large_a_turn_in_an_element_is_told():
    beam = cantilever((("bend_y", 1),), EIz=1.0)
    with pytest.warns(da.DalembertWarning, match=r"body 'beam' bends by 12.57 rad; kinematics 'exact' with 1 modes hold to 6 rad. Use elements=3"):
        loaded(beam, moment=(0, 0, 4 * np.pi))
    second = cantilever((("bend_y", 2),), 2, "second_order", EIz=1.0)
    with pytest.warns(da.DalembertWarning, match="element 1 of 2 of body 'beam' bends by .* hold to 0.8 rad. Use elements=4, or kinematics='exact'"):
        loaded(second, force=(0, -4.0, 0))


@pytest.mark.parametrize("kinematics", ["first_order", "second_order", "third_order", "exact"])
def test_small_loads_deflect_by_the_cube_of_the_length(kinematics):
    """P L^3 / 3 EI, slope P L^2 / 2 EI, along y and along z."""
    beam = cantilever((("bend_y", 2), ("bend_z", 2)), kinematics=kinematics, length=2.0, EIz=50.0, EIy=80.0)
    P = 1e-4
    X = bent(beam, force=(0, P, P))
    np.testing.assert_allclose(X[1:, 3][:2], [P * 8 / 3 / 50, P * 8 / 3 / 80], rtol=1e-7)
    np.testing.assert_allclose([X[1, 0], X[2, 0]], [P * 4 / 2 / 50, P * 4 / 2 / 80], rtol=1e-7)


# --- in space -------------------------------------------------------------------------------------


def test_helix_of_constant_strains():
    """Rotation vectors k s along one axis: strains are k, and the energy of the rod with it."""
    beam = cantilever((("bend_y", 1), ("bend_z", 1), ("twist", 1)), GJ=3.0, EIy=5.0, EIz=7.0)
    k = np.array([0.9, 0.8, -1.1])      # rad/m
    q = [k[2] / 2, -k[1] / 2, k[0]]     # v' = k_z s, -w' = k_y s, twist = k_x s
    np.testing.assert_allclose(da.potential_energy(beam, q), (3 * k[0]**2 + 5 * k[1]**2 + 7 * k[2]**2) / 2, rtol=1e-12)


@cache
def princeton(modes):
    numbers = reference("beams", "princeton_beam")["parameters"]
    h, b, E = numbers["height_y"], numbers["width_z"], numbers["E"]
    Iz, Iy, G = b * h**3 / 12, h * b**3 / 12, E / 2 / (1 + numbers["nu"])
    section = {"EIz": E * Iz, "EIy": E * Iy, "GJ": G * 0.198 * (Iy + Iz)}
    return cantilever(tuple((d, modes) for d in ("bend_y", "bend_z", "twist")), length=numbers["L"], **section), G * h * b / numbers["L"]


def tip_of_princeton(load, k, modes, solve):
    """Displacement of the tip, and what shear adds to it in the straight beam."""
    beam, shear = princeton(modes)
    numbers = reference("beams", "princeton_beam")["parameters"]
    angle = np.radians(numbers["beta_deg"][k])
    force = float(load) * np.array([0, -np.cos(angle), np.sin(angle)])
    return solve(beam, tuple(force))[:3, 3] - [numbers["L"], 0, 0], force / shear


LOADS = [(load, k) for load in ("4.448", "8.896", "13.345") for k in range(7)]


@pytest.mark.parametrize("load, k, modes, solve", [("13.345", 3, 4, bent), *(pytest.param(*case, 4, loaded, marks=pytest.mark.slow) for case in LOADS)])
def test_princeton_beam_is_that_of_a_rod(load, k, modes, solve):
    """A rod by a boundary-value solver, with shear and stretch (beams.json). Without these the tip is within 7e-6 m of it at all
    angles of the load; with the shear of the straight beam within 2e-6 m. Others' values: within their differences from it."""
    case = reference("beams", "princeton_beam")
    moved, sheared = tip_of_princeton(load, k, modes, solve)
    stored = np.array(case["own_rod_solution"][load][k])
    np.testing.assert_allclose(moved, stored, rtol=0, atol=7e-6)
    np.testing.assert_allclose((moved + sheared)[1:], stored[1:], rtol=0, atol=2e-6)
    for engine, tolerance in case["agreement_abs_with_EXUDYN"].items():
        if load == engine:
            np.testing.assert_allclose(moved, case["published"]["EXUDYN 16 geometrically exact elements [ux,uy,uz]"][load][k], rtol=0, atol=tolerance + 7e-6)


@pytest.mark.parametrize("load, k, modes", [("13.345", 3, 2), *(pytest.param(load, k, 4, marks=pytest.mark.slow) for load in ("8.896", "13.345") for k in range(7))])
def test_princeton_beam_beside_published_beams_and_solids(load, k, modes):
    """ANSYS, as of Obrezkov, Mikkola and Matikainen (2022): beams within 0.6 mm; solids, which are stiffer, within 4 % of the way of the tip."""
    published = next(values for name, values in reference("beams", "princeton_beam")["published"].items() if "ANSYS" in name)[load]
    (_, down, across), _ = tip_of_princeton(load, k, modes, loaded)
    way = np.hypot(down, across)
    for prefix, error in (("", 6e-4), ("solid_", 0.04 * way)):
        assert np.hypot(-down - published[f"{prefix}y"][k], across - published[f"{prefix}z"][k]) < error


def test_turned_axes_and_exchanged_sections_bend_alike():
    """The beam turned by 90 degrees about x, EIy and EIz exchanged: the same place of the tip."""
    modes = (("bend_y", 2), ("bend_z", 2), ("twist", 2))
    beam = cantilever(modes, GJ=2.0, EIy=3.0, EIz=5.0)
    turned = cantilever(modes, origin=da.Origin((0, 0, 0), (("x", np.pi / 2),)), GJ=2.0, EIy=5.0, EIz=3.0)
    force = (0.3, -2.0, 1.5)
    np.testing.assert_allclose(bent(turned, force)[:3, 3], bent(beam, force)[:3, 3], atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("force, others", [(300.0, (22.33, 58.84, 40.08)), (450.0, (18.62, 52.32, 48.39)), (600.0, (15.79, 47.23, 53.37))])
def test_bend_of_45_degrees_by_straight_beams(force, others):
    """Bathe and Bolourchi's bend by 8 chords, beside tips that Simo and Vu-Quoc (1986) gave for 8 straight elements, from memory:
    within 0.2 %. There the sections shear, too; the torsion constant is 1/6."""
    n, radius, EI = 8, 100.0, 1e7 / 12
    part = np.pi / 4 / n
    chord = 2 * radius * np.sin(part / 2)
    beam = da.Beam(chord, EIy=EI, EIz=EI, GJ=EI, mass_per_length=LIGHT, rotary_inertia=(LIGHT, 0, 0), kinematics="exact")
    names = ["wall", *(f"chord{k}" for k in range(n))]
    bodies = [da.Body("wall"), *(da.Body(name, beam=beam, modes={"bend_y": 1, "bend_z": 1, "twist": 1}) for name in names[1:]), da.Body("tip", 1.0)]
    joints = [da.Joint(f"joint{k}", da.Fixed(), names[k], names[k + 1], da.Origin((chord if k else 0.0, 0, 0), (("z", part if k else part / 2),)))
              for k in range(n)]
    end = da.Joint("end", da.Fixed(), names[-1], "tip", da.Origin((chord, 0, 0)))
    x, y, z = bent(da.Mechanism("bend", bodies, [*joints, end], gravity=(0, 0, 0)), (0, 0, force))[:3, 3]
    np.testing.assert_allclose([y, x, z], others, rtol=5e-3)
    np.testing.assert_allclose([y, x, z], others, atol=0.1)
