"""MuJoCo: a C loop over the stages of its library that each quantity needs."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import numpy as np

import dalembert as da
from dalembert.commandline.peers import mujoco_model
from native import HERE, library
from peers import Contender, address
from robots import QUANTITIES, ROBOTS, STEP, STEP_SIZE, States, mechanism

HOW_STEP = "C loop over mj_step with its Runge-Kutta method"
HOW = "C loop over its stages (kinematics, RNE; composite inertia and sparse factorisation), gcc -O3 -march=native"


class MuJoCo:
    """One robot. It has no analytical derivatives and no regressor."""

    def __init__(self, name: str, states: States):
        import mujoco

        robot = ROBOTS[name]
        self.mechanism, self.states = mechanism(name), states
        self.model, self.names = mujoco_model(robot.path, robot.locked, robot.floating)
        self.model.opt.integrator, self.model.opt.timestep = (
            mujoco.mjtIntegrator.mjINT_RK4,
            STEP_SIZE,
        )
        self.data = mujoco.MjData(self.model)
        theirs = da.convert.to_mujoco(self.mechanism, *states, joint_order=self.names)
        self.q, self.v, self.a, self.tau = (np.ascontiguousarray(x) for x in theirs)

    def contenders(self, quantity: str) -> list[Contender]:
        if quantity == STEP:
            return [self._step()]
        if quantity not in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
            return []
        nv = self.model.nv
        x = self.tau if quantity == "forward_dynamics" else self.a
        out = np.zeros((len(self.q), nv * nv if quantity == "mass_matrix" else nv))
        loop = _loop("mujoco_loop.c")

        def call() -> int:
            return loop.run(
                self.model._address,
                self.data._address,
                QUANTITIES.index(quantity),
                len(self.q),
                address(self.q),
                address(self.v),
                address(x),
                address(out),
            )

        return [Contender("MuJoCo", HOW, call, lambda: self.ours(quantity, out), len(self.q))]

    def _step(self) -> Contender:
        out = np.zeros((len(self.q), self.model.nq + self.model.nv))
        loop = _loop("mujoco_step.c")

        def call() -> None:
            loop.step(
                self.model._address,
                self.data._address,
                len(self.q),
                address(self.q),
                address(self.v),
                address(self.tau),
                address(out),
            )

        def result() -> list[np.ndarray]:
            found = da.convert.from_mujoco(
                self.mechanism, *np.split(out, [self.model.nq], axis=1), joint_order=self.names
            )
            return [found.q, found.qd]

        return Contender("MuJoCo", HOW_STEP, call, result, len(self.q))

    def ours(self, quantity: str, out: np.ndarray) -> list[np.ndarray]:
        """Results of the loop in this package's conventions."""
        if quantity == "mass_matrix":
            arm, q = self.mechanism, self.states.q
            unit = [np.tile(e, (len(out), 1)) for e in np.eye(arm.nv)]
            P = np.stack(
                [da.convert.to_mujoco(arm, q, e, joint_order=self.names).qd for e in unit], -1
            )
            return [
                P.swapaxes(1, 2) @ out.reshape(-1, self.model.nv, self.model.nv) @ P
            ]  # its velocities: P times ours
        if quantity == "inverse_dynamics":
            return [
                da.convert.from_mujoco(self.mechanism, self.q, tau=out, joint_order=self.names).tau
            ]
        return [
            da.convert.from_mujoco(self.mechanism, self.q, self.v, out, joint_order=self.names).qdd
        ]


@cache
def _loop(source: str) -> ctypes.CDLL:
    import mujoco

    folder = Path(mujoco.__file__).parent
    found = library(
        (HERE / "peers" / source,),
        ("-O3", "-march=native", f"-I{folder / 'include'}"),
        link=(str(next(folder.glob("libmujoco.so*"))), f"-Wl,-rpath,{folder}", "-lm"),
    )
    if source == "mujoco_loop.c":
        found.run.argtypes = [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_long,
            *[ctypes.c_void_p] * 4,
        ]
    else:
        found.step.argtypes = [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_long,
            *[ctypes.c_void_p] * 4,
        ]
    return found
