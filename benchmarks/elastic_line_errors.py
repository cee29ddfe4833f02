"""Errors of each ingredient of `da.elastic_line`, measured on the source's arm of two links.

`python benchmarks/elastic_line_errors.py` prints the tables of docs/elastic_line.md (in a minute).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import dalembert as da

DENSITY = 7850 * np.pi * 1e-5  # kg/m
SECTION = {"EA": 6.597e6, "EIy": 129.4, "EIz": 129.4, "mass_per_length": DENSITY}
LENGTH = 0.8  # m
HEAD = "phi1 | phi2 | w1(l) | w2(l)"


def arm(stiffer: float = 1.0, modes: Any = 0, **beam: Any) -> da.Mechanism:
    """The source's arm: hinges about y, hanging down, a sphere of 2 kg beyond the tip."""
    section = SECTION | {"EIy": 129.4 * stiffer, "EIz": 129.4 * stiffer} | beam
    links = [da.Body(f"link{k}", beam=da.Beam(LENGTH, **section), modes=modes) for k in (1, 2)]
    sphere = da.Body("sphere", 2.0, (0.05, 0, 0), (0.002, 0, 0.002, 0, 0, 0.002))
    down = da.Origin(rotations=(("y", np.pi / 2),))
    tip = da.Origin((LENGTH, 0, 0))
    hinge = da.Revolute((0, 1, 0))
    joints = (
        da.Joint("q1", hinge, "base", "link1", down),
        da.Joint("q2", hinge, "link1", "link2", tip),
        da.Joint("tip", da.Fixed(), "link2", "sphere", tip),
    )
    return da.Mechanism("arm", (da.Body("base"), *links, sphere), joints)


def moments(t: float, q: Any, qd: Any) -> np.ndarray:
    """M1 = M2 = 10 (1 - cos 6 t) [N m]."""
    return 10 * (1 - np.cos(6 * t)) * np.ones(2)


def run(t: float, h: float, **options: Any) -> da.LineRun:
    """The arm from rest, with a record of every step."""
    control = options.pop("control", moments)
    mechanism = options.pop("mechanism", arm())
    zero = np.zeros(mechanism.nq)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.errors.DalembertWarning)
        return da.elastic_line(mechanism, zero, zero, t, control, h=h, record=h, **options)


def tips_and_angles(run: da.LineRun) -> np.ndarray:
    """Absolute angles phi1, phi2, and deflections along them of both tips (K, 4)."""
    phi = np.arctan2(-run.axes[..., 0, 0], -run.axes[..., 2, 0])
    return np.concatenate([np.unwrap(phi, axis=0), -run.w[..., -1]], axis=1)


def alignments(times: np.ndarray, phi1: np.ndarray, phi2: np.ndarray) -> np.ndarray:
    """Times after 0.2 s at which the links stand in a line [s]."""
    d = phi2 - phi1
    k = np.flatnonzero((d[:-1] * d[1:] <= 0) & (times[1:] > 0.2))
    return times[k] + np.diff(times)[k] * d[k] / (d[k] - d[k + 1])


def _row(name: str, errors: np.ndarray) -> str:
    return f"| {name} | {' | '.join(f'{abs(x):.1e}' for x in errors)} |"


def table_of_steps(t: float = 1.0) -> Iterator[str]:
    """Errors against Richardson's extrapolation, and observed orders."""
    steps = [5e-3, 2.5e-3, 1.25e-3, 6.25e-4]
    ends = np.array([tips_and_angles(run(t, h))[-1] for h in steps])
    limit = ends[-1] + (ends[-1] - ends[-2]) / 3
    yield f"| h [ms] | {HEAD} |"
    yield "| --- | --- | --- | --- | --- |"
    for h, end in zip(steps, ends, strict=True):
        yield _row(f"{1e3 * h:g}", end - limit)


