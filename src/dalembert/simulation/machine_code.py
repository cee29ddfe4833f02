"""Machine code made of a motion: of methods over it, of searches in their steps, of its forces."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.codegen.program import program_of
from dalembert.codegen.symbols import vector_of_symbols
from dalembert.compiled.memo import kept
from dalembert.compiled.propagation import propagator
from dalembert.controllers.checks import is_unchanging
from dalembert.expr import Graph, array
from dalembert.integrators import Adaptive, External, FixedStep, Method
from dalembert.integrators.method_kinds import LinearlyImplicit
from dalembert.native import builtin
from dalembert.native.function import function
from dalembert.native.propagator import Propagator, Segment, StepControl, Trajectories
from dalembert.native.routine import Routine
from dalembert.simulation.applied_forces import CALLED, TRACED
from dalembert.simulation.segment import Propagate, Told
from dalembert.tracing.event_location import crossing_of
from dalembert.tracing.trace import Trace


class MachineCode:
    """Machine code of a motion, kept while its traced functions and laws are the same.

    motion : the first-order system
    """

    def __init__(self, motion: Any):
        self._motion = motion

    def propagator(self, method: Method) -> Propagator:
        """The method over this motion as machine code."""
        return self.kept(_named(method), lambda: self._propagator(method))

    def kept(self, what: str, make: Callable[[], Any]) -> Any:
        """A value made of the traced functions and laws of this motion, kept while these are the
        same.
        """
        key = (
            what,
            *self._motion.formulation.key,
            *self._motion.kinds.values(),
            *self._motion.forces.lengths.values(),
            *self._motion.forces.saturation.key,
            *self._traced,
            *(self._motion.forces.loads.frames if self._motion.forces.loads else ()),
            *(self._motion.reactions.key if self._motion.reactions else ()),
        )
        return kept(self._motion.mechanism, key, make)

    @cached_property
    def _traced(self) -> tuple[Any, ...]:
        """The traced functions; as text, if what they refer to may have changed since they were
        traced last.
        """
        functions = [*self._motion.forces.traced, *self._motion.events.functions]
        if all(is_unchanging(f) for f in functions):
            return *functions, *self._motion.events.directions
        sizes = {
            "t": 1,
            "q": self._motion.system.nq,
            "qd": self._motion.system.nv,
            "p": self._motion.constants.shape[-1],
            "z": self._motion.states.shape[-1],
        }
        outside = {
            name: lambda *_, n=n: np.zeros(n) for name, n in self._motion.forces.lengths.items()
        }
        events = self._motion.events
        with Graph():
            (t,), q, qd, p, z = given = [vector_of_symbols(name, n) for name, n in sizes.items()]
            found = [
                *self._motion.forces(t, q, qd, p, z, outside),
                *self._motion.forces.rates(t, q, qd, z, outside),
            ]
            found += events.values(t, q, qd) if events.traced else []
            program = program_of(dict(zip(sizes, given, strict=True)), {"values": array(found)})
        called = () if events.traced else events.functions
        return program.text(), *called, *events.directions

    def _propagator(self, method: Method) -> Propagator:
        calls = () if isinstance(method, External) else tuple(self._motion.forces.lengths.values())
        watch = self._motion.witnesses if self._motion.is_watched else None
        return propagator(
            self._motion.right_hand_side,
            self._motion.nx,
            self._motion.inputs.size,
            method,
            self._motion.manifold,
            calls,
            watch,
            self._motion if isinstance(method, LinearlyImplicit) else None,
        )

    def compiles(self, method: Method) -> bool:
        """Whether trajectories by this method run in machine code."""
        if self._motion.formulation.iteration:
            return False
        if isinstance(method, LinearlyImplicit):
            return self._motion.traced  # whose derivatives are known
        if self._motion.is_watched:
            return self._motion.traced and not isinstance(method, External)
        return self._motion.traced or (builtin.supported() and not isinstance(method, External))

    def propagate(self, method: Method, control: StepControl, told: Told) -> Propagate:
        """Trajectories of this motion by a method in machine code, which calls functions that are
        not traced.
        """
        run, functions = self.propagator(method).propagate, self._motion.forces.outside()

        def propagate(segment: Segment) -> Trajectories:
            """Run the propagator over a segment."""
            return run(segment, control, functions, told)

        return propagate

    def crossing(self, method: FixedStep | Adaptive) -> Routine:
        """The location of happenings within the method's steps over this motion."""
        return self.kept(
            f"crossing of {_named(method)}",
            lambda: Routine(
                crossing_of(
                    self._motion.right_hand_side,
                    self._motion.nx,
                    self._motion.inputs.size,
                    method,
                    self._motion.manifold,
                    self._motion.witnesses,
                    self._motion if isinstance(method, LinearlyImplicit) else None,
                )
            ),
        )

    @cached_property
    def slopes(self) -> Any:
        """Derivatives of f by x (nx, nx) and by t (nx,), of t, x (nx,), p (n,) of floats."""
        sizes = {"x": self._motion.nx, "p": self._motion.inputs.size}
        return self.kept("slopes", lambda: function(self._motion.slopes, t=(), **sizes))

    @cached_property
    def driven(self) -> Any:
        """f of t, x (nx,), p (n,), and control and forces (nv,) of floats, but for rates of the
        controller's states.
        """
        own = np.zeros(self._motion.states.shape[-1])
        sizes = {"x": self._motion.nx, "p": self._motion.inputs.size, "tau": self._motion.system.nv}

        def driven(t: Any, x: Any, p: Any, tau: Any) -> Any:
            """Rates under given forces."""
            return array([*self._motion.driven(t, x, p, tau, own)])

        return self.kept("driven", lambda: function(driven, t=(), **sizes))

    @cached_property
    def stiffness(self) -> Any:
        """Minus derivatives of forces by coordinates and velocities, of t, x (nx,), p (n,) of floats."""
        sizes = {"x": self._motion.nx, "p": self._motion.inputs.size}
        return self.kept("stiffness", lambda: function(self._motion.stiffness, t=(), **sizes))

    def forces_at(self, t: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Control and forces (n, nv) at t (n,), x (n, nx), p (n, k)."""
        if not (
            {TRACED, CALLED}.intersection(self._motion.kinds.values()) or self._motion.forces.loads
        ):
            constants = self._motion.inputs.part(p, "forces")
            return np.add.reduce(constants.reshape(len(p), -1, self._motion.system.nv), axis=1)
        if CALLED not in self._motion.kinds.values():
            return self._compiled_forces(t[:, None], x, p)[0]  # type: ignore[no-any-return]
        return np.array(
            [self._motion.forces_of(*row) for row in zip(t[:, None], x, p, strict=True)],
            dtype=float,
        )

    @cached_property
    def _compiled_forces(self) -> Any:
        def made() -> Routine:
            """Trace and compile the forces."""
            sizes = {"t": 1, "x": self._motion.nx, "p": self._motion.inputs.size}
            with Graph():
                trace = Trace(sizes | {"tau": self._motion.system.nv})
                trace.give(
                    {"tau": self._motion.forces_of(*(trace.registers[name] for name in sizes))}
                )
            return Routine(trace.program(tuple(sizes), ("tau",)))

        return self.kept("forces", made)


def _named(method: Method) -> str:
    """Name of a method, with the numbers that it was made with."""
    numbers = method.numbers if isinstance(method, FixedStep) else ()
    return " ".join([method.name, *map(repr, numbers)])
