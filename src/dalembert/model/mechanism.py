"""Mechanism: a kinematic tree of rigid bodies as frozen data, and the door through which vectors
enter.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import (
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import (
    dataclass,
    replace,
)
from functools import (
    cached_property,
    partial,
)
from typing import (
    TYPE_CHECKING,
    Any,
    NoReturn,
)

import numpy as np

from dalembert.arguments import (
    check_instance,
    check_text,
)
from dalembert.call_faults import explained_class
from dalembert.displays import (
    Picture,
    display,
    in_notebook,
)
from dalembert.errors import (
    DalembertWarning,
    ModelError,
    QuaternionError,
    caller_level,
    public_names,
    unknown_attribute,
)
from dalembert.expr import (
    Expr,
    import_nodes,
)
from dalembert.expr.identifiers import safe_identifiers
from dalembert.model import (
    edits,
    paths,
    repairs,
    validation,
)
from dalembert.model.actuator_findings import (
    actuator_doubts,
    actuator_faults,
)
from dalembert.model.actuators import Actuator
from dalembert.model.constraint import Constraint
from dalembert.model.content import digest
from dalembert.model.elastic.beam import Beam
from dalembert.model.elastic.elastic_declarations import (
    ElasticDeclaration,
    declared,
)
from dalembert.model.elastic.flexible_drives import with_flexible_joints
from dalembert.model.external_forces import opened_loads
from dalembert.model.findings import (
    MAX_LISTED,
    Finding,
    collapsed,
    listed,
)
from dalembert.model.joints.base import BUILT_IN
from dalembert.model.linkage import Linkage
from dalembert.model.numbers import (
    Number,
    as_float,
    checked_vector,
    is_symbolic,
    several,
)
from dalembert.model.origins import Source
from dalembert.model.parts import (
    Body,
    Frame,
    Joint,
)
from dalembert.model.tree import Tree
from dalembert.model.tree_builder import tree_of
from dalembert.spatial.arrays import (
    Array,
    Values,
    VectorArray,
    check_rows,
    graph_of,
    in_order,
    packed,
    unpacked,
)
from dalembert.spatial.vectors import Scalar

_silent: ContextVar[bool] = ContextVar("silent", default=False)


@explained_class
@dataclass(frozen=True, repr=False)
class Mechanism(Linkage):
    """Rigid bodies connected by joints to a tree; the first body is the base and does not move.

    Parameters
    ----------
    name : str
    bodies : sequence of Body
        Any order; the one that is no joint's child is the base and comes first here.
    joints : sequence of Joint
        Any order; kept in topological order, ties by the order given.
    frames : sequence of Frame, optional
    gravity : (3,) numbers
        Acceleration of gravity in base axes [m/s^2].
    remarks : sequence of Finding
        What the reader of a file had to say.
    warned : set of str, optional
        Findings that a warning was issued of: mechanisms made from this one do not repeat them.
    constraints, principles, actuated
        As `constrained` makes them.
    actuators : sequence of Actuator, optional

    Raises
    ------
    ModelError
        The parts do not form a tree, or a number makes no sense; all findings are listed.

    Warns
    -----
    DalembertWarning
        Of numbers that are impossible or doubtful, once: `check()` lists everything.

    Examples
    --------
    >>> import dalembert as da
    >>> hinge = da.Joint("hinge", da.Revolute((0, -1, 0)), "base", "rod")
    >>> rod = da.Body("rod", 1.0, (0.5, 0, 0), (0, 0, 0.1, 0, 0, 0.1))
    >>> pendulum = da.Mechanism("pendulum", (da.Body("base"), rod), (hinge,))
    >>> pendulum.nq, pendulum.coordinate_names
    (1, ('hinge',))
    >>> pendulum.replace({"rod.mass": 2.0}).body("rod").mass
    2.0
    """

    def __post_init__(self) -> None:
        def put(**values):
            """Set fields of the frozen object."""
            for name, value in values.items():
                object.__setattr__(self, name, value)

        check_text("the name of a mechanism", self.name)
        check_text("the file of a mechanism", self.file)
        put(
            bodies=_parts(self.bodies, Body),
            joints=_parts(self.joints, Joint),
            frames=_parts(self.frames, Frame),
            remarks=_parts(self.remarks, Finding),
            constraints=_parts(self.constraints, Constraint),
            actuators=_parts(self.actuators, Actuator),
            gravity=checked_vector(self.gravity, 3, "gravity"),
        )
        fatal = validation.structure(self.name, self.bodies, self.joints, self.frames)
        fatal += validation.constraint_faults(self)
        fatal += actuator_faults(self)
        if fatal:
            fatal += validation.impossible_inertias(self.bodies, self.joints)
            placed = [f if f.source.file else replace(f, source=Source(self.file)) for f in fatal]
            raise ModelError(listed(placed), tuple(placed))
        bodies, joints = validation.topological_order(self.bodies, self.joints)
        put(bodies=bodies, joints=joints)
        if fatal := validation.coordinate_faults(self):
            raise ModelError(listed(fatal), tuple(fatal))
        if not _silent.get():
            self._warn([f for f in self._found() if str(f) not in self.warned])

    def __repr__(self) -> str:
        count = len(self.constraints)
        constraints = f"{count} constraint{'s' * (count > 1)}, " if count else ""
        return (
            f"<Mechanism {self.name!r}: {len(self.bodies)} bodies, {len(self.joints)} joints, "
            f"{constraints}nq = {self.nq}, nv = {self.nv}>"
        )

    def _repr_html_(self) -> str | None:
        return in_notebook("mechanism_html", self)

    _unlisted = ("changeable", "warned")  # attributes for the package itself
    __dir__ = public_names

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name)

    @cached_property
    def identifiers(self) -> dict[str, str]:
        """Names of bodies, joints and frames as identifiers for generated code: safe, unique,
        ASCII.
        """
        return safe_identifiers([*self._bodies, *self._joints, *(f.name for f in self.frames)])

    def picture(
        self,
        q: Values | None = None,
        file: str | os.PathLike[str] | None = None,
        width: float = 480,
        labels: bool = True,
    ) -> Picture:
        """A still picture as the text of an SVG, which notebooks show.

        Bodies have the shapes of their visuals, or shapes made from joints and inertias: links
        between joints, cylinders on the axes of joints, boxes of inertia. A planar mechanism is
        looked at along its normal, others obliquely, on a ground with a grid.

        Parameters
        ----------
        q : (nq,) array, optional
            [rad; m for prismatic joints; unit quaternions]; by default a posture that shows it
            well, with loops closed.
        file : path, optional
            An .svg file to write.
        width : float
            [pixels]
        labels : bool
            Whether joints and frames are named.

        Raises
        ------
        ShapeError, ValueError, QuaternionError
            q is no configuration; the name of the file has another ending.

        Examples
        --------
        >>> import dalembert as da
        >>> text = da.planar_chain(2).picture([0.4, 0.8], file="arm.svg")
        >>> text.startswith("<svg")
        True
        """
        picture: Picture = display("picture")(self, q, file, width, labels)
        return picture

    # --- the tree behind the algorithms ---

    @cached_property
    def _float_tree(self) -> Tree:
        graph = self._graph
        return tree_of(self, lambda x: x if x.__class__ is float else _in_graph(as_float(x), graph))

    def identity(self) -> str | None:
        """Text that is the same for mechanisms with the same equations; None where a joint type has
        no `identity`.

        Examples
        --------
        >>> import dalembert as da
        >>> da.planar_chain(2).identity() == da.planar_chain(2).identity()
        True
        """
        text = paths.canonical_text(self)
        return text and digest(text)

    @cached_property
    def changeable(self) -> tuple[Any, ...]:
        """Joint types and constraints of a user's own: their methods and attributes may change while
        the mechanism is used.
        """
        types = [j.type for j in self.joints if type(j.type) not in BUILT_IN]
        return (*types, *(c for c in self.constraints if c.has_functions))

    @cached_property
    def _graph(self) -> Any:
        """Graph of this mechanism's symbols, or None if all its numbers are plain."""
        return next(
            (x.graph for x in self.values() if isinstance(x, Expr) and is_symbolic(x)), None
        )

    def tree(self, graph: Any = None, exact: bool = False) -> Tree:
        """The kinematic tree: numbers as floats (`exact`: as given), symbols as nodes of the given
        graph.

        Examples
        --------
        >>> import dalembert as da
        >>> tree = da.planar_chain(2).tree()
        >>> tree.nv, [tree.joint[i].name for i in tree.outward()]
        (2, ['q1', 'q2'])
        """
        if exact:
            return tree_of(self, lambda x: _in_graph(x, graph), exact=True)
        if not self.changeable and (self._graph is None or graph is None or graph is self._graph):
            return self._float_tree
        graph = self._graph if graph is None else graph
        return tree_of(self, self.converter(graph))

    def converter(self, graph: Any = None) -> Callable[[Number], Any]:
        """The function that makes its numbers those of its `tree`: floats, symbols in a graph.

        Examples
        --------
        >>> import dalembert as da
        >>> da.planar_chain(1).converter()(2)
        2.0
        """
        return lambda x: _in_graph(as_float(x), graph)

    def at(
        self, **vectors: Any
    ) -> tuple[Tree, tuple[list[Scalar], ...], Callable[..., np.ndarray]]:
        """Check vectors named q, qd, qdd, tau, ... and open them for an algorithm.

        Each is (n,) or (N, n) with n = nq for names that start with 'q_' or are 'q', else nv;
        floats, or expressions of one graph for a single state; `external_forces` is a sequence of
        ExternalForce. Returns the tree, a list of scalars per vector, and a function that packs
        nested lists of scalars into an array with the batch as leading axis.

        Raises
        ------
        ShapeError, TypeError, ValueError, QuaternionError
            Wrong length; not numbers; not finite; a quaternion that is not of unit length.

        Examples
        --------
        >>> import dalembert as da
        >>> tree, (q,), pack = da.planar_chain(2).at(q=[[0.1, 0.2], [0.3, 0.4]])
        >>> pack([q[0] + q[1], 1.0]).round(1)
        array([[0.3, 1. ],
               [0.7, 1. ]])
        """
        columns, graph, pack = self.opened(**vectors)
        return self.tree(graph), columns, pack

    def opened(
        self, **vectors: Any
    ) -> tuple[tuple[list[Scalar], ...], Any, Callable[..., np.ndarray]]:
        """The scalars of `at`, of vectors (n,) or (N, n), the graph of their expressions (None without
        any), and its function that packs results.

        Examples
        --------
        >>> import dalembert as da
        >>> (q, qd), graph, pack = da.planar_chain(1).opened(q=[0.5], qd=[2.0])
        >>> q, qd, graph
        ([0.5], [2.0], None)
        """
        columns: dict[str, list[Any]] = {}
        rows: dict[str, set[int]] = {}
        for name, array in vectors.items():
            if name == "external_forces":
                columns[name], rows[name] = opened_loads(array)
                continue
            is_q = name == "q" or name.startswith("q_")
            array = in_order(array, name, self.coordinate_names if is_q else self.velocity_names)
            columns[name], size = unpacked(array, name, self.nq if is_q else self.nv, self._says)
            rows[name] = set() if size is None else {size}
            if is_q:
                self.check_quaternions(name, columns[name])
        batch = check_rows(rows)
        return tuple(columns.values()), graph_of(_scalars(columns)), partial(packed, batch=batch)

    def _says(self, name: str, length: int) -> str:
        names = (
            self.coordinate_names if name == "q" or name.startswith("q_") else self.velocity_names
        )
        listed = ", ".join(names if len(names) <= 4 else [*names[:2], "...", names[-1]])
        followers = [joint.name for joint in self.joints if joint.mimic]
        without = f", and followers have no entry: {', '.join(followers[:3])}" if followers else ""
        return f"mechanism {self.name!r} has {length} ({listed}{without})"

    # --- the manifold of the coordinates ---

    def rate(self, q: Values, qd: Values) -> Array:
        """Time derivative of q for the velocities qd: (nq,) or (N, nq) [rad/s, m/s; 1/s of
        quaternions].

        Raises
        ------
        ShapeError, TypeError, ValueError, QuaternionError
            A vector has the wrong length, no numbers, or one that is not finite; a quaternion is not
            of unit length.

        Examples
        --------
        >>> import dalembert as da
        >>> ball = da.planar_chain(1).floating()
        >>> ball.rate(ball.neutral(), [0, 0, 1.0, 0, 0, 0, 0]).round(3)
        array([0. , 0. , 0. , 0.5, 0. , 0. , 0. , 0. ])
        """
        _, (q, qd), pack = self.at(q=q, qd=qd)
        return pack(self._per_joint(lambda t, q, v: t.rate(q, v), q, qd))

    def integrate(self, q: Values, step: Values) -> Array:
        """q (nq,) or (N, nq) moved by a step (nv,) or (N, nv) [rad, m] along the velocity directions,
        staying on the manifold.

        Raises
        ------
        ShapeError, TypeError, ValueError, QuaternionError
            A vector has the wrong length, no numbers, or one that is not finite; a quaternion is not
            of unit length.

        Examples
        --------
        >>> import dalembert as da
        >>> ball = da.planar_chain(1).floating()
        >>> ball.integrate(ball.neutral(), [0, 0, 0.2, 1.0, 0, 0, 0.5]).round(3)
        array([0.995, 0.   , 0.   , 0.1  , 1.   , 0.   , 0.   , 0.5  ])
        """
        _, (q, step), pack = self.at(q=q, step=step)
        return pack(self._per_joint(lambda t, q, v: t.integrate(q, v), q, step))

    def difference(self, q1: Values, q0: Values) -> Array:
        """Step from q0 to q1, (nv,) or (N, nv) [rad, m]: integrate(q0, step) = q1; continuous joints
        go the shorter way round.

        Raises
        ------
        ShapeError, TypeError, ValueError, QuaternionError
            A vector has the wrong length, no numbers, or one that is not finite; a quaternion is not
            of unit length.

        Examples
        --------
        >>> import dalembert as da
        >>> da.planar_chain(2).difference([0.5, 0.2], [0.1, 0.3]).round(3)
        array([ 0.4, -0.1])
        """
        _, (q1, q0), pack = self.at(q_1=q1, q_0=q0)
        step: list[Scalar] = []
        for holder in self.holders:
            entries = holder.entry.at_q
            step += holder.type.difference(q1[entries], q0[entries])
        return pack(step)

    def _per_joint(self, act, q, v):
        result: list[Scalar] = []
        for holder in self.holders:
            entry = holder.entry
            result += act(holder.type, q[entry.at_q], v[entry.at_v.start : entry.at_v.stop])
        return result

    def normalize(self, q: Values) -> Array:
        """q (nq,) or (N, nq) with each quaternion scaled to unit length.

        Raises
        ------
        ShapeError, QuaternionError
            q has the wrong length; a quaternion is zero.

        Examples
        --------
        >>> import dalembert as da
        >>> ball = da.planar_chain(1).floating()
        >>> ball.normalize([2, 0, 0, 0, 0, 0, 0, 0.1])
        array([1. , 0. , 0. , 0. , 0. , 0. , 0. , 0.1])
        """
        columns, rows = unpacked(q, "q", self.nq, self._says)
        q = packed(columns, rows)
        for joint in self.independent_joints:
            if joint.type.quaternion_at is not None:
                start = self.entries[joint.name].at_q.start + joint.type.quaternion_at
                norm = np.linalg.norm(q[..., start : start + 4], axis=-1, keepdims=True)
                if not np.all(norm > 0):
                    raise QuaternionError(
                        f"the quaternion of joint {joint.name!r} is zero and has no direction.",
                        joint.name,
                        0.0,
                    )
                q[..., start : start + 4] /= norm
        return q

    def random_state(self, seed: Any = 0) -> tuple[VectorArray, VectorArray]:
        """Random q (nq,) [rad, m] and qd (nv,) [rad/s, m/s] from a seed or generator: angles in (-pi,
        pi), displacements in (-1, 1) m, small ones of elastic bodies, qd standard normal; limits are
        not looked at.

        Examples
        --------
        >>> import dalembert as da
        >>> q, qd = da.planar_chain(2).random_state(seed=1)
        >>> q.shape, qd.shape
        ((2,), (2,))
        """
        rng = np.random.default_rng(seed)
        q = np.array([x for h in self.holders for x in h.type.random(rng)], dtype=float)
        return q, rng.standard_normal(self.nv)

    # --- new mechanisms from this one ---

    def replace(
        self, values: Mapping[Any, Number] | None = None, gravity: Sequence[Number] | None = None
    ) -> Mechanism:
        """With other numbers.

        Parameters
        ----------
        values : {str: number or expression}, optional
            By path, {'hand.mass': 0.5, 'elbow.origin[2]': da.symbol('l')}, or by the name of one of
            the `symbols`, {'m2': 1.5}, which gets the value wherever it stands, also within other
            expressions (an inertia of m2 l2^2 / 12). A key that is both is a path. Numbers given by
            path stay as they are given.
        gravity : (3,) numbers, optional
            Acceleration of gravity in base axes [m/s^2]; (0, 0, 0) is none.

        Raises
        ------
        UnknownNameError
            A key is neither the path of a number nor a symbol of this mechanism.
        TypeError, ValueError, ModelError
            A value is no number; a number is replaced twice; the mechanism makes no sense with
            these numbers.

        Examples
        --------
        >>> import dalembert as da
        >>> m, l = da.symbols("m l")
        >>> rod = da.planar_chain(1, mass=m, length=l)
        >>> rod.symbols
        ('m', 'l')
        >>> rod.replace({"m": 3, "l": 2}, gravity=(0, 0, 0)).number("link1.inertia[2,2]")
        1
        """
        return paths.replaced(self, values, gravity)

    def number(self, path: str) -> Number:
        """The number at a path, 'hand.mass', 'hand.com[0]', 'elbow.origin[2]' or 'gravity[2]', or a
        symbol by its name.

        Raises
        ------
        UnknownNameError
            There is no number of that path.

        Examples
        --------
        >>> import dalembert as da
        >>> da.planar_chain(1).number("link1.com[0]")
        0.5
        """
        return paths.number_at(self, path)

    def constrained(
        self,
        *constraints: Constraint,
        principle: str | Mapping[str, str] = "chetaev",
        actuated: Sequence[str] | None = None,
    ) -> Mechanism:
        """With constraints, beside those that it has.

            M(q) qdd + bias = tau + J^T lambda,    J qdd = bias of the rows

        Parameters
        ----------
        constraints : of `da.constraints`
            Loops, couplings, rolling, functions of the state, programs; each with a name.
        principle : {'chetaev', 'vakonomic', 'servo', 'gauss'}, or {constraint: principle}
            Law of the forces that keep these constraints; of those left out: 'chetaev'.
        actuated : sequence of str, optional
            Names of the joints that are driven; by default as before, at first all.

        Raises
        ------
        ModelError, UnknownNameError
            A constraint has the name of another, or is about a frame or joint that is not there; a
            principle or a joint is unknown.

        Examples
        --------
        >>> import dalembert as da
        >>> pin = da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0)))
        >>> da.planar_chain(3).constrained(pin).constraints[0].name
        'pin'
        """
        return edits.constrained(self, constraints, principle, actuated)

    def with_actuators(self, *actuators: Actuator) -> Mechanism:
        """With actuators, beside those that it has.

        Raises
        ------
        ModelError
            A name is taken; there is no such joint or body; a joint has several coordinates.

        Examples
        --------
        >>> import dalembert as da
        >>> motors = [da.Actuator(f"motor{k}", f"q{k}", 50, effort=2.0) for k in (1, 2)]
        >>> arm = da.planar_chain(2).with_actuators(*motors)
        >>> da.effort_limits(arm)
        array([100., 100.])
        """
        return replace(self, actuators=(*self.actuators, *actuators))

    def attach(
        self, other: Body | Mechanism, frame: str, name: str = "", origin: Any = (0, 0, 0)
    ) -> Mechanism:
        """With a body (a payload) or a whole mechanism fixed to a frame.

        Parameters
        ----------
        other : Body or Mechanism
            Of a mechanism the base is fixed to the frame, and moves from now on; it feels this
            mechanism's gravity.
        frame : str
            Name of a body or frame of this mechanism.
        name : str, optional
            Of the body, in place of its own; of a mechanism: comes before the names of its parts,
            as in 'left_finger', so that two of a kind can be attached. The fixed joint is
            'NAME_mount', by default after the body or the base.
        origin : Origin, or (3,) numbers, optional
            Placement of the body's (the base's) frame in `frame` [m, rad].

        Raises
        ------
        UnknownNameError
            There is no such frame.
        ModelError
            A name is already taken: `name=` gives others.
        TypeError
            `other` is neither a body nor a mechanism.

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(2)
        >>> arm.attach(da.Body("box", 2), "link2", origin=(1, 0, 0)).frame_names
        ('base', 'link1', 'link2', 'box', 'tip')
        """
        if not isinstance(other, (Body, Mechanism)):
            raise TypeError(
                f"{other!r} ({type(other).__name__}) cannot be attached: expected a Body or a "
                "Mechanism."
            )
        return edits.attached(self, other, frame, name, origin)

    def lock(self, joints: Mapping[str, Any] | Sequence[str]) -> Mechanism:
        """With joints fixed at values, a number or the joint's coordinates, several of them (k,)
        [rad, m]; names alone: at 0. Elastic bodies of these names become rigid, straight and of the
        same mass. Actuators of fixed joints are left out: their rotors are locked.

        Raises
        ------
        UnknownNameError, ModelError
            There is no such joint; it is fixed or a follower, or has another number of coordinates;
            an elastic body is to be locked bent.
        QuaternionError
            A quaternion is not of unit length.

        Examples
        --------
        >>> import dalembert as da
        >>> da.planar_chain(2).lock({"q2": 0.5}).coordinate_names
        ('q1',)
        """
        return edits.locked(self, joints)

    def elastic(self, beams: Mapping[str, Beam], modes: Any = None, elements: int = 1) -> Mechanism:
        """With bodies made elastic; a note in `check()` says what became of each mass.

        The mass and moments of a rigid body are replaced by those of the beam; of a body that is
        elastic already, the beam and its modes are replaced. Joints and frames on it ride on the
        cross-section at their x, and beyond an end on that end; notes tell of each that is not on
        the axis.

        Parameters
        ----------
        beams : {str: Beam}
            By name of the body.
        modes : int or dict, optional
            As of `Body`: modes of each deflection, by default 2, or {direction: modes}.
        elements : int
            Equal parts of each beam, each with these modes: for deflections that are not small.

        Raises
        ------
        UnknownNameError
            There is no such body.
        ModelError, TypeError, ValueError
            A beam lacks a number that its modes need; modes are none.

        Examples
        --------
        >>> import dalembert as da
        >>> beam = da.Beam(1.0, EIy=120.0, mass_per_length=0.25)
        >>> arm = da.planar_chain(2).elastic({"link2": beam}, modes={"bend_z": 2})
        >>> arm.coordinate_names
        ('q1', 'q2', 'link2.bend_z1', 'link2.bend_z2')
        >>> arm.replace({"link2.EIy": 90.0}).number("link2.EIy")
        90.0
        """
        check_instance("beams", beams, Mapping, "{body: beam}, as {'link2': da.Beam(...)}")
        given = {name: ElasticDeclaration(beam, modes, elements) for name, beam in beams.items()}
        return declared(self, given)

    def with_flexible_joints(
        self, stiffness: Mapping[str, Number], damping: Number | Mapping[str, Number] = 0
    ) -> Mechanism:
        """With joints that are driven by motors through springs and dampers.

            M(q) qdd + bias = K (theta - q) + D (thetad - qd) + passive forces
            B thetadd = tau + K (q - theta) + D (qd - thetad)

        The motor of a joint 'elbow' is a joint 'elbow.motor' on a body 'elbow.rotor' without mass.
        Its coordinate theta is the motor's turn divided by the gear ratio, its inertia B =
        gear_ratio^2 rotor_inertia; it takes the joint's rotor_inertia, gear_ratio and limits of
        velocity and effort, and its actuators; friction and limits of position stay with the joint.
        Motors come after all other joints in q and qd, and tau of the drive acts there. The turning
        of rotors with the bodies that carry them is left out (the reduced model of Spong, right for
        large gear ratios), but for rotors of actuators that name their body.

        Parameters
        ----------
        stiffness : {str: number}
            K by joint [N m/rad, N/m], seen at the joint.
        damping : number or {str: number}
            D [N m s/rad, N s/m].

        Raises
        ------
        UnknownNameError
            There is no such joint.
        ModelError, TypeError, ValueError
            A joint has several freedoms, neither rotor inertia nor an actuator with a rotor, or is
            flexible already; a stiffness is not positive.

        References
        ----------
        Spong, Modeling and control of elastic joint robots (1987).

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100})
        >>> flexible = arm.with_flexible_joints({"q1": 500.0}, damping=0.5)
        >>> flexible.coordinate_names
        ('q1', 'q1.motor')
        >>> da.passive_force(flexible, [0.0, 0.01], [0.0, 0.0])
        array([ 5., -5.])
        """
        check_instance("stiffness", stiffness, Mapping, "{joint: stiffness}, as {'elbow': 500.0}")
        return with_flexible_joints(self, stiffness, damping)

    def floating(self) -> Mechanism:
        """With the base body on a free joint from a new base 'world'.

        Examples
        --------
        >>> import dalembert as da
        >>> da.planar_chain(1).floating().coordinate_names[:4]
        ('root_joint.w', 'root_joint.x', 'root_joint.y', 'root_joint.z')
        """
        return edits.floating(self)

    def without(self, *kinds: str) -> Mechanism:
        """Without 'friction', 'springs', 'rotors', 'limits', 'actuators', 'constraints' or
        'elasticity': links then are rigid, of the same mass, and motors follow their joints. Damping
        of elastic links and of transmissions goes with friction; rotors and limits of actuators go
        with 'rotors' and 'limits'.

        Raises
        ------
        UnknownNameError
            A kind is none of these.

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).replace({"q1.viscous": 0.2})
        >>> arm.without("friction").number("q1.viscous")
        0
        """
        return edits.without(self, kinds)

    def independent(self) -> Mechanism:
        """With followers (mimic) made independent joints.

        Examples
        --------
        >>> import dalembert as da
        >>> hand = da.load("panda")
        >>> hand.nq, hand.independent().nq
        (8, 9)
        """
        return edits.independent(self)

    def repaired(
        self, masses: Mapping[str, Number] | None = None, from_shapes: bool = False
    ) -> Mechanism:
        """With the nearest inertias that distributions of mass have, in place of impossible ones.

        Mass and centre of mass are kept; the tensor changes as little as possible in the Frobenius
        norm of the second moments J = tr(I)/2 1 - I, whose principal values are raised to 1e-6 of
        the largest where they are below 0. Other bodies stay as they are. Notes in `check()` say
        what was changed, and by how much. A mass of 0 or below cannot be guessed: its finding
        stays unless `masses` gives it.

        Parameters
        ----------
        masses : {str: number}, optional
            Masses [kg] of bodies by name.
        from_shapes : bool
            Whether a body with a mass and moments of 0 gets those of its shapes, evenly filled.

        Raises
        ------
        UnknownNameError
            There is no such body.
        TypeError, ValueError
            A mass is no number above 0.

        References
        ----------
        Wensing, Kim, Slotine, Linear matrix inequalities for physically consistent inertial
        parameter identification (2018).

        Examples
        --------
        >>> import dalembert as da
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     arm = da.planar_chain(1).replace({"link1.inertia[0,0]": 1})
        >>> print(arm.repaired().check()[0])
        body 'link1': its inertia (1, 0, 0.0833333, 0, 0, 0.0833333) kg m^2 (xx, xy, yy, xz, yz, zz), which no distribution of mass has, became (1, 0, 0.5, 0, 0, 0.5), the nearest possible one: changed by 59 %.
        """
        return repairs.repaired(self, masses or {}, from_shapes)

    def check(self) -> list[Finding]:
        """All findings about the mechanism, its reader's included; many of the same cause are put
        together, with their number.

        Examples
        --------
        >>> import dalembert as da
        >>> [finding.severity for finding in da.load("panda").check()][:2]
        ['note', 'warning']
        """
        return collapsed(self.findings())

    def findings(self) -> list[Finding]:
        """The same, each one.

        Examples
        --------
        >>> import dalembert as da
        >>> da.planar_chain(1).findings()
        []
        """
        findings = self._found()
        if self._graph is None:  # without symbols
            findings += validation.undetermined(self.tree(), self.neutral().tolist(), self.bodies)
        return findings

    def _found(self) -> list[Finding]:
        """Findings that need no state, of which a new mechanism warns."""
        constrained = bool(self.constraints)
        parts = (self.bodies, self.joints, self.frames)
        own = validation.findings(*parts, constrained, self.with_rotors)
        return [*self.remarks, *own, *actuator_doubts(self)]

    def warn(self) -> None:
        """Issue one warning for the errors and warnings among the findings, if there are any.

        Examples
        --------
        >>> import dalembert as da
        >>> da.planar_chain(1).warn()      # nothing to warn of
        """
        self._warn(self.check())

    def _warn(self, findings: Sequence[Finding]) -> None:
        serious = [f for f in findings if f.severity != "note"]
        if serious:
            object.__setattr__(self, "warned", self.warned | {str(f) for f in serious})
            more = " (all: mechanism.check(), dalembert check)" if len(serious) > MAX_LISTED else ""
            warnings.warn(listed(serious) + more, DalembertWarning, stacklevel=caller_level())

    def __getstate__(self):
        names = self.__dataclass_fields__
        return {key: value for key, value in self.__dict__.items() if key in names}

    def __setstate__(self, state):
        self.__dict__.update(state)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Inside, mechanisms are made without warnings of their findings."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def _scalars(columns: Mapping[str, list[Any]]):
    for name, column in columns.items():
        if name == "external_forces":
            for _, _, wrench, point in column:
                yield from (*wrench.moment, *wrench.force, *point)
        else:
            yield from column


def _in_graph(x: Any, graph: Any) -> Any:
    return (
        import_nodes(x, graph)
        if isinstance(x, Expr) and graph is not None and x.graph is not graph
        else x
    )


def _parts(values: Any, kind: type) -> tuple[Any, ...]:
    """Bodies, joints or frames, or a TypeError that says which is none."""
    expected = f"a list of da.{kind.__name__}(...)"
    names = f"{kind.__name__.lower()}s".replace("ys", "ies")
    parts = several(values, names, expected)
    for part in parts:
        if not isinstance(part, kind):
            raise TypeError(f"{names} has {part!r} ({type(part).__name__}); expected {expected}.")
    return parts
