"""The example of Gulyaev and Zavrazhina, repeated: an elastic arm of two links under given moments.

`python benchmarks/elastic_experiment.py [--plot FILE]` prints the tables of
docs/elastic_experiment.md and draws its figure: the source's figures 2 and 3 by the source's method,
and by exact beams with a little damping.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dalembert as da
from elastic_line_errors import LENGTH, alignments, arm, run, tips_and_angles

DURATION = 4.2  # s, the source's
COMPUTED = 4.3  # s, so that an alignment just behind the end is known
STEP = 2.5e-3  # s, the source's
SHAPES = (4.06, 4.065, 4.07)  # s, of the source's figure 3
NEAR = 0.05  # s from an alignment
FASTEST = 12  # changes of a deflection that are looked at
DAMPING = 2e-4  # s, of Kelvin and Voigt, for the exact beams
POINTS = 101  # along a link
SPHERE = 0.7009613431681598  # lambda of the first mode of a clamped link with the sphere
MASS, ARM, INERTIA = 10.13725752, 0.0625, 0.01583946488  # of the sphere, by those of the link


class Motion(NamedTuple):
    """Angles and deflections, w along increasing angles.

    times: (K,) [s]
    phi: absolute angles (K, 2) [rad]
    w: deflections at the points of both links (K, 2, P) [m]
    curvature: (K, 2, P) [1/m]
    """

    times: np.ndarray
    phi: np.ndarray
    w: np.ndarray
    curvature: np.ndarray

    @property
    def alignments(self) -> np.ndarray:
        """Times at which the links stand in a line [s]."""
        return alignments(self.times, *self.phi.T)

    @property
    def is_near(self) -> np.ndarray:
        """Whether a record is within NEAR of an alignment (K,)."""
        return np.abs(self.times[:, None] - self.alignments).min(axis=1) < NEAR

    @property
    def counts(self) -> np.ndarray:
        """Whether a record is within the source's duration (K,)."""
        return self.times <= DURATION


def by_the_source(t: float = COMPUTED, h: float = STEP) -> Motion:
    """The source's method."""
    result = run(t, h)
    curvature = -result.section_moments[..., 1] / 129.4
    return Motion(result.times, tips_and_angles(result)[:, :2], -result.w, -curvature)


def by_exact_beams(t: float = COMPUTED, modes: int = 5) -> Motion:
    """Geometrically exact beams in the plane, damped, by an implicit method."""
    beam = {"kinematics": "exact", "damping": da.Rayleigh(stiffness=DAMPING)}
    mechanism = arm(modes={"bend_z": modes}, **beam)
    zero = np.zeros(mechanism.nq)

    def control(t, q, qd):
        drive = 10 * (1 - np.cos(6 * t))
        return np.concatenate([[drive, drive], np.zeros(mechanism.nv - 2)])

    options = {"method": "rodas5p", "rtol": 1e-8, "atol": 1e-10, "record": STEP}
    result = da.simulate(mechanism, zero, zero, t, control, **options)
    xi = np.linspace(0, 1, POINTS)
    shapes = mechanism.bodies[1].modes[0][1]
    slopes, curvatures = (
        np.array([f(x) for x in xi], dtype=float) for f in (shapes.slopes, shapes.curvatures)
    )
    delta = result.q[:, 2:].reshape(len(result.q), 2, modes)
    turned = delta @ slopes.T / LENGTH  # w', the angle of the section
    w = _integral(np.sin(turned), LENGTH / (POINTS - 1))
    phi1 = result.q[:, 0]
    phi2 = result.q[:, :2].sum(axis=1) - turned[:, 0, -1]
    return Motion(
        result.times, np.stack([phi1, phi2], axis=1), -w, -delta @ curvatures.T / LENGTH**2
    )


def _integral(values: np.ndarray, step: float) -> np.ndarray:
    """Integrals from the first point on, by the trapezoidal rule."""
    between = (values[..., 1:] + values[..., :-1]) * step / 2
    return np.concatenate([np.zeros(values.shape[:-1] + (1,)), np.cumsum(between, -1)], axis=-1)


def sphere_curvature(xi: np.ndarray) -> np.ndarray:
    """Curvature of the first mode of a clamped link with the sphere at its tip."""
    k = SPHERE
    c, s, C, S = np.cos(k), np.sin(k), np.cosh(k), np.sinh(k)
    tip = np.array([c - C, s - S])  # of cos - cosh and sin - sinh
    slope = k * np.array([-s - S, c - C])
    moment = k**2 * np.array([-c - C, -s - S])
    # EJ w'' = omega^2 (J w' + M R (w + R w'))
    condition = moment - k**4 * (INERTIA * slope + MASS * ARM * (tip + ARM * slope))
    a, b = condition[1], -condition[0]
    return -a * (np.cos(k * xi) + np.cosh(k * xi)) - b * (np.sin(k * xi) + np.sinh(k * xi))


