"""Natural vibrations of mechanisms about states: frequencies, damping, shapes, and their change along
a way of configurations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import (
    dataclass,
    field,
    replace,
)
from typing import Any

import numpy as np

from dalembert.analysis.ports import turns
from dalembert.analysis.vibration_model import (
    DampedFrequencies,
    VibrationModel,
)
from dalembert.compiled.static_deflection import in_equilibrium
from dalembert.compiled.tangent_matrices import (
    checked_mechanism,
    entries_named,
    external_matrices,
    full_coordinates,
    full_velocities,
    passive_matrices,
    tangent_matrices,
)
from dalembert.displays import brief_repr
from dalembert.errors import (
    DalembertError,
    ShapeError,
)
from dalembert.kinematics.jacobians import jacobian
from dalembert.kinematics.poses import placement
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.model.origins import Origin
from dalembert.model.parts import (
    Body,
    Frame,
)
from dalembert.spatial.arrays import (
    Array,
    Values,
)

STATIONS = 21  # along a beam, where no number is given
SHOWN = 0.15  # displacement of a mode in a picture, of the extent of the mechanism
APART = 20.0  # decibel between lines of a waterfall


def vibration_model(
    mechanism: Mechanism,
    q: Values,
    locked: Any = (),
    qd: Values | None = None,
    equilibrium: bool = False,
    external_forces: Any = (),
) -> VibrationModel:
    """Linear model of small motions about a state: M x'' + (D + G) x' + K x = forces.

        K = d ID(q, qd, 0)/dq - d(J^T f)/dq,    D + G = d ID(q, qd, 0)/dqd

    K has the elastic stiffness, and the geometric one of gravity, external forces and steady turning
    qd, which changes neither q of elastic bodies nor the model where it is about an axis of symmetry
    of what does not turn.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array, or {coordinate: number}
        Coordinates; those that are not named are neutral [rad, m].
    locked : sequence of str, or 'all'
        Joints, elastic bodies or single velocities that are held, or led with the velocity qd.
    qd : (nv,) or (N, nv) array, or {velocity: number}, optional
        Steady turning [rad/s, m/s].
    equilibrium : bool
        About the static equilibrium of elastic bodies, joints held at q, in place of q itself.
    external_forces : sequence of ExternalForce, optional
        Constant loads, whose stiffness counts.

    Returns
    -------
    VibrationModel
        M, D, G, K of the n coordinates that are not locked, (n, n) or (N, n, n).

    Raises
    ------
    DalembertError
        Everything is locked; the mechanism has constraints.
    EquilibriumError
        No stable equilibrium is found.
    ShapeError, UnknownNameError, ValueError, QuaternionError
        A vector has the wrong length; there is no such joint.

    Examples
    --------
    >>> import dalembert as da
    >>> da.vibration_model(da.planar_chain(2), [-1.5707963267948966, 0.0], locked=["q1"]).mass.round(4)
    array([[0.3333]])
    """
    checked_mechanism(mechanism, "has no linear model of vibrations")
    coordinates = full_coordinates(mechanism, q)
    velocities = None if qd is None else full_velocities(mechanism, qd)
    if equilibrium:
        coordinates = in_equilibrium(mechanism, coordinates, external_forces, velocities)
    locked_entries = {*entries_named(mechanism, locked)}
    free = [k for k in range(mechanism.nv) if k not in locked_entries]
    if not free:
        raise DalembertError(f"all coordinates of {mechanism.name!r} are locked: nothing moves.")
    return _model(mechanism, coordinates, velocities, free, external_forces)


def _model(
    mechanism: Mechanism, q: Array, qd: Array | None, free: Sequence[int], external_forces: Any
) -> VibrationModel:
    single = q.ndim == 1 and (qd is None or qd.ndim == 1)
    count = max(len(np.atleast_2d(q)), 1 if qd is None else len(np.atleast_2d(qd)))
    rows = np.broadcast_to(q, (count, mechanism.nq))
    found = tangent_matrices(mechanism, rows, qd)
    _, loads = external_matrices(mechanism, rows, external_forces)
    at = np.ix_(range(count), free, free)
    damping = passive_matrices(mechanism, rows, qd)[1]
    gyroscopic = np.zeros_like(found.mass) if qd is None else found.velocity - damping
    matrices = [
        found.mass[at],
        damping[at],
        gyroscopic[at],
        (found.stiffness - loads)[at],
    ]
    names = tuple(mechanism.velocity_names[k] for k in free)
    M, D, G, K = (x[0] if single else x for x in matrices)
    return VibrationModel(names, M, D, G, K, tuple(free))


def natural_frequencies(
    mechanism: Mechanism,
    q: Values,
    locked: Any = (),
    qd: Values | None = None,
    equilibrium: bool = False,
    external_forces: Any = (),
) -> Array:
    """Natural frequencies of small vibrations about a state, without damping.

        (K - w^2 M + i w G) x = 0

    The state is q as it is given, or the static equilibrium of its elastic bodies. Gyroscopic terms G
    of a turning qd are in it.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array, or {coordinate: number}
        Coordinates; those that are not named are neutral [rad, m].
    locked : sequence of str, or 'all'
        Joints, elastic bodies or single velocities that are held, or led with the velocity qd.
    qd : (nv,) or (N, nv) array, or {velocity: number}, optional
        Steady turning [rad/s, m/s].
    equilibrium : bool
        About the static equilibrium of elastic bodies, joints held at q, in place of q itself.
    external_forces : sequence of ExternalForce, optional
        Constant loads, whose stiffness counts.

    Returns
    -------
    (n,) or (N, n) array
        [rad/s], ascending; 0 of motions that nothing holds.

    Raises
    ------
    DalembertError
        The state is unstable; everything is locked; the mechanism has constraints.
    SingularMassMatrixError, EquilibriumError
        A coordinate moves no mass; no stable equilibrium is found.
    ShapeError, UnknownNameError, ValueError, QuaternionError
        A vector has the wrong length; there is no such joint.

    Examples
    --------
    >>> import dalembert as da
    >>> da.natural_frequencies(da.planar_chain(2), {"q1": -1.5707963267948966}).round(3)
    array([2.68 , 7.189])
    """
    model = vibration_model(
        mechanism,
        q,
        locked,
        qd,
        equilibrium,
        external_forces,
    )
    return model.frequencies


def damped_frequencies(
    mechanism: Mechanism,
    q: Values,
    locked: Any = (),
    qd: Values | None = None,
    equilibrium: bool = False,
    external_forces: Any = (),
) -> DampedFrequencies:
    """Eigenvalues of small motions about a state, with damping; also of unstable states.

        (M s^2 + (D + G) s + K) x = 0

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array, or {coordinate: number}
        Coordinates; those that are not named are neutral [rad, m].
    locked : sequence of str, or 'all'
        Joints, elastic bodies or single velocities that are held, or led with the velocity qd.
    qd : (nv,) or (N, nv) array, or {velocity: number}, optional
        Steady turning [rad/s, m/s].
    equilibrium : bool
        About the static equilibrium of elastic bodies, joints held at q, in place of q itself.
    external_forces : sequence of ExternalForce, optional
        Constant loads, whose stiffness counts.

    Returns
    -------
    DampedFrequencies
        eigenvalues s [1/s], frequencies |Im s| [rad/s] and damping ratios, (2 n,) or (N, 2 n) each.

    Raises
    ------
    DalembertError
        Everything is locked; the mechanism has constraints.
    EquilibriumError
        No stable equilibrium is found.
    ShapeError, UnknownNameError, ValueError, QuaternionError
        A vector has the wrong length; there is no such joint.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(1).replace({"q1.viscous[0]": 0.5})
    >>> da.damped_frequencies(arm, [-1.5707963267948966]).ratios.round(4)
    array([0.1955, 0.1955])
    """
    model = vibration_model(
        mechanism,
        q,
        locked,
        qd,
        equilibrium,
        external_forces,
    )
    return model.damped()


@dataclass(frozen=True, eq=False)
class ModeShapes:
    """Natural vibrations as motions along the bodies; see `mode_shapes`.

    Attributes
    ----------
    frequencies : (m,) [rad/s], ascending
    vectors : (n, m), modes of the free coordinates, of unit mass: V^T M V = 1
    ratios : (m,), damping ratios v^T D v / (2 w), each mode alone; 0 where w is 0
    names : of the free coordinates
    positions : {body: (k,)}, x along the body's beam [m]; 0 of rigid bodies
    places : {body: (k, 3)}, its places in the world at the state q [m]
    displacements, rotations : {body: (m, k, 3)}, of each mode, in world axes, for unit mass
        [m/sqrt(kg m^2), and the like]

    Examples
    --------
    >>> import dalembert as da
    >>> shapes = da.mode_shapes(da.planar_chain(2), {"q1": -1.5707963267948966})
    >>> sorted(shapes.places), shapes.displacements["link2"].shape
    (['link1', 'link2'], (2, 1, 3))
    """

    __repr__ = brief_repr

    frequencies: Array
    vectors: Array
    ratios: Array
    names: tuple[str, ...]
    positions: dict[str, Array]
    places: dict[str, Array]
    displacements: dict[str, Array]
    rotations: dict[str, Array]

    def draw(self, axes: Any, size: float = SHOWN) -> Any:
        """Modes on axes of Matplotlib, over the bodies at rest: in the plane of the two world axes
        along which they extend most.

        Parameters
        ----------
        axes : Axes, of `matplotlib.figure.Figure().subplots()`
        size : float
            Largest displacement drawn, as a part of the extent of the mechanism.

        Returns
        -------
        list of the lines of the modes

        Examples
        --------
        >>> import dalembert as da
        >>> from matplotlib.figure import Figure
        >>> shapes = da.mode_shapes(da.planar_chain(2), {"q1": -1.5707963267948966})
        >>> len(shapes.draw(Figure().subplots()))
        2
        """
        bodies = list(self.places)
        rest = np.vstack([self.places[body] for body in bodies])
        motions = np.concatenate([self.displacements[body] for body in bodies], axis=1)
        extent = max(float(np.ptp(rest, axis=0).max()), 1e-12)
        most = np.abs(motions).max(axis=(1, 2), keepdims=True)
        moved = rest + motions * (size * extent / np.where(most > 0, most, 1.0))
        spread = np.ptp(np.vstack([rest, *moved]), axis=0)
        across, up = sorted(np.argsort(-spread, kind="stable")[:2])
        axes.plot(rest[:, across], rest[:, up], color="0.6", linewidth=3, label="at rest")
        lines = [
            axes.plot(points[:, across], points[:, up], label=f"{w:.4g} rad/s")[0]
            for points, w in zip(moved, self.frequencies, strict=True)
        ]
        axes.set_xlabel(f"{'xyz'[across]} [m]")
        axes.set_ylabel(f"{'xyz'[up]} [m]")
        axes.set_aspect("equal", adjustable="datalim")
        axes.legend(fontsize="small")
        return lines


def mode_shapes(
    mechanism: Mechanism,
    q: Values,
    locked: Any = (),
    count: int | None = None,
    equilibrium: bool = False,
    stations: int = STATIONS,
) -> ModeShapes:
    """Natural vibrations about a state at rest, as displacements along each body.

    Modes have unit mass; the largest coordinate of each is positive.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) array, or {coordinate: number}
        Coordinates of one state [rad, m].
    locked : sequence of str, or 'all'
        Joints, elastic bodies or single velocities that are held.
    count : int, optional
        Number of modes from the lowest, by default all.
    equilibrium : bool
        About the static equilibrium of elastic bodies, joints held at q.
    stations : int
        Number of places along each beam; rigid bodies have one, their origin.

    Returns
    -------
    ModeShapes

    Raises
    ------
    DalembertError
        The state is unstable; everything is locked; the mechanism has constraints.
    SingularMassMatrixError, EquilibriumError
        A coordinate moves no mass; no stable equilibrium is found.
    ShapeError, UnknownNameError, ValueError, QuaternionError
        A vector has the wrong length, or there are several states; there is no such joint.

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 5})],
    ...                    [da.Joint("clamp", da.Fixed(), "wall", "rod")])
    >>> shapes = da.mode_shapes(rod, rod.neutral(), count=2)
    >>> shapes.displacements["rod"][:, -1, 2].round(3)       # 2 / sqrt(mass) at the tip
    array([ 2., -2.])
    """
    checked_mechanism(mechanism, "has no modes")
    coordinates = full_coordinates(mechanism, q)
    if coordinates.ndim != 1:
        raise ShapeError(
            f"q has shape {coordinates.shape}: mode shapes are of one state.",
            "q",
            coordinates.shape,
        )
    if equilibrium:
        coordinates = in_equilibrium(mechanism, coordinates)
    model = vibration_model(mechanism, coordinates, locked)
    w, vectors = (x[..., :count] for x in model.modes)
    power = np.einsum("im,ij,jm->m", vectors, model.damping, vectors)
    ratios = np.divide(power, 2 * w, out=np.zeros_like(w), where=w > 0)
    columns = np.zeros((mechanism.nv, len(w)))
    columns[list(model.entries)] = vectors
    along = {b.name: _stations(b, stations) for b in mechanism.bodies[1:]}
    marked, frames = with_stations(mechanism, along)
    places = {}
    linear = {}
    angular = {}
    for body, names in frames.items():
        places[body] = np.stack([placement(marked, coordinates, f)[:3, 3] for f in names])
        moved = np.stack([(jacobian(marked, coordinates, f) @ columns).T for f in names], axis=1)
        angular[body], linear[body] = moved[..., :3], moved[..., 3:]
    return ModeShapes(w, vectors, ratios, model.names, along, places, linear, angular)


def _stations(body: Body, count: int) -> Array:
    """Places along a body's beam; the origin of a rigid body."""
    if body.beam is None:
        return np.zeros(1)
    return np.linspace(0.0, as_float(body.beam.length), count)


