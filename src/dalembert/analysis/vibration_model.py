"""Linear model of small vibrations about a state, and its modes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.displays import brief_repr
from dalembert.errors import (
    DalembertError,
    SingularMassMatrixError,
)
from dalembert.spatial.arrays import Array

ROUNDING = 1e-13  # of the shift, for each coordinate: squares of frequencies that are smaller are 0
MASSLESS = 1e-15  # least eigenvalue of the mass matrix, its diagonal scaled to 1
SKEW = 1e-12  # of the largest entry: gyroscopic terms that are smaller are rounding
CLEAR = 1 - 1e-6  # of the largest entry of a mode: the first that is as large is positive


class UndampedModes(NamedTuple):
    """Natural vibrations: frequencies (..., m) [rad/s], ascending; vectors (..., n, m) of unit mass,
    a column each.
    """

    frequencies: Array
    vectors: Array


class DampedFrequencies(NamedTuple):
    """Eigenvalues of motions exp(s t), (..., 2 n) each, ascending in size, conjugates side by side.

    eigenvalues : s, complex [1/s]
    frequencies : |Im s| [rad/s]
    ratios : damping ratios -Re s / |s|, 1 of those that do not swing; 0 where s is 0

    Examples
    --------
    >>> import dalembert as da
    >>> swing = da.damped_frequencies(da.planar_chain(1), [-1.5707963267948966])
    >>> swing.frequencies.round(3), swing.ratios
    (array([3.836, 3.836]), array([0., 0.]))
    """

    eigenvalues: Array
    frequencies: Array
    ratios: Array


@dataclass(frozen=True, eq=False)
class VibrationModel:
    """Small motions x about a state, of the coordinates that are free:

        M x'' + (D + G) x' + K x = forces

    Attributes
    ----------
    names : names of the n free coordinates
    mass : M (n, n) or (N, n, n) [kg m^2, kg m, kg]
    damping : D, of joints and beams [N m s, N s, N s/m]
    gyroscopic : G, of the turning; skew where it is steady; 0 at rest
    stiffness : K, elastic and geometric [N m, N, N/m]
    entries : places of the free coordinates in qd

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.vibration_model(da.planar_chain(1), [-1.5707963267948966])
    >>> model.names, model.stiffness.round(3)
    (('q1',), array([[4.905]]))
    """

    __repr__ = brief_repr

    names: tuple[str, ...]
    mass: Array
    damping: Array
    gyroscopic: Array
    stiffness: Array
    entries: tuple[int, ...]

    @property
    def is_gyroscopic(self) -> bool:
        """Whether velocities couple but by damping, or the stiffness is not symmetric."""
        K, G = self.stiffness, self.gyroscopic
        turning = np.abs(G).max(initial=0.0) > SKEW * np.abs(self.mass).max(initial=0.0)
        skew = np.abs(K - np.swapaxes(K, -1, -2)).max(initial=0.0)
        return bool(turning or skew > SKEW * np.abs(K).max(initial=0.0))

    @cached_property
    def frequencies(self) -> Array:
        """Natural frequencies without damping, (n,) or (N, n) [rad/s], ascending.

        Raises
        ------
        DalembertError
            The state is unstable.
        """
        if self.is_gyroscopic:
            return self._turning_frequencies()
        flexibility, shift, _ = self._flexibility
        return self._roots(1 / np.linalg.eigvalsh(flexibility)[..., ::-1] - shift, shift)

    @cached_property
    def modes(self) -> UndampedModes:
        """Natural vibrations without damping and gyroscopic terms.

        Raises
        ------
        DalembertError
            The state is unstable, or gyroscopic terms make modes complex.
        """
        if self.is_gyroscopic:
            raise DalembertError(
                "gyroscopic terms make the modes complex: vibration_model(...).eigenvectors has "
                "them; modes are real at rest (qd=None)."
            )
        flexibility, shift, factor = self._flexibility
        values, vectors = (x[..., ::-1] for x in np.linalg.eigh(flexibility))
        frequencies = self._roots(1 / values - shift, shift)
        vectors = np.linalg.solve(np.swapaxes(factor, -1, -2), vectors)
        return UndampedModes(frequencies, _signed(vectors / np.sqrt(values)[..., None, :]))

    def damped(self) -> DampedFrequencies:
        """Eigenvalues with damping and gyroscopic terms.

        Examples
        --------
        >>> import dalembert as da
        >>> da.vibration_model(da.planar_chain(1), [-1.57]).damped().frequencies.round(2)
        array([3.84, 3.84])
        """
        s = np.linalg.eigvals(self.state_matrix(self.damping + self.gyroscopic)).astype(complex)
        order = np.lexsort((-s.imag, np.round(np.abs(s), 12), np.zeros(s.shape)))
        s = np.take_along_axis(s, order, axis=-1)
        size = np.abs(s)
        ratios = np.divide(-s.real, size, out=np.zeros_like(size), where=size > 0)
        return DampedFrequencies(s, np.abs(s.imag), ratios + 0.0)

    def state_matrix(self, velocity_matrix: Array) -> Array:
        """A of (x, x')' = A (x, x') for a matrix of velocities (n, n) or (N, n, n): (2 n, 2 n) or
        (N, 2 n, 2 n).

        Examples
        --------
        >>> import dalembert as da
        >>> model = da.vibration_model(da.planar_chain(1), [-1.5707963267948966])
        >>> model.state_matrix(model.damping).round(3)
        array([[  0.   ,   1.   ],
               [-14.715,   0.   ]])
        """
        n = len(self.names)
        rows = self.mass.shape[:-2]
        A = np.zeros((*rows, 2 * n, 2 * n))
        A[..., :n, n:] = np.eye(n)
        A[..., n:, :n] = -np.linalg.solve(self.mass, self.stiffness)
        A[..., n:, n:] = -np.linalg.solve(self.mass, velocity_matrix) + 0.0
        return A

    @cached_property
    def _flexibility(self) -> tuple[Any, Any, Any]:
        """L^-1 M L^-T with L L^T = K + shift M, so that low frequencies have their digits: its
        eigenvalues are 1 / (w^2 + shift). With the shift (..., 1) and L.

        Raises
        ------
        SingularMassMatrixError, DalembertError
        """
        M, K = self.mass, self.stiffness
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = np.einsum("...kk->...k", K) / np.einsum("...kk->...k", M)
        usable = np.isfinite(squares) & (squares > 0)
        shift = np.where(usable, squares, np.inf).min(axis=-1, keepdims=True)
        shift = np.where(np.isfinite(shift), shift, 1.0)
        try:
            np.linalg.cholesky(M)
            factor = np.linalg.cholesky(K + shift[..., None] * M)
        except np.linalg.LinAlgError:
            raise self._fault() from None
        half = np.linalg.solve(factor, M)
        whole = np.linalg.solve(factor, np.swapaxes(half, -1, -2))
        return (whole + np.swapaxes(whole, -1, -2)) / 2, shift, factor

    def _fault(self) -> DalembertError:
        """The error of a mass that is not positive, or of an unstable state."""
        size = np.sqrt(np.abs(np.einsum("...kk->...k", self.mass)))
        size = np.where(size > 0, size, 1.0)
        scaled = self.mass / size[..., :, None] / size[..., None, :]
        values, vectors = np.linalg.eigh(scaled.reshape(-1, *scaled.shape[-2:]))
        row = int(np.argmin(values[:, 0]))
        if values[row, 0] <= MASSLESS:
            name = self.names[int(np.argmax(np.abs(vectors[row, :, 0])))]
            return SingularMassMatrixError(
                f"the mass matrix is singular (least eigenvalue {values[row, 0]:.3g}, scaled): a motion "
                f"mostly of {name!r} moves no mass. Give its body mass and inertia, or lock it.",
                joint=name,
                pivot=float(values[row, 0]),
            )
        s = np.linalg.eigvals(self.state_matrix(self.gyroscopic)).real
        at = np.unravel_index(int(np.argmax(s)), s.shape)
        return self._instability(float(s[at]), at[:-1])

    def _roots(self, squares: Any, shift: Any) -> Any:
        """Frequencies of their squares; rounding is 0.

        Raises
        ------
        DalembertError
        """
        squares = np.where(np.abs(squares) <= ROUNDING * len(self.names) * shift, 0.0, squares)
        if (squares < 0).any():
            at = np.unravel_index(int(np.argmin(squares)), squares.shape)
            raise self._instability(float(np.sqrt(-squares[at])), at[:-1])
        return np.sqrt(squares)

    def _turning_frequencies(self) -> Array:
        """|Im s| of each pair of eigenvalues without damping.

        Raises
        ------
        DalembertError
        """
        s = np.linalg.eigvals(self.state_matrix(self.gyroscopic))
        tolerance = SKEW * len(self.names) * np.abs(s).max(initial=0.0)
        if (s.real > tolerance).any():
            at = np.unravel_index(int(np.argmax(s.real)), s.shape)
            raise self._instability(float(s.real[at]), at[:-1])
        return np.sort(np.abs(s.imag), axis=-1)[..., ::2]  # type: ignore[no-any-return]

    def _instability(self, growth: float, row: tuple[Any, ...]) -> DalembertError:
        """The error of an unstable state."""
        of_row = f" in row {row[0]}" if row else ""
        return DalembertError(
            f"the state{of_row} is unstable: deviations grow as exp({growth:.4g} t), so that it has "
            "no natural frequency there. Lock joints that are held, or ask damped_frequencies."
        )


def _signed(vectors: Array) -> Array:
    """Modes (..., n, m) with signs: the first of their largest entries is positive."""
    size = np.abs(vectors)
    large = size >= CLEAR * size.max(axis=-2, keepdims=True, initial=0.0)
    first = np.argmax(large, axis=-2)[..., None, :]
    sign = np.sign(np.take_along_axis(vectors, first, axis=-2))
    return vectors * np.where(sign == 0, 1.0, sign)  # type: ignore[no-any-return]
