"""The page of a report: head, picture, sections, and how each number was obtained."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from dalembert import __version__
from dalembert.closed_forms.printing.markup import Markup, element, html_text, joined
from dalembert.closed_forms.printing.number_text import number, numbers
from dalembert.closed_forms.printing.style import PAGE, SCREEN_STYLE
from dalembert.displays import shortened
from dalembert.errors import DalembertError
from dalembert.model.mechanism import Mechanism
from dalembert.reports.film import FILM_STYLE
from dalembert.reports.report_parts import (
    LONGEST,
    Provenance,
    ReportColumn,
    ReportSection,
    counted,
    list_of_facts,
    note,
    table,
    verdict,
)
from dalembert.reports.report_style import REPORT_STYLE
from dalembert.views.pictures.still import picture_svg

PICTURE = 520.0  # width of the picture [pixels]
MOST_BODIES = 300  # in a picture


def page(mechanism: Mechanism, sections: Sequence[ReportSection], seed: int) -> str:
    """The whole page as text."""
    closing = _provenance_section(sections, seed)
    every = [*sections, closing]
    links = [element("a", s.title, href=f"#{s.key}") for s in every]
    body = element(
        "main",
        _head(mechanism, sections),
        element("nav", joined(links, " "), aria_label="Contents"),
        joined(map(_section, every), "\n"),
    )
    title = html_text(f"Report on {mechanism.name}")
    style = SCREEN_STYLE + REPORT_STYLE + FILM_STYLE
    frame = PAGE.replace("@style@", style).replace("@title@", title)
    before, after = frame.split("@body@")
    return f"{before}{body}{after}"


def _section(section: ReportSection) -> Markup:
    heading = element("h2", section.title)
    return element("section", heading, Markup("\n"), section.content, id=section.key)


def _head(mechanism: Mechanism, sections: Sequence[ReportSection]) -> Markup:
    """Name, verdicts, picture and main facts."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    verdicts = [
        element("li", verdict(s.verdict[1], *(s.verdict[0],) * 2)) for s in sections if s.verdict
    ]
    text = element(
        "div",
        element("h1", shortened(mechanism.name, LONGEST)),
        note(f"Report of dalembert {__version__}, {today}"),
        element("ul", *verdicts, class_="verdicts"),
        list_of_facts(_facts(mechanism)),
        class_="words",
    )
    return element("header", text, _picture(mechanism))


def _picture(mechanism: Mechanism) -> Markup:
    """A picture of the mechanism, or why there is none."""
    if len(mechanism.bodies) > MOST_BODIES:
        return note(f"There is no picture of more than {MOST_BODIES} bodies.")
    try:
        svg = Markup(picture_svg(mechanism, None, PICTURE, True, standalone=False))
    except DalembertError as error:
        return note(f"There is no picture: {error}")
    caption = element("figcaption", "The mechanism in a posture within its limits.")
    return element("figure", svg, caption, class_="picture")


def _facts(m: Mechanism) -> list[tuple[str, str]]:
    """Counts and sums of the model."""
    tree = m.tree()
    mass = sum(tree.inertia[i].m for i in tree.outward())
    followers = sum(joint.mimic is not None for joint in m.joints)
    facts = [
        ("coordinates, velocities", f"{m.nq}, {m.nv}"),
        ("bodies", str(len(m.bodies))),
        ("joints", f"{len(m.joints)}, {len(m.independent_joints)} of them independent"),
        ("moving mass", f"{number(mass)} kg"),
        ("gravity", f"{numbers(m.gravity)} m/s²"),
    ]
    if followers:
        facts.append(("followers", counted(followers, "joint")))
    if m.constraints:
        facts.append(("constraints", str(len(m.constraints))))
    if m.elastic_bodies:
        facts.append(("elastic links", str(len(m.elastic_bodies))))
    if m.actuators:
        facts.append(("actuators", str(len(m.actuators))))
    if m.symbols:
        facts.append(("symbols", ", ".join(sorted(map(str, m.symbols)))))
    if m.file:
        facts.append(("file", Path(m.file).name))
    return facts


def _provenance_section(sections: Sequence[ReportSection], seed: int) -> ReportSection:
    """How each number was obtained."""
    rows = [row for section in sections for row in section.provenance]
    columns = [
        ReportColumn("numbers", lambda r: r.numbers),
        ReportColumn("how they were obtained", lambda r: r.method),
        ReportColumn("took", _seconds, True),
    ]
    content = [
        table("Methods, tolerances and times", columns, rows),
        note(
            f"dalembert {__version__}; random numbers by numpy.random.default_rng({seed}). Nothing "
            "on this page is loaded from elsewhere, and it needs no scripts."
        ),
    ]
    return ReportSection("methods", "How each number was obtained", joined(content, "\n"))


def _seconds(row: Provenance) -> str:
    return "" if row.seconds is None else f"{row.seconds:.1f} s"
