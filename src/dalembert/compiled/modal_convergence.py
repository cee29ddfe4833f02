"""Convergence with the number of modes: a mechanism beside the one with a mode more in each
direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import (
    dataclass,
    field,
    replace,
)
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.beams.shape_polynomials import legendre
from dalembert.compiled.natural_vibrations import natural_frequencies
from dalembert.compiled.static_deflection import (
    StaticDeflection,
    static_deflection,
    undeformed,
)
from dalembert.compiled.tangent_matrices import (
    ALL,
    checked_mechanism,
    external_matrices,
    full_coordinates,
    passive_matrices,
    tangent_matrices,
)
from dalembert.displays import brief_repr
from dalembert.errors import (
    DalembertError,
    ShapeError,
)
from dalembert.kinematics.forces import spring_energy
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Body
from dalembert.spatial.arrays import (
    Array,
    Values,
)

LOWEST = 4  # frequencies that are compared where no cut-off is given
ENERGY = 0.999  # part of the energy of the forces of a run below its bandwidth
ENOUGH = 1e-2  # relative change


class ModalComparison(NamedTuple):
    """A quantity with the modes given, and with one more in each direction.

    quantity, unit : name and unit
    value, finer : both values
    change : |finer - value| over |finer|

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 2})],
    ...                    [da.Joint("clamp", da.Fixed(), "wall", "rod")])
    >>> da.modal_convergence(rod, rod.neutral()).rows[0].quantity
    'strain energy'
    """

    quantity: str
    unit: str
    value: float
    finer: float
    change: float


@dataclass(frozen=True, eq=False)
class ModalConvergence:
    """Comparison of a mechanism with one of more modes; `print` shows it as a table.

    Attributes
    ----------
    rows : tuple of ModalComparison
    energy_shares : {(body, direction): share}, the strain energy that a further mode of this direction
        would add, over the whole, by the forces that the modes leave
    cutoff : frequencies up to it are compared [rad/s]; infinite where the lowest four are
    finer : the mechanism with more modes

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 2})],
    ...                    [da.Joint("clamp", da.Fixed(), "wall", "rod")])
    >>> print(da.modal_convergence(rod, rod.neutral(), cutoff=100.0))
    quantity          unit         given          finer    change
    strain energy        J     0.0233907       0.024059   2.8e-02
    frequency 1      rad/s       35.3273        35.1708   4.5e-03
    shares of a further mode in the strain energy: rod bend_z 2.8e-02
    """

    __repr__ = brief_repr

    rows: tuple[ModalComparison, ...]
    energy_shares: dict[tuple[str, str], float]
    cutoff: float
    finer: Mechanism = field(repr=False)

    def is_enough(self, tolerance: float = ENOUGH) -> bool:
        """Whether no quantity changes by more than a part.

        Examples
        --------
        >>> import dalembert as da
        >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
        >>> rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 2})],
        ...                    [da.Joint("clamp", da.Fixed(), "wall", "rod")])
        >>> da.modal_convergence(rod, rod.neutral(), cutoff=100.0).is_enough(0.05)
        True
        """
        return all(row.change <= tolerance for row in self.rows)

    def __str__(self) -> str:
        width = max((len(row.quantity) for row in self.rows), default=8) + 3
        lines = [f"{'quantity':<{width}}{'unit':>6}{'given':>14}{'finer':>15}{'change':>10}"]
        for quantity, unit, value, finer, change in self.rows:
            numbers = f"{value:>14.6g}{finer:>15.6g}{change:>10.1e}"
            lines.append(f"{quantity:<{width}}{unit:>6}{numbers}")
        shares = ", ".join(f"{b} {d} {share:.1e}" for (b, d), share in self.energy_shares.items())
        if shares:
            lines.append(f"shares of a further mode in the strain energy: {shares}")
        return "\n".join(lines)


def modal_convergence(
    mechanism: Mechanism,
    q: Values,
    cutoff: float | None = None,
    run: Any = None,
    external_forces: Any = (),
    locked: Any = ALL,
    finer: Mechanism | None = None,
) -> ModalConvergence:
    """Change of static deflection and frequencies by a further mode of each direction of each body.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) array, or {coordinate: number}
        Configuration, its elastic coordinates 0 or not [rad, m].
    cutoff : float, optional
        Natural frequencies up to it are compared [rad/s]; by default that of the run, else the lowest
        four.
    run : Run, optional
        Its bandwidth is the cut-off: 99.9 % of the energy of its applied forces, or of the velocities
        of a free motion, lies below.
    external_forces : sequence of ExternalForce, optional
        Of the static deflection, beside gravity.
    locked : sequence of str, or 'all'
        What is held in the vibrations; all joints are in the static deflection.
    finer : Mechanism, optional
        The same with more modes, for shape functions of a user's own.

    Returns
    -------
    ModalConvergence
        A table of the quantities, and the estimate of strain energy by body and direction.

    Raises
    ------
    DalembertError
        There are no elastic bodies; a body has shape functions of its own and no `finer` is given; a
        state is unstable.
    EquilibriumError, ShapeError, UnknownNameError, ValueError, QuaternionError
        No stable equilibrium is found; a vector has the wrong length.

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 4})],
    ...                    [da.Joint("clamp", da.Fixed(), "wall", "rod")])
    >>> da.modal_convergence(rod, rod.neutral(), cutoff=300.0).is_enough()
    True
    """
    checked_mechanism(mechanism, "has no modes to compare")
    coordinates = full_coordinates(mechanism, q)
    if coordinates.ndim != 1:
        raise ShapeError(
            f"q has shape {coordinates.shape}: modes are compared at one state.",
            "q",
            coordinates.shape,
        )
    if not mechanism.elastic_bodies:
        raise DalembertError(f"{mechanism.name!r} has no elastic bodies, whose modes could be few.")
    more = _refined(mechanism) if finer is None else finer
    given = _prolonged(mechanism, more, undeformed(mechanism, coordinates))
    if cutoff is None and run is not None:
        cutoff = bandwidth(run)
    pair = (mechanism, undeformed(mechanism, coordinates)), (more, given)
    found = [static_deflection(m, state, external_forces=external_forces) for m, state in pair]
    rows, shares = _static(mechanism, more, found, external_forces)
    rows += _frequencies(pair, locked, cutoff)
    return ModalConvergence(tuple(rows), shares, np.inf if cutoff is None else cutoff, more)


def bandwidth(run: Any) -> float:
    """Frequency below which 99.9 % of the energy of a run's applied forces lies [rad/s]; of a motion
    without them, of the joints' velocities.

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as da
    >>> from dalembert.compiled.modal_convergence import bandwidth
    >>> pushed = da.simulate(da.planar_chain(1), [0.0], [0.0], 10.0, forces=lambda t, q, qd: [da.sin(6 * t)])
    >>> 5.5 < bandwidth(pushed) < 7.5
    True
    """
    times = np.asarray(run.times, dtype=float)
    signals = np.asarray(run.tau, dtype=float)
    if not signals.any():
        joints = [k for h in run.mechanism.holders if not h.is_body for k in h.entry.at_v]
        signals = np.asarray(run.qd, dtype=float)[..., joints]
    signals = signals.reshape(-1, *signals.shape[-2:])
    even = np.linspace(times[0], times[-1], len(times))
    window = np.hanning(len(even))
    power: Any = 0.0
    for rows in signals:
        for column in rows.T:
            known = np.isfinite(column)
            values = np.interp(even, times[known], column[known])
            power = power + np.abs(np.fft.rfft((values - values.mean()) * window)) ** 2
    total = np.cumsum(power)
    w = 2 * np.pi * np.fft.rfftfreq(len(even), (even[-1] - even[0]) / (len(even) - 1))
    if total[-1] == 0:
        return float(w[1])
    return float(w[np.searchsorted(total, ENERGY * total[-1])])


def _refined(mechanism: Mechanism) -> Mechanism:
    """The mechanism with a mode more in each direction.

    Raises
    ------
    DalembertError
    """
    bodies = tuple(_refined_body(b) if b.modes else b for b in mechanism.bodies)
    return replace(mechanism, bodies=bodies)


def _refined_body(body: Body) -> Body:
    modes = {}
    for direction, functions in body.modes:
        if functions.identity() != legendre(functions.count, direction).identity():
            raise DalembertError(
                f"body {body.name!r} has shape functions of its own in {direction}, to which no mode "
                "is added: give finer=, the mechanism with more of them."
            )
        modes[direction] = legendre(functions.count + 1, direction)
    return replace(body, modes=modes)


def _places(mechanism: Mechanism) -> dict[tuple[str, int, str, int], int]:
    """Entries of q of elastic coordinates by body, element, direction and number."""
    places = {}
    for body in mechanism.elastic_bodies:
        bending = body.bending
        assert bending is not None
        start = mechanism.body_entries[body.name].at_q.start
        for element in range(body.elements):
            for direction, at in bending.at.items():
                for number in range(at.stop - at.start):
                    entry = start + element * bending.count + at.start + number
                    places[body.name, element, direction, number] = entry
    return places


def _prolonged(mechanism: Mechanism, finer: Mechanism, q: Array) -> Array:
    """Coordinates of the finer mechanism for the same deflection."""
    result = np.asarray(finer.neutral(), dtype=float)
    joints = mechanism.nq - len(_places(mechanism))
    result[:joints] = q[:joints]
    target = _places(finer)
    for key, entry in _places(mechanism).items():
        if key in target:
            result[target[key]] = q[entry]
    return result


def _static(
    mechanism: Mechanism,
    finer: Mechanism,
    found: Sequence[StaticDeflection],
    external_forces: Any,
) -> tuple[list[ModalComparison], dict[tuple[str, str], float]]:
    """Strain energy and sag of frames, and the estimate of energy; nothing without loads."""
    energies = [_strain_energy(f) for f in found]
    if not energies[1]:
        return [], {}
    rows = [_compared("strain energy", "J", *energies)]
    for frame in mechanism.frames:
        first, second = (float(np.linalg.norm(f.sag(frame.name))) for f in found)
        if second:
            rows.append(_compared(f"sag of {frame.name}", "m", first, second))
    q = _prolonged(mechanism, finer, found[0].q)
    shares = _energy_shares(mechanism, finer, q, external_forces)
    return rows, {key: energy / energies[1] for key, energy in shares.items()}


def _strain_energy(found: StaticDeflection) -> float:
    """Strain energy of elastic bodies [J]."""
    mechanism = found.mechanism
    tree = mechanism.tree()
    bent, straight = (
        float(spring_energy(tree, q.tolist())) for q in (found.q, undeformed(mechanism, found.q))
    )
    return bent - straight


def _energy_shares(
    mechanism: Mechanism, finer: Mechanism, q: Array, external_forces: Any
) -> dict[tuple[str, str], float]:
    """Energy r^2 / (2 K) of the forces r that are left on added coordinates [J]."""
    state = q[None]
    external, _ = external_matrices(finer, state, external_forces)
    left = (tangent_matrices(finer, state).force - external)[0]
    stiffness = np.diag(passive_matrices(finer, state)[0][0])
    shift = finer.nv - finer.nq  # of entries of qd against entries of q, after the joints
    known = _places(mechanism)
    shares: dict[tuple[str, str], float] = {}
    for key, entry in _places(finer).items():
        if key in known:
            continue
        body, _, direction, _ = key
        k = entry + shift
        share = left[k] ** 2 / (2 * stiffness[k])
        shares[body, direction] = shares.get((body, direction), 0.0) + float(share)
    return shares


def _frequencies(
    pair: Sequence[tuple[Mechanism, Array]], locked: Any, cutoff: float | None
) -> list[ModalComparison]:
    """The lowest frequencies that are not 0, up to the cut-off."""
    given, finer = (natural_frequencies(m, q, locked) for m, q in pair)
    given, finer = given[given > 0], finer[finer > 0]
    count = LOWEST if cutoff is None else int((finer <= cutoff).sum())
    rows = [
        _compared(f"frequency {k + 1}", "rad/s", float(a), float(b))
        for k, (a, b) in enumerate(zip(given[:count], finer[:count], strict=False))
    ]
    for k in range(len(given), min(count, len(finer))):  # the modes given have no such frequency
        rows.append(_compared(f"frequency {k + 1}", "rad/s", np.inf, float(finer[k])))
    return rows


def _compared(quantity: str, unit: str, value: float, finer: float) -> ModalComparison:
    return ModalComparison(quantity, unit, value, finer, abs(finer - value) / abs(finer))
