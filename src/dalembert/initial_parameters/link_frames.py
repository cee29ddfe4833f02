"""Axes of the links: rotations, angular velocities and the known part of angular accelerations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.initial_parameters.link_row import LinkRow


class LinkFrames(NamedTuple):
    """Axes of the links at joint angles and rotations of their tips.

    to_link: from the axes of the section before to those of the link (N, 3, 3)
    to_world: from the axes of the link to those of the world (N, 3, 3)
    omega: angular velocity, in the axes of the link (N, 3) [rad/s]
    turning: angular acceleration but that of the section before and of the joint (N, 3) [rad/s^2]
    """

    to_link: np.ndarray
    to_world: np.ndarray
    omega: np.ndarray
    turning: np.ndarray


def link_frames(row: LinkRow, q, qd, rotation, rotation_rate) -> LinkFrames:
    """Axes of the links, outward from the base.

        omega_n = B_n (omega_{n-1} + theta_t) + qd_n e_n
        turning_n = -(omega_n - B_n omega_{n-1}) x (omega_n - qd_n e_n)

    `rotation` theta (N, 3) is the small rotation of the cross-section at the tip of each link, in the
    axes of that link, and `rotation_rate` its rate.
    """
    to_link, to_world, omega, turning = [], [], [], []
    axes = bend = np.eye(3)  # of the base, and the rotation of its tip
    frame_omega = section_omega = np.zeros(3)
    for n in range(len(row)):
        e = row.axis[n]
        B = (bend @ row.mounting[n] @ turn(e * q[n])).T
        carried = B @ section_omega
        own = carried + qd[n] * e
        axes = axes @ B.T
        to_link.append(B)
        to_world.append(axes)
        omega.append(own)
        turning.append(skew(carried) @ (own - B @ frame_omega))
        bend = turn(rotation[n])
        frame_omega, section_omega = own, own + rotation_rate[n]
    return LinkFrames(*map(np.array, (to_link, to_world, omega, turning)))


def turn(theta: np.ndarray) -> np.ndarray:
    """Rotation matrix (3, 3) of a rotation vector [rad] (Rodrigues)."""
    angle = np.sqrt(theta @ theta)
    K = skew(theta)
    sinc = np.sinc(angle / np.pi)
    half = np.sinc(angle / (2 * np.pi))
    return np.eye(3) + sinc * K + half**2 / 2 * (K @ K)


def skew(a: np.ndarray) -> np.ndarray:
    """Matrix of the vector product a x (3, 3)."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
