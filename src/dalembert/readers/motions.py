"""Serial chains written as products of elementary motions: "Tz(0.333) Rz(q1) Rx(-pi/2) Tx(l)
Rz(q2)".

    T = Tz(0.333) Rz(q1) Rx(-pi/2) ...      placement of the last frame in the base (docs/elementary_motions.md)

Tx, Ty, Tz translate along an axis, Rx, Ry, Rz turn about it (kinds 1 to 6); each acts in the axes
that the motions before it made. q, q1, q2, ... are the coordinates; every other name is a constant,
known (pi) or a symbol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from dalembert.errors import ReadError
from dalembert.expr import Expr, free_symbols, known_zero
from dalembert.model.joints import JointType, Prismatic, Revolute
from dalembert.model.linkage import GRAVITY
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import Number, several
from dalembert.model.origins import AXIS_LETTERS, Origin
from dalembert.model.parts import Body, Frame, Joint
from dalembert.readers.arithmetic import given_angle, given_number, plain
from dalembert.readers.mass_properties import body_of
from dalembert.spatial.vectors import Vector

KINDS = ("Tx", "Ty", "Tz", "Rx", "Ry", "Rz")  # 1 to 6
COORDINATE = re.compile(r"q[0-9]*")
MAX_CHAIN = 100_000  # characters of a chain: some 10 000 motions
MAX_CONSTANTS = 100  # motions between two coordinates; six place any frame
HEAD = re.compile(r"\s*(?P<kind>\w+)\s*\(")
BRACKET_OR_TEXT = re.compile(r"""[()]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


class Elementary(NamedTuple):
    """An elementary motion by a constant value, or by the coordinate of that name."""

    kind: str
    value: Number = 0
    coordinate: str = ""


def from_motions(
    chain: str | Sequence[tuple[Any, Any]],
    inertia: Sequence[Any] | None = None,
    name: str = "chain",
    gravity: Sequence[Number] = GRAVITY,
) -> Mechanism:
    """Serial chain from a product of elementary motions.

    Parameters
    ----------
    chain : str or sequence of pairs
        "Tz(0.333) Rz(q1) Tx(l)", or [("Tz", 0.333), ("Rz", "q1"), ("Tx", "l")], or by kinds 1 to 6
        [(3, 0.333), (6, "q1"), (1, "l")]. The coordinates q, q1, q2, ... stand alone, each once;
        lengths [m] and angles [rad] are numbers or arithmetic of numbers, pi and symbols.
    inertia : sequence, optional
        Per coordinate (mass, com, tensor about the centre of mass; 3x3 or Ixx, Ixy, Iyy, Ixz, Iyz,
        Izz) in the axes after that coordinate's motion, or None for a massless body between two
        motions of one joint.

    Returns
    -------
    Mechanism
        Bodies base, link1, link2, ...; each coordinate is a revolute or prismatic joint of its
        name, the constant motions before it are its origin, those after the last one the frame
        "tool".

    Raises
    ------
    ReadError
        Where and why the chain is no product of elementary motions, or the inertia does not fit it.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.from_motions("Tz(0.3) Rz(q1) Tx(0.4) Rz(q2) Tx(0.2)")
    >>> da.placement(arm, [0.0, 0.0], "tool")[:3, 3].round(3)
    array([0.6, 0. , 0.3])
    """
    joints: list[tuple[str, JointType, Origin]] = []
    constants: list[Elementary] = []
    seen: set[str] = set()
    for letters, value, where in _parsed(chain) if isinstance(chain, str) else _listed(chain):
        motion = _elementary(letters, value, where)
        if motion.coordinate in seen:
            raise ReadError(
                f"{where}: the coordinate {motion.coordinate} occurs twice; each moves one joint."
            )
        if motion.coordinate:
            seen.add(motion.coordinate)
            kind_of_joint = Revolute if motion.kind[0] == "R" else Prismatic
            joints.append(
                (
                    motion.coordinate,
                    kind_of_joint(AXIS_LETTERS[motion.kind[1]]),
                    placement(constants),
                )
            )
            constants = []
        else:
            constants.append(motion)
        if len(constants) > MAX_CONSTANTS:
            raise ReadError(
                f"{where}: more than MAX_CONSTANTS = {MAX_CONSTANTS} constant motions in a row."
            )
    if not joints:
        raise ReadError(
            "the chain has no coordinate: write q, q1, q2, ... for the motions of joints, as in "
            "'Rz(q1)'."
        )
    last = f"link{len(joints)}"
    frames = [Frame("tool", last, placement(constants))] if constants else []
    return serial(name, joints, links(inertia, [Origin()] * len(joints)), frames, gravity)


# --- what Denavit-Hartenberg rows share -----------------------------------------------------------------------------


def placement(motions: Iterable[Elementary]) -> Origin:
    """Constant motions as one placement: the turns stay as they are, translations go to the
    parent's axes.
    """
    origin = Origin()
    for kind, value, _ in motions:
        if kind[0] == "T":
            step = origin.transform(lambda x: x, exact=True).R.to_parent(
                Vector(value if k == kind[1] else 0 for k in "xyz")
            )
            origin = Origin(
                tuple(_sum(a, plain(b)) for a, b in zip(origin.xyz, step, strict=True)),
                origin.rotations,
            )
        elif not known_zero(value):
            origin = Origin(origin.xyz, (*origin.rotations, (kind[1], value)))
    return origin


