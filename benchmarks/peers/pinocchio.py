"""Pinocchio: a C++ loop over its headers, compiled for this processor; where that cannot be built,
its batch functions.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da
from dalembert.commandline.peers import pinocchio_model
from native import FAST, HERE, BuildError, library
from peers import Contender, address
from robots import QUANTITIES, ROBOTS, STEP, STEP_SIZE, States, mechanism

MODEL = HERE / "peers" / "pinocchio_model.hpp"
DEFINES = (
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
    "-DNDEBUG",
    "-std=c++17",
    "-w",
)  # as its own package sets them
APART = (
    "-fvisibility=hidden",
    "-fno-gnu-unique",
    "-Wl,-Bsymbolic",
)  # from the library that the Python module loads
KINDS = {"R": 0, "P": 1, "F": 2}
CONVENTIONS = {name: ("local", "world") for name in ("forward_dynamics", "mass_matrix", STEP)}
HOW = "C++ loop, headers compiled with g++ -O3 -march=native"
HOW_BATCH = "its batch function from Python, one thread"


class Pinocchio:
    """One robot."""

    def __init__(self, name: str, states: States):
        robot = ROBOTS[name]
        self.mechanism, self.states = mechanism(name), states
        self.model, names = pinocchio_model(robot.path, robot.locked, robot.floating)
        self.names = names
        theirs = da.convert.to_pinocchio(self.mechanism, *states, joint_order=names)
        self.q, self.v, self.a, self.tau = (np.ascontiguousarray(x) for x in theirs)
        numbers = da.convert.to_pinocchio(
            self.mechanism,
            self.mechanism.neutral(),
            np.arange(float(self.mechanism.nv)),
            joint_order=names,
        ).qd
        self.order = np.argsort(numbers)  # place in its vectors of each entry of ours
        self.joints = [names.index(j.name) for j in self.mechanism.independent_joints]

    def contenders(self, quantity: str) -> list[Contender]:
        """The loop, with each convention that the algorithm offers; else the batch function where
        there is one.
        """
        x = self.tau if quantity.startswith(("forward", STEP)) else self.a
        out = np.zeros((len(self.q), self.model.nv * columns(quantity, self.model)))

        def result() -> list[np.ndarray]:
            return self.ours(quantity, out)

        try:
            loop = _stepper() if quantity == STEP else _loop()
        except BuildError as error:
            print(
                f"Pinocchio's batch functions are measured, its C++ loop cannot be built: {error}",
                file=sys.stderr,
            )
            return self._batch(quantity, x, out, result)
        rows = np.array(rows_of(self.model))
        handle = loop.robot(len(rows), address(rows))
        arguments = len(self.q), address(self.q), address(self.v), address(x), address(out)
        runs = (
            partial(loop.step, handle)
            if quantity == STEP
            else partial(loop.run, handle, QUANTITIES.index(quantity))
        )
        return [
            Contender(
                "Pinocchio",
                HOW,
                partial(runs, axes == "world", *[STEP_SIZE] * (quantity == STEP), *arguments),
                result,
                len(self.q),
            )
            for axes in CONVENTIONS.get(quantity, ("local",))
        ]

    def _batch(self, quantity, x, out, result) -> list[Contender]:
        import pinocchio

        functions = {
            "inverse_dynamics": pinocchio.rneaInParallel,
            "forward_dynamics": pinocchio.abaInParallel,
        }
        if quantity not in functions:
            return []
        pool = pinocchio.ModelPool(self.model, 1)
        function = functions[quantity]
        return [
            Contender(
                "Pinocchio",
                HOW_BATCH,
                lambda: function(1, pool, self.q.T, self.v.T, x.T, out.T),
                result,
                len(self.q),
            )
        ]

    def ours(self, quantity: str, out: np.ndarray) -> list[np.ndarray]:
        """Results of the loop in this package's order of entries, as full row-major matrices."""
        n, nv = len(out), self.model.nv
        if quantity in ("inverse_dynamics", "forward_dynamics"):
            return [out[:, self.order]]
        if quantity == STEP:
            found = da.convert.from_pinocchio(
                self.mechanism, *np.split(out, 2, axis=1), joint_order=self.names
            )
            return [found.q, found.qd]
        if quantity == "regressor":
            blocks = out.reshape(n, self.model.njoints - 1, 10, nv)  # by columns
            return [
                blocks[:, self.joints][..., self.order].transpose(0, 3, 1, 2).reshape(n, nv, -1)
            ]
        layouts = _loop().layouts()
        rate, inertia = (2, 3) if quantity == "forward_dynamics_derivatives" else (0, 1)
        matrices = list(out.reshape(n, -1, nv, nv).transpose(1, 0, 2, 3))
        for k, bit in enumerate((rate, rate, inertia)[-len(matrices) :]):
            if not layouts >> bit & 1:
                matrices[k] = matrices[k].swapaxes(1, 2)
        upper = np.triu(matrices[-1])  # it fills the upper triangle
        matrices[-1] = upper + np.triu(upper, 1).swapaxes(1, 2)
        return [m[:, self.order][:, :, self.order] for m in matrices]


