"""Properties of D, C and G as checks with numbers: symmetry, definiteness, skew symmetry, power,
passivity along a run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import ShapeError
from dalembert.formulations.lagrange.christoffel import coriolis_matrix
from dalembert.formulations.lagrange.energies import kinetic_energy, mass_matrix, potential_energy
from dalembert.formulations.lagrange.euler_lagrange import gravity_vector, inverse_dynamics
from dalembert.kinematics.forces import friction_force, passive_force
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Values

OWN = 1e-12  # of the largest entry: between two ways of the same number
DIFFERENCES = 1e-8  # of derivatives by differences of fourth order with STEP
ROUNDING = 16 * np.finfo(float).eps  # an eigenvalue below this part of the largest may be 0
STEP = 1e-4  # s, rad, m: rounding 1e-12 and truncation 1e-16 in units of the fifth derivative


class Property(NamedTuple):
    """A property that must hold: its defect, relative to the largest number in it, and the
    tolerance.

    Examples
    --------
    >>> import dalembert as da
    >>> da.lagrange.properties(da.planar_chain(2), [0.3, -0.2], [1.0, 0.5])[0].holds
    True
    """

    name: str
    defect: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the defect is within the tolerance."""
        return self.defect <= self.tolerance

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'FAILS'}  {self.defect:8.1e} <= {self.tolerance:.0e}  {self.name}"


def properties(mechanism: Mechanism, q: Values, qd: Values, x: Any = None) -> tuple[Property, ...]:
    """Properties of the equations of motion at one state, each with its defect.

    Derivatives are differences of fourth order along the motion or the velocity directions, not
    those that C is made of.

    Parameters
    ----------
    q : (nq,) array. qd : (nv,) array
    x : (nv,) array, optional
        A vector other than qd for x^T (dD/dt - 2 C) x = 0, and accelerations for the power balance;
        by default random.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> all(p.holds for p in da.lagrange.properties(da.planar_chain(2), [0.3, -0.2], [1.0, 0.5]))
    True
    """
    if x is None:
        x = np.random.default_rng(0).standard_normal(mechanism.nv)
    qd, x = np.asarray(qd, dtype=float), np.asarray(x, dtype=float)
    return (
        *_of_the_mass_matrix(mechanism, q, qd),
        *_of_its_rate(mechanism, q, qd, x),
        *_of_energies(mechanism.without("springs", "friction"), q, qd, x),
    )


def _of_the_mass_matrix(mechanism: Mechanism, q: Values, qd: np.ndarray) -> tuple[Property, ...]:
    D = mass_matrix(mechanism, q)
    eigenvalues = np.linalg.eigvalsh(D) if mechanism.nv else np.ones(1)
    ratio = float(-eigenvalues[0] / eigenvalues[-1])
    T = qd @ D @ qd / 2
    return (
        Property("D = D^T", _relative(D - D.T, D), OWN),
        Property("D positive definite: -smallest/largest eigenvalue", ratio, -ROUNDING),
        Property("T = 1/2 qd^T D qd", _relative(T - kinetic_energy(mechanism, q, qd), T), OWN),
    )


def _of_its_rate(
    mechanism: Mechanism, q: Values, qd: np.ndarray, x: np.ndarray
) -> tuple[Property, ...]:
    C = coriolis_matrix(mechanism, q, qd)
    D_rate = _derivative(lambda t: mass_matrix(mechanism, mechanism.integrate(q, t * qd)))
    N = D_rate - 2 * C
    size = np.abs(D_rate).max(initial=0) + np.abs(C).max(initial=0)
    form = _relative(x @ N @ x, size * (x @ x))
    return (
        Property("dD/dt = C + C^T: dD/dt - 2 C skew", _relative(N + N.T, size), DIFFERENCES),
        Property("x^T (dD/dt - 2 C) x = 0 for any x", form, DIFFERENCES),
    )


def _of_energies(
    bare: Mechanism, q: Values, qd: np.ndarray, qdd: np.ndarray
) -> tuple[Property, ...]:
    """Gradient of the potential energy, and power, without springs and friction of joints."""
    elastic = passive_force(bare, q, 0 * qd)  # of beams, whose damping is in the power too
    G = gravity_vector(bare, q) - elastic
    tau = inverse_dynamics(bare, q, qd, qdd) + friction_force(bare, q, qd)
    height = abs(potential_energy(bare, q))
    power = np.abs(tau) @ np.abs(qd) + height + kinetic_energy(bare, q, qd)

    def slope(direction: np.ndarray) -> Any:
        """Derivative of the potential energy along a direction."""
        return _derivative(lambda t: potential_energy(bare, bare.integrate(q, t * direction)))

    def energy(t: float) -> Any:
        """T + Pi at time t of the motion with constant accelerations."""
        moved = bare.integrate(q, t * qd + t * t / 2 * qdd)
        v = qd + t * qdd
        return kinetic_energy(bare, moved, v) + potential_energy(bare, moved)

    gradient = np.array([slope(e) for e in np.eye(bare.nv)])
    defect = _relative(gradient - G, np.abs(G).max(initial=0) + height)
    balance = _relative(_derivative(energy) - tau @ qd, power)
    return (
        Property("G = dPi/dq", defect, DIFFERENCES),
        Property("dH/dt = qd^T tau", balance, DIFFERENCES),
    )


