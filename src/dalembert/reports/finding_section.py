"""Findings of the check: severity, place, reason, and how to mend them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from dalembert.closed_forms.printing.markup import Markup, element, joined
from dalembert.model.findings import Finding
from dalembert.model.mechanism import Mechanism
from dalembert.reports.report_parts import Provenance, ReportSection, counted, paragraph

SEVERITIES = ("error", "warning", "note")


def finding_section(mechanism: Mechanism) -> ReportSection:
    """All findings about the mechanism and its file, the gravest first."""
    findings = sorted(mechanism.check(), key=lambda f: SEVERITIES.index(f.severity))
    counts = Counter(finding.severity for finding in findings)
    words = ", ".join(counted(counts[severity], severity) for severity in SEVERITIES)
    content = [paragraph(f"The check of the model found {words}.")]
    if findings:
        content.append(element("ul", *map(_item, findings), class_="findings"))
    provenance = Provenance("Findings", "mechanism.check(), as `dalembert check` prints them")
    is_sound = not counts["error"]
    return ReportSection(
        "findings", "Findings", joined(content), (provenance,), (f"check: {words}", is_sound)
    )


def _item(finding: Finding) -> Markup:
    """A finding with its severity in words, the place, and the remedy."""
    children = [
        element("strong", finding.severity, class_=f"severity {finding.severity}"),
        " ",
        element("b", finding.what),
        ": ",
        finding.why,
    ]
    if finding.fix:
        children += [" ", element("em", finding.fix)]
    if finding.source.file:
        # a page is passed on: folders of this machine are nobody else's matter
        source = replace(finding.source, file=Path(finding.source.file).name)
        children += [" ", element("code", str(source))]
    return element("li", *children)
