"""Far from the world's origin every formulation is as exact as near it: no quantity but heights knows where a mechanism stands."""

import dataclasses

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import elementary_motions, hamilton, lagrange, newton_euler

FORMULATIONS = {"newton_euler": newton_euler, "lagrange": lagrange, "elementary_motions": elementary_motions}
FAR = np.array([1.0, -0.7, 0.4])


def moved(m, distance):
    """The mechanism with the joints on its base elsewhere."""
    def far(origin):
        return dataclasses.replace(origin, xyz=tuple(np.array(origin.xyz, float) + distance * FAR))

    base = m.bodies[0].name
    return dataclasses.replace(m, joints=tuple(dataclasses.replace(j, origin=far(j.origin)) if j.parent == base else j for j in m.joints))


def quantities(m, q, qd):
    """Each with the size of its entries, by formulation and name."""
    M, qdd = newton_euler.mass_matrix(m, q), np.ones(m.nv)
    size = np.sqrt(np.diag(M))
    speed = np.sqrt(qd @ M @ qd) + 1.0
    loads = [da.ExternalForce(m.bodies[-1].name, force=(1, 2, 3), moment=(1, 0, 2))]
    found = {}
    for name, at in FORMULATIONS.items():
        forms = [{}] if name != "elementary_motions" else [{"form": "composite"}, {"form": "sums"}]
        for form in forms:
            key = name, *form.values()
            found[*key, "M"] = at.mass_matrix(m, q, **form) / np.outer(size, size)
            found[*key, "C"] = at.coriolis_matrix(m, q, qd, **form) / np.outer(size, size) / speed
            found[*key, "g"] = at.gravity_vector(m, q, **form) / size / 10
            found[*key, "tau"] = at.inverse_dynamics(m, q, qd, qdd, loads, **form) / size / (speed**2 + 10)
        found[name, "h"] = at.bias_force(m, q, qd) / size / (speed**2 + 10)
        found[name, "p"] = at.momenta(m, q, qd) / size / speed
        found[name, "qdd"] = at.forward_dynamics(m, q, qd, qdd, loads)
        found[name, "qdd"] /= np.abs(found[name, "qdd"]).max()
        found[name, "T"] = at.kinetic_energy(m, q, qd) / speed**2
    found["hamilton", "v"] = np.asarray(hamilton.velocities(m, q, M @ qd)) / np.abs(qd).max()
    return found


@pytest.mark.parametrize("distance", [1e3, pytest.param(1e4, marks=pytest.mark.slow), 1e9])
def test_no_quantity_loses_digits_where_a_mechanism_stands_far_away(distance):
    for seed in range(3):
        m = da.random_tree(seed, 5)
        q, qd = m.random_state(seed)
        near, far = quantities(m, q, qd), quantities(moved(m, distance), q, qd)
        for key, value in near.items():
            np.testing.assert_allclose(far[key], value, rtol=0, atol=1e-12, err_msg=str(key))


@pytest.mark.parametrize("distance", [1e3, pytest.param(1e4, marks=pytest.mark.slow), 1e9])
@pytest.mark.parametrize("kind", ["free", "prismatic", "gantry"])
def test_no_quantity_loses_digits_where_a_mechanism_has_gone_far_away(kind, distance):
    """A free body or a slide whose coordinates are large, with an arm on it: forms of one formulation agree with the others."""
    body = {"mass": 2.0, "com": (0.1, 0.2, -0.1), "inertia": (0.5, 0.01, 0.6, 0.02, -0.03, 0.4)}
    types = {"free": [da.Free()], "prismatic": [da.Prismatic((1, 0, 0))],
             "gantry": [da.Prismatic((1, 0, 0)), da.Prismatic((0, 1, 0)), da.Prismatic((0, 0, 1))]}[kind]
    types = [*types, da.Revolute((0, 0, 1)), da.Revolute((3, 0, 4)), da.Spherical()]
    bodies = [da.Body("base"), *(da.Body(f"b{k}", **body) for k in range(len(types)))]
    m = da.Mechanism("m", bodies, [da.Joint(f"j{k}", t, bodies[k].name, bodies[k + 1].name, da.Origin((0.3, 0.1, 0.2)))
                                   for k, t in enumerate(types)])
    q, qd = m.random_state(1)
    slides = {"free": slice(4, 7), "prismatic": slice(0, 1), "gantry": slice(0, 3)}[kind]
    near = quantities(m, q, qd)
    q = q.copy()
    q[slides] += distance
    for key, value in quantities(m, q, qd).items():
        np.testing.assert_allclose(value, near[key], rtol=0, atol=1e-11, err_msg=str(key))
    found = da.compile(m, formulation="elementary_motions").mass_matrix(q)
    np.testing.assert_allclose(found, newton_euler.mass_matrix(m, q), rtol=0, atol=1e-11)
