"""Code of simulations is compiled quickly."""

from recorded import simulations_compile_quickly  # noqa: F401
