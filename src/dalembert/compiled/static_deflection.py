"""Static equilibrium of elastic bodies and joints: Newton's method with exact derivatives."""

from __future__ import annotations

from dataclasses import (
    dataclass,
    field,
)
from typing import Any

import numpy as np

from dalembert.compiled.tangent_matrices import (
    checked_mechanism,
    entries_named,
    external_matrices,
    full_coordinates,
    full_velocities,
    passive_matrices,
    tangent_matrices,
)
from dalembert.displays import brief_repr
from dalembert.errors import (
    DalembertError,
    EquilibriumError,
)
from dalembert.kinematics.forces import passive_force
from dalembert.kinematics.poses import placement
from dalembert.model.elastic.turn_limits import warn_of_turns
from dalembert.model.external_forces import (
    ExternalForce,
    opened_loads,
)
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import (
    Array,
    Values,
    check_rows,
)

ITERATIONS = 30  # of Newton's method at a load
SHORTEST = 2.0**-12  # part of a step of Newton's method
LONGEST = 1.0  # rad or m of a joint in a step
LEFT = 1e-24  # of the energy of the deflection: energy that a further step would give
FLOOR = 1e-28  # of the stiffness: energy of a step of 1e-14 rad or m
ROUGH = 1e-16  # the same, accepted where rounding gives no more
LEAST_LOAD_STEP = 2.0**-10
SOLVED = 1e-6  # of the forces: more that is left by a step shows a singular stiffness
INDEFINITE = -1e-10  # of the largest stiffness, scaled by that of the springs


@dataclass(frozen=True, eq=False)
class StaticDeflection:
    """A static equilibrium, or N of them; see `static_deflection`.

    Attributes
    ----------
    q : coordinates in equilibrium (nq,) or (N, nq) [rad, m]
    tau : joint forces that hold it (nv,) or (N, nv) [N m, N]
    iterations : steps of Newton's method, () or (N,)
    load_steps : steps in which the loads were put on, () or (N,); 1: at once
    residual : largest force that is left, () or (N,) [N m, N]
    critical_load_factor : multiple of the loads at which the stiffness about this equilibrium is
        lost, () or (N,), by its linear change with the loads; infinite where they stiffen; NaN where
        a coordinate that moves has no spring, so that the loads alone hold it
    free : names of the coordinates that moved

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> body = da.Body("rod", beam=beam, modes={"bend_z": 3})
    >>> rod = da.Mechanism("rod", [da.Body("wall"), body], [da.Joint("clamp", da.Fixed(), "wall", "rod")])
    >>> found = da.static_deflection(rod, rod.neutral())
    >>> int(found.iterations), float(found.residual) < 1e-12
    (1, True)
    """

    __repr__ = brief_repr

    mechanism: Mechanism = field(repr=False)
    q: Array
    tau: Array
    iterations: Array
    load_steps: Array
    residual: Array
    critical_load_factor: Array
    free: tuple[str, ...]

    def sag(self, frame: str) -> Array:
        """Displacement of a frame from its place on the rigid mechanism at the same joint
        coordinates, (3,) or (N, 3) [m], in world axes.

        Raises
        ------
        UnknownNameError
            There is no such frame.

        Examples
        --------
        >>> import dalembert as da
        >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
        >>> body = da.Body("rod", beam=beam, modes={"bend_z": 3})
        >>> clamp = da.Joint("clamp", da.Fixed(), "wall", "rod")
        >>> tip = da.Frame("tip", "rod", da.Origin((1.0, 0, 0)))
        >>> rod = da.Mechanism("rod", [da.Body("wall"), body], [clamp], [tip])
        >>> float(da.static_deflection(rod, rod.neutral()).sag("tip")[2].round(5))      # -q l^4 / (8 EI), less 1e-4
        -0.01226
        """
        bent = placement(self.mechanism, self.q, frame)
        rigid = placement(self.mechanism, undeformed(self.mechanism, self.q), frame)
        return (bent - rigid)[..., :3, 3]  # type: ignore[no-any-return]