def columns(quantity: str, model: Any) -> int:
    """Columns of all matrices of a quantity side by side, each of nv rows."""
    plain = {
        "inverse_dynamics": 1,
        "forward_dynamics": 1,
        "mass_matrix": model.nv,
        "regressor": 10 * (model.njoints - 1),
        STEP: 2,
    }
    return plain.get(quantity, 3 * model.nv)


@cache
def _loop() -> ctypes.CDLL:
    found = _library("pinocchio_loop.cpp")
    found.run.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_long,
        *[ctypes.c_void_p] * 4,
    ]
    return found


@cache
def _stepper() -> ctypes.CDLL:
    found = _library("pinocchio_step.cpp")
    found.step.restype = None
    found.step.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_double,
        ctypes.c_long,
        *[ctypes.c_void_p] * 4,
    ]
    return found


def _library(source: str) -> ctypes.CDLL:
    found = library((HERE / "peers" / source, MODEL), (*FAST, *DEFINES, *includes(), *APART), "g++")
    found.robot.restype = ctypes.c_void_p
    found.robot.argtypes = [ctypes.c_long, ctypes.c_void_p]
    return found


def includes() -> tuple[str, ...]:
    """Folders of the headers: Pinocchio's from its package, Eigen's from the system or from
    CasADi's package.
    """
    import casadi
    import pinocchio

    prefix = Path(pinocchio.__file__).parents[4]
    eigen = [
        p
        for p in (
            prefix / "include" / "eigen3",
            Path("/usr/include/eigen3"),
            Path(casadi.__file__).parent / "include" / "eigen3",
        )
        if (p / "Eigen" / "Core").exists()
    ]
    if not eigen:
        raise BuildError("no Eigen headers found")
    return f"-I{prefix / 'include'}", f"-I{eigen[0]}"


def rows_of(model: Any) -> list[list[float]]:
    """A model as rows of numbers, one a joint; pinocchio_model.hpp says which."""
    found = []
    for i in range(1, model.njoints):
        kind, axis = _joint(model.joints[i])
        placement, inertia = model.jointPlacements[i], model.inertias[i]
        found.append(
            [
                model.parents[i],
                KINDS[kind],
                *axis,
                *placement.rotation.ravel(),
                *placement.translation,
                inertia.mass,
                *inertia.lever,
                *inertia.inertia.ravel(),
            ]
        )
    return found


def _joint(joint: Any) -> tuple[str, tuple[float, ...]]:
    name = joint.shortname().removeprefix("JointModel")
    if name == "FreeFlyer":
        return "F", (0, 0, 0)
    if name in ("RevoluteUnaligned", "PrismaticUnaligned"):
        return name[0], tuple(joint.extract().axis)
    if name[0] in "RP" and name[1:] in ("X", "Y", "Z"):
        return name[0], tuple(float(name[1:] == letter) for letter in "XYZ")
    raise BuildError(f"the loops know no joint {name}")
