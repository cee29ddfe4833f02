"""Derivatives of polynomials along the velocities of a mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from dalembert.closed_forms.algebra.polynomials import Polynomials
from dalembert.closed_forms.algebra.ring import Angle, Key, LieDerivative, Phase, Poly
from dalembert.model.tree import Tree
from dalembert.spatial.rotations import from_quaternion
from dalembert.spatial.vectors import AXES

Rates = list[tuple[Key, Any]]  # variables of a ring and their rates


def along_velocities(tree: Tree, algebra: Polynomials) -> list[LieDerivative]:
    """Per entry of qd the derivative along it, for the variables that the ring has now."""
    rates: list[Rates] = [[] for _ in range(tree.nv)]
    for i in tree.outward():
        joint = tree.joint[i]
        if joint.is_follower or joint.is_section and i not in tree.sections:
            continue
        if joint.type.quaternion_freedoms:
            of_joint = _quaternion_rates(joint, algebra)
        else:
            of_joint = [
                _coordinate_rates(k, algebra) for k in range(joint.at_q.start, joint.at_q.stop)
            ]
        for dof, pairs in zip(joint.dof, of_joint, strict=True):
            rates[dof] = pairs
    return [LieDerivative(algebra.ring, pairs) for pairs in rates]


def _coordinate_rates(k: int, algebra: Polynomials) -> Rates:
    """Rates of coordinate k and of the cosines and sines that it stands in, for its unit rate."""
    pairs: Rates = []
    for key in list(algebra.ring.shift):
        kind = key[0]
        name = cast(Any, key[1])
        if key == ("x", ("q", k)):
            pairs.append((key, 1))
        elif kind in ("cos", "sin") and not isinstance(name, str):
            if rate := _rate_of_angle(name, k, algebra):
                c, s = algebra.ring.cos_sin(name)
                pairs.append((key, s * -rate if kind == "cos" else c * rate))
    return pairs


def _rate_of_angle(angle: Angle, k: int, algebra: Polynomials) -> Any:
    """Derivative of an angle by coordinate k."""
    rate: Any = 0
    for part, factor in angle:
        if isinstance(part, Phase):
            rate = rate + algebra.derivative(part.value, k) * factor
        elif part == k:
            rate = rate + factor
    return rate


def _quaternion_rates(joint: Any, algebra: Polynomials) -> list[Rates]:
    """Rates of w, x, y, z and, for a free joint, of the origin, along each velocity in the child's
    axes.
    """
    k, kind = joint.at_q.start, joint.type
    q = algebra.quaternion(k)
    names: list[Key] = [("x", ("q", k + j)) for j in range(kind.nq)]
    found = []
    for j in range(kind.nv):
        if j < 3:  # twice the rate of a unit angular velocity: whole numbers
            twice = kind.rate([*q, 0, 0, 0], [2 * (i == j) for i in range(kind.nv)])
            rates = [x * Fraction(1, 2) for x in twice]
        else:
            rates = [0] * 4 + list(from_quaternion(*q).to_parent(AXES[j - 3]))
        pairs = zip(names, rates, strict=False)
        found.append([(n, x) for n, x in pairs if isinstance(x, Poly) and n in algebra.ring.shift])
    return found
