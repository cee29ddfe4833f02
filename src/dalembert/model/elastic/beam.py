"""Beam: the section, mass and damping of an elastic link, as data."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Mapping,
)
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
from dalembert.beams.beam_properties import (
    BeamProperty,
    tapered,
)
from dalembert.beams.cross_sections import CrossSection
from dalembert.beams.materials import Material
from dalembert.beams.shape_checks import check_shapes
from dalembert.beams.shape_functions import (
    BEND_Y,
    BEND_Z,
    DIRECTIONS,
    STRETCH,
    TWIST,
    ShapeFunctions,
)
from dalembert.beams.shape_polynomials import legendre
from dalembert.displays import brief_repr
from dalembert.errors import (
    ModelError,
    UnknownNameError,
)
from dalembert.expr import known_zero
from dalembert.model.elastic.beam_damping import (
    BeamDamping,
    refuse_negative,
)
from dalembert.model.numbered import (
    Numbered,
    entries,
    indexed,
    named,
    numbers_as_text,
)
from dalembert.model.numbers import (
    Converter,
    Number,
    as_exact,
    as_float,
    checked,
    is_symbolic,
    several,
)
from dalembert.model.origins import Origin

KINEMATICS = ("first_order", "second_order", "third_order", "exact")
# Stiffness against the displacements of a direction.
STIFFNESS_OF = {BEND_Y: "EIz", BEND_Z: "EIy", TWIST: "GJ", STRETCH: "EA"}
UNITS = {"EA": "N", "EIy": "N m^2", "EIz": "N m^2", "GJ": "N m^2", "mass_per_length": "kg/m"}
SECTION = tuple(UNITS)
ROTARY_INERTIA = indexed("rotary_inertia", 3)
PROPERTIES = (*SECTION, *ROTARY_INERTIA)
BENDS = (BEND_Y, BEND_Z)
MODES = 2  # of each deflection, where no number is given
MOST_MODES = 64  # of a direction

PLACES = (0, Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), 1)  # at which a section is sampled
Property = Any  # a number or a BeamProperty
Shapes = tuple[tuple[str, ShapeFunctions], ...]  # by direction, in the order of DIRECTIONS


@dataclass(frozen=True)
class Beam(Numbered):
    """A straight beam along x of its axes, from x = 0 to its length.

    EIy is the stiffness about y, against deflection along z; EIz that about z, along y.

    Parameters
    ----------
    length : number
        [m].
    EA, EIy, EIz, GJ : number or BeamProperty
        Stiffness against stretch [N], bending [N m^2] and twist [N m^2]. What a body's modes need
        must be given; nothing is estimated. `da.beams.tapered(a, b)` and `da.beams.pieces(...)`
        vary along the beam.
    mass_per_length : number or BeamProperty
        [kg/m].
    rotary_inertia : (3,) numbers or BeamProperty
        Moments of inertia of a unit of length about x, y and z [kg m].
    origin : Origin
        Place of the beam's start, and its axes, in the body's axes.
    kinematics : str
        Place of the centre line r(x), where theta = (twist, -w', v') turns the section at x:

            r' = (1 + u') exp([theta]x) e_x

        to the 'first_order' in the deflections (no foreshortening: wrong for fast turning), the
        'second_order' (with geometric stiffening), the 'third_order', or 'exact'.
    damping : Rayleigh or ModalDamping, optional
    section : CrossSection, or function, optional
        Of xi = x / length; for stresses. `of_section` sets it.

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

    __repr__ = brief_repr

    length: Number
    EA: Property | None = None
    EIy: Property | None = None
    EIz: Property | None = None
    GJ: Property | None = None
    mass_per_length: Property | None = None
    rotary_inertia: tuple[Property, ...] = (0, 0, 0)
    origin: Origin = field(default=Origin())
    kinematics: str = "second_order"
    damping: BeamDamping | None = None
    section: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", checked(self.length, "length of a beam"))
        _refuse("length", self.length, "m")
        for name in SECTION:
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, _checked(value, name))
                for x in _numbers_of(value):
                    _refuse(name, x, UNITS[name])
        rotary = several(self.rotary_inertia, "rotary_inertia of a beam", "3 numbers")
        if len(rotary) != 3:
            raise ValueError(f"rotary_inertia of a beam has {len(rotary)} entries, expected 3.")
        rotary = tuple(_checked(x, f"rotary_inertia[{k}]") for k, x in enumerate(rotary))
        for value in rotary:
            for x in _numbers_of(value):
                refuse_negative("rotary_inertia of a beam", x)
        object.__setattr__(self, "rotary_inertia", rotary)
        check_instance("origin of a beam", self.origin, Origin, "a da.Origin")
        check_choice("kinematics", self.kinematics, KINEMATICS)
        damping = (BeamDamping, type(None))
        expected = "a da.Rayleigh, a da.ModalDamping, or nothing"
        check_instance("damping of a beam", self.damping, damping, expected)

    @classmethod
    def of_section(cls, length: Number, section: Any, material: Material, **others: Any) -> Beam:
        """Beam of a cross-section and a material: EA, EIy, EIz, mass per length and rotary inertia, and
        GJ where the section has J and the material G.

        Parameters
        ----------
        length : number
            [m].
        section : CrossSection, or function
            `da.beams.rectangle(...)`, ...; a function of xi = x / length gives the section there: its
            properties become the polynomials of degree 4 through 5 places.
        material : Material
            `da.beams.material("steel")`, or of a user's own.
        **others
            Arguments of `da.Beam`; they override the section's.

        Returns
        -------
        Beam

        Raises
        ------
        TypeError, ModelError
            The section or the material is none; a number is not positive.

        Examples
        --------
        >>> import dalembert as da
        >>> steel = da.beams.material("steel")
        >>> beam = da.Beam.of_section(0.8, da.beams.tube(0.0133, 0.0008), steel)
        >>> round(beam.EIz, 2), round(beam.mass_per_length, 4)
        (129.38, 0.2466)
        """
        check_instance("material", material, Material, 'a material, as da.beams.material("steel")')
        sections = [section(xi) for xi in PLACES] if callable(section) else [section]
        for each in sections:
            check_instance(
                "section", each, CrossSection, "a section, as da.beams.rectangle(0.02, 0.03)"
            )

        def along(of: Callable[[CrossSection], Any]) -> Any:
            """A property by a function of the section."""
            values = [of(each) for each in sections]
            return tapered(*values) if len(values) > 1 else values[0]

        E, G, rho = material.E, material.G, material.rho
        numbers = {
            "EA": along(lambda s: E * s.area),
            "EIy": along(lambda s: E * s.Iy),
            "EIz": along(lambda s: E * s.Iz),
            "mass_per_length": along(lambda s: rho * s.area),
            "rotary_inertia": (
                along(lambda s: rho * (s.Iy + s.Iz)),
                along(lambda s: rho * s.Iy),
                along(lambda s: rho * s.Iz),
            ),
            "section": section,
        }
        if G is not None and all(s.J is not None for s in sections):
            numbers["GJ"] = along(lambda s: G * s.J)
        return cls(length, **numbers | others)

    def element_of(self, elements: int, number: int = 0) -> Beam:
        """The beam of one of some equal elements of its length, by number from 0.

        Examples
        --------
        >>> import dalembert as da
        >>> beam = da.Beam(0.8, EIz=da.beams.tapered(4.0, 2.0)).element_of(4, 3)
        >>> beam.length, beam.at("EIz", 0)
        (0.2, 2.5)
        """
        if elements == 1:
            return self
        ends = Fraction(number, elements), Fraction(number + 1, elements)
        properties: dict[str, Any] = {
            name: value.between(*ends) if isinstance(value, BeamProperty) else value
            for name, value in self._properties().items()
        }
        rotary = tuple(properties.pop(name) for name in ROTARY_INERTIA)
        length = self.length * Fraction(1, elements)
        return replace(self, length=length, rotary_inertia=rotary, **properties)

    def has(self, name: str) -> bool:
        """Whether a property is given.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Beam(1.0, EIz=4.0).has("EA")
        False
        """
        return name in self._properties()

    @property
    def is_uniform(self) -> bool:
        """Whether none of its properties varies along it."""
        return not any(isinstance(x, BeamProperty) for x in self._properties().values())

    @property
    def mass(self) -> Number:
        """Mass of the whole beam [kg]."""
        return self.length * self.along("mass_per_length").integral()

    @property
    def centre(self) -> Number:
        """Distance of its centre of mass from its start [m]."""
        along = self.along("mass_per_length")
        return self.length * along.integral(1) / along.integral()

    @property
    def has_rotary_inertia(self) -> bool:
        """Whether its cross-sections resist turning."""
        return not all(map(_is_zero, self.rotary_inertia))

    def at(self, name: str, xi: Any, convert: Converter = as_exact) -> Any:
        """A property at xi = x / length, its numbers converted.

        Parameters
        ----------
        name : str
            'EA', 'EIy', 'EIz', 'GJ', 'mass_per_length', or 'rotary_inertia[k]'.
        xi : number
            From 0 to 1.
        convert : function, optional
            Of each number.

        Returns
        -------
        number

        Raises
        ------
        UnknownNameError, ModelError
            There is no such property; it is not given.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Beam(1.0, EIz=da.beams.tapered(4.0, 2.0)).at("EIz", 0.5)
        3.0
        """
        return self.along(name).at(xi, convert)

    def along(self, name: str) -> BeamProperty:
        """A property along the beam; a number is constant on one piece.

        Raises
        ------
        UnknownNameError, ModelError
            There is no such property; it is not given.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Beam(1.0, EIz=4.0).along("EIz").numbers
        (4.0,)
        """
        check_choice("property of a beam", name, PROPERTIES)
        value = self._properties().get(name)
        if value is None:
            raise ModelError(f"the beam has no {name}. Give it: nothing is estimated.")
        return value if isinstance(value, BeamProperty) else BeamProperty((0, 1), ((value,),))

    @property
    def inertias(self) -> list[BeamProperty]:
        """Mass and rotary inertia along the beam."""
        return [self.along(name) for name in ("mass_per_length", *ROTARY_INERTIA)]

    def _properties(self) -> dict[str, Property]:
        """Properties along the beam by name, but for these not given."""
        properties = {n: x for n in SECTION if (x := getattr(self, n)) is not None}
        return properties | named("rotary_inertia", self.rotary_inertia)

    def numbers(self) -> dict[str, Number]:
        """length, the section's numbers that are given, rotary_inertia[k], beam_origin[k],
        beam_rotation[k], and those of the damping; values of a property that varies have its name
        with [k].
        """
        numbers = {"length": self.length}
        for name, value in self._properties().items():
            varies = isinstance(value, BeamProperty)
            numbers |= named(name, value.numbers) if varies else {name: value}
        numbers |= {f"beam_{name}": x for name, x in self.origin.numbers().items()}
        return numbers | (self.damping.numbers() if self.damping else {})

    def with_numbers(self, numbers: Mapping[str, Number]) -> Beam:
        """The beam with other numbers, by the names of `numbers()`."""
        numbers = self.numbers() | dict(numbers)
        placed = {n[5:]: x for n, x in numbers.items() if n.startswith("beam_")}
        changes: dict[str, Any] = {
            name: value.with_values(entries(numbers, name, len(value.numbers)))
            if isinstance(value, BeamProperty)
            else numbers[name]
            for name, value in self._properties().items()
        }
        rotary = tuple(changes.pop(name) for name in ROTARY_INERTIA)
        return replace(
            self,
            length=numbers["length"],
            rotary_inertia=rotary,
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
        return f"{self.kinematics} {self._structure()} {numbers_as_text(self)} {origin} {damping}"

    def _structure(self) -> list[Any]:
        """Properties that are given, with the pieces of those that vary."""
        structure: list[Any] = []
        for name, value in self._properties().items():
            structure.append(name)
            if isinstance(value, BeamProperty):
                structure.append((*map(str, value.breaks), *map(len, value.values)))
        return structure


def _checked(value: Any, name: str) -> Property:
    """A number, or numbers along the beam."""
    what = f"{name} of a beam"
    if isinstance(value, BeamProperty):
        return value.with_values([checked(x, what) for x in value.numbers])
    return checked(value, what)


def _numbers_of(value: Property) -> tuple[Number, ...]:
    return value.numbers if isinstance(value, BeamProperty) else (value,)


def _is_zero(value: Property) -> bool:
    return all(map(known_zero, _numbers_of(value)))


def _refuse(name: str, value: Number, unit: str) -> None:
    if not is_symbolic(value) and not as_float(value) > 0:
        raise ModelError(f"{name} of a beam is {as_float(value):g} {unit}; give a positive number.")


def shapes_of(modes: Any, body: str) -> Shapes:
    """Shape functions of the modes that a body is given: a number, or {direction: number or shape
    functions}; pairs of these too.

    Raises
    ------
    TypeError, ValueError, UnknownNameError
        The modes are neither; a number is negative; there is no such direction.

    Examples
    --------
    >>> from dalembert.model.elastic.beam import shapes_of
    >>> [(direction, functions.count) for direction, functions in shapes_of(2, "link")]
    [('bend_y', 2), ('bend_z', 2)]
    """
    given = dict(modes) if isinstance(modes, (Mapping, tuple)) else dict.fromkeys(BENDS, modes)
    if isinstance(modes, tuple) and len(given) < len(modes):
        raise ValueError(f"modes of body {body!r} name a direction twice: {modes!r}.")
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


def check_beam(beam: Beam, shapes: Shapes, body: str, elements: int = 1) -> None:
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
    for direction, functions in shapes:
        check_shapes(direction, functions, body)
    symbols = [name for name, x in beam.numbers().items() if is_symbolic(x)]
    symbols = [name for name in symbols if not name.startswith(("beam_", "damping"))]
    is_modal = beam.damping is not None and beam.damping.is_modal
    if is_modal and elements > 1:
        raise ModelError(
            f"the modal damping of body {body!r} is that of one element, and it has {elements}. "
            "Give one element with more modes, or a da.Rayleigh damping."
        )
    if is_modal and symbols:
        raise ModelError(
            f"the modal damping of body {body!r} needs numbers, and {symbols[0]} is the symbol "
            f"{beam.numbers()[symbols[0]]}. Give numbers, or a da.Rayleigh damping."
        )
    twists = any(direction == TWIST for direction, _ in shapes)
    if twists and _is_zero(beam.rotary_inertia[0]):
        raise ModelError(
            f"the beam of body {body!r} twists but has no rotary inertia about x. Give "
            "rotary_inertia=(rho (Iy + Iz), rho Iy, rho Iz) [kg m]."
        )
