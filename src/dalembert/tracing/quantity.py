"""A quantity of a system: its function with shape, unit and description, each said once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

FORCES, SQUARE = "N m, N", ("nv", "nv")

# Each fact once: shape, unit and description of the quantities that systems have.
FACTS: dict[str, tuple[tuple[str | int, ...], str, str]] = {
    # --- of every system ---
    "mass_matrix": (SQUARE, "kg m^2, kg m, kg", "M, symmetric"),
    "bias_force": (("nv",), FORCES, "forces of inertia and potentials but M qdd"),
    "generalized_forces": (("nv",), FORCES, "Q: forces that have no potential"),
    "kinetic_energy": ((), "J", "T"),
    "potential_energy": ((), "J", "Pi"),
    "energy": ((), "J", "constant where no forces act: T + Pi, or p . qd - L"),
    "energy_rate": ((), "W", "power of the forces, and what depends on time"),
    "momenta": (("nv",), "kg m^2/s, kg m/s", "p = dL/dqd"),
    "inverse_dynamics": (("nv",), FORCES, "tau that gives qdd"),
    "forward_dynamics": (("nv",), "rad/s^2, m/s^2", "qdd that tau gives"),
    # --- of Lagrangians and of Hamilton's form ---
    "lagrangian": ((), "J", "L"),
    "hamiltonian": ((), "J", "H(q, p)"),
    "lagrangian_gradient": (("nv",), FORCES, "dL/dq"),
    "velocities": (("nv",), "rad/s, m/s", "qd of momenta"),
    "momentum_rate": (("nv",), FORCES, "p' without tau"),
    # --- of mechanisms ---
    "regressor": (("nv", "10 n"), "", "Y with inverse dynamics Y theta, theta of n moving bodies"),
    "inverse_mass_matrix": (SQUARE, "1/(kg m^2), 1/(kg m), 1/kg", "M^-1"),
    "gravity_vector": (("nv",), FORCES, "forces that hold it against gravity"),
    "coriolis_vector": (("nv",), FORCES, "C qd"),
    "coriolis_matrix": (SQUARE, "kg m^2/s, kg m/s, kg/s", "C: dM/dt - 2 C is skew"),
    "passive_force": (("nv",), FORCES, "forces of springs and friction"),
    "inverse_dynamics_derivatives": (
        SQUARE,
        "N m/rad, N m s/rad, kg m^2 and the like",
        "dtau_dq, dtau_dqd, mass_matrix",
    ),
    "forward_dynamics_derivatives": (
        SQUARE,
        "1/s^2, 1/s, 1/(kg m^2) and the like",
        "dqdd_dq, dqdd_dqd, dqdd_dtau",
    ),
    "linearize": (("2 nv", "2 nv"), "SI", "A, and B (2 nv, nv), of x' = A x + B u"),
    "center_of_mass": ((3,), "m", "of the moving bodies, in world axes"),
    "center_of_mass_jacobian": ((3, "nv"), "m; 1", "c' = J_c qd"),
    "centroidal_momentum": ((6,), "kg m^2/s, kg m/s", "about the centre of mass, in world axes"),
    "centroidal_momentum_matrix": ((6, "nv"), "kg m^2, kg m; kg m, kg", "momentum = A qd"),
    "placement": ((4, 4), "1; m", "rotation and origin of a frame"),
    "jacobian": ((6, "nv"), "1, 1/m; m, 1", "(omega; v) = J qd of a frame"),
    "jacobian_rate": ((6, "nv"), "1/s, 1/(m s); m/s, 1/s", "J' of a frame"),
}


class Quantity(NamedTuple):
    """A function of some of q, qd, qdd, tau, p, t, in this order, and its results.

    Attributes
    ----------
    function : of the inputs; of a mechanism's table, of the mechanism before them
    inputs : names of its arguments
    shape : names of its axes, 'nq', 'nv', or lengths; empty: a number
    unit : units of its entries, joined by commas where they differ
    description : a few words
    labels : names of the entries along its last axis, if that is an axis of its own
    framed, turned : it takes a frame ('placement:tool'); a frame and axes ('jacobian:tool:local')
    loaded : it takes external forces

    Examples
    --------
    >>> import dalembert as da
    >>> height = da.Quantity(lambda q: da.sin(q[0]), ("q",), (), "m", "height of the tip")
    >>> height.function([0.0]), height.unit
    (0.0, 'm')
    """

    function: Callable[..., Any]
    inputs: tuple[str, ...]
    shape: tuple[str | int, ...] = ()
    unit: str = ""
    description: str = ""
    labels: tuple[str, ...] = ()
    framed: bool = False
    turned: bool = False
    loaded: bool = False

    @property
    def result(self) -> str:
        """Shape and unit, as '(nv, nv) [kg m^2, kg m, kg]'; 'number [J]'.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Quantity(len, ("q",), ("nv",), "N").result
        '(nv,) [N]'
        """
        shape = ", ".join(map(str, self.shape)) + "," * (len(self.shape) == 1)
        unit = f" [{self.unit}]" if self.unit else ""
        return f"({shape}){unit}" if self.shape else f"number{unit}"


def described(name: str, function: Callable[..., Any], inputs: str, **options: bool) -> Quantity:
    """The quantity of a name in FACTS; inputs: names between spaces."""
    return Quantity(function, tuple(inputs.split()), *FACTS[name], **options)  # type: ignore[arg-type]
