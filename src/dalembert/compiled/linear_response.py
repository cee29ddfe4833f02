"""Frequency responses and state-space models of mechanisms about a state."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.analysis.ports import (
    InputPort,
    OutputPort,
    input_ports,
    output_ports,
    several_ports,
)
from dalembert.analysis.vibration_model import VibrationModel
from dalembert.arguments import (
    check_whole,
    path_of,
    real_array,
)
from dalembert.compiled.natural_vibrations import vibration_model
from dalembert.compiled.static_deflection import in_equilibrium
from dalembert.compiled.tangent_matrices import (
    checked_mechanism,
    full_coordinates,
)
from dalembert.displays import brief_repr
from dalembert.errors import (
    DalembertError,
    ShapeError,
)
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import (
    Array,
    Values,
)

SINGULAR = 1e-13  # least singular value over the largest of the dynamic stiffness, scaled
COMPARED = 400  # frequencies at which a reduced model is compared with the whole one
LOWEST = 1e-3  # of the band: the lowest of them
BETWEEN = 1.000123  # keeps compared frequencies off resonances of round numbers


@dataclass(frozen=True, eq=False)
class _Ports:
    """Inputs and outputs of a linear model, as columns and rows of its free coordinates."""

    inputs: list[InputPort]
    outputs: list[OutputPort]
    columns: Array  # (n, inputs)
    rows: Array  # (outputs, n)
    acceleration_rows: Array  # (outputs, n)
    feedthrough: Array  # (outputs, inputs)

    @property
    def rates(self) -> Array:
        """Orders of the derivatives of the outputs."""
        return np.array([port.rate for port in self.outputs])


def frequency_response(
    mechanism: Mechanism,
    q: Values,
    input: Any,
    output: Any,
    w: Values,
    locked: Any = (),
    qd: Values | None = None,
    equilibrium: bool = False,
) -> Any:
    """Frequency response H(w) of the linear model about a state: output amplitude over input amplitude,
    for the input e^(i w t).

        H(w) = (i w)^rate c (K + i w (D + G) - w^2 M)^-1 b

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) array, or {coordinate: number}
        Coordinates of one state [rad, m].
    input : str, or port, or a list of them
        The name of a joint: a force on it [N m, N]; `da.ports.PointForce`, `PointMoment`,
        `BaseMotion` [m/s^2].
    output : str, or port, or a list of them
        The name of a coordinate [rad, m]; `da.ports.FrameDisplacement`, `FrameRotation`,
        `BeamStrain`, `SectionMoment`, with `rate=` 1 or 2 for velocities and accelerations.
    w : number or (k,) array
        Frequencies [rad/s].
    locked : sequence of str, or 'all'
        Joints, elastic bodies or single velocities that are held.
    qd : (nv,) array, or {velocity: number}, optional
        Steady turning [rad/s, m/s].
    equilibrium : bool
        About the static equilibrium of elastic bodies, joints held at q, in place of q itself.

    Returns
    -------
    complex array
        () or (k,) of one input and one output; (k, outputs, inputs) of lists, in units of the output
        over that of the input.

    Raises
    ------
    DalembertError
        A frequency is that of an undamped vibration, or 0 of a free motion; everything is locked; the
        mechanism has constraints.
    TypeError, UnknownNameError
        A port is none; there is no such joint, frame or body.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(1).replace({"q1.viscous[0]": 0.2})
    >>> H = da.frequency_response(arm, [-1.5707963267948966], "q1", "q1", [0.0, 3.836])
    >>> abs(H).round(3)
    array([0.204, 1.303])
    """
    state = _state(mechanism, q, equilibrium)
    model = vibration_model(mechanism, state, locked, qd)
    ports = _ports(mechanism, state, model, input, output)
    frequencies = real_array("w", w)
    if frequencies.ndim > 1:
        raise ShapeError(f"w has shape {frequencies.shape}, expected () or (k,).", "w")
    H = _response(model, ports, np.atleast_1d(frequencies))
    if isinstance(input, (list, tuple)) or isinstance(output, (list, tuple)):
        return H
    return H[:, 0, 0] if frequencies.ndim else H[0, 0, 0]


def _state(mechanism: Mechanism, q: Any, equilibrium: bool) -> Array:
    """Coordinates (nq,) of the state.

    Raises
    ------
    ShapeError
    """
    checked_mechanism(mechanism, "has no linear model of vibrations")
    coordinates = full_coordinates(mechanism, q)
    if coordinates.ndim != 1:
        raise ShapeError(
            f"q has shape {coordinates.shape}: a linear model is of one state.",
            "q",
            coordinates.shape,
        )
    return in_equilibrium(mechanism, coordinates) if equilibrium else coordinates


def _ports(
    mechanism: Mechanism, q: Array, model: VibrationModel, inputs: Any, outputs: Any
) -> _Ports:
    free = list(model.entries)
    of_input = input_ports(inputs)
    of_output = output_ports(outputs)
    columns = np.stack([port.column(mechanism, q)[free] for port in of_input], axis=-1)
    rows = np.stack([port.row(mechanism, q)[free] for port in of_output])
    accelerations = np.stack([port.acceleration_row(mechanism, q)[free] for port in of_output])
    direct = [[port.feedthrough(mechanism, q, into) for into in of_input] for port in of_output]
    return _Ports(of_input, of_output, columns, rows, accelerations, np.array(direct))


def _response(model: VibrationModel, ports: _Ports, w: Array) -> Any:
    """H (k, outputs, inputs).

    Raises
    ------
    DalembertError
    """
    s = 1j * w[:, None, None]
    Z = model.stiffness + s * (model.damping + model.gyroscopic) + s**2 * model.mass
    scale = np.sqrt(np.diag(model.mass))
    inner = scale[:, None] * scale
    values = np.linalg.svd(Z / inner, compute_uv=False)
    size = np.abs(model.stiffness / inner).max() + w**2
    lost = values[:, -1] <= SINGULAR * size
    if lost.any():
        at = float(w[np.argmax(lost)])
        why = "a motion that nothing holds" if at == 0 else "an undamped vibration"
        raise DalembertError(
            f"the response at w = {at:g} rad/s has no bound: it is the frequency of {why}. Take another "
            "frequency, lock a joint, or give damping."
        )
    x = np.linalg.solve(Z, np.broadcast_to(ports.columns, (len(w), *ports.columns.shape)))
    y = ports.rows @ x + s**2 * (ports.acceleration_rows @ x) + ports.feedthrough
    return s ** ports.rates[:, None] * y


@dataclass(frozen=True, eq=False)
class StateSpaceModel:
    """Linear model x' = A x + B u, y = C x + D u about a state; see `state_space`.

    Attributes
    ----------
    A (2 m, 2 m), B (2 m, inputs), C (outputs, 2 m), D (outputs, inputs)
        In SI units; x are m coordinates, or modal ones of unit mass, then their rates.
    inputs, outputs : names
    input_units, output_units : units
    frequencies : natural frequencies of the modes that are kept, (m,) [rad/s]; of a whole model all
    band : highest frequency of the comparison [rad/s]; 0 of a whole model
    error : largest |H_reduced - H| up to the band (outputs, inputs), measured; 0 of a whole model
    relative_error : the same over the largest |H| there

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.state_space(da.planar_chain(1), [-1.5707963267948966], "q1", "q1")
    >>> model.A.round(3), model.B.round(3).T
    (array([[  0.   ,   1.   ],
           [-14.715,   0.   ]]), array([[0., 3.]]))
    """

    __repr__ = brief_repr

    A: Array
    B: Array
    C: Array
    D: Array
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    frequencies: Array
    band: float
    error: Array
    relative_error: Array

    def frequency_response(self, w: Values) -> Any:
        """H = C (i w - A)^-1 B + D at frequencies (k,) [rad/s]: complex (k, outputs, inputs).

        Raises
        ------
        ShapeError
            w has more axes.

        Examples
        --------
        >>> import dalembert as da
        >>> model = da.state_space(da.planar_chain(1), [-1.5707963267948966], "q1", "q1")
        >>> model.frequency_response([1.0]).real.round(4).ravel()
        array([0.2187])
        """
        frequencies = np.atleast_1d(real_array("w", w))
        if frequencies.ndim > 1:
            raise ShapeError(f"w has shape {frequencies.shape}, expected (k,).", "w")
        s = 1j * frequencies[:, None, None]
        inner = s * np.eye(len(self.A)) - self.A
        x = np.linalg.solve(inner, np.broadcast_to(self.B, (len(frequencies), *self.B.shape)))
        return self.C @ x + self.D

    def to_scipy(self) -> Any:
        """The model as a `scipy.signal.StateSpace` (needs SciPy).

        Raises
        ------
        DalembertError
            SciPy is not installed.

        Examples
        --------
        >>> import dalembert as da
        >>> model = da.state_space(da.planar_chain(1), [-1.5707963267948966], "q1", "q1")
        >>> model.to_scipy().A.shape
        (2, 2)
        """
        try:
            from scipy.signal import StateSpace
        except ImportError:
            raise DalembertError("scipy is not installed: pip install scipy.") from None
        return StateSpace(self.A, self.B, self.C, self.D)

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Write A, B, C, D with names and units as a file of NumPy (.npz), or of MATLAB (.mat, needs
        SciPy).

        Raises
        ------
        ValueError, DalembertError
            The name has another ending; SciPy is not installed.

        Examples
        --------
        >>> import dalembert as da
        >>> model = da.state_space(da.planar_chain(1), [-1.5707963267948966], "q1", "q1")
        >>> model.save("arm.npz").name
        'arm.npz'
        """
        path = path_of("file", file)
        names = ("inputs", "outputs", "input_units", "output_units")
        arrays = {name: getattr(self, name) for name in "ABCD"}
        arrays |= {name: np.array(getattr(self, name)) for name in names}
        if path.suffix == ".npz":
            np.savez(path, **arrays)
            return path
        if path.suffix != ".mat":
            raise ValueError(f"file {path.name!r}: expected the ending .npz or .mat.")
        try:
            from scipy.io import savemat
        except ImportError:
            raise DalembertError("scipy is not installed: pip install scipy.") from None
        cells = {name: np.array(getattr(self, name), dtype=object) for name in names}
        savemat(path, arrays | cells)
        return path


