"""Closed forms of a user's own Lagrangian L(q, qd, t)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np

from dalembert.closed_forms.algebra.polynomials import Normal
from dalembert.closed_forms.algebra.ring import TooLarge
from dalembert.closed_forms.algebra.sums import Sum, object_array
from dalembert.closed_forms.derivation.coordinates import MotionNames
from dalembert.closed_forms.derivation.derivation_context import SEED
from dalembert.closed_forms.printing.names import free_prefix
from dalembert.closed_forms.printing.sheets import Sheet
from dalembert.closed_forms.quantities import accelerations
from dalembert.closed_forms.quantities.linear import Movable
from dalembert.closed_forms.quantities.quantity_sheets import CHRISTOFFEL
from dalembert.closed_forms.quantities.verification import STATES, Verifier, size_of_terms
from dalembert.closed_forms.quantities.verified_forms import ClosedForms, silent
from dalembert.codegen.symbols import without_collection
from dalembert.compiled.dynamics import compile
from dalembert.compiled.systems import SystemDynamics
from dalembert.errors import DalembertError
from dalembert.expr import derivative, evaluate, gradient, substitute
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem

STEP = 0.01  # of differences of order six: to some 1e-13
TRIED = 200  # random states, of which some lie where L is defined

# Quantity: title, and the letter of its entries.
QUANTITIES: dict[str, tuple[str, str]] = {
    "lagrangian": ("Lagrangian", "L"),
    "mass_matrix": ("Mass matrix", "M"),
    "christoffel": ("Christoffel symbols", "c"),
    "coriolis_matrix": ("Coriolis matrix", "C"),
    "coriolis_vector": ("Coriolis vector", "h"),
    "linear_terms": ("Terms of L linear in the velocities", "b"),
    "gyroscopic_matrix": ("Gyroscopic matrix of the linear terms", "N"),
    "time_terms": ("Forces of explicit time", "r"),
    "gravity_vector": ("Gradient of the potential energy", "g"),
    "bias_force": ("Bias force", "h"),
    "generalized_forces": ("Generalized forces", "Q"),
    "kinetic_energy": ("Kinetic energy", "T"),
    "potential_energy": ("Potential energy", r"\Pi"),
    "momenta": ("Momenta", "p"),
    "energy": ("Energy (Jacobi's function)", "E"),
    "equations_of_motion": ("Equations of motion", r"\tau"),
    "accelerations": ("Accelerations", r"\tau"),
}
LETTERS = tuple(letter for _, letter in QUANTITIES.values())
DIRECT = (
    "lagrangian",
    "mass_matrix",
    "momenta",
    "bias_force",
    "generalized_forces",
    "linear_terms",
)  # compiled so
BY_RATES = (
    "lagrangian",
    "kinetic_energy",
    "momenta",
    "energy",
    "equations_of_motion",
)  # sums of products of rates
SHOWN = (
    "mass_matrix",
    "christoffel",
    "coriolis_vector",
    "linear_terms",
    "gyroscopic_matrix",
    "time_terms",
    "gravity_vector",
    "generalized_forces",
    "kinetic_energy",
    "potential_energy",
    "equations_of_motion",
)
SHOWN_OTHERWISE = (
    "lagrangian",
    "momenta",
    "mass_matrix",
    "bias_force",
    "generalized_forces",
    "energy",
    "equations_of_motion",
)  # where L is not quadratic in the velocities


LAW = {
    "mass_matrix": ("M", "", "q_ddot"),
    "coriolis_vector": ("h", "q q_dot"),
    "gyroscopic_matrix": ("N", "", "q_dot"),
    "time_terms": ("r", ""),
    "gravity_vector": ("g", "q"),
    "bias_force": ("h", "q q_dot"),
}


class SystemEquations(Movable):
    """Closed forms of a `LagrangianSystem`, each entry compared with the function that `da.compile`
    makes.

        L = 1/2 qd^T M qd + b^T qd - Pi:    M qdd + h + N qd + r + g = Q + tau

    with h = C qd of the Christoffel symbols of M, N_kj = db_k/dq_j - db_j/dq_k, r = (dM/dt) qd +
    db/dt and g = dPi/dq. Where L is not quadratic in qd, there are `lagrangian`, `momenta`,
    `mass_matrix`, `bias_force`, `energy`, `generalized_forces` and `equations_of_motion` alone.
    What is no polynomial in sines, cosines and symbols (exp, roots, quotients, conditions) is
    printed as it is. `entries(name)` gives the expressions of any quantity in `titles`.
    """

    titles = {name: title for name, (title, _) in QUANTITIES.items()}
    letters = {name: letter for name, (_, letter) in QUANTITIES.items()}
    programmed = ("mass_matrix", "bias_force", "generalized_forces")

    def __init__(
        self,
        system: LagrangianSystem,
        budget: int,
        digits: int,
        progress: Callable[[str, float], None] = silent,
        parameters: Sequence[str] = (),
    ):
        self.system = system
        progress("derivation", 0.0)
        with cast(Any, system.symbols["t"]).graph, without_collection():
            problem = SystemProblem(system, budget, parameters)
            super().__init__(system, problem, digits, progress)
            self.verifier  # noqa: B018  refuses a Lagrangian that has no finite values

    def _verifier(self) -> SystemVerifier:
        return SystemVerifier(self._problem)

    @property
    def _origin(self) -> tuple[Any, ...]:
        p = self._problem
        return SystemEquations, (self.system, p.budget, self.digits, silent, tuple(p.parameters))

    def _owner(self, quantity: str) -> ClosedForms:
        return self

    def _made(self, quantity: str) -> Sheet:
        return made(self._problem, self, quantity)

    def resting_force(self) -> np.ndarray:
        """h - Q with its dependence on qd: the joint forces that qdd = 0 needs."""
        return self.entries("bias_force") - self.entries("generalized_forces")

    @property
    def law(self) -> Any:  # type: ignore[override]
        """Those terms that are not zero."""
        shown = self.shown
        left = [part for name, part in LAW.items() if name in shown]
        return left, ("Q", "tau")["generalized_forces" not in shown :]

    @property
    def shown(self) -> tuple[str, ...]:
        """Quantities that are printed by default: those that are not zero, without symbols that are
        too long.
        """
        p = self._problem
        names = SHOWN if p.is_quadratic else SHOWN_OTHERWISE
        if "christoffel" in names and not p.why_no_christoffel:
            self.sheet("christoffel")
        return tuple(
            q
            for q in names
            if not (q == "christoffel" and (p.why_factored or p.why_no_christoffel))
            and any(f.terms for f in self.sheet(q).forms.flat)
        )


class SystemProblem:
    """What closed forms of a Lagrangian are made from: expressions of all quantities, and their
    normal forms.
    """

    def __init__(self, system: LagrangianSystem, budget: int, parameters: Sequence[str] = ()):
        self.system, self.budget = system, budget
        self.graph = cast(Any, system.symbols["t"]).graph
        self.names = tuple(
            tuple(x.name for x in cast(Any, system.symbols[key])) for key in ("q", "qd", "qdd")
        )
        made = [*self.graph.leaves["symbol"]]
        self.parameters = [*parameters] or sorted(
            system.parameters, key=made.index
        )  # as the user made them
        self.varying = {*(name for group in self.names for name in group), "t"}
        taken = {*self.varying, *self.parameters}
        q, qd, qdd = self.names
        rates = {
            name: (base, dots)
            for dots, group in ((1, qd), (2, qdd))
            for name, base in zip(group, q, strict=True)
        }
        self.motion, self.units = MotionNames(q, qd, qdd, rates, {}, {}), {"t": "s"}
        self.symbols = dict.fromkeys(self.parameters, "parameter") | {"t": "time"}
        self.values: dict[str, float] = {}
        self.groupings: dict[str, Sum] = {}
        self.group_prefix, self.part_prefix = (free_prefix(x, taken, LETTERS) for x in "kp")
        self.normal = Normal(dict(zip(("q", "qd", "qdd"), self.names, strict=True)))
        for name in self.parameters:
            self.normal.ring.variable(name)
        self.expressions = self._expressions()
        self.is_quadratic = "christoffel" in self.expressions
        self.why_factored = self.why_no_christoffel = ""

    @property
    def in_order(self) -> list[str]:
        """Parameters in the order in which factors are written."""
        return self.parameters

    def _expressions(self) -> dict[str, np.ndarray]:
        """Every quantity as an array of expressions; of L that is not quadratic in qd, those that
        there are.
        """
        system, known = self.system, self.system.quantities
        q, qd, qdd, t = (cast(Any, system.symbols[key]) for key in ("q", "qd", "qdd", "t"))
        found = {
            name: known[name].expressions
            for name in (
                "lagrangian",
                "mass_matrix",
                "momenta",
                "energy",
                "bias_force",
                "generalized_forces",
            )
        }
        M, L, p = found["mass_matrix"], found["lagrangian"], found["momenta"]
        found["equations_of_motion"] = known["inverse_dynamics"].expressions
        try:
            c, C, N = (
                system.christoffel_symbols(q, t),
                system.coriolis_matrix(q, qd, t),
                system.gyroscopic_matrix(q, t),
            )
        except DalembertError as error:
            self.why_not = error
        else:
            at_rest = {x: 0 for x in qd}
            b, potential = np.asarray(substitute(p, at_rest)), 0 - substitute(L, at_rest)
            found |= {
                "christoffel": c,
                "coriolis_matrix": C,
                "coriolis_vector": C @ qd,
                "gyroscopic_matrix": N,
                "linear_terms": b,
                "time_terms": np.asarray(derivative(M, t)) @ qd + np.asarray(derivative(b, t)),
                "kinetic_energy": qd @ (M @ qd) * Fraction(1, 2),
                "potential_energy": potential,
                "gravity_vector": gradient(potential, q),
                "equations_of_motion": M @ qdd + found["bias_force"] - found["generalized_forces"],
            }
        return {name: np.asarray(x, dtype=object) for name, x in found.items()}

    def _polynomials(self, quantity: str) -> list[Any]:
        return [self.normal.scalar(x) for x in self.expressions[quantity].flat]

    def forms(self, quantity: str) -> np.ndarray:
        """Entries of a quantity in normal form.

        Raises
        ------
        TooLarge
        """
        entries = self.expressions[quantity]
        return object_array(self.normal.forms(entries.flat, quantity in BY_RATES), entries.shape)


def made(p: SystemProblem, eom: SystemEquations, quantity: str) -> Sheet:
    """The sheet of a quantity: in normal form, or factored where that is too long."""
    if quantity == "accelerations":
        return accelerations.made(eom, p.normal, [(-1, "bias_force"), (1, "generalized_forces")])
    if quantity not in p.expressions:
        raise p.why_not
    if quantity != "mass_matrix":
        eom.sheet("mass_matrix")  # its length decides about all quantities
    why = p.why_factored or (p.why_no_christoffel if quantity == "christoffel" else "")
    if not why:
        try:
            sheet = eom.in_full(quantity, p.forms(quantity))
            size, most = (
                eom.length(sheet),
                p.budget * (CHRISTOFFEL if quantity == "christoffel" else 1),
            )
            if size <= most:
                return sheet
            why = f"the {eom.titles[quantity].lower()} have {sheet.terms} terms, {size} characters in full"
        except TooLarge as error:
            why = str(error).rstrip(".")
        if quantity == "mass_matrix":
            p.why_factored = why
        if quantity == "christoffel":
            p.why_no_christoffel = why
    return eom.factored(quantity, p.expressions[quantity], why)


class SystemVerifier(Verifier):
    """Verifier of a Lagrangian's forms; parameters have random values."""

    def __init__(self, p: SystemProblem):
        super().__init__()
        self.system, self.dynamics, n = p.system, compile(p.system), p.system.nq
        rng = np.random.default_rng(SEED)
        names = [name for group in p.names for name in group]
        values = {
            name: float(x)
            for name, x in zip(p.parameters, rng.uniform(0.3, 1.7, len(p.parameters)), strict=True)
        }
        for lower in (-1.5, 0.1):  # roots and logarithms may need what is positive
            columns = rng.uniform(lower, 1.5, (3 * n + 1, TRIED))
            point = values | dict(zip((*names, "t"), columns, strict=True))
            everything = evaluate([x for a in p.expressions.values() for x in a.flat], point)
            finite = np.isfinite(np.broadcast_to(everything, (TRIED, everything.shape[-1]))).all(
                axis=1
            )
            good = np.flatnonzero(finite)[:STATES]
            if len(good) == STATES:
                break
        else:
            raise DalembertError(
                f"the Lagrangian of {p.system.name!r} or its derivatives are not finite at random "
                "states (coordinates, velocities and parameters of 0.1 to 1.7): nothing can be "
                "verified."
            )
        columns = columns[:, good]
        self.point: dict[str, Any] = values | dict(zip((*names, "t"), columns, strict=True))
        self.q, self.qd, self.qdd, self.t = (
            columns[:n].T,
            columns[n : 2 * n].T,
            columns[2 * n : 3 * n].T,
            columns[-1],
        )
        self.is_quadratic, self.expressions = p.is_quadratic, p.expressions

    @cached_property
    def sizes(self) -> dict[str, float]:
        """Sizes of the terms of the system's expressions; parts of the bias and of L are
        differences of these.
        """
        whole = {
            name: size_of_terms(x.flat, self.point)
            for name, x in self.expressions.items()
            if name in DIRECT
        }
        energies = ("kinetic_energy", "potential_energy", "energy")
        return {
            name: whole.get(name) or whole["lagrangian" if name in energies else "bias_force"]
            for name in QUANTITIES
        }

    def compare(self, quantity: str, expressions: np.ndarray) -> None:
        """The same; accelerations are those of compiled mass matrix and forces."""
        if quantity == "accelerations":
            force = self.tau + self.right["generalized_forces"] - self.right["bias_force"]
            right = np.linalg.solve(self.right["mass_matrix"], force[..., None])[..., 0]
            return self.check(quantity, self.evaluated(expressions), right)
        return super().compare(quantity, expressions)

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Quantities by compiled code. The bias is a polynomial of degree 2 in v: at +-v, at unit
        velocities and at rest it gives its parts; L and the momenta likewise.
        """
        n, v = self.system.nq, self.qd
        found = {
            name: self._at(name, v)
            for name in (
                "lagrangian",
                "mass_matrix",
                "momenta",
                "energy",
                "bias_force",
                "generalized_forces",
            )
        }
        M, bias = found["mass_matrix"], found["bias_force"]
        found["equations_of_motion"] = (
            np.einsum("nij,nj->ni", M, self.qdd) + bias - found["generalized_forces"]
        )
        if not self.is_quadratic:
            return found
        zero = np.zeros_like(v)
        at_rest, b, L0 = (self._at(name, zero) for name in ("bias_force", "momenta", "lagrangian"))
        g = self._potential_forces()

        def even(v: np.ndarray) -> np.ndarray:  # h(v), quadratic
            return (self._at("bias_force", v) + self._at("bias_force", -v)) / 2 - at_rest

        units = [np.broadcast_to(e, v.shape) for e in np.eye(n)]
        c = np.array(
            [[(even(a + b) - even(a) - even(b)) / 2 for b in units] for a in units]
        ).transpose(2, 0, 1, 3)
        A = (
            np.array(
                [self._at("bias_force", e) - self._at("bias_force", -e) for e in units]
            ).transpose(1, 2, 0)
            / 2
        )
        rates = (A + A.transpose(0, 2, 1)) / 2  # A = N + dM/dt
        return found | {
            "christoffel": c,
            "coriolis_matrix": np.einsum("nijk,ni->nkj", c, v),
            "coriolis_vector": even(v),
            "linear_terms": b,
            "gyroscopic_matrix": (A - A.transpose(0, 2, 1)) / 2,
            "gravity_vector": g,
            "potential_energy": -L0,
            "kinetic_energy": found["lagrangian"] - np.einsum("ni,ni->n", b, v) - L0,
            "time_terms": np.einsum("nij,nj->ni", rates, v) + at_rest - g,
        }

    def _potential_forces(self) -> np.ndarray:
        """The bias of L at rest, as a Lagrangian of its own."""
        system, zeros = self.system, np.zeros(self.system.nq, dtype=object)
        q, qd, t = (cast(Any, system.symbols[key]) for key in ("q", "qd", "t"))
        potential = substitute(system.quantities["lagrangian"].expressions, {x: 0 for x in qd})
        resting = LagrangianSystem("potential", system.coordinate_names, potential, zeros, q, qd, t)
        return self._at("bias_force", np.zeros_like(self.q), compile(resting))

    def linearized(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Mass matrix, A, B and joint forces of the linear model at rest: differences of order six
        of compiled forces.
        """
        zero = np.zeros_like(q)

        def force(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
            return self._at("bias_force", qd, q=q) - self._at("generalized_forces", qd, q=q)

        steps = [(k, weight / (60 * STEP)) for k, weight in ((1, 45), (2, -9), (3, 1))]
        units = np.eye(q.shape[1]) * STEP

        def slope(step: np.ndarray, of_rates: bool) -> Any:
            states = [
                ((q, zero + k * step) if of_rates else (q + k * step, zero), weight)
                for k, weight in steps
            ]
            back = [
                ((q, zero - k * step) if of_rates else (q - k * step, zero), -weight)
                for k, weight in steps
            ]
            return sum(weight * force(*state) for state, weight in (*states, *back))

        K, D = (
            np.stack([slope(step, of_rates) for step in units], axis=-1)
            for of_rates in (False, True)
        )
        M, one = self._at("mass_matrix", zero, q=q), np.broadcast_to(np.eye(q.shape[1]), K.shape)
        A = np.block([[np.zeros_like(K), one], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
        return M, A, np.concatenate([np.zeros_like(K), np.linalg.inv(M)], axis=1), force(q, zero)

    def _at(
        self,
        name: str,
        qd: np.ndarray,
        dynamics: SystemDynamics | None = None,
        q: np.ndarray | None = None,
    ) -> np.ndarray:
        """A compiled quantity at the states, with other velocities, or coordinates."""
        dynamics = dynamics or self.dynamics
        named: dict[str, Any] = {"q": self.q if q is None else q, "qd": qd, "t": self.t}
        if dynamics.system.parameters:
            named["parameters"] = np.array([self.point[x] for x in dynamics.system.parameters])
        return np.asarray(getattr(dynamics, name)(**named))
