"""Momenta, velocities, the function of Hamilton and the right-hand side in (q, p), of mechanisms
and other systems.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import check_instance
from dalembert.formulations.hamilton.configurations import plus
from dalembert.formulations.hamilton.krylov import Solution
from dalembert.formulations.hamilton.trees import system_of
from dalembert.formulations.hamilton.velocity_solver import Solver, solved
from dalembert.model.constraint import check_unconstrained
from dalembert.spatial.arrays import Array, Values, single
from dalembert.spatial.vectors import Scalar, dot

Forces = Callable[[Any, Any, Any], Any]


class StateEquations(NamedTuple):
    """Right-hand side in (q, p): rates of q (nq,) and p (nv,), and the velocities qd that they were
    found with.

    Examples
    --------
    >>> import dalembert as da
    >>> da.hamilton.state_equations(da.planar_chain(2), [0.3, -0.2], [3.058, 0.99]).qd.round(3)
    array([0.999, 0.501])
    """

    q_rate: Array
    p_rate: Array
    qd: Array


def momenta(system: Any, q: Values, qd: Values, t: Any = 0.0) -> Array:
    """Generalized momenta, without forming A (O(n)).

        p = dL/dqd = A(q) qd + a(q, t)                                                        (2.1)

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    t : float
        Time [s], for systems that depend on it.

    Returns
    -------
    p : (nv,) or (N, nv) array [kg m^2/s, kg m/s]

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    References
    ----------
    Dunskaya, Pyatnitskiy (1996), eq. 2.1; docs/hamilton.md.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.hamilton.momenta(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([3.058, 0.99 ])
    """
    configuration, (_, qd), pack = system_of(system).at(t, q=q, qd=qd)
    return pack(configuration.momenta(qd))


def velocities(
    system: Any, q: Values, p: Values, t: Any = 0.0, solver: str | Solver = "sweep"
) -> Array:
    """Velocities of momenta: the maximum of D(z) = p^T z - 1/2 z^T A z - a^T z - L0, where A(q) z =
    p - a (2.9).

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    p : (nv,) or (N, nv) array
        Momenta [kg m^2/s, kg m/s]; quasi-momenta of spherical and free joints.
    t : float
        Time [s], for systems that depend on it.
    solver : str or Solver
        'sweep' (exact, O(n)), 'cholesky' (dense), 'minimal_residuals', 'conjugate_directions' (from
        0, error below 1e-9).

    Returns
    -------
    qd : (nv,) or (N, nv) array
        [rad/s, m/s]; z of the maximum.

    Raises
    ------
    SingularMassMatrixError
        A is not positive definite; the sweep names joint and body. Not checked on expressions.
    NotConvergedError
        An iteration reached its limit.
    ShapeError, ValueError, QuaternionError, UnknownNameError

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.hamilton.velocities(arm, [0.3, -0.2], [3.058, 0.99]).round(3)
    array([0.999, 0.501])
    """
    chosen = system_of(system)
    configuration, (_, p), pack = chosen.at(t, q=q, p=p)
    return pack(list(solved(chosen, configuration, configuration.right_side(p), solver)))


def solve(system: Any, q: Values, p: Values, solver: Solver, t: Any = 0.0) -> Solution:
    """The velocities, with the counts of an iteration.

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    p : (nv,) or (N, nv) array
        Momenta [kg m^2/s, kg m/s]; quasi-momenta of spherical and free joints.
    solver : str or Solver
        'sweep' (exact, O(n)), 'cholesky' (dense), 'minimal_residuals', 'conjugate_directions' (from
        0, error below 1e-9).
    t : float
        Time [s], for systems that depend on it.

    Returns
    -------
    Solution
        z has the entries first, (nv,) or (nv, N) [rad/s, m/s]; iterations, residual, operations.

    Raises
    ------
    SingularMassMatrixError
        A is not positive definite; the sweep names joint and body. Not checked on expressions.
    NotConvergedError
        An iteration reached its limit.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> solver = da.hamilton.Solver("conjugate_directions")
    >>> da.hamilton.solve(arm, [0.3, -0.2], [3.058, 0.99], solver).iterations
    2
    """
    solver = Solver(solver) if isinstance(solver, str) else solver
    check_instance("solver", solver, Solver, "a da.hamilton.Solver, or the name of an iteration")
    chosen = system_of(system)
    configuration, (_, p), _ = chosen.at(t, q=q, p=p)
    return solver.solve(chosen, configuration, configuration.right_side(p))


def lagrangian_gradient(system: Any, q: Values, qd: Values, t: Any = 0.0) -> Array:
    """Derivatives of L = T - Pi by the coordinates, the velocities held (O(n)).

        dL/dq_i = 1/2 qd^T (dA/dq_i) qd + (da/dq_i)^T qd + dL0/dq_i

    Along the quasi-velocity directions of spherical and free joints.

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    t : float
        Time [s], for systems that depend on it.

    Returns
    -------
    (nv,) or (N, nv) array
        [N m, N].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.hamilton.lagrangian_gradient(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([-18.938,  -4.731])
    """
    configuration, (_, qd), pack = system_of(system).at(t, q=q, qd=qd)
    return pack(configuration.gradient(qd))


def lie_poisson_term(system: Any, q: Values, qd: Values, p: Values, t: Any = 0.0) -> Array:
    """ad*_qd p: p x omega of a spherical joint, -(v x* p) of a free joint, 0 for velocities that
    are rates of coordinates.

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    p : (nv,) or (N, nv) array
        Momenta [kg m^2/s, kg m/s]; quasi-momenta of spherical and free joints.
    t : float
        Time [s], for systems that depend on it.

    Returns
    -------
    (nv,) or (N, nv) array
        [N m, N].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.random_tree(3, 1, "spherical")
    >>> da.hamilton.lie_poisson_term(arm, [1.0, 0, 0, 0], [1.0, 0, 0], [0, 2.0, 0])[2:]
    array([-2.])
    """
    configuration, (_, qd, p), pack = system_of(system).at(t, q=q, qd=qd, p=p)
    return pack(list(configuration.lie_poisson(qd, p)))


def momentum_rate(system: Any, q: Values, qd: Values, p: Values, t: Any = 0.0) -> Array:
    """p' = dL/dq + ad*_qd p + friction, at velocities that are known: `state_equations` without the
    solution and tau.

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    p : (nv,) or (N, nv) array
        Momenta [kg m^2/s, kg m/s]; quasi-momenta of spherical and free joints.
    t : float
        Time [s], for systems that depend on it.

    Returns
    -------
    (nv,) or (N, nv) array
        [N m, N].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.hamilton.momentum_rate(arm, [0.3, -0.2], [1.0, 0.5], [3.058, 0.99]).round(3)
    array([-18.938,  -4.731])
    """
    configuration, (_, qd, p), pack = system_of(system).at(t, q=q, qd=qd, p=p)
    return pack(configuration.momentum_rate(qd, p))


def kinetic_energy(system: Any, q: Values, qd: Values) -> float | Array:
    """T = 1/2 qd^T A qd of the bodies and rotors.

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].

    Returns
    -------
    T : float or (N,) array
        [J].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> round(da.hamilton.kinetic_energy(arm, [0.3, -0.2], [1.0, 0.5]), 3)
    1.777
    """
    configuration, (_, qd), pack = system_of(system).at(q=q, qd=qd)
    return single(pack(dot(configuration.product(qd), qd) * 0.5))


def potential_energy(system: Any, q: Values, t: Any = 0.0) -> float | Array:
    """Pi = -L0 of gravity and springs (and of what else L0 holds).

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    t : float
        Time [s], for systems that depend on it.

    Returns
    -------
    Pi : float or (N,) array
        [J]; zero height is the world's origin.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> round(da.hamilton.potential_energy(arm, [0.3, -0.2]), 3)
    4.838
    """
    configuration, _, pack = system_of(system).at(t, q=q)
    return single(pack(configuration.potential))


def hamiltonian(
    system: Any, q: Values, p: Values, t: Any = 0.0, solver: str | Solver = "sweep"
) -> float | Array:
    """Function of Hamilton, the maximum of D.

        H(q, p) = 1/2 (p - a)^T A^-1 (p - a) - L0                                              (2.6)

    T + Pi of a natural system (a = 0), else Jacobi's integral.

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    p : (nv,) or (N, nv) array
        Momenta [kg m^2/s, kg m/s]; quasi-momenta of spherical and free joints.
    t : float
        Time [s], for systems that depend on it.
    solver : str or Solver
        'sweep' (exact, O(n)), 'cholesky' (dense), 'minimal_residuals', 'conjugate_directions' (from
        0, error below 1e-9).

    Returns
    -------
    H : float or (N,) array
        [J].

    Raises
    ------
    SingularMassMatrixError
        A is not positive definite; the sweep names joint and body. Not checked on expressions.
    NotConvergedError
        An iteration reached its limit.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        The solver is unknown.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> p = da.hamilton.momenta(arm, [0.3, -0.2], [1.0, 0.5])
    >>> round(da.hamilton.hamiltonian(arm, [0.3, -0.2], p), 3)
    6.615
    """
    chosen = system_of(system)
    configuration, (_, p), pack = chosen.at(t, q=q, p=p)
    b = configuration.right_side(p)
    return single(
        pack(dot(b, list(solved(chosen, configuration, b, solver))) * 0.5 + configuration.potential)
    )


def objective(system: Any, q: Values, p: Values, z: Values, t: Any = 0.0) -> float | Array:
    """D(z) = p^T z - 1/2 z^T A z - a^T z - L0: below H by 1/2 e^T A e for a z with the error e.

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    p : (nv,) or (N, nv) array
        Momenta [kg m^2/s, kg m/s]; quasi-momenta of spherical and free joints.
    z : (nv,) or (N, nv) array
        Velocities [rad/s, m/s].
    t : float
        Time [s], for systems that depend on it.

    Returns
    -------
    D : float or (N,) array
        [J].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> round(da.hamilton.objective(arm, [0.3, -0.2], [3.058, 0.99], [1.0, 0.5]), 3)
    6.615
    """
    configuration, (_, p, z), pack = system_of(system).at(t, q=q, p=p, z=z)
    return single(
        pack(
            dot(configuration.right_side(p), z)
            - dot(configuration.product(z), z) * 0.5
            + configuration.potential
        )
    )


def state_equations(
    system: Any,
    q: Values,
    p: Values,
    tau: Values | None = None,
    forces: Forces | None = None,
    external_forces: Any = (),
    t: Any = 0.0,
    solver: str | Solver = "sweep",
) -> StateEquations:
    """Right-hand side in (q, p), by a linear solution and a gradient.

        A(q) z = p - a(q, t),    q' = z,    p' = dL/dq (q, z) + ad*_z p + Q(q, z, t)           (2.8)

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    p : (nv,) or (N, nv) array
        Momenta [kg m^2/s, kg m/s]; quasi-momenta of spherical and free joints.
    tau : (nv,) or (N, nv) array, optional
        Generalized forces of the actuators [N m, N]; of a planar chain in absolute angles
        `chain.generalized_forces(M)`.
    forces : callable, optional
        Q(q, qd, t): further generalized forces without a potential [N m, N], of arrays (or arrays
        of expressions) as given.
    external_forces : sequence of ExternalForce, optional
        Forces on the mechanism [N; N m], each with its frame and axes.
    t : float
        Time [s], for systems that depend on it.
    solver : str or Solver
        'sweep' (exact, O(n)), 'cholesky' (dense), 'minimal_residuals', 'conjugate_directions' (from
        0, error below 1e-9).

    Returns
    -------
    StateEquations
        q_rate, p_rate and qd. Friction and springs of a mechanism's joints are part of p_rate;
        Coulomb friction at qd = 0 is 0.

    Raises
    ------
    SingularMassMatrixError
        A is not positive definite; the sweep names joint and body. Not checked on expressions.
    NotConvergedError
        An iteration reached its limit.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    References
    ----------
    Dunskaya, Pyatnitskiy (1996), eqs. 2.8, 2.9; for quasi-velocities Poincare's equations,
    docs/hamilton.md.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> p = da.hamilton.momenta(arm, [0.3, -0.2], [1.0, 0.5])
    >>> da.hamilton.state_equations(arm, [0.3, -0.2], p).p_rate.round(3)
    array([-18.938,  -4.731])
    """
    check_unconstrained(system, "hamilton.state_equations")
    chosen = system_of(system)
    given = {} if tau is None else {"tau": tau}
    configuration, (q, p, *actuators), pack = chosen.at(t, external_forces, q=q, p=p, **given)
    z = list(solved(chosen, configuration, configuration.right_side(p), solver))
    rate = configuration.momentum_rate(z, p)
    for more in actuators:
        rate = plus(rate, more)
    velocity = pack(z)
    p_rate = pack(rate)
    if forces is not None:
        p_rate = p_rate + forces(pack(q), velocity, t)
    return StateEquations(pack(list(chosen.rate(q, z))), p_rate, velocity)


def energy_rate(
    system: Any,
    q: Values,
    p: Values,
    tau: Values | None = None,
    forces: Forces | None = None,
    external_forces: Any = (),
    t: Any = 0.0,
) -> float | Array:
    """Rate of H along the motion, Q^T qd - dL/dt: power of all that has no potential.

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    p : (nv,) or (N, nv) array
        Momenta [kg m^2/s, kg m/s]; quasi-momenta of spherical and free joints.
    tau : (nv,) or (N, nv) array, optional
        Generalized forces of the actuators [N m, N]; of a planar chain in absolute angles
        `chain.generalized_forces(M)`.
    forces : callable, optional
        Q(q, qd, t): further generalized forces without a potential [N m, N], of arrays (or arrays
        of expressions) as given.
    external_forces : sequence of ExternalForce, optional
        Forces on the mechanism [N; N m], each with its frame and axes.
    t : float
        Time [s], for systems that depend on it.

    Returns
    -------
    float or (N,) array
        [W].

    Raises
    ------
    SingularMassMatrixError
        A is not positive definite; joint and body are named. Not checked on expressions.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> p = da.hamilton.momenta(arm, [0.3, -0.2], [1.0, 0.5])
    >>> round(da.hamilton.energy_rate(arm, [0.3, -0.2], p, tau=[2.0, 1.0]), 3)
    2.5
    """
    chosen = system_of(system)
    given = {} if tau is None else {"tau": tau}
    configuration, (q, p, *actuators), pack = chosen.at(t, external_forces, q=q, p=p, **given)
    z = configuration.solution(configuration.right_side(p))
    Q: Sequence[Scalar] = configuration.dissipative(z)
    for more in actuators:
        Q = plus(Q, more)
    power = pack(dot(list(Q), z) - configuration.time_derivative(z))
    if forces is not None:
        power = power + np.sum(np.asarray(forces(pack(q), pack(z), t)) * pack(z), axis=-1)
    return single(np.asarray(power))


def mass_matrix(system: Any, q: Values) -> Array:
    """A(q), rotors included, by its columns A e_k.

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    M : (nv, nv) or (N, nv, nv) array
        Symmetric [kg m^2, kg m, kg]; positive definite unless a joint moves no inertia.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.hamilton.mass_matrix(arm, [0.3, -0.2]).round(3)
    array([[2.647, 0.823],
           [0.823, 0.333]])
    """
    chosen = system_of(system)
    configuration, _, pack = chosen.at(q=q)
    return pack(configuration.matrix(), shape=(chosen.nv, chosen.nv))


def inverse_mass_matrix(system: Any, q: Values) -> Array:
    """A(q)^-1 by one exact sweep per column.

    Parameters
    ----------
    system : Mechanism, PlanarChain or NonNatural
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    (nv, nv) or (N, nv, nv) array
        Symmetric [1/(kg m^2), 1/(kg m), 1/kg].

    Raises
    ------
    SingularMassMatrixError
        The inertia about a joint is not positive; joint and body are named. Not checked on
        expressions.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.hamilton.inverse_mass_matrix(arm, [0.3, -0.2]).round(3)
    array([[ 1.631, -4.03 ],
           [-4.03 , 12.954]])
    """
    chosen = system_of(system)
    n = chosen.nv
    configuration, _, pack = chosen.at(q=q)
    columns = [configuration.solution([float(i == k) for i in range(n)]) for k in range(n)]
    return pack([[columns[max(i, k)][min(i, k)] for i in range(n)] for k in range(n)], shape=(n, n))
