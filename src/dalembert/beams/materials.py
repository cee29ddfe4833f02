"""Materials of beams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dalembert.arguments import check_choice
from dalembert.errors import ModelError
from dalembert.expr import Expr


@dataclass(frozen=True)
class Material:
    """Elastic material.

    Parameters
    ----------
    E : number
        Young's modulus [Pa].
    rho : number
        Density [kg/m^3].
    nu : number, optional
        Poisson's ratio, of an isotropic material: G = E / (2 (1 + nu)).
    G : number, optional
        Shear modulus [Pa], in place of nu. Without both a beam of the material cannot twist.

    Raises
    ------
    ModelError
        A modulus or the density is not positive, nu is not between -1 and 1/2, or nu and G are both
        given.

    Examples
    --------
    >>> import dalembert as da
    >>> da.beams.Material(E=70e9, rho=2700, nu=0.25).G
    28000000000.0
    """

    E: Any
    rho: Any
    nu: Any = None
    G: Any = None

    def __post_init__(self) -> None:
        if self.nu is not None:
            if self.G is not None:
                raise ModelError("a material has nu and G; give one of them.")
            if not isinstance(self.nu, Expr) and not -1 < self.nu < 0.5:
                raise ModelError(
                    f"nu of a material is {self.nu:g}; give a number between -1 and 0.5."
                )
            object.__setattr__(self, "G", self.E / (2 * (1 + self.nu)))
        for name, unit in (("E", "Pa"), ("rho", "kg/m^3"), ("G", "Pa")):
            check_positive(f"{name} of a material", getattr(self, name), unit)


def check_positive(what: str, value: Any, unit: str) -> None:
    """Raise if a number is not positive; symbols and None pass.

    Raises
    ------
    ModelError
    """
    if value is None or isinstance(value, Expr):
        return
    if isinstance(value, bool) or not value > 0 or value == float("inf"):
        raise ModelError(f"{what} is {value!r} {unit}; give a positive number.")


# Usual values at room temperature; alloys differ by some percent.
MATERIALS = {
    "steel": Material(E=210e9, rho=7850, nu=0.3),
    "stainless steel": Material(E=193e9, rho=8000, nu=0.29),
    "aluminium": Material(E=70e9, rho=2700, nu=0.33),
    "titanium": Material(E=114e9, rho=4430, nu=0.34),
}


def material(name: str) -> Material:
    """Material of a name: 'steel', 'stainless steel', 'aluminium', 'titanium'; its numbers are shown.

    Parameters
    ----------
    name : str

    Returns
    -------
    Material

    Raises
    ------
    UnknownNameError
        There is none of that name.

    Examples
    --------
    >>> import dalembert as da
    >>> steel = da.beams.material("steel")
    >>> steel.E, steel.nu, steel.rho      # Pa, -, kg/m^3
    (210000000000.0, 0.3, 7850)
    """
    check_choice("material", name, tuple(MATERIALS))
    return MATERIALS[name]
