"""Multipliers of rows that depend on each other: least norm, the same for any scale, sign and axes of rows, and labelled."""

import numpy as np
import pytest

import dalembert as da

Closure = da.constraints.Closure


Q = da.assemble(da.planar_chain(3).constrained(Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0.3)))), [0.5, 0.8, -0.9])


def held(*constraints):
    """A planar arm whose tip is held, and its state."""
    arm = da.planar_chain(3).constrained(*constraints)
    return arm, Q, [0.1, 0.2, 0.3]


def pin():
    return Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0.3)))


def along(scale, name="twin"):
    """The same two gaps as functions of coordinates."""
    def gap(q, t):
        angles = [q[0], q[0] + q[1], q[0] + q[1] + q[2]]
        return [scale[0] * (sum(da.cos(a) for a in angles) - 1.2), scale[1] * (sum(da.sin(a) for a in angles) - 0.3)]
    return da.constraints.Holonomic(name, gap)


def at_rest(arm, q, tau):
    return da.reactions(arm, q, [0.0] * arm.nv, tau)


def test_shares_do_not_depend_on_scales_and_signs():
    shares = [at_rest(*held(pin(), along(scale))) for scale in ((1, 1), (10, 10), (-1, -1), (1, 1e-3), (-1e4, 7))]
    alone = at_rest(*held(along((1, 1))))["twin"]
    for found in shares[1:]:
        for name in ("pin", "twin"):
            np.testing.assert_allclose(found[name], shares[0][name], rtol=1e-9, atol=1e-12)
    halves = at_rest(*held(along((1, 1)), along((3, -2), "again")))
    for part in halves.values():                                    # alike, so each has a half
        np.testing.assert_allclose(part, alone / 2, rtol=1e-9)


def test_shares_do_not_depend_on_the_axes_of_closures():
    def closed(*turn):
        return at_rest(*held(Closure("pin", da.Spherical(), ("tip", (0, 0, 0), turn), ("base", (1.2, 0, 0.3), turn)), along((2, 5))))

    first, second = closed(0, 0, 0), closed(0.3, 1.1, -0.7)
    for name in first:
        np.testing.assert_allclose(second[name], first[name], rtol=1e-8, atol=1e-10)


def test_least_norm_is_that_of_the_pseudoinverse_of_scaled_rows():
    arm, q, tau = held(along((1, 2)), along((3, 0.5), "again"))
    qd = np.zeros(3)
    J = da.constraint_jacobian(arm, q, qd)
    free = arm.without("constraints")
    M = da.mass_matrix(free, q)
    A = J @ np.linalg.solve(M, J.T)
    s = np.sqrt(np.diag(A))
    bias = J @ da.forward_dynamics(arm, q, qd, tau) - J @ da.forward_dynamics(free, q, qd, tau)
    right = np.linalg.pinv(A / np.outer(s, s), rcond=1e-10) @ (bias / s) / s
    np.testing.assert_allclose(da.multipliers(arm, q, qd, tau), right, rtol=1e-8)


def test_rows_whose_multipliers_are_not_unique_are_named():
    arm, q, tau = held(pin(), along((1, 1)))
    found = da.degrees_of_freedom(arm, q)
    assert found.not_unique == ("pin[0]", "pin[1]", "pin[2]", "twin[0]", "twin[1]")
    assert "multipliers not unique: pin[0], pin[1], pin[2], twin[0], twin[1]" in str(found)
    run = da.simulate(arm, q, [0.0] * 3, 0.05)
    assert run.not_unique == found.not_unique
    assert "not unique: pin[0], pin[1]" in run.summary()
    assert run.observables.declared["multipliers"].description.endswith("not unique: " + ", ".join(found.not_unique))
    assert da.compile(arm).multipliers(q, [0.0] * 3, tau) == pytest.approx(da.multipliers(arm, q, [0.0] * 3, tau), abs=1e-10)
    lone, q, _ = held(along((1, 1)))
    assert da.degrees_of_freedom(lone, q).not_unique == () == da.simulate(lone, q, [0.0] * 3, 0.05).not_unique
    assert da.simulate(held(pin())[0], held(pin())[1], [0.0] * 3, 0.05).not_unique == ("pin[1]",)


def test_bricard_names_the_rows_by_either_way():
    """Pivots that are left out, and the null space of the rows, name the same ones."""
    mechanism, q = da.loops.bricard()
    names = da.degrees_of_freedom(mechanism, q).not_unique
    assert names == da.simulate(mechanism, q, [0.0] * mechanism.nv, 0.01).not_unique and len(names) > 1


def test_names_of_shared_rows_need_the_numbers_of_a_run():
    """Numbers that are inputs of a system have their values in a run, and so have its rows."""
    rod = da.constraints.Holonomic("rod", lambda q, t: [q[0] - q[1], 2 * q[0] - 2 * q[1]], "m")
    with da.Graph():
        mass = da.symbols("mass")
        system = da.lagrangian_system(lambda q, qd, t: mass * (qd @ qd) / 2, "x y").constrained(rod)
        run = da.simulate(system, [0.0, 0.0], [1.0, 1.0], 0.1, parameters={"mass": 3.0})
    assert run.not_unique == ("rod[0]", "rod[1]") and "rod[0]" in run.summary()