def undeformed(mechanism: Mechanism, q: Array) -> Array:
    """Coordinates with those of elastic bodies at 0."""
    straight = np.array(q, dtype=float)
    for entry in mechanism.body_entries.values():
        straight[..., entry.at_q] = 0.0
    return straight


class _Balance:
    """Forces that are left, and their stiffness, with a part of the loads."""

    def __init__(
        self,
        mechanism: Mechanism,
        free: Any,
        applied: tuple[Array, Array | None, Any],
    ):
        self.mechanism = mechanism
        self.free = np.asarray(free, dtype=int)
        self.tau, self.qd, self.external_forces = applied

        elastic = [k for entry in mechanism.body_entries.values() for k in entry.at_v]
        self.of_joints = ~np.isin(self.free, elastic)

    def row(self, row: int) -> _Balance:
        """The balance of one of the states."""
        qd = None if self.qd is None else self.qd[[row]]
        loads = [_row_of(load, row) for load in self.external_forces]
        return _Balance(self.mechanism, self.free, (self.tau[[row]], qd, loads))

    def springs(self, q: Array) -> Array:
        """Stiffness of springs and beams (N, n, n)."""
        stiffness, _ = passive_matrices(self.mechanism, q)
        return stiffness[:, self.free[:, None], self.free]

    def at(self, q: Array, load_factor: float = 1.0) -> tuple[Array, Array]:
        """Forces that are left (N, n), and stiffness (N, n, n)."""
        found = tangent_matrices(self.mechanism, q, self.qd)
        external, by_q = external_matrices(self.mechanism, q, self.external_forces)
        rest = np.zeros((len(q), self.mechanism.nv))
        spring_force = -passive_force(self.mechanism, q, rest)[:, self.free]
        r = (found.force - self.tau - external)[:, self.free]
        K = (found.stiffness - by_q)[:, self.free[:, None], self.free]
        r = spring_force + load_factor * (r - spring_force)
        springs = self.springs(q)
        return r, springs + load_factor * (K - springs)

    def moved(self, q: Array, step: Array) -> Array:
        """Coordinates after a step of the free ones."""
        full = np.zeros((len(q), self.mechanism.nv))
        full[:, self.free] = step
        return np.asarray(self.mechanism.integrate(q, full), dtype=float)


def static_deflection(
    mechanism: Mechanism,
    q: Values,
    tau: Values | None = None,
    external_forces: Any = (),
    free: Any = (),
    qd: Values | None = None,
) -> StaticDeflection:
    """Static equilibrium of elastic bodies, and of joints that are not held.

        inverse_dynamics(q, qd, 0) - tau - sum_i J_i(q)^T f_i = 0

    in the free coordinates, by Newton's method with exact derivatives; where it does not converge at
    once the loads (all but elastic forces) are put on in steps.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array, or {coordinate: number}
        Coordinates: of joints that are held as they are; elastic ones to begin with [rad, m].
    tau : (nv,) or (N, nv) array, optional
        Forces on the free coordinates, by default 0 [N m, N].
    external_forces : sequence of ExternalForce, optional
        Dead loads in world axes, or loads that follow a frame.
    free : sequence of str, or 'all'
        Joints that are not held; elastic bodies, and flexible joints on their motors, are always
        free.
    qd : (nv,) or (N, nv) array, or {velocity: number}, optional
        Steady turning of joints that are held [rad/s, m/s].

    Returns
    -------
    StaticDeflection
        q in equilibrium, forces tau that hold it, iterations, and how far the loads are from critical
        ones.

    Raises
    ------
    EquilibriumError
        No equilibrium is found, or the stiffness there is not positive: it buckles, or falls. The
        message has the part of the loads that was reached and the critical one.
    DalembertError
        Nothing is free; the mechanism has constraints.
    ShapeError, UnknownNameError, ValueError, QuaternionError
        A vector has the wrong length; there is no such joint.

    Examples
    --------
    >>> import dalembert as da
    >>> spring = da.planar_chain(1).replace({"q1.stiffness[0]": 50.0})
    >>> da.static_deflection(spring, [0.0], free=["q1"]).q.round(4)       # 50 q = -4.905 cos q
    array([-0.0976])
    """
    checked_mechanism(mechanism, "has no static deflection")
    given = full_coordinates(mechanism, q)
    entries = _free_entries(mechanism, free)
    start, applied, single = _states(mechanism, given, tau, external_forces, qd)
    balance = _Balance(mechanism, entries, applied)
    found, iterations, converged = _newton(balance, start)
    converged &= _least_stiffness(balance, found) > INDEFINITE  # others are of another branch
    load_steps = np.ones(len(start), dtype=int)
    for row in np.flatnonzero(~converged).tolist():
        try:
            found[row], more, load_steps[row] = _in_load_steps(balance.row(row), start[[row]])
        except EquilibriumError as error:
            error.row = None if single else row
            raise
        iterations[row] += more
    return _result(balance, found, (iterations, load_steps), single)


