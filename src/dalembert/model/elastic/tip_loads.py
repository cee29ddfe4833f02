"""Load at the end of an elastic link: bodies that are fixed there."""

from __future__ import annotations

from typing import NamedTuple

from dalembert.arguments import check_choice
from dalembert.beams.shape_functions import (
    BEND_Z,
    DIRECTIONS,
    TWIST,
)
from dalembert.errors import ModelError
from dalembert.model.linkage import Linkage
from dalembert.model.numbers import as_float
from dalembert.spatial.inertias import (
    NO_INERTIA,
    Inertia,
)
from dalembert.spatial.rotations import (
    Dense,
    Rotation,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Matrix

SNAP = 1e-9  # of the length: a joint this near to the end is at it


class TipLoad(NamedTuple):
    """Numbers of a load at the end of a beam, as `da.beams.clamped_loaded` takes them.

    Examples
    --------
    >>> import dalembert as da
    >>> load = da.TipLoad(mass_ratio=2.0, inertia_ratio=0, offset=0)
    >>> da.beams.clamped_loaded(3, *load).count
    3
    """

    mass_ratio: float
    inertia_ratio: float
    offset: float


def tip_load(mechanism: Linkage, body: str, direction: str = "bend_y") -> TipLoad:
    """Load of the bodies on fixed joints at the end of an elastic body; bodies beyond other joints,
    which move, are left out.

    Parameters
    ----------
    mechanism : Mechanism
    body : str
        Name of a body with a beam.
    direction : str
        'bend_y', 'bend_z', 'twist' or 'stretch'.

    Returns
    -------
    TipLoad
        mass_ratio, inertia_ratio, offset [-].

    Raises
    ------
    UnknownNameError, ModelError, TypeError
        There is no such body or direction; the body has no beam; a body at its end has one; a
        number is a symbol.

    Examples
    --------
    >>> import dalembert as da
    >>> link = da.Body("link", beam=da.Beam(0.8, EIz=129.4, mass_per_length=0.25), modes={"bend_y": 2})
    >>> arm = da.Mechanism("arm", [da.Body("base"), link], [da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "link")])
    >>> loaded = arm.attach(da.Body("load", 2.0), "link", origin=(0.8, 0, 0))
    >>> load = da.tip_load(loaded, "link")
    >>> load.mass_ratio
    10.0
    >>> modal = loaded.elastic({"link": link.beam}, modes={"bend_y": da.beams.clamped_loaded(2, *load)})
    """
    check_choice("direction", direction, DIRECTIONS)
    beam = mechanism.body(body).beam
    if beam is None:
        raise ModelError(f"body {body!r} has no beam. Name an elastic body.")
    length, start = as_float(beam.length), beam.origin.transform(as_float)
    total = NO_INERTIA
    for joint in mechanism.joints:
        if joint.parent == body and joint.is_fixed:
            X = _inverse(start) * joint.origin.transform(as_float)
            if X.p[0] >= length * (1 - SNAP):
                total = total + _carried(mechanism, joint.child, X)
    mass = float(total.m)
    offset = total.h[0] / mass - length if mass else 0.0
    along = mass * (length + offset) ** 2  # of the mass, about the start
    if direction == TWIST:
        inertia = total.tensor()[0][0] / (length * beam.along("rotary_inertia[0]").integral())
    else:
        axis = 1 if direction == BEND_Z else 2
        inertia = (total.tensor()[axis][axis] - along) / (as_float(beam.mass) * length**2)
    return TipLoad(mass / as_float(beam.mass), max(float(inertia), 0.0), offset / length)


def _carried(mechanism: Linkage, name: str, X: Transform) -> Inertia:
    """Inertia of a body and of all that is fixed to it, in the axes of the beam."""
    body = mechanism.body(name)
    if body.beam is not None:
        raise ModelError(f"body {name!r} at the end has a beam; a load is of rigid bodies.")
    total = body.spatial_inertia(as_float).to_parent(X)
    for joint in mechanism.joints:
        if joint.parent == name and joint.is_fixed:
            inner = X * joint.origin.transform(as_float)
            total = total + _carried(mechanism, joint.child, inner)
    return total


def _inverse(X: Transform) -> Transform:
    R: Rotation = Dense(Matrix(X.R.matrix().T))
    return Transform(R.to_parent(X.p * -1), R)
