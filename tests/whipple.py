"""Whipple's bicycle as a Lagrangian with wheels that roll: Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007), with its
axes (x forward, z down) and names."""

import numpy as np

import dalembert as da
from dalembert.constraints import Holonomic, Velocity
from reference import reference

BENCHMARK = reference("manipulators_and_bicycle", "whipple_bicycle")
P = BENCHMARK["parameters"]
TILT, DOWN, ACROSS = np.pi / 10, np.array([0, 0, 1]), np.array([0, 1, 0])
REAR, FRONT = np.array([0, 0, -P["R"]["r"]]), np.array([P["w"], 0, -P["F"]["r"]])      # wheel centres where it stands upright [m]
HEAD = np.array([P["w"] + P["c"], 0, 0])                                               # where the steering axis meets the ground
NAMES = "x y yaw roll pitch steer rear front"      # (x, y) of the rear contact; turns of the wheels


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dtype=object)


def turn(axis, angle):
    """Rotation about x, y or z."""
    c, s = da.cos(angle), da.sin(angle)
    rows = {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]], "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}
    return np.array(rows[axis], dtype=object)


TILTED = turn("y", TILT).astype(float)
AXIS = TILTED @ DOWN                               # of the steering


class Motion:
    """Places and velocities of the four bodies at a state."""

    def __init__(self, q, qd):
        x, y, yaw, roll, pitch, steer, _, _ = q
        vx, vy, yaw_rate, roll_rate, pitch_rate, steer_rate, rear_rate, front_rate = qd
        self.heading = turn("z", yaw)
        lean = self.heading @ turn("x", roll)
        self.frame = lean @ turn("y", pitch)
        self.fork = self.frame @ (TILTED @ turn("z", steer) @ TILTED.T)
        self.rear_axle, self.front_axle = lean @ ACROSS, self.fork @ ACROSS
        leaning = yaw_rate * DOWN + roll_rate * (self.heading @ np.array([1, 0, 0]))
        self.w_frame = leaning + pitch_rate * self.rear_axle
        self.w_fork = self.w_frame + steer_rate * (self.frame @ AXIS)
        self.w_rear, self.w_front = self.w_frame + rear_rate * self.rear_axle, self.w_fork + front_rate * self.front_axle
        self.to_ground = -(lean @ REAR)
        self.rear = np.array([x, y, 0], dtype=object) - self.to_ground
        self.v_rear = np.array([vx, vy, 0], dtype=object) - cross(leaning, self.to_ground)
        self.head, self.v_head = self.on_frame(HEAD)
        self.front, self.v_front = self.on_fork(FRONT)
        self.slope = da.sqrt(1 - self.front_axle[2] * self.front_axle[2])
        self.front_to_ground = P["F"]["r"] * (DOWN - self.front_axle[2] * self.front_axle) / self.slope

    def on_frame(self, point):
        arm = self.frame @ (point - REAR)
        return self.rear + arm, self.v_rear + cross(self.w_frame, arm)

    def on_fork(self, point):
        arm = self.fork @ (point - HEAD)
        return self.head + arm, self.v_head + cross(self.w_fork, arm)


def lagrangian(q, qd, g):
    at = Motion(q, qd)

    def wheel(p, w, axle, v):
        spin = w @ axle
        return (p["m"] * (v @ v) + p["Ixx"] * (w @ w) + (p["Iyy"] - p["Ixx"]) * spin * spin) / 2

    def body(p, R, w, v):
        inertia = np.array([[p["Ixx"], 0, p["Ixz"]], [0, p["Iyy"], 0], [p["Ixz"], 0, p["Izz"]]])
        own = R.T @ w
        return (p["m"] * (v @ v) + own @ (inertia @ own)) / 2

    rider, v_rider = at.on_frame(np.array([P["B"]["x"], 0, P["B"]["z"]]))
    bars, v_bars = at.on_fork(np.array([P["H"]["x"], 0, P["H"]["z"]]))
    T = (wheel(P["R"], at.w_rear, at.rear_axle, at.v_rear) + wheel(P["F"], at.w_front, at.front_axle, at.v_front)
         + body(P["B"], at.frame, at.w_frame, v_rider) + body(P["H"], at.fork, at.w_fork, v_bars))
    depth = P["R"]["m"] * at.rear[2] + P["F"]["m"] * at.front[2] + P["B"]["m"] * rider[2] + P["H"]["m"] * bars[2]
    return T + g * depth


def bicycle(g=P["g"]):
    """The bicycle: three freedoms of velocity, of eight coordinates, a contact and four rows of rolling."""

    def touches(q, t):
        at = Motion(q, np.zeros(8))
        return [at.front[2] + P["F"]["r"] * at.slope]

    def rear_rolls(q, qd, t):
        at = Motion(q, qd)
        return (at.heading.T @ (at.v_rear + cross(at.w_rear, at.to_ground)))[:2]

    def front_rolls(q, qd, t):
        at = Motion(q, qd)
        return (at.heading.T @ (at.v_front + cross(at.w_front, at.front_to_ground)))[:2]

    free = da.lagrangian_system(lambda q, qd, t: lagrangian(q, qd, g), NAMES, name="bicycle")
    return free.constrained(Holonomic("contact", touches, "m"), Velocity("rear wheel", rear_rolls, "m/s"),
                            Velocity("front wheel", front_rolls, "m/s"))


# The forward speed v, and the rates of roll and steer.
VELOCITIES = {"roll_dot": "roll", "steer_dot": "steer", "v": lambda q, qd, t: -P["R"]["r"] * qd[6]}
