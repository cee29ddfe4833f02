"""Results of the method: motion of hinges, deflections and section forces along the links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.initial_parameters.line_steps import LineRecord
from dalembert.initial_parameters.link_row import LinkRow


@dataclass(frozen=True, repr=False)
class LineRun:
    """Motion of N elastic links at K times, with S + 1 nodes along each.

    The axes of a link have x along it and are tangent to it at its root.

    Attributes
    ----------
    links, joints : tuple of str
        Names of the links and of the hinges at their roots (N,).
    x : (N, S + 1) array
        Places of the nodes [m].
    times : (K,) array
        [s].
    q, qd, qdd : (K, N) arrays
        Angles of the hinges, from the section that carries each, and their derivatives [rad,
        rad/s, rad/s^2].
    moments : (K, N) array
        Of the hinges [N m].
    axes : (K, N, 3, 3) array
        Axes of the links in those of the base: columns are x, y and z.
    rates : (K, N, 3) array
        Angular velocities of the links' axes, in these axes [rad/s].
    v, w, u : (K, N, S + 1) arrays
        Deflections along y and z, and displacement along x [m]; u is 0 where no EA is given.
    theta : (K, N, 3) array
        Rotations of the sections at the tips: twist, -w', v' [rad].
    tips : (K, N, 3) array
        Places of the tips in the axes of the base [m], without u.
    section_forces, section_moments : (K, N, S + 1, 3) arrays
        On positive faces, in the axes of the links [N, N m].
    corrections : (K,) array
        Largest change of a hinge's rate in the last pass of each step [rad/s].

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(0.8, EIy=129.4, EIz=129.4, mass_per_length=0.2466)
    >>> hinge = da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "link")
    >>> arm = da.Mechanism("arm", (da.Body("base"), da.Body("link", beam=beam, modes=0)), (hinge,))
    >>> run = da.elastic_line(arm, [0.0], [0.0], 0.01, segments=10, at_rest=True, accelerations={"hinge": 0})
    >>> print(f"{run.w[-1, 0, -1]:.4f} m, {run.moments[-1, 0]:.3f} N m")
    -0.0010 m, -0.774 N m
    """

    links: tuple[str, ...]
    joints: tuple[str, ...]
    x: np.ndarray
    times: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    moments: np.ndarray
    axes: np.ndarray
    rates: np.ndarray
    v: np.ndarray
    w: np.ndarray
    u: np.ndarray
    theta: np.ndarray
    tips: np.ndarray
    section_forces: np.ndarray
    section_moments: np.ndarray
    corrections: np.ndarray

    def __repr__(self) -> str:
        return (
            f"LineRun of {', '.join(self.links)}: {len(self.times)} records from "
            f"{self.times[0]:g} to {self.times[-1]:g} s"
        )

    @property
    def N(self) -> np.ndarray:
        """Axial forces (K, N, S + 1) [N]."""
        return self.section_forces[..., 0]

    @property
    def gamma(self) -> np.ndarray:
        """Twist along the links (K, N, S + 1) [rad]: it grows linearly to that of the tip."""
        return self.theta[..., :1] * (self.x / self.x[:, -1:])


def run_of(row: LinkRow, base, x: np.ndarray, times, records: list[LineRecord]) -> LineRun:
    """Records of a motion, with the root of the first link at `base` (3,) [m]."""
    series: list[Any] = [np.array(column) for column in zip(*records, strict=True)]
    columns: Any = LineRecord(*series)
    v, w = np.moveaxis(columns.deflection, (3, 1), (0, 3))
    ends = np.stack([np.broadcast_to(row.length, v.shape[:2]), v[..., -1], w[..., -1]], axis=-1)
    steps = (columns.axes @ ends[..., None])[..., 0]
    return LineRun(
        row.names,
        row.joint_names,
        x.T,
        np.asarray(times),
        columns.q,
        columns.qd,
        columns.qdd,
        columns.moments,
        columns.axes,
        columns.omega,
        v,
        w,
        np.moveaxis(columns.stretch, 1, 2),
        columns.theta,
        base + np.cumsum(steps, axis=1),
        np.moveaxis(columns.section_forces, 1, 2),
        np.moveaxis(columns.section_moments, 1, 2),
        columns.correction,
    )