def with_stations(
    mechanism: Mechanism, along: dict[str, Array]
) -> tuple[Mechanism, dict[str, list[str]]]:
    """The mechanism with a frame at each place along bodies, and their names."""
    frames = list(mechanism.frames)
    names: dict[str, list[str]] = {}
    for body, positions in along.items():
        beam = mechanism.body(body).beam
        start = Origin() if beam is None else beam.origin
        names[body] = [f"{body} at {k} of {len(positions)} stations" for k in range(len(positions))]
        for name, x in zip(names[body], positions, strict=True):
            frames.append(Frame(name, body, _moved_along(start, float(x))))
    return replace(mechanism, frames=tuple(frames)), names


def _moved_along(start: Origin, x: float) -> Origin:
    """The place at x along a beam, seen from its body."""
    if start == Origin():
        return Origin((x, 0, 0))
    placed = start.transform(as_float)
    xyz = placed.point_to_parent(type(placed.p)((x, 0, 0)))
    return Origin(tuple(float(c) for c in xyz), start.rotations)


@dataclass(frozen=True, eq=False)
class FrequencyMap:
    """Natural frequencies along a way of configurations; see `frequency_map`.

    Attributes
    ----------
    parameter : (K,), where each configuration stands on the way
    label : of the parameter, with its unit
    frequencies : (K, m) [rad/s], ascending at each
    q : (K, nq), the configurations [rad, m]
    locked : names of what is held

    Examples
    --------
    >>> import dalembert as da
    >>> chart = da.frequency_map(da.planar_chain(2), {"q1": -1.57, "q2": [0.0, 0.3, 0.6]}, locked=["q1"])
    >>> chart.label, chart.frequencies.round(2).T
    ('q2 [rad]', array([[3.84, 3.75, 3.48]]))
    """

    __repr__ = brief_repr

    parameter: Array
    label: str
    frequencies: Array
    q: Array = field(repr=False)
    locked: tuple[str, ...]

    def draw(self, axes: Any, most: float | None = None) -> Any:
        """Frequencies along the way on axes of Matplotlib.

        Parameters
        ----------
        axes : Axes, of `matplotlib.figure.Figure().subplots()`
        most : float, optional
            Highest frequency shown [rad/s].

        Returns
        -------
        list of lines, a frequency each

        Examples
        --------
        >>> import dalembert as da
        >>> from matplotlib.figure import Figure
        >>> chart = da.frequency_map(da.planar_chain(2), {"q1": -1.57, "q2": [0.0, 0.3, 0.6]})
        >>> len(chart.draw(Figure().subplots()))
        2
        """
        lines = [axes.plot(self.parameter, row)[0] for row in self.frequencies.T]
        axes.set_xlabel(self.label)
        axes.set_ylabel("natural frequencies [rad/s]")
        axes.set_ylim(0.0, most)
        return lines

    def waterfall(self, axes: Any, most: float | None = None, ratio: float = 0.01) -> Any:
        """Resonance peaks along the way on axes of Matplotlib: a line for each configuration, above
        the one before.

            sum_k 1 / sqrt((1 - (w / w_k)^2)^2 + (2 ratio w / w_k)^2), in decibel

        Parameters
        ----------
        axes : Axes, of `matplotlib.figure.Figure().subplots()`
        most : float, optional
            Highest frequency shown [rad/s]; by default above the second of the stiffest configuration.
        ratio : float
            Damping ratio that is drawn, of every vibration.

        Returns
        -------
        list of lines, a configuration each

        Examples
        --------
        >>> import dalembert as da
        >>> from matplotlib.figure import Figure
        >>> chart = da.frequency_map(da.planar_chain(2), {"q1": -1.57, "q2": [0.0, 0.3, 0.6]})
        >>> len(chart.waterfall(Figure().subplots()))
        3
        """
        known = self.frequencies[:, : min(2, self.frequencies.shape[1])]
        w = np.linspace(0.0, most or 1.2 * float(known.max()), 400)
        lines = []
        for k, own in enumerate(self.frequencies):
            part = w[:, None] / own[own > 0]
            peaks = 1 / np.hypot(1 - part**2, 2 * ratio * part)
            level = 20 * np.log10(peaks.sum(axis=1) / max((own > 0).sum(), 1))
            lines.append(axes.plot(w, level / APART + k, color="0.2", linewidth=0.8)[0])
        axes.set_xlabel("frequency [rad/s]")
        axes.set_ylabel(self.label)
        shown = np.unique(np.linspace(0, len(self.parameter) - 1, 7).round().astype(int))
        axes.set_yticks(shown, [f"{self.parameter[k]:.3g}" for k in shown])
        return lines


