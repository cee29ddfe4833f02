"""Ports of linear models: `da.ports`, inputs that push and outputs that are measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.analysis.section_forces import (
    MOMENTS,
    elastic_body,
    places_on,
    section_forces_at,
)
from dalembert.arguments import (
    check_choice,
    vector,
)
from dalembert.codegen.symbols import vector_of_symbols
from dalembert.errors import (
    DalembertError,
    UnknownNameError,
)
from dalembert.expr import (
    Graph,
    evaluate,
)
from dalembert.expr import jacobian as jacobian_by
from dalembert.formulations.newton_euler.inverse import gravity_vector
from dalembert.kinematics.jacobians import jacobian
from dalembert.model.external_forces import ExternalForce
from dalembert.model.linkage import is_angular
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.spatial.arrays import Array

__all__ = [
    "BaseMotion",
    "BeamStrain",
    "Coordinate",
    "FrameDisplacement",
    "FrameRotation",
    "InputPort",
    "JointForce",
    "OutputPort",
    "PointForce",
    "PointMoment",
    "SectionMoment",
    "SectionOutput",
]
RATES = ("", "/s", "/s^2")  # of units, by the order of the derivative
STILL = (0, 0, 0)  # gravity


class InputPort(ABC):
    """An input of a linear model.

    Examples
    --------
    >>> import dalembert as da
    >>> da.ports.PointForce("tip", (0, 0, 1)).column(da.planar_chain(1), [0.0])
    array([1.])
    """

    @abstractmethod
    def column(self, mechanism: Mechanism, q: Any) -> Array:
        """Forces on the coordinates of a unit of the input at q (nq,): (nv,).

        Examples
        --------
        >>> import dalembert as da
        >>> da.ports.JointForce("q2").column(da.planar_chain(2), [0.0, 0.0])
        array([0., 1.])
        """

    def acting(self, mechanism: Mechanism) -> tuple[Mechanism, list[ExternalForce]]:
        """The mechanism without its gravity, and the external forces, of a unit of the input.

        Examples
        --------
        >>> import dalembert as da
        >>> moving, loads = da.ports.PointForce("tip", (0, 0, 1)).acting(da.planar_chain(1))
        >>> moving.gravity, loads[0].frame
        ((0, 0, 0), 'tip')
        """
        return mechanism.replace(gravity=STILL), []

    @property
    @abstractmethod
    def label(self) -> str:
        """Name of the input."""

    @abstractmethod
    def unit(self, mechanism: Mechanism) -> str:
        """Unit of the input.

        Examples
        --------
        >>> import dalembert as da
        >>> da.ports.JointForce("q2").unit(da.planar_chain(2))
        'N m'
        """


class OutputPort(ABC):
    """An output of a linear model: a linear function of the step of the coordinates, or its rate; forces
    inside the mechanism also of accelerations and inputs.

    Examples
    --------
    >>> import dalembert as da
    >>> da.ports.FrameDisplacement("tip", (0, 0, 1)).row(da.planar_chain(1), [0.0])
    array([1.])
    """

    rate: int = 0

    @abstractmethod
    def row(self, mechanism: Mechanism, q: Any) -> Array:
        """Derivatives of the output by the coordinates at q (nq,): (nv,).

        Examples
        --------
        >>> import dalembert as da
        >>> da.ports.Coordinate("q2").row(da.planar_chain(2), [0.0, 0.0])
        array([0., 1.])
        """

    def acceleration_row(self, mechanism: Mechanism, q: Any) -> Array:
        """Derivatives by accelerations at q (nq,): (nv,); 0 of motions.

        Examples
        --------
        >>> import dalembert as da
        >>> da.ports.Coordinate("q2").acceleration_row(da.planar_chain(2), [0.0, 0.0])
        array([0., 0.])
        """
        return np.zeros(mechanism.nv)

    def feedthrough(self, mechanism: Mechanism, q: Any, port: InputPort) -> float:
        """Direct part of a unit of an input at q (nq,); 0 of motions.

        Examples
        --------
        >>> import dalembert as da
        >>> push = da.ports.JointForce("q1")
        >>> da.ports.Coordinate("q2").feedthrough(da.planar_chain(2), [0.0, 0.0], push)
        0.0
        """
        return 0.0

    @property
    @abstractmethod
    def label(self) -> str:
        """Name of the output."""

    @abstractmethod
    def unit(self, mechanism: Mechanism) -> str:
        """Unit of the output.

        Examples
        --------
        >>> import dalembert as da
        >>> da.ports.Coordinate("q2", rate=1).unit(da.planar_chain(2))
        'rad/s'
        """


@dataclass(frozen=True)
class JointForce(InputPort):
    """Force on a joint, or on another entry of qd [N m, N].

    Examples
    --------
    >>> import dalembert as da
    >>> da.ports.JointForce("q2").column(da.planar_chain(2), [0.0, 0.0])
    array([0., 1.])
    """

    name: str

    def column(self, mechanism: Mechanism, q: Any) -> Array:
        """1 at its entry, (nv,)."""
        return _unit_row(mechanism, self.name)

    @property
    def label(self) -> str:
        """Name of the entry."""
        return self.name

    def unit(self, mechanism: Mechanism) -> str:
        """N m or N."""
        return "N m" if turns(mechanism, self.name) else "N"


@dataclass(frozen=True)
class PointForce(InputPort):
    """Force at a frame, along a direction of the world [N].

    Examples
    --------
    >>> import dalembert as da
    >>> da.ports.PointForce("tip", (0, 0, 1)).label
    'force at tip'
    """

    frame: str
    direction: tuple[float, ...]

    def column(self, mechanism: Mechanism, q: Any) -> Array:
        """J^T direction, (nv,)."""
        return _linear(self, mechanism, q)

    def acting(self, mechanism: Mechanism) -> tuple[Mechanism, list[ExternalForce]]:
        """The force."""
        return mechanism.replace(gravity=STILL), [ExternalForce(self.frame, force=self.direction)]

    @property
    def label(self) -> str:
        """The frame."""
        return f"force at {self.frame}"

    def unit(self, mechanism: Mechanism) -> str:
        """N."""
        return "N"


@dataclass(frozen=True)
class PointMoment(InputPort):
    """Moment at a frame, about an axis of the world [N m].

    Examples
    --------
    >>> import dalembert as da
    >>> da.ports.PointMoment("tip", (0, 0, 1)).label
    'moment at tip'
    """

    frame: str
    direction: tuple[float, ...]

    def column(self, mechanism: Mechanism, q: Any) -> Array:
        """J^T axis, (nv,)."""
        return _angular(self, mechanism, q)

    def acting(self, mechanism: Mechanism) -> tuple[Mechanism, list[ExternalForce]]:
        """The moment."""
        return mechanism.replace(gravity=STILL), [ExternalForce(self.frame, moment=self.direction)]

    @property
    def label(self) -> str:
        """The frame."""
        return f"moment at {self.frame}"

    def unit(self, mechanism: Mechanism) -> str:
        """N m."""
        return "N m"


@dataclass(frozen=True)
class BaseMotion(InputPort):
    """Acceleration of the base along a direction of the world [m/s^2]; outputs are then relative to
    the base.

    Examples
    --------
    >>> import dalembert as da
    >>> da.ports.BaseMotion((1, 0, 0)).label
    'acceleration of the base'
    """

    direction: tuple[float, ...]

    def column(self, mechanism: Mechanism, q: Any) -> Array:
        """Forces of inertia, as of gravity against the acceleration, (nv,)."""
        along = vector(self.direction, "direction", 3)
        tilted = mechanism.replace(gravity=tuple(along.tolist()))
        return np.asarray(gravity_vector(tilted, q), dtype=float)

    def acting(self, mechanism: Mechanism) -> tuple[Mechanism, list[ExternalForce]]:
        """The mechanism with the inertia of the acceleration as its gravity."""
        along = vector(self.direction, "direction", 3)
        return mechanism.replace(gravity=tuple((-along).tolist())), []

    @property
    def label(self) -> str:
        """The base."""
        return "acceleration of the base"

    def unit(self, mechanism: Mechanism) -> str:
        """m/s^2."""
        return "m/s^2"


@dataclass(frozen=True)
class Coordinate(OutputPort):
    """A coordinate of a joint or an elastic body [rad, m]; rate 1: its velocity, 2: acceleration.

    Examples
    --------
    >>> import dalembert as da
    >>> da.ports.Coordinate("q1").row(da.planar_chain(2), [0.0, 0.0])
    array([1., 0.])
    """

    name: str
    rate: int = 0

    def row(self, mechanism: Mechanism, q: Any) -> Array:
        """1 at its entry, (nv,)."""
        return _unit_row(mechanism, self.name)

    @property
    def label(self) -> str:
        """Name of the entry."""
        return self.name

    def unit(self, mechanism: Mechanism) -> str:
        """rad or m, by s or s^2 of rates."""
        return ("rad" if turns(mechanism, self.name) else "m") + RATES[self.rate]


@dataclass(frozen=True)
class FrameDisplacement(OutputPort):
    """Displacement of a frame along a direction of the world [m]; rate 1: its velocity, 2:
    acceleration.

    Examples
    --------
    >>> import dalembert as da
    >>> da.ports.FrameDisplacement("tip", (0, 0, 1), rate=2).unit(da.planar_chain(1))
    'm/s^2'
    """

    frame: str
    direction: tuple[float, ...]
    rate: int = 0

    def row(self, mechanism: Mechanism, q: Any) -> Array:
        """direction^T J, (nv,)."""
        return _linear(self, mechanism, q)

    @property
    def label(self) -> str:
        """The frame."""
        return f"displacement of {self.frame}"

    def unit(self, mechanism: Mechanism) -> str:
        """m, by s or s^2 of rates."""
        return "m" + RATES[self.rate]


@dataclass(frozen=True)
class FrameRotation(OutputPort):
    """Rotation of a frame about an axis of the world [rad]; rate 1: its velocity, 2: acceleration.

    Examples
    --------
    >>> import dalembert as da
    >>> da.ports.FrameRotation("tip", (0, -1, 0)).row(da.planar_chain(1), [0.0])
    array([1.])
    """

    frame: str
    direction: tuple[float, ...]
    rate: int = 0

    def row(self, mechanism: Mechanism, q: Any) -> Array:
        """axis^T J, (nv,)."""
        return _angular(self, mechanism, q)

    @property
    def label(self) -> str:
        """The frame."""
        return f"rotation of {self.frame}"

    def unit(self, mechanism: Mechanism) -> str:
        """rad, by s or s^2 of rates."""
        return "rad" + RATES[self.rate]


class SectionOutput(OutputPort):
    """A linear function of the forces in a section of a beam, by the balance of the part beyond it, as
    `section_forces_at` has them.

    Attributes
    ----------
    body : name of the elastic body
    x : place along its beam [m]

    Examples
    --------
    >>> import dalembert as da
    >>> isinstance(da.ports.SectionMoment("rod", 0.0, "M_y"), da.ports.SectionOutput)
    True
    """

    body: str
    x: float

    @abstractmethod
    def weights(self, mechanism: Mechanism) -> Array:
        """Weights of N, V_y, V_z, M_x, M_y, M_z, (6,).

        Examples
        --------
        >>> import dalembert as da
        >>> da.ports.SectionMoment("rod", 0.0, "M_y").weights(da.planar_chain(1))
        array([0., 0., 0., 0., 1., 0.])
        """

    def row(self, mechanism: Mechanism, q: Any) -> Array:
        """Derivatives of the forces of gravity by the coordinates, (nv,)."""
        n = mechanism.nv
        if not any(as_float(g) for g in mechanism.gravity):
            return np.zeros(n)
        with Graph():
            step = vector_of_symbols("step", n)
            moved = mechanism.integrate(q, step)
            value = self._value(mechanism, moved, np.zeros(n))
            rows = jacobian_by(value, step)
            return np.asarray(evaluate(rows, dict.fromkeys(step, 0.0)), dtype=float)

    def acceleration_row(self, mechanism: Mechanism, q: Any) -> Array:
        """Forces of inertia of unit accelerations, (nv,)."""
        still = mechanism.replace(gravity=STILL)
        return np.asarray(self._value(still, q, np.eye(mechanism.nv)), dtype=float)

    def feedthrough(self, mechanism: Mechanism, q: Any, port: InputPort) -> float:
        """Part of a unit of an input at q (nq,) that acts beyond the section."""
        acted, loads = port.acting(mechanism)
        return float(self._value(acted, q, np.zeros(mechanism.nv), loads))

    def _value(self, mechanism: Mechanism, q: Any, qdd: Any, loads: Any = ()) -> Any:
        """The output of motions at rest with some accelerations."""
        rest = np.zeros(mechanism.nv)
        found = section_forces_at(mechanism, q, rest, qdd, self.body, self.x, external_forces=loads)
        both = np.concatenate([found.force[..., 0, :], found.moment[..., 0, :]], axis=-1)
        return both @ self.weights(mechanism)

    def unit(self, mechanism: Mechanism) -> str:
        """N m; of strains 1."""
        return "N m"


@dataclass(frozen=True)
class BeamStrain(SectionOutput):
    """Axial strain of a fibre of a beam at x, at y and z from its centre line, as a strain gauge gives
    it: N/EA - y M_z/EIz + z M_y/EIy; without EA the centre line does not stretch.

    Examples
    --------
    >>> import dalembert as da
    >>> da.ports.BeamStrain("rod", 0.0, y=0.005).label
    'strain of rod at 0 m'
    """

    body: str
    x: float
    y: float = 0.0
    z: float = 0.0

    def weights(self, mechanism: Mechanism) -> Array:
        """1/EA, -y/EIz, z/EIy at their places, (6,).

        Raises
        ------
        ModelError
            The beam has no such stiffness.
        """
        body = elastic_body(mechanism, self.body)
        xi = float(places_on(body, self.x)[0])
        weights = np.zeros(6)
        if body.beam.EA is not None:
            weights[0] = 1 / float(body.beam.at("EA", xi, as_float))
        for place, name, lever in ((4, "EIy", self.z), (5, "EIz", -self.y)):
            if lever:
                weights[place] = lever / float(body.beam.at(name, xi, as_float))
        return weights

    @property
    def label(self) -> str:
        """Body and place."""
        return f"strain of {self.body} at {self.x:g} m"

    def unit(self, mechanism: Mechanism) -> str:
        """1."""
        return "1"


@dataclass(frozen=True)
class SectionMoment(SectionOutput):
    """Moment in a section of a beam [N m]: 'M_x', 'M_y' or 'M_z'.

    Examples
    --------
    >>> import dalembert as da
    >>> da.ports.SectionMoment("rod", 0.0, "M_y").label
    'M_y of rod at 0 m'
    """

    body: str
    x: float
    component: str

    def __post_init__(self) -> None:
        check_choice("section moment", self.component, MOMENTS)

    def weights(self, mechanism: Mechanism) -> Array:
        """1 at its place, (6,)."""
        weights = np.zeros(6)
        weights[3 + MOMENTS.index(self.component)] = 1.0
        return weights

    @property
    def label(self) -> str:
        """Body, place and component."""
        return f"{self.component} of {self.body} at {self.x:g} m"


def input_ports(ports: Any) -> list[InputPort]:
    """Inputs of one or several; a name is a force on that joint.

    Raises
    ------
    TypeError
    """
    given = [JointForce(port) if isinstance(port, str) else port for port in several_ports(ports)]
    for port in given:
        if not isinstance(port, InputPort):
            raise TypeError(
                f"input {port!r} ({type(port).__name__}): expected the name of a joint, or an input "
                "of da.ports, as da.ports.PointForce('tip', (0, 0, 1))."
            )
    return given


def output_ports(ports: Any) -> list[OutputPort]:
    """Outputs of one or several; a name is that coordinate.

    Raises
    ------
    TypeError, DalembertError
    """
    given = [Coordinate(port) if isinstance(port, str) else port for port in several_ports(ports)]
    for port in given:
        if not isinstance(port, OutputPort):
            raise TypeError(
                f"output {port!r} ({type(port).__name__}): expected the name of a coordinate, or an "
                "output of da.ports, as da.ports.FrameDisplacement('tip', (0, 0, 1))."
            )
        if port.rate not in (0, 1, 2):
            raise DalembertError(
                f"rate of the output {port.label!r} is {port.rate}, expected 0, 1 or 2."
            )
    return given


def several_ports(ports: Any) -> list[Any]:
    """Ports of a list, or a single one."""
    return list(ports) if isinstance(ports, (list, tuple)) else [ports]


def turns(mechanism: Mechanism, name: str) -> bool:
    """Whether an entry of qd is an angular velocity.

    Raises
    ------
    UnknownNameError
    """
    kinds = [is_angular(c) for h in mechanism.holders for c in h.type.velocities]
    names = mechanism.velocity_names
    if name not in names:
        raise UnknownNameError("coordinate", name, tuple(names))
    return kinds[names.index(name)]


def _unit_row(mechanism: Mechanism, name: str) -> Array:
    names = mechanism.velocity_names
    if name not in names:
        raise UnknownNameError("coordinate", name, tuple(names))
    row = np.zeros(mechanism.nv)
    row[names.index(name)] = 1.0
    return row


def _linear(port: Any, mechanism: Mechanism, q: Any) -> Array:
    along = vector(port.direction, "direction", 3)
    return np.asarray(along @ jacobian(mechanism, q, port.frame)[3:], dtype=float)


def _angular(port: Any, mechanism: Mechanism, q: Any) -> Array:
    axis = vector(port.direction, "direction", 3)
    return np.asarray(axis @ jacobian(mechanism, q, port.frame)[:3], dtype=float)
