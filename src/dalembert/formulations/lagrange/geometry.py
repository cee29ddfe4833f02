"""Steps 2 and 3 of the procedure: positions and velocities of the mass centres, Jacobians J_v and
J_omega.

Vectors and matrices are arrays with the batch in front: of floats, or of expressions. The bodies of
the mechanism are taken one by one with their own mass centres, as the source does: nothing is
lumped, and no mass is divided by.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import Expr, import_nodes, known_zero
from dalembert.kinematics.poses import BASE_POSE, world_poses
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.model.parts import Body
from dalembert.model.tree import MassSlice, Tree
from dalembert.spatial.arrays import Array, Values, graph_of, packed
from dalembert.spatial.rotations import Dense
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Matrix, Scalar, Vector


class LinkGeometry(NamedTuple):
    """A body with inertia that moves: mass m, and inertia tensor I about its centre of mass in its
    own axes.

    With the batch in front, in the axes of the geometry's frame: r (3,) is the centre of mass from
    the moving body's origin, R (3, 3) turns the link's axes to the frame's, J_v and J_omega (3, nv)
    give the centre's velocity and the angular velocity.
    """

    name: str
    body: int
    m: Scalar
    I: Array
    r: Array
    R: Array
    J_v: Array
    J_omega: Array


class LinkJacobians(NamedTuple):
    """J_v and J_omega of each link: (L, 3, nv), or (N, L, 3, nv)."""

    J_v: Array
    J_omega: Array


class LinkVelocities(NamedTuple):
    """Velocity of each mass centre [m/s] and angular velocity [rad/s], world axes: (L, 3), or (N,
    L, 3).
    """

    v: Array
    omega: Array


class Geometry:
    """A mechanism at one configuration.

    Frame: the world's, or for each body that of the first body on its way from the base. D, C and G
    come out the same, and in the first bodies' frames they do not even mention where the first
    joints stand (D depends on q_2 ... q_n only).

    pose[i] : of moving body i in the frame; step[i] (3,) : its origin from its parent's.
    J[i] : (nv, 6) twist of body i for a unit of each velocity, at its own origin (levers stay
    short), in the frame's axes. turning[i] : the same of its motion as seen from the frame.
    gravity[i] : (3,) acceleration of gravity in the frame's axes.
    links : the bodies that have inertia.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        tree: Tree,
        q: Sequence[Scalar],
        pack: Any,
        in_world: bool = False,
    ):
        self.tree, self.q, self.pack = tree, q, pack
        self.pose = world_poses(tree, q) if in_world else _poses_on_first_bodies(tree, q)
        self.gravity = {0: pack(tree.gravity)}
        self.columns, self.step = {}, {}
        self.J = {0: np.zeros((tree.nv, 6))}
        self.turning = {0: np.zeros((tree.nv, 6))}
        for i in tree.outward():
            j = tree.parent[i]
            joint = tree.joint[i]
            X = joint.placement(q)
            self.columns[i] = pack([self._row(i, s) for s in joint.subspace(q)])
            self.step[i] = pack(self.pose[j].R.to_parent(X.p))
            twists = product(selection(tree, i), self.columns[i])  # of joint i itself
            self.J[i] = _carried(self.J[j], self.step[i]) + twists
            if j == 0 and not in_world:  # the body turns its own frame
                self.turning[i] = np.zeros_like(twists)
                self.gravity[i] = pack(X.R.to_child(tree.gravity))
            else:
                self.turning[i] = _carried(self.turning[j], self.step[i]) + twists
                self.gravity[i] = self.gravity[j]
        convert = _converter(graph_of(q) or mechanism._graph)
        self.links = [self._link(body, convert) for body in _link_bodies(mechanism, tree)]
        self.links += map(self._slice, tree.slices)

    def _row(self, i: int, s: Any) -> list[Scalar]:
        """A motion given in the axes of body i, in those of the frame."""
        R = self.pose[i].R
        return [*R.to_parent(s.angular), *R.to_parent(s.linear)]

    def _link(self, body: Any, convert: Any) -> LinkGeometry:
        i, X = self.tree.place[body.name]
        com = X.point_to_parent(Vector(map(convert, body.com)))
        tensor = packed(Matrix.symmetric(*map(convert, body.inertia)))
        return self._placed(body.name, i, X, com, convert(body.mass), tensor)

    def _slice(self, piece: MassSlice) -> LinkGeometry:
        inertia = piece.inertia
        tensor = packed(inertia.tensor())
        return self._placed(piece.name, piece.body, piece.place, piece.place.p, inertia.m, tensor)

    def _placed(
        self, name: str, i: int, X: Transform, com: Vector, m: Scalar, tensor: Array
    ) -> LinkGeometry:
        R = self.pose[i].R
        r = self.pack(R.to_parent(com))
        omega = self.J[i][..., :3]
        velocity = self.J[i][..., 3:]
        return LinkGeometry(
            name,
            i,
            m,
            tensor,
            r,
            self.pack((R * X.R).matrix()),
            T(velocity + cross(omega, r[..., None, :])),
            T(omega),
        )

    # --- how the Jacobians change ---

    def derivatives(self) -> dict[int, np.ndarray]:
        """(nv, nv, 6) for each body: derivative of row j of J along velocity i, at [i, j].

        A column s of a joint rides on its body: along velocity i, which turns that body by t_i in
        the frame, it changes by t_i x s, and by its own derivative where the joint's S is not
        constant. The parent's twist moves to the body's origin by v + w x d, where d = o_body -
        o_parent changes by the difference of the origins' velocities.
        """
        tree = self.tree
        dJ = {0: np.zeros((tree.nv, tree.nv, 6))}
        for i in tree.outward():
            j = tree.parent[i]
            E = selection(tree, i)
            s = self.columns[i][..., None, :, :]
            turn = self.turning[i][..., :, None, :3]
            change = np.concatenate([cross(turn, s[..., :3]), cross(turn, s[..., 3:])], axis=-1)
            dS = tree.joint[i].subspace_derivatives(self.q)
            if dS is not None:
                rows = self.pack([[self._row(i, s) for s in columns] for columns in dS])
                change = change + np.einsum("ik,...kjc->...ijc", E, rows)
            d_rate = (self.turning[i] - self.turning[j])[..., :, None, 3:]
            lever_change = cross(self.J[j][..., None, :, :3], d_rate)
            dJ_parent = _carried(dJ[j], self.step[i][..., None, :])
            dJ[i] = dJ_parent + _linear(lever_change) + product(E, change)
        return dJ


