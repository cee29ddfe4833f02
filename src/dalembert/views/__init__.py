"""Diagrams, pages, films and pictures; importing the package gives mechanisms and runs their methods
that show something.
"""

from dalembert.displays import DISPLAYS
from dalembert.views.diagrams.run_diagrams import plot
from dalembert.views.motions.animation import animate
from dalembert.views.notebooks import (
    equations_html,
    expression_latex,
    mechanism_html,
    run_html,
    sweep_html,
)
from dalembert.views.pictures.still import picture
from dalembert.views.viewer.viewed_runs import view_run

DISPLAYS |= {
    "animate": animate,
    "plot": plot,
    "picture": picture,
    "view": view_run,
    "mechanism_html": mechanism_html,
    "run_html": run_html,
    "sweep_html": sweep_html,
    "equations_html": equations_html,
    "expression_latex": expression_latex,
}
