"""Closed loops that are measured: trees of hinges and slides with points held together, as all
engines take them, and how far an end is from the stored solution.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from math import pi
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dalembert as da

DATA = Path(__file__).parents[1] / "tests" / "data" / "reference"
LOOPS = json.loads((DATA / "closed_loops.json").read_text())
CHAINS = json.loads((DATA / "pendulums.json").read_text())
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
THIN = 1e-6  # kg m^2 about the axis of a rod, which does not count in the plane
GROUND = -1

Point = tuple[float, float, float]


class Link(NamedTuple):
    """A body on a hinge or slide along an axis at a position on its parent."""

    parent: int  # GROUND, or the number of a link
    axis: Point
    position: Point
    mass: float
    com: Point
    inertia: Point  # principal moments about the centre of mass
    slides: bool = False


class Spring(NamedTuple):
    """A spring from a point of a link to a point of the ground."""

    link: int
    point: Point
    anchor: Point
    stiffness: float
    length: float


class Case(NamedTuple):
    """Mechanism, start, duration, and the largest error of an end."""

    name: str
    links: Sequence[Link]
    closures: Sequence[tuple[int, Point, int, Point]]
    gravity: Point
    q: np.ndarray
    qd: np.ndarray
    duration: float
    error: Callable[[np.ndarray], float]
    springs: Sequence[Spring] = ()
    torques: Mapping[int, float] = {}
    planar: bool = True


def row(stored: Mapping[str, Any], t: float) -> np.ndarray:
    """The stored solution at a time."""
    found = min(stored["rows"], key=lambda r: abs(float(r[0]) - t))
    assert abs(float(found[0]) - t) < 1e-9
    return np.array([float(x) for x in found[1:]])


def turned(a: np.ndarray) -> np.ndarray:
    """Angles between -pi and pi."""
    return (np.asarray(a) + pi) % (2 * pi) - pi


def rod(parent: int, position: Point, mass: float, length: float) -> Link:
    """A uniform rod along x on a hinge about z."""
    moment = mass * length * length / 12
    return Link(parent, Z, position, mass, (length / 2, 0.0, 0.0), (THIN, moment, moment))


def four_bar() -> Case:
    """The four-bar of uniform rods, 5 s: four turns of its crank."""
    stored = LOOPS["four_bar"]
    start = {
        k: float(v) for k, v in stored["initial"].items() if k.startswith("theta") and k != "theta1"
    }
    links = [
        rod(GROUND, (0, 0, 0), 0.4, 0.4),
        rod(0, (0.4, 0, 0), 1.0, 1.0),
        rod(GROUND, (1, 0, 0), 0.8, 0.8),
    ]
    q = [pi / 2, start["theta2"] - pi / 2, start["theta3"]]
    qd = [2.0, start["theta2_dot"] - 2.0, start["theta3_dot"]]
    right = row(stored, 5.0)[:3]

    def error(q: np.ndarray) -> float:
        angles = np.array([q[0], q[0] + q[1], q[2]])
        return float(np.abs(turned(angles - right)).max())

    closures = [(1, (1.0, 0, 0), 2, (0.8, 0, 0))]
    return Case(
        "four-bar, 5 s", links, closures, (0, -9.81, 0), np.array(q), np.array(qd), 5.0, error
    )


def squeezer() -> Case:
    """Andrews' squeezing mechanism, 0.03 s."""
    stored = LOOPS["A03_andrews"]
    p = {k: float(v) for k, v in stored["parameters"].items()}
    start = {k: float(v) for k, v in stored["initial"].items() if k != "note"}

    def plate(parent: int, x: float, y: float, number: int, com: tuple[float, float]) -> Link:
        moment = p[f"i{number}"]
        return Link(parent, Z, (x, y, 0), p[f"m{number}"], (*com, 0.0), (moment, moment, moment))

    links = [
        plate(GROUND, 0.0, 0.0, 1, (p["ra"], 0.0)),
        plate(0, p["rr"], 0.0, 2, (-p["da"], 0.0)),
        plate(GROUND, p["xb"], p["yb"], 3, (p["sb"], -p["sa"])),
        plate(GROUND, p["xa"], p["ya"], 5, (p["ta"], p["tb"])),
        plate(3, p["zt"], 0.0, 4, (0.0, -(p["e"] - p["ea"]))),
        plate(GROUND, p["xa"], p["ya"], 7, (-p["ub"], -p["ua"])),
        plate(5, 0.0, -p["u"], 6, (p["zf"] - p["fa"], 0.0)),
    ]
    end = (-p["d"], 0.0, 0.0)
    closures = [
        (1, end, 2, (0.0, -p["ss"], 0.0)),
        (1, end, 4, (0.0, -p["e"], 0.0)),
        (1, end, 6, (p["zf"], 0.0, 0.0)),
    ]
    spring = Spring(2, (p["sd"], -p["sc"], 0.0), (p["xc"], p["yc"], 0.0), p["c0"], p["l0"])
    order = ("be", "th", "ga", "de", "ph", "ep", "om")
    q = np.array([start[name] for name in order])
    right = row(stored, 0.03)[[0, 1, 2, 4, 3, 6, 5]]
    return Case(
        "Andrews' squeezer, 0.03 s",
        links,
        closures,
        (0, 0, 0),
        q,
        np.zeros(7),
        0.03,
        lambda q: float(np.abs(turned(q - right)).max()),
        [spring],
        {0: p["mom"]},
    )


