"""The recursion of Newton and Euler: velocities and accelerations outward, forces inward, link by
link.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.sums import Name
from dalembert.closed_forms.printing.documents import markdown_text
from dalembert.closed_forms.reports.derivation_steps import Steps
from dalembert.expr import Expr
from dalembert.formulations import newton_euler
from dalembert.formulations.newton_euler.inverse import (
    Rates,
    acceleration_field,
    base_rates,
    body_wrench,
    joint_motion,
    outward_step,
)
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


def write(steps: Steps) -> None:
    """One section per pass, one part per link; then the closed forms."""
    vectors = {"q": steps.q, "qd": steps.qd, "qdd": steps.qdd}
    tree, (q, qd, qdd), _ = steps.mechanism.at(**vectors)
    right, state, pack = steps.numbers.at(**steps.states)
    rates, true_rates = {0: base_rates(tree.gravity)}, {0: base_rates(right.gravity)}
    X, S, true_X = {}, {}, {}

    steps.section(
        "Outward: velocities and accelerations",
        "In the axes of each link, from its parent $p$ (sliding "
        r"joints add $a_i \dot q_i$, $a_i \ddot q_i$ and their Coriolis terms to $a_{o,i}$, the acceleration of "
        "the link's origin):",
        OUTWARD,
        "Gravity enters as an acceleration of the base upward. Components that "
        "are not listed are zero.",
    )
    for i in tree.outward():
        X[i], true_X[i] = tree.joint[i].placement(q), right.joint[i].placement(state[0])
        S[i], velocity, rate = joint_motion(tree, i, q, qd, qdd)
        true_rates[i] = outward_step(
            true_rates[tree.parent[i]], true_X[i], *joint_motion(right, i, *state)[1:]
        )
        joint, on = tree.joint[i], f"link {tree.parent[i]}" if tree.parent[i] else "the base"
        steps.text(
            f"**Link {i}** ({markdown_text(joint.body)}), on {on} by joint "
            f"{markdown_text(joint.name)} ({joint.type.name}):"
        )
        found = outward_step(rates[tree.parent[i]], X[i], velocity, rate)
        true = true_rates[i]
        w, dw, a = (
            _named(steps, letter, i, x, y)
            for letter, x, y in (
                ("omega_{}", found.w, true.w),
                ("omega_{}_dot", found.dw, true.dw),
                ("a_{}", found.a, true.a),
            )
        )
        rates[i] = Rates(w, dw, a, acceleration_field(w, dw))

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
    f = {i: body_wrench(tree.inertia[i], rates[i]) for i in tree.outward()}
    true_f = {i: body_wrench(right.inertia[i], true_rates[i]) for i in tree.outward()}
    tau: list[Any] = [0] * tree.nv
    for i in tree.inward():
        steps.text(f"**Link {i}** ({markdown_text(tree.joint[i].body)}):")
        force = _named(steps, "f_{}", i, f[i].force, true_f[i].force)
        moment = _named(steps, "n_{}", i, f[i].moment, true_f[i].moment)
        f[i] = Force(moment, force)
        for k, s in zip(tree.joint[i].dof, S[i], strict=True):
            tau[k] = tau[k] + f[i].dot(s)
        if j := tree.parent[i]:
            f[j] = f[j] + X[i].force_to_parent(f[i])
            true_f[j] = true_f[j] + true_X[i].force_to_parent(true_f[i])

    steps.section(
        "Joint forces", "The part of these along each joint's motion, rotors, springs and friction:"
    )
    total = [
        t + r * a - p for t, r, a, p in zip(tau, tree.rotor, qdd, passive(tree, q, qd), strict=True)
    ]
    wanted = newton_euler.inverse_dynamics(steps.verifier.mechanism, **steps.states)
    steps.entries(r"\tau", np.array([*total, None], dtype=object)[:-1], wanted)
    for quantity, title in (
        ("mass_matrix", "the mass matrix"),
        ("coriolis_vector", "Coriolis forces"),
        ("gravity_vector", "gravity"),
    ):
        steps.section(f"Closed form: {title}")
        if quantity == "coriolis_vector" and "christoffel" in steps.eom.shown:
            steps.sheet("christoffel")
        steps.sheet(quantity)
    steps.equations()


def _named(steps: Steps, letter: str, i: int, found: Vector, right: Vector) -> Vector:
    """Print the components of a vector that are more than a name, and give these names for what
    comes after.
    """
    components = []
    for axis, x, y in zip("xyz", found, right, strict=True):
        if not isinstance(x, Expr):
            components.append(x)
            continue
        (form,) = steps.normal.forms([x])
        name = letter.format(f"{{{i}{axis}}}" if i > 9 else f"{i}{axis}")
        values = steps.values([form])[:, 0]
        steps.check(name, values, y)
        if (
            len(form.terms) == 1
            and len(form.terms[0].factors) == 1
            and isinstance(form.terms[0].factors[0][0], Name)
        ):
            left, made = steps.target.name(steps.declare(name)), x
        else:
            made = steps.new_symbol(name, values)
            left = steps.target.name(made.name)
        if form.terms:
            steps.formula(left, form)
        components.append(made if form.terms else 0)
    return Vector(components)
