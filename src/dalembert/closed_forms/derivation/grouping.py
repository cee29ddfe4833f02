"""Base parameters: the fewest combinations of inertial parameters that forces depend on, and how
they are grouped.

Mass on the axis of a revolute joint moves with the parent as well; a link on a prismatic joint
turns with its parent. What moves with the parent is given to the parent (Gautier and Khalil 1990,
Direct calculation of minimum set of inertial parameters of serial robots). The rules leave
combinations where prismatic and revolute axes are parallel: these are found by the numeric rank of
all parameters' effects, and then exactly, by comparing coefficients.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np

from dalembert.closed_forms.algebra.polynomials import Polynomials
from dalembert.closed_forms.algebra.ring import PARAMETER, Poly, Ring, plain, terms_of
from dalembert.closed_forms.derivation.locked_rotors import locked, locked_rotors
from dalembert.closed_forms.derivation.polynomial_equations import PolynomialEquations
from dalembert.closed_forms.derivation.run_inertia import NOTHING, RunInertia
from dalembert.model.tree import Tree
from dalembert.spatial.rotations import Dense, coordinate_axis
from dalembert.spatial.screws import only_screw
from dalembert.spatial.vectors import ZERO, ZERO_MATRIX, Matrix, Vector

RAW = (
    "m",
    "mx",
    "my",
    "mz",
    "Ixx",
    "Ixy",
    "Iyy",
    "Ixz",
    "Iyz",
    "Izz",
)  # in the order of regressor parameters
BASE = ("MM", "MX", "MY", "MZ", "XX", "XY", "YY", "XZ", "YZ", "ZZ")
LEAST_SHARE = 1e-7  # of the largest share of a column in another that counts
RANK_TOLERANCE = 1e-9  # relative, of columns of length 1
FEW_STATES, SEED = 12, 1743  # random states, doubled until the rank grows no more


class Parameter(NamedTuple):
    """A combination of inertial parameters of links, as a polynomial of another ring, that acts as
    one.
    """

    name: str
    body: int
    grouping: Any


def bodies(
    letters: Sequence[str], value: Callable[[str], Any], n: int, mark: str
) -> list[RunInertia]:
    """Inertias of n bodies (the first entry is the base's) of parameters with these letters, the
    body's number, the mark.
    """
    found = [NOTHING]
    for i in range(1, n + 1):
        m, x, y, z, *tensor = (value(f"{letter}{i}{mark}") for letter in letters)
        found.append(RunInertia(m, Vector((x, y, z)), Matrix.symmetric(*tensor)))
    return found


def raw_values(tree: Tree, mark: str) -> dict[str, Any]:
    """The numbers of the bodies' own parameters, as the tree has them, with rotors locked on their
    carriers.
    """
    values: dict[str, Any] = {}
    own = [RunInertia.of(inertia, _same) for inertia in tree.inertia]
    own = locked(locked_rotors(tree, _same), own)
    for i in tree.outward():
        for letter, x in zip(RAW, own[i].ten(), strict=True):
            values[f"{letter}{i}{mark}"] = x
    return values


def _same(x: Any) -> Any:
    return x


def is_nothing(grouping: Any, numbers: Mapping[str, Any]) -> bool:
    """Whether a combination is exactly zero for these numbers; symbols without a number count as
    unlike any other.
    """
    if not isinstance(grouping, Poly):
        return grouping == 0
    ring, found = grouping.ring, {}  # type: ignore[var-annotated]
    for m, c in grouping.terms.items():
        unknown: list[Any] = []
        for key, e in [(("x", ring.parameters[m & PARAMETER]), 1), *ring.exponents(m)]:
            x = numbers.get(key[1]) if key[0] == "x" else None  # type: ignore[call-overload]
            if isinstance(x, (int, Fraction)):
                c = c * x**e
            else:
                unknown.append((key, e))
        found[tuple(unknown)] = found.get(tuple(unknown), 0) + c
    return not any(found.values())


def grouped(tree: Tree, algebra: Polynomials, mark: str = "") -> list[Parameter]:
    """Combinations that are not zero after the closed rules, bodies in order; lengths in the ring
    of the algebra.

    All names end in `mark`, so that they differ from those of the mechanism's own symbols.
    """
    body = bodies(RAW, algebra.ring.parameter, tree.n, mark)
    for rotor in locked_rotors(tree, algebra.scalar):
        body[rotor.body] = rotor.alone(body[rotor.body].I[rotor.axis][rotor.axis])
    for i in tree.inward():
        body[i], given = _split(tree.joint[i].type, body[i])
        j = tree.parent[i]
        X = tree.joint[i].origin
        if j and given is not NOTHING:
            E = Dense(Matrix(map(algebra.scalar, row) for row in X.R.matrix()))
            r = Vector(map(algebra.scalar, X.p))
            body[j] = body[j] + given.turned(E).shifted(r)
    found = []
    for i in tree.outward():
        named = list(zip(BASE, body[i].ten(), strict=True))
        tensor = named[4:]
        moments = named[1:4]
        mass = named[:1]
        for letter, value in tensor + moments + mass:
            if isinstance(value, Poly):
                found.append(Parameter(f"{letter}{i}{mark}", i, value))
    return found


def _split(kind: Any, body: RunInertia) -> tuple[RunInertia, RunInertia]:
    """(the part that the link keeps, the part that its parent carries, in the joint's frame).

    With axis k of a revolute joint the second moment along it is moved so that the tensor's entry
    jj becomes zero.
    """
    screw = only_screw(kind.screws())
    if screw and screw.turns and (aligned := coordinate_axis(screw.axis)) is not None:
        k = aligned[0]
        i = (k + 1) % 3
        j = (k + 2) % 3
        moved = body.I[j][j]
        rows = [list(row) for row in body.I]
        rows[i][i] = body.I[i][i] - moved
        rows[j][j] = 0
        along = Vector(body.h[a] if a == k else 0 for a in range(3))
        across = Vector(0 if a == k else body.h[a] for a in range(3))
        rod = Matrix.diagonal(*(0 if a == k else moved for a in range(3)))
        return RunInertia(0, across, Matrix(rows)), RunInertia(body.m, along, rod)
    if screw and not screw.turns:
        return RunInertia(body.m, body.h, ZERO_MATRIX), RunInertia(0, ZERO, body.I)
    if kind.quaternion_freedoms == 3:
        return RunInertia(0, body.h, body.I), RunInertia(body.m, ZERO, ZERO_MATRIX)
    return body, NOTHING


# --- completion by rank ----------------------------------------------------------------------------------------------

Row = tuple[int, int]  # (number of an equation's entry, monomial of the state)
Column = dict[Row, dict[int, Any]]  # -> polynomial in lengths and gravity


def minimal(
    d: PolynomialEquations, parameters: Sequence[Parameter]
) -> tuple[list[Parameter], bool]:
    """Parameters that act, each independent of the others, and whether they are as few as possible.

    The derivation is changed: terms of parameters that are no longer needed are left out.
    """
    columns = _columns(d)
    numbers = [d.ring.parameters.index(p.name) for p in parameters]
    by_number = dict(zip(numbers, parameters, strict=True))
    acting = [k for k in numbers if k in columns]
    A, independent = _numeric(d, columns, acting)
    kept: list[int] = []
    complete = True
    groupings = {k: by_number[k].grouping for k in acting}
    for position, k in enumerate(acting):
        if position in independent:
            kept.append(k)
            continue
        shares = _shares(d, columns, A, acting, kept, k)
        if shares is None:
            kept.append(k)
            complete = False
            continue
        for j, share in shares.items():
            groupings[j] = groupings[j] + _moved(share, groupings[k])
    without(d, {*numbers} - {*kept})  # also of those in constants of the potential energy alone
    return [by_number[k]._replace(grouping=groupings[k]) for k in kept], complete


def _columns(d: PolynomialEquations) -> dict[int, Column]:
    """Effect of each parameter on M and g, by the state's monomial."""
    n = d.tree.nv
    entries = [d.M[i][j] for i in range(n) for j in range(i, n)] + d.g
    state = _state_mask(d.ring)
    found: dict[int, Column] = {}
    for e, p in enumerate(entries):
        for m, c in terms_of(p):
            if m & PARAMETER:
                rest = m & ~state & ~PARAMETER
                found.setdefault(m & PARAMETER, {}).setdefault((e, m & state), {})[rest] = c
    return found


def _state_mask(ring: Ring) -> int:
    """Bits of the variables that change with the state."""
    mask = 0
    for (kind, name), shift in ring.shift.items():
        if kind != "root" and not isinstance(name, str):
            mask |= ((1 << ring._width[kind, name]) - 1) << shift
    return mask


def _numeric(
    d: PolynomialEquations, columns: dict[int, Column], acting: Sequence[int]
) -> tuple[np.ndarray, list[int]]:
    """Effects at random states and random lengths, a column per parameter, and which of them are
    independent.

    There are as many states as it takes: one more adds to the rank wherever columns that were
    dependent are not.
    """
    if not acting:
        return np.zeros((0, 0)), []
    states = FEW_STATES
    while True:
        A = _effects(d, columns, acting, states)
        found, fewer = (_independent(x.reshape(-1, len(acting))) for x in (A, A[:-1]))
        if states > len(acting) or found == fewer:
            return A.reshape(-1, len(acting)), found
        states *= 2


def _independent(A: np.ndarray) -> list[int]:
    """Columns of length 1 that are independent of those before them (Gram and Schmidt, twice)."""
    Q = np.zeros((A.shape[1], A.shape[0]))
    found: list[int] = []
    for k, a in enumerate(np.ascontiguousarray(A.T)):
        basis = Q[: len(found)]
        for _ in range(2):
            a = a - (basis @ a) @ basis
        length = np.sqrt(a @ a)
        if length > RANK_TOLERANCE:
            Q[len(found)] = a / length
            found.append(k)
    return found


def _effects(
    d: PolynomialEquations, columns: dict[int, Column], acting: Sequence[int], states: int
) -> np.ndarray:
    """Array [state, entry, parameter], with columns of length 1."""
    entries = sorted({e for k in acting for e, _ in columns[k]})
    place = {e: i for i, e in enumerate(entries)}
    value = _values_of_monomials(d.ring, _random_values(d.ring, states))
    A = np.zeros((len(acting), len(entries), states))
    for row, k in zip(A, acting, strict=True):
        for (e, state), coefficients in columns[k].items():
            at = row[place[e]]
            for rest, c in coefficients.items():
                at += value(state | rest) * float(c)
    A /= np.linalg.norm(A, axis=(1, 2), keepdims=True)
    return A.transpose(2, 1, 0)


def _values_of_monomials(ring: Ring, values: Mapping[Any, Any]) -> Callable[[int], Any]:
    """The value of a monomial at some values of the variables; each is one product, with that of
    its lower fields.
    """
    owner: list[tuple[Any, int]] = []  # by bit, from the first field on
    for key, shift in ring.shift.items():
        owner += [(key, shift)] * ring._width[key]
    first = min(ring.shift.values(), default=0)
    known: dict[int, Any] = {0: 1.0}

    def value(m: int) -> Any:
        """Value of a monomial."""
        if m not in known:
            key, shift = owner[m.bit_length() - 1 - first]
            lower = m & ((1 << shift) - 1)
            known[m] = value(lower) * values[key] ** (m >> shift)
        return known[m]

    return value


def _random_values(ring: Ring, states: int) -> dict[Any, Any]:
    """Values of a ring's variables: states by random coordinates, a random value for each symbol."""
    rng = np.random.default_rng(SEED)
    q: dict[Any, Any] = defaultdict(lambda: rng.uniform(-3, 3, states))
    values: dict[Any, Any] = {}
    for key in ring.shift:
        kind = key[0]
        name = cast(Any, key[1])
        if kind == "root":
            values[key] = name**0.5
        elif kind == "x":
            values[key] = rng.uniform(0.3, 1.7) if isinstance(name, str) else q[name[1]]
        else:
            if isinstance(name, str):
                # a constant angle, far from multiples of pi/2: nothing vanishes there
                angle = q.setdefault(name, rng.uniform(0.3, 1.2))
            else:
                angle = sum(f * q[k] for k, f in name)
            values[key] = np.cos(angle) if kind == "cos" else np.sin(angle)
    return values


def _shares(
    d: PolynomialEquations,
    columns: dict[int, Column],
    A: np.ndarray,
    acting: Sequence[int],
    kept: Sequence[int],
    k: int,
) -> dict[int, Any] | None:
    """Exact polynomials b_j with (column k) = sum b_j (column j), by comparing coefficients row by
    row; None if none.
    """
    positions = [acting.index(j) for j in kept]
    b, *_ = np.linalg.lstsq(A[:, positions], A[:, acting.index(k)], rcond=None)
    least = LEAST_SHARE * max(1.0, np.abs(b).max())
    wanted = {j for j, x in zip(kept, b, strict=True) if abs(x) > least}
    rows = sorted({row for j in (*wanted, k) for row in columns[j]})
    shares: dict[int, Any] = {}
    while wanted - shares.keys():
        before = len(shares)
        for row in rows:
            unknown = [j for j in wanted if j not in shares and row in columns[j]]
            if len(unknown) != 1 or len(columns[unknown[0]][row]) != 1:
                continue
            rest = Poly(d.ring, columns[k][row]) if row in columns[k] else 0
            for j, share in shares.items():
                if row in columns[j]:
                    rest = rest - Poly(d.ring, columns[j][row]) * share
            ((m, c),) = columns[unknown[0]][row].items()
            quotient = _divided(d.ring, rest, m, c)
            if quotient is not None:
                shares[unknown[0]] = quotient
        if len(shares) == before:
            return None
    return {j: share for j, share in shares.items() if share}


def _divided(ring: Ring, p: Any, monomial: int, coefficient: Any) -> Any:
    """p / (coefficient monomial), or None where it is no polynomial."""
    divisor = ring.exponents(monomial)
    found = {}
    for m, c in terms_of(p):
        mine = dict(ring.exponents(m))
        if any(mine.get(key, 0) < e for key, e in divisor):
            return None
        found[m - monomial] = plain(Fraction(c) / coefficient)
    return Poly(ring, found) if found else 0


def _moved(share: Poly, grouping: Any) -> Any:
    """share times grouping, with the share's lengths taken to the grouping's ring."""
    target: Ring = grouping.ring
    total: Any = 0
    for m, c in share.terms.items():
        term: Any = c
        for (kind, name), e in share.ring.exponents(m):
            make: Callable[[Any], Any] = {
                "x": target.variable,
                "root": target.root,
                "cos": lambda a: target.cos_sin(a)[0],
                "sin": lambda a: target.cos_sin(a)[1],
            }[kind]
            term = prod([make(name)] * e, start=term)
        total = total + grouping * term
    return total


def without(d: PolynomialEquations, dropped: Iterable[int]) -> None:
    """Leave out the terms of some parameters."""
    dropped = set(dropped)

    def rest(p: Any) -> Any:
        """A polynomial without the dropped parameters."""
        if not isinstance(p, Poly):
            return p
        terms = {m: c for m, c in p.terms.items() if m & PARAMETER not in dropped}
        return Poly(p.ring, terms) if terms else 0

    d.M = [[rest(p) for p in row] for row in d.M]
    d.g = [rest(p) for p in d.g]
    d.U = rest(d.U)
