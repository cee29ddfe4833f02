"""The derivation for one mechanism, step by step: placements, axes, energies, Christoffel symbols, equations of motion."""

from __future__ import annotations

from typing import Any

from dalembert.equations.documents import checked, printer
from dalembert.equations.naming import latex_name, latex_text
from dalembert.equations.printing import LatexPrinter
from dalembert.equations.sheets import printed_lines
from dalembert.spatial.vectors import AXES, ZERO, Matrix, Vector

ENTRIES = 40      # terms of a placement that is still written out


def report(eom: Any) -> str:
    """Markdown with LaTeX formulas: Lagrange's equations of the mechanism, one section per step."""
    target = printer(eom, LatexPrinter)
    lines = [f"# Derivation: the equations of motion of {_plain(eom.mechanism.name)}", "", checked_later(), ""]
    lines += ["## 1. Coordinates", "", _coordinates(eom), ""]
    lines += ["## 2. Placements of the links", "",
              "Rotation $R_i$ and origin $o_i$ of link $i$ in base axes, from the constant placements and the joints:", ""]
    lines += _placements(eom, target)
    lines += ["## 3. Velocities", "",
              "Unit velocities of the joints in base axes: $a_k$ is the axis that velocity $k$ turns about, $b_k$ the "
              "direction that it moves along. The velocity of a link is the sum of those of the joints below it.", ""]
    lines += _axes(eom, target)
    steps = [("4. Potential energy", r"$$\Pi = -\sum_i m_i\, g^T c_i, \qquad g_k = \partial \Pi / \partial q_k$$",
              ("potential_energy", "gravity_vector")),
             ("5. Kinetic energy and mass matrix",
              r"$$T = \tfrac12 \sum_i (m_i |v_i|^2 + \omega_i^T I_i \omega_i) = \tfrac12 \dot q^T M(q)\, \dot q$$",
              ("mass_matrix", "kinetic_energy")),
             ("6. Christoffel symbols",
              r"$$c_{ijk} = \tfrac12 \left(\frac{\partial M_{kj}}{\partial q_i} + \frac{\partial M_{ki}}{\partial q_j} - "
              r"\frac{\partial M_{ij}}{\partial q_k}\right), \qquad h_k = \sum_{i,j} c_{ijk}\, \dot q_i \dot q_j$$",
              ("christoffel", "coriolis_vector"))]
    for title, formula, quantities in steps:
        lines += [f"## {title}", "", formula, ""]
        for quantity in quantities:
            if quantity not in eom.shown:
                lines += [f"The {quantity} symbols are too long to print.", ""]
                continue
            sheet = eom.sheet(quantity)
            lines += [sheet.remark + ".", ""] if sheet.remark else []
            for left, terms in printed_lines(sheet, target):
                lines += [f"$${left} = {target.joined(terms) if terms else '0'}$$", ""]
    lines += ["## 7. Equations of motion", "", r"$$\sum_j M_{kj} \ddot q_j + h_k + g_k = \tau_k$$", ""]
    n = eom.mechanism.nv
    M, h, g = (eom.sheet(q).forms for q in ("mass_matrix", "coriolis_vector", "gravity_vector"))
    for k in range(n):
        parts = [f"{target.label('M', *sorted((k + 1, j + 1)))} \\, {latex_name(eom.accelerations[j])}" for j in range(n)
                 if M[k, j].terms]
        parts += [target.label("h", k + 1)] if h[k].terms else []
        parts += [target.label("g", k + 1)] if g[k].terms else []
        lines += [f"$${' + '.join(parts) or '0'} = {target.label(chr(92) + 'tau', k + 1)}$$", ""]
    if eom.groupings:
        lines += ["## Base parameters", ""]
        for name, form in eom.groupings.items():
            lines += [f"$${latex_name(name)} = {target.sum(form)}$$", ""]
    return "\n".join(lines).replace(checked_later(), checked(eom)) + "\n"


def checked_later() -> str:
    return "<checked>"


def _plain(text: str) -> str:
    return latex_text(text)


def _coordinates(eom: Any) -> str:
    pairs = zip(eom.coordinates, eom.mechanism.coordinate_names, strict=True)
    rows = [f"${latex_name(name)}$: {_plain(entry)}" for name, entry in pairs]
    return "; ".join(rows) + "."


def _poses(eom: Any) -> list[tuple[Vector, Any]]:
    """Origin of each link in base axes, and the rotation from its run's axes to the base's, as functions of vectors."""
    links = eom._problem.links
    poses: list[tuple[Vector, Any]] = [(ZERO, lambda v: v)]
    for link in links[1:]:
        origin, to_base = poses[link.parent]
        carried = to_base if link.carry is None else (lambda v, c=link.carry, b=to_base: b(c.to_parent(v)))
        poses.append((origin + to_base(link.shift), carried))
    return poses


def _placements(eom: Any, target: LatexPrinter) -> list[str]:
    if eom._problem.derived is None:
        return ["(not polynomial: " + eom.why_factored + ")", ""]
    lines = []
    for link, (origin, to_base) in zip(eom._problem.links, _poses(eom), strict=True):
        if not link.body:
            continue
        R = Matrix(to_base(link.to_run(axis)) for axis in AXES).T
        forms = [[eom._problem.writer.form(x) for x in row] for row in R]
        place = [eom._problem.writer.form(x) for x in origin]
        if sum(len(f) for row in forms for f in row) > ENTRIES:
            lines += [f"$R_{{{link.body}}}$, $o_{{{link.body}}}$: with the further turns, too long to print.", ""]
            continue
        rows = r" \\ ".join(" & ".join(target.sum(f) for f in row) for row in forms)
        column = r" \\ ".join(target.sum(f) for f in place)
        lines += [rf"$$R_{{{link.body}}} = \begin{{pmatrix}} {rows} \end{{pmatrix}}, \quad o_{{{link.body}}} = "
                  rf"\begin{{pmatrix}} {column} \end{{pmatrix}}$$", ""]
    return lines


def _axes(eom: Any, target: LatexPrinter) -> list[str]:
    if eom._problem.derived is None:
        return []
    lines = []
    for link, (_, to_base) in zip(eom._problem.links, _poses(eom), strict=True):
        for column in link.columns:
            for letter, vector in (("a", to_base(column.angular)), ("b", to_base(column.linear))):
                forms = [eom._problem.writer.form(x) for x in vector]
                if any(f.terms for f in forms):
                    text = r" \\ ".join(target.sum(f) for f in forms)
                    short = sum(map(len, forms)) <= ENTRIES
                    body = rf"\begin{{pmatrix}} {text} \end{{pmatrix}}" if short else r"\dots"
                    lines += [rf"$${letter}_{{{column.dof + 1}}} = {body}$$", ""]
    return lines