def state_space(
    mechanism: Mechanism,
    q: Values,
    inputs: Any,
    outputs: Any,
    modes: int | None = None,
    locked: Any = (),
    equilibrium: bool = False,
    band: float | None = None,
) -> StateSpaceModel:
    """Linear model x' = A x + B u, y = C x + D u about a state at rest, whole or of the lowest modes.

    The modes that are left out answer as at w = 0 (static correction, in D); the error of the reduced
    model is measured against the whole one on 400 frequencies up to the band.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) array, or {coordinate: number}
        Coordinates of one state [rad, m].
    inputs : str, or port, or a list of them
        Names of joints, or ports as `da.ports.PointForce`.
    outputs : str, or port, or a list of them
        Names of coordinates, or ports as `da.ports.FrameDisplacement`.
    modes : int, optional
        Number of modes that are kept, from the lowest, free motions among them; by default no
        reduction, in the coordinates themselves.
    locked : sequence of str, or 'all'
        Joints, elastic bodies or single velocities that are held.
    equilibrium : bool
        About the static equilibrium of elastic bodies, joints held at q, in place of q itself.
    band : float, optional
        Highest frequency of the comparison; by default the highest that is kept [rad/s].

    Returns
    -------
    StateSpaceModel
        A, B, C, D in SI units, names and units, and the error.

    Raises
    ------
    DalembertError
        The state is unstable, so that it has no modes; everything is locked; the mechanism has
        constraints.
    ValueError, TypeError, UnknownNameError, ShapeError, QuaternionError
        There are fewer modes; a port is none; a vector has the wrong length.

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0, damping=da.Rayleigh(stiffness=1e-3))
    >>> rod = da.Mechanism("rod", [da.Body("base"), da.Body("rod", beam=beam, modes={"bend_y": 5})],
    ...                    [da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "rod", viscous=0.1)])
    >>> model = da.state_space(rod, rod.neutral(), "hinge", "hinge", modes=3)
    >>> model.A.shape, bool(model.relative_error.max() < 1e-2)
    ((6, 6), True)
    """
    state = _state(mechanism, q, equilibrium)
    model = vibration_model(mechanism, state, locked)
    ports = _ports(mechanism, state, model, several_ports(inputs), several_ports(outputs))
    if modes is None:
        A, B = _first_order(model.mass, model.stiffness, model.damping, ports.columns)
        C, D = _outputs(A, B, ports, np.eye(len(model.names)))
        none = np.zeros(D.shape)
        return _named(mechanism, (A, B, C, D), ports, (_frequencies(model), 0.0, none, none))
    check_whole("modes", modes, 1)
    w, V = model.modes
    if modes > len(w):
        raise ValueError(f"modes={modes}: the model has {len(w)} modes.")
    matrices = _reduced(model, ports, modes)
    kept = w[:modes]
    band = float(kept[-1]) * BETWEEN if band is None else float(band)
    reduced = _named(mechanism, matrices, ports, (kept, band, *np.zeros((2, 1, 1))))
    return _named(mechanism, matrices, ports, (kept, band, *_errors(model, ports, reduced)))


