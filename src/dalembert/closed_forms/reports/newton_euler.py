"""The recursion of Newton and Euler: velocities and accelerations outward, forces inward, link by
link.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.sums import Name, Sum
from dalembert.closed_forms.printing.documents import markdown_text
from dalembert.closed_forms.reports.derivation_steps import DerivationSteps
from dalembert.expr import Expr
from dalembert.formulations import newton_euler
from dalembert.formulations.newton_euler.body_rates import (
    Rates,
    acceleration_field,
    base_rates,
    body_wrench,
    outward_step,
)
from dalembert.formulations.newton_euler.inverse import joint_motion
from dalembert.kinematics.forces import passive
from dalembert.spatial.motion_force import Force
from dalembert.spatial.vectors import Vector

OUTWARD = (
    r"$$\omega_i = R_i^T \omega_p + a_i \dot q_i, \qquad \dot\omega_i = R_i^T \dot\omega_p + R_i^T "
    r"\omega_p \times a_i \dot q_i + a_i \ddot q_i, \qquad a_{o,i} = R_i^T \left(a_{o,p} + U_p\, r_i\right), "
    r"\qquad U = [\dot\omega]_\times + [\omega]_\times^2$$"
)
INWARD = (
    r"$$f_i = m_i a_{o,i} + U_i\, m_i c_i + \sum_j R_j f_j, \qquad n_i = I_i \dot\omega_i + \omega_i "
    r"\times I_i \omega_i + m_i c_i \times a_{o,i} + \sum_j \left(R_j n_j + r_j \times R_j f_j\right)$$"
)
CLOSED_FORMS = {
    "mass_matrix": "the mass matrix",
    "coriolis_vector": "Coriolis forces",
    "gravity_vector": "gravity",
}


def write(steps: DerivationSteps) -> None:
    """The report, a section per pass with a part per link; then the closed forms."""
    recursion = _Recursion(steps)
    steps.section(
        "Outward: velocities and accelerations",
        "In the axes of each link, from its parent $p$ (sliding "
        r"joints add $a_i \dot q_i$, $a_i \ddot q_i$ and their Coriolis terms to $a_{o,i}$, the acceleration of "
        "the link's origin):",
        OUTWARD,
        "Gravity enters as an acceleration of the base upward. Components that "
        "are not listed are zero.",
    )
    for i in recursion.tree.outward():
        recursion.outward(i)
    steps.section(
        "Inward: forces",
        "What the joint of link $i$ carries: the force $f_i$, and the moment $n_i$ about the "
        "link's origin; $j$ runs over the links that hang on it.",
        INWARD,
    )
    if steps.context.grouped:
        steps.text(
            "With base parameters the forces along the joint axes are those of the mechanism; the "
            "reactions across them are not, as mass has moved to the parent."
        )
    recursion.begin_inward()
    for i in recursion.tree.inward():
        recursion.inward(i)
    steps.section(
        "Joint forces", "The part of these along each joint's motion, rotors, springs and friction:"
    )
    right = newton_euler.inverse_dynamics(steps.verifier.mechanism, **steps.states)
    steps.entries(r"\tau", recursion.joint_forces(), right)
    for quantity, title in CLOSED_FORMS.items():
        steps.section(f"Closed form: {title}")
        if quantity == "coriolis_vector" and "christoffel" in steps.eom.shown:
            steps.sheet("christoffel")
        steps.sheet(quantity)
    steps.equations()


class _Recursion:
    """The recursion on symbols, each step beside the same step on numbers (`right`)."""

    def __init__(self, steps: DerivationSteps):
        self.steps = steps
        symbols = {"q": steps.q, "qd": steps.qd, "qdd": steps.qdd}
        self.tree, self.state, _ = steps.mechanism.at(**symbols)
        self.right_tree, self.right_state, _ = steps.numbers.at(**steps.states)
        self.rates = {0: base_rates(self.tree.gravity)}
        self.right_rates = {0: base_rates(self.right_tree.gravity)}
        self.X: dict[int, Any] = {}
        self.S: dict[int, Any] = {}
        self.right_X: dict[int, Any] = {}
        self.tau: list[Any] = [0] * self.tree.nv

    def outward(self, i: int) -> None:
        """Print velocity and acceleration of a link."""
        joint = self.tree.joint[i]
        parent = self.tree.parent[i]
        on = f"link {parent}" if parent else "the base"
        self.steps.text(
            f"**Link {i}** ({markdown_text(joint.body)}), on {on} by joint "
            f"{markdown_text(joint.name)} ({joint.type.name}):"
        )
        self.X[i] = joint.placement(self.state[0])
        self.right_X[i] = self.right_tree.joint[i].placement(self.right_state[0])
        self.S[i], *motion = joint_motion(self.tree, i, *self.state)
        _, *right_motion = joint_motion(self.right_tree, i, *self.right_state)
        rates = outward_step(self.rates[parent], self.X[i], *motion)
        right = outward_step(self.right_rates[parent], self.right_X[i], *right_motion)
        w = _named(self.steps, "omega_{}", i, rates.w, right.w)
        dw = _named(self.steps, "omega_{}_dot", i, rates.dw, right.dw)
        a = _named(self.steps, "a_{}", i, rates.a, right.a)
        self.rates[i] = Rates(w, dw, a, acceleration_field(w, dw))
        self.right_rates[i] = right

    def begin_inward(self) -> None:
        """Find the forces on the bodies."""
        bodies = self.tree.inertia
        right_bodies = self.right_tree.inertia
        self.f = {i: body_wrench(bodies[i], self.rates[i]) for i in self.tree.outward()}
        self.right_f = {
            i: body_wrench(right_bodies[i], self.right_rates[i]) for i in self.tree.outward()
        }

    def inward(self, i: int) -> None:
        """Print force and moment that a joint carries, and give them to the parent."""
        f = self.f[i]
        right = self.right_f[i]
        self.steps.text(f"**Link {i}** ({markdown_text(self.tree.joint[i].body)}):")
        force = _named(self.steps, "f_{}", i, f.force, right.force)
        moment = _named(self.steps, "n_{}", i, f.moment, right.moment)
        f = Force(moment, force)
        for k, s in zip(self.tree.joint[i].dof, self.S[i], strict=True):
            self.tau[k] = self.tau[k] + f.dot(s)
        if j := self.tree.parent[i]:
            self.f[j] = self.f[j] + self.X[i].force_to_parent(f)
            self.right_f[j] = self.right_f[j] + self.right_X[i].force_to_parent(right)

    def joint_forces(self) -> np.ndarray:
        """Forces along the joints, with rotors, springs and friction."""
        q, qd, qdd = self.state
        forces = zip(self.tau, self.tree.rotor, qdd, passive(self.tree, q, qd), strict=True)
        total = [t + rotor * a - p for t, rotor, a, p in forces]
        return np.array([*total, None], dtype=object)[:-1]


def _named(steps: DerivationSteps, letter: str, i: int, vector: Vector, right: Vector) -> Vector:
    """Print the components of a vector that are more than a name, and give these names for what
    comes after.
    """
    components = []
    for axis, x, y in zip("xyz", vector, right, strict=True):
        if not isinstance(x, Expr):
            components.append(x)
            continue
        (form,) = steps.normal.forms([x])
        name = letter.format(f"{{{i}{axis}}}" if i > 9 else f"{i}{axis}")
        values = steps.values([form])[:, 0]
        steps.check(name, values, y)
        if _is_name(form):
            left = steps.target.name(steps.declare(name))
            symbol = x
        else:
            symbol = steps.new_symbol(name, values)
            left = steps.target.name(symbol.name)
        if form.terms:
            steps.formula(left, form)
        components.append(symbol if form.terms else 0)
    return Vector(components)


def _is_name(form: Sum) -> bool:
    """Whether a form is a name up to a number and a power."""
    factors = form.terms[0].factors if len(form.terms) == 1 else ()
    return len(factors) == 1 and isinstance(factors[0][0], Name)