def slider_crank() -> Case:
    """The spatial slider-crank, 5 s: its crank turns by 54 rad."""
    stored = LOOPS["spatial_slider_crank"]
    first, right = row(stored, 0.0), row(stored, 5.0)[:2]
    links = [
        Link(GROUND, X, (0, 0, 0), 2.0, (0, 0, 0), (1e-3, 1e-3, 1e-3), slides=True),
        Link(0, X, (0, 0, 0), 0.0, (0, 0, 0), (0, 0, 0)),
        Link(1, Z, (0, 0, 0), 0.5, (-0.15, 0, 0), (4e-4, 4e-3, 4e-3)),
        Link(GROUND, X, (0, 0.1, 0.12), 0.12, (0, 0, 0.04), (1e-4, 1e-4, 1e-5)),
    ]
    q = np.array([0.2, first[2], first[3], 0.0])
    qd = np.array([0.24, first[6], first[7], 6.0])

    def error(q: np.ndarray) -> float:
        return float(max(abs(turned(q[3] - right[0])), abs(q[0] - right[1])))

    closures = [(2, (-0.3, 0, 0), 3, (0, 0, 0.08))]
    return Case(
        "spatial slider crank, 5 s", links, closures, (0, 0, -9.81), q, qd, 5.0, error, planar=False
    )


def bricard() -> Case:
    """Bricard's mechanism of six hinges, 9 s: five links, and two points of the last one held."""
    mass, length, width = 1.0, 1.0, 0.1
    thin = mass * width * width / 6
    wide = mass * (length * length + width * width) / 12

    def link(parent: int, axis: Point, position: Point, along: int, com: Point) -> Link:
        moments = tuple(thin if k == along else wide for k in range(3))
        return Link(parent, axis, position, mass, com, moments)

    links = [
        link(GROUND, Y, (0, 0, 0), 0, (0.5, 0, 0)),
        link(0, Z, (1, 0, 0), 1, (0, -0.5, 0)),
        link(1, X, (0, -1, 0), 2, (0, 0, 0.5)),
        link(2, Y, (0, 0, 1), 0, (-0.5, 0, 0)),
        link(3, Z, (-1, 0, 0), 1, (0, 0.5, 0)),
    ]
    closures = [(4, (0, 1, 0), GROUND, (0, 0, 1.0)), (4, (1.0, 1, 0), GROUND, (1.0, 0, 1.0))]
    right = row(LOOPS["A04_bricard"], 9.0)[4:7]

    def error(q: np.ndarray) -> float:
        return float(np.abs(np.array([np.cos(q[0]), 0.0, -np.sin(q[0])]) - right).max())

    rest = np.zeros(5)
    return Case(
        "Bricard, 9 s", links, closures, (0, -9.81, 0), rest, rest, 9.0, error, planar=False
    )


