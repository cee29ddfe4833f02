"""Refusal of models in which a number is infinite or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.errors import ReadError
from dalembert.model.origins import Source
from dalembert.readers.mjcf.compiling import CompiledModel

OF_PARTS = {  # arrays of a compiled model, a row for each part
    "body": "body_gravcomp body_inertia body_ipos body_iquat body_mass body_pos body_quat",
    "joint": "jnt_actfrcrange jnt_axis jnt_pos jnt_range jnt_stiffness",
    "geom": "geom_pos geom_quat geom_rgba geom_size",
    "site": "site_pos site_quat",
    "equality": "eq_data",
    "tendon": "tendon_damping tendon_length0 tendon_stiffness",
    "actuator": (
        "actuator_armature actuator_ctrlrange actuator_damping actuator_forcerange actuator_gainprm "
        "actuator_gear"
    ),
}
OF_FREEDOMS = "dof_armature dof_damping dof_frictionloss"
OF_COORDINATES = "qpos0 qpos_spring"


def check_finite(compiled: CompiledModel) -> None:
    """Raise ReadError for a number that is not finite, at the part that has it."""
    model = compiled.model
    for part, names in OF_PARTS.items():
        for name in names.split():
            for number in _rows(getattr(model, name, None)):
                _refuse(compiled, part, number)
    for name in OF_FREEDOMS.split():
        for dof in _rows(getattr(model, name)):
            _refuse(compiled, "joint", int(model.dof_jntid[dof]))
    for name in OF_COORDINATES.split():
        for entry in _rows(getattr(model, name)):
            joint = int(np.searchsorted(model.jnt_qposadr, entry, side="right")) - 1
            _refuse(compiled, "joint", joint)
    if not np.all(np.isfinite([*model.opt.gravity, *model.wrap_prm])):
        _fail("a number of <option> or <tendon>", compiled.option)


def _rows(values: Any) -> list[int]:
    """Rows of an array in which a number is not finite; none of an array of newer versions."""
    if values is None or not len(values):
        return []
    finite = np.isfinite(np.asarray(values).reshape(len(values), -1)).all(axis=1)
    return [int(row) for row in np.flatnonzero(~finite)]


def _refuse(compiled: CompiledModel, part: str, number: int) -> None:
    what = f"a number of {part} {compiled.name(part, number)!r}"
    _fail(what, compiled.source(part, number))


def _fail(what: str, source: Source) -> None:
    why = f"{what} is not finite as MuJoCo computes it. Is one of the file too large?"
    raise ReadError(why, source.file, source.line)
