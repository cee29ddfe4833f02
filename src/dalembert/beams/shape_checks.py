"""Checks of shape functions."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dalembert.beams.beam_quadrature import gauss
from dalembert.beams.shape_functions import ShapeFunctions, bends
from dalembert.errors import ModelError

SINGULAR = 1e-11  # least singular value of strains of unit size; below it functions are dependent
AT_START = 1e-9  # of the largest value
INVOLVED = 0.1  # least factor of a function in a combination that vanishes


def check_shapes(direction: str, functions: ShapeFunctions, body: str) -> None:
    """Raise if shape functions cannot be those of a beam.

    Raises
    ------
    ModelError
        Some are not 0 at the start of the beam, have no strain, or are linearly dependent; those of
        twist or stretch have no strain at the start, as if made for bending.
    """
    if fault := _fault(direction, functions):
        raise ModelError(f"body {body!r}: {fault}")


@lru_cache(maxsize=256)
def _fault(direction: str, functions: ShapeFunctions) -> str:
    """A sentence, or nothing."""
    names = [f"{direction}{k + 1}" for k in range(functions.count)]
    start = np.array(functions.values(0), dtype=float)
    slopes = np.array(functions.slopes(0), dtype=float)
    moved = np.abs(start) > AT_START
    if moved.any():
        k = int(np.argmax(moved))
        return (
            f"shape function {names[k]} is {start[k]:.3g} at xi = 0, where the beam's axes are. "
            "Give functions that are 0 there."
        )
    if not bends(direction) and functions.count and not np.abs(slopes).max() > AT_START:
        return (
            f"the shape functions of {direction} have no strain at the start, as if made for "
            f"bending. Give those of the direction, as da.beams.clamped_free(2, {direction!r})."
        )
    strains = _strains(direction, functions)
    sizes = np.linalg.norm(strains, axis=0)
    if not sizes.all():
        k = int(np.argmin(sizes))
        return (
            f"shape function {names[k]} has no strain: it is a rigid motion, which joints have. "
            "Leave it out."
        )
    _, singular, combinations = np.linalg.svd(strains / sizes, full_matrices=False)
    if singular.size and singular[-1] < SINGULAR * singular[0]:
        involved = np.abs(combinations[-1]) > INVOLVED * np.abs(combinations[-1]).max()
        listed = ", ".join(n for n, is_in in zip(names, involved, strict=True) if is_in)
        return (
            f"shape functions {listed} are linearly dependent (least singular value of their "
            f"strains {singular[-1]:.1e}), so that stiffness and mass are singular. Leave one out."
        )
    return ""


def _strains(direction: str, functions: ShapeFunctions) -> np.ndarray:
    """Strains at nodes of quadrature, times the roots of their weights: (nodes, n)."""
    strain = functions.curvatures if bends(direction) else functions.slopes
    points = functions.points if functions.degree is None else functions.degree + 1
    rule = gauss(functions.breaks, points)
    rows = np.array([strain(xi) for xi in rule.nodes], dtype=float)
    return np.sqrt(np.array(rule.weights))[:, None] * rows.reshape(len(rule.nodes), -1)
