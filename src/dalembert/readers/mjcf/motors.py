"""Actuators of a compiled model that drive a joint: gears, limits and rotors; laws stay with controls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dalembert.model.actuators import Actuator
from dalembert.model.findings import Finding
from dalembert.readers.mjcf.compiling import CompiledModel
from dalembert.readers.mjcf.exact_numbers import exact
from dalembert.readers.mjcf.unique_names import UniqueNames

JOINT = 0  # mjtTrn of a joint
SLIDE = 2  # mjtJoint, the first of one freedom
FIXED_GAIN, NO_BIAS, NO_DYNAMICS = 0, 0, 0  # of a motor, whose force is gain times control
LAW = "its law stays with the control: simulate(control=), as da.controllers.PD."


class Motors:
    """Makes actuators of those of a model."""

    def __init__(self, compiled: CompiledModel, joints: Iterable[str]):
        self.compiled = compiled
        self.joints = frozenset(joints)
        own = [self.compiled.name("actuator", a) for a in range(compiled.model.nu)]
        self.names = UniqueNames([*own, *self.joints])
        self.renamed = [a for a, name in enumerate(own) if name in self.joints]
        self.remarks: list[Finding] = []

    def actuators(self) -> tuple[Actuator, ...]:
        """All that drive a joint of one freedom; the others, servos and uneven limits are remarked."""
        model = self.compiled.model
        made = [self._actuator(a) for a in range(model.nu) if self._drives_one_freedom(a)]
        servos = [a for a in range(model.nu) if not _is_motor(model, a)]
        if servos:
            what = f"{len(servos)} actuator{'s' * (len(servos) > 1)}"
            why = "more than a motor, as a servo: gear, limit of force and rotor are read;"
            source = self.compiled.source("actuator", servos[0])
            self.remarks.append(Finding("note", what, why, LAW, source))
        if self.renamed:
            what = f"{len(self.renamed)} actuator{'s' * (len(self.renamed) > 1)}"
            why = "named as joints; '/motor' stands behind these names here."
            source = self.compiled.source("actuator", self.renamed[0])
            self.remarks.append(Finding("note", what, why, "", source))
        return tuple(made)

    def _drives_one_freedom(self, a: int) -> bool:
        model = self.compiled.model
        joint = int(model.actuator_trnid[a][0])
        if model.actuator_trntype[a] == JOINT and model.jnt_type[joint] >= SLIDE:
            return True
        self._remark(a, "error", "it drives a ball or free joint, and is not read.")
        return False

    def _actuator(self, a: int) -> Actuator:
        model = self.compiled.model
        joint = int(model.actuator_trnid[a][0])
        name = self.compiled.name("actuator", a)
        return Actuator(
            self.names.new(f"{name}/motor") if name in self.joints else name,
            self.compiled.name("joint", joint),
            exact(model.actuator_gear[a][0]),
            exact(_of_actuators(model, "armature")[a]),
            effort=self._effort(a),
            source=self.compiled.source("actuator", a),
        )

    def _effort(self, a: int) -> Any:
        """The largest force of the shaft: by the limits of force, and of a motor by its control."""
        model = self.compiled.model
        least, most = -np.inf, np.inf
        if model.actuator_ctrllimited[a] and _is_motor(model, a):
            least, most = sorted(model.actuator_ctrlrange[a] * model.actuator_gainprm[a][0])
        if model.actuator_forcelimited[a]:
            least, most = np.clip([least, most], *model.actuator_forcerange[a])
        if not np.isfinite(most):
            return None
        effort = max(abs(least), abs(most))
        if least != -most:
            why = f"its limits are {least:g} and {most:g}; read as {effort:g} for both senses."
            self._remark(a, "warning", why)
        return exact(effort)

    def _remark(self, a: int, severity: str, why: str) -> None:
        what = f"actuator {self.compiled.name('actuator', a)!r}"
        source = self.compiled.source("actuator", a)
        self.remarks.append(Finding(severity, what, why, "", source))


def _is_motor(model: Any, a: int) -> bool:
    """Whether the force is a constant times the control."""
    return bool(
        model.actuator_gaintype[a] == FIXED_GAIN
        and model.actuator_biastype[a] == NO_BIAS
        and model.actuator_dyntype[a] == NO_DYNAMICS
    )


def _of_actuators(model: Any, name: str) -> Any:
    """An array of newer versions with a number for each actuator; zeros of older ones."""
    return getattr(model, f"actuator_{name}", np.zeros(model.nu))


def damping_of_motors(model: Any) -> np.ndarray:
    """Damping of actuators as their joints feel it, gear^2 times that of the shaft, by freedom."""
    damping = np.zeros(model.nv)
    for a in range(model.nu):
        joint = int(model.actuator_trnid[a][0])
        if model.actuator_trntype[a] == JOINT and model.jnt_type[joint] >= SLIDE:
            gear = float(model.actuator_gear[a][0])
            of_shaft = float(_of_actuators(model, "damping")[a])
            damping[model.jnt_dofadr[joint]] += gear * gear * of_shaft
    return damping
