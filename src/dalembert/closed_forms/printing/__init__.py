"""Closed forms as text, LaTeX, MathML, Python and documents: names, notation and layout."""
