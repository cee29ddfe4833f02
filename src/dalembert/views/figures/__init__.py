"""A mechanism as points and lines: bodies, beams, constraints, a posture that shows it."""
