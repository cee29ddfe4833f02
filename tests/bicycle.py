"""The Whipple bicycle of the benchmark of Meijaard, Papadopoulos, Ruina and Schwab (2007) as a mechanism.

x forward, z down; the rear frame on joints x, y, z, yaw, roll, pitch at the rear wheel's centre.
"""

import json
from pathlib import Path

import numpy as np

import dalembert as da

DATA = json.loads((Path(__file__).parent / "data/reference/manipulators_and_bicycle.json").read_text())["whipple_bicycle"]
GUIDES = ("x", "y", "z", "yaw", "roll", "pitch")


def bicycle():
    p = DATA["parameters"]
    w, c, tilt = p["w"], p["c"], np.pi / 10
    rear, front = p["R"]["r"], p["F"]["r"]
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    head = np.array([w + c, 0, 0]) - axis                    # a point of the steering axis
    hub = np.array([0, 0, -rear])

    def part(name, entry, place, origin):
        x, z = entry.get("x", 0) if "x" in entry else place[0], entry["z"] if "z" in entry else place[2]
        moments = entry["Ixx"], 0, entry["Iyy"], entry.get("Ixz", 0), 0, entry.get("Izz", entry["Ixx"])
        return da.Body(name, entry["m"], tuple(np.array([x, 0, z]) - origin), moments)

    wheels = {"R": hub, "F": np.array([w, 0, -front])}
    bodies = [da.Body("base"), *(da.Body(f"{name} guide") for name in GUIDES[:-1]),
              part("frame", p["B"], None, hub), part("fork", p["H"], None, head),
              part("rear wheel", p["R"], wheels["R"], wheels["R"]), part("front wheel", p["F"], wheels["F"], wheels["F"])]
    axes = [da.Prismatic((1, 0, 0)), da.Prismatic((0, 1, 0)), da.Prismatic((0, 0, 1)),
            da.Revolute((0, 0, 1)), da.Revolute((1, 0, 0)), da.Revolute((0, 1, 0))]
    on = ["base", *(f"{name} guide" for name in GUIDES[:-1]), "frame"]
    joints = [da.Joint(name, axis, parent, child) for name, axis, parent, child in zip(GUIDES, axes, on, on[1:])]
    spin = da.Revolute((0, 1, 0))
    joints += [da.Joint("steer", da.Revolute(tuple(axis)), "frame", "fork", da.Origin(tuple(head - hub))),
               da.Joint("rear spin", spin, "frame", "rear wheel"),
               da.Joint("front spin", spin, "fork", "front wheel", da.Origin(tuple(wheels["F"] - head)))]
    ground = (0, 0, 0), (0, 0, -1)
    rolls = [da.constraints.Rolling(f"{end} contact", (f"{end} wheel", (0, 0, 0), (np.pi / 2, 0, 0)), r, ground)
             for end, r in (("rear", rear), ("front", front))]
    return da.Mechanism("bicycle", bodies, joints, gravity=(0, 0, p["g"])).constrained(*rolls)


def upright(mechanism, speed):
    """q, qd of the straight motion at a speed [m/s]."""
    p = DATA["parameters"]
    q, qd = np.zeros(mechanism.nq), np.zeros(mechanism.nv)
    names = mechanism.coordinate_names
    q[names.index("z")] = -p["R"]["r"]
    for name, value in (("x", speed), ("rear spin", -speed / p["R"]["r"]), ("front spin", -speed / p["F"]["r"])):
        qd[names.index(name)] = value
    return q, qd
