"""Runs that are written and drawn."""

from recorded import several, tree  # noqa: F401
