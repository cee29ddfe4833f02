"""Elastic parts of a mechanism: beams, their kinematics and forces, and drives behind springs."""
