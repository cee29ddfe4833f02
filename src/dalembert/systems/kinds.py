"""The door: which system stands for an object that a user has."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import PurePath
from typing import Any, TypeAlias

from dalembert.arguments import check_choice
from dalembert.formulations.hamilton.configurations import CanonicalSystem
from dalembert.formulations.lagrange.flexible import FlexibleJoints
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem
from dalembert.systems.lagrangian import LagrangianEquations
from dalembert.systems.system import System

OtherSystem: TypeAlias = (
    System | LagrangianSystem | FlexibleJoints | CanonicalSystem
)  # than a mechanism

# Modules with a pair SYSTEM_OF: class of objects, and the system that stands for them. A new kind
# is a file and a line here.
MODULES = (
    "constrained_mechanism",
    "lagrangian",
    "flexible_joints",
    "hamiltonian",
)
KINDS: dict[type, Callable[[Any], System]] = dict(
    import_module(f"dalembert.systems.{name}").SYSTEM_OF for name in MODULES
)


def is_system(source: Any) -> bool:
    """Whether `system_of` knows this kind of object."""
    return isinstance(source, (System, *KINDS))


def system_of(source: Any, purpose: str = "is no system") -> System:
    """The system that stands for a mechanism, a Lagrangian, flexible joints or Hamilton's form; a
    system itself.

    Raises
    ------
    TypeError
        It is none of these; the message says that a ... `purpose`.
    """
    if isinstance(source, System):
        return source
    for kind, make in KINDS.items():
        if isinstance(source, kind):
            return make(source)
    fix = "give a Mechanism or a LagrangianSystem."
    if isinstance(source, (str, PurePath)):
        fix = f"da.load({str(source)[:80]!r}) makes a Mechanism of a file."
    raise TypeError(f"a {type(source).__name__} {purpose}: {fix}")


def formulated(system: System, name: str | None = None) -> System:
    """The system whose state equations are those of a formulation; by default its natural one.

    Raises
    ------
    UnknownNameError
        It has no such formulation.
    """
    name = system.formulations[0] if name is None else name
    check_choice("formulation", name, system.formulations)
    return system.formulated(name) or LagrangianEquations(system.lagrangian())
