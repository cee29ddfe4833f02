"""The operational-space form: equations of motion at a frame, from those of the joints."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import DalembertWarning, SingularConfigurationError
from dalembert.formulations.lagrange.christoffel import coriolis
from dalembert.formulations.lagrange.energies import inertia
from dalembert.formulations.lagrange.euler_lagrange import weight
from dalembert.formulations.lagrange.geometry import T, opened
from dalembert.formulations.lagrange.linear_systems import factorised, factors_of, solved
from dalembert.kinematics.jacobians import jacobian, jacobian_rate
from dalembert.model.constraint import check_unconstrained
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Array, Values, finite
from dalembert.spatial.ldl import inverted, stacked

DIRECTIONS = ("angular x", "angular y", "angular z", "linear x", "linear y", "linear z")
# singular value of the scaled J M^-1/2: its square, of which it is the root, is rounding error
# below
SINGULAR = 1e-7
NEAR = (
    1e-3  # below it a warning: forces along the direction lose three digits, six of the inertia's
)


class OperationalSpace(NamedTuple):
    """Lambda a + mu + p = F at a frame; m rows of its motion, the batch in front.

    inertia Lambda (m, m), coriolis_vector mu (m,), gravity_vector p (m,), jacobian J (m, nv), its
    rate (m, nv), and the dynamically consistent inverse J_bar (nv, m) with J J_bar = 1.
    singular_value: the smallest one of J M^-1/2 with rows scaled to length 1, so that units do not
    enter: 1 where the rows move independently, 0 at a singularity (None of expressions).

    Examples
    --------
    >>> import dalembert as da
    >>> felt = da.lagrange.operational_space(da.planar_chain(2), [0.3, 0.8], [1.0, 0.5], "tip", rows=(3, 5))
    >>> felt.jacobian.shape
    (2, 2)
    """

    inertia: Array
    coriolis_vector: Array
    gravity_vector: Array
    jacobian: Array
    jacobian_rate: Array
    inverse: Array
    singular_value: Any


@finite
def operational_space(
    mechanism: Mechanism,
    q: Values,
    qd: Values,
    frame: str,
    expressed_in: str = "aligned",
    rows: Sequence[int] = range(6),
) -> OperationalSpace:
    """Inertia, Coriolis and gravity terms as they are felt at a frame.

        Lambda(q) a + mu(q, qd) + p(q) = F,    a = J qdd + J' qd
        Lambda = (J M^-1 J^T)^-1,    J_bar = M^-1 J^T Lambda,    mu = J_bar^T C qd - Lambda J' qd,    p = J_bar^T g

    The actuators give F with tau = J^T F; tau_0 added through (1 - J^T J_bar^T) tau_0 does not
    accelerate the frame. Passive forces are not part of it. Where J cannot move the frame along
    some direction Lambda does not exist: there Lambda^-1 is singular and the frame feels infinitely
    heavy.

    Parameters
    ----------
    q : (nq,) or (N, nq) array
        Coordinates [rad, m, unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities [rad/s, m/s].
    frame, expressed_in : str
        As for `jacobian`.
    rows : sequence of int
        Which of (angular x, y, z, linear x, y, z) to keep: (3, 4, 5) for the position alone, (4, 2)
        for an arm in the x-y plane.

    Raises
    ------
    SingularConfigurationError
        The scaled singular value is below 1e-7; below 1e-3 a DalembertWarning says so. Not checked
        on expressions.
    SingularMassMatrixError, ShapeError, ValueError, QuaternionError, UnknownNameError

    References
    ----------
    Khatib, A unified approach for motion and force control of robot manipulators: the operational
    space formulation (1987).

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> felt = da.lagrange.operational_space(arm, [0.3, 0.8], [1.0, 0.5], "tip", rows=(3, 5))
    >>> felt.inertia.round(3)
    array([[0.538, 0.563],
           [0.563, 1.758]])
    """
    check_unconstrained(mechanism, "operational_space")
    geometry, (velocity,) = opened(mechanism, q=q, qd=qd)
    kept = _checked(rows)
    J = jacobian(mechanism, q, frame, expressed_in)[..., kept, :]
    J_rate = jacobian_rate(mechanism, q, qd, frame, expressed_in)[..., kept, :]
    D = inertia(geometry)
    x = velocity[..., None]
    M_inv_J = solved(factors_of(geometry, D), T(J))
    mobility = J @ M_inv_J  # Lambda^-1
    smallest = _singular_value(mobility, frame, kept)
    task = tuple(DIRECTIONS[k] for k in kept)
    Lambda = stacked(inverted(factorised(mobility, task, (frame,) * len(kept)))).reshape(
        mobility.shape
    )
    J_bar = M_inv_J @ Lambda
    mu = T(J_bar) @ coriolis(geometry, velocity) @ x - Lambda @ J_rate @ x
    p = T(J_bar) @ weight(geometry)[..., None]
    return OperationalSpace(Lambda, mu[..., 0], p[..., 0], J, J_rate, J_bar, smallest)


def _checked(rows: Sequence[int]) -> list[int]:
    """Rows as a list, of which each is one of the frame's directions."""
    kept = list(rows)
    if wrong := [
        k for k in kept if not isinstance(k, (int, np.integer)) or k not in range(len(DIRECTIONS))
    ]:
        known = ", ".join(f"{k} {name}" for k, name in enumerate(DIRECTIONS))
        raise ValueError(
            f"rows={tuple(kept)} has the entry {wrong[0]!r}, expected some of {known}."
        )
    return kept


def _singular_value(mobility: np.ndarray, frame: str, rows: list[int]) -> Any:
    """Smallest singular value of J M^-1/2 with rows of length 1; an error or a warning where it is
    small.
    """
    if mobility.dtype == object or not mobility.size:
        return None
    diagonal = np.einsum("...kk->...k", mobility)
    scale = np.where(diagonal > 0, diagonal, 1.0) ** -0.5
    squares, vectors = np.linalg.eigh(mobility * scale[..., :, None] * scale[..., None, :])
    values = np.sqrt(np.maximum(squares[..., 0], 0.0))
    row = int(np.argmin(values))
    smallest = float(values.flat[row])
    if smallest < NEAR:
        weights = vectors.reshape(-1, *vectors.shape[-2:])[row, :, 0]
        direction = ", ".join(
            f"{w:.2g} {DIRECTIONS[k]}" for w, k in zip(weights, rows, strict=True) if abs(w) > 0.1
        )
        where = f" in row {row}" if values.ndim else ""
        text = (
            f"frame {frame!r}{where}: its motion along ({direction}) has the singular value "
            f"{smallest:.3g} (1 where rows move independently)"
        )
        if smallest < SINGULAR:
            raise SingularConfigurationError(
                f"{text}, so no finite inertia is felt there. Leave such directions out of rows=, "
                "or move the mechanism.",
                frame,
                smallest,
                tuple(map(float, weights)),
                row if values.ndim else None,
            )
        warnings.warn(
            f"{text}: near a singularity, forces along it are large and lose digits.",
            DalembertWarning,
            stacklevel=3,
        )
    return values[()]
