"""Inertias that no distribution of mass has, and the nearest ones that some has."""

from __future__ import annotations

from collections.abc import (
    Iterable,
    Mapping,
)
from dataclasses import replace
from typing import (
    Any,
    NamedTuple,
    TypeVar,
)

import numpy as np

from dalembert.arguments import (
    check_flag,
    check_instance,
)
from dalembert.errors import UnknownNameError
from dalembert.model.findings import Finding
from dalembert.model.linkage import Linkage
from dalembert.model.magnitudes import check_magnitudes
from dalembert.model.masses import NOISE
from dalembert.model.numbers import (
    Number,
    as_float,
    checked,
    is_symbolic,
)
from dalembert.model.parts import Body
from dalembert.model.visuals import Visual
from dalembert.spatial import solids
from dalembert.spatial.rotations import Rotation
from dalembert.spatial.vectors import Matrix

L = TypeVar("L", bound=Linkage)
ROUNDING = 1e-12  # of the largest second moment: below 0 by no more is a sum's rounding
FLOOR = 1e-6  # of the largest second moment, to which those below 0 are raised
LOWER_TRIANGLE = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # the order of Body.inertia


def repaired(mechanism: L, masses: Any, from_shapes: bool) -> L:
    """The mechanism with possible inertias, and a note of each body that is changed."""
    check_instance("masses", masses, Mapping, "{body: mass}, as {'hand': 0.5}")
    check_flag("from_shapes", from_shapes)
    check_magnitudes(mechanism, "repaired")
    names = {body.name for body in mechanism.bodies}
    for name in masses:
        if name not in names:
            raise UnknownNameError("body", name, tuple(sorted(names)))
    size = _size(mechanism)
    repairs = [_repaired_body(b, masses.get(b.name), from_shapes, size) for b in mechanism.bodies]
    notes = tuple(note for repair in repairs for note in repair.notes)
    if not notes:
        return mechanism
    bodies = tuple(repair.body for repair in repairs)
    return replace(mechanism, bodies=bodies, remarks=(*mechanism.remarks, *notes))


class _RepairedBody(NamedTuple):
    """A body, and what was changed of it."""

    body: Body
    notes: list[Finding]


def _size(mechanism: Linkage) -> float:
    """Longest distance of a centre of mass or origin [m]."""
    vectors = [*(b.com for b in mechanism.bodies), *(j.origin.xyz for j in mechanism.joints)]
    return max((abs(as_float(x)) for v in vectors for x in v if not is_symbolic(x)), default=0.0)


def _repaired_body(
    body: Body, mass: Number | None, from_shapes: bool, size: float
) -> _RepairedBody:
    notes = []
    if mass is not None:
        given = checked(mass, f"mass of body {body.name!r}")
        if not is_symbolic(given) and not given > 0:
            raise ValueError(f"masses: {given} kg of body {body.name!r}; expected more than 0.")
        notes.append(_note(body, f"its mass was {body.mass} kg;", f"it is {given} kg, as given."))
        body = replace(body, mass=given)
    if any(map(is_symbolic, (body.mass, *body.inertia))):
        return _RepairedBody(body, notes)
    is_rigid = body.beam is None
    if from_shapes and is_rigid and body.mass > 0 and not any(body.inertia):
        tensor = tensor_of_shapes(body)
        if tensor is not None:
            notes.append(
                _note(
                    body,
                    "it had a mass and moments of 0;",
                    f"they are those of its shapes, filled evenly: {_shown(tensor)} kg m^2.",
                )
            )
            body = _with_tensor(body, tensor)
    if body.mass > 0 and is_impossible(body, size):
        before = _tensor(body)
        body = _with_tensor(body, nearest_tensor(before))
        notes.append(_changed(body, before))
    return _RepairedBody(body, notes)


def is_impossible(body: Body, size: float) -> bool:
    """Whether no distribution of its mass has the inertia of a body; within rounding of doubles, of
    a model of that size [m], it has.
    """
    moments = np.linalg.eigvalsh(second_moments(_tensor(body)))
    noise = NOISE * as_float(body.mass) * size * size
    return bool(-moments[0] > max(ROUNDING * np.abs(moments).max(), noise))


def second_moments(tensor: np.ndarray) -> np.ndarray:
    """J = tr(I)/2 1 - I, the integral of r r^T dm (3, 3) [kg m^2], of an inertia tensor.

    With mass m > 0 and first moment 0 the pseudo-inertia diag(J, m) is positive semidefinite where
    J is: then, and only then, some distribution of mass has the tensor.
    """
    return np.trace(tensor) / 2 * np.eye(3) - tensor


