"""Findings about forces of a compiled model that a mechanism has not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dalembert.model.findings import Finding
from dalembert.model.origins import Source
from dalembert.readers.mjcf.compiling import CompiledModel
from dalembert.readers.mjcf.disabled_forces import Enabled
from dalembert.readers.mjcf.element_kinds import FORCES

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint


def lost_mechanics(compiled: CompiledModel) -> Iterator[Finding]:
    """Forces of a compiled model that are not computed, with the parts that they belong to."""
    enabled = Enabled.of(compiled.model)
    yield from _joint_losses(compiled, enabled)
    yield from _tendon_losses(compiled, enabled)
    yield from _body_losses(compiled, enabled)
    yield from _contacts(compiled, enabled)


def _joint_losses(compiled: CompiledModel, enabled: Enabled) -> Iterator[Finding]:
    model = compiled.model
    for j in range(model.njnt):
        dof = int(model.jnt_dofadr[j])
        kind = int(model.jnt_type[j])
        what, source = f"joint {compiled.name('joint', j)!r}", compiled.source("joint", j)
        bent = [_any(model, "dof_dampingpoly", dof), _any(model, "jnt_stiffnesspoly", j)]
        if any(bent):
            why = "its damping or stiffness is a polynomial, of which the first term alone is read."
            yield Finding("error", what, why, FORCES, source)
        if kind in (FREE, BALL):
            yield from _losses_of_quaternions(model, j, enabled, what, source)
        elif model.jnt_actfrclimited[j]:
            low, high = (float(x) for x in model.jnt_actfrcrange[j])
            if low != -high:
                why = f"forces of its actuators are limited from {low:g} to {high:g};"
                fix = f"read as a limit of effort of {max(abs(low), abs(high)):g} both ways."
                yield Finding("warning", what, why, fix, source)


def _losses_of_quaternions(
    model: Any, j: int, enabled: Enabled, what: str, source: Source
) -> Iterator[Finding]:
    """Losses of a ball or free joint, whose coordinates have no angle."""
    if model.jnt_stiffness[j] and enabled.springs:
        why = "the spring of a ball or free joint is not read."
        yield Finding("error", what, why, FORCES, source)
    if model.jnt_limited[j] and enabled.limits:
        why = "the limit of its angle is not read: it is a cone."
        yield Finding("warning", what, why, "It moves without that limit.", source)
    if model.dof_armature[model.jnt_dofadr[j]]:
        why = "the armature of a ball or free joint is not read: it is the inertia of no body."
        yield Finding("error", what, why, "Set armature=0 on it.", source)


def _any(model: Any, name: str, row: int) -> bool:
    """Whether an array of newer versions has a number other than 0 in a row."""
    values = getattr(model, name, None)
    return values is not None and bool(np.any(values[row]))


def _tendon_losses(compiled: CompiledModel, enabled: Enabled) -> Iterator[Finding]:
    model = compiled.model
    idle = []
    for t in range(model.ntendon):
        forces = {
            "stiffness": enabled.springs and model.tendon_stiffness[t],
            "damping": enabled.dampers and model.tendon_damping[t],
            "friction": enabled.friction and model.tendon_frictionloss[t],
            "limit": enabled.limits and model.tendon_limited[t],
            "armature": _any(model, "tendon_armature", t),
        }
        source = compiled.source("tendon", t)
        what = f"tendon {compiled.name('tendon', t)!r}"
        if names := [name for name, value in forces.items() if value]:
            why = f"its {', '.join(names)} {'are' if names[1:] else 'is'} not read."
            yield Finding("error", what, why, FORCES, source)
        else:
            idle.append(source)
    if idle:
        what = f"{len(idle)} tendon{'s' * (len(idle) > 1)}"
        why = "no forces of their own; of tendons only equalities of fixed ones are read."
        yield Finding("note", what, why, "", idle[0])


def _body_losses(compiled: CompiledModel, enabled: Enabled) -> Iterator[Finding]:
    model = compiled.model
    for i in range(1, model.nbody):
        what, source = f"body {compiled.name('body', i)!r}", compiled.source("body", i)
        if model.body_gravcomp[i] and enabled.gravity and model.body_weldid[i]:
            share = f"{100 * float(model.body_gravcomp[i]):.4g}"
            why = f"gravcomp holds {share} % of its weight in MuJoCo, which is not read."
            yield Finding("error", what, why, FORCES, source)
        if model.body_mocapid[i] >= 0:
            why = "it is moved by a user of MuJoCo (mocap); here it stands still."
            yield Finding("warning", what, why, "", source)
    medium = {name: float(getattr(model.opt, name)) for name in ("density", "viscosity")}
    if acting := [f"{name} {value:g}" for name, value in medium.items() if value]:
        why = f"{' and '.join(acting)} of a medium acts on moving bodies, which is not read."
        yield Finding("error", "<option>", why, FORCES, compiled.option)


def _contacts(compiled: CompiledModel, enabled: Enabled) -> Iterator[Finding]:
    """A finding for all geoms that may touch another."""
    model = compiled.model
    if not enabled.contact:
        return
    kinds = _kinds_of_contact(compiled)
    touching = [g for g in range(model.ngeom) if _may_touch(compiled, g, kinds)]
    if touching:
        count = f"{len(touching)} geom{'s' * (len(touching) > 1)}"
        why = f"{count} may touch others; contacts are not computed."
        fix = "Bodies pass through each other and through the ground."
        yield Finding("warning", "contacts", why, fix, compiled.source("geom", touching[0]))


def _may_touch(compiled: CompiledModel, g: int, kinds: set[tuple[int, int, int]]) -> bool:
    """Whether a geom collides with one of a body that moves against its own."""
    model = compiled.model
    own_type, own_affinity = compiled.contacts[g]
    own = int(model.body_weldid[model.geom_bodyid[g]])
    if not (own_type or own_affinity):
        return False
    return any(
        own_type & affinity or contype & own_affinity
        for weld, contype, affinity in kinds
        if weld != own and own not in _parents(model, weld) and weld not in _parents(model, own)
    )


def _parents(model: Any, weld: int) -> tuple[int, ...]:
    """The body that a moving body hangs on, with which it does not collide; none where that is the
    world.
    """
    parent = int(model.body_weldid[model.body_parentid[weld]])
    return (parent,) if parent and weld else ()


def _kinds_of_contact(compiled: CompiledModel) -> set[tuple[int, int, int]]:
    """(moving body, contype, conaffinity) of all geoms that touch something, each once."""
    model = compiled.model
    return {
        (int(model.body_weldid[model.geom_bodyid[g]]), *compiled.contacts[g])
        for g in range(model.ngeom)
        if any(compiled.contacts[g])
    }
