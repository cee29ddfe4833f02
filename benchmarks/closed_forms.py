"""Time to closed forms, and their length, beside SymPy's LagrangesMethod: `python
benchmarks/closed_forms.py [links ...]`.

Both derive M and the other terms of a planar chain with symbolic masses, lengths and gravity.
SymPy's result is counted as it is, without simplification; ours is compacted and compared with the
compiled function before it counts.
"""

from __future__ import annotations

import sys
import time

import sympy
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import dalembert as da


def ours(n: int) -> tuple[float, int]:
    """Seconds, and operations of M, h and g."""
    start = time.perf_counter()
    with da.Graph():
        m, l, g = da.symbols("m l g")
        eom = da.equations(da.planar_chain(n, mass=m, length=l, gravity=(0, 0, -g)))
        eom.text("mass_matrix", "coriolis_vector", "gravity_vector")
        seconds = time.perf_counter() - start
        entries = [
            x for a in (eom.mass_matrix, eom.coriolis_vector, eom.gravity_vector) for x in a.flat
        ]
        return seconds, sum(
            da.count_operations([x for x in entries if isinstance(x, da.Expr)]).values()
        )


def theirs(n: int) -> tuple[float, int]:
    """The same by SymPy: mass matrix and forcing."""
    start = time.perf_counter()
    q, t = dynamicsymbols(f"q1:{n + 1}"), dynamicsymbols._t
    m, l, g = sympy.symbols("m l g")
    L, joint, angle = sympy.Integer(0), sympy.zeros(2, 1), sympy.Integer(0)
    for qk in q:
        angle = angle + qk
        along = sympy.Matrix([sympy.cos(angle), sympy.sin(angle)])
        middle, joint = joint + l / 2 * along, joint + l * along
        v = middle.diff(t)
        L = L + m * v.dot(v) / 2 + m * l**2 / 24 * angle.diff(t) ** 2 - m * g * middle[1]
    method = LagrangesMethod(L, q)
    method.form_lagranges_equations()
    found = method.mass_matrix, method.forcing
    return time.perf_counter() - start, int(sum(sympy.count_ops(x) for x in found))


def main() -> None:
    da.equations(da.planar_chain(1)).text()  # imports
    print("links   dalembert s (operations)   SymPy s (operations)   times")
    for n in map(int, sys.argv[1:] or ("2", "3", "4")):
        (a, length), (b, longer) = ours(n), theirs(n)
        print(f"{n:5d}   {a:.2f} ({length})   {b:.2f} ({longer})   {b / a:.0f}", flush=True)


if __name__ == "__main__":
    main()
