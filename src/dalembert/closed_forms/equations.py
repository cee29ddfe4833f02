"""Equations of motion in closed form: derived, compacted, verified, and written for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from dalembert.arguments import check_choice, check_function, check_whole
from dalembert.closed_forms.derivation.meanings import remarks_on_modes
from dalembert.closed_forms.derivation.mechanism_context import BaseParameter, MechanismContext
from dalembert.closed_forms.derivation.selection import Selection, select
from dalembert.closed_forms.printing.sheets import Sheet
from dalembert.closed_forms.quantities import frames
from dalembert.closed_forms.quantities.linear import Movable
from dalembert.closed_forms.quantities.mechanism_verification import MechanismVerifier
from dalembert.closed_forms.quantities.multipliers import SHOWN as ROWS
from dalembert.closed_forms.quantities.quantity_sheets import (
    LETTERS,
    LETTERS_OF_CONSTRAINTS,
    OF_CONSTRAINTS,
    QUANTITIES,
    made,
    why_no_christoffel,
)
from dalembert.closed_forms.quantities.verified_forms import ClosedForms, silent
from dalembert.codegen.symbols import without_collection
from dalembert.model.magnitudes import check_magnitudes
from dalembert.model.mechanism import Mechanism
from dalembert.systems.kinds import OtherSystem, system_of
from dalembert.tracing.quantities import known_formulation

if TYPE_CHECKING:
    from dalembert.closed_forms.quantities.quasi_velocity_equations import QuasiVelocityEquations
    from dalembert.closed_forms.quantities.significance import Abbreviation
    from dalembert.closed_forms.quantities.system_equations import SystemEquations

BUDGET = 10_000  # characters of a quantity that are still printed in full
SHOWN = (
    "mass_matrix",
    "coriolis_vector",
    "gravity_vector",
    "passive_force",
    "equations_of_motion",
    "kinetic_energy",
    "potential_energy",
    "christoffel",
)
Progress = Callable[[str, float], None]


@overload
def equations(
    mechanism: Mechanism,
    symbols: str | Iterable[str] | None = None,
    grouped: bool | None = None,
    formulation: str = "newton_euler",
    budget: int = BUDGET,
    digits: int = 6,
    progress: Progress | None = None,
) -> Equations: ...
@overload
def equations(
    mechanism: OtherSystem,
    *,
    budget: int = BUDGET,
    digits: int = 6,
    progress: Progress | None = None,
) -> SystemEquations: ...
def equations(
    mechanism: Mechanism | OtherSystem,
    symbols: str | Iterable[str] | None = None,
    grouped: bool | None = None,
    formulation: str = "newton_euler",
    budget: int = BUDGET,
    digits: int = 6,
    progress: Progress | None = None,
) -> Equations | SystemEquations:
    """The equations of motion of a mechanism, or of a user's Lagrangian, in closed form.

        M(q) qdd + C(q, qd) qd + g(q) = tau,    with constraints tau + J^T lambda,  J qdd = k

    Parameters
    ----------
    mechanism : Mechanism, LagrangianSystem, FlexibleJoints, or another System
        Symbols of a Lagrangian are its parameters: `symbols`, `grouped` and `formulation` are not
        for it.
    symbols : str or sequence, optional
        Numbers that become symbols: "all", "inertial" (masses, centres of mass, inertias, rotors;
        gravity), "geometry" (lengths), "elastic" (stiffness of beams), "gravity", paths
        ("elbow.origin[0]") and patterns ("*.mass"). Zeros stay zeros. By default the mechanism's
        own symbols alone, or "inertial" if it has none, with stiffness and lengths of beams.
    grouped : bool, optional
        Print base parameters, the fewest combinations of inertial parameters that forces depend on
        (by default where all inertial numbers become symbols), instead of masses, centres of mass
        and inertias.
    formulation : str
        Whose compiled functions every entry is compared with, whose traced expressions are printed
        where forms in full would be too long, and whose steps the report shows; the closed forms
        themselves do not depend on it.
    budget : int
        Characters of a quantity in plain text above which it is printed in factored form, with
        named parts; where the mass matrix is, all quantities are. 0: always.
    digits : int
        Significant digits of numbers in print; expressions keep them exactly.
    progress : callable, optional
        Called with a text and the share done (0 to 1).

    Returns
    -------
    Equations or SystemEquations

    Raises
    ------
    UnknownNameError
        A path or pattern in `symbols` matches nothing; the formulation is unknown.
    DalembertError
        Inertias of elastic links are to be grouped.
    ValueError
        budget or digits is no whole number.

    References
    ----------
    docs/equations.md

    Examples
    --------
    >>> import dalembert as da
    >>> eom = da.equations(da.planar_chain(2))
    >>> print(eom.text("gravity_vector"))
    Gravity vector
    g1 = g (MX1 c1 + MX2 c12)
    g2 = MX2 g c12
    """
    progress = silent if progress is None else progress
    check_function("progress", progress, "(text, share done)")
    check_whole("budget", budget, 0)
    check_whole("digits", digits, 1)
    system = system_of(mechanism, "has no equations of motion")
    if system.mechanism is None:
        if symbols is not None or grouped is not None or formulation != "newton_euler":
            raise TypeError(
                f"equations of the Lagrangian {system.name!r}: its symbols are its parameters, "
                "which system.replace gives values; symbols=, grouped= and formulation= are for "
                "mechanisms."
            )
        from dalembert.closed_forms.quantities.system_equations import SystemEquations

        return SystemEquations(system.lagrangian(), budget, digits, progress)
    known_formulation(formulation)
    check_magnitudes(system.mechanism, "derived in closed form")
    return Equations(
        system.mechanism,
        select(system.mechanism, symbols, grouped),
        formulation,
        budget,
        digits,
        progress,
    )


def quasi_velocity_equations(
    system: Mechanism | OtherSystem,
    velocities: str | Sequence[str] | Mapping[str, str | Callable[..., Any]],
    form: str = "maggi",
    *,
    budget: int = BUDGET,
    digits: int = 6,
    progress: Progress | None = None,
) -> QuasiVelocityEquations:
    """The equations of a system with constraints in independent quasi-velocities, without
    multipliers, in closed form.

        qd = B(q, t) u + b(q, t),    M(q, t) u' + h(q, u, t) = Q + tau

    Parameters
    ----------
    system : LagrangianSystem, Mechanism, or another System
        With constraints that are linear in the velocities, each as many rows as it has.
    velocities : str, sequence of str, or mapping
        The independent quasi-velocities u, as many as there are velocities less rows: names of
        coordinates, whose rates they are ("theta psi"), or {name: function (q, qd, t), or name of a
        coordinate}; functions are linear in qd.
    form : {"maggi", "appell", "boltzmann_hamel"}
        Maggi's: Lagrange's equations times the transpose of B; Appell's: derivatives of the function
        S(q, u, u'); Boltzmann's and Hamel's: of L*(q, w, t), with Hamel's coefficients.
    budget, digits, progress
        As of `equations`.

    Returns
    -------
    QuasiVelocityEquations
        With text, latex, mathml, write, ...; each entry is compared with the compiled equations
        with multipliers.

    Raises
    ------
    UnknownNameError, TypeError
        There is no form or coordinate of a name; a definition is none.
    DalembertError
        There are too many quasi-velocities or too few; they depend on each other and on constraints,
        or something is not linear in the velocities.

    References
    ----------
    Neimark, Fufaev, Dynamics of nonholonomic systems (1972), chapters II and III; docs/equations.md

    Examples
    --------
    >>> import dalembert as da
    >>> skate = da.lagrangian_system(lambda q, qd, t: qd @ qd / 2, "x y theta")
    >>> knife = da.constraints.Velocity("knife", lambda q, qd, t: [qd[0] * da.sin(q[2]) - qd[1] * da.cos(q[2])])
    >>> v = {"v": lambda q, qd, t: qd[0] * da.cos(q[2]) + qd[1] * da.sin(q[2]), "omega": "theta"}
    >>> print(da.quasi_velocity_equations(skate.constrained(knife), v).text("rates"))
    Rates of the coordinates
    x_dot = v cos(theta)
    y_dot = v sin(theta)
    theta_dot = omega
    """
    from dalembert.closed_forms.derivation.quasi_frame import quasi_velocities
    from dalembert.closed_forms.quantities.quasi_velocity_equations import (
        FORMS,
        QuasiVelocityEquations,
    )

    progress = silent if progress is None else progress
    check_function("progress", progress, "(text, share done)")
    check_whole("budget", budget, 0)
    check_whole("digits", digits, 1)
    check_choice("form", form, FORMS)
    lagrangian = system_of(system, "has no equations of motion").lagrangian()
    with cast(Any, lagrangian.symbols["t"]).graph:
        frame = quasi_velocities(lagrangian, velocities)
    return QuasiVelocityEquations(frame, form, budget, digits, progress)


class Equations(Movable):
    """Closed forms of a mechanism, each entry compared with the compiled function; see also
    `ClosedForms`.

    Attributes
    ----------
    symbols : dict
        Printed name -> path of the number in the mechanism ("-gravity[2]": the negative of it), or
        what it is.
    minimal : bool
        Whether the base parameters are as few as possible.

    Examples
    --------
    >>> import dalembert as da
    >>> da.equations(da.planar_chain(1)).entries("mass_matrix").shape
    (1, 1)
    """

    titles, letters = QUANTITIES, LETTERS
    programmed = ("mass_matrix", "coriolis_vector", "gravity_vector")

    def __init__(
        self,
        mechanism: Mechanism,
        selection: Selection,
        formulation: str,
        budget: int,
        digits: int,
        progress: Progress,
    ):
        self.mechanism = mechanism
        self.formulation = formulation
        self.budget = budget
        self._selection = selection
        if mechanism.constraints:
            self.titles = OF_CONSTRAINTS  # type: ignore[misc]
            self.letters = LETTERS_OF_CONSTRAINTS  # type: ignore[misc]
        progress("derivation", 0.0)
        with selection.graph, without_collection():
            letters = self.letters.values()
            context = MechanismContext(mechanism, selection, formulation, budget, letters)
            super().__init__(mechanism, context, digits, progress)
        self.minimal = context.minimal

    @property
    def remarks(self) -> Mapping[str, str]:  # type: ignore[override]
        """Shape functions by which coordinates of elastic links bend them."""
        return remarks_on_modes(self.mechanism)

    def _verifier(self) -> MechanismVerifier:
        return MechanismVerifier(self._context)

    @property
    def law(self) -> Any:  # type: ignore[override]
        """M qdd + h + g = f + tau, with f of springs and friction."""
        right: list[Any] = ["f", "tau"] if self._is_passive else ["tau"]
        if self.mechanism.constraints:
            right.append(("J", "lambda") if self._context.rows.are_along_rows else "R")
        return (("M", "q", "q_ddot"), ("h", "q q_dot"), ("g", "q")), right

    @property
    def base_parameters(self) -> tuple[BaseParameter, ...]:
        """The fewest combinations of inertial parameters that determine the forces."""
        return tuple(self._with_groups._context.base_parameters)

    @cached_property
    def _with_groups(self) -> Equations:
        """The forms themselves, or the same with base parameters."""
        if self._selection.grouped:
            return self
        geometry = [
            path.lstrip("-")
            for path in self._selection.symbols.values()
            if path.rpartition(".")[2].partition("[")[0] not in ("mass", "com", "inertia")
        ]
        return Equations(
            self.mechanism,
            select(self.mechanism, geometry, True),
            self.formulation,
            self.budget,
            self.digits,
            self.progress,
        )

    @property
    def _origin(self) -> tuple[Any, ...]:
        chosen = self._selection
        return equations, (
            self.mechanism,
            chosen.wishes,
            chosen.grouped,
            self.formulation,
            self.budget,
            self.digits,
        )

    def _owner(self, quantity: str) -> ClosedForms:
        return self._with_groups if quantity == "regressor" else self

    def _made(self, quantity: str) -> Sheet:
        return made(self._context, self, quantity)

    def described(self, quantity: str) -> tuple[str, str]:
        """Title and letter of a quantity, also of "placement:tool", "jacobian:tool" and
        "jacobian:tool:local".

        Raises
        ------
        UnknownNameError
            There is no quantity or frame of that name.

        Examples
        --------
        >>> import dalembert as da
        >>> da.equations(da.planar_chain(1)).described("jacobian:tip")
        ('Jacobian of tip, angular rows first, in aligned axes', 'J:tip')
        """
        return frames.described(self.mechanism, quantity) or super().described(quantity)

    @property
    def regressor(self) -> np.ndarray:
        """Y(q, qd, qdd), (nv, base parameters): tau = Y theta for the bodies alone."""
        return self.entries("regressor")

    @property
    def shown(self) -> tuple[str, ...]:
        """Quantities that are printed by default: without Christoffel symbols where these are too
        long, and without springs and friction where there are none.
        """
        missing = {"christoffel"} if why_no_christoffel(self._context, self) else set()
        if not self._is_passive:
            missing.add("passive_force")
        shown = [quantity for quantity in SHOWN if quantity not in missing]
        place = shown.index("equations_of_motion")
        shown[place:place] = self._rows_that_are_there
        return tuple(shown)

    @property
    def _rows_that_are_there(self) -> list[str]:
        """Quantities of constraints that are not zero."""
        if self._context.rows is None:
            return []
        return [
            quantity
            for quantity in ROWS
            if any(form.terms for form in self.sheet(quantity).forms.flat)
        ]

    @property
    def _is_passive(self) -> bool:
        """Whether there are springs or friction."""
        return any(form.terms for form in self.sheet("passive_force").forms.flat)

    def resting_force(self) -> np.ndarray:
        """g - f with its dependence on qd, the joint forces that qdd = 0 needs, up to products of
        velocities: (nv,) expressions [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> da.equations(da.planar_chain(1)).resting_force()
        array([g*MX1*cos(q1)], dtype=object)
        """
        return self.entries("gravity_vector") - self.entries("passive_force")

    def report(self) -> str:
        """The derivation by the chosen formulation, step by step, as Markdown with LaTeX formulas.

        Examples
        --------
        >>> import dalembert as da
        >>> print(da.equations(da.planar_chain(1)).report().splitlines()[0])
        # Derivation by newton_euler: the equations of motion of planar chain
        """
        from dalembert.closed_forms.reports import report

        return report(self)

    def abbreviated(self, significance: float = 0.01, states: int = 200) -> Abbreviation:
        """Mass matrix and gravity vector without the terms that matter least; see `Abbreviation`.

        Parameters
        ----------
        significance : float
            Share of an entry's scale that the bounds of its terms left out stay below, together.
        states : int
            Random states at which scales are measured.

        Raises
        ------
        DalembertError
            The equations are printed in factored form, a symbol has no number, or a prismatic joint
            no limits.

        Examples
        --------
        >>> import dalembert as da
        >>> forms = da.equations(da.planar_chain(2), symbols="all")
        >>> short = forms.abbreviated(significance=0.1)
        >>> type(short).__name__
        'Abbreviation'
        """
        from dalembert.closed_forms.quantities.significance import abbreviate

        return abbreviate(self, significance, states)