def _sum(a: Number, b: Number) -> Number:
    """a + b; a decimal to which nothing is added keeps its text."""
    return a if known_zero(b) else b if known_zero(a) else plain(a + b)


def links(inertia: Sequence[Any] | None, frames: Sequence[Origin]) -> list[Body]:
    """link1, link2, ... with the inertia given in these frames on them."""
    properties = (
        [None] * len(frames)
        if inertia is None
        else several(inertia, "inertia", "a list with (mass, com, tensor) or None for each joint")
    )
    if len(properties) != len(frames):
        raise ReadError(
            f"inertia has {len(properties)} entries, expected {len(frames)}, one per joint (None: "
            "massless)."
        )
    try:
        return [
            body_of(f"link{k}", body, frame)
            for k, (body, frame) in enumerate(zip(properties, frames), 1)
        ]
    except (TypeError, ValueError) as error:
        raise ReadError(str(error)) from None


def serial(
    name: str,
    joints: Sequence[tuple[str, JointType, Origin]],
    bodies: Sequence[Body],
    frames: Sequence[Frame],
    gravity: Sequence[Number],
) -> Mechanism:
    """Mechanism of a base and bodies in a row, each on its joint: name, type and origin."""
    parents = ["base", *(b.name for b in bodies)]
    row = tuple(
        Joint(joint, of_type, parent, body.name, origin)
        for (joint, of_type, origin), parent, body in zip(joints, parents, bodies, strict=False)
    )
    return Mechanism(
        name,
        (Body("base"), *bodies),
        row,
        tuple(frames),
        several(gravity, "gravity", "3 numbers"),
    )


# --- the two ways to write a chain ----------------------------------------------------------------------------------


def _parsed(chain: str) -> Iterator[tuple[str, str, str]]:
    """(kind, value, where) of each motion of a text."""
    if len(chain) > MAX_CHAIN:
        raise ReadError(
            f"a chain of {len(chain)} characters; at most MAX_CHAIN = {MAX_CHAIN} are read."
        )
    chain = chain.rstrip()
    position = 0
    while position < len(chain):
        head = HEAD.match(chain, position)
        if head is None:
            following = chain[position:].lstrip()
            where = _place(chain, len(chain) - len(following))
            raise ReadError(
                f"{where}: {following[:20]!r} is no motion. Write Tx(...), Ty, Tz, Rx, Ry or Rz, each "
                "with its value in parentheses."
            )
        where = _place(chain, head.start("kind"))
        depth = 1
        for mark in BRACKET_OR_TEXT.finditer(chain, head.end()):
            depth += {"(": 1, ")": -1}.get(mark[0], 0)
            if depth == 0:
                break
        else:
            raise ReadError(f"{where}: the parenthesis after {head['kind']} is not closed.")
        yield head["kind"], chain[head.end() : mark.start()].strip(), where
        position = mark.end()


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return f"line {line}, column {column}"


def _listed(chain: Any) -> Iterator[tuple[Any, Any, str]]:
    """(kind, value, where) of each motion of a list of pairs."""
    for k, pair in enumerate(
        several(chain, "the chain", "a text such as 'Rz(q1) Tx(1)', or a list of pairs"), 1
    ):
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise ReadError(
                f"motion {k}: {pair!r}; expected a pair such as ('Tz', 0.3), ('Rz', 'q1') or (6, "
                "'q1')."
            )
        yield pair[0], pair[1], f"motion {k}"


def _elementary(kind: Any, value: Any, where: str) -> Elementary:
    """The motion by a coordinate where the value is its name alone, else by a constant."""
    names = (
        kind in KINDS
        if isinstance(kind, str)
        else isinstance(kind, Integral) and kind in range(1, len(KINDS) + 1)
    )
    if not names:
        raise ReadError(
            f"{where}: unknown motion {kind!r} (known: {', '.join(KINDS)}; in lists also 1 to 6)."
        )
    kind = kind if isinstance(kind, str) else KINDS[int(kind) - 1]
    text = value.name if isinstance(value, Expr) and value.op == "symbol" else value
    if isinstance(text, str) and COORDINATE.fullmatch(text.strip()):
        return Elementary(kind, coordinate=text.strip())
    hint = "A coordinate stands alone, as in Rz(q1)"
    return Elementary(kind, constant_value(value, f"{where}, {kind}", hint, angle=kind[0] == "R"))


def constant_value(value: Any, noun: str, hint: str, angle: bool) -> Number:
    """A constant length or angle; ReadError for what is no number, and, with the hint, for a
    coordinate inside.
    """
    try:
        x = given_angle(value, noun) if angle else given_number(value, noun)
    except (TypeError, ValueError) as error:
        raise ReadError(str(error)) from None
    inside = (
        [s.name for s in free_symbols(x) if COORDINATE.fullmatch(s.name)]
        if isinstance(x, Expr)
        else []
    )
    if inside:
        raise ReadError(
            f"{noun} is {x}, but {inside[0]} is the name of a coordinate. {hint}; constants have "
            "other names."
        )
    return x
