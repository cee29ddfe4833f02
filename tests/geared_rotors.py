"""A mechanism whose motors have rotors on several bodies, and the same with rotors that are bodies and turn."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

import dalembert as da

GEAR, MOMENT = 7.5, 5e-3
ROTOR = (0.3, (0, 0, 0), (2e-3, 0, 2e-3, 0, 0, MOMENT))      # of revolution about z
OBLIQUE = ((0.36, 0.48, 0.8), 0.7)
PARENTS = {"a": "base", "b": "arm1", "slide": "arm2", "c": "arm3", "d": "arm3"}
CARRIERS = {"a": "arm1", "b": "arm1", "slide": "arm1", "c": "arm2", "d": "arm3"}


def arm():
    """Turns about skew axes, a slide, a branch and a follower of b."""
    turns = {"a": (0, 0, 1), "b": (0, 1, 0), "c": (0.6, 0, 0.8), "d": (1, 0, 0)}
    rng = np.random.default_rng(1)
    bodies, joints = [da.Body("base")], []
    for k, (name, parent) in enumerate(PARENTS.items(), 1):
        bodies.append(da.Body(f"arm{k}", 1.0 + k, tuple(rng.uniform(-0.2, 0.2, 3)), (0.05, 0.001, 0.06, 0.002, 0.003, 0.07)))
        kind = da.Prismatic((0, 0.6, 0.8)) if name == "slide" else da.Revolute(turns[name])
        origin = da.Origin(tuple(rng.uniform(-0.5, 0.5, 3)), (OBLIQUE,))
        joints.append(da.Joint(name, kind, parent, f"arm{k}", origin, mimic=da.Mimic("b", 0.5, 0.1) if name == "d" else None))
    return da.Mechanism("geared arm", bodies, joints)


@lru_cache(maxsize=1)
def geared():
    """(actuators, bodies that turn): two models of one mechanism."""
    locked = explicit = arm()
    motors = []
    for k, (joint, body) in enumerate(CARRIERS.items()):
        place = da.Origin((0.1 * k, 0.2, -0.1), (OBLIQUE,))
        rotor = da.Body(f"rotor_{joint}", *ROTOR)
        locked = locked.attach(rotor, body, origin=place)
        spin = da.Joint(f"spin_{joint}", da.Continuous((0, 0, 1)), body, rotor.name, place, mimic=da.Mimic(joint, GEAR))
        explicit = replace(explicit, bodies=(*explicit.bodies, rotor), joints=(*explicit.joints, spin))
        motors.append(da.Actuator(f"motor_{joint}", joint, GEAR, MOMENT, body=rotor.name, axis=(0, 0, 1)))
    return locked.with_actuators(*motors), explicit
