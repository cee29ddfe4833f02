"""Simulation: a mechanism, its forces and an integrator put together."""
