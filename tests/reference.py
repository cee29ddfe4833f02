"""Tables of known motions (tests/data/reference), computed in quadruple precision by two formulations each, and pendulums."""

import json
from functools import cache

import numpy as np

import dalembert as da
from oracles import DATA

DOWN_Y = (0, -9.81, 0)      # m/s^2, for mechanisms in the x-y plane
PENDULUMS = {      # case: links, distance of the centre of mass, moment of inertia about it
    "double_pendulum_regular": (2, 1, 0), "double_pendulum_chaotic": (2, 1, 0), "double_pendulum_inverted": (2, 1, 0),
    "double_pendulum_chaotic_exact_start": (2, 1, 0), "triple_pendulum": (3, 1, 0), "five_link_pendulum": (5, 1, 0),
    "rod_chain_2": (2, 0.5, 1 / 12), "rod_chain_3": (3, 0.5, 1 / 12)}


@cache
def reference(file, case):
    return json.loads((DATA / "reference" / f"{file}.json").read_text())[case]


def table(file, case):
    """Rows of a case as an array, and its columns by name."""
    rows = np.array(reference(file, case)["rows"], dtype=float)
    return rows, dict(zip(reference(file, case)["columns"], rows.T, strict=True))


@cache
def pendulum(n, com, inertia):
    """Chain of unit links hanging along -y at q = 0, joints about z; masses 1, gravity along -y."""
    bodies, joints = [da.Body("base")], []
    for k in range(n):
        bodies.append(da.Body(f"link{k}", 1, (0, -com, 0), (0, 0, 0, 0, 0, inertia)))
        joints.append(da.Joint(f"q{k}", da.Revolute((0, 0, 1)), bodies[k].name, bodies[k + 1].name,
                               da.Origin((0, -1, 0)) if k else da.Origin()))
    return da.Mechanism(f"pendulum {n}", bodies, joints, gravity=DOWN_Y)
