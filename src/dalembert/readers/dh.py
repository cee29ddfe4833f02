"""Serial chains from tables of Denavit-Hartenberg parameters, standard or modified.

    standard    T_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i)        frame i at the far end of link i
    modified    T_i = Rx(alpha_i) Tx(a_i) Rz(theta_i) Tz(d_i)        frame i on joint i; row i holds alpha_(i-1), a_(i-1)

The coordinate is added to theta (revolute) or d (prismatic); a fixed row has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dalembert.arguments import check_choice
from dalembert.errors import ReadError, UnknownNameError
from dalembert.model.joints import Fixed, JointType, Prismatic, Revolute
from dalembert.model.linkage import GRAVITY
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import Number, several
from dalembert.model.origins import Origin
from dalembert.model.parts import Frame
from dalembert.readers.motions import Elementary, constant_value, links, placement, serial

CONVENTIONS = ("standard", "modified")
JOINTS: dict[str, JointType] = {
    "revolute": Revolute((0, 0, 1)),
    "prismatic": Prismatic((0, 0, 1)),
    "fixed": Fixed(),
}


class DHParameters(NamedTuple):
    """A row of the table: a [m], alpha [rad], d [m], theta [rad]; theta (or d) is the joint's
    position at coordinate 0.

    Examples
    --------
    >>> import dalembert as da
    >>> da.from_dh([da.DHParameters(a=0.4), da.DHParameters(a=0.3)]).nq
    2
    """

    a: Any = 0
    alpha: Any = 0
    d: Any = 0
    theta: Any = 0
    joint: str = "revolute"


def from_dh(
    rows: Sequence[Any],
    convention: str = "standard",
    inertia: Sequence[Any] | None = None,
    name: str = "dh arm",
    gravity: Sequence[Number] = GRAVITY,
    base: Any = None,
    tool: Any = None,
) -> Mechanism:
    """Serial chain from Denavit-Hartenberg parameters.

    Parameters
    ----------
    rows : sequence
        Per joint a DHParameters, a mapping with its names, or (a, alpha, d, theta) or (a, alpha, d,
        theta, joint): lengths [m] and angles [rad] as numbers or arithmetic ("pi/2", "l1"); joint
        is "revolute", "prismatic" or "fixed": a row without a coordinate, as of a bent link or a
        bracket.
    convention : {'standard', 'modified'}
    inertia : sequence, optional
        Per row (mass, com, tensor about the centre of mass; 3x3 or Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of
        its link in the axes of its Denavit-Hartenberg frame, or None for a massless link.
    base, tool : Origin or (3,) numbers, optional
        Placement of the table's frame 0 in the base, and of the frame "tool" in the frame of the
        last row [m, rad]; frame 0 is the base, and there is no tool, unless they are given.

    Returns
    -------
    Mechanism
        Bodies base, link1, ..., joints q1, q2, ... about or along their z axes (of a fixed row k:
        fixedk, not counted), and the Denavit-Hartenberg frames dh1, .... A link's own axes are
        those of the frame in the modified convention; in the standard one the frame stands at Tx(a)
        Rx(alpha) on the link, and the inertia is carried there exactly.

    Raises
    ------
    ReadError, UnknownNameError
        A row or inertia that does not fit; an unknown convention, parameter or joint.

    References
    ----------
    Denavit and Hartenberg (1955); Craig, Introduction to Robotics (2005), section 3.4, for the
    modified convention.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.from_dh([(0.4, 0, 0, 0), (0.3, 0, 0, 0)], inertia=[da.solids.cylinder(1.0, 0.02, 0.4)] * 2)
    >>> da.placement(arm, [0.0, 0.0], "dh2")[:3, 3]
    array([0.7, 0. , 0. ])

    >>> rows = [(0.5, 0, 0, 0), (0.2, "pi/2", 0, 0, "fixed"), (0.3, 0, 0, 0)]
    >>> rods = [da.solids.cylinder(1.0, 0.02, 0.4), None, da.solids.cylinder(1.0, 0.02, 0.4)]
    >>> arm = da.from_dh(rows, inertia=rods, base=(0, 0, 1), tool=(0, 0, 0.1))
    >>> arm.coordinate_names
    ('q1', 'q2')
    >>> da.placement(arm, [0, 0], "tool")[:3, 3].round(3)
    array([ 1. , -0.1,  1. ])
    """
    check_choice("convention", convention, CONVENTIONS)
    rows = several(rows, "the table", "a list of rows (a, alpha, d, theta)")
    if not rows:
        raise ReadError(
            "the table has no rows; give one per joint, for example (0.4, 'pi/2', 0, 0)."
        )
    joints: list[tuple[str, JointType, Origin]] = []
    tips: list[Origin] = []
    after: list[Elementary] = []
    for k, given in enumerate(rows, 1):
        row = _checked(given, f"row {k}")
        across = [Elementary("Tx", row.a), Elementary("Rx", row.alpha)]
        along = [
            Elementary("Rz", row.theta),
            Elementary("Tz", row.d),
        ]  # d and theta commute with the coordinate's motion
        before, after = (
            (after + along, across) if convention == "standard" else (across + along, [])
        )
        moving = sum(name.startswith("q") for name, *_ in joints) + 1
        joints.append(
            (
                f"fixed{k}" if row.joint == "fixed" else f"q{moving}",
                JOINTS[row.joint],
                placement(before),
            )
        )
        tips.append(placement(after))
    frames = [Frame(f"dh{k}", f"link{k}", tip) for k, tip in enumerate(tips, 1)]
    if base is not None:
        first, of_type, origin = joints[0]
        joints[0] = first, of_type, _placed(base, "base") * origin
    if tool is not None:
        frames.append(Frame("tool", f"link{len(tips)}", tips[-1] * _placed(tool, "tool")))
    return serial(name, joints, links(inertia, tips), frames, gravity)


def _placed(given: Any, name: str) -> Origin:
    """The placement of the base or the tool."""
    if isinstance(given, Origin):
        return given
    try:
        return Origin(given)
    except (TypeError, ValueError) as error:
        raise ReadError(
            f"{name} is {given!r}; expected da.Origin(...), or 3 lengths ({error})"
        ) from None


def _checked(given: Any, where: str) -> DHParameters:
    """A row with its numbers read."""
    if isinstance(given, Mapping):
        for key in given:
            if key not in DHParameters._fields:
                raise UnknownNameError(f"parameter of {where}:", key, DHParameters._fields)
        row = DHParameters(**given)
    else:
        expected = "(a, alpha, d, theta) or (a, alpha, d, theta, joint)"
        entries = several(given, where, expected) if not isinstance(given, (str, bytes)) else ()
        if len(entries) not in (4, 5):
            raise ReadError(f"{where} is {given!r}; expected {expected}.")
        row = DHParameters(*entries)
    check_choice(f"joint of {where}:", row.joint, tuple(JOINTS))
    hint = "It is added to theta (revolute) or d (prismatic) by itself: give its offset there, mostly 0"
    a, alpha, d, theta = (
        constant_value(x, f"{where}, {name}", hint, angle=name in ("alpha", "theta"))
        for name, x in zip(row._fields, row[:4])
    )
    return DHParameters(a, alpha, d, theta, row.joint)
