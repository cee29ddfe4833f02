"""Mechanisms made by rule: planar chains and random trees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.arguments import check_choice, check_whole, shown
from dalembert.model.joints import JOINT_TYPES, Custom, JointType, Revolute
from dalembert.model.linkage import GRAVITY
from dalembert.model.mechanism import Mechanism, without_warnings
from dalembert.model.numbers import Number, checked, several
from dalembert.model.origins import Origin
from dalembert.model.parts import Body, Frame, Joint, Mimic
from dalembert.model.validation import MAX_LINKS
from dalembert.spatial.angles import PiMultiple

MOVING = tuple(name for name in JOINT_TYPES if name != "fixed")
EVERY = (
    *MOVING,
    "fixed",
    "follower",
    "custom",
)  # types that `random_tree` draws from when asked for "every"
PerLink = Number | Sequence[Number]


def planar_chain(
    n: int,
    mass: PerLink = 1,
    length: PerLink = 1,
    com: PerLink | None = None,
    inertia: PerLink | None = None,
    gravity: Sequence[Number] = GRAVITY,
    name: str = "planar chain",
) -> Mechanism:
    """Chain of n links in the vertical x-z plane, joints about -y: q = 0 lies along x, positive
    angles rise.

    Joints are q1..qn, links link1..linkn, the end a frame "tip".

    Parameters
    ----------
    n : int
        Number of links, at least 1; relative joint angles.
    mass, length : number or sequence
        Of each link [kg], [m]: one number for all, or one per link.
    com, inertia : number or sequence, optional
        Distance of the centre of mass from the joint [m] and moment of inertia about it [kg m^2];
        by default those of a uniform thin rod, length/2 and mass length^2 / 12.

    Raises
    ------
    TypeError, ValueError
        n is no whole number from 1; an entry is no number, or there is not one for each link.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2, mass=[1.0, 0.5])
    >>> da.gravity_vector(arm, [0.0, 0.0]).round(4)
    array([12.2625,  2.4525])
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MAX_LINKS:
        raise ValueError(
            f"n is {shown(n)}; expected a whole number of links, at least 1, at most {MAX_LINKS}."
        )
    masses = _per_link(mass, n, "mass")
    lengths = _per_link(length, n, "length")
    coms = [l / 2 for l in lengths] if com is None else _per_link(com, n, "com")
    inertias = (
        [m * l * l / 12 for m, l in zip(masses, lengths)]
        if inertia is None
        else _per_link(inertia, n, "inertia")
    )
    bodies = [Body("base")]
    joints = []
    for k, (m, c, moment) in enumerate(zip(masses, coms, inertias), 1):
        bodies.append(Body(f"link{k}", m, (c, 0, 0), (0, 0, moment, 0, 0, moment)))
        origin = Origin((lengths[k - 2], 0, 0)) if k > 1 else Origin()
        joints.append(
            Joint(f"q{k}", Revolute((0, -1, 0)), bodies[k - 1].name, bodies[k].name, origin)
        )
    tip = Frame("tip", f"link{n}", Origin((lengths[-1], 0, 0)))
    return Mechanism(
        name, tuple(bodies), tuple(joints), (tip,), several(gravity, "gravity", "3 numbers")
    )


def _per_link(given: Any, n: int, name: str) -> list[Number]:
    """Checked numbers of the links; a single number stands for all."""
    is_list = isinstance(given, (list, tuple)) or isinstance(given, np.ndarray) and given.ndim
    values = list(given) if is_list else [given] * n
    if len(values) != n:
        raise ValueError(
            f"{name} has {len(values)} entries, expected one number for all links, or {n}, one per "
            "link."
        )
    return [checked(x, f"{name} of link{k}") for k, x in enumerate(values, 1)]


