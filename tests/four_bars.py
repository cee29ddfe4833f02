"""Loops that the tests of this folder share."""

import numpy as np

import dalembert as da
from dalembert import constraints

Z = da.Revolute((0, 0, 1))


def rod(name, length):
    return da.Body(name, length, (length / 2, 0, 0), (0, 0, length ** 3 / 12, 0, 0, length ** 3 / 12))


def tree(crank=0.4, coupler=1.0, rocker=0.8, base=1.0, **options):
    joints = (da.Joint("a", Z, "base", "crank", **options), da.Joint("b", Z, "crank", "coupler", da.Origin((crank, 0, 0))),
              da.Joint("d", Z, "base", "rocker", da.Origin((base, 0, 0))))
    rods = rod("crank", crank), rod("coupler", coupler), rod("rocker", rocker)
    return da.Mechanism("four-bar", (da.Body("base"), *rods), joints, gravity=(0, -9.81, 0))


def loop(crank=0.4, coupler=1.0, rocker=0.8, base=1.0, **options):
    """A four-bar whose gap is a function of its coordinates: two rows, none of them redundant."""

    def gap(q, t):
        at = [crank * f(q[0]) + coupler * f(q[0] + q[1]) - rocker * f(q[2]) for f in (da.cos, da.sin)]
        return [at[0] - base, at[1]]

    return tree(crank, coupler, rocker, base).constrained(constraints.Holonomic("gap", gap, "m"), **options)


def pinned(crank=0.4, coupler=1.0, rocker=0.8, base=1.0, **options):
    """The same closed by a ball, one of whose three rows is redundant in the plane."""
    pin = constraints.Closure("pin", da.Spherical(), ("coupler", (coupler, 0, 0)), ("rocker", (rocker, 0, 0)))
    return tree(crank, coupler, rocker, base).constrained(pin, **options)


def state(mechanism):
    q = da.assemble(mechanism, [1.2, -0.8, 1.5], fixed=["a"])
    return q, da.project(mechanism, q, [2.0, -2.0, 1.0])[1]


def four_bar_angles(a, crank=0.4, coupler=1.0, rocker=0.8, base=1.0, sign=1.0):
    """Closed form: a, b, d of the four-bar by the cosine theorem on its diagonal."""
    pin = crank * np.array([np.cos(a), np.sin(a)])
    across = np.array([base, 0]) - pin
    r = np.hypot(*across)
    bend = np.arccos((coupler**2 + r**2 - rocker**2) / (2 * coupler * r))
    angle = np.arctan2(across[1], across[0]) + sign * bend
    end = pin + coupler * np.array([np.cos(angle), np.sin(angle)])
    return np.array([a, angle - a, np.arctan2(end[1], end[0] - base)])
