"""Base of closed forms of any kind: verified, printed, written, and handed to other programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NoReturn,
)

import numpy as np

from dalembert.arguments import path_of
from dalembert.closed_forms.algebra.factored import Parts
from dalembert.closed_forms.algebra.sums import (
    Builder,
    Name,
    Sum,
    names_in,
    object_array,
    single,
)
from dalembert.closed_forms.printing import document_files, documents, source
from dalembert.closed_forms.printing.names import Names, entry, entry_at
from dalembert.closed_forms.printing.sheets import Groups, Sheet, by_first, lines_of
from dalembert.closed_forms.quantities.verification import Verifier
from dalembert.codegen.symbols import without_collection
from dalembert.displays import in_notebook
from dalembert.errors import (
    UnknownNameError,
    public_names,
    unknown_attribute,
)
from dalembert.expr import free_symbols


def _quantity(name: str, doc: str) -> Any:
    return property(lambda eom: eom.entries(name)[()], doc=doc)


def silent(text: str, done: float) -> None:
    """Progress that nobody looks at."""


def derived_again(
    make: Callable[..., ClosedForms], arguments: Sequence[Any], quantities: Sequence[str]
) -> ClosedForms:
    """Closed forms with some quantities, in the order in which these were derived: names of parts
    depend on it.
    """
    eom = make(*arguments)
    for quantity in quantities:
        eom.sheet(quantity)
    return eom


DETERMINANTS = ("Delta", "det", "determinant_")


def force_names(count: int, taken: set[str]) -> tuple[str, ...]:
    """Names tau1, tau2, ... of the joint forces in expressions and Python, none of which is taken."""
    prefix = next(
        p
        for p in ("tau", "tau_", "joint_force_")
        if not any(f"{p}{k + 1}" in taken for k in range(count))
    )
    return tuple(f"{prefix}{k + 1}" for k in range(count))


class ClosedForms(ABC):
    """Equations of motion in closed form; arrays hold expressions (`Expr`) of one graph.

    What is pickled or copied is the model: what had been derived is derived, and verified, again.

    Attributes
    ----------
    name : str
    coordinate_names : tuple of str
        What the coordinates are.
    velocity_names : tuple of str
        What the velocities are.
    coordinates, velocities, accelerations : tuple of str
        Names of the entries of q, qd and qdd in forms.
    rates : dict
        Name of a velocity or acceleration -> (the name that it is the rate of, how many times).
    units : dict
        Name -> unit, where it is known.
    symbols : dict
        Printed name -> what it is.
    values : dict
        Printed name -> number, where there is one.
    groupings : dict
        Base parameters in print: name -> form; empty where inertial parameters are not grouped.
    titles, letters : dict
        Quantity -> title, letter of its entries.
    law : pair
        The equations of motion: terms (letter, what it is a function of, what it is multiplied by),
        and names on the right.
    """

    _unlisted = "abridged drafts factored groups in_full solved".split()  # make sheets
    __dir__ = public_names

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name)

    minimal = True
    of_velocities = ", along an axis of the body"  # meaning of velocities that are no rates
    remarks: Mapping[str, str] = MappingProxyType({})  # on coordinates, by what these are
    titles: ClassVar[dict[str, str]]
    letters: ClassVar[dict[str, str]]
    law: tuple[Sequence[tuple[str, ...]], Sequence[str]]
    programmed: tuple[str, ...]  # quantities that `python` and `to_sympy` give by default

    def __init__(
        self,
        model: Any,
        context: Any,
        digits: int,
        progress: Callable[[str, float], None],
    ):
        self.model = model
        self.name = model.name
        self.coordinate_names = model.coordinate_names
        self.velocity_names = getattr(model, "velocity_names", model.coordinate_names)
        self._context = context
        self.digits = digits
        self.progress = progress
        self.graph = context.graph
        self.symbols = context.symbols
        self.values = context.values
        self.coordinates, self.velocities, self.accelerations = context.names
        self.rates = context.motion.rates
        self.units = context.units
        self.forces = force_names(
            len(context.names[1]), {*self.symbols, *(x for group in context.names for x in group)}
        )
        self.groups = Groups(context.group_prefix, context.varying)
        self.parts = Parts(context.part_prefix, context.names[0])
        self.drafts: dict[
            str, Sheet
        ] = {}  # sheets whose length was asked for before they are shown
        self._measured: tuple[Sheet | None, int] = (None, 0)
        self._sheets: dict[str, Sheet] = {}
        self._expressions: dict[str, np.ndarray] = {}

    @abstractmethod
    def _verifier(self) -> Verifier:
        """The verifier of entries, made when something is derived first."""

    @cached_property
    def verifier(self) -> Verifier:
        """The verifier of entries, asked before they are shown."""
        verifier = self._verifier()
        verifier.add_forces(self.forces)
        return verifier

    @cached_property
    def printed_names(self) -> Names:
        """How names are written, no two alike."""
        motion = self._context.motion
        names = Names(
            self.coordinates, motion.rates, self.symbols, self.letters.values(), motion.symbols
        )
        names.are_integrals = self._context.has_integrals
        return names

    @property
    @abstractmethod
    def _origin(self) -> tuple[Any, ...]:
        """(function, arguments) that these closed forms come from, but for `progress`."""

    def __reduce__(self):
        return derived_again, (*self._origin, tuple(self._sheets))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name!r} in {', '.join(self.coordinates)}>"

    def _repr_html_(self) -> str | None:
        return in_notebook("equations_html", self)

    @property
    @abstractmethod
    def shown(self) -> tuple[str, ...]:
        """Quantities that are printed by default."""

    @abstractmethod
    def _owner(self, quantity: str) -> ClosedForms:
        """The closed forms that have the quantity: these, or others of the same machine."""

    @abstractmethod
    def _made(self, quantity: str) -> Sheet:
        """The sheet of a quantity, not verified yet."""

    @property
    def groupings(self) -> dict[str, Sum]:
        """Base parameters in print; empty where inertial parameters are not grouped."""
        return self._context.groupings

    @property
    def why_factored(self) -> str:
        """Why forms are printed in factored form, with named parts; empty where they are printed in
        full.
        """
        self.sheet("mass_matrix")
        return self._context.why_factored

    # --- quantities, each verified before anyone sees it ---

    def sheet(self, quantity: str) -> Sheet:
        """Forms and lines of a quantity as they are printed.

        Raises
        ------
        UnknownNameError, TypeError
            There is no quantity of that name; it is no text.
        VerificationError, TooLarge
            The forms differ from the compiled function; they are too long to derive.

        Examples
        --------
        >>> import dalembert as da
        >>> len(da.equations(da.planar_chain(2), symbols="all").sheet("mass_matrix").lines)
        3
        """
        if not isinstance(quantity, str):
            raise TypeError(
                f"the quantity is {quantity!r} ({type(quantity).__name__}); expected a name such "
                "as 'mass_matrix'."
            )
        self.described(quantity)
        owner = self._owner(quantity)
        if quantity not in owner._sheets:
            owner._add(quantity)
        return owner._sheets[quantity]

    def described(self, quantity: str) -> tuple[str, str]:
        """Title of a quantity, and the letter of its entries.

        Raises
        ------
        UnknownNameError

        Examples
        --------
        >>> import dalembert as da
        >>> da.equations(da.planar_chain(1)).described("mass_matrix")
        ('Mass matrix', 'M')
        """
        if quantity not in self.titles:
            raise UnknownNameError("quantity", quantity, tuple(self.titles))
        return self.titles[quantity], self.letters[quantity]

    def entries(self, quantity: str) -> np.ndarray:
        """Expressions of a quantity's entries: an array of the quantity's shape, (nv, nv), (nv,) or
        ().

        Raises
        ------
        UnknownNameError, TypeError, VerificationError, TooLarge
            There is no quantity of that name; it is no text; the forms differ from the compiled
            function; they are too long to derive.

        Examples
        --------
        >>> import dalembert as da
        >>> da.equations(da.planar_chain(1)).entries("gravity_vector")
        array([g*MX1*cos(q1)], dtype=object)
        """
        self.sheet(quantity)
        return self._owner(quantity)._expressions[quantity]

    def _add(self, quantity: str) -> None:
        with self.graph, without_collection():
            place = (
                list(self.titles).index(quantity)
                if quantity in self.titles
                else len(self.titles) - 1
            )
            self.progress(self.described(quantity)[0].lower(), place / len(self.titles))
            sheet = self._made(quantity)
            builder = Builder(self.graph, self._definitions(sheet))
            found = builder.array(sheet.forms)
            self.verifier.compare(quantity, found)
            self._verify_lines(sheet, builder, found)
            self._expressions[quantity] = found
            self._sheets[quantity] = sheet
            self.printed_names.tell_from_angles(sheet.letter, (at for at, _ in sheet.lines))

    mass_matrix = _quantity("mass_matrix", "M(q), (nv, nv).")
    christoffel = _quantity(
        "christoffel",
        "Christoffel symbols c[i, j, k], (nv, nv, nv): C[k, j] = sum over i of c[i, j, k] qd[i].",
    )
    coriolis_matrix = _quantity(
        "coriolis_matrix", "C(q, qd), (nv, nv), of the Christoffel symbols."
    )
    coriolis_vector = _quantity("coriolis_vector", "C(q, qd) qd, (nv,).")
    gravity_vector = _quantity("gravity_vector", "g(q), (nv,).")
    kinetic_energy = _quantity("kinetic_energy", "T(q, qd).")
    potential_energy = _quantity(
        "potential_energy",
        "Potential energy of gravity and springs; of base parameters up to a constant.",
    )

    @property
    def verified(self) -> dict[str, float]:
        """Largest difference to the compiled function at random states, relative to the largest
        entry, by quantity.
        """
        return {q: gap for q, gap in self.verifier.largest.items() if q in self.titles}

    @property
    def used_symbols(self) -> set[str]:
        """Names that occur in what has been derived so far, and in base parameters that are
        printed.
        """
        groupings = map(Builder(self.graph).expression, self.groupings.values())
        return {s.name for a in (*self._expressions.values(), *groupings) for s in free_symbols(a)}

    def _definitions(self, sheet: Sheet) -> dict[str, Sum]:
        """Forms of all names on a sheet that are not symbols: repeated sums, parts, entries of this
        and of other sheets.
        """
        found = self.groups.definitions | self.parts.definitions | dict(sheet.parts)
        for other in (sheet, *(self._sheets[quantity] for quantity in sheet.uses)):
            found |= {entry_at(other.letter, at): form for at, form in np.ndenumerate(other.forms)}
        return found | {
            entry(r"\tau", k): Sum((single(Name(name)),)) for k, name in enumerate(self.forces, 1)
        }

    def _verify_lines(self, sheet: Sheet, builder: Builder, found: np.ndarray) -> None:
        """Lines that are written with names give the entries that were verified."""
        lines = [(at, form) for at, form in sheet.lines if form is not sheet.forms[at]]
        if lines:
            printed = builder.array(object_array([form for _, form in lines], (len(lines),)))
            entries = object_array([found[at] for at, _ in lines], (len(lines),))
            values = self.verifier.evaluated(np.stack([printed, entries]))
            self.verifier.check(f"lines of {sheet.quantity}", values[:, 0], values[:, 1])

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Sheets that have been derived so far."""
        return tuple(self._sheets.values())

    # --- kinds of sheets ---

    def length(self, sheet: Sheet) -> int:
        """Characters of a sheet's lines and parts in plain text.

        Examples
        --------
        >>> import dalembert as da
        >>> forms = da.equations(da.planar_chain(1))
        >>> forms.length(forms.sheet("mass_matrix")) > 0
        True
        """
        measured, length = self._measured
        if measured is not sheet:
            length = documents.length(self, sheet)
            self._measured = sheet, length  # who made a sheet asks before who decides about it
        return length

    def in_full(
        self, quantity: str, forms: np.ndarray, short: np.ndarray | None = None, remark: str = ""
    ) -> Sheet:
        """A sheet of forms in full, with names for repeated sums of parameters; `short` is printed
        in place of these.
        """
        if short is None:
            short = by_first(forms, self.letters[quantity]) if quantity == "christoffel" else forms
        sheet = self._sheet(quantity, forms, short)
        lines = self.groups.named(sheet.lines)
        used = {name for _, form in lines for name in names_in(form)}
        parts = tuple(
            (name, form) for name, form in self.groups.definitions.items() if name in used
        )
        return replace(sheet, lines=lines, parts=parts, remark=remark)

    def factored(self, quantity: str, expressions: np.ndarray, why: str) -> Sheet:
        """A sheet of expressions in factored form, with named parts."""
        letter = self.described(quantity)[1]
        places = [*np.ndindex(expressions.shape)]
        labels: dict[int, str] = {}
        # entries are names of parts unless another quantity has the letter, as h of Coriolis and
        # bias forces
        if [*self.letters.values()].count(letter) <= 1:
            for k in sorted(range(len(places)), key=lambda k: (places[k][2:], places[k])):
                labels[k] = entry_at(letter, places[k])
        forms = object_array(self.parts.forms([*expressions.flat], labels), expressions.shape)
        sheet = self._sheet(
            quantity,
            forms,
            by_first(forms, letter),
            (),
            f"in factored form, with named parts: {why}",
            True,
        )
        return replace(
            sheet, parts=tuple(self.parts.needed(form for _, form in sheet.lines).items())
        )

    def abridged(
        self, quantity: str, forms: np.ndarray, short: np.ndarray, others: Sequence[str]
    ) -> Sheet:
        """A sheet whose lines are short forms, in terms of the entries of other quantities."""
        parts = tuple(self.parts.needed(short.flat).items())
        return replace(self._sheet(quantity, forms, short, parts), uses=tuple(others))

    def solved(
        self,
        quantity: str,
        forms: np.ndarray,
        short: np.ndarray,
        parts: Mapping[str, Sum],
        others: Sequence[str],
        left: tuple[str, ...] = (),
    ) -> Sheet:
        """A sheet of solutions of linear equations, with parts of its own, which may be in terms of
        others' entries.
        """
        sheet = self.abridged(quantity, forms, short, others)
        return replace(sheet, parts=(*sheet.parts, *parts.items()), left=left)

    def determinant_name(self, k: int) -> str:
        """Names of determinants that are not taken: Delta, or Delta, Delta2, ... where there are
        several.

        Examples
        --------
        >>> import dalembert as da
        >>> da.equations(da.planar_chain(1)).determinant_name(0)
        'Delta'
        """
        taken = {*self.symbols, *self.coordinates, *self.velocities, *self.accelerations}
        prefix = next(p for p in DETERMINANTS if not any(name.startswith(p) for name in taken))
        return prefix + (str(k + 1) if k else "")

    def _sheet(self, quantity: str, forms: np.ndarray, short: np.ndarray, *more: Any) -> Sheet:
        lines = lines_of(forms, quantity, short)
        return Sheet(quantity, *self.described(quantity), forms, lines, *more)

    # --- output ---

    def text(self, *quantities: str) -> str:
        """Plain text of some quantities (default: all that are usually printed).

        Raises
        ------
        UnknownNameError
            There is no quantity of a name.

        Examples
        --------
        >>> import dalembert as da
        >>> print(da.equations(da.planar_chain(1)).text("gravity_vector"))
        Gravity vector
        g1 = MX1 g c1
        """
        return documents.text(self, quantities or self.shown)

    def latex(self, *quantities: str) -> str:
        """LaTeX of some quantities, for amsmath: no document around it.

        Raises
        ------
        UnknownNameError
            There is no quantity of a name.

        Examples
        --------
        >>> import dalembert as da
        >>> da.equations(da.planar_chain(1)).latex("gravity_vector").splitlines()[0]
        '% Gravity vector'
        """
        return documents.latex(self, quantities or self.shown)

    def mathml(self, *quantities: str) -> str:
        """MathML of some quantities, a <math> element per equation.

        Raises
        ------
        UnknownNameError
            There is no quantity of a name.

        Examples
        --------
        >>> import dalembert as da
        >>> da.equations(da.planar_chain(1)).mathml("gravity_vector").count("<math")
        1
        """
        return documents.mathml(self, quantities or self.shown)

    def names(self, form: str = "text") -> dict[str, str]:
        """Name of each coordinate, velocity, acceleration and symbol -> how it is printed as
        "text", "latex", "mathml", "python" or "sympy": no two alike.

        Raises
        ------
        UnknownNameError

        Examples
        --------
        >>> import dalembert as da
        >>> da.equations(da.planar_chain(1)).names("latex")["q1"]
        'q_{1}'
        """
        return source.printed_names(self, form)

    def legend(self) -> str:
        """Plain text: meanings of the names in all that has been derived so far.

        Examples
        --------
        >>> import dalembert as da
        >>> forms = da.equations(da.planar_chain(1))
        >>> text = forms.text("gravity_vector")
        >>> print(forms.legend().splitlines()[0])
        Symbols
        """
        return documents.legend_text(self)

    def python(self, *quantities: str) -> str:
        """Python source with a function per quantity, in terms of the printed names; `NAMES` there
        says what was renamed.

        Raises
        ------
        UnknownNameError
            There is no quantity of a name.

        Examples
        --------
        >>> import dalembert as da
        >>> "def gravity_vector" in da.equations(da.planar_chain(1)).python("gravity_vector")
        True
        """
        return source.python(self, quantities or self.programmed)

    def to_sympy(self, *quantities: str) -> Any:
        """SymPy matrices or expressions of some quantities as a dict (needs sympy); a quantity
        alone as itself.

        Raises
        ------
        UnknownNameError
            There is no quantity of a name.

        Examples
        --------
        >>> import dalembert as da
        >>> da.equations(da.planar_chain(1)).to_sympy("gravity_vector").shape
        (1, 1)
        """
        names = quantities or self.programmed
        found = {}
        for name in names:
            symbols = self._owner(name).names("sympy")
            found[name] = source.sympy_of(self.entries(name)[()], symbols)
        return found[quantities[0]] if len(quantities) == 1 else found

    def write(self, file: str | Path, *quantities: str) -> Path:
        """Write a document: .html (opens offline), .tex, .md, .txt, .py, or .pdf where LaTeX is
        installed.

        Raises
        ------
        ValueError, DalembertError
            Another ending; there is no LaTeX, or it failed.

        Examples
        --------
        >>> import dalembert as da
        >>> da.equations(da.planar_chain(1)).write("arm.tex", "gravity_vector").name
        'arm.tex'
        """
        return document_files.write(self, path_of("file", file), quantities or self.shown)
