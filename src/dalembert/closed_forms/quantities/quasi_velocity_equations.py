"""Closed forms of equations in quasi-velocities, without multipliers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from dalembert.closed_forms.derivation.quasi_velocity_context import QuasiVelocityContext
from dalembert.closed_forms.printing.sheets import Sheet
from dalembert.closed_forms.quantities import accelerations, expression_sheets
from dalembert.closed_forms.quantities.changes import Changeable
from dalembert.closed_forms.quantities.quasi_velocity_verification import QuasiVelocityVerifier
from dalembert.closed_forms.quantities.steady_motion import SteadyEquations
from dalembert.closed_forms.quantities.verified_forms import ClosedForms, silent
from dalembert.codegen.symbols import without_collection
from dalembert.errors import UnknownNameError
from dalembert.formulations.lagrange.quasi_velocities import QuasiVelocities

LONGEST = 200  # terms of a quantity that is written out: loops have thousands
FORMS = ("maggi", "appell", "boltzmann_hamel")
# Quantity: title, and the letter of its entries.
QUANTITIES: dict[str, tuple[str, str]] = {
    "rates": ("Rates of the coordinates", "B"),
    "acceleration_energy": ("Appell's function", "S"),
    "lagrangian": ("Lagrangian in quasi-velocities", "L"),
    "momenta": ("Momenta of the quasi-velocities", "p"),
    "hamel_coefficients": ("Hamel's coefficients", r"\gamma"),
    "hamel_drift": ("Hamel's coefficients of time", r"\beta"),
    "mass_matrix": ("Mass matrix", "M"),
    "bias_force": ("Bias force", "h"),
    "generalized_forces": ("Generalized forces", "Q"),
    "equations_of_motion": ("Equations of motion", r"\tau"),
    "accelerations": ("Accelerations", r"\tau"),
}
SHOWN = {
    "maggi": ("rates", "mass_matrix", "bias_force", "generalized_forces", "equations_of_motion"),
    "appell": ("rates", "acceleration_energy", "generalized_forces", "equations_of_motion"),
    "boltzmann_hamel": (
        "rates",
        "lagrangian",
        "momenta",
        "hamel_coefficients",
        "hamel_drift",
        "generalized_forces",
        "equations_of_motion",
    ),
}


class QuasiVelocityEquations(Changeable):
    """Closed forms of a system with constraints in independent quasi-velocities u, each entry
    compared with compiled functions of the equations with multipliers.

        qd = B u + b,    M u' + h = Q + tau,    M = B^T M B

    Here tau are the forces on u, B^T times those on the coordinates. By Maggi's form the equations
    are B^T times Lagrange's; by Appell's the derivatives of `acceleration_energy` S by u' (terms
    without u' are left out of S); by Boltzmann's and Hamel's those of `lagrangian` L*(q, w, t) in
    all quasi-velocities w, with `hamel_coefficients` gamma[l, i, j] of [X_i, X_j] = sum of
    gamma[l, i, j] X_l.

    Attributes
    ----------
    form : "maggi", "appell" or "boltzmann_hamel"
    """

    letters = {name: letter for name, (_, letter) in QUANTITIES.items()}
    programmed = ("rates", "mass_matrix", "bias_force", "generalized_forces")
    of_velocities = ", a quasi-velocity"

    def __init__(
        self,
        frame: QuasiVelocities,
        form: str,
        budget: int,
        digits: int,
        progress: Callable[[str, float], None] = silent,
        parameters: Sequence[str] = (),
    ):
        self.form = form
        progress("derivation", 0.0)
        with frame.t.graph, without_collection():
            letters = list(self.letters.values())
            context = QuasiVelocityContext(frame, form, budget, letters, parameters)
            known = {*context.expressions, "accelerations"}
            self.titles = {  # type: ignore[misc]
                name: title for name, (title, _) in QUANTITIES.items() if name in known
            }
            super().__init__(frame, context, digits, progress)
            self.verifier  # noqa: B018  refuses equations that have no finite values

    def _verifier(self) -> QuasiVelocityVerifier:
        return QuasiVelocityVerifier(self._context)

    @property
    def _origin(self) -> tuple[Any, ...]:
        p = self._context
        return QuasiVelocityEquations, (
            p.frame,
            self.form,
            p.budget,
            self.digits,
            silent,
            tuple(p.parameters),
        )

    @property
    def law(self) -> Any:  # type: ignore[override]
        """M u' + h = Q + tau, without forces that are zero."""
        has_forces = any(form.terms for form in self.sheet("generalized_forces").forms.flat)
        return (("M", "q", "u_dot"), ("h", "q u")), ("Q", "tau")[not has_forces :]

    def _owner(self, quantity: str) -> ClosedForms:
        return self

    def described(self, quantity: str) -> tuple[str, str]:
        """Title of a quantity, and the letter of its entries.

        Raises
        ------
        UnknownNameError
            The form has no quantity of that name.

        Examples
        --------
        >>> import dalembert as da
        >>> free = da.lagrangian_system(lambda q, qd, t: qd @ qd / 2, "x y")
        >>> rod = da.constraints.Holonomic("rod", lambda q, t: [q[0]])
        >>> da.quasi_velocity_equations(free.constrained(rod), "y").described("rates")
        ('Rates of the coordinates', 'B')
        """
        if quantity in QUANTITIES and quantity not in self.titles:
            form = next(form for form, names in SHOWN.items() if quantity in names)
            raise UnknownNameError("quantity", f"{quantity} (of form={form!r})", tuple(self.titles))
        return super().described(quantity)

    def _made(self, quantity: str) -> Sheet:
        p = self._context
        if quantity == "accelerations":
            forces = [(-1, "bias_force"), (1, "generalized_forces")]
            return accelerations.made(self, p.normal, forces)
        sheet, _ = expression_sheets.made(self, p, quantity, longest=LONGEST)
        if quantity == "rates":
            qd = p.system.symbols["qd"]
            return replace(sheet, left=tuple(x.name for x in qd))
        if quantity == "hamel_coefficients" and not sheet.remark:
            return replace(sheet, remark="those with lower indices exchanged are the negative")
        return sheet

    @property
    def shown(self) -> tuple[str, ...]:
        """Quantities of the form that are not zero."""
        return tuple(
            name
            for name in SHOWN[self.form]
            if any(form.terms for form in self.sheet(name).forms.flat)
        )

    def linearize(self, q: Any = None, u: Any = None, tau: Any = None) -> SteadyEquations:
        """Linear equations about a steady motion, in symbols; see `SteadyEquations`.

            M du' + D du + K dq = dtau,    dq' = B du + N dq

        Parameters
        ----------
        q : (nq,) sequence or mapping, optional
            Coordinates [rad, m], all, or some by name: numbers or expressions; the others stay
            symbols.
        u : (m,) sequence or mapping, optional
            Quasi-velocities of the steady motion, likewise.
        tau : (m,) sequence or "hold", optional
            Forces on the quasi-velocities [N m, N], by default none; "hold": those that it takes.

        Raises
        ------
        ShapeError, UnknownNameError
            A vector has another length; there is no coordinate or quasi-velocity of a name.
        DalembertError
            The motion is not steady there with these forces.

        Examples
        --------
        >>> import dalembert as da
        >>> free = da.lagrangian_system(lambda q, qd, t: qd @ qd / 2 - q[1], "x y")
        >>> slope = da.constraints.Holonomic("wire", lambda q, t: [q[1] - q[0] ** 2 / 2])
        >>> bead = da.quasi_velocity_equations(free.constrained(slope), "x")
        >>> print(bead.linearize({"x": 0, "y": 0}, [0]).text("stiffness_matrix"))
        Stiffness matrix
        K11 = 1
        """
        return SteadyEquations(self, q, u, tau)