def in_equilibrium(
    mechanism: Mechanism, q: Array, external_forces: Any = (), qd: Array | None = None
) -> Array:
    """Coordinates with elastic bodies and flexible joints in equilibrium, all other joints held; the
    same where nothing gives way.
    """
    if not (mechanism.elastic_bodies or mechanism.flexible_joints):
        return q
    return static_deflection(mechanism, q, external_forces=external_forces, qd=qd).q


def _free_entries(mechanism: Mechanism, free: Any) -> list[int]:
    """Entries of qd that move.

    Raises
    ------
    DalembertError, UnknownNameError
    """
    elastic = [k for entry in mechanism.body_entries.values() for k in entry.at_v]
    elastic += [k for j in mechanism.flexible_joints for k in mechanism.entries[j.name].at_v]
    entries = sorted({*elastic, *entries_named(mechanism, free)})
    if not entries:
        raise DalembertError(
            f"{mechanism.name!r} has no elastic bodies and all joints are held: nothing moves. Name "
            f"joints in free=[...] (known: {', '.join(mechanism.velocity_names)})."
        )
    return entries


def _states(
    mechanism: Mechanism, q: Array, tau: Any, external_forces: Any, qd: Any
) -> tuple[Array, tuple[Array, Array | None, Any], bool]:
    """All states in rows, the forces and velocities of each, and whether it is a single one."""
    tau = full_velocities(mechanism, {} if tau is None else tau)
    qd = None if qd is None else full_velocities(mechanism, qd)
    loads, sizes = opened_loads(external_forces)
    rows = {"q": _sizes(q), "tau": _sizes(tau), "external_forces": sizes}
    if qd is not None:
        rows["qd"] = _sizes(qd)
    found = check_rows(rows)
    count = found or 1
    q = np.array(np.broadcast_to(q, (count, mechanism.nq)), dtype=float)
    tau = np.broadcast_to(tau, (count, mechanism.nv))
    qd = None if qd is None else np.broadcast_to(qd, (count, mechanism.nv))
    return q, (tau, qd, external_forces), found is None


def _sizes(vector: Array) -> set[int]:
    return {len(vector)} if vector.ndim == 2 else set()


def _row_of(load: ExternalForce, row: int) -> ExternalForce:
    """The external force on one of the states."""
    vectors = {}
    for name in ("force", "moment", "point"):
        values = np.asarray(getattr(load, name), dtype=float)
        vectors[name] = values[[row]] if values.ndim == 2 and len(values) > 1 else values
    return ExternalForce(load.frame, **vectors, expressed_in=load.expressed_in)


