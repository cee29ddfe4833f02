"""Quantities that runs record by name beside their states: each is declared once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dalembert.arguments import check_instance
from dalembert.errors import (
    DalembertError,
    DalembertWarning,
    OverflowedError,
    ShapeError,
    UnknownNameError,
)
from dalembert.expr import Graph, array
from dalembert.spatial.arrays import Array
from dalembert.systems.system import System
from dalembert.tracing.quantity import FACTS, Quantity

# Axes of entries that states have.
STATE_AXES = {"nq": "coordinate", "nv": "velocity"}
# Names of all else in a run and in its files.
RESERVED = frozenset(
    "time times trajectory coordinate velocity q qd work controller_states kinetic_energy "
    "potential_energy energy power_balance tau momenta parameters steps rejected reason reasons "
    "events changes mechanism method h forces friction end system function source write "
    "modes reactions held_forces solutions multipliers constraint_residual constraint_velocity "
    "constraint_jacobian constraint_reactions dependent_entries switches stabilisation start parameter "
    "controller_state coordinate_unit velocity_unit end_t end_q end_qd end_work "
    "end_controller_states internal_states internal_state end_internal_states controls".split()
)
TAKEN = RESERVED | FACTS.keys()
INPUTS = "q", "qd", "tau", "t", "internal_states"  # of observables


@dataclass(frozen=True)
class Observable:
    """Declaration of a quantity that runs record.

    Attributes
    ----------
    axes : names of its axes behind those of trajectories and records: 'coordinate', 'velocity', or
        an axis of its own
    unit : of its entries; units that differ are joined by commas
    description : a few words
    labels : names of the entries along the last axis, where it is an axis of its own
    compute : function of a run that gives it; None where it is recorded while the run goes
    is_of_records : whether there is a value for each record, or one for the whole run
    total : of one for the whole run, its value from those of the first and the second part
    source : name of the solver that gave it, if that may be chosen
    """

    axes: tuple[str, ...] = ()
    unit: str = ""
    description: str = ""
    labels: tuple[str, ...] = ()
    compute: Callable[[Any], Array] | None = field(default=None, compare=False, repr=False)
    is_of_records: bool = True
    total: Callable[[Array, Array], Array] | None = field(default=None, compare=False, repr=False)
    source: str = ""

    def names(self, system: System) -> tuple[str, ...]:
        """Names of the entries along the last axis; none of a number."""
        known = {"coordinate": system.coordinate_names, "velocity": system.velocity_names}
        return known.get(self.axes[-1], self.labels) if self.axes else ()


def observable_of(name: str, quantity: Quantity) -> Observable:
    """The declaration of a quantity of a system, which its states at the records give."""
    axes = tuple(
        STATE_AXES.get(str(n), f"{name}_{k}" if isinstance(n, int) else n)
        for k, n in enumerate(quantity.shape)
    )
    return Observable(
        axes,
        quantity.unit,
        quantity.description,
        quantity.labels,
        compute=lambda run: run.quantity(name),
    )


def observables_of(system: System) -> dict[str, Observable]:
    """Declarations of the observables of a system."""
    return {name: observable_of(name, q) for name, q in system.recorded.items()}


def check_observables(system: System) -> None:
    """See that a system's observables are quantities of states, with shapes as declared.

    Raises
    ------
    TypeError, ValueError, DalembertError
        An observable is no quantity, its name is taken, its inputs are none; functions that cannot
        be traced raise what they raise; labels or axes do not go with the results.
    """
    declared = system.observables
    if not declared:
        return
    check_instance("observables", declared, Mapping, "a dict of da.Quantity by name")
    for name, quantity in declared.items():
        _check_name(name, system)
        check_instance(f"observable {name!r}", quantity, Quantity, "a da.Quantity")
        if isinstance(quantity.inputs, str) or not {*quantity.inputs} <= {*INPUTS}:
            raise ValueError(
                f"observable {name!r} has inputs {quantity.inputs!r}, expected a tuple of some of "
                f"{', '.join(INPUTS)}."
            )
    with Graph():
        results = system.traced([*declared])[1]
        shapes = {name: array(result).shape for name, result in results.items()}
    lengths: dict[str | int, int] = {"nq": system.nq, "nv": system.nv}
    for name, quantity in declared.items():
        if taken := (TAKEN | declared.keys()) & {*quantity.shape}:
            raise DalembertError(
                f"observable {name!r}: an axis has the name {min(taken)!r} of data."
            )
        _check_shape(name, quantity, shapes[name], lengths)


def _check_name(name: Any, system: System) -> None:
    if not isinstance(name, str) or not name.isidentifier() or name in TAKEN:
        why = "expected a name of letters, digits and underscores."
        if name in TAKEN:
            why = "runs have something else of that name."
        raise DalembertError(f"observable {name!r} of {system.name!r}: {why}")


def _check_shape(
    name: str, quantity: Quantity, shape: tuple[int, ...], lengths: dict[str | int, int]
) -> None:
    """See that results have the declared axes, of lengths that other axes of the name have."""
    axes = quantity.shape
    fits = len(axes) == len(shape)
    for axis, length in zip(axes, shape):
        fits &= length == (axis if isinstance(axis, int) else lengths.setdefault(axis, length))
    if not fits:
        raise ShapeError(
            f"observable {name!r} gives shape {shape}, declared is {tuple(axes)}: 'nq', 'nv', "
            "lengths, or names of axes that have one length each.",
            name,
            shape,
        )
    if quantity.labels and (not shape or len(quantity.labels) != shape[-1]):
        raise ShapeError(
            f"observable {name!r} gives shape {shape} and has {len(quantity.labels)} labels, "
            "expected one for each entry along its last axis.",
            name,
            shape,
        )


class Observables(Mapping[str, Array]):
    """Arrays of a run by name: recorded, or computed when they are first asked for."""

    def __init__(self, run: Any, declared: Mapping[str, Observable], recorded: Mapping[str, Array]):
        self.declared = dict(declared)
        self._run = run
        self._arrays = dict(recorded)

    def __getitem__(self, name: str) -> Array:
        if name not in self.declared:
            raise UnknownNameError("observable", name, tuple(self.declared))
        if name not in self._arrays:
            compute = self.declared[name].compute
            assert compute is not None
            self._arrays[name] = compute(self._run)
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)

    def __repr__(self) -> str:
        return f"<observables {', '.join(self) or 'none'}>"

    def known(self) -> dict[str, Array]:
        """Arrays that there are: all but those that follow from forces which are not known."""
        found = {}
        for name in self:
            try:
                found[name] = self[name]
            except OverflowedError as error:
                warnings.warn(
                    DalembertWarning(f"observable {name!r} is left out: {error}"), stacklevel=2
                )
            except DalembertError:  # forces of a run that was read from a file
                continue
        return found

    def kept(self) -> tuple[dict[str, Observable], dict[str, Array]]:
        """Declarations and arrays without functions, as copies have them."""
        declared = {
            name: replace(self.declared[name], compute=None, total=None)
            for name in self._arrays
            if name in self.declared
        }
        return declared, {name: self._arrays[name] for name in declared}