def _frequencies(model: VibrationModel) -> Array:
    """Natural frequencies; none of a state that is unstable."""
    try:
        return model.frequencies
    except DalembertError:
        return np.zeros(0)


def _first_order(M: Array, K: Array, D: Array, b: Array) -> tuple[Array, Array]:
    """A and B of M x'' + D x' + K x = b u."""
    n, m = b.shape
    A = np.zeros((2 * n, 2 * n))
    B = np.zeros((2 * n, m))
    A[:n, n:] = np.eye(n)
    A[n:, :n] = -np.linalg.solve(M, K) + 0.0
    A[n:, n:] = -np.linalg.solve(M, D) + 0.0
    B[n:] = np.linalg.solve(M, b)
    return A, B


def _outputs(A: Array, B: Array, ports: _Ports, basis: Array) -> tuple[Array, Array]:
    """C and D of the outputs, in coordinates of a basis (n, m)."""
    rows, accelerations = ports.rows @ basis, ports.acceleration_rows @ basis
    n = basis.shape[1]
    C = np.zeros((len(rows), 2 * n))
    C[:, n:] = rows * (ports.rates == 1)[:, None]
    C[:, :n] = rows * (ports.rates == 0)[:, None]
    accelerations = accelerations + rows * (ports.rates == 2)[:, None]
    return C + accelerations @ A[n:], accelerations @ B[n:] + ports.feedthrough


