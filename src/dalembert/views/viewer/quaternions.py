"""Rotation matrices and angles as the quaternions (w, x, y, z) of pictures and of free joints."""

from __future__ import annotations

import numpy as np


def quaternion(R: np.ndarray) -> np.ndarray:
    """Unit quaternion (w, x, y, z) of a rotation matrix (3, 3); w is not negative.

    Examples
    --------
    >>> import numpy as np
    >>> quaternion(np.diag([1.0, -1.0, -1.0])).round(9).tolist()
    [0.0, 1.0, 0.0, 0.0]
    """
    # the largest column of 4 (q q^T) divided by its norm: no case is near 0
    xx, yy, zz = np.diag(R)
    square = np.array(
        [
            [1 + xx + yy + zz, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], 1 + xx - yy - zz, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1 - xx + yy - zz, R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 - xx - yy + zz],
        ]
    )
    largest = square[:, int(np.argmax(np.diag(square)))]
    unit = largest / np.linalg.norm(largest)
    return unit if unit[0] >= 0 else -unit


def matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrix (3, 3) of a unit quaternion."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Quaternion of R = Rz(yaw) Ry(pitch) Rx(roll) [rad]."""
    (cr, sr), (cp, sp), (cy, sy) = (
        (np.cos(angle / 2), np.sin(angle / 2)) for angle in (roll, pitch, yaw)
    )
    return np.array(
        [
            cy * cp * cr + sy * sp * sr,
            cy * cp * sr - sy * sp * cr,
            cy * sp * cr + sy * cp * sr,
            sy * cp * cr - cy * sp * sr,
        ]
    )


def to_rpy(q: np.ndarray) -> np.ndarray:
    """Roll, pitch and yaw [rad] of a unit quaternion."""
    R = matrix(q)
    pitch = np.arcsin(np.clip(-R[2, 0], -1.0, 1.0))
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])
