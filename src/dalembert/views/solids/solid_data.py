"""A solid: the shape of a body, or of a part of it, in pictures; and the colours of its roles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Colour = tuple[float, float, float, float]


def colour_of(text: str) -> Colour:
    """'#rrggbb' as numbers from 0 to 1, opaque."""
    red, green, blue = (int(text[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return red, green, blue, 1.0


# Colours that stand out from light and from dark paper.
COLOURS = {
    "link": colour_of("#5f92c4"),
    "body": colour_of("#5f92c4"),
    "beam": colour_of("#5f92c4"),
    "joint": colour_of("#46566a"),
    "collar": colour_of("#e08a3c"),
    "tip": colour_of("#e08a3c"),
    "bob": colour_of("#e08a3c"),
    "wheel": colour_of("#46566a"),
    "closure": colour_of("#9a68c0"),
    "rail": colour_of("#8d99a5"),
    "base": colour_of("#7b8894"),
    "pedestal": colour_of("#b4bec7"),
    "given": colour_of("#a9b6c2"),
}


class Solid(NamedTuple):
    """A shape that rides on a body.

    body : name of the body
    kind : 'box', 'sphere', 'ellipsoid', 'cylinder', 'capsule' or 'mesh' with the sizes of `da.Visual`,
        or 'tapered', a capsule with a radius at each end: (radius at -z, radius at +z, length
        between the centres of its caps)
    pose : (4, 4) of the shape's centre and axes in the body's axes [m]
    sizes : [m]; of a mesh factors
    colour : (red, green, blue, opacity), from 0 to 1
    role : 'link', 'body', 'joint', 'collar', 'tip', 'bob', 'wheel', 'closure', 'rail', 'base', 'beam'
        (the straight centre line of an elastic body), 'pedestal', 'given' (by the file), or
        'fallback' (drawn where the meshes of its body cannot be)
    mesh : file of a mesh, as it is written
    """

    body: str
    kind: str
    pose: np.ndarray
    sizes: tuple[float, ...]
    colour: Colour = COLOURS["link"]
    role: str = "link"
    mesh: str = ""


def solid(body: str, role: str, kind: str, pose: np.ndarray, *sizes: float) -> Solid:
    """A solid in the colour of its role."""
    return Solid(body, kind, pose, tuple(map(float, sizes)), COLOURS[role], role)


def posed(position: np.ndarray, axis: np.ndarray | None = None) -> np.ndarray:
    """Pose at a position whose axis z is along a vector."""
    pose = np.eye(4)
    pose[:3, 3] = position
    if axis is not None:
        pose[:3, :3] = along(axis)
    return pose


def along(axis: np.ndarray) -> np.ndarray:
    """Rotation matrix (3, 3) with z along a vector, which is not 0."""
    z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    side = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = side - z * (z @ side)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def between(
    body: str, role: str, ends: tuple[np.ndarray, np.ndarray], radii: tuple[float, float]
) -> Solid:
    """A tapered capsule between two points of a body."""
    start, end = ends
    way = end - start
    return solid(
        body, role, "tapered", posed((start + end) / 2, way), *radii, float(np.linalg.norm(way))
    )