def _reduced(model: VibrationModel, ports: _Ports, modes: int) -> tuple[Array, ...]:
    """A, B, C, D of the lowest modes, with the static answer of the others to displacements."""
    w, V = model.modes
    kept, others = V[:, :modes], V[:, modes:]
    modal_damping = kept.T @ model.damping @ kept
    unit = np.eye(modes)
    A, B = _first_order(unit, np.diag(w[:modes] ** 2), modal_damping, kept.T @ ports.columns)
    C, D = _outputs(A, B, ports, kept)
    static = (ports.rows @ others / w[modes:] ** 2) @ (others.T @ ports.columns)
    D[ports.rates == 0] += static[ports.rates == 0]
    return A, B, C, D


def _errors(model: VibrationModel, ports: _Ports, reduced: StateSpaceModel) -> tuple[Array, Array]:
    """Largest error of the reduced model up to its band, and over the largest response there."""
    w = np.geomspace(LOWEST * reduced.band, reduced.band, COMPARED)
    whole = _response(model, ports, w)
    error = np.abs(reduced.frequency_response(w) - whole).max(axis=0)
    largest = np.abs(whole).max(axis=0)
    relative = np.divide(error, largest, out=np.zeros_like(error), where=largest > 0)
    return error, relative


def _named(
    mechanism: Mechanism, matrices: tuple[Array, ...], ports: _Ports, facts: tuple[Any, ...]
) -> StateSpaceModel:
    A, B, C, D = matrices
    frequencies, band, error, relative_error = facts
    return StateSpaceModel(
        A,
        B,
        C,
        D,
        tuple(port.label for port in ports.inputs),
        tuple(port.label for port in ports.outputs),
        tuple(port.unit(mechanism) for port in ports.inputs),
        tuple(port.unit(mechanism) for port in ports.outputs),
        frequencies,
        band,
        error,
        relative_error,
    )
