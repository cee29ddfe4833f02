"""Values of two other engines for real robots, mapped to this package's conventions (tests/data/oracles/README.md)."""

import json
from functools import cache
from pathlib import Path

import numpy as np

import dalembert as da
from dalembert import data

DATA = Path(__file__).parent / "data"
INDEX = json.loads((DATA / "oracles" / "index.json").read_text())
ROBOTS = tuple(INDEX)


def file_of(name):
    """The robot's file, one of the package."""
    return data.path(Path(INDEX[name]["model_file"]).stem)


@cache
def robot(name):
    """The mechanism as the oracles saw it: followers independent, nothing dissipative."""
    meta = INDEX[name]
    base = "free" if meta["floating_base"] else "fixed"
    return da.load(file_of(name), base=base, mimic="independent", passive=False, exact_angles=False)


@cache
def values(name):
    """Arrays of one robot, read-only."""
    with np.load(DATA / "oracles" / f"{name}.npz") as file:
        return {key: file[key] for key in file.files if key != "meta"}


def coordinates(name, q):
    """q of the oracle as ours: by joint name; quaternion w first and before the position; angles for (cos, sin)."""
    arm, out = robot(name), []
    places = {j["name"]: j for j in INDEX[name]["joints"]}
    for joint in arm.independent_joints:
        place = places[joint.name]
        part = q[..., place["idx_q"]:place["idx_q"] + place["nq"]]
        if place["nq"] == 7:
            part = part[..., [6, 3, 4, 5, 0, 1, 2]]
        elif joint.type.name == "continuous":
            part = np.arctan2(part[..., 1:], part[..., :1])
        out.append(part)
    return np.concatenate(out, axis=-1)


def order(name):
    """For each entry of our qd, its place in the oracle's v."""
    arm, out = robot(name), []
    places = {j["name"]: j for j in INDEX[name]["joints"]}
    for joint in arm.independent_joints:
        place = places[joint.name]
        entries = list(range(place["idx_v"], place["idx_v"] + place["nv"]))
        out += entries[3:] + entries[:3] if place["nv"] == 6 else entries
    return out


def angular_first(rows):
    """Spatial rows of the oracle (linear first) as ours."""
    return rows[..., [3, 4, 5, 0, 1, 2], :] if rows.ndim > 2 else rows[..., [3, 4, 5, 0, 1, 2]]
