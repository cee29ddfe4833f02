"""Forces that the options of a model leave out."""

from __future__ import annotations

from typing import (
    Any,
    NamedTuple,
)

from dalembert.readers.mjcf.compiling import mujoco_module


class Enabled(NamedTuple):
    """Forces and constraints that a model has, by the flags of its options."""

    gravity: bool
    springs: bool
    dampers: bool
    friction: bool
    limits: bool
    equality: bool
    contact: bool

    @classmethod
    def of(cls, model: Any) -> Enabled:
        """The forces and constraints of a compiled model."""
        flags = mujoco_module().mjtDisableBit
        disabled = int(model.opt.disableflags)

        def on(*names: str) -> bool:
            """Whether none of these flags disables it; names differ between versions."""
            bits = [int(getattr(flags, f"mjDSBL_{name}", 0)) for name in names]
            return not any(disabled & bit for bit in bits)

        return cls(
            on("GRAVITY"),
            on("SPRING", "PASSIVE"),
            on("DAMPER", "PASSIVE"),
            on("FRICTIONLOSS", "CONSTRAINT"),
            on("LIMIT", "CONSTRAINT"),
            on("EQUALITY", "CONSTRAINT"),
            on("CONTACT", "CONSTRAINT"),
        )
