"""Diagrams, pages, films and pictures; importing the package gives mechanisms and runs their methods
that show something.
"""

from dalembert.displays import DISPLAYS
from dalembert.views.animation import animate
from dalembert.views.diagrams import plot
from dalembert.views.still import picture

DISPLAYS |= {"animate": animate, "plot": plot, "picture": picture}
