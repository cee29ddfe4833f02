"""Runs that are written and drawn."""

from recorded import several, simulations_compile_quickly, tree  # noqa: F401
