"""Panels of diagrams of a run, as data: coordinates, velocities, forces, phase portraits, energies,
observables.
"""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.errors import (
    DalembertError,
    ShapeError,
)
from dalembert.results.labels import (
    force_units,
    labelled,
)
from dalembert.systems.system import System
from dalembert.views.diagrams.references import (
    FollowedReference,
    JointBounds,
    bounds_of,
    reference_of,
)

if TYPE_CHECKING:
    from dalembert.results.run import Run

QUANTITIES = ("q", "qd", "tau", "phase", "energies", "power_balance")  # in the order of all
MOST_NAMED, MOST_DRAWN = 8, 50  # entries in a panel, trajectories in a diagram
FEW_NAMED = 4  # names for which a panel has room
TIME = "time [s]"
ROUNDING = 32 * np.finfo(float).eps  # of a quantity's scale: values below are noise
APPROACHED = 0.1  # of the range of a joint: a limit nearer than that is drawn
NEAR_LIMIT = 0.75  # of a limit of speed or force that is drawn
DEGREES = {"rad": "deg", "rad/s": "deg/s"}
NOUNS = {  # of entries in q and in qd, by the unit in q
    "rad": ("joint angles", "joint velocities"),
    "m": ("joint positions", "joint velocities"),
    "1": ("quaternions", "angular velocities"),
}
FREE = ("coordinates", "velocities")  # of a system of a user's own


class Panel(NamedTuple):
    """A diagram; x and y are (N, K, entries).

    reference : x (R,) and y (R, entries) of what a controller follows
    limits : of the entries, each (entry, value)
    scale : size of the quantity, against which rounding is judged
    """

    quantity: str
    across: str
    up: str
    x: np.ndarray
    y: np.ndarray
    names: Sequence[str]  # in the legend; none if that of its neighbour names the colours
    reference: tuple[np.ndarray, np.ndarray] | None = None
    limits: tuple[tuple[int, float], ...] = ()
    scale: float = 1.0

    @property
    def noise(self) -> float | None:
        """The largest value, where all values are no more than rounding errors; None of others."""
        largest = float(np.fmax.reduce(np.abs(self.y), axis=None)) if self.y.size else 0.0
        return largest if 0 < largest < ROUNDING * self.scale else None


class AlikeEntries(NamedTuple):
    """Entries of q and qd with the same units."""

    at_q: list[int]
    at_v: list[int]
    rates: bool  # whether these velocities are the rates of these coordinates
    is_body: bool  # whether they are of elastic bodies