def _newton(balance: _Balance, start: Array, load_factor: float = 1.0) -> tuple[Array, Any, Any]:
    """Coordinates, numbers of iterations, and whether each state converged."""
    q = start.copy()
    iterations = np.zeros(len(q), dtype=int)
    r, K = balance.at(q, load_factor)
    scale = np.zeros(len(q))
    left = np.full(len(q), np.inf)
    done = np.zeros(len(q), dtype=bool)
    for _ in range(ITERATIONS):
        step = -_solved(K, r)
        unsolved = np.abs((K @ step[..., None])[..., 0] + r).max(axis=-1)
        energy = np.abs((step * r).sum(axis=-1))
        energy[unsolved > SOLVED * np.abs(r).max(axis=-1)] = np.inf
        scale = np.maximum(scale, np.where(np.isfinite(energy), energy, 0.0))
        floor = FLOOR * np.abs(np.einsum("nkk->nk", K)).max(axis=-1)
        stalled = (energy >= left) & (energy <= ROUGH * scale)
        done |= (energy <= LEFT * scale + floor) | stalled
        if done.all():
            break
        left = energy
        step[done] = 0.0
        q, r, K = _searched(balance, (q, r, K), step, load_factor)
        iterations[~done] += 1
    return q, iterations, done


def _solved(K: Array, r: Array) -> Array:
    """K^-1 r; the least solution where K is singular."""
    try:
        step = np.linalg.solve(K, r[..., None])
    except np.linalg.LinAlgError:
        step = np.linalg.pinv(K) @ r[..., None]
    return np.asarray(step[..., 0], dtype=float)


def _searched(
    balance: _Balance, state: tuple[Array, Array, Array], step: Array, load_factor: float
) -> tuple[Array, Array, Array]:
    """State after a step, cut until the forces that are left, as steps of the first stiffness,
    become less.
    """
    q, r, K = state
    diagonal = np.abs(np.einsum("nkk->nk", K))
    weight = 1 / np.where(diagonal > 0, diagonal, 1.0)
    before = (weight * r**2).sum(axis=-1)
    joints = step[:, balance.of_joints]
    part = LONGEST / np.maximum(np.abs(joints).max(axis=-1, initial=0.0), LONGEST)
    while True:
        moved = balance.moved(q, part[:, None] * step)
        new_r, new_K = balance.at(moved, load_factor)
        after = (weight * new_r**2).sum(axis=-1)
        worse = (after > 4 * before) & (part > SHORTEST) & (before > 0)
        if not worse.any():
            return moved, new_r, new_K
        part[worse] /= 2


def _in_load_steps(balance: _Balance, start: Array) -> tuple[Array, int, int]:
    """The equilibrium of a state, the loads put on in steps; numbers of iterations and of steps.

    Raises
    ------
    EquilibriumError
    """
    q, reached, step, count, steps = start, 0.0, 0.5, 0, 0
    while reached < 1:
        target = min(1.0, reached + step)
        found, iterations, converged = _newton(balance, q, target)
        count += int(iterations[0])
        is_stable = _least_stiffness(balance, found, target)[0] > INDEFINITE
        if converged[0] and is_stable:
            q, reached, steps = found, target, steps + 1
            step *= 2
            continue
        step /= 2
        if step < LEAST_LOAD_STEP:
            raise _unstable(balance, q) if converged[0] else _not_found(balance, q, reached, count)
    return q[0], count, steps


def _not_found(balance: _Balance, q: Array, reached: float, count: int) -> EquilibriumError:
    r, K = balance.at(q)
    worst = int(np.argmax(np.abs(r[0])))
    name = balance.mechanism.velocity_names[balance.free[worst]]
    critical = _critical_load_factor(balance, q, K)[0]
    ahead = f" The stiffness is lost at about {critical:.4g} of them." if critical > 0 else ""
    return EquilibriumError(
        f"{balance.mechanism.name!r} has no static equilibrium near: Newton's method holds "
        f"{reached:.4g} of the loads after {count} iterations, and with all of them "
        f"{abs(r[0, worst]):.3g} N m or N are left at {name!r}.{ahead} Lower the loads, or hold a "
        "joint.",
        residual=float(abs(r[0, worst])),
        load_factor=reached,
        critical_load_factor=float(critical) if critical > 0 else None,
    )


