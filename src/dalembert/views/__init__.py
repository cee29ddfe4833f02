"""Diagrams, pages and films of runs; importing the package gives runs their methods that show
something.
"""

from dalembert.results.displays import DISPLAYS
from dalembert.views.animation import animate
from dalembert.views.diagrams import plot

DISPLAYS |= {"animate": animate, "plot": plot}