def random_tree(seed: int, n: int = 8, joints: str | Sequence[str] = "every") -> Mechanism:
    """Random branched tree with physically possible inertias: the fixture of this package's own
    tests.

    Axes are oblique, aligned and of length other than 1; origins turned, some by quarter turns;
    branches, fixed links, springs, friction, rotors and named frames occur.

    Parameters
    ----------
    seed : int
        The same seed gives the same tree.
    n : int
        Number of joints.
    joints : sequence of joint types, or 'every'
        What to draw from: names of JOINT_TYPES, 'follower' (mimic) and 'custom'. With 'every' the
        first joints are one of each kind, in random order.

    Raises
    ------
    UnknownNameError
        A joint type is unknown.

    Examples
    --------
    >>> import dalembert as da
    >>> tree = da.random_tree(7, 4)
    >>> tree.nq, [joint.type.name for joint in tree.joints]
    (7, ['cylindrical', 'planar', 'revolute', 'revolute'])
    """
    check_whole("seed", seed, 0)
    check_whole("n", n, 0)
    if n > MAX_LINKS:
        raise ValueError(f"n={shown(n)}: expected at most {MAX_LINKS} joints.")
    is_every = isinstance(joints, str) and joints == "every"
    listed = [joints] if isinstance(joints, str) else joints
    kinds = EVERY if is_every else several(listed, "joints", "names of joint types")
    if not kinds:
        raise ValueError("joints is empty; expected names of joint types.")
    for kind in kinds:
        check_choice("joint type", kind, EVERY)
    rng = np.random.default_rng(seed)
    drawn = [str(k) for k in rng.permutation(kinds)] if is_every else []
    drawn = (drawn + [str(k) for k in rng.choice(kinds, max(0, n - len(drawn)))])[:n]

    bodies = [Body("base")]
    made = []
    leaders: list[str] = []  # joints of one coordinate, which others may follow
    for k, kind in enumerate(drawn, 1):
        if kind == "follower" and not leaders:
            kind = "revolute"
        mimic = (
            Mimic(str(rng.choice(leaders)), _short(rng, 2), _short(rng, 1))
            if kind == "follower"
            else None
        )
        joint_type = _joint_type(rng, str(rng.choice(["revolute", "prismatic"])) if mimic else kind)
        parent = bodies[int(rng.integers(max(0, k - 4), k))].name
        bodies.append(_body(rng, f"body{k}"))
        made.append(
            Joint(
                f"joint{k}",
                joint_type,
                parent,
                f"body{k}",
                _origin(rng),
                mimic=mimic,
                **_passive(rng, joint_type),
            )
        )
        if (joint_type.nq, joint_type.nv) == (1, 1):
            leaders.append(f"joint{k}")
    frames = tuple(Frame(f"frame{k}", b.name, _origin(rng)) for k, b in enumerate(bodies[1:4], 1))
    gravity = (_short(rng, 3), _short(rng, 3), -9.81)
    with without_warnings():
        tree = Mechanism(f"random tree {seed}", tuple(bodies), tuple(made), frames, gravity)
    return replace(tree, warned=frozenset(map(str, tree.check())))  # the tree is odd on purpose


def _short(rng: np.random.Generator, scale: float) -> float:
    """A number of few digits, so that trees read well when printed."""
    return round(float(rng.uniform(-scale, scale)), 3) or 0.5


def _axis(rng: np.random.Generator) -> tuple[Number, ...]:
    choice = rng.integers(4)
    if choice < 2:
        aligned = [0, 0, 0]
        aligned[rng.integers(3)] = int(rng.choice([-1, 1]))
        return tuple(aligned)
    return (3, 0, 4) if choice == 2 else tuple(_short(rng, 1) for _ in range(3))


def _origin(rng: np.random.Generator) -> Origin:
    angles = [
        PiMultiple(f"{rng.integers(-6, 7)}/6") if rng.random() < 0.4 else _short(rng, 3)
        for _ in range(3)
    ]
    return Origin.rpy(tuple(_short(rng, 0.6) for _ in range(3)), *angles)


def _body(rng: np.random.Generator, name: str) -> Body:
    """A cloud of eight points, so that the inertia is that of positive mass; tilted, off centre."""
    points = rng.uniform(-0.3, 0.3, (8, 3))
    masses = rng.uniform(0.1, 0.6, 8)
    com = masses @ points / masses.sum()
    r = points - com
    second = (r * masses[:, None]).T @ r
    tensor = np.trace(second) * np.eye(3) - second
    return Body(
        name,
        float(masses.sum()),
        tuple(map(float, com)),
        tuple(float(tensor[i]) for i in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))),
    )


def _joint_type(rng: np.random.Generator, kind: str) -> JointType:
    if kind == "custom":
        return Custom(knee, ("angle", "slide"))
    cls = JOINT_TYPES[kind]
    while True:
        drawn = {
            name: _axis(rng) if isinstance(getattr(cls, name), tuple) else _short(rng, 0.3)
            for name in cls.parameters
        }
        if kind != "universal" or _sine(*drawn.values()) > 0.3:
            return cls(**drawn)


def _sine(a, b) -> float:
    """Sine of the angle between two axes."""
    a, b = np.array(a, float), np.array(b, float)
    return float(np.linalg.norm(np.cross(a, b)) / np.linalg.norm(a) / np.linalg.norm(b))


def knee(q):
    """A joint that no other type covers: the child turns about x and slides while its origin runs
    on a curve.
    """
    from dalembert.expr import cos, sin

    c = cos(q[0])
    s = sin(q[0])
    rows = ((1, 0, 0), (0, c, -s), (0, s, c))
    return rows, (0.1 * sin(q[0]) + q[1], 0.2 * (1 - c), 0.05 * q[0] * q[1])


def _passive(rng: np.random.Generator, joint_type: JointType) -> dict[str, Any]:
    if rng.random() < 0.5 or not joint_type.nv:
        return {}
    values = {"viscous": 0.3, "coulomb": 0.2}
    if joint_type.nq == joint_type.nv:
        values |= {"rotor_inertia": 1e-3, "gear_ratio": math.e, "stiffness": 2.0, "rest": 0.4}
    return {
        name: [round(float(rng.uniform(0, scale)), 6) for _ in range(joint_type.nv)]
        for name, scale in values.items()
    }