def n_four_bar(n: int, duration: float | None = None, tilt: float = 0.0) -> Case:
    """N four-bars side by side, which pass singular positions; turned as a whole by an angle."""
    stored = CHAINS.get(f"A02_N_four_bar_N{n}")
    links, q, qd, closures = [], [], [], []
    last = None
    for k in range(n + 1):
        at = (k * np.cos(tilt), k * np.sin(tilt), 0.0)
        links.append(rod(GROUND, at, 1.0, 1.0))
        q.append(pi / 2 + tilt)
        qd.append(-1.0)
        crank = len(links) - 1
        if last is not None:
            closures.append((last, (1.0, 0, 0), crank, (1.0, 0, 0)))
        if k < n:
            links.append(rod(crank, (1, 0, 0), 1.0, 1.0))
            q.append(-pi / 2)
            qd.append(1.0)
            last = len(links) - 1
    gravity = (9.81 * np.sin(tilt), -9.81 * np.cos(tilt), 0.0)
    until = duration if stored is None else float(stored["rows"][-1][0])

    def error(q: np.ndarray) -> float:
        if stored is None:
            return float("nan")
        right = row(stored, until)[:2]
        angle = q[0] - tilt
        return float(np.abs([np.cos(angle) - right[0], np.sin(angle) - right[1]]).max())

    name = f"N-four-bar, N = {n}, {until:g} s"
    return Case(name, links, closures, gravity, np.array(q), np.array(qd), float(until), error)


CASES: dict[str, Callable[[], Case]] = {
    "four-bar": four_bar,
    "squeezer": squeezer,
    "slider-crank": slider_crank,
    "bricard": bricard,
}


# --- the case as this package has it ---


def mechanism(case: Case) -> da.Mechanism:
    """Bodies and joints of the case, with its points held together."""
    names = [f"link{k}" for k in range(len(case.links))]

    def name(k: int) -> str:
        return "ground" if k == GROUND else names[k]

    bodies = [da.Body("ground")]
    joints = []
    for k, link in enumerate(case.links):
        xx, yy, zz = link.inertia
        bodies.append(da.Body(names[k], link.mass, link.com, (xx, 0, yy, 0, 0, zz)))
        kind = da.Prismatic if link.slides else da.Revolute
        origin = da.Origin(tuple(link.position))
        joints.append(da.Joint(f"q{k}", kind(link.axis), name(link.parent), names[k], origin))
    tree = da.Mechanism(case.name, tuple(bodies), tuple(joints), gravity=case.gravity)
    loops = [
        da.constraints.Closure(
            f"pin{k}", da.Spherical(), (name(a), tuple(at)), (name(b), tuple(on))
        )
        for k, (a, at, b, on) in enumerate(case.closures)
    ]
    return tree.constrained(*loops)


def forces(case: Case) -> Callable[..., Any] | None:
    """Forces of springs and torques along the joints, where there are any."""
    if not (case.springs or case.torques):
        return None

    def of_state(t: Any, q: Any, qd: Any) -> list[Any]:
        tau: list[Any] = [case.torques.get(k, 0.0) for k in range(len(case.links))]
        for spring in case.springs:  # on links that are hinged to the ground about z
            origin = case.links[spring.link].position
            c, s = da.cos(q[spring.link]), da.sin(q[spring.link])
            x = c * spring.point[0] - s * spring.point[1]
            y = s * spring.point[0] + c * spring.point[1]
            dx, dy = origin[0] + x - spring.anchor[0], origin[1] + y - spring.anchor[1]
            length = da.sqrt(dx * dx + dy * dy)
            pull = -spring.stiffness * (length - spring.length) / length
            tau[spring.link] = tau[spring.link] + pull * (x * dy - y * dx)
        return tau

    of_state.unchanging = True  # traced once, as controllers of the package are
    return of_state
