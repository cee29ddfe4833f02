"""Elastic links over a run: section forces along a beam, and the error of a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.analysis.section_forces import (
    SectionForces,
    elastic_body,
    places_on,
    section_forces_at,
)
from dalembert.displays import brief_repr
from dalembert.errors import DalembertError
from dalembert.kinematics.forces import coulomb
from dalembert.kinematics.poses import placement
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.results.records import along
from dalembert.results.run import Run
from dalembert.spatial.arrays import (
    Array,
    Values,
)

PLACES = 21  # along a beam, where none are given
HALF_TURN = 1e-6  # rad, from which a turn has no single axis


def section_forces(
    run: Run, body: str, x: float | Values | None = None, external_forces: Any = ()
) -> SectionForces:
    """Section forces and moments along a beam over a run.

    The balance of inertia, gravity and loads of all that lies beyond x gives them, with the
    accelerations of the equations of motion.

    Parameters
    ----------
    run : Run
        Of a mechanism with elastic bodies.
    body : str
        Elastic body.
    x : number or (m,) array, optional
        Places along its beam [m]; by default 21 from start to end.
    external_forces : sequence of ExternalForce, optional
        Those that acted, at each record: the run knows only their sum on the joints.

    Returns
    -------
    SectionForces
        force and moment, (K, m, 3) or (N, K, m, 3) [N], [N m]; NaN where the run has ended.

    Raises
    ------
    DalembertError
        The body has no elastic beam; a place is not on it; the forces of the run, or those outside,
        are not known; the mechanism has constraints.
    UnknownNameError
        There is no such body.

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> rod = da.Mechanism("rod", [da.Body("base"), da.Body("rod", beam=beam, modes={"bend_z": 2})],
    ...                    [da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "rod")])
    >>> run = da.simulate(rod, rod.neutral(), [0.0] * 3, 0.1, record=0.05)
    >>> da.section_forces(run, "rod", [0.0, 0.5]).force.shape
    (3, 2, 3)
    """
    mechanism = _mechanism_of(run)
    owner = elastic_body(mechanism, body)
    places = np.linspace(0, as_float(owner.beam.length), PLACES) if x is None else x
    acted = run.forces.get("external_forces", "none")
    if acted != "none" and not tuple(external_forces):
        raise DalembertError(
            "external forces acted in this run, which knows only their sum on the joints: give "
            "external_forces= of each record."
        )
    q, qd = np.asarray(run.q), np.asarray(run.qd)
    tau = np.asarray(run.tau) + np.asarray(run.reactions)
    tau = tau + coulomb(mechanism) * np.sign(qd)  # reactions hold it already
    qdd = run.quantity("forward_dynamics", tau=tau)

    def wrenches(t: Any, q: Any, qd: Any, qdd: Any) -> Any:
        """Forces and moments of some records."""
        found = section_forces_at(
            mechanism, q, qd, qdd, body, places, external_forces=external_forces
        )
        return np.concatenate([found.force, found.moment], axis=-1)

    values = along(np.asarray(run.times), wrenches, q, qd, qdd)
    at = places_on(owner, places) * as_float(owner.beam.length)
    force, moment = values[..., :3], values[..., 3:]
    return SectionForces(mechanism, body, at, np.asarray(run.times), force, moment)


def _mechanism_of(run: Run) -> Mechanism:
    """The mechanism of a run, with its numbers.

    Raises
    ------
    DalembertError
    """
    if not isinstance(run.mechanism, Mechanism):
        raise DalembertError(f"the run is of {run.system.name!r}, which is no mechanism.")
    several = run.parameters and any(np.ndim(value) for value in run.parameters.values())
    if several:
        raise DalembertError(
            "trajectories of this run have numbers of their own: ask with each of its mechanisms, "
            "run.own_mechanism(k)."
        )
    mechanism: Mechanism = run.own_mechanism()
    return mechanism


@dataclass(frozen=True, eq=False)
class TipError:
    """Placement of a frame against the rigid mechanism at the same joint coordinates.

    Attributes
    ----------
    frame : its name
    times : (K,) [s]
    displacement : (K, 3) or (N, K, 3), from the rigid place to the real one, in world axes [m]
    rotation : (K, 3) or (N, K, 3), rotation vector from the rigid placement to the real one, in world
        axes [rad]

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> rod = da.Mechanism("rod", [da.Body("base"), da.Body("rod", beam=beam, modes={"bend_z": 2})],
    ...                    [da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "rod")],
    ...                    [da.Frame("tip", "rod", da.Origin((1.0, 0, 0)))])
    >>> run = da.simulate(rod, rod.neutral(), [0.0] * 3, 0.1, record=0.05)
    >>> da.tip_error(run, "tip").distance.shape
    (3,)
    """

    __repr__ = brief_repr

    frame: str
    times: Array
    displacement: Array
    rotation: Array

    @property
    def distance(self) -> Array:
        """Size of the displacement, (K,) or (N, K) [m]."""
        return np.asarray(np.linalg.norm(self.displacement, axis=-1), dtype=float)

    @property
    def angle(self) -> Array:
        """Size of the rotation, (K,) or (N, K) [rad]."""
        return np.asarray(np.linalg.norm(self.rotation, axis=-1), dtype=float)

    @property
    def largest(self) -> tuple[float, float]:
        """The largest distance [m] and its time [s]."""
        at = np.unravel_index(int(np.nanargmax(self.distance)), self.distance.shape)
        return float(self.distance[at]), float(self.times[at[-1]])


def tip_error(run: Run, frame: str) -> TipError:
    """Difference of a frame's placement over a run to that of the rigid mechanism at the same joint
    coordinates; sensors in the joints do not see it.

    Parameters
    ----------
    run : Run
        Of a mechanism with elastic bodies.
    frame : str

    Returns
    -------
    TipError
        Displacements (K, 3) [m] and rotations (K, 3) [rad], or with N leading; NaN where the run has
        ended.

    Raises
    ------
    UnknownNameError, DalembertError
        There is no such frame; the run is of no mechanism, or of several.

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> rod = da.Mechanism("rod", [da.Body("base"), da.Body("rod", beam=beam, modes={"bend_z": 2})],
    ...                    [da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "rod")],
    ...                    [da.Frame("tip", "rod", da.Origin((1.0, 0, 0)))])
    >>> run = da.simulate(rod, rod.neutral(), [0.0] * 3, 0.1, record=0.05)
    >>> float(da.tip_error(run, "tip").distance[0])
    0.0
    """
    mechanism = _mechanism_of(run)

    def differences(t: Any, q: Any) -> Any:
        """Displacement and rotation of some records."""
        straight = np.array(q, dtype=float)
        for entry in mechanism.body_entries.values():
            straight[..., entry.at_q] = 0.0
        bent = placement(mechanism, q, frame)
        rigid = placement(mechanism, straight, frame)
        turn = bent[..., :3, :3] @ np.swapaxes(rigid[..., :3, :3], -1, -2)
        return np.concatenate([(bent - rigid)[..., :3, 3], _rotation_vectors(turn)], axis=-1)

    values = along(np.asarray(run.times), differences, np.asarray(run.q))
    return TipError(frame, np.asarray(run.times), values[..., :3], values[..., 3:])


def _rotation_vectors(R: Array) -> Array:
    """Rotation vectors (..., 3) of matrices (..., 3, 3) that turn by less than half a turn."""
    axial = np.stack(
        [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], -1
    )
    sine = np.linalg.norm(axial, axis=-1) / 2
    cosine = (np.trace(R, axis1=-2, axis2=-1) - 1) / 2
    angle = np.arctan2(sine, cosine)
    if (angle > np.pi - HALF_TURN).any():
        raise DalembertError("a frame is turned by half a turn: its rotation has no single axis.")
    factor = np.divide(angle, 2 * sine, out=np.full_like(sine, 0.5), where=sine > 0)
    return axial * factor[..., None]  # type: ignore[no-any-return]
