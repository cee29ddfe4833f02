"""Impossible inertias become the nearest possible ones, when asked; all others stay bit for bit."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.model.repairs import FLOOR, nearest_tensor, second_moments, tensor_of_shapes

pytestmark = pytest.mark.filterwarnings("ignore::dalembert.DalembertWarning")
rng = np.random.default_rng(0)


def symmetric():
    A = rng.standard_normal((3, 3))
    return A + A.T


def with_inertia(*inertia, mass=1.0, **others):
    bodies = (da.Body("base"), da.Body("rod", mass, (0.1, 0, 0), inertia, **others), da.Body("tip", 1, (0, 0, 0.1), (1, 0, 1, 0, 0, 1)))
    joints = (da.Joint("a", da.Revolute(), "base", "rod"), da.Joint("b", da.Revolute((1, 0, 0)), "rod", "tip"))
    return da.Mechanism("m", bodies, joints)


def test_the_tensor_is_the_nearest_by_the_condition_that_only_the_nearest_meets():
    """(J - P) . (X - P) <= 0 for all X of the convex set: P is the projection of J."""
    for _ in range(20):
        tensor = symmetric()
        J, P = second_moments(tensor), second_moments(nearest_tensor(tensor, 0.0))
        assert np.linalg.eigvalsh(P)[0] >= -1e-14
        for _ in range(20):
            A = rng.standard_normal((3, 3))
            assert np.sum((J - P) * (A @ A.T - P)) <= 1e-12


def test_the_tensor_is_the_nearest_by_an_optimiser():
    """Descent over X = L L^T from random starts ends at no smaller distance, and comes as near."""
    tensor = symmetric()
    J, P = second_moments(tensor), second_moments(nearest_tensor(tensor, 0.0))
    distances = []
    for _ in range(4):
        L = rng.standard_normal((3, 3))
        for _ in range(20_000):
            L -= 0.01 * 4 * (L @ L.T - J) @ L
        distances.append(np.linalg.norm(L @ L.T - J))
    assert abs(min(distances) - np.linalg.norm(P - J)) < 1e-6
    assert min(distances) >= np.linalg.norm(P - J) - 1e-12


def test_what_is_repaired_passes_the_check_and_keeps_mass_and_centre():
    broken = with_inertia(1, 0.2, 0.1, 0, -0.3, 0.05)
    assert [f.severity for f in broken.check()] == ["error"]
    whole = broken.repaired()
    note, = whole.check()
    assert note.severity == "note" and "'rod'" in note.what and "nearest possible" in note.why and note.fix.endswith("%.")
    before, after = broken.body("rod"), whole.body("rod")
    assert (after.mass, after.com) == (before.mass, before.com)
    moments = np.linalg.eigvalsh(second_moments(np.array(after.tensor(), float)))
    assert moments[0] >= 0.99 * FLOOR * moments[-1]
    assert whole.body("tip") is broken.body("tip") and whole.repaired() is whole


@pytest.mark.parametrize("inertia", [(0, 0, 0, 0, 0, 0), (0, 0, 0.1, 0, 0, 0.1), (0.1, 0, 0.2, 0, 0, 0.3), (0.3, 0, 0.3, 0, 0, 0.3)])
def test_possible_inertias_stay_as_they_are(inertia):
    """Points, rods and plates, at the border of the possible, among them."""
    mechanism = with_inertia(*inertia)
    assert mechanism.repaired() is mechanism
    turned = da.random_tree(3, 6)
    assert turned.repaired() is turned


def test_a_mass_is_never_guessed():
    broken = with_inertia(1, 0, 1, 0, 0, 1, mass=-2)
    assert any("below 0" in f.why for f in broken.repaired().check())
    whole = broken.repaired(masses={"rod": 2})
    assert whole.body("rod").mass == 2 and {f.severity for f in whole.check()} == {"note"}
    with pytest.raises(da.UnknownNameError, match="Did you mean 'rod'"):
        broken.repaired(masses={"rood": 1})
    with pytest.raises(ValueError, match="more than 0"):
        broken.repaired(masses={"rod": 0})


def test_moments_of_shapes_when_asked():
    half = da.Visual("box", (0.1, 0.2, 0.15), da.Origin((0, 0, -0.075)), seen=False)
    shapes = (half, replace(half, origin=da.Origin((0, 0, 0.075))), da.Visual("sphere", (9.0,)))
    bare = with_inertia(0, 0, 0, 0, 0, 0, visuals=shapes)
    assert bare.repaired() is bare
    filled = bare.repaired(from_shapes=True).body("rod")
    assert np.allclose([*map(float, filled.inertia)], [*map(float, da.solids.box(1.0, 0.1, 0.2, 0.3).inertia)], atol=1e-15)
    turned = da.Body("b", 2.0, visuals=(da.Visual("cylinder", (0.1, 0.4), da.Origin((1, 2, 3), (("x", 0.5),))),))
    assert np.allclose(np.linalg.eigvalsh(tensor_of_shapes(turned)), sorted([float(da.solids.cylinder(2.0, 0.1, 0.4).inertia[k]) for k in (0, 2, 5)]))
    assert tensor_of_shapes(da.Body("b", 1.0, visuals=(da.Visual("mesh", (1, 1, 1), mesh="a.stl"),))) is None


def test_numbers_with_symbols_wait_for_their_values():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = with_inertia(da.symbol("I"), 0, 0.1, 0, 0, 0.1)
    assert mechanism.repaired() is mechanism


def test_lumps_on_elastic_links_are_repaired_and_masses_may_be_symbols():
    lump = da.Body("link", 1.0, (0, 0, 0), (1, 0, 1, 0, 0, 5), beam=da.Beam(1.0, EIy=50.0, mass_per_length=0.4), modes={"bend_z": 1})
    with pytest.warns(da.DalembertWarning, match="repaired"):
        arm = da.Mechanism("arm", (da.Body("base"), lump), (da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "link"),))
    assert arm.repaired().bodies[1].inertia == pytest.approx((2.5, 0, 2.5, 0, 0, 5), rel=1e-5)
    assert arm.repaired(masses={"link": da.symbol("m")}).symbols == ("m",)