class PanelData:
    """The numbers of a run from which its panels are made; `liveliest`: a single one for all
    entries with the same units, of those that vary most.
    """

    def __init__(self, run: Run, degrees: bool = False, liveliest: bool = False):
        self.run, self.system = run, run.system
        self.degrees = degrees
        self.t = run.times[None, :, None]
        self.unit_q: Sequence[str] = self.system.coordinate_units
        self.unit_qd: Sequence[str] = self.system.velocity_units
        ranges = None
        if liveliest:
            ranges = np.ptp(np.nan_to_num(drawn(run, run.q)), axis=1).max(axis=0)
        self.groups = alike(self.system, self.unit_q, self.unit_qd, ranges)
        self.reference: FollowedReference | None = reference_of(run)
        self.bounds: JointBounds = bounds_of(self.system)

    def panels(self, names: Sequence[str]) -> list[Panel]:
        """Panels of quantities and observables; of all quantities without names."""
        if not names:
            return [*self._joints(), *self._of("energies"), *self._of("power_balance")]
        return [panel for name in names for panel in self._of(name)]

    def _of(self, name: str) -> list[Panel]:
        """Panels of a quantity or an observable."""
        if name in self.run.observables and name not in QUANTITIES:
            return [observable(self.run, name)]
        if name == "energies":
            return [energies(self.run)]
        if name == "power_balance":
            return [balance(self.run)]
        found = (self._panel(name, group) for group in self.groups)
        return [panel for panel in found if panel is not None]

    def _joints(self) -> Iterator[Panel]:
        """Coordinates, velocities, forces and phase portrait of each group."""
        for group in self.groups:
            for quantity in ("q", "qd", "tau", "phase"):
                panel = self._panel(quantity, group)
                if panel is None:
                    continue
                if quantity == "q" and group.rates and len(panel.names) > FEW_NAMED:
                    panel = panel._replace(names=[])  # the phase portrait has them beside it
                yield panel

    def _panel(self, quantity: str, group: AlikeEntries) -> Panel | None:
        """A panel of a group; None where there is nothing to show."""
        make = {"q": self._q, "qd": self._qd, "tau": self._tau, "phase": self._phase}[quantity]
        return make(group)

    def _labels(self, group: AlikeEntries) -> tuple[str, str]:
        """Titles of the axes of coordinates and velocities."""
        unit_q, unit_qd = self.unit_q[group.at_q[0]], self.unit_qd[group.at_v[0]]
        if group.is_body:
            nouns = ("modal coordinates", "modal velocities")
        elif self.system.mechanism is None:
            nouns = FREE
        elif not group.rates and unit_q == "m":
            nouns = ("positions", "linear velocities")
        else:
            nouns = NOUNS.get(unit_q, FREE)
        unit_q = "" if unit_q == "1" else self._unit(unit_q)
        return labelled(nouns[0], unit_q), labelled(nouns[1], self._unit(unit_qd))

    def _unit(self, unit: str) -> str:
        """The unit that is shown."""
        return DEGREES.get(unit, unit) if self.degrees else unit

    def _shown(self, values: np.ndarray, unit: str) -> np.ndarray:
        """Values in the unit that is shown."""
        return np.rad2deg(values) if self.degrees and unit in DEGREES else values

    def _q(self, group: AlikeEntries) -> Panel:
        unit, at = self.unit_q[group.at_q[0]], group.at_q
        y = drawn(self.run, self.run.q)[..., at]
        limits = _sides(y, self.bounds.lower[at], self.bounds.upper[at])
        return Panel(
            "q",
            TIME,
            self._labels(group)[0],
            self.t,
            self._shown(y, unit),
            [self.system.coordinate_names[k] for k in at],
            self._followed("q", at, unit),
            tuple((k, float(self._shown(np.array(x), unit))) for k, x in limits),
        )

    def _qd(self, group: AlikeEntries) -> Panel:
        unit, at = self.unit_qd[group.at_v[0]], group.at_v
        y = drawn(self.run, self.run.qd)[..., at]
        limits = _both(y, self.bounds.velocity[at])
        names = [self.system.velocity_names[k] for k in at]
        return Panel(
            "qd",
            TIME,
            self._labels(group)[1],
            self.t,
            self._shown(y, unit),
            names,
            self._followed("qd", at, unit),
            tuple((k, float(self._shown(np.array(x), unit))) for k, x in limits),
        )

    def _tau(self, group: AlikeEntries) -> Panel | None:
        tau = forces_of(self.run)
        if tau is None or group.is_body and not tau[..., group.at_v].any():
            return None  # no actuator acts on deflections
        at = group.at_v
        unit = force_units(self.system)[at[0]]
        noun = "applied torques" if unit == "N m" else "applied forces"
        limits = tuple(_both(tau[..., at], self.bounds.effort[at]))
        names = [self.system.velocity_names[k] for k in at]
        scale = max(1.0, _largest(tau))
        return Panel(
            "tau", TIME, labelled(noun, unit), self.t, tau[..., at], names, None, limits, scale
        )

    def _phase(self, group: AlikeEntries) -> Panel | None:
        if not group.rates:
            return None
        across, up = self._labels(group)
        x, y = (drawn(self.run, values) for values in (self.run.q, self.run.qd))
        unit_q, unit_qd = self.unit_q[group.at_q[0]], self.unit_qd[group.at_v[0]]
        return Panel(
            "phase",
            across,
            up,
            self._shown(x[..., group.at_q], unit_q),
            self._shown(y[..., group.at_v], unit_qd),
            [self.system.coordinate_names[k] for k in group.at_q],
        )

    def _followed(
        self, name: str, at: Sequence[int], unit: str
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The reference of some entries; none of quaternions, which have two signs."""
        if self.reference is None or unit == "1":
            return None
        values = getattr(self.reference, name)[:, list(at)]
        return self.reference.times, self._shown(values, unit)


def _sides(y: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Iterator[tuple[int, float]]:
    """Limits of positions that entries come near."""
    for k in range(y.shape[-1]):
        least, most = np.fmin.reduce(y[..., k], axis=None), np.fmax.reduce(y[..., k], axis=None)
        margin = APPROACHED * (upper[k] - lower[k])
        margin = margin if np.isfinite(margin) else 0.0
        if np.isfinite(lower[k]) and least <= lower[k] + margin:
            yield k, float(lower[k])
        if np.isfinite(upper[k]) and most >= upper[k] - margin:
            yield k, float(upper[k])


def _both(y: np.ndarray, limit: np.ndarray) -> Iterator[tuple[int, float]]:
    """Limits to both sides of 0 that entries come near."""
    for k in range(y.shape[-1]):
        if np.isfinite(limit[k]) and limit[k] > 0:
            most = float(np.fmax.reduce(y[..., k], axis=None))
            least = float(np.fmin.reduce(y[..., k], axis=None))
            if most >= NEAR_LIMIT * limit[k]:
                yield k, float(limit[k])
            if least <= -NEAR_LIMIT * limit[k]:
                yield k, -float(limit[k])


def _largest(values: np.ndarray) -> float:
    """The largest size of an entry."""
    return float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))


def drawn(run: Run, values: np.ndarray) -> np.ndarray:
    """Values (N, K, ...) of the trajectories that are drawn."""
    return values[:MOST_DRAWN] if run.q.ndim == 3 else values[None]


def forces_of(run: Run) -> np.ndarray | None:
    """Control and forces, unless there are none or they are not known."""
    if set(run.forces.values()) == {"none"}:
        return None
    try:
        return drawn(run, run.tau)
    except DalembertError:  # of a run read from a file
        return None


def observable(run: Run, name: str) -> Panel:
    """An observable along time, its entries flattened.

    Raises
    ------
    ShapeError
        It has no value at each record.
    """
    declared = run.observables.declared[name]
    values = np.asarray(run.observables[name])
    if not declared.is_of_records:
        raise ShapeError(f"observable {name!r} is of the whole run: there is no diagram.", name)
    flat = values.reshape(*run.work.shape, -1)
    labels = declared.names(run.system)
    names = labels if len(labels) == flat.shape[-1] else [name] * (flat.shape[-1] == 1)
    said = labelled(declared.description or name, declared.unit)
    return Panel(name, TIME, said, run.times[None, :, None], drawn(run, flat), names)


def energies(run: Run) -> Panel:
    """Kinetic, potential and total energy, and the work done."""
    values = {
        "kinetic": run.kinetic_energy,
        "potential": run.potential_energy,
        "total": run.energy,
        "work done": run.work,
    }
    y = drawn(run, np.stack([*values.values()], axis=-1))
    return Panel("energies", TIME, "energies [J]", run.times[None, :, None], y, list(values))


def balance(run: Run) -> Panel:
    """Change of the total energy less the work done, which is 0 but for errors of the method."""
    y = drawn(run, run.power_balance[..., None])
    scale = max(
        _largest(np.asarray(run.kinetic_energy)), _largest(np.asarray(run.potential_energy))
    )
    return Panel(
        "power_balance",
        TIME,
        "power balance [J]",
        run.times[None, :, None],
        y,
        [],
        scale=scale,
    )


def alike(
    system: System,
    unit_q: Sequence[str],
    unit_qd: Sequence[str],
    ranges: np.ndarray | None = None,
) -> list[AlikeEntries]:
    """Entries of q and qd that share panels, at most `MOST_NAMED`; with `ranges` of q those alone
    that vary most.
    """
    found: dict[tuple[str, str, bool, bool], list[tuple[list[int], list[int]]]] = {}
    for at_q, at_v, is_body in _joints(system):
        rates = len(at_q) == len(at_v)
        pairs = (
            [([k], [i]) for k, i in zip(at_q, at_v, strict=True)]
            if rates
            else [
                ([k for k in at_q if unit_q[k] == of_q], [i for i in at_v if unit_qd[i] == of_qd])
                for of_q, of_qd in (("1", "rad/s"), ("m", "m/s"))
            ]
        )  # a quaternion, and the position beside it
        for k, i in pairs:
            if k:
                found.setdefault((unit_q[k[0]], unit_qd[i[0]], rates, is_body), []).append((k, i))
    groups = []
    for (_, _, rates, is_body), parts in found.items():
        size = MOST_NAMED // len(parts[0][0])
        if ranges is not None:
            lively = sorted(parts, key=lambda part: -ranges[part[0]].max())[:size]
            parts = sorted(lively)
        for at in range(0, len(parts), size):
            some = parts[at : at + size]
            of_q = [k for entries, _ in some for k in entries]
            of_v = [i for _, entries in some for i in entries]
            groups.append(AlikeEntries(of_q, of_v, rates, is_body))
    return groups


def _joints(system: System) -> list[tuple[Sequence[int], Sequence[int], bool]]:
    """Entries in q and qd of each joint or elastic body, or of each coordinate where there are none,
    and whether they are of a body.
    """
    mechanism = system.mechanism
    if mechanism is None:
        rates = system.nq == system.nv
        return (
            [([k], [k], False) for k in range(system.nq)]
            if rates
            else [(range(system.nq), range(system.nv), False)]
        )
    return [(range(mechanism.nq)[h.entry.at_q], h.entry.at_v, h.is_body) for h in mechanism.holders]


def title_of(run: Any, every: int) -> str:
    """The system, the method, and what of the run is not drawn."""
    count = "" if run.q.ndim == 2 else f", {len(run.q)} trajectories"
    part = f" (the first {MOST_DRAWN} drawn)" if run.q.ndim == 3 and len(run.q) > MOST_DRAWN else ""
    records = "" if every == 1 else f", one of {every} records drawn"
    return f"{run.system.name}, {run.method}{count}{part}{records}"