def _carried(J: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Twists (..., nv, 6) at a point that is d (..., 3) away: (w; v + w x d)."""
    return J + _linear(cross(J[..., :3], d[..., None, :]))


def _linear(v: np.ndarray) -> np.ndarray:
    """(0; v)."""
    return np.concatenate([np.zeros_like(v), v], axis=-1)


def _link_bodies(mechanism: Mechanism, tree: Tree) -> list[Body]:
    """Bodies that hang on a joint and have any inertia."""
    return [
        body
        for body in mechanism.bodies
        if tree.place[body.name][0] and not all(map(known_zero, (body.mass, *body.inertia)))
    ]


def _poses_on_first_bodies(tree: Tree, q: Sequence[Scalar]) -> dict[int, Transform]:
    """Placement of each body in the frame of the first body on its way from the base."""
    pose = {0: BASE_POSE}
    for i in tree.outward():
        if not tree.parent[i]:
            pose[i] = BASE_POSE
            continue
        X = tree.joint[i].placement(q)
        parent = pose[tree.parent[i]]
        rotation = Matrix(X.R.to_child(row) for row in parent.R.matrix())  # rows of R_parent R
        pose[i] = Transform(parent.point_to_parent(X.p), Dense(rotation))
    return pose


def T(A: np.ndarray) -> np.ndarray:
    """The transpose of the last two axes."""
    return np.swapaxes(A, -1, -2)


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Vector product of the last axes, the others broadcast."""
    x, y, z = (a[..., k] for k in range(3))
    u, v, w = (b[..., k] for k in range(3))
    entries = (
        times(y, w) - times(z, v),
        times(z, u) - times(x, w),
        times(x, v) - times(y, u),
    )
    return np.stack(np.broadcast_arrays(*entries), axis=-1)


def times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product entry by entry; among expressions, zeros of the structure stay plain zeros."""
    if a.dtype != object and b.dtype != object:
        return a * b
    return np.asarray(_times(a, b), dtype=object)


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A @ B; among expressions, zeros of the structure stay plain zeros and cost nothing."""
    if A.dtype != object and B.dtype != object:
        return A @ B
    terms = times(A[..., :, :, None], B[..., None, :, :])
    return terms.sum(axis=-2)


@partial(np.frompyfunc, nin=2, nout=1)
def _times(x: Any, y: Any) -> Any:
    return 0.0 if x.__class__ is float and not x or y.__class__ is float and not y else x * y


def selection(tree: Tree, i: int) -> np.ndarray:
    """(nv, d) matrix that puts the columns of joint i in their places."""
    dof = tree.joint[i].dof
    return np.eye(tree.nv)[:, dof.start : dof.stop]


def _converter(graph: Any) -> Any:
    """Numbers of bodies as the tree has its numbers: floats, and symbols of the graph."""

    def convert(x: Any) -> Any:
        """The number as a float or an expression of the graph."""
        x = as_float(x)
        return import_nodes(x, graph) if isinstance(x, Expr) and x.graph is not graph else x

    return convert


def opened(
    mechanism: Mechanism, in_world: bool = False, **vectors: Any
) -> tuple[Geometry, tuple[np.ndarray, ...]]:
    """Check the vectors, of which the first is q; the geometry there, and the other vectors as
    arrays.
    """
    tree, (q, *others), pack = mechanism.at(**vectors)
    geometry = Geometry(mechanism, tree, q, pack, in_world)
    return geometry, tuple(map(pack, others))


def link_names(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of the links in the arrays of this formulation: bodies that move and have inertia,
    parents first, then slices of the mass of beams.

    Examples
    --------
    >>> import dalembert as da
    >>> da.lagrange.link_names(da.planar_chain(2))
    ('link1', 'link2')
    """
    tree = mechanism.tree()
    bodies = tuple(body.name for body in _link_bodies(mechanism, tree))
    return bodies + tuple(piece.name for piece in tree.slices)


def mass_centers(mechanism: Mechanism, q: Values) -> Array:
    """Positions of the links' mass centres in world axes, in the order of `link_names`.

        [c_i; 1] = H_1(q_1) ... H_i(q_i) [c_i in the link; 1]

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    c : (L, 3) or (N, L, 3) array
        [m].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    References
    ----------
    Kolyubin, Dynamics of robotic systems: the Lagrange method, eq. 16.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.mass_centers(arm, [0.3, -0.2]).round(3)
    array([[0.478, 0.   , 0.148],
           [1.453, 0.   , 0.345]])
    """
    geometry, _ = opened(mechanism, in_world=True, q=q)
    pose, links = geometry.pose, geometry.links
    centers = [geometry.pack(pose[link.body].p) + link.r for link in links]
    return _stacked(geometry, centers, (3,))


def link_jacobians(mechanism: Mechanism, q: Values) -> LinkJacobians:
    """Jacobians of the links' mass centres: v_c = J_v(q) qd, omega = J_omega(q) qd in world axes.

    Column j of a revolute joint with axis a_j through o_j is (a_j x (c_i - o_j); a_j), of a
    prismatic one (a_j; 0), and zero where joint j does not carry link i.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    LinkJacobians
        J_v and J_omega, (L, 3, nv) or (N, L, 3, nv) each [m, 1; 1, 1/m].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.link_jacobians(arm, [0.3, -0.2]).J_v[1].round(3)
    array([[-0.345, -0.05 ],
           [ 0.   ,  0.   ],
           [ 1.453,  0.498]])
    """
    geometry, _ = opened(mechanism, in_world=True, q=q)
    shape = (3, geometry.tree.nv)
    return LinkJacobians(
        _stacked(geometry, [link.J_v for link in geometry.links], shape),
        _stacked(geometry, [link.J_omega for link in geometry.links], shape),
    )


def link_velocities(mechanism: Mechanism, q: Values, qd: Values) -> LinkVelocities:
    """Velocities of the mass centres and angular velocities of the links, in world axes.

        v_c = J_v qd,    omega = J_omega qd

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].

    Returns
    -------
    LinkVelocities
        v and omega, (L, 3) or (N, L, 3) each [m/s, rad/s].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.link_velocities(arm, [0.3, -0.2], [1.0, 0.5]).v.round(3)
    array([[-0.148,  0.   ,  0.478],
           [-0.37 ,  0.   ,  1.702]])
    """
    geometry, (qd,) = opened(mechanism, in_world=True, q=q, qd=qd)
    v = [_apply(link.J_v, qd) for link in geometry.links]
    omega = [_apply(link.J_omega, qd) for link in geometry.links]
    return LinkVelocities(_stacked(geometry, v, (3,)), _stacked(geometry, omega, (3,)))


def _apply(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x with the batch in front of both."""
    return (A @ x[..., None])[..., 0]


def _stacked(geometry: Geometry, arrays: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """The links' arrays as a single array, the link's axis in front of the last `shape`."""
    if not arrays:
        batch = geometry.pack([]).shape[:-1]
        return np.zeros((*batch, 0, *shape))
    return np.stack(np.broadcast_arrays(*arrays), axis=-1 - len(shape))
