"""Exact angles: rational multiples of pi with exact sines and cosines at multiples of pi/12."""

from __future__ import annotations

import math
from fractions import Fraction

from dalembert.expr import Expr, constant, cos, sin, sqrt

# sines of multiples of pi/12 have square roots at worst; finer multiples have no short closed form
STEPS = 12
RATIONAL = {0: 1, 4: Fraction(1, 2), 6: 0}  # cosines of the steps that are rational
# rad; files write turns, and beyond it decimals of a multiple of pi are somebody's own number
LARGEST = 1e3
SNAP = (
    1e-9  # rad; decimals of pi/2 as files write them (1.5708 is off by 3.7e-6 and stays what it is)
)


class PiMultiple:
    """The angle (numerator / denominator) pi rad, kept exactly."""

    __slots__ = ("turns",)
    turns: Fraction  # multiple of pi

    def __init__(self, turns):
        object.__setattr__(self, "turns", Fraction(turns))

    def __setattr__(self, name, value):
        raise AttributeError("PiMultiple is immutable")

    def __float__(self) -> float:
        return float(self.turns) * math.pi

    def __neg__(self) -> PiMultiple:
        return PiMultiple(-self.turns)

    def __eq__(self, other) -> bool:
        return isinstance(other, PiMultiple) and self.turns == other.turns

    def __hash__(self) -> int:
        return hash((PiMultiple, self.turns))

    def __repr__(self) -> str:
        n, d = self.turns.numerator, self.turns.denominator
        if n == 0:
            return "0"
        head = {1: "pi", -1: "-pi"}.get(n, f"{n}*pi")
        return head if d == 1 else f"{head}/{d}"

    def __reduce__(self):
        return (PiMultiple, (self.turns,))


def snapped(angle: float, tolerance: float = SNAP) -> PiMultiple | None:
    """The multiple of pi/12, other than 0, within a tolerance [rad] of an angle, or None."""
    if not abs(angle) <= LARGEST:
        return None
    steps = round(angle * STEPS / math.pi)
    if steps == 0 or abs(angle - steps * math.pi / STEPS) > tolerance:
        return None
    return PiMultiple(Fraction(steps, STEPS))


def cos_sin(angle, exact: bool = False) -> tuple:
    """Cosine and sine of an angle [rad] given as a number, PiMultiple or expression.

    Multiples of pi/12 give exact 0, 1/2 and 1; with `exact` their square roots come as expressions,
    else as floats.
    """
    if isinstance(angle, PiMultiple):
        steps = angle.turns * STEPS
        if steps.denominator == 1:
            root = _root_node if exact else math.sqrt
            return _cosine(int(steps), root), _cosine(int(steps) - STEPS // 2, root)
        return math.cos(float(angle)), math.sin(float(angle))
    if isinstance(angle, Expr):
        return cos(angle), sin(angle)
    if angle == 0:
        return 1, 0
    return math.cos(angle), math.sin(angle)


def _cosine(steps: int, root):
    """cos(steps pi / 12), exactly."""
    steps = abs(steps) % (2 * STEPS)
    steps = min(steps, 2 * STEPS - steps)  # 0..12
    if steps > STEPS // 2:
        return -_cosine(STEPS - steps, root)
    if steps in RATIONAL:
        return RATIONAL[steps]
    if steps in (2, 3):
        return root(5 - steps) / 2  # sqrt(3)/2, sqrt(2)/2
    return (root(6) + (root(2) if steps == 1 else -root(2))) / 4


def _root_node(n: int):
    return sqrt(constant(n))
