"""The equations of motion of a system as polynomials or expressions, in symbols of its numbers."""
