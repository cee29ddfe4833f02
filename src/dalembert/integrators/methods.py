"""The methods by name, one step of each kind, and control of the step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from dalembert.errors import UnknownNameError
from dalembert.expr import absolute, maximum, minimum, power
from dalembert.integrators import (
    discrete_gradient,
    dop853,
    dopri5,
    explicit_euler,
    gauss4,
    gauss6,
    implicit_midpoint,
    lie_rk4,
    radau5,
    rk4,
    symplectic_euler,
)
from dalembert.integrators.choice import chosen
from dalembert.integrators.fixed_point import HUGE

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0      # of the step that would just do
LEAST = 1e-14                             # of the times: a smaller step does not move on
WORST, BEST = 1e20, 1e-20                 # squares of errors relative to the tolerances, for the choice of the next step
REACHED, FAILED = 1.0, 2.0
NOT_FINITE, NOT_SETTLED, TOO_SMALL = 1.0, 2.0, 3.0      # why a trajectory stays where it is; 0: it does not

REASONS = {NOT_FINITE: "a number is no longer finite",
           NOT_SETTLED: "the iteration for an implicit step does not settle: the step is too long",
           TOO_SMALL: "the step became too small: the system looks stiff or singular there"}


class Fixed(NamedTuple):
    """step(f, t, x, h) -> x; an implicit one takes `solve` too, a `fixed_point.Solver`."""

    name: str
    order: int
    step: Callable[..., Any]
    implicit: bool = False


class Adaptive(NamedTuple):
    """step(f, t, x, h, first) -> (x, errors, last), with first = f(t, x) and last = f(t + h, x)."""

    name: str
    order: int
    step: Callable[..., Any]


class External(NamedTuple):
    """steps(f, times, x, h, rtol, atol, jacobian): a library's method, which is called and not compiled."""

    name: str
    order: int
    steps: Callable[..., Any]


Method = Fixed | Adaptive | External

METHODS: dict[str, Method] = {m.name: m for m in (
    Fixed("explicit_euler", 1, explicit_euler.step), Fixed("symplectic_euler", 1, symplectic_euler.step),
    Fixed("rk4", 4, rk4.step), Adaptive("dopri5", dopri5.ORDER, dopri5.step), Adaptive("dop853", dop853.ORDER, dop853.step),
    Fixed("implicit_midpoint", 2, implicit_midpoint.step, True), Fixed("gauss4", 4, gauss4.step, True),
    Fixed("gauss6", 6, gauss6.step, True), Fixed("discrete_gradient", 2, discrete_gradient.step, True),
    Fixed("lie_rk4", 4, lie_rk4.step), External("radau5", radau5.ORDER, radau5.steps))}


def method(name: str, *, nq: int | None = None, nv: int | None = None, move: Callable[[Any, Any], Any] | None = None,
           quaternions: Sequence[tuple[int, int]] = (), energy: Callable[[Any], Any] | None = None,
           energy_gradient: Callable[[Any], Any] | None = None) -> Method:
    """A method by its name, with what some of them must know of the system; others make no use of it.

    Parameters
    ----------
    nq, nv : int
        Lengths of q and qd in x = (q, qd, ...), for 'symplectic_euler'; by default nv = nq.
    move : function (q, step) -> q
        For 'symplectic_euler', q moved along qd by a step (nv,), as `Mechanism.integrate`; by default q + step.
    quaternions : sequence of (place of a quaternion in x, place of its angular velocity in x)
        For 'lie_rk4', which turns them; the angular velocity is in the axes of the body that turns.
    energy, energy_gradient : function of x
        What 'discrete_gradient' keeps, and its derivative by x, by default the derivative of the traced energy.

    Raises
    ------
    UnknownNameError, ValueError
        There is none of this name, the error lists those there are; an option is missing.
    """
    if name not in METHODS:
        raise UnknownNameError("method", name, tuple(METHODS))
    known = METHODS[name]
    options: dict[str, Any] = {}
    if name == "symplectic_euler":
        if nq is None:
            raise ValueError("symplectic_euler must know where coordinates end and velocities begin: give nq= (and nv=, "
                             "move= where coordinates are quaternions).")
        if move is None and nv not in (None, nq):
            raise ValueError(f"symplectic_euler with {nq} coordinates and {nv} velocities: give move=, as q + step has no "
                             "meaning.")
        options = {"nq": nq, "nv": nq if nv is None else nv, "move": move or _added}
    if name == "lie_rk4":
        options = {"quaternions": tuple(quaternions)}
    if name == "discrete_gradient":
        if energy is None:
            raise ValueError("discrete_gradient must know the energy that it keeps: give energy=, a function of x.")
        options = {"energy": energy, "energy_gradient": energy_gradient or discrete_gradient.gradient_of(energy)}
    return known._replace(step=partial(known.step, **options)) if options and isinstance(known, Fixed) else known