def _derivative(f: Callable[[float], Any]) -> Any:
    """f'(0) by central differences of fourth order."""
    h = STEP
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def _relative(difference: Any, scale: Any) -> float:
    largest = np.abs(scale).max(initial=0)
    return float(np.abs(difference).max(initial=0) / (largest or 1.0))


class PassivityBalance(NamedTuple):
    """Energies along a run [J]: energy_change = work - dissipated within the quadrature's error.

    work : supplied by tau, integral qd^T tau dt. dissipated : by friction. energy_change : H(end) -
        H(start), H = T + Pi.
    defect : energy_change - work + dissipated. quadrature_error : estimate, from every second
        sample.
    lower_bound : -(H(start) - P_min), which work - dissipated cannot fall below; nan where P_min is
        not given.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(1)
    >>> run = da.simulate(arm, [0.5], [0.0], 1.0)
    >>> abs(da.lagrange.passivity_balance(arm, run.times, run.q, run.qd, run.tau).defect) < 1e-6
    True
    """

    work: float
    dissipated: float
    energy_change: float
    defect: float
    quadrature_error: float
    lower_bound: float

    @property
    def holds(self) -> bool:
        """Whether the balance closes within ten times the quadrature's error, and the bound, if
        known, is respected.
        """
        scale = abs(self.work) + abs(self.dissipated) + abs(self.energy_change)
        slack = 10 * self.quadrature_error + OWN * scale
        return (
            abs(self.defect) <= slack and not self.work - self.dissipated < self.lower_bound - slack
        )


def passivity_balance(
    mechanism: Mechanism,
    t: Any,
    q: Values,
    qd: Values,
    tau: Values,
    potential_minimum: float | None = None,
) -> PassivityBalance:
    """Energy balance of a run of samples: supplied by tau, taken by friction, stored in the
    mechanism.

        H(t_end) - H(t_0) = integral qd^T tau dt + integral qd^T friction dt
        integral qd^T tau dt >= -(H(t_0) - P_min)

    P_min is the infimum of the potential energy over the workspace (`potential_bounds`): the
    source's bound -H(t_0) holds only if Pi is counted from there. The integrals are trapezia with
    end corrections, exact to the fourth order of the distance of samples.

    Parameters
    ----------
    t : (K,) array, increasing [s]
    q : (K, nq), qd : (K, nv), tau : (K, nv) arrays
        The run; tau are the actuators' forces.
    potential_minimum : float, optional
        P_min [J].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    References
    ----------
    Kolyubin, Dynamics of robotic systems: the Lagrange method, passivity (with the bound
    corrected).

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(1)
    >>> run = da.simulate(arm, [0.5], [0.0], 1.0)
    >>> da.lagrange.passivity_balance(arm, run.times, run.q, run.qd, run.tau).holds
    False
    """
    t, qd, tau = (
        np.asarray(t, dtype=float),
        np.asarray(qd, dtype=float),
        np.asarray(tau, dtype=float),
    )
    if t.ndim != 1 or len(t) < 5 or not (np.diff(t) > 0).all():
        raise ShapeError(
            f"t has shape {t.shape}; expected at least 5 increasing times.", "t", t.shape, (5,)
        )
    supplied = (qd * tau).sum(axis=-1)
    lost = -(qd * friction_force(mechanism, q, qd)).sum(axis=-1)
    energy = np.asarray(kinetic_energy(mechanism, q, qd) + potential_energy(mechanism, q))
    work = _integral(t, supplied)
    dissipated = _integral(t, lost)
    change = float(energy[-1] - energy[0])
    every = np.r_[0 : len(t) - 1 : 2, len(t) - 1]
    coarse = _integral(t[every], (supplied - lost)[every])
    bound = float("nan") if potential_minimum is None else -(float(energy[0]) - potential_minimum)
    error = abs(coarse - (work - dissipated)) / 15  # of fourth order: 1/15 of the change by halving
    return PassivityBalance(work, dissipated, change, change - work + dissipated, error, bound)


def _integral(t: np.ndarray, y: np.ndarray) -> float:
    """Integral of samples: on each piece h/2 (y_0 + y_1) + h^2/12 (y'_0 - y'_1)."""
    h = np.diff(t)
    slope = np.gradient(y, t, edge_order=2)
    return float((h / 2 * (y[:-1] + y[1:]) + h * h / 12 * (slope[:-1] - slope[1:])).sum())
