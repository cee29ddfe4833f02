"""Slider crank with an elastic rod of the IVP test set (Simeon)."""

import numpy as np

import dalembert as da
from dalembert.constraints import Holonomic


def slider_crank(p, axial_mass=1.0):
    """Lagrangian system of the printed mass matrix; axial_mass scales the mass of the rod's axial field."""
    pi, rho, l1, l2 = p["pi_as_used"], p["rho"], p["L1"], p["L2"]
    area, slender = p["BB"] * p["HH"], p["HH"] / l2
    volume, stiffness = area * l2, p["E"] * area / l2
    MQ = rho * volume * np.array([[0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 8 * axial_mass, axial_mass], [0, 0, axial_mass, 2 * axial_mass]])
    KQ = stiffness * np.array([[pi**4 / 24 * slender**2, 0, 0, 0], [0, 2 / 3 * pi**4 * slender**2, 0, 0],
                               [0, 0, 16 / 3, -8 / 3], [0, 0, -8 / 3, 7 / 3]])
    BQ = np.zeros((4, 4))
    BQ[0, 2], BQ[0, 3], BQ[1, 3] = -16 / pi**3, 8 / pi**3 - 1 / pi, 1 / (2 * pi)
    BQ = volume * (BQ - BQ.T)
    c1, c2 = volume * np.array([0, 0, 2 / 3, 1 / 6]), volume * np.array([2 / pi, 0, 0, 0])
    c12, c21 = l2 * volume * np.array([0, 0, 1 / 3, 1 / 6]), l2 * volume * np.array([1 / pi, -1 / (2 * pi), 0, 0])

    def mass_matrix(q):
        e, c, s = q[3:], da.cos(q[0] - q[1]), da.sin(q[0] - q[1])
        M = np.zeros((7, 7), dtype=object)
        M[0, 0] = p["J1"] + p["M2"] * l1**2
        M[0, 1] = l1 * l2 * p["M2"] * c / 2 + rho * l1 * (s * (c2 @ e) + c * (c1 @ e))
        M[1, 1] = p["J2"] + e @ (MQ @ e) + 2 * rho * (c12 @ e)
        M[2, 2] = p["M3"]
        M[0, 3:] = rho * l1 * (-s * c1 + c * c2)
        M[1, 3:] = rho * (c21 + e @ BQ)
        M[3:, 3:] = MQ
        lower = np.tril_indices(7, -1)
        M[lower] = M.T[lower]
        return M

    def loop(q, t):
        rod = l2 + q[6]
        return [l1 * da.sin(q[0]) + rod * da.sin(q[1]), q[2] - l1 * da.cos(q[0]) - rod * da.cos(q[1]), q[0] - p["omega"] * t]

    system = da.lagrangian_system(lambda q, qd, t: qd @ (mass_matrix(q) @ qd) / 2 - q[3:] @ (KQ @ q[3:]) / 2,
                                  "phi1 phi2 x3 q1 q2 q3 q4", name="slider crank")
    return system.constrained(Holonomic("loop", loop, "m"))
