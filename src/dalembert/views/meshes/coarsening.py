"""Coarser surfaces: the corners within each cell of a grid become one, at the place that is nearest
to the planes of their triangles, so that edges stay sharp.

References
----------
Lindstrom, Out-of-core simplification of large polygonal models (SIGGRAPH 2000).
"""

from __future__ import annotations

import numpy as np

from dalembert.views.solids.triangles import Triangles

SAME = 1e-5  # of the size: corners that are nearer are one
FLAT = 1e-2  # of the planes' weight: pull to the middle of a cell where its planes leave a freedom
GROWTH = 1.15  # of the cells, at least, from one try to the next
CELLS = 2**20  # along an axis: three numbers of cells fit an integer


def coarser(triangles: Triangles, most: int) -> Triangles:
    """The surface with its equal corners as one, without vertices of no triangle, and with so many
    triangles at most.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.meshgrid(np.linspace(0, 1, 30), np.linspace(0, 1, 30))
    >>> corners = np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1)
    >>> first = np.arange(29 * 30).reshape(29, 30)[:, :-1].ravel()
    >>> faces = np.stack([first, first + 1, first + 31], axis=1)
    >>> len(coarser((corners, faces), 200)[1]) <= 200
    True
    """
    vertices, faces = triangles
    if not len(faces):
        return vertices, faces
    used, faces = np.unique(faces, return_inverse=True)
    vertices, faces = vertices[used], faces.reshape(-1, 3)
    size = float(np.ptp(vertices, axis=0).max())
    if size == 0:
        return vertices, faces[:0]
    cell = SAME * size
    vertices, faces = _joined(vertices, faces, cell)
    while len(faces) > most:
        corners = vertices[faces]
        doubled = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = float(np.linalg.norm(doubled, axis=1).sum()) / 2
        cell = max(cell * GROWTH, float(np.sqrt(2 * area / most)))
        coarse = _clustered(vertices, faces, cell)
        cell *= float(np.sqrt(max(len(coarse[1]) / most, 1.0)))
        if len(coarse[1]) <= most:
            return coarse
    return vertices, faces


def _cells(vertices: np.ndarray, cell: float) -> np.ndarray:
    """Number of the cell of each vertex."""
    places = ((vertices - vertices.min(axis=0)) / cell + 0.5).astype(np.int64)
    keys = (places[:, 0] * CELLS + places[:, 1]) * CELLS + places[:, 2]
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def _joined(vertices: np.ndarray, faces: np.ndarray, cell: float) -> Triangles:
    """The surface with a single vertex in each cell, which was there."""
    cells = _cells(vertices, cell)
    chosen = np.zeros((cells.max() + 1, 3))
    chosen[cells] = vertices
    return chosen, _faces(cells[faces])


def _faces(faces: np.ndarray) -> np.ndarray:
    """Faces with three corners, each once."""
    first, second, third = faces.T
    return np.unique(
        faces[(first != second) & (second != third) & (third != first)],
        axis=0,
    )


def _clustered(vertices: np.ndarray, faces: np.ndarray, cell: float) -> Triangles:
    """The surface with a vertex in each cell, at the least distance from the planes there.

    min_x  sum_faces (n^T (x - p))^2 + FLAT tr(A) |x|^2,  A = sum n n^T,  n of twice the face's area,
    x and p from the middle of the vertices of the cell
    """
    cells = _cells(vertices, cell)
    count = int(cells.max()) + 1
    middles = _sums(cells, vertices, count) / np.bincount(cells)[:, None]
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    A = np.zeros((count, 3, 3))
    b = np.zeros((count, 3))
    outer = (normals[:, :, None] * normals[:, None, :]).reshape(-1, 9)
    for k in range(3):
        at = cells[faces[:, k]]
        distances = ((corners[:, k] - middles[at]) * normals).sum(axis=1)
        A += _sums(at, outer, count).reshape(-1, 3, 3)
        b += _sums(at, normals * distances[:, None], count)
    pull = FLAT * np.trace(A, axis1=1, axis2=2) + np.finfo(float).tiny
    A += pull[:, None, None] * np.eye(3)
    moves = np.linalg.solve(A, b[:, :, None])[:, :, 0]
    lengths = np.linalg.norm(moves, axis=1)
    moves *= np.minimum(1.0, cell / np.maximum(lengths, np.finfo(float).tiny))[:, None]
    return middles + moves, _faces(cells[faces])


def _sums(groups: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Sums of rows (N, k) by group."""
    columns = [np.bincount(groups, column, minlength=count) for column in values.T]
    return np.stack(columns, axis=1)