def frequency_map(
    mechanism: Mechanism,
    q: Values,
    locked: Any = (),
    parameter: Values | None = None,
    label: str = "",
    equilibrium: bool = False,
) -> FrequencyMap:
    """Natural frequencies along a way of configurations, as data of a picture.

    Parameters
    ----------
    mechanism : Mechanism
    q : (K, nq) array, or {coordinate: number or (K,)}
        Configurations [rad, m].
    locked : sequence of str, or 'all'
        Joints, elastic bodies or single velocities that are held.
    parameter : (K,) array, optional
        Where each stands; by default the one coordinate that changes, else the number.
    label : str
        Of the parameter.
    equilibrium : bool
        About the static equilibrium of elastic bodies, joints held at q.

    Returns
    -------
    FrequencyMap
        Frequencies (K, n) [rad/s].

    Raises
    ------
    ShapeError, UnknownNameError, ValueError, QuaternionError
        There is one configuration alone; a vector has the wrong length; there is no such joint.
    DalembertError, EquilibriumError
        A state is unstable; everything is locked; no stable equilibrium is found.

    Examples
    --------
    >>> import dalembert as da
    >>> chart = da.frequency_map(da.planar_chain(2), {"q1": -1.57, "q2": [0.0, 0.3, 0.6]})
    >>> chart.frequencies.shape
    (3, 2)
    """
    checked_mechanism(mechanism, "has no frequencies")
    coordinates = full_coordinates(mechanism, q)
    if coordinates.ndim != 2:
        raise ShapeError(
            "a map needs several configurations: q (K, nq), or {coordinate: (K,)}.",
            "q",
            coordinates.shape,
        )
    changing = np.flatnonzero(np.ptp(coordinates, axis=0) > 0)
    if parameter is None and len(changing) == 1:
        parameter = coordinates[:, changing[0]]
        label = label or _coordinate_label(mechanism, int(changing[0]))
    values = np.arange(float(len(coordinates))) if parameter is None else np.asarray(parameter)
    if values.shape != (len(coordinates),):
        raise ShapeError(
            f"parameter has shape {values.shape}, expected ({len(coordinates)},).",
            "parameter",
            values.shape,
        )
    w = natural_frequencies(mechanism, coordinates, locked, equilibrium=equilibrium)
    names = tuple(mechanism.velocity_names[k] for k in entries_named(mechanism, locked))
    return FrequencyMap(values, label or "configuration", w, coordinates, names)


def _coordinate_label(mechanism: Mechanism, entry: int) -> str:
    name = mechanism.coordinate_names[entry]
    if name not in mechanism.velocity_names:  # an entry of a quaternion
        return name
    return f"{name} [{'rad' if turns(mechanism, name) else 'm'}]"
