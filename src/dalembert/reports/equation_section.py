"""The equations of motion in closed form, as far as they can be read, within bounds of time and length."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from dalembert.closed_forms.equations import Equations, equations
from dalembert.closed_forms.printing.documents import checked
from dalembert.closed_forms.printing.markup import Markup, element, joined
from dalembert.closed_forms.printing.notation import MATHML, PARENTHESES
from dalembert.closed_forms.printing.web_page import EquationWriter, section_of
from dalembert.closed_forms.quantities.verified_forms import ClosedForms
from dalembert.errors import DalembertError
from dalembert.model.mechanism import Mechanism
from dalembert.reports.report_parts import Provenance, ReportSection, note, paragraph

MOST_FREEDOMS = 12  # velocities beyond which closed forms are not derived here
MOST_SECONDS = 20.0  # of the derivation
LONGEST = 1_500_000  # characters of the section
TITLE, KEY = "Equations of motion", "equations"
Progress = Callable[[str], None]


class OutOfTimeError(DalembertError):
    """The derivation takes longer than a report may."""


def equation_section(
    mechanism: Mechanism, given: ClosedForms | None, progress: Progress
) -> ReportSection:
    """Closed forms of the mechanism, or those that are given; else why there are none."""
    if given is None and mechanism.nv > MOST_FREEDOMS:
        why = (
            f"With {mechanism.nv} velocities the closed forms are too long to read, and are not "
            "derived here; all numbers of this report come from recursive algorithms."
        )
        return _without(mechanism, why)
    start = time.perf_counter()
    try:
        eom = given if given is not None else _derived(mechanism, start, progress)
        content, size = _written(eom)
    except OutOfTimeError:
        why = f"The derivation took longer than {MOST_SECONDS:g} s and was given up."
        return _without(mechanism, why)
    except DalembertError as error:
        return _without(mechanism, f"Closed forms cannot be had: {error}")
    if size > LONGEST:
        return _without(mechanism, f"The closed forms are {size} characters of MathML long.")
    seconds = time.perf_counter() - start
    provenance = Provenance(
        "Equations of motion",
        f"da.equations: derived in symbols, compacted, printed; {checked(eom).lower().rstrip('.')}",
        seconds,
    )
    return ReportSection(KEY, TITLE, content, (provenance,))


def _derived(mechanism: Mechanism, start: float, progress: Progress) -> Equations:
    """Closed forms in the mechanism's symbols, or in its inertial parameters."""

    def watched(text: str, share: float) -> None:
        """Show what is derived; give up after a while."""
        progress(f"equations: {text}")
        if time.perf_counter() - start > MOST_SECONDS:
            raise OutOfTimeError("the time is up.")

    return equations(mechanism, progress=watched)


def _written(eom: ClosedForms) -> tuple[Markup, int]:
    """The law and a section for each quantity, and their length."""
    writer = EquationWriter(eom, eom.shown, "eq-")
    sections = writer.sections()
    links = [element("a", s.title, href=f"#{s.key}") for s in sections]
    parts = [
        writer.law(),
        note(checked(eom)),
        element("nav", joined(links, " "), aria_label="Contents of the equations"),
        *(section_of(section, "h3") for section in sections),
    ]
    content = joined(parts, "\n")
    return content, len(content)


def _law() -> Markup:
    """The equations of motion in letters."""
    q = "<mi>q</mi>"
    rate, second = (f"<mover>{q}<mo>{dots}</mo></mover>" for dots in "˙¨")
    left = f"<mi>M</mi>{PARENTHESES % q}{MATHML.times}{second}<mo>+</mo>"
    bias = f"<mi>h</mi>{PARENTHESES % (q + MATHML.comma + rate)}<mo>+</mo>"
    right = f"<mi>g</mi>{PARENTHESES % q}<mo>=</mo><mi>τ</mi>"
    formula = Markup(f"<math><mrow>{left}{bias}{right}</mrow></math>")
    spoken = "M(q) q_ddot + h(q, q_dot) + g(q) = tau"
    return element("div", formula, class_="eq law", role="group", aria_label=spoken)


def _without(mechanism: Mechanism, why: str) -> ReportSection:
    """The law of motion in words, why it is not written out, and how to have more."""
    name = Path(mechanism.file).name if mechanism.file else "FILE"
    content = [
        _law(),
        paragraph(why),
        paragraph(
            "Single quantities can be asked for: ",
            element("code", f"dalembert equations {name} --quantities gravity_vector"),
            ", or a part of the machine with the other joints locked: ",
            element("code", "da.equations(mechanism.lock([...]))"),
            "; da.report(..., equations=eom) takes them in.",
        ),
    ]
    provenance = Provenance("Equations of motion", "not derived: see there")
    return ReportSection(KEY, TITLE, joined(content, "\n"), (provenance,))
