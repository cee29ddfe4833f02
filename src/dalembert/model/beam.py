"""Beam: the section, mass and damping of an elastic link, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import (
    dataclass,
    field,
    replace,
)
from fractions import Fraction
from typing import Any

from dalembert.arguments import (
    check_choice,
    check_instance,
)
from dalembert.beams.shape_functions import (
    BEND_Y,
    BEND_Z,
    DIRECTIONS,
    STRETCH,
    TWIST,
    ShapeFunctions,
)
from dalembert.beams.shape_polynomials import legendre
from dalembert.errors import (
    ModelError,
    UnknownNameError,
)
from dalembert.expr import known_zero
from dalembert.model.numbered import (
    Numbered,
    entries,
    named,
    numbers_as_text,
)
from dalembert.model.numbers import (
    Number,
    as_float,
    checked,
    checked_vector,
    is_symbolic,
)
from dalembert.model.origins import Origin

KINEMATICS = ("first_order", "second_order", "third_order", "exact")
# Stiffness against the displacements of a direction.
STIFFNESS_OF = {BEND_Y: "EIz", BEND_Z: "EIy", TWIST: "GJ", STRETCH: "EA"}
SECTION = ("EA", "EIy", "EIz", "GJ", "mass_per_length")
BENDS = (BEND_Y, BEND_Z)
MODES = 2  # of each deflection, where no number is given
MOST_MODES = 64  # of a direction

Shapes = tuple[tuple[str, ShapeFunctions], ...]  # by direction, in the order of DIRECTIONS


@dataclass(frozen=True)
class Rayleigh(Numbered):
    """Damping of a beam in proportion to its mass and stiffness: D = mass M + stiffness K.

    mass [1/s]; stiffness [s]: alone it is the law of Kelvin and Voigt, with a stress E (strain +
    stiffness strain rate).

    Examples
    --------
    >>> import dalembert as da
    >>> da.Rayleigh(stiffness=2e-4).mass
    0
    """

    mass: Number = 0
    stiffness: Number = 0

    def __post_init__(self) -> None:
        for name in ("mass", "stiffness"):
            value = checked(getattr(self, name), f"{name} of a Rayleigh damping")
            _refuse_negative(f"{name} of a Rayleigh damping", value)
            object.__setattr__(self, name, value)

    def numbers(self) -> dict[str, Number]:
        """damping_mass, damping_stiffness."""
        return {"damping_mass": self.mass, "damping_stiffness": self.stiffness}

    def with_numbers(self, numbers: Mapping[str, Number]) -> Rayleigh:
        """The damping with other numbers."""
        numbers = self.numbers() | dict(numbers)
        return Rayleigh(numbers["damping_mass"], numbers["damping_stiffness"])

    def identity(self) -> str | None:
        """Numbers as text; None for a class derived from it."""
        return f"rayleigh {numbers_as_text(self)}" if type(self) is Rayleigh else None


@dataclass(frozen=True)
class Beam(Numbered):
    """A straight beam along x of its axes, from x = 0 to its length.

    EIy is the stiffness about y, against deflection along z; EIz that about z, along y.

    Parameters
    ----------
    length : number
        [m].
    EA, EIy, EIz, GJ : number
        Stiffness against stretch [N], bending [N m^2] and twist [N m^2]. What a body's modes need
        must be given; nothing is estimated.
    mass_per_length : number
        [kg/m].
    rotary_inertia : (3,) numbers
        Moments of inertia of a unit of length about x, y and z [kg m].
    origin : Origin
        Place of the beam's start, and its axes, in the body's axes.
    kinematics : str
        Place of the centre line r(x), where theta = (twist, -w', v') turns the section at x:

            r' = (1 + u') exp([theta]x) e_x

        to the 'first_order' in the deflections (no foreshortening: wrong for fast turning), the
        'second_order' (with geometric stiffening), the 'third_order', or 'exact'.
    damping : Rayleigh, optional

    Raises
    ------
    ModelError
        The length, or a stiffness or mass, is not positive.
    TypeError, ValueError, UnknownNameError
        A value is no number or not finite; there is no such kinematics.

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(0.8, EIy=129.4, EIz=129.4, mass_per_length=0.2466)
    >>> beam.numbers()["EIz"]
    129.4
    """

    length: Number
    EA: Number | None = None
    EIy: Number | None = None
    EIz: Number | None = None
    GJ: Number | None = None
    mass_per_length: Number | None = None
    rotary_inertia: tuple[Number, ...] = (0, 0, 0)
    origin: Origin = field(default=Origin())
    kinematics: str = "second_order"
    damping: Rayleigh | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", checked(self.length, "length of a beam"))
        self._refuse("length", self.length, "m")
        for name in SECTION:
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, checked(value, f"{name} of a beam"))
                self._refuse(name, getattr(self, name), "kg/m" if name[0] == "m" else "SI")
        rotary = checked_vector(self.rotary_inertia, 3, "rotary_inertia of a beam")
        for x in rotary:
            _refuse_negative("rotary_inertia of a beam", x)
        object.__setattr__(self, "rotary_inertia", rotary)
        check_instance("origin of a beam", self.origin, Origin, "a da.Origin")
        check_choice("kinematics", self.kinematics, KINEMATICS)
        damping = (Rayleigh, type(None))
        check_instance("damping of a beam", self.damping, damping, "a da.Rayleigh, or nothing")

    def _refuse(self, name: str, value: Number, unit: str) -> None:
        if not is_symbolic(value) and not as_float(value) > 0:
            raise ModelError(
                f"{name} of a beam is {as_float(value):g} {unit}; give a positive number."
            )

    def element_of(self, elements: int) -> Beam:
        """The first of some equal elements of its length.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Beam(0.8, EIy=129.4, EIz=129.4, mass_per_length=0.2466).element_of(4).length
        0.2
        """
        return self if elements == 1 else replace(self, length=self.length * Fraction(1, elements))

    @property
    def has_rotary_inertia(self) -> bool:
        """Whether its cross-sections resist turning."""
        return not all(map(known_zero, self.rotary_inertia))

    def numbers(self) -> dict[str, Number]:
        """length, the section's numbers that are given, rotary_inertia[k], beam_origin[k],
        beam_rotation[k], and those of the damping.
        """
        numbers = {"length": self.length}
        numbers |= {n: x for n in SECTION if (x := getattr(self, n)) is not None}
        numbers |= named("rotary_inertia", self.rotary_inertia)
        numbers |= {f"beam_{name}": x for name, x in self.origin.numbers().items()}
        return numbers | (self.damping.numbers() if self.damping else {})

    def with_numbers(self, numbers: Mapping[str, Number]) -> Beam:
        """The beam with other numbers, by the names of `numbers()`."""
        numbers = self.numbers() | dict(numbers)
        placed = {n[5:]: x for n, x in numbers.items() if n.startswith("beam_")}
        changes: dict[str, Any] = {n: numbers[n] for n in SECTION if n in numbers}
        return replace(
            self,
            length=numbers["length"],
            rotary_inertia=entries(numbers, "rotary_inertia", 3),
            origin=self.origin.with_numbers(placed),
            damping=self.damping and self.damping.with_numbers(numbers),
            **changes,
        )

    def identity(self) -> str | None:
        """All that it is as text; None for a class derived from it."""
        origin = self.origin.identity()
        damping = self.damping.identity() if self.damping else ""
        if type(self) is not Beam or origin is None or damping is None:
            return None
        given = [n for n in SECTION if getattr(self, n) is not None]
        return f"{self.kinematics} {given} {numbers_as_text(self)} {origin} {damping}"


def _refuse_negative(name: str, value: Number) -> None:
    if not is_symbolic(value) and as_float(value) < 0:
        raise ModelError(f"{name} is {as_float(value):g}; give 0 or a positive number.")


def shapes_of(modes: Any, body: str) -> Shapes:
    """Shape functions of the modes that a body is given: a number, or {direction: number or shape
    functions}; pairs of these too.

    Raises
    ------
    TypeError, ValueError, UnknownNameError
        The modes are neither; a number is negative; there is no such direction.

    Examples
    --------
    >>> from dalembert.model.beam import shapes_of
    >>> [(direction, functions.count) for direction, functions in shapes_of(2, "link")]
    [('bend_y', 2), ('bend_z', 2)]
    """
    given = dict(modes) if isinstance(modes, (Mapping, tuple)) else dict.fromkeys(BENDS, modes)
    for direction in given:
        if direction not in DIRECTIONS:
            raise UnknownNameError("direction", direction, DIRECTIONS)
    shapes = [(d, _functions(given[d], d, body)) for d in DIRECTIONS if d in given]
    return tuple((d, functions) for d, functions in shapes if functions.count)


def _functions(modes: Any, direction: str, body: str) -> ShapeFunctions:
    if isinstance(modes, ShapeFunctions):
        return modes
    if isinstance(modes, bool) or not isinstance(modes, int):
        raise TypeError(
            f"modes of body {body!r} in {direction} are {modes!r} ({type(modes).__name__}); "
            "expected a number, or shape functions as da.beams.legendre(2)."
        )
    if not 0 <= modes <= MOST_MODES:
        raise ValueError(
            f"body {body!r} has {modes} modes in {direction}; expected 0 to {MOST_MODES}."
        )
    return legendre(modes, direction)


def check_beam(beam: Beam, shapes: Shapes, body: str) -> None:
    """Raise if a beam lacks a number that the modes of its body need.

    Raises
    ------
    ModelError
    """
    needed = ["mass_per_length", *(STIFFNESS_OF[direction] for direction, _ in shapes)]
    for name in needed:
        if getattr(beam, name) is None:
            raise ModelError(
                f"the beam of body {body!r} has no {name}, which its modes need. Give it: nothing "
                "is estimated."
            )
    twists = any(direction == TWIST for direction, _ in shapes)
    if twists and known_zero(beam.rotary_inertia[0]):
        raise ModelError(
            f"the beam of body {body!r} twists but has no rotary inertia about x. Give "
            "rotary_inertia=(rho (Iy + Iz), rho Iy, rho Iz) [kg m]."
        )
