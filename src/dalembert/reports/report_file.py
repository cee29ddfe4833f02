"""`report`: the page about a mechanism, written to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.arguments import check_function, check_instance, path_of
from dalembert.closed_forms.quantities.verified_forms import ClosedForms
from dalembert.errors import ShapeError, UnknownNameError
from dalembert.model.mechanism import Mechanism
from dalembert.reports.equation_section import equation_section
from dalembert.reports.finding_section import finding_section
from dalembert.reports.model_section import model_section
from dalembert.reports.motion_section import motion_section
from dalembert.reports.property_section import property_section
from dalembert.reports.report_page import page
from dalembert.reports.report_parts import ReportSection
from dalembert.reports.speed_section import speed_section
from dalembert.whole_files import whole_file

SECTIONS = ("model", "findings", "equations", "properties", "motion", "speed")
SEED = 1743  # of random states: the year of d'Alembert's treatise
LONGEST_DURATION = 1000.0  # s
ENDINGS = (".html", ".htm")


def report(
    mechanism: Mechanism,
    file: Any,
    *,
    run: Any = None,
    q: Any = None,
    t: float | None = None,
    equations: bool | ClosedForms = True,
    without: str | Iterable[str] = (),
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Write a report on a mechanism as an HTML page that needs neither a network nor scripts.

    It has a picture and tables of the model, findings of its check, the equations of motion,
    properties checked with residuals, a simulated motion, speeds of the generated code, and how each number
    was obtained. A part that cannot be had, as a motion of a mechanism with symbols, says why.

    Parameters
    ----------
    mechanism : Mechanism
    file : path
        Name of the page, ending in .html.
    run : Run, optional
        A run of one trajectory to show in place of an example.
    q : (nq,) array, optional
        Coordinates at which the example of a motion begins [rad; m for prismatic joints].
    t : float, optional
        Duration of the example [s]; by default 4 s, of a mechanism on a free joint 0.6 s.
    equations : bool or ClosedForms
        Whether the closed forms are derived, or those to be shown, as `da.equations` gives them.
    without : str or sequence
        Sections that are left out: "model", "findings", "equations", "properties", "motion",
        "speed".
    progress : callable, optional
        Called with a text at each step.

    Returns
    -------
    Path

    Raises
    ------
    TypeError, ValueError, UnknownNameError
        An argument is of another kind; the name has another ending; there is no such section.
    ShapeError
        q has another length.

    Examples
    --------
    >>> import dalembert as da
    >>> da.report(da.planar_chain(1), "pendulum.html", without=["motion", "speed"]).name
    'pendulum.html'
    """
    check_instance("mechanism", mechanism, Mechanism, "a Mechanism, as da.load makes")
    path = path_of("file", file)
    if path.suffix.lower() not in ENDINGS:
        raise ValueError(f"{str(path)!r}: the name of a report ends in .html.")
    left_out = _left_out(without, equations)
    forms = equations if isinstance(equations, ClosedForms) else None
    start = None if q is None else _coordinates(mechanism, q)
    duration = _duration(t)
    show = progress if progress is not None else _silent
    check_function("progress", show, "(text)")
    makers: dict[str, Callable[[], ReportSection]] = {
        "model": partial(model_section, mechanism),
        "findings": partial(finding_section, mechanism),
        "equations": partial(equation_section, mechanism, forms, show),
        "properties": partial(property_section, mechanism, SEED),
        "motion": partial(motion_section, mechanism, run, start, duration),
        "speed": partial(speed_section, mechanism, SEED),
    }
    sections = []
    for name in SECTIONS:
        if name not in left_out:
            show(name)
            sections.append(makers[name]())
    text = page(mechanism, sections, SEED)
    with whole_file(path) as out:
        out.write(text)
    return path


def _silent(text: str) -> None:
    """Progress that nobody looks at."""


def _left_out(without: str | Iterable[str], equations: Any) -> set[str]:
    """Sections that are not wanted.

    Raises
    ------
    UnknownNameError, TypeError
    """
    names = [without] if isinstance(without, str) else list(without)
    for name in names:
        if name not in SECTIONS:
            raise UnknownNameError("section", str(name), SECTIONS)
    check_instance("equations", equations, (bool, ClosedForms), "True, False or da.equations(...)")
    return {*names, *(() if equations is not False else ("equations",))}


def _coordinates(mechanism: Mechanism, q: Any) -> np.ndarray:
    """Coordinates of one configuration, checked as everywhere.

    Raises
    ------
    ShapeError, QuaternionError
    """
    mechanism.at(q=q)
    values = np.asarray(q, dtype=float)
    if values.ndim != 1:
        raise ShapeError("expected one configuration.", "q", values.shape, (mechanism.nq,))
    return values


def _duration(t: Any) -> float | None:
    """The duration, if one is given.

    Raises
    ------
    ValueError
    """
    if t is None:
        return None
    is_number = isinstance(t, (int, float, np.number)) and not isinstance(t, bool)
    if not is_number or not 0 < t <= LONGEST_DURATION:
        raise ValueError(f"t={t!r}: expected seconds above 0, at most {LONGEST_DURATION:g}.")
    return float(t)
