"""Sweeps: a function, or the simulation of a mechanism, at many values of its parameters."""
