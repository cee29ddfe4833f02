"""The methods by name, a step of each kind, and control of the step."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from dalembert.arguments import check_choice
from dalembert.expr import absolute, maximum, minimum, power
from dalembert.expr.scalars import Scalar
from dalembert.integrators import radau5
from dalembert.integrators.choice import chosen
from dalembert.integrators.fixed_point import HUGE
from dalembert.integrators.method_kinds import (
    Adaptive,
    Constrained,
    External,
    FixedStep,
    Manifold,
    Method,
    Rate,
    Vector,
)
from dalembert.integrators.norms import total
from dalembert.integrators.passage import AGAIN, MIDDLE, Landing, Passage, placed

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0  # of the step that would just do
LEAST = 1e-14  # of the time: a smaller step does not move on
TINY = 1e-20  # of the last time: a smaller step at the beginning would take for ever
WORST, BEST = (
    1e20,
    1e-20,
)  # squares of errors relative to the tolerances, for the choice of the next step
NOT_FINITE, NOT_SETTLED, TOO_SMALL = (
    1.0,
    2.0,
    radau5.TOO_SMALL,
)  # why a trajectory stays where it is; 0: it does not

REASONS = {
    NOT_FINITE: "a number is no longer finite",
    NOT_SETTLED: "the iteration for an implicit step does not settle: the step is too long",
    TOO_SMALL: "the step became too small: the system looks stiff or singular there",
}
# Methods, each the METHOD of the module of its name. A new one is a file and a line here.
MODULES = (
    "explicit_euler",
    "semi_implicit_euler",
    "symplectic_euler",
    "rk4",
    "dopri5",
    "dop853",
    "half_explicit4",
    "implicit_midpoint",
    "gauss4",
    "gauss6",
    "discrete_gradient",
    "lie_rk4",
    "rattle",
    "radau_iia",
    "generalized_alpha",
    "rodas5p",
    "radau5",
)
METHODS: dict[str, Method] = {
    name: import_module(f"dalembert.integrators.{name}").METHOD for name in MODULES
}


def method(name: str, **known: Any) -> Method:
    """A method by its name, with what it must know of the system; it makes no use of the rest.

    Parameters
    ----------
    nq, nv : int
        Lengths of q and qd in x = (q, qd, ...), for 'semi_implicit_euler', or of q and p in x = (q,
        p, ...), for 'symplectic_euler'; by default nv = nq.
    move : function (q, step) -> q
        For 'semi_implicit_euler', q moved along qd by a step (nv,), as `Mechanism.integrate`; by
        default q + step.
    quaternions : sequence of (place of a quaternion in x, place of its angular velocity in x)
        For 'lie_rk4', which turns them; the angular velocity is in the axes of the body that turns.
    energy, energy_gradient : function of x
        For 'discrete_gradient', the energy that it keeps, and its derivative by x, by default the
        derivative of the traced energy.
    resting : bool
        For 'discrete_gradient': entries of f that are 0 leave their entries of x as they are.
    along : function f -> f
        For 'discrete_gradient', whose points leave the unit sphere of a quaternion: the slope in
        its direction.
    stabilisation, unknowns : str, dict of name -> slice
        For methods that solve for multipliers of constraints: the equations that they solve, and
        where x has the unknowns.
    canonical : bool
        For 'rattle': x = (q, p, ...).
    rho_inf : float
        For 'generalized_alpha', the share of infinitely fast vibrations that a step leaves, 0 to 1.

    Raises
    ------
    UnknownNameError, ValueError
        There is none of this name, the error lists those there are; an option is missing.
    """
    check_choice("method", name, tuple(METHODS))
    chosen_method = METHODS[name]
    options = chosen_method.needs(**known)
    if options and not isinstance(chosen_method, External):
        return chosen_method._replace(step=partial(chosen_method.step, **options))
    return chosen_method


def stepped(
    method: FixedStep,
    f: Rate,
    t: Scalar,
    x: Vector,
    h: Scalar,
    end: Scalar,
    solve: Any = None,
    manifold: Manifold | None = None,
) -> Any:
    """x at the end of a step of fixed length, brought back to the manifold of states."""
    options: dict[str, Any] = {"solve": solve} if method.implicit else {}
    if isinstance(method, Constrained):
        new = method.step(f, t, x, h, manifold=manifold, **options)
        return manifold.normalized(new) if manifold is not None else new
    new = method.step(f, t, x, h, **options)
    return new if manifold is None else manifold(end, new)


class Stepped(NamedTuple):
    """State after a step of fixed length; x and steps stay as before if it failed."""

    t: Any
    x: Any
    steps: Any
    failed: Any


def fixed_step(
    x: Any, new: Any, settled: Any, start: Any, h: Any, steps: Any, failed: Any, caught: Any = 0.0
) -> Stepped:
    """A step from x to `new`, counted; times are start + steps h, which does not drift.

    A trajectory that failed stays where it is: at its last state where an implicit step could not
    be solved (settled is not above 0) or something was caught in the step (a code above those
    here), at the state that is not finite otherwise.
    """
    found = chosen(
        settled > 0, chosen(total(absolute(new)) <= HUGE, caught, NOT_FINITE), NOT_SETTLED
    )
    code = chosen(failed > 0, failed, found)
    x = chosen(failed > 0, x, chosen(found > NOT_FINITE, x, new))
    steps = chosen(code > 0, steps, steps + 1)
    return Stepped(start + steps * h, x, steps, code)


class Controlled(NamedTuple):
    """An attempted step: where it leads, whether it is taken, and how long the next one is to be."""

    t: Any
    x: Any
    k: list[Any]
    h: Any
    accepted: Any
    failed: Any
    passage: Passage = Passage()


class Bounds(NamedTuple):
    """Bounds of the steps that a method chooses.

    end : last time [s], at which a step ends
    way : 1, or -1 back in time
    rtol, atol : tolerances, relative and absolute
    longest : greatest step [s]
    """

    end: Scalar
    way: Scalar
    rtol: Scalar
    atol: Scalar
    longest: Scalar = HUGE


def controlled_step(
    pair: Adaptive,
    f: Rate,
    t: Scalar,
    x: Vector,
    h: Scalar,
    first: Vector,
    bounds: Bounds,
    manifold: Manifold | Landing | None = None,
) -> Controlled:
    """A step of length h [s], or less to end at the last time, taken only if its error is within
    the tolerances.

        err = sqrt(mean_i (e_i / (atol + rtol max(|x_i|, |x_new,i|)))^2) <= 1
        h_new = min(longest, h min(5, max(0.2, 0.9 err^(-1/order))))

    A step that is cut short does not shorten the next one. An error that is not a number shortens
    the step. failed: a key of REASONS where the step has become too small to move the time.

    Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), section II.4.
    """
    end, way, rtol, atol, longest = bounds
    left, used = absolute(end - t), length(t, h, end, way)
    last = h >= left
    t_new = chosen(last, end, t + used)
    landing = manifold if isinstance(manifold, Landing) else None
    if landing is not None:
        f = landing.crossing(f, absolute(used))
    x_new, errors, k = pair.step(f, t, x, used, first, manifold)
    scale = atol + rtol * maximum(absolute(x), absolute(x_new))
    means = [_mean_square(e / scale) for e in errors]
    err = _squared(means) if landing is None else maximum(_squared(means), _least(means, rtol))
    accepted = chosen(err <= 1, 1.0, 0.0)
    bounded = chosen(err <= WORST, chosen(err >= BEST, err, BEST), WORST)
    factor = minimum(GROW, maximum(SHRINK, SAFETY * power(bounded, -0.5 / pair.order)))
    size = absolute(used)
    following = chosen(
        err <= 1,
        chosen(last, maximum(h, size * factor), size * factor),
        size * minimum(factor, 1.0),
    )
    following = minimum(following, longest)
    stuck = chosen(
        following > LEAST * absolute(t) + TINY * absolute(end),
        0.0,
        chosen(err <= HUGE, TOO_SMALL, NOT_FINITE),
    )
    failed = chosen(accepted > 0, chosen(last, 0.0, stuck), stuck)
    step = Controlled(t_new, x_new, k, following, accepted, failed)
    return step if landing is None else _passing(step, size, landing)


def _passing(step: Controlled, size: Any, landing: Landing) -> Controlled:
    """A step of this size, and the next one, so that singular positions lie between stages."""
    passage, margin = landing.passage, landing.margin
    touched = passage.touched(margin, landing.least)
    taken = step.accepted * (1 - passage.falls(margin)) * (1 - touched)
    natural = chosen(taken > 0, maximum(step.h, passage.cut(size)), step.h)
    natural = chosen(touched > 0, maximum(natural, size), natural)
    fallen = chosen(step.accepted > taken, passage.before(size, margin), passage.distance)
    fallen = chosen(touched > 0, MIDDLE * AGAIN * size, fallen)
    stays = passage._replace(distance=fallen, natural=natural)
    moves = passage.after(size, margin, natural)
    following = Passage(*(chosen(taken > 0, a, b) for a, b in zip(moves, stays, strict=True)))
    return step._replace(h=placed(following.distance, natural), accepted=taken, passage=following)


def held_back(step: Controlled, h: Any, caught: Any) -> Controlled:
    """A step of length h that is not taken if it would be, as something was `caught` in it: a code
    above those here.
    """
    taken = chosen(step.accepted > 0, chosen(caught > 0, 1.0, 0.0), 0.0) > 0
    return step._replace(
        h=chosen(taken, h, step.h),
        accepted=chosen(taken, 0.0, step.accepted),
        failed=chosen(taken, caught, step.failed),
    )


def length(t: Any, h: Any, end: Any, way: Any) -> Any:
    """Length of a step h from t: the rest of the time, if that is less; negative back in time."""
    left = absolute(end - t)
    return way * chosen(h >= left, left, h)


def _mean_square(x: Any) -> Any:
    return total(x * x) / len(x)


def _least(means: list[Any], rtol: Any) -> Any:
    """Square of the least error that is believed, the square of the error of order 3: the estimate of
    order 5 is 0 in some steps by accident, more often where errors have one direction.
    """
    return 0.0 if len(means) == 1 else rtol * rtol * means[1] * means[1]


def _squared(means: list[Any]) -> Any:
    """Square of the error relative to the tolerances; of estimates of two orders, e5^2 / sqrt(e5^2
    + 0.01 e3^2).
    """
    if len(means) == 1:
        return means[0]
    fine, coarse = means
    return fine * fine / (fine + 0.01 * coarse + 1 / HUGE)
