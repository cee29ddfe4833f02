"""Integrators of x' = f(t, x): a method per file, each written once over any scalar, so that it
also compiles.
"""

from dalembert.integrators.method_kinds import Adaptive, Constrained, External, FixedStep, Method
from dalembert.integrators.methods import METHODS, REASONS, method
from dalembert.integrators.plain import Record, records

__all__ = [
    "METHODS",
    "REASONS",
    "Adaptive",
    "Constrained",
    "External",
    "FixedStep",
    "Method",
    "Record",
    "method",
    "records",
]