def nearest_tensor(tensor: np.ndarray, least: float | None = None) -> np.ndarray:
    """The inertia tensor (3, 3) [kg m^2] of a distribution of mass that is nearest to a given one,
    in the Frobenius norm of the second moments J.

        J = sum_k lambda_k e_k e_k^T,    nearest: sum_k max(lambda_k, least) e_k e_k^T

    Mass and centre of mass are kept. The least second moment is FLOOR times the largest, or as
    it is given [kg m^2].

    References
    ----------
    Wensing, Kim, Slotine, Linear matrix inequalities for physically consistent inertial parameter
    identification, IEEE Robotics and Automation Letters 3 (2018) 60-67; Higham, Computing a nearest
    symmetric positive semidefinite matrix, Linear Algebra and its Applications 103 (1988) 103-118.
    """
    moments, axes = np.linalg.eigh(second_moments(tensor))
    raised = np.maximum(moments, FLOOR * np.abs(moments).max() if least is None else least)
    J = (axes * raised) @ axes.T
    return np.trace(J) * np.eye(3) - (J + J.T) / 2


def tensor_of_shapes(body: Body) -> np.ndarray | None:
    """Inertia tensor about the common centre of a body's shapes, evenly filled with its mass:
    shapes that collide where it has such, without meshes. None if no shape is left.
    """
    solid = [shape for shape in body.visuals if shape.kind != "mesh"]
    shapes = [shape for shape in solid if not shape.seen] or solid
    volumes = [_volume(shape) for shape in shapes]
    if not sum(volumes) > 0:
        return None
    parts = [
        _of_shape(shape, as_float(body.mass) * volume / sum(volumes))
        for shape, volume in zip(shapes, volumes, strict=True)
    ]
    centre = sum(mass * place for mass, place, _ in parts) / as_float(body.mass)
    return sum(
        tensor + solids.steiner(np.zeros((3, 3)), mass, (place - centre).tolist())
        for mass, place, tensor in parts
    )


def _volume(shape: Visual) -> float:
    """Volume of a shape [m^3]."""
    a, *others = map(as_float, shape.sizes)
    if shape.kind == "sphere":
        return 4 / 3 * np.pi * a**3
    if shape.kind == "cylinder":
        return np.pi * a * a * others[0]
    if shape.kind == "capsule":
        return np.pi * a * a * (others[0] + 4 / 3 * a)
    product = a * others[0] * others[1]
    return product if shape.kind == "box" else 4 / 3 * np.pi * product


def _of_shape(shape: Visual, mass: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre (3,) [m] and tensor (3, 3) in the body's axes of a filled shape."""
    solid = getattr(solids, shape.kind)(mass, *map(as_float, shape.sizes))
    X = shape.origin.transform(as_float)
    turned = _turned(X.R, [float(x) for x in solid.inertia])
    return mass, np.array(X.p, dtype=float), turned


def _turned(R: Rotation, entries: Iterable[float]) -> np.ndarray:
    return np.array(R.conjugate_symmetric(Matrix.symmetric(*entries)), dtype=float)


def _tensor(body: Body) -> np.ndarray:
    return np.array([[as_float(x) for x in row] for row in body.tensor()])


def _with_tensor(body: Body, tensor: np.ndarray) -> Body:
    return replace(body, inertia=tuple(float(tensor[i, j]) for i, j in LOWER_TRIANGLE))


def _changed(body: Body, before: np.ndarray) -> Finding:
    """The note of a tensor that was replaced by the nearest possible one."""
    after = _tensor(body)
    percent = 100 * np.linalg.norm(after - before) / np.linalg.norm(before)
    return _note(
        body,
        f"its inertia {_shown(before)} kg m^2 (xx, xy, yy, xz, yz, zz), which no distribution of mass "
        f"has, became {_shown(after)}, the nearest possible one:",
        f"changed by {percent:.2g} %.",
    )


def _shown(tensor: np.ndarray) -> str:
    entries = (f"{tensor[i, j] + 0.0:.6g}" for i, j in LOWER_TRIANGLE)
    return f"({', '.join(entries)})"


def _note(body: Body, why: str, fix: str) -> Finding:
    return Finding("note", f"body {body.name!r}", why, fix, body.source)
