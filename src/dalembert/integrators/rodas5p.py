"""Rodas5P, a Rosenbrock method of order 5 with an estimate of order 4: stiffly accurate and L-stable.

Eight stages, each by the same linear equations with exact derivatives of f; no iteration. Between,
order 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dalembert.expr import absolute
from dalembert.expr.scalars import Scalar
from dalembert.integrators.method_kinds import (
    BALANCED,
    BALANCING,
    CONTACT,
    GENERAL,
    MOMENTA,
    PROJECTION,
    LinearlyImplicit,
    Manifold,
    Rate,
    Vector,
    met,
)
from dalembert.integrators.search import through
from dalembert.integrators.stage_equations import Places, StageEquations, linearised

GAMMA = 0.21193756319429014
C = (0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1)
D = (
    0.21193756319429014,
    -0.42387512638858027,
    -0.3384627126235924,
    1.8046452872882734,
    2.325825639765069,
    0,
    0,
    0,
)
A = (
    (),
    (3.0,),
    (2.849394379747939, 0.45842242204463923),
    (-6.954028509809101, 2.489845061869568, -10.358996098473584),
    (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
    (
        -7.502846399306121,
        2.561846144803919,
        -11.627539656261098,
        -0.18268767659942256,
        0.030198172008377946,
    ),
    (
        -7.502846399306121,
        2.561846144803919,
        -11.627539656261098,
        -0.18268767659942256,
        0.030198172008377946,
        1,
    ),
    (
        -7.502846399306121,
        2.561846144803919,
        -11.627539656261098,
        -0.18268767659942256,
        0.030198172008377946,
        1,
        1,
    ),
)
COUPLING = (
    (),
    (-14.155112264123755,),
    (-17.97296035885952, -2.859693295451294),
    (147.12150275711716, -1.41221402718213, 71.68940251302358),
    (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
    (
        24.854864614690072,
        -3.0009227002832186,
        47.4931110020768,
        5.5814197821558125,
        -0.6610691825249471,
    ),
    (
        30.91273214028599,
        -3.1208243349937974,
        77.79954646070892,
        34.28646028294783,
        -19.097331116725623,
        -28.087943162872662,
    ),
    (
        37.80277123390563,
        -3.2571969029072276,
        112.26918849496327,
        66.9347231244047,
        -40.06618937091002,
        -54.66780262877968,
        -9.48861652309627,
    ),
)
BETWEEN = (
    (
        25.948786856663858,
        -2.5579724845846235,
        10.433815404888879,
        -2.3679251022685204,
        0.524948541321073,
        1.1241088310450404,
        0.4272876194431874,
        -0.17202221070155493,
    ),
    (
        -9.91568850695171,
        -0.9689944594115154,
        3.0438037242978453,
        -24.495224566215796,
        20.176138334709044,
        15.98066361424651,
        -6.789040303419874,
        -6.710236069923372,
    ),
    (
        11.419903575922262,
        2.8879645146136994,
        72.92137995996029,
        80.12511834622643,
        -52.072871366152654,
        -59.78993625266729,
        -0.15582684282751913,
        4.883087185713722,
    ),
)
ORDER = 5


def step(
    f: Rate,
    t: Scalar,
    x: Vector,
    h: Scalar,
    first: Any,
    manifold: Manifold | None = None,
    places: Places | None = None,
) -> tuple[Any, tuple[Any, ...], list[Any]]:
    """(x(t + h), its error, values), from first = f(t, x) to f(t + h, x(t + h)), with the terms of
    `between` among the values.

        (B / (gamma h) - J) k_i = f(t + c_i h, x + sum_j a_ij k_j) + B sum_j c_ij k_j / h + d_i h f_t
        x_1 = x + sum_j a_8j k_j + k_8,   error k_8

    places: of coordinates, velocities and accelerations, for equations B x' = f.

    Steinebach, Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the
    Julia Differential Equations package, BIT 63 (2023) 27; Hairer, Wanner, Solving Ordinary
    Differential Equations II (1996), IV.7 and VI.4.
    """
    f = linearised(f)
    equations = StageEquations(f, t, x, GAMMA * h, places)
    k: list[Any] = []
    value = first
    for c, d, row, coupling in zip(C, D, A, COUPLING, strict=True):
        x_new = x + _weighted(row, k)
        if k:
            value = f(t + c * h, x_new)
        right = value + d * h * equations.by_time
        if k:
            right = right + equations.rated(_weighted(coupling, k)) / h
        k.append(equations.solved(right))
    x_new, errors = met(manifold, t + h, x_new + k[-1], (equations.rated(k[-1]),))
    terms = [_weighted(row, k) for row in BETWEEN]
    ends = [first, *f.keep("term", [x_new - x, *terms])]
    return x_new, errors, [*ends, f(t + h, x_new)]


def between(x: Any, new: Any, h: Any, k: list[Any], part: Any) -> Any:
    """x(t + part h) in a step from x to `new` with values k: order 4."""
    _, _, a, b, c, _ = k
    return x + part * (new - x + (1 - part) * (a + part * (b + part * c)))


def coefficients(x: Any, new: Any, h: Any, k: list[Any]) -> list[Any]:
    """`between` by its Bernstein coefficients."""
    _, _, a, b, c, _ = k
    change = new - x
    return through(4, x, new, change + a, change - a - b - c, [(1, 1, a), (2, 1, b), (3, 1, c)])


def bend(h: Any, k: list[Any]) -> Any:
    """Bound of what `between` differs by from the cubic through both ends: s (1 - s) r(s), with |r|
    below the sum of its coefficients.
    """
    first, change, a, b, c, last = k
    begin = h * first - change
    end = change - h * last
    return (absolute(a - begin) + absolute(b + begin - end) + absolute(c)) / 4


def _weighted(weights: Sequence[float], k: Sequence[Any]) -> Any:
    return sum(w * ki for w, ki in zip(weights, k, strict=True) if w)


def needs(
    nq: int | None = None,
    nv: int | None = None,
    unknowns: Mapping[str, slice] | None = None,
    **known: Any,
) -> dict[str, Any]:
    """Options of the step: where a state of a motion has its parts."""
    if nq is None or nv is None or not unknowns or BALANCED not in unknowns:
        return {}
    start = unknowns[BALANCED].start
    stop = unknowns.get(BALANCING, unknowns[BALANCED]).stop
    balanced = range(start, stop)
    work = nq + nv
    others = range(work + 1, start)
    multipliers = stop - unknowns[BALANCED].stop
    solved = [*balanced, *others]
    places = Places(range(nq), range(nq, work), solved, balanced, [work], multipliers)
    return {"places": places}


METHOD = LinearlyImplicit(
    "rodas5p",
    ORDER,
    step,
    between,
    coefficients,
    bend,
    needs=needs,
    refuses={
        **dict.fromkeys(
            (way for way in GENERAL if way != PROJECTION),
            "rodas5p solves for multipliers in its stages and projects its ends: take "
            "stabilisation='projection', or another method, such as 'dop853'.",
        ),
        CONTACT: "rodas5p takes accelerations from step to step, which stops and friction that "
        "sticks interrupt: take method='dop853', or friction='sign' without stops.",
        MOMENTA: "rodas5p steps velocities, which a state (q, p) has not: take a formulation in "
        "(q, qd).",
    },
    own={PROJECTION: (BALANCED, BALANCING)},
)