def _scaled(balance: _Balance, q: Array, K: Array) -> tuple[Array, bool]:
    """The symmetric part of K, as multiples of the stiffness of springs where all coordinates have
    them, else scaled by its diagonal.
    """
    K = (K + np.swapaxes(K, -1, -2)) / 2
    try:
        factor = np.linalg.cholesky(balance.springs(q))
    except np.linalg.LinAlgError:
        size = np.sqrt(np.abs(np.einsum("nkk->nk", K)).max(axis=0))
        size = np.where(size > 0, size, 1.0)
        return K / size[:, None] / size, False
    half = np.linalg.solve(factor, K)
    return np.asarray(np.linalg.solve(factor, np.swapaxes(half, -1, -2)), dtype=float), True


def _least_stiffness(balance: _Balance, q: Array, load_factor: float = 1.0) -> Array:
    """Least eigenvalue of the scaled stiffness of each state."""
    scaled, _ = _scaled(balance, q, balance.at(q, load_factor)[1])
    return np.asarray(np.linalg.eigvalsh(scaled)[:, 0], dtype=float)


def _critical_load_factor(balance: _Balance, q: Array, K: Array) -> Array:
    """Multiple of the loads at which springs + multiple (K - springs) is singular; infinite, or NaN
    without springs.
    """
    scaled, has_springs = _scaled(balance, q, K)
    if not has_springs:
        return np.full(len(K), np.nan)
    softening = 1 - np.linalg.eigvalsh(scaled)[:, 0]
    with np.errstate(divide="ignore"):
        return np.where(softening > 0, 1 / np.maximum(softening, 0.0), np.inf)  # type: ignore[no-any-return]


def _result(
    balance: _Balance, q: Array, counts: tuple[Array, Array], single: bool
) -> StaticDeflection:
    """The equilibrium with the forces that hold it."""
    mechanism = balance.mechanism
    r, K = balance.at(q)
    critical = _critical_load_factor(balance, q, K)
    found = tangent_matrices(mechanism, q, balance.qd)
    external, _ = external_matrices(mechanism, q, balance.external_forces)
    residual = np.abs(r).max(axis=-1)
    names = tuple(mechanism.velocity_names[k] for k in balance.free)
    row: Any = 0 if single else slice(None)
    warn_of_turns(mechanism, q, "in equilibrium")
    return StaticDeflection(
        mechanism,
        q[row],
        (found.force - external)[row],
        np.asarray(counts[0][row]),
        np.asarray(counts[1][row]),
        np.asarray(residual[row]),
        np.asarray(critical[row]),
        names,
    )


def _unstable(balance: _Balance, q: Array) -> EquilibriumError:
    """The error of a state (1, nq) that the loads make unstable."""
    K = balance.at(q)[1]
    critical = float(_critical_load_factor(balance, q, K)[0])
    values, vectors = np.linalg.eigh(_scaled(balance, q, K)[0][0])
    name = balance.mechanism.velocity_names[balance.free[int(np.argmax(np.abs(vectors[:, 0])))]]
    told = "Hold a joint that falls, or give it a spring."
    if np.isfinite(critical):
        told = f"it buckles at {critical:.6g} of the loads. Lower them, or stiffen the body."
    return EquilibriumError(
        f"the equilibrium of {balance.mechanism.name!r} is unstable: its stiffness is not positive "
        f"(least eigenvalue {values[0]:.3g} of that of the springs, mostly in {name!r}); {told}",
        critical_load_factor=critical if np.isfinite(critical) else None,
    )
