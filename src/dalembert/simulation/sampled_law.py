"""The law of a sampled controller over trajectories: compiled, or called for one after the other."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from dalembert.controllers.sampled import LAW, Sampled
from dalembert.expr import Graph
from dalembert.native.routine import Routine
from dalembert.purity.examine import Guard, TriedStates, examine, remembering
from dalembert.purity.reachable import Memory
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.trial_states import trial_states
from dalembert.tracing.trace import Trace

_laws: weakref.WeakKeyDictionary[Sampled, tuple[Any, Any, Memory, Routine]] = (
    weakref.WeakKeyDictionary()
)


class Law:
    """The law of a sampled controller over rows: compiled, or called for one trajectory after the
    other.

    Raises
    ------
    RememberingError, TypeError, ShapeError
        It remembers something besides its memory; it returns something else.
    """

    def __init__(self, sampled: Sampled, motion: FirstOrderSystem):
        system = motion.system
        self.sampled = sampled
        self.nv = motion.system.nv
        start = sampled.layout.flat(sampled.memory).astype(float)

        def made() -> list[tuple[Any, ...]]:
            """Instants, states and memories at which the law is tried."""
            return [
                (
                    k,
                    motion.begin + k * sampled.period,
                    q,
                    qd,
                    start + (k > 0) * 0.1 * np.cos(np.arange(len(start)) + k),
                )
                for k, (_, q, qd) in enumerate(trial_states(system, sampled.law))
            ]

        states = TriedStates(((), (), (system.nq,), (system.nv,), start.shape), made)
        found = examine(
            sampled.flat_law, LAW, states, trace=getattr(sampled.law, "traced", True) is not False
        )
        if found.verdict.remembers:
            raise remembering(
                LAW,
                found.verdict.remembers,
                " It has one already: what is to be remembered is returned as "
                "its memory, `return tau, memory`, and given to the next call.",
            )
        if all(r is None for r in found.results):
            sampled.flat_law(*states.listed[0])  # raises what is wrong with it
        self.traced = found.traced
        self.start = start
        self.guard = Guard(sampled.flat_law, LAW, found.verdict.memory)
        self.motion = motion
        self._compiled = self._kept(found.verdict.memory) if found.traced else None

    def _kept(self, memory: Memory) -> Routine:
        """The compiled law, kept while neither it nor the equations are others."""
        form = self.motion.formulation
        constants = self.motion.constants.shape[-1]
        key = (id(self.motion.mechanism), *form.key, self.motion.nx, constants)
        known = _laws.get(self.sampled)
        if (
            known
            and known[0] == key
            and known[1]() is self.motion.mechanism
            and not known[2].changes()
        ):
            return known[3]
        routine = self._routine(self.motion)
        _laws[self.sampled] = key, weakref.ref(self.motion.mechanism), memory, routine
        return routine

    def _routine(self, motion: FirstOrderSystem) -> Routine:
        """tau and memory of states x, compiled; without a memory it is no input."""
        size = len(self.start)
        nv = self.nv
        memory = {"memory": size} if size else {}
        inputs = {"k": 1, "t": 1, "x": motion.nx, "p": motion.constants.shape[-1], **memory}
        outputs = {"tau": nv, **({"later": size} if size else {})}
        with Graph():
            trace = Trace(inputs | outputs)
            v, (q, y, *_) = trace.registers, motion.split(trace.registers["x"])
            qd = motion.at(v["p"]).velocities(trace["t"], q, y)
            found = self.sampled.flat_law(
                trace["k"], trace["t"], q.copy(), qd.copy(), v.get("memory", np.zeros(0))
            )
            trace.give({"tau": found[:nv], **({"later": found[nv:]} if size else {})})
        return Routine(trace.program(tuple(inputs), tuple(outputs)))

    def __call__(
        self, k: int, t: float, x: np.ndarray, p: np.ndarray, memory: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """tau (N, nv) and memory (N, m) of sample k at the caller's time t, in states x (N, nx)
        with parameters p.
        """
        if self._compiled is not None:
            given = [memory] if memory.shape[1] else []
            tau, *later = self._compiled(
                np.full((len(x), 1), float(k)), np.full((len(x), 1), t), x, p, *given
            )
            return self._limited(tau), later[0] if later else memory
        q, qd = self.states_of(t, x)
        rows = zip(q.copy(), qd.copy(), memory.copy(), strict=True)
        found = np.array([self.sampled.flat_law(k, t, *row) for row in rows], dtype=float)
        return self._limited(found[:, : self.nv]), found[:, self.nv :]

    def _limited(self, tau: np.ndarray) -> np.ndarray:
        """Forces (N, nv) within the limits of efforts, where these are obeyed."""
        return self.motion.forces.saturation.of_numbers(tau)

    def check_memory(self, times: np.ndarray, q: np.ndarray, qd: np.ndarray) -> None:
        """See that nothing changed on which the law depends at states of the run, (K,), (K, n)
        each.

        Raises
        ------
        RememberingError
        """
        rows = [
            (int((t - times[0]) / self.sampled.period), float(t), *row, self.start)
            for t, *row in zip(times, q, qd, strict=True)
            if np.isfinite(np.hstack(row)).all()
        ]
        if rows:
            self.guard.check(rows)

    def states_of(self, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q and qd of states x (N, nx)."""
        q, y, *_ = self.motion.split(x)
        numbers = self.motion.numbers
        recorded = self.motion.formulation.recorded
        if len(x) > 1 and numbers.ndim > 1:
            numbers = numbers[: len(x)]
        return q, recorded(np.array([t]), q[:, None], y[:, None], numbers)[:, 0]
