"""Placements, velocities, Jacobians; external and passive forces as generalized forces."""
