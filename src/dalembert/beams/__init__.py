"""Beams: shape functions of cross-sections, and integrals along them."""

from dalembert.beams.shape_functions import DIRECTIONS as DIRECTIONS
from dalembert.beams.shape_functions import ShapeFunctions as ShapeFunctions
from dalembert.beams.shape_polynomials import ShapePolynomials as ShapePolynomials
from dalembert.beams.shape_polynomials import legendre as legendre
