"""Beams: shape functions, cross-sections and materials of elastic links, properties along them."""

from dalembert.beams.beam_properties import BeamProperty, pieces, tapered
from dalembert.beams.cross_sections import (
    CrossSection,
    Stress,
    box,
    i_profile,
    rectangle,
    round_bar,
    tube,
)
from dalembert.beams.eigenfunctions import (
    Eigenfunctions,
    clamped_clamped,
    clamped_free,
    clamped_loaded,
    pinned_pinned,
)
from dalembert.beams.finite_elements import ElementFunctions, hermite
from dalembert.beams.joined_functions import (
    JoinedFunctions,
    UserFunctions,
    craig_bampton,
    functions,
    joined,
)
from dalembert.beams.materials import Material, material
from dalembert.beams.shape_functions import DIRECTIONS as DIRECTIONS
from dalembert.beams.shape_functions import ShapeFunctions
from dalembert.beams.shape_polynomials import ShapePolynomials, legendre

__all__ = [
    "CrossSection",
    "Eigenfunctions",
    "ElementFunctions",
    "JoinedFunctions",
    "Material",
    "ShapeFunctions",
    "ShapePolynomials",
    "Stress",
    "UserFunctions",
    "BeamProperty",
    "box",
    "clamped_clamped",
    "clamped_free",
    "clamped_loaded",
    "craig_bampton",
    "functions",
    "hermite",
    "i_profile",
    "joined",
    "legendre",
    "material",
    "pieces",
    "pinned_pinned",
    "rectangle",
    "round_bar",
    "tapered",
    "tube",
]


def __dir__() -> list[str]:
    return list(__all__)
