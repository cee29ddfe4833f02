"""Structural damping of beams, as data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.errors import ModelError
from dalembert.model.numbered import Numbered, numbers_as_text
from dalembert.model.numbers import Converter, Number, as_float, checked, is_symbolic

Rows = list[list[Any]]


class BeamDamping(Numbered):
    """Damping of a beam: forces -D times the rates of its coordinates."""

    is_modal = False  # whether modes of the whole beam, in numbers, make it

    @property
    def retardation(self) -> Number:
        """Time of the law of Kelvin and Voigt [s]: a stress is E (strain + retardation strain rate)."""
        return 0

    @abstractmethod
    def matrix(self, mass: Rows, stiffness: Rows, convert: Converter) -> Rows:
        """D from the mass and stiffness matrix of the clamped beam, in one direction.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Rayleigh(stiffness=0.1).matrix([[2.0]], [[30.0]], float)
        [[3.0]]
        """


@dataclass(frozen=True)
class Rayleigh(BeamDamping):
    """Damping of a beam in proportion to its mass and stiffness: D = mass M + stiffness K.

    mass [1/s]; stiffness [s]: alone it is the law of Kelvin and Voigt, with a stress E (strain +
    stiffness strain rate), as `Rayleigh.kelvin_voigt(2e-4)`. A mode of the circular frequency w has
    the damping ratio mass / (2 w) + stiffness w / 2.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Rayleigh(stiffness=2e-4).mass
    0
    """

    mass: Number = 0
    stiffness: Number = 0

    def __post_init__(self) -> None:
        for name in ("mass", "stiffness"):
            value = checked(getattr(self, name), f"{name} of a Rayleigh damping")
            refuse_negative(f"{name} of a Rayleigh damping", value)
            object.__setattr__(self, name, value)

    @classmethod
    def kelvin_voigt(cls, time: Number) -> Rayleigh:
        """Damping by a stress E (strain + time strain rate), time [s].

        Examples
        --------
        >>> import dalembert as da
        >>> da.Rayleigh.kelvin_voigt(2e-4) == da.Rayleigh(stiffness=2e-4)
        True
        """
        return cls(0, time)

    @property
    def retardation(self) -> Number:
        """The factor of the stiffness [s]."""
        return self.stiffness

    def matrix(self, mass: Rows, stiffness: Rows, convert: Converter) -> Rows:
        """mass M + stiffness K.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Rayleigh(0.5, 0.1).matrix([[2.0]], [[30.0]], float)
        [[4.0]]
        """
        by_mass, by_stiffness = convert(self.mass), convert(self.stiffness)
        return [
            [m * by_mass + k * by_stiffness for m, k in zip(*rows, strict=True)]
            for rows in zip(mass, stiffness, strict=True)
        ]

    def numbers(self) -> dict[str, Number]:
        """damping_mass, damping_stiffness."""
        return {"damping_mass": self.mass, "damping_stiffness": self.stiffness}

    def with_numbers(self, numbers: Mapping[str, Number]) -> Rayleigh:
        """The damping with other numbers."""
        numbers = self.numbers() | dict(numbers)
        return Rayleigh(numbers["damping_mass"], numbers["damping_stiffness"])

    def identity(self) -> str | None:
        """Numbers as text; None for a class derived from it."""
        return f"rayleigh {numbers_as_text(self)}" if type(self) is Rayleigh else None


@dataclass(frozen=True)
class ModalDamping(BeamDamping):
    """Damping of a beam by one damping ratio of all modes of the clamped beam by itself:

        D = 2 ratio sum_k w_k M y_k (M y_k)^T,  K y_k = w_k^2 M y_k,  y_k^T M y_k = 1

    The beam's numbers are no symbols; the ratio [-] may be.

    Examples
    --------
    >>> import dalembert as da
    >>> da.ModalDamping(0.01).numbers()
    {'damping_ratio': 0.01}
    """

    ratio: Number
    is_modal = True

    def __post_init__(self) -> None:
        value = checked(self.ratio, "ratio of a modal damping")
        refuse_negative("ratio of a modal damping", value)
        object.__setattr__(self, "ratio", value)

    def matrix(self, mass: Rows, stiffness: Rows, convert: Converter) -> Rows:
        """The sum over the modes.

        Examples
        --------
        >>> import dalembert as da
        >>> da.ModalDamping(0.25).matrix([[2.0]], [[8.0]], float)       # 2 ratio sqrt(k m)
        [[2.0]]
        """
        L = np.linalg.cholesky(np.array(mass, dtype=float))
        left = np.linalg.solve(L, np.array(stiffness, dtype=float))
        squares, y = np.linalg.eigh(np.linalg.solve(L, left.T))
        unit = L @ (y * np.sqrt(np.maximum(squares, 0))) @ y.T @ L.T
        ratio = convert(self.ratio)
        return [[ratio * (2 * x) for x in row] for row in unit.tolist()]

    def numbers(self) -> dict[str, Number]:
        """damping_ratio."""
        return {"damping_ratio": self.ratio}

    def with_numbers(self, numbers: Mapping[str, Number]) -> ModalDamping:
        """The damping with another ratio."""
        return ModalDamping((self.numbers() | dict(numbers))["damping_ratio"])

    def identity(self) -> str | None:
        """The ratio as text; None for a class derived from it."""
        return f"modal {numbers_as_text(self)}" if type(self) is ModalDamping else None


def refuse_negative(name: str, value: Number) -> None:
    """Raise if a number is negative; symbols pass.

    Raises
    ------
    ModelError
    """
    if not is_symbolic(value) and as_float(value) < 0:
        raise ModelError(f"{name} is {as_float(value):g}; give 0 or a positive number.")