def _added(q: Any, step: Any) -> Any:
    return q + step


class Stepped(NamedTuple):
    """What one step of fixed length leaves; x and steps stay where they were if it failed."""

    t: Any
    x: Any
    steps: Any
    failed: Any


def fixed_step(x: Any, new: Any, settled: Any, start: Any, h: Any, steps: Any, failed: Any) -> Stepped:
    """A step from x to `new`, counted; times are start + steps h, which does not drift.

    A trajectory that failed stays where it is: at its last state where an implicit step could not be solved (settled is
    not above 0), at the state that is not finite otherwise.
    """
    found = chosen(settled > 0, chosen(sum(absolute(new)) <= HUGE, 0.0, NOT_FINITE), NOT_SETTLED)
    code = chosen(failed > 0, failed, found)
    x = chosen(failed > 0, x, chosen(settled > 0, new, x))
    steps = chosen(code > 0, steps, steps + 1)
    return Stepped(start + steps * h, x, steps, code)


class Controlled(NamedTuple):
    """What one attempted step leaves: the state, moved on if the error was small enough, and the next step."""

    t: Any
    x: Any
    first: Any
    h: Any
    accepted: Any
    rejected: Any
    done: Any
    failed: Any


def controlled_step(pair: Adaptive, f: Any, t: Any, x: Any, h: Any, first: Any, goal: Any, rtol: Any, atol: Any,
                    failed: Any = 0.0, project: Callable[[Any], Any] | None = None) -> Controlled:
    """One step of length h [s] at most toward the time `goal`, taken only if the estimated error is within the tolerances.

        err = sqrt(mean_i (e_i / (atol + rtol max(|x_i|, |x_new,i|)))^2) <= 1
        h_new = h min(5, max(0.2, 0.9 err^(-1/order)))

    A step that is cut short to end at the goal does not shorten the next one. An error that is not a number shortens the
    step. done: 1 at the goal, 2 where the step has become too small to move the time, for a reason in `failed`. At the
    goal and after a failure nothing moves any more.

    Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), section II.4.
    """
    left = absolute(goal - t)
    moving = chosen(failed > 0, 0.0, chosen(left > 0, 1.0, 0.0))
    last = h >= left
    length = chosen(last, left, h)
    used = chosen(goal >= t, length, -length)
    x_new, errors, end = pair.step(f, t, x, used, first)
    err = _squared([_mean_square(e / (atol + rtol * maximum(absolute(x), absolute(x_new)))) for e in errors])
    accepted = chosen(err <= 1, moving, 0.0)
    bounded = chosen(err <= WORST, chosen(err >= BEST, err, BEST), WORST)
    factor = minimum(GROW, maximum(SHRINK, SAFETY * power(bounded, -0.5 / pair.order)))
    following = chosen(err <= 1, chosen(last, maximum(h, length * factor), length * factor), length * minimum(factor, 1.0))
    following = chosen(moving > 0, following, h)
    t_new = chosen(accepted > 0, chosen(last, goal, t + used), t)
    stuck = chosen(following > LEAST * (absolute(t) + absolute(goal)), 0.0, chosen(err <= HUGE, TOO_SMALL, NOT_FINITE))
    there = chosen(absolute(goal - t_new) > 0, 0.0, REACHED)
    failed = chosen(failed > 0, failed, chosen(there > 0, 0.0, stuck))
    moved = chosen(accepted > 0, project(x_new) if project else x_new, x)
    return Controlled(t_new, moved, chosen(accepted > 0, end, first), following, accepted, moving - accepted,
                      chosen(failed > 0, FAILED, there), failed)


def _mean_square(x: Any) -> Any:
    return sum(x * x) / len(x)


def _squared(means: list[Any]) -> Any:
    """Square of the error relative to the tolerances; of estimates of two orders, e5^2 / sqrt(e5^2 + 0.01 e3^2)."""
    if len(means) == 1:
        return means[0]
    fine, coarse = means
    return fine * fine / (fine + 0.01 * coarse + 1 / HUGE)
