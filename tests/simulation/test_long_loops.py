"""Long chains with loops: M^-1 b by articulated bodies, and by loops over bodies, against factors of the mass matrix."""

import time

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations.newton_euler.articulated_factors import ArticulatedFactors
from dalembert.systems.kinds import system_of
from dalembert.tracing import long_trees

SPHERICAL = da.Spherical()


def hung(n):
    """A chain of n links in an arc whose end is pinned to the ground, and its coordinates."""
    chain = da.planar_chain(n)
    q = np.full(n, -1.5 / (n - 1))
    q[0] = 0.75
    end = da.placement(chain, q, "tip")[:3, 3]
    return chain.constrained(da.constraints.Closure("pin", SPHERICAL, ("base", tuple(end)), "tip")), q


def winding(n):
    """A chain in space of joints with one to three freedoms, its end held by a rod."""
    types = [da.Revolute((0, 0, 1)), da.Universal((1, 0, 0), (0, 1, 0)), da.Revolute((0, 1, 0)), da.Cylindrical((1, 0, 0)), da.Planar((0, 0, 1))]
    bodies, joints = [da.Body("base")], []
    for k in range(n):
        bodies.append(da.Body(f"link{k}", 1 + 0.1 * (k % 3), (0.2, 0.01, 0), (0.02, 0, 0.03, 0, 0, 0.04)))
        joints.append(da.Joint(f"joint{k}", types[k % 5], bodies[k].name, f"link{k}", da.Origin.rpy((0.4, 0, 0.01), 0.1)))
    chain = da.Mechanism("winding", bodies, joints)
    q, _ = chain.random_state(1)
    q = 0.1 * q
    end = da.placement(chain, q, f"link{n - 1}")[:3, 3]
    anchor = tuple(end + [0.3, 0.4, 0])
    return chain.constrained(da.constraints.Distance("rod", ("base", anchor), f"link{n - 1}", 0.5)), q


def held_bar(n):
    """Two arms of n joints on a base that floats, whose ends hold a bar that one of them carries."""
    bodies = [da.Body("base"), da.Body("trunk", 20.0, (0, 0, 0), (1, 0, 1, 0, 0, 1))]
    joints = [da.Joint("float", da.Free(), "base", "trunk")]
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0)]
    for side, y in (("left", 0.2), ("right", -0.2)):
        last = "trunk"
        for k in range(n):
            name = f"{side}{k}"
            bodies.append(da.Body(name, 0.5, (0.05, 0, 0), (0.001, 0, 0.002, 0, 0, 0.002)))
            joints.append(da.Joint(f"{name} joint", da.Revolute(axes[k % 3]), last, name, da.Origin((0, y, 0) if k == 0 else (0.1, 0, 0))))
            last = name
    mechanism = da.Mechanism("holding", bodies, joints)
    ends = (f"right{n - 1}", (0.1, 0.4, 0)), (f"left{n - 1}", (0.1, 0, 0))
    return mechanism.constrained(da.constraints.Closure("bar", SPHERICAL, *ends)), mechanism.neutral()


CASES = {"hung": (hung, 30), "winding": (winding, 20), "held bar": (held_bar, 12)}


@pytest.fixture(params=CASES)
def loop(request):
    made, n = CASES[request.param]
    return made(n)


def with_products(monkeypatch, products):
    """By factors of the mass matrix (many), or by articulated bodies (none)."""
    monkeypatch.setattr(long_trees, "PRODUCTS", products)


def forced(mechanism, seed=2):
    """Velocities on the constraints, and forces."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=mechanism.nv), rng.normal(size=mechanism.nv)


def test_factors_are_those_of_the_mass_matrix(loop):
    mechanism, q = loop
    tree, (given,), _ = mechanism.at(q=q)
    factors = ArticulatedFactors.of(tree, given)
    M = da.mass_matrix(mechanism.without("constraints"), q)
    units = np.eye(mechanism.nv).tolist()
    inward = np.array([factors.reduced(row) for row in units]).T
    outward = np.array([factors.outward(row) for row in units]).T
    np.testing.assert_allclose(inward.T, outward, rtol=0, atol=1e-12 * np.abs(inward).max())
    D = np.diag(1 / np.array(factors.inverse_pivots))
    np.testing.assert_allclose(inward @ M @ outward, D, rtol=0, atol=1e-9 * np.abs(M).max())
    column = factors.inward({3: 2.0})
    np.testing.assert_allclose([column.get(k, 0.0) for k in range(mechanism.nv)], 2 * inward[:, 3], atol=1e-13)


def test_accelerations_multipliers_and_projection_are_those_of_the_factors(loop, monkeypatch):
    mechanism, q = loop
    qd, tau = forced(mechanism)
    found = []
    for products in (0, 1e9):
        with_products(monkeypatch, products)
        system = system_of(mechanism)
        assert system._is_long == (products == 0)
        off = q + 1e-4 * forced(mechanism, 5)[0][: len(q)] if not mechanism.quaternions else q
        found.append([system.forward_dynamics(q, qd, tau), system.multipliers(q, qd, tau), *system.project(off, qd)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-8 * np.abs(b).max())      # condition of M: 1e6


ADAPTIVE = {"rtol": 1e-10, "atol": 1e-12}
FIXED = {"method": "rk4", "h": 0.005}
SLOW = [pytest.param(name, options, marks=pytest.mark.slow) for name, options in (
    ("hung", ADAPTIVE), ("winding", FIXED), ("winding", ADAPTIVE), ("held bar", FIXED), ("held bar", ADAPTIVE))]


@pytest.mark.parametrize("name, options", [("hung", FIXED), *SLOW])
def test_runs_by_loops_over_bodies_are_those_of_straight_code(name, options, monkeypatch):
    made, n = CASES[name]
    mechanism, q = made(n)
    qd = np.zeros(mechanism.nv)
    monkeypatch.setenv("DALEMBERT_CACHE", "off")
    runs = []
    for rolled_from in (2, 10**6):
        monkeypatch.setattr(long_trees, "ROLLED_FROM", rolled_from)
        runs.append(da.simulate(mechanism, q, qd, 0.05, record=0.025, **options))
    looped, straight = runs
    assert looped.reason == straight.reason == "finished"
    np.testing.assert_allclose(looped.q, straight.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(looped.qd, straight.qd, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_cost_of_a_link_does_not_grow_with_their_number(monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", "off")
    costs = []
    for n in (100, 400):
        mechanism, q = hung(n)
        da.simulate(mechanism, q, 0 * q, 0.001, h=1e-4, method="rk4")
        begin = time.process_time()
        da.simulate(mechanism, q, 0 * q, 0.1, h=1e-4, method="rk4")
        costs.append((time.process_time() - begin) / n)
    print([f"{1e6 * c / 1000:.2f} us per link and step" for c in costs])
    assert costs[1] < 2 * costs[0]      # a dense mass matrix: 16