def shares(motion: Motion, shapes: list[np.ndarray]) -> np.ndarray:
    """Energy of curvature, and that of its best fit by shapes (2, K, 2)."""
    weights = np.ones(POINTS)
    weights[[0, -1]] = 0.5
    basis = np.linalg.qr(np.sqrt(weights)[:, None] * np.array(shapes).T)[0]
    curvature = motion.curvature * np.sqrt(weights)
    return np.array([(curvature**2).sum(axis=-1), ((curvature @ basis) ** 2).sum(axis=-1)])


def table_of_alignments(motions: dict[str, Motion]) -> Iterator[str]:
    """Times of alignment."""
    yield "| method | phi1 = phi2 at [s] |"
    yield "| --- | --- |"
    for name, motion in motions.items():
        yield f"| {name} | {', '.join(f'{t:.3f}' for t in motion.alignments)} |"


def table_of_changes(motions: dict[str, Motion]) -> Iterator[str]:
    """Claim (i): rates of the tips' deflections near alignments and elsewhere."""
    yield f"| method, link | rms of dw/dt within 50 ms [m/s] | elsewhere | of the {FASTEST} fastest changes, near |"
    yield "| --- | --- | --- | --- |"
    for name, motion in motions.items():
        rate = np.abs(np.gradient(motion.w[..., -1], motion.times, axis=0))
        near = motion.is_near[motion.counts]
        rate = rate[motion.counts]
        for link in (0, 1):
            rms = [np.sqrt(np.mean(rate[m, link] ** 2)) for m in (near, ~near)]
            count = near[np.argsort(rate[:, link])[-FASTEST:]].sum()
            yield f"| {name}, {link + 1} | {rms[0]:.2f} | {rms[1]:.2f} | {count} |"


def table_of_shapes(motions: dict[str, Motion]) -> Iterator[str]:
    """Claim (ii): share of the energy of curvature in few shapes."""
    xi = np.linspace(0, 1, POINTS)
    fits = {"first mode": [sphere_curvature(xi)], "two static shapes": [np.ones(POINTS), xi]}
    yield "| method, link | first mode, away from alignments | within 50 ms | two static shapes, away | within 50 ms |"
    yield "| --- | --- | --- | --- | --- |"
    for name, motion in motions.items():
        near = motion.is_near & motion.counts
        away = ~motion.is_near & motion.counts
        for link in (0, 1):
            cells = []
            for shapes in fits.values():
                energy, fitted = shares(motion, shapes)[..., link]
                cells += [fitted[m].sum() / energy[m].sum() for m in (away, near)]
            yield f"| {name}, {link + 1} | {' | '.join(f'{x:.2%}' for x in cells)} |"


def draw(file: Path, motions: dict[str, Motion]) -> None:
    """The source's figures 2 and 3, by each method in a column."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "elastic",
            "font.size": 8,
            "path.simplify_threshold": 0.5,
        }
    ):
        figure = Figure((11, 10), layout="constrained")
        panels = figure.subplots(4, len(motions), squeeze=False)
        for column, (name, motion) in zip(panels.T, motions.items(), strict=True):
            t = motion.times
            drive = 10 * (1 - np.cos(6 * t))
            phi1, phi2 = motion.phi.T
            _curves(column[0], t, {"M1 = M2": drive}, "M [N m]")
            _curves(column[1], t, {"φ1": phi1, "φ2": phi2, "φ1 - φ2": phi1 - phi2}, "φ [rad]")
            deflections = {"w1(l)": motion.w[:, 0, -1], "w2(l)": motion.w[:, 1, -1]}
            _curves(column[2], t, deflections, "w [m]")
            column[0].set_title(name)
            for axes in column[:3]:
                axes.set_xlim(0, DURATION)
                for moment in motion.alignments:
                    axes.axvline(moment, color="0.8", lw=0.6)
            x = np.linspace(0, LENGTH, POINTS)
            for label, moment in zip("abc", SHAPES, strict=True):
                k = int(np.argmin(np.abs(t - moment)))
                (line,) = column[3].plot(x, motion.w[k, 0], label=f"{label}: t = {moment:g} s")
                column[3].plot(x, motion.w[k, 1], "--", color=line.get_color())
            column[3].set(xlabel="x [m]; w1 solid, w2 dashed", ylabel="w [m]")
            column[3].legend(fontsize=7)
        figure.savefig(file, metadata={"Date": None})


def _curves(axes: Any, t: np.ndarray, curves: dict[str, np.ndarray], label: str) -> None:
    for name, values in curves.items():
        axes.plot(t, values, lw=0.9, label=name)
    axes.set(xlabel="t [s]", ylabel=label)
    axes.legend(fontsize=7)


def main() -> None:
    """Print the tables; draw the figure if a file is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    motions = {
        "the source's, h = 2.5 ms": by_the_source(),
        "the source's, h = 1.25 ms": by_the_source(h=STEP / 2),
        "exact beams, damped": by_exact_beams(),
    }
    for table in (table_of_alignments, table_of_changes, table_of_shapes):
        print(*table(motions), sep="\n", end="\n\n")
    if options.plot:
        draw(options.plot, motions)


if __name__ == "__main__":
    main()
