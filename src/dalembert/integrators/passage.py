"""Steps over singular positions, where rows of constraints depend on each other for a moment.

There J M^-1 J^T is singular, and near by it enlarges what stages of a step are off the constraints.
A step that passes such a position has it between its stages, in their widest gap; the step before
ends where that is possible. Stages of the step are brought back to the constraints.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dalembert.expr import maximum, minimum
from dalembert.integrators.choice import chosen
from dalembert.integrators.fixed_point import HUGE
from dalembert.integrators.method_kinds import Errors, Rate

# Of a step: where the singular position is to be, in the middle of the widest gap between stages.
MIDDLE = 0.467
RETURNS = 3  # to the constraints of a stage of such a step
TOUCHED = 0.05  # of the margins of its ends: a stage with less is too near to a singular position
AGAIN = 0.7  # of a step with such a stage, which moves the position from stage to stage to the gap
APPROACHED, FALLEN = (
    0.9,
    0.15,
)  # of the margin before: it falls; it falls so far that a step is not taken
LOW = 0.2  # margin at which such a fall counts


class Passage(NamedTuple):
    """Singular positions as a step begins.

    margin : 1 far from singular positions, 0 in them; it falls in proportion to the distance. 0 of
        the first step too
    distance : to the next one [s]; HUGE: none is near
    natural : step that errors alone allow [s]
    """

    margin: Any = 0.0
    distance: Any = HUGE
    natural: Any = 0.0

    def crossed(self, used: Any) -> Any:
        """1 of a step of this length that passes the position between its stages."""
        return chosen(self.distance <= 1.001 * MIDDLE * used, 1.0, 0.0)

    def cut(self, used: Any) -> Any:
        """The natural step, if one of this length was shorter for the sake of a position; else 0."""
        return chosen(used < 0.999 * self.natural, self.natural, 0.0)

    def falls(self, margin: Any) -> Any:
        """1 of a step that ends too near to a singular position to go on from there."""
        return chosen(margin < minimum(LOW, FALLEN * self.margin), 1.0, 0.0)

    def touched(self, margin: Any, least: Any) -> Any:
        """1 of a step that ends with a margin, and of whose stages one has a far lesser margin."""
        return chosen(least < TOUCHED * maximum(self.margin, margin), 1.0, 0.0)

    def before(self, used: Any, margin: Any) -> Any:
        """Distance of the position that a step of this length fell to."""
        return used * self.margin / maximum(self.margin - margin, 1 / HUGE)

    def after(self, used: Any, margin: Any, natural: Any) -> Passage:
        """Singular positions as the next step begins."""
        falling = chosen(margin < APPROACHED * self.margin, 1.0, 0.0)
        ahead = used * margin / maximum(self.margin - margin, 1 / HUGE)
        return Passage(margin, chosen(falling > 0, ahead, HUGE), natural)


def placed(distance: Any, natural: Any) -> Any:
    """Step that has a position at this distance in its middle, or that lets the next step have it."""
    two = chosen(distance < 0.667 * natural, distance / 3, distance - MIDDLE * natural)
    short = chosen(distance <= MIDDLE * natural, distance / MIDDLE, two)
    return chosen(distance < (1 + MIDDLE) * natural, short, natural)


class Landing:
    """The manifold of constraints for a step, with the singular positions near by.

    passage : singular positions as the step begins
    margin : of the state where the step ended: 1 far from singular positions, 0 in them
    """

    def __init__(self, manifold: Any, passage: Passage):
        self._manifold = manifold
        self.passage = passage
        self.margin: Any = 1.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manifold, name)

    def met(self, t: Any, x: Any, errors: Errors = ()) -> tuple[Any, Errors]:
        """The state nearby, and the parts of errors along the manifold."""
        self.margin, x, *along = self._manifold.landed(t, x, errors)
        return x, tuple(along)

    @property
    def least(self) -> Any:
        """Least margin of the stages."""
        return self._manifold.least

    def crossing(self, f: Rate, used: Any) -> Rate:
        """f; of states that are brought back first, in a step of this length over a position."""
        return self._manifold.crossing(f, self.passage.crossed(used))  # type: ignore[no-any-return]
