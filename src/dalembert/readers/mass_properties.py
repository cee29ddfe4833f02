"""Mass properties as users give them: (mass, com, tensor about the centre of mass), numbers or
texts of arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dalembert.model.numbers import Number, as_float, is_symbolic
from dalembert.model.origins import Origin
from dalembert.model.parts import Body
from dalembert.readers.arithmetic import given_number, plain
from dalembert.spatial.vectors import Matrix, Vector

LOWER = ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))  # the order of Body.inertia
ASYMMETRY = 1e-9  # of the largest entry: R I R^T computed in floats is symmetric to some 1e-16


def tensor_entries(rows: Sequence[Sequence[Number]], where: str) -> tuple[Number, ...]:
    """(Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of a symmetric 3x3 matrix; ValueError if it is not symmetric."""
    largest = max(
        (abs(as_float(x)) for row in rows for x in row if not is_symbolic(x)), default=0.0
    )
    for i, j in LOWER:
        a = rows[i][j]
        b = rows[j][i]
        if a != b and (
            is_symbolic(a) or is_symbolic(b) or abs(as_float(a) - as_float(b)) > ASYMMETRY * largest
        ):
            raise ValueError(
                f"{where} is not symmetric: entry [{i}][{j}] is {a}, entry [{j}][{i}] is {b}."
            )
    return tuple(rows[i][j] for i, j in LOWER)


def body_of(name: str, properties: Any, frame: Origin | None = None) -> Body:
    """A body with (mass, com, tensor), each in the axes of a frame on the body, or massless for
    None.

    The tensor is 3x3 or (Ixx, Ixy, Iyy, Ixz, Iyz, Izz). The frame (None: the body's own) turns and
    shifts com and tensor exactly: by its sines and cosines, which are exact for multiples of pi/12
    and symbols.

    Raises
    ------
    ValueError, TypeError
    """
    if properties is None:
        return Body(name)
    what = f"inertia of body {name!r}"
    if not isinstance(properties, Sequence) or isinstance(properties, str) or len(properties) != 3:
        raise ValueError(
            f"{what} is {properties!r}; expected (mass, com, tensor about the centre of mass) or "
            "None."
        )
    mass = given_number(properties[0], f"mass of body {name!r}")
    com = numbers(properties[1], 3, f"com of body {name!r}")
    tensor = entries(properties[2], what)
    if len(tensor) == 3:
        tensor = tensor_entries(
            [numbers(row, 3, f"{what}[{i}]") for i, row in enumerate(tensor)], what
        )
    else:
        tensor = numbers(tensor, 6, what)
    if frame is None or frame == Origin():
        return Body(name, mass, com, tensor)
    X = frame.transform(lambda x: x, exact=True)
    turned = X.R.conjugate_symmetric(Matrix.symmetric(*tensor))
    return Body(
        name,
        mass,
        tuple(map(plain, X.point_to_parent(Vector(com)))),
        tuple(plain(turned[i][j]) for i, j in LOWER),
    )


def numbers(values: Any, length: int, what: str) -> tuple[Number, ...]:
    """A vector of numbers given as numbers or texts of arithmetic."""
    values = entries(values, what)
    if len(values) != length:
        raise ValueError(f"{what} has {len(values)} entries, expected {length}.")
    return tuple(given_number(x, f"{what}[{k}]") for k, x in enumerate(values))


def entries(values: Any, what: str) -> tuple[Any, ...]:
    """The entries of a list, tuple or array."""
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise ValueError(f"{what} is {values!r}; expected a list of numbers.")
    return tuple(values)
