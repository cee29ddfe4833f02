"""Calls that do not fit the arguments of a public function: messages name the argument that was
meant.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from dalembert.errors import nearest

ELSEWHERE = {  # arguments of other tools, and the arguments here
    "controller": ("control",),
    "ddq": ("qdd",),
    "dq": ("qd",),
    "dt": ("h",),
    "duration": ("t",),
    "input": ("control", "tau"),
    "integrator": ("method",),
    "link": ("frame", "body"),
    "m": ("mass",),
    "max_step": ("longest_step",),
    "q0": ("q",),
    "q_init": ("q",),
    "qd0": ("qd",),
    "qdot": ("qd",),
    "step": ("h",),
    "t_end": ("t",),
    "t_eval": ("t",),
    "t_span": ("t",),
    "tau": ("control",),
    "tf": ("t",),
    "time": ("t",),
    "timestep": ("h",),
    "torque": ("control", "tau"),
    "tspan": ("t",),
    "u": ("control", "tau"),
    "v": ("qd",),
    "x0": ("q",),
}
Class = TypeVar("Class", bound=type)


def meant(name: str, known: Iterable[str]) -> str:
    """The known argument that another tool calls by this name, else the nearest one, or ''."""
    names = tuple(known)
    here = [other for other in ELSEWHERE.get(name.lower(), ()) if other in names]
    return here[0] if here else nearest(name, names)


def explained(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose TypeError for a call that does not fit names the argument that was meant."""

    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        """The function; a call that does not fit its arguments is a TypeError that says how."""
        try:
            return function(*arguments, **named)
        except TypeError:
            fault = misfit(function, arguments, named)
            if not fault:
                raise
        raise TypeError(fault)

    return called


def explained_class(kind: Class) -> Class:
    """A class of which the same is true when it is made."""
    made = explained(kind.__init__)  # type: ignore[misc]
    made.__name__ = kind.__name__
    kind.__init__ = made  # type: ignore[misc]
    return kind


def misfit(function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]) -> str:
    """Why a call does not fit a function; '' if it does."""
    signature = inspect.signature(function)
    try:
        signature.bind(*arguments, **named)
    except TypeError as error:
        return f"{_outline(function, signature)}: {_fault(str(error), signature, named)}"
    return ""


def _fault(said: str, signature: inspect.Signature, named: Mapping[str, Any]) -> str:
    """Why a call does not fit the arguments of a function; `said`: Python's words."""
    takes_all = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    names = [name for name in signature.parameters if name != "self"]
    for name in named:
        if name not in names and not takes_all:
            near = meant(name, names)
            hint = f"Did you mean {near!r}?" if near else f"It takes {', '.join(names)}."
            return f"it has no argument {name!r}. {hint}"
    return f"{said}."


def _outline(function: Callable[..., Any], signature: inspect.Signature) -> str:
    """A function with the arguments that it needs, as 'mass_matrix(mechanism, q)'."""
    given = [p for name, p in signature.parameters.items() if name != "self"]
    needed = [p.name for p in given if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    more = ["..."] if len(needed) < len(given) else []
    name = function.__qualname__.removesuffix(".__init__")
    return f"{name}({', '.join([*needed, *more])})"
