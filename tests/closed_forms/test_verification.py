"""What closed forms are compared with: entries that are exactly zero are right although compiled sums leave rounding there."""

import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert.closed_forms.quantities import verification
from dalembert.closed_forms.quantities.verification import VerificationError

AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
TYPES = (da.Revolute, da.Prismatic, lambda axis: da.Helical(axis, 0.1), da.Cylindrical, da.Planar)
FORMULATIONS = ("newton_euler", "lagrange", "elementary_motions", "hamilton")


def mechanism_with_zeros(seed):
    """Two or three bodies, many of them balanced, on joints about coordinate axes; gravity along one of them, or none."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 4))
    axes = [AXES[rng.integers(3)] if rng.random() < 0.4 else AXES[2] for _ in range(count)]
    bodies, joints = [da.Body("base")], []
    for i, axis in enumerate(axes):
        balanced = np.array(axis) * 0.137
        com = balanced if rng.random() < 0.5 else rng.uniform(-0.3, 0.3, 3).round(3) * (rng.random(3) < 0.5)
        xx, yy, zz = rng.uniform(0.3, 0.35, 3).round(4)
        xy, xz, yz = rng.uniform(-0.03, 0.03, 3).round(4) * (rng.random(3) < 0.3)
        bodies.append(da.Body(f"b{i}", round(rng.uniform(0.1, 3), 3), tuple(com), (xx, xy, yy, xz, yz, zz)))
        place = da.Origin(tuple(rng.uniform(-0.3, 0.3, 3).round(3) * (rng.random(3) < 0.4)),
                          tuple(zip("zx", rng.choice([0, 0, 0.7], 2).tolist(), strict=True)))
        parent = bodies[max(0, i - int(rng.integers(2)))].name
        joints.append(da.Joint(f"j{i}", TYPES[rng.integers(len(TYPES))](axis), parent, f"b{i}", origin=place))
    gravity = tuple(9.81 * np.array([(0, 0, 0), (0, 0, -1), (0, 0, -1), (1, 0, 0)][rng.integers(4)]))
    return da.Mechanism(f"random {seed}", bodies, joints, gravity=gravity)


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 150), marks=pytest.mark.slow)], ids=["few", "many"])
def test_exact_zeros_are_no_faults(seeds):
    for seed in seeds:
        mechanism, rng = mechanism_with_zeros(seed), np.random.default_rng(seed)
        options = {"formulation": FORMULATIONS[rng.integers(4)], "budget": int(rng.choice([0, 2500]))}
        eom = da.equations(mechanism, ("inertial", "all", ["gravity"])[rng.integers(3)], **options)
        eom.text("mass_matrix", "coriolis_matrix", "coriolis_vector", "gravity_vector", "kinetic_energy", "potential_energy")


def test_a_screw_under_gravity_along_its_axis_has_no_coriolis_forces():
    """A revolute joint, then one that turns and slides, about the same vertical axis, the second body balanced."""
    for joint in (da.Helical((0, 0, 1), 0.137), da.Cylindrical((0, 0, 1))):
        bodies = [da.Body("base"), da.Body("a", 1.1, (0.1, 0.2, 0.3), (1.3, 0, 1.2, 0, 0, 1.1)),
                  da.Body("b", 2.3, (0, 0, 0.37), (1.3, 0, 1.2, 0, 0, 1.1))]
        joints = [da.Joint("turn", da.Revolute((0, 0, 1)), "base", "a"),
                  da.Joint("screw", joint, "a", "b", origin=da.Origin((0.3, 0.1, 0.7)))]
        eom = da.equations(da.Mechanism("screw", bodies, joints, gravity=(0, 0, -9.81)), ["gravity"])
        for name in ("coriolis_matrix", "coriolis_vector", "christoffel"):
            assert not eom.sheet(name).lines


def test_forces_of_a_lagrangian_that_cancel_are_no_fault():
    with da.Graph():
        m, a = da.symbols("m a")

        def L(q, qd, t):                                          # a mass on a straight rail, in turned axes
            x, y = qd[0] * da.cos(a * q[0]), qd[0] * da.sin(a * q[0])
            return m * (x**2 + y**2) / 2 + m * (da.cos(q[0])**2 + da.sin(q[0])**2)

        eom = da.equations(da.lagrangian_system(L, "s"))
        assert not eom.sheet("bias_force").lines and not eom.sheet("gravity_vector").lines


def test_a_difference_beside_zeros_is_still_a_fault():
    """Terms of 1e-9 of the terms that cancel are found."""
    eom = da.equations(mechanism_with_zeros(3))
    right = eom.verifier.right["coriolis_vector"]
    wrong = right.copy()
    wrong[0, 0] += 1e-9 * eom.verifier.sizes["coriolis_vector"]
    with pytest.raises(VerificationError, match="coriolis_vector"):
        eom.verifier.check("coriolis_vector", wrong, right)


def test_sizes_bound_the_quantities():
    for seed in range(6):
        verifier = da.equations(mechanism_with_zeros(seed)).verifier
        for name in ("mass_matrix", "coriolis_vector", "gravity_vector", "kinetic_energy", "forces"):
            assert np.abs(verifier.right[name]).max() <= 3 * verifier.sizes[name]


def test_the_size_of_terms_does_not_cancel():
    with da.Graph():
        x = da.symbol("x")
        point = {"x": np.full(verification.STATES, 0.5)}
        assert verification.size_of_terms([x * 3 - x - x - x], point) == pytest.approx(3.0)
        assert verification.size_of_terms([da.cos(x) - 1], point) == pytest.approx(1 + np.cos(0.5))


def test_values_that_verification_puts_in_are_warned_of_to_nobody():
    """Those of the symbols of a plane arm, whose links have one moment of inertia, make no tensor of a body."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with da.Graph():
            m, c, inertia, g = da.symbols("m c I g")
            arm = da.from_motions("Rz(q1)", inertia=[(m, (c, 0, 0), (0, 0, 0, 0, 0, inertia))], gravity=(0, -g, 0))
            assert "I + m c^2" in da.equations(arm).text("mass_matrix")
