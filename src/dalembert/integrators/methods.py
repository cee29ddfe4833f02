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
    semi_implicit_euler,
    symplectic_euler,
)
from dalembert.integrators.choice import chosen
from dalembert.integrators.fixed_point import HUGE

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0      # of the step that would just do
LEAST = 1e-14                             # of the time: a smaller step does not move on
TINY = 1e-20                              # of the last time: a smaller step at the beginning would take for ever
WORST, BEST = 1e20, 1e-20                 # squares of errors relative to the tolerances, for the choice of the next step
NOT_FINITE, NOT_SETTLED, TOO_SMALL = 1.0, 2.0, radau5.TOO_SMALL      # why a trajectory stays where it is; 0: it does not

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
    """A pair of orders, and what lies between the ends of its steps.

    step(f, t, x, h, first) -> (x, errors, k): values k of f from first = f(t, x) to f(t + h, x)
    between(x, new, h, [*k, *extra], part) -> x(t + part h), after extra(f, t, x, h, k) if there is that
    coefficients(x, new, h, [*k, *extra]) -> Bernstein coefficients of the same
    """

    name: str
    order: int
    step: Callable[..., Any]
    between: Callable[..., Any]
    coefficients: Callable[..., list[Any]]
    extra: Callable[..., Any] | None = None


class External(NamedTuple):
    """steps(f, times, x, h, rtol, atol, jacobian, watch): a library's method, which is called and not compiled."""

    name: str
    order: int
    steps: Callable[..., Any]


Method = Fixed | Adaptive | External
Watch = Callable[..., Any]      # (t, x, t1, x1, h, k) of a step, with values k of f -> 0, or a code to stop before it

METHODS: dict[str, Method] = {m.name: m for m in (
    Fixed("explicit_euler", 1, explicit_euler.step), Fixed("semi_implicit_euler", 1, semi_implicit_euler.step),
    Fixed("symplectic_euler", 1, symplectic_euler.step, True),
    Fixed("rk4", 4, rk4.step), Adaptive("dopri5", dopri5.ORDER, dopri5.step, dopri5.between,
             dopri5.coefficients),
    Adaptive("dop853", dop853.ORDER, dop853.step, dop853.between, dop853.coefficients, dop853.extra),
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
        Lengths of q and qd in x = (q, qd, ...), for 'semi_implicit_euler', or of q and p in x = (q, p, ...), for
        'symplectic_euler'; by default nv = nq.
    move : function (q, step) -> q
        For 'semi_implicit_euler', q moved along qd by a step (nv,), as `Mechanism.integrate`; by default q + step.
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
    if name in ("semi_implicit_euler", "symplectic_euler"):
        rates = "momenta" if name == "symplectic_euler" else "velocities"
        if nq is None:
            raise ValueError(f"{name} must know where coordinates end and {rates} begin: give nq= (and nv=, if it is "
                             "another number).")
        options = {"nq": nq, "nv": nq if nv is None else nv}
    if name == "semi_implicit_euler":
        if move is None and nv not in (None, nq):
            raise ValueError(f"semi_implicit_euler with {nq} coordinates and {nv} velocities: give move=, as q + step has "
                             "no meaning.")
        options["move"] = move or _added
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


def fixed_step(x: Any, new: Any, settled: Any, start: Any, h: Any, steps: Any, failed: Any, caught: Any = 0.0) -> Stepped:
    """A step from x to `new`, counted; times are start + steps h, which does not drift.

    A trajectory that failed stays where it is: at its last state where an implicit step could not be solved (settled is
    not above 0) or something was caught in the step (a code above those here), at the state that is not finite otherwise.
    """
    found = chosen(settled > 0, chosen(sum(absolute(new)) <= HUGE, caught, NOT_FINITE), NOT_SETTLED)
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


def controlled_step(pair: Adaptive, f: Any, t: Any, x: Any, h: Any, first: Any, end: Any, way: Any, rtol: Any, atol: Any,
                    project: Callable[[Any], Any] | None = None, longest: Any = HUGE) -> Controlled:
    """One step of length h [s], or less to end at the last time `end`, taken only if its error is within the tolerances.

        err = sqrt(mean_i (e_i / (atol + rtol max(|x_i|, |x_new,i|)))^2) <= 1
        h_new = min(longest, h min(5, max(0.2, 0.9 err^(-1/order))))

    A step that is cut short does not shorten the next one. An error that is not a number shortens the step. failed: a key
    of REASONS where the step has become too small to move the time. way: 1, or -1 back in time.

    Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), section II.4.
    """
    left, used = absolute(end - t), length(t, h, end, way)
    last = h >= left
    x_new, errors, k = pair.step(f, t, x, used, first)
    err = _squared([_mean_square(e / (atol + rtol * maximum(absolute(x), absolute(x_new)))) for e in errors])
    accepted = chosen(err <= 1, 1.0, 0.0)
    bounded = chosen(err <= WORST, chosen(err >= BEST, err, BEST), WORST)
    factor = minimum(GROW, maximum(SHRINK, SAFETY * power(bounded, -0.5 / pair.order)))
    size = absolute(used)
    following = chosen(err <= 1, chosen(last, maximum(h, size * factor), size * factor), size * minimum(factor, 1.0))
    following = minimum(following, longest)
    t_new, x_new = chosen(last, end, t + used), project(x_new) if project else x_new
    stuck = chosen(following > LEAST * absolute(t) + TINY * absolute(end), 0.0, chosen(err <= HUGE, TOO_SMALL, NOT_FINITE))
    failed = chosen(accepted > 0, chosen(last, 0.0, stuck), stuck)
    return Controlled(t_new, x_new, k, following, accepted, failed)


def held_back(step: Controlled, h: Any, caught: Any) -> Controlled:
    """A step of length h that is not taken if it would be, as something was `caught` in it: a code above those here."""
    taken = chosen(step.accepted > 0, chosen(caught > 0, 1.0, 0.0), 0.0) > 0
    return step._replace(h=chosen(taken, h, step.h), accepted=chosen(taken, 0.0, step.accepted),
                         failed=chosen(taken, caught, step.failed))


def length(t: Any, h: Any, end: Any, way: Any) -> Any:
    """What is made of a step h from t: the rest of the time, if that is less; negative back in time."""
    left = absolute(end - t)
    return way * chosen(h >= left, left, h)


def _mean_square(x: Any) -> Any:
    return sum(x * x) / len(x)


def _squared(means: list[Any]) -> Any:
    """Square of the error relative to the tolerances; of estimates of two orders, e5^2 / sqrt(e5^2 + 0.01 e3^2)."""
    if len(means) == 1:
        return means[0]
    fine, coarse = means
    return fine * fine / (fine + 0.01 * coarse + 1 / HUGE)
