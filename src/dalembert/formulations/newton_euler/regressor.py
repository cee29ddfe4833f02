"""Regressor: inverse dynamics is linear in the inertial parameters."""

from __future__ import annotations

import numpy as np

from dalembert.errors import DalembertError
from dalembert.formulations.newton_euler.body_rates import (
    Rates,
    base_rates,
    outward_step,
)
from dalembert.formulations.newton_euler.inverse import joint_motion
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import Array, Values
from dalembert.spatial.motion_force import Force
from dalembert.spatial.vectors import ZERO, Matrix, Scalar, Vector

PARAMETERS = ("m", "m cx", "m cy", "m cz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def regressor(mechanism: Mechanism, q: Values, qd: Values, qdd: Values) -> Array:
    """Regressor Y of the inertial parameters theta of the moving bodies.

        tau = Y(q, qd, qdd) theta

    holds for the bodies alone: rotors, springs, friction and external forces are not part of it.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    qdd : (nv,) or (N, nv) array
        Accelerations [rad/s^2, m/s^2].

    Returns
    -------
    Y : (nv, 10 n) or (N, nv, 10 n) array
        Ten columns per moving body, in the order of `regressor_parameters`.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    DalembertError
        The mechanism has elastic links.

    References
    ----------
    Atkeson, An, Hollerbach (1986); the wrench of a body as in `inverse_dynamics`.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.regressor(arm, [0.3, -0.2], [1.0, 0.5], [0.1, 0.2]).shape
    (2, 20)
    """
    tree, (q, qd, qdd), pack = mechanism.at(q=q, qd=qd, qdd=qdd)
    _check_rigid(tree)
    Y: list[list[Scalar]] = [[0.0] * (10 * tree.n) for _ in range(tree.nv)]
    rates = {0: base_rates(tree.gravity)}
    X = {}
    S = {}

    for i in tree.outward():
        X[i] = tree.joint[i].placement(q)
        S[i], velocity, rate = joint_motion(tree, i, q, qd, qdd)
        rates[i] = outward_step(rates[tree.parent[i]], X[i], velocity, rate)

    for i in tree.outward():
        columns = unit_wrenches(rates[i])
        k = i
        while k:  # from the body to the base
            for row, s in zip(tree.joint[k].dof, S[k], strict=True):
                for c, f in enumerate(columns):
                    Y[row][10 * (i - 1) + c] = Y[row][10 * (i - 1) + c] + f.dot(s)
            columns, k = [X[k].force_to_parent(f) for f in columns], tree.parent[k]
    return pack(Y, shape=(tree.nv, 10 * tree.n))


def _check_rigid(tree: Tree) -> None:
    if tree.elastic:
        names = ", ".join(beam.body for beam in tree.elastic)
        raise DalembertError(
            f"{tree.name!r} has elastic links ({names}): there is no regressor, the mass of a beam "
            "is no row of ten free parameters. Their rigid links have: "
            "mechanism.without('elasticity')."
        )


def unit_wrenches(rates: Rates) -> list[Force]:
    """Wrenches of a body with one parameter 1 and the others 0: f = m a + U h, n = h x a + I dw + w
    x I w.
    """
    columns = [Force(ZERO, rates.a)]
    for k, row in enumerate(rates.U.T):
        h = Vector(1 if j == k else 0 for j in range(3))
        columns.append(Force(h.cross(rates.a), row))
    for a, b in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)):
        entries = [[1 if (i, j) in ((a, b), (b, a)) else 0 for j in range(3)] for i in range(3)]
        unit = Matrix(entries)
        columns.append(Force(unit @ rates.dw + rates.w.cross(unit @ rates.w), ZERO))
    return columns


def regressor_parameters(mechanism: Mechanism) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and values of the inertial parameters that `regressor` multiplies.

    Per moving body m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its joint frame's origin
    in its axes, with links on fixed joints lumped in. Returns (names, (10 n,) array [kg, kg m, kg
    m^2]).

    Examples
    --------
    >>> import dalembert as da
    >>> names, theta = da.regressor_parameters(da.planar_chain(1))
    >>> names[:2], theta[:2]
    (('link1: m', 'link1: m cx'), array([1. , 0.5]))
    """
    tree = mechanism.tree()
    _check_rigid(tree)
    names, values = [], []
    for i in tree.outward():
        m, h, _ = tree.inertia[i]
        I = tree.inertia[i].tensor()
        names += [f"{tree.joint[i].body}: {p}" for p in PARAMETERS]
        values += [m, *h, I[0][0], I[0][1], I[1][1], I[0][2], I[1][2], I[2][2]]
    return tuple(names), np.array([as_float(x) for x in values])
