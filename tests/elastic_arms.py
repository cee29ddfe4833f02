"""Elastic mechanisms of the tests, and the tables of their references (tests/data/reference)."""

import json
from pathlib import Path

import numpy as np

import dalembert as da

DATA = Path(__file__).parent / "data" / "reference"
LINKS = json.loads((DATA / "flexible_links.json").read_text())
BEAMS = json.loads((DATA / "beams.json").read_text())
EJ, RHOF, LENGTH = (LINKS["parameters"][name] for name in ("EJ", "rhoF", "l"))
NO_GRAVITY = (0, 0, 0)
MODES = {"plane": {"bend_y": 3}, "space": {"bend_y": 2, "bend_z": 1, "twist": 1, "stretch": 1}}


def two_links(modes=5, gravity=NO_GRAVITY, damping=None, kinematics="second_order"):
    """The source's arm in the plane x, y: two equal links and a payload sphere; joints about z."""
    link = da.Beam(LENGTH, EIy=EJ, EIz=EJ, mass_per_length=RHOF, damping=damping, kinematics=kinematics)
    payload = da.Body("load", 2.0, (0.05, 0, 0), (0.002, 0, 0.002, 0, 0, 0.002))
    bodies = [da.Body("base"), *(da.Body(name, beam=link, modes={"bend_y": modes}) for name in ("upper", "lower")), payload]
    joints = [da.Joint("shoulder", da.Revolute((0, 0, 1)), "base", "upper"),
              da.Joint("elbow", da.Revolute((0, 0, 1)), "upper", "lower", da.Origin((LENGTH, 0, 0))),
              da.Joint("grip", da.Fixed(), "lower", "load", da.Origin((LENGTH, 0, 0)))]
    return da.Mechanism("arm", bodies, joints, [da.Frame("tip", "lower", da.Origin((LENGTH, 0, 0)))], gravity=gravity)


def cantilever(modes=5, tip=None, joint=None, gravity=NO_GRAVITY, length=1.0, EI=1.0, mass=1.0, hub=1e-12, **beam):
    """A beam along x, clamped, or on a joint; tip: a `Body` at its end; hub: moment of inertia at its start."""
    modes = modes if isinstance(modes, dict) else {"bend_y": modes}
    link = da.Beam(length, EIy=EI, EIz=EI, mass_per_length=mass, **beam)
    bodies = [da.Body("wall"), da.Body("rod", 1e-12, inertia=(hub, 0, hub, 0, 0, hub), beam=link, modes=modes)]
    joints = [da.Joint("root", joint or da.Fixed(), "wall", "rod")]
    if tip is not None:
        bodies.append(tip)
        joints.append(da.Joint("tip joint", da.Fixed(), "rod", tip.name, da.Origin((length, 0, 0))))
    return da.Mechanism("cantilever", bodies, joints, [da.Frame("tip", "rod", da.Origin((length, 0, 0)))], gravity=gravity)


def sphere(mass=2.0, offset=0.05, moment=0.002):
    return da.Body("load", mass, (offset, 0, 0), (moment, 0, moment, 0, 0, moment))


def numbers(texts):
    return np.array(texts, dtype=float)


def arm(kinematics="second_order", modes="space", elements=1, **beam):
    """Two beams with modes of MODES, damped, and a load off their end; a frame in the middle of the second."""
    link = da.Beam(0.8, EIy=120.0, EIz=90.0, EA=6e5, GJ=70.0, mass_per_length=0.25, rotary_inertia=(2e-3, 0, 0) if modes == "space" else (0, 0, 0),
                   kinematics=kinematics, damping=da.Rayleigh(0.1, 2e-4), **beam)
    bodies = [da.Body("base"), *(da.Body(name, beam=link, modes=MODES[modes], elements=elements) for name in ("upper", "lower")),
              da.Body("load", 2.0, (0.05, 0.02, 0), (0.002, 0, 0.003, 0, 0, 0.004))]
    joints = [da.Joint("shoulder", da.Revolute((0, 0, 1)), "base", "upper", da.Origin((0, 0, 0), (("x", 0.3),))),
              da.Joint("elbow", da.Revolute((0, 1, 0) if modes == "space" else (0, 0, 1)), "upper", "lower", da.Origin((0.8, 0, 0)), viscous=0.2),
              da.Joint("grip", da.Fixed(), "lower", "load", da.Origin((0.8, 0, 0)))]
    return da.Mechanism("arm", bodies, joints, [da.Frame("middle", "lower", da.Origin((0.4, 0.01, 0)))])


def state(mechanism):
    q, qd = mechanism.random_state(1)
    return q, qd, np.random.default_rng(0).standard_normal(mechanism.nv)
