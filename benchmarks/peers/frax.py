"""frax: dynamics in JAX, mapped over the batch and compiled by XLA for one thread of the processor,
in doubles.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import dalembert as da
from dalembert.commandline.peers import plain_urdf
from peers import Contender
from robots import ROBOTS, STEP, STEP_SIZE, States, mechanism

# As frax advises for one core; NPROC is the size of XLA's pool of threads. Read when JAX is first
# imported.
SETTINGS = {
    "JAX_PLATFORMS": "cpu",
    "NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false "
    "--xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
}
STATES = 256  # of one call: with all of them at once its many intermediate arrays leave the caches
DIFFERENTIATED = 12  # freedoms up to which derivatives are measured: beyond, XLA takes minutes
HOW = f"vmap and jit on {STATES} states, one thread; derivatives by jacfwd and jacrev"


class Frax:
    """One robot on a fixed base, with revolute and prismatic joints only, or floating."""

    def __init__(self, name: str, states: States):
        frax, robot, self.mechanism = _frax(), ROBOTS[name], mechanism(name)
        with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
            file.write(plain_urdf(robot.path, robot.locked))
            file.flush()
            self.robot = frax.Robot(
                file.name, floating_base="quaternion" if robot.floating else None
            )
        own = [j.name for j in self.mechanism.independent_joints]
        self.order = [
            *(own[:1] if robot.floating else []),
            *self.robot.joint_names[6 if robot.floating else 0 :],
        ]
        # A floating base as MuJoCo has it: position and quaternion; velocity in the world's axes,
        # angular in the body's.
        theirs = da.convert.to_mujoco(self.mechanism, *states.first(STATES), joint_order=self.order)
        self.q, self.v, self.a, self.tau = (np.ascontiguousarray(x) for x in theirs)

    def contenders(self, quantity: str) -> list[Contender]:
        """One per way: derivatives forwards and backwards."""
        import jax

        return [self._contender(quantity, jax.jit(jax.vmap(f))) for f in self._functions(quantity)]

    def _functions(self, quantity: str) -> list[Callable[..., Any]]:
        """Of one state (q, v, x)."""
        import jax

        robot, gravity = self.robot, np.array([0, 0, 9.81, 0, 0, 0.0])
        functions: dict[str, Callable[..., Any]] = {
            "inverse_dynamics": lambda q, v, a: robot.rnea(q, v, a, gravity, None),
            "forward_dynamics": lambda q, v, tau: robot.forward_dynamics(q, v, tau, None),
            "mass_matrix": lambda q, v, x: robot.crba(q),
            STEP: self._step,
        }
        if quantity in functions:
            return [functions[quantity]]
        base = functions.get(quantity.removesuffix("_derivatives"))
        if base is None or self.robot.nq != self.robot.nv or self.robot.nv > DIFFERENTIATED:
            return []
        return [jax.jacfwd(base, (0, 1, 2)), jax.jacrev(base, (0, 1, 2))]

    def _step(self, q: Any, v: Any, tau: Any) -> tuple[Any, Any]:
        h, forward = STEP_SIZE, partial(self.robot.forward_dynamics, tau=tau, fext=None)
        a1 = forward(q, v)
        v2 = v + h / 2 * a1
        a2 = forward(q + h / 2 * v, v2)
        v3 = v + h / 2 * a2
        a3 = forward(q + h / 2 * v2, v3)
        v4 = v + h * a3
        a4 = forward(q + h * v3, v4)
        return q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)

    def _contender(self, quantity: str, function: Callable[..., Any]) -> Contender:
        import jax

        x = self.tau if quantity.startswith(("forward", STEP)) else self.a
        arguments = [jax.numpy.asarray(part) for part in (self.q, self.v, x)]
        left: list[Any] = [None]

        def call() -> None:
            left[0] = jax.block_until_ready(function(*arguments))

        return Contender("frax", HOW, call, lambda: self.ours(quantity, left[0]), len(self.q))

    def ours(self, quantity: str, found: Any) -> list[np.ndarray]:
        """Results in this package's conventions."""
        arm, convert = self.mechanism, da.convert.from_mujoco
        results = [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]
        if quantity == "inverse_dynamics":
            return [convert(arm, self.q, tau=results[0], joint_order=self.order).tau]
        if quantity == "forward_dynamics":
            return [convert(arm, self.q, self.v, results[0], joint_order=self.order).qdd]
        if quantity == STEP:
            after = convert(arm, *results, joint_order=self.order)
            return [after.q, after.qd]
        q = convert(arm, self.q, joint_order=self.order).q
        unit = [np.tile(e, (len(q), 1)) for e in np.eye(arm.nv)]
        P = np.stack([da.convert.to_mujoco(arm, q, e, joint_order=self.order).qd for e in unit], -1)
        return [P.swapaxes(1, 2) @ m @ P for m in results]  # its velocities: P times ours


@cache
def _frax() -> Any:
    """The module; importing it sets how JAX runs."""
    os.environ.update(SETTINGS)
    import jax

    jax.config.update("jax_enable_x64", True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would rather have an older JAX
        import frax

    return frax
