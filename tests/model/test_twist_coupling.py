"""Bending about both axes with twist: lateral buckling, orders of all terms beside exact kinematics, a potential."""

from functools import cache

import numpy as np
import pytest
import scipy.linalg

import dalembert as da

SPACE = {"bend_y": 2, "bend_z": 2, "twist": 2}


@cache
def strip(kinematics, count, EIy=1e4, across=2):
    """A clamped strip, stiff against deflection along z, with a kilogram at its end."""
    beam = da.Beam(1.0, EIy=EIy, EIz=1.0, GJ=1.0, mass_per_length=1e-6, rotary_inertia=(1e-6, 0, 0), kinematics=kinematics)
    modes = {"bend_y": count, "twist": count} | ({"bend_z": across} if across else {})
    bodies = [da.Body("wall"), da.Body("strip", beam=beam, modes=modes), da.Body("tip", 1.0)]
    joints = [da.Joint("clamp", da.Fixed(), "wall", "strip"), da.Joint("end", da.Fixed(), "strip", "tip", da.Origin((1.0, 0, 0)))]
    return da.Mechanism("strip", bodies, joints, gravity=(0, 0, 0))


def buckling_load(strip):
    """The force along -z under which the stiffness about the bent equilibrium is singular: it is K0 + load K1, all but linear."""
    weighed, q, rest = strip.replace(gravity=(0, 0, -1)), strip.neutral(), np.zeros(strip.nv)
    straight = K = da.inverse_dynamics_derivatives(strip, q, rest, rest).dtau_dq
    for _ in range(2):
        q = q - np.linalg.solve(K, da.inverse_dynamics(weighed, q, rest, rest))
        K = da.inverse_dynamics_derivatives(weighed, q, rest, rest).dtau_dq
    np.testing.assert_allclose(K, K.T, atol=1e-9 * abs(K).max())
    return -1 / scipy.linalg.eigh(K - straight, straight, eigvals_only=True)[0]


@pytest.mark.parametrize("kinematics, count, error", [("second_order", 4, 1e-3), pytest.param("second_order", 6, 1e-4, marks=pytest.mark.slow),
                                                      pytest.param("exact", 4, 1.1e-3, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::dalembert.DalembertWarning")
def test_lateral_buckling_of_a_cantilever(kinematics, count, error):
    """4.01260 sqrt(EIz GJ) / l^2 for a strip that is stiff across (Prandtl 1899; Timoshenko and Gere, Theory of elastic stability, 6.3)."""
    assert buckling_load(strip(kinematics, count)) == pytest.approx(4.01260, rel=error)


@pytest.mark.filterwarnings("ignore::dalembert.DalembertWarning")
def test_a_strip_without_coordinates_across_buckles_too_late_and_is_noted():
    beam = strip("second_order", 4, across=0)
    assert buckling_load(beam) == pytest.approx(1.23 * 4.0126, rel=1e-3)
    assert any("no coordinates bend_z: it gives way sideways under 1.23" in str(finding) for finding in beam.check())
    assert not any("sideways" in str(finding) for finding in strip("second_order", 4).check())


TAPERED = {"EIy": da.beams.tapered(120.0, 60.0), "EIz": da.beams.pieces(((0.5, 90.0), (1, (90.0, 40.0)))), "GJ": da.beams.tapered(70.0, 50.0)}
UNIFORM = {"EIy": 120.0, "EIz": 90.0, "GJ": 70.0}


@cache
def spatial(kinematics, elements=1, modes=None, **section):
    """A beam on a ball joint with a load that stands off its end in all directions."""
    numbers = UNIFORM | section
    beam = da.Beam(0.8, EA=6e4, mass_per_length=0.25, rotary_inertia=(2e-4, 1e-4, 1e-4), kinematics=kinematics, **numbers)
    load = da.Body("load", 1.0, (0.1, 0.2, -0.05), (0.02, 0.003, 0.03, 0.001, 0, 0.04))
    bodies = [da.Body("base"), da.Body("beam", beam=beam, modes=dict(modes or SPACE | {"stretch": 1}), elements=elements), load]
    joints = [da.Joint("ball", da.Spherical(), "base", "beam"), da.Joint("end", da.Fixed(), "beam", "load", da.Origin((0.8, 0, 0)))]
    return da.Mechanism("spatial", bodies, joints, [da.Frame("tip", "load", da.Origin((0.1, 0.2, 0.3)))], gravity=(1, 2, -3))


def quantities(mechanism, q, qd):
    rest = np.zeros(mechanism.nv)
    return {"placement": da.placement(mechanism, q, "tip"), "elastic forces": da.passive_force(mechanism, q, rest), "mass matrix": da.mass_matrix(mechanism, q),
            "gravity": da.gravity_vector(mechanism, q), "stiffness": da.inverse_dynamics_derivatives(mechanism, q, rest, rest).dtau_dq,
            "bias": da.inverse_dynamics(mechanism, q, qd, rest)}


# Of the error: one more than the order to which each is kept.
ORDERS = {"placement": 3, "elastic forces": 3, "mass matrix": 2, "gravity": 2, "stiffness": 1, "bias": 1}
EIGENFUNCTIONS = tuple((name, da.beams.clamped_free(2, *kind)) for name, kind in (("bend_y", ()), ("bend_z", ()), ("twist", ("twist",))))
CASES = {"uniform": {}, "tapered": TAPERED, "eigenfunctions": {"modes": EIGENFUNCTIONS}, "elements": {"elements": 2}}


@pytest.mark.parametrize("case", ["uniform", *(pytest.param(name, marks=pytest.mark.slow) for name in list(CASES)[1:])])
def test_second_order_is_complete(case):
    """Halved deflections: the difference from exact kinematics falls by 2^order, for every quantity of the mechanism."""
    beam, exact = (spatial(kinematics, **CASES[case]) for kinematics in ("second_order", "exact"))
    rng = np.random.default_rng(3)
    deflection, qd = 0.05 * rng.standard_normal(beam.nq - 4), rng.standard_normal(beam.nv)
    errors = []
    for part in (0.25, 0.125):
        q = np.concatenate([[1, 0, 0, 0], part * deflection])
        found, expected = (quantities(each, q, qd) for each in (beam, exact))
        errors.append([abs(found[name] - expected[name]).max() for name in ORDERS])
    for (name, order), before, after in zip(ORDERS.items(), *errors, strict=True):
        assert np.log2(before / after) > order - 0.2, (name, before, after)


def test_elastic_forces_have_a_potential():
    beam = spatial("second_order", **TAPERED)
    q = np.concatenate([[1, 0, 0, 0], 0.1 * np.random.default_rng(1).standard_normal(beam.nq - 4)])
    weightless, step = beam.replace(gravity=(0, 0, 0)), 1e-5
    units = step * np.eye(beam.nq)[4:]
    energies = [[da.potential_energy(weightless, q + sign * unit) for unit in units] for sign in (1, -1)]
    np.testing.assert_allclose(da.passive_force(beam, q, np.zeros(beam.nv))[3:], -np.subtract(*energies) / (2 * step), rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_energy_stays_in_free_motion_in_space():
    beam = spatial("second_order")
    rng = np.random.default_rng(2)
    q, qd = np.concatenate([[1, 0, 0, 0], 0.02 * rng.standard_normal(beam.nq - 4)]), rng.standard_normal(beam.nv)
    run = da.simulate(beam, q, qd, 0.5, method="dop853", rtol=1e-10, atol=1e-12)
    energy = run.kinetic_energy + run.potential_energy
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-7 * np.ptp(run.kinetic_energy))
