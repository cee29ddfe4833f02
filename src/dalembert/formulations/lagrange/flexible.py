"""Robots with flexible joints: link coordinates q, motor coordinates theta, springs between them;
two models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import check_choice
from dalembert.errors import DalembertError, ShapeError, UnknownNameError
from dalembert.expr import Expr, known_zero
from dalembert.formulations.lagrange.christoffel import (
    connection,
    contracted,
    inertia_derivatives,
    structure,
)
from dalembert.formulations.lagrange.energies import inertia, potential_energy
from dalembert.formulations.lagrange.euler_lagrange import weight
from dalembert.formulations.lagrange.geometry import Geometry, T, cross
from dalembert.formulations.lagrange.linear_systems import (
    entry_names,
    entry_sizes,
    factorised,
    solved,
)
from dalembert.kinematics.forces import passive
from dalembert.model.constraint import check_unconstrained
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.spatial.arrays import Array, finite
from dalembert.spatial.vectors import Vector

MODELS = ("reduced", "full")


def flexible_joints(
    mechanism: Mechanism,
    stiffness: Any,
    damping: Any = 0.0,
    model: str = "reduced",
    joints: Sequence[str] | None = None,
) -> FlexibleJoints:
    """Equations of motion of a mechanism whose actuators drive joints through springs.

        M(q) qdd + S(q) thetadd + c_1 + g(q) + K (q - theta) + D (qd - thetad) = passive forces
        S(q)^T qdd +   B thetadd + c_2       + K (theta - q) + D (thetad - qd) = tau

    theta are the motors' angles divided by their gear ratios r, B = r^2 I_m their inertias seen at
    the joints. The rotor of joint k turns about the joint's axis a_k on the body that carries the
    joint, so it has the kinetic energy 1/2 I_m (r thetad + a_k . omega)^2. In the **full** model
    S_jk = I_m r a_k . J_omega,j comes from the mixed term, and c_1, c_2 are its Christoffel
    symbols. In the **reduced** model (Spong) S = 0, c_2 = 0: right for large gear ratios, as S / B
    ~ 1 / r. What the standing rotor weighs, and its I_m (a . omega)^2, belong to the inertia of the
    body that carries it.

    Parameters
    ----------
    mechanism : Mechanism
        rotor_inertia and gear_ratio of the flexible joints are the motors'. Springs and friction of
        joints act on the links; other joints are driven directly.
    stiffness, damping : number, one per flexible joint, or dict by joint
        K [N m/rad, N/m] and D [N m s/rad, N s/m], seen at the joints.
    model : {'reduced', 'full'}
    joints : sequence of str, optional
        Flexible joints, of one freedom each; by default all that have a rotor inertia.

    Returns
    -------
    FlexibleJoints

    Raises
    ------
    UnknownNameError, DalembertError
        A joint or model is unknown; a flexible joint has several freedoms, or no rotor inertia or
        stiffness.

    References
    ----------
    Spong, Modeling and control of elastic joint robots (1987): reduced. De Luca and Book, Robots
    with flexible elements, Springer Handbook of Robotics (2016), section 11.1: full.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
    >>> soft = da.lagrange.flexible_joints(arm, stiffness=500.0)
    >>> soft.coordinate_names
    ('q1', 'q1.motor')
    """
    check_unconstrained(mechanism, "flexible_joints")
    check_choice("model of flexible joints", model, MODELS)
    chosen = [
        j.name
        for j in mechanism.independent_joints
        if j.type.nv == 1 and not known_zero(j.rotor_inertia[0])
    ]
    chosen = chosen if joints is None else list(joints)
    _check_actuators(mechanism, chosen)
    motors = tuple(
        _motor(
            mechanism,
            name,
            _of(stiffness, k, name, chosen, "stiffness"),
            _of(damping, k, name, chosen, "damping"),
        )
        for k, name in enumerate(chosen)
    )
    if not motors:
        raise DalembertError(
            f"mechanism {mechanism.name!r} has no joint with a rotor inertia: name the flexible "
            "ones in joints=, and give them rotor_inertia and gear_ratio."
        )
    without = mechanism.replace({f"{name}.rotor_inertia": 0 for name in chosen})
    return FlexibleJoints(without, motors, model)


def _check_actuators(mechanism: Mechanism, joints: Sequence[str]) -> None:
    """Raise if an actuator has the rotor of a flexible joint."""
    for actuator in mechanism.actuators:
        if actuator.joint in joints and not known_zero(actuator.rotor_inertia):
            raise DalembertError(
                f"actuator {actuator.name!r} has the rotor of the flexible joint {actuator.joint!r}; "
                "mechanism.with_flexible_joints(...) knows actuators."
            )


@dataclass(frozen=True)
class Motor:
    """A motor behind a spring: inertia r^2 I_m, and spin I_m r, at entry `at_q` of q and `at_v` of
    qd.
    """

    joint: str
    at_q: int
    at_v: int
    inertia: Any
    spin: Any
    stiffness: Any
    damping: Any


@dataclass(frozen=True)
class FlexibleJoints:
    """A mechanism on flexible joints; see `flexible_joints`.

    Coordinates are stacked, links before motors: q = (q, theta) with nq entries, qd with nv;
    actuator forces tau have one entry per link velocity, and act on the motor where the joint is
    flexible. Vectors are single or batches (N, ...), floats or expressions. The mechanism is that
    without the motors' rotors.

    Raises
    ------
    ShapeError, TypeError, ValueError
        A vector has the wrong length, or batches differ; it holds no numbers, or one that is not
        finite.
    OverflowedError
        A result is not finite.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
    >>> da.lagrange.flexible_joints(arm, stiffness=500.0).mass_matrix([0.0, 0.0]).round(3)
    array([[0.333, 0.   ],
           [0.   , 1.   ]])
    """

    mechanism: Mechanism
    motors: tuple[Motor, ...]
    model: str = "reduced"

    @property
    def nq(self) -> int:
        """Number of coordinates: links' and motors'."""
        return self.mechanism.nq + len(self.motors)

    @property
    def nv(self) -> int:
        """Number of velocities: links' and motors'."""
        return self.mechanism.nv + len(self.motors)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the entries of q."""
        return (*self.mechanism.coordinate_names, *(f"{m.joint}.motor" for m in self.motors))

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the entries of qd."""
        return (*self.mechanism.velocity_names, *(f"{m.joint}.motor" for m in self.motors))

    @finite
    def mass_matrix(self, q: Any) -> Array:
        """[[M, S], [S^T, B]]: (nv, nv) or (N, nv, nv) [kg m^2, kg m, kg].

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
        >>> da.lagrange.flexible_joints(arm, stiffness=500.0).mass_matrix([0.0, 0.0]).round(3)
        array([[0.333, 0.   ],
               [0.   , 1.   ]])
        """
        return self._inertia(self._opened(q=q)[0])

    @finite
    def coriolis_matrix(self, q: Any, qd: Any) -> Array:
        """Coriolis matrix of the whole, by Christoffel symbols: (nv, nv) or (N, nv, nv) [kg m^2/s,
        kg m/s, kg/s].

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
        >>> flexible = da.lagrange.flexible_joints(arm, stiffness=500.0)
        >>> flexible.coriolis_matrix([0.0, 0.0], [1.0, 1.0]).shape
        (2, 2)
        """
        geometry, _, qd = self._opened(q=q, qd=qd)
        return self._coriolis(geometry, qd)

    def gravity_vector(self, q: Any) -> Array:
        """(g(q), 0): (nv,) or (N, nv) [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
        >>> da.lagrange.flexible_joints(arm, stiffness=500.0).gravity_vector([0.0, 0.0]).round(3)
        array([4.905, 0.   ])
        """
        geometry, *_ = self._opened(q=q)
        return self._over_motors(weight(geometry))

    def spring_force(self, q: Any, qd: Any) -> Array:
        """Forces of springs and dampers on the links' joints, K (theta - q) + D (thetad - qd):
        (motors,) or (N, motors) [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
        >>> flexible = da.lagrange.flexible_joints(arm, stiffness=500.0)
        >>> flexible.spring_force([0.0, 0.01], [0.0, 0.0]).round(3)
        array([5.])
        """
        _, q, qd = self._opened(q=q, qd=qd)
        return self._transmitted(q, qd)

    @finite
    def kinetic_energy(self, q: Any, qd: Any) -> float | Array:
        """1/2 qd^T [[M, S], [S^T, B]] qd: number or (N,) [J].

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
        >>> flexible = da.lagrange.flexible_joints(arm, stiffness=500.0)
        >>> round(float(flexible.kinetic_energy([0.0, 0.0], [0.0, 2.0])), 3)
        2.0
        """
        geometry, _, qd = self._opened(q=q, qd=qd)
        x = qd[..., None]
        return (T(x) @ self._inertia(geometry) @ x)[..., 0, 0][()] / 2

    @finite
    def potential_energy(self, q: Any) -> float | Array:
        """Gravity and springs, 1/2 K (q - theta)^2 among them: number or (N,) [J].

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
        >>> flexible = da.lagrange.flexible_joints(arm, stiffness=500.0)
        >>> round(float(flexible.potential_energy([0.0, 0.1])), 3)
        2.5
        """
        geometry, q, _ = self._opened(q=q)
        energy = potential_energy(self.mechanism, q[..., : self.mechanism.nq])
        for k, m in enumerate(self.motors):
            energy = energy + (q[..., m.at_q] - q[..., self.mechanism.nq + k]) ** 2 * (
                m.stiffness / 2
            )
        return np.asarray(energy)[()]

    @finite
    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Array:
        """Forces that a motion needs: (nv,) or (N, nv) [N m, N].

        The motors' entries, and those of joints driven directly, are the actuators'; those at the
        links of flexible joints are 0 for a motion that motors can give.

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
        >>> flexible = da.lagrange.flexible_joints(arm, stiffness=500.0)
        >>> flexible.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 2.0]).round(3)
        array([4.905, 2.   ])
        """
        geometry, q, qd, qdd = self._opened(q=q, qd=qd, qdd=qdd)
        return (self._inertia(geometry) @ qdd[..., None])[..., 0] - self._driving(geometry, q, qd)

    @finite
    def forward_dynamics(self, q: Any, qd: Any, tau: Any) -> Array:
        """Accelerations of links and motors: (nv,) or (N, nv) [rad/s^2, m/s^2], for actuator forces
        tau [N m, N], an entry per link velocity.

        Raises
        ------
        SingularMassMatrixError
            The inertia about a joint or motor is not positive.

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
        >>> flexible = da.lagrange.flexible_joints(arm, stiffness=500.0)
        >>> flexible.forward_dynamics([0.0, 0.0], [0.0, 0.0], [2.0]).round(3)
        array([-14.715,   2.   ])
        """
        geometry, q, qd, tau = self._opened(q=q, qd=qd, tau=tau)
        b = self._actuation(tau) + self._driving(geometry, q, qd)
        joints, bodies = entry_names(geometry.tree)
        motors = tuple(m.joint for m in self.motors)
        M = self._inertia(geometry)
        n = len(joints)

        def sizes() -> np.ndarray:
            """Sizes against which pivots are judged."""
            size = np.abs(np.einsum("...kk->...k", M))
            size[..., :n] = np.maximum(size[..., :n], entry_sizes(geometry))
            return size

        return solved(factorised(M, joints + motors, bodies + motors, sizes), b[..., None])[..., 0]

    def at_rest(self, q: Any) -> Array:
        """(q, theta) at which the springs hold the links at q (mechanism.nq,) against gravity and
        springs of joints: (nq,) or (N, nq) [rad, m].

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
        >>> da.lagrange.flexible_joints(arm, stiffness=500.0).at_rest([0.0]).round(5)
        array([0.     , 0.00981])
        """
        tree, (scalars,), pack = self.mechanism.at(q=q)
        geometry = Geometry(self.mechanism, tree, scalars, pack)
        load = weight(geometry) - pack(passive(tree, scalars, [0.0] * tree.nv))
        q = pack(scalars)
        theta = [q[..., m.at_q] + load[..., m.at_v] / m.stiffness for m in self.motors]
        return np.concatenate([q, np.stack(theta, axis=-1)], axis=-1)

    # --- parts ---

    def _opened(self, q: Any, **others: Any) -> tuple[Any, ...]:
        """Geometry of the links, and the vectors as arrays: q, and those given (None for qd if it
        is not).
        """
        full = {"q": self.nq, "qd": self.nv, "qdd": self.nv}
        vectors = {"q": q, **others}
        arrays, links = {}, {}
        for name, value in vectors.items():
            arrays[name] = a = np.asarray(value)
            expected = full.get(name, self.mechanism.nv)
            if a.ndim not in (1, 2) or a.shape[-1] != expected:
                names = self.coordinate_names if name == "q" else self.velocity_names[:expected]
                raise ShapeError(
                    f"{name} has shape {a.shape}, expected ({expected},) or (N, {expected}): "
                    f"{', '.join(names[:3])}, ..., {names[-1]}.",
                    name,
                    a.shape,
                    (expected,),
                )
            links[name] = a[..., : self.mechanism.nq if name == "q" else self.mechanism.nv]
        motors = {
            f"motor_{name}": a[..., -len(self.motors) :]
            for name, a in arrays.items()
            if name in full
        }
        tree, columns, pack = self.mechanism.at(**links)
        more = [list(np.moveaxis(np.asarray(a), -1, 0)) for a in motors.values()]
        geometry = Geometry(self.mechanism, tree, columns[0], pack)
        parts = [pack([*c, *(more[k] if k < len(more) else [])]) for k, c in enumerate(columns)]
        return geometry, *parts, *([None] if len(parts) == 1 else [])

    def _inertia(self, geometry: Geometry) -> np.ndarray:
        return self._joined(
            inertia(geometry), self._coupling(geometry), np.diag(self._numbers("inertia"))
        )

    def _coupling(self, geometry: Geometry) -> np.ndarray:
        """S (links' nv, motors), in the reduced model zero."""
        if self.model == "reduced":
            return np.zeros((self.mechanism.nv, len(self.motors)))
        axes = self._axes(geometry)
        return np.stack(
            [
                m.spin * (geometry.J[i][..., :3] @ a[..., None])[..., 0]
                for m, (i, a) in zip(self.motors, axes, strict=True)
            ],
            axis=-1,
        )

    def _coupling_derivatives(self, geometry: Geometry) -> np.ndarray:
        """X_i S (links' nv, links' nv, motors): X_i (a . w_j) = (t_i x a) . w_j + a . X_i w_j."""
        if self.model == "reduced":
            return np.zeros((self.mechanism.nv, self.mechanism.nv, len(self.motors)))
        dJ = geometry.derivatives()
        columns = []
        for m, (i, a) in zip(self.motors, self._axes(geometry), strict=True):
            w = geometry.J[i][..., :3]
            turning = cross(geometry.turning[i][..., :3], a[..., None, :]) @ T(w)
            columns.append(m.spin * (turning + (dJ[i][..., :3] @ a[..., None, :, None])[..., 0]))
        return np.stack(columns, axis=-1)

    def _axes(self, geometry: Geometry) -> list[tuple[int, np.ndarray]]:
        """The body that carries each motor, and the motor's axis in the frame of the geometry."""
        tree, found = geometry.tree, []
        for m in self.motors:
            i = next(i for i in tree.outward() if tree.joint[i].name == m.joint)
            joint = tree.joint[i]
            carrier = tree.parent[i]
            axis = geometry.pose[carrier].R.to_parent(
                joint.origin.R.to_parent(Vector(joint.type.axis))
            )
            found.append((carrier, geometry.pack(axis)))
        return found

    def _coriolis(self, geometry: Geometry, qd: np.ndarray) -> np.ndarray:
        n = self.mechanism.nv
        m = len(self.motors)
        dM = self._joined(
            inertia_derivatives(geometry), self._coupling_derivatives(geometry), np.zeros((m, m))
        )
        dM = np.concatenate(
            [dM, np.zeros((*dM.shape[:-3], m, n + m, n + m))], axis=-3
        )  # theta does not enter
        gamma = np.pad(structure(geometry.tree), (0, m))
        c = connection(dM, self._inertia(geometry) if gamma.any() else None, gamma)
        return contracted(c, qd)

    def _driving(self, geometry: Geometry, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """All forces but the actuators' and those of accelerations."""
        links = geometry.pack(
            passive(geometry.tree, geometry.q, list(np.moveaxis(qd, -1, 0))[: self.mechanism.nv])
        )
        spring = self._transmitted(q, qd)
        force = (
            self._over_motors(links - weight(geometry))
            - (self._coriolis(geometry, qd) @ qd[..., None])[..., 0]
        )
        return force + spring @ self._pull()

    def _transmitted(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        n, nv = self.mechanism.nq, self.mechanism.nv
        stretch, rate = (
            (x[..., start:] - x[..., at])
            for x, start, at in (
                (q, n, [m.at_q for m in self.motors]),
                (qd, nv, [m.at_v for m in self.motors]),
            )
        )
        return stretch * self._numbers("stiffness") + rate * self._numbers("damping")

    def _pull(self) -> np.ndarray:
        """Matrix (motors, nv) of the springs' forces on links (+) and motors (-)."""
        P = np.zeros((len(self.motors), self.nv))
        for k, m in enumerate(self.motors):
            P[k, m.at_v], P[k, self.mechanism.nv + k] = 1.0, -1.0
        return P

    def _actuation(self, tau: np.ndarray) -> np.ndarray:
        """Actuator forces in their places."""
        P = np.eye(self.mechanism.nv, self.nv)
        for k, m in enumerate(self.motors):
            P[m.at_v, m.at_v], P[m.at_v, self.mechanism.nv + k] = 0.0, 1.0
        return tau @ P

    def _numbers(self, name: str) -> np.ndarray:
        values = [getattr(m, name) for m in self.motors]
        return np.array(values, dtype=object if any(isinstance(x, Expr) for x in values) else float)

    def _over_motors(self, force: np.ndarray) -> np.ndarray:
        return np.concatenate([force, np.zeros((*force.shape[:-1], len(self.motors)))], axis=-1)

    @staticmethod
    def _joined(M: np.ndarray, S: np.ndarray, B: np.ndarray) -> np.ndarray:
        """[[M, S], [S^T, B]] with the batch in front."""
        batch = M.shape[:-2]
        S = np.broadcast_to(S, (*batch, *S.shape[-2:]))
        B = np.broadcast_to(B, (*batch, *B.shape[-2:]))
        return np.concatenate(
            [np.concatenate([M, S], axis=-1), np.concatenate([T(S), B], axis=-1)], axis=-2
        )


def _motor(mechanism: Mechanism, name: str, stiffness: Any, damping: Any) -> Motor:
    joint = mechanism.joint(name)
    if (
        joint.mimic is not None
        or (joint.type.nq, joint.type.nv) != (1, 1)
        or not hasattr(joint.type, "axis")
    ):
        raise DalembertError(
            f"joint {name!r} is {joint.type.name}: a flexible joint has one freedom and an axis "
            "(revolute, continuous, prismatic, helical), and follows no other."
        )
    entry = mechanism.entries[name]
    rotor = as_float(joint.rotor_inertia[0])
    gear = as_float(joint.gear_ratio[0])
    for what, x in (("rotor inertia", gear * gear * rotor), ("stiffness", stiffness)):
        if not isinstance(x, Expr) and not x > 0:
            raise DalembertError(
                f"joint {name!r}: the {what} of a flexible joint is {x}, expected a positive "
                "number."
            )
    return Motor(
        name,
        entry.at_q.start,
        entry.at_v.start,
        gear * gear * rotor,
        gear * rotor,
        stiffness,
        damping,
    )


def _of(values: Any, k: int, name: str, names: Sequence[str], what: str) -> Any:
    """The number of one joint, from a number, a sequence or a dict."""
    if isinstance(values, Mapping):
        if unknown := set(values) - set(names):
            raise UnknownNameError(f"flexible joint in {what}", sorted(unknown)[0], tuple(names))
        if name not in values:
            raise DalembertError(f"{what} has no value for the flexible joint {name!r}.")
        return as_float(values[name])
    if np.ndim(values) and len(values) != len(names):
        raise ShapeError(
            f"{what} has {len(values)} entries, expected {len(names)}: {', '.join(names)}.",
            what,
            np.shape(values),
            (len(names),),
        )
    return as_float(values[k] if np.ndim(values) else values)