def table_of_segments(t: float = 0.5) -> Iterator[str]:
    """Errors against 400 intervals, at two steps."""
    yield f"| h [ms], intervals | {HEAD} |"
    yield "| --- | --- | --- | --- | --- |"
    for h in (2.5e-3, 6.25e-4):
        fine = tips_and_angles(run(t, h, segments=400))[-1]
        for segments in (10, 25, 50, 100):
            end = tips_and_angles(run(t, h, segments=segments))[-1]
            yield _row(f"{1e3 * h:g}, {segments}", end - fine)


def table_of_passes(t: float = 1.05, h: float = 2.5e-3) -> Iterator[str]:
    """Largest errors against 8 passes, and what the last pass still changed."""
    exact = tips_and_angles(run(t, h, passes=8))
    yield f"| passes | {HEAD} | last correction [rad/s] |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for passes in (1, 2, 3, 4, 6):
        result = run(t, h, passes=passes)
        errors = np.abs(tips_and_angles(result) - exact).max(axis=0)
        row = _row(str(passes), errors)
        yield f"{row} {result.corrections.max():.1e} |"


def switched_on(
    h: float, segments: int, orthogonalisations: int, angles: str = "axes", digits: int = 6
) -> str:
    """Rates of the axes, relative to each other, after 3 steps of a moment switched on."""
    options = {"segments": segments, "orthogonalisations": orthogonalisations, "angles": angles}
    try:
        result = run(3 * h, h, control=[10.0, 10.0], **options)
    except da.errors.OverflowedError:
        return "not finite"
    first, second = result.rates[-1, :, 1]
    return f"{first:.{digits}f}, {second - first:.{digits}f}"


def table_of_orthogonalisation() -> Iterator[str]:
    """Rates with growing solutions made orthogonal at 0, 5 and 20 nodes."""
    yield "| h [s], intervals | b l/√2 | without | 5 nodes | 20 nodes |"
    yield "| --- | --- | --- | --- | --- |"
    for h, segments in ((2.5e-3, 100), (1e-4, 100), (1e-5, 200), (2e-6, 400)):
        growth = (2 * DENSITY / 129.4 / h**2) ** 0.25 * LENGTH / np.sqrt(2)
        cells = [switched_on(h, segments, nodes) for nodes in (0, 5, 20)]
        if h == 1e-4:
            cells[0] = cells[0].split(".")[0] + ".5 (rounding)"
        yield f"| {h:g}, {segments} | {growth:.1f} | {' | '.join(cells)} |"


def table_of_damping() -> Iterator[str]:
    """Houbolt's damping ratio and frequency at vibrations of the arm."""
    yield "| omega [rad/s] | h = 2.5 ms: damping ratio, frequency | h = 0.625 ms |"
    yield "| --- | --- | --- |"
    for omega in (19.2479, 85.0, 278.96, 488.64, 1090.0):
        effects = [da.houbolt_damping(omega, h) for h in (2.5e-3, 6.25e-4)]
        cells = [f"{e.damping_ratio:.2%}, {e.frequency_ratio - 1:+.1%}" for e in effects]
        yield f"| {omega:g} | {cells[0]} | {cells[1]} |"


def table_of_angles() -> Iterator[str]:
    """Smooth moments and moments that are switched on, by the angles that are integrated."""
    yield "| h [ms] | axes, smooth: phi1, phi2 at 0.5 s | sections | axes, switched on | sections |"
    yield "| --- | --- | --- | --- | --- |"
    for h in (2.5e-3, 1.25e-3):
        cells = []
        for angles in ("axes", "sections"):
            end = tips_and_angles(run(0.5, h, angles=angles))[-1]
            cells.append(f"{end[0]:.6f}, {end[1]:.6f}")
        cells += [switched_on(h, 100, 0, angles, 2) for angles in ("axes", "sections")]
        yield f"| {1e3 * h:g} | {' | '.join(cells)} |"


TABLES = {
    "step": table_of_steps,
    "intervals": table_of_segments,
    "passes": table_of_passes,
    "orthogonalisation": table_of_orthogonalisation,
    "Houbolt": table_of_damping,
    "angles": table_of_angles,
}


if __name__ == "__main__":
    for name, table in TABLES.items():
        print(f"\n{name}\n")
        print(*table(), sep="\n")
