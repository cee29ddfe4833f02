"""An expert's script: equations by SymPy, compiled by numba, under DOP853 with projection after each
step.

    [M  J^T] [ qdd  ]   [ f ]
    [J   0 ] [-lambda] = [ k ]

Derivation and compilation take from seconds to minutes and are not counted.
"""

from __future__ import annotations

import math
import time
from functools import cache
from typing import Any

import numba
import numpy as np
import sympy as sp
from scipy.integrate._ivp import dop853_coefficients as pair
from sympy.printing.pycode import PythonCodePrinter

from loop_cases import CASES, GROUND, Case
from loop_engines import End

A, B = np.array(pair.A[:12, :12]), np.array(pair.B)
E3, E5 = np.array(pair.E3[:12]), np.array(pair.E5[:12])
SOFT = 1e-10  # beside 0 in the corner of the matrix, where rows depend on others


def _number(x: float) -> Any:
    return sp.Integer(round(x)) if abs(x - round(x)) < 1e-15 else sp.Float(float(x), 17)


def _vector(values: Any) -> Any:
    return sp.Matrix([_number(x) for x in values])


def _turn(axis: Any, angle: Any) -> Any:
    c, s = sp.cos(angle), sp.sin(angle)
    if axis[0]:
        return sp.Matrix([[1, 0, 0], [0, c, -s], [0, s, c]])
    if axis[1]:
        return sp.Matrix([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    return sp.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])


class Equations:
    """Mass matrix, forces and rows of a case, as expressions of q and v."""

    def __init__(self, case: Case):
        self.case, self.n = case, len(case.links)
        self.q, self.v = sp.symbols(f"q:{self.n}"), sp.symbols(f"v:{self.n}")
        self.frames: list[Any] = []
        for k in range(self.n):
            self._place(k)
        self.M, self.f = sp.zeros(self.n, self.n), sp.zeros(self.n, 1)
        for k, link in enumerate(case.links):
            if link.mass:
                self._move(k)
        self._load()

    def _place(self, k: int) -> None:
        """Rotation, origin and coordinates of a link; in the plane angles are added up."""
        link = self.case.links[k]
        base, origin, before = self._frame(link.parent)
        origin = origin + base * _vector(link.position)
        chain = [*before, k]
        if link.slides:
            origin = origin + base * _vector(link.axis) * self.q[k]
        elif self.case.planar:
            base = _turn(link.axis, sum(self.q[i] for i in chain))
        else:
            base = base * _turn(link.axis, self.q[k])
        self.frames.append((base, origin, chain))

    def _frame(self, k: int) -> Any:
        return (sp.eye(3), sp.zeros(3, 1), []) if k == GROUND else self.frames[k]

    def _rate(self, x: Any, chain: Any) -> Any:
        """dx/dt along the velocities of a chain."""
        return sum((x.diff(self.q[i]) * self.v[i] for i in chain), 0 * x)

    def _move(self, k: int) -> None:
        """Inertia and forces of a link."""
        link = self.case.links[k]
        R, origin, chain = self.frames[k]
        center = origin + R * _vector(link.com)
        m = _number(link.mass)
        J = {i: center.diff(self.q[i]) for i in chain}
        turning = {
            i: self._frame(self.case.links[i].parent)[0] * _vector(self.case.links[i].axis)
            for i in chain
            if not self.case.links[i].slides
        }
        if self.case.planar:
            tensor = sp.diag(0, 0, _number(link.inertia[2]))
        else:
            tensor = R * sp.diag(*map(_number, link.inertia)) * R.T
        omega = sum((w * self.v[i] for i, w in turning.items()), sp.zeros(3, 1))
        centripetal = sum((self._rate(J[i], chain) * self.v[i] for i in chain), sp.zeros(3, 1))
        gyration = sp.zeros(3, 1)
        if not self.case.planar:
            spin = sum(
                (self._rate(w, chain) * self.v[i] for i, w in turning.items()), sp.zeros(3, 1)
            )
            gyration = tensor * spin + omega.cross(tensor * omega)
        for i in chain:
            weight = m * J[i].dot(centripetal - _vector(self.case.gravity))
            self.f[i] -= weight + (turning[i].dot(gyration) if i in turning else 0)
            for j in chain:
                self.M[i, j] += m * J[i].dot(J[j])
                if i in turning and j in turning:
                    self.M[i, j] += turning[i].dot(tensor * turning[j])

    def _load(self) -> None:
        """Springs and torques."""
        for k, torque in self.case.torques.items():
            self.f[k] += _number(torque)
        for s in self.case.springs:
            R, origin, chain = self.frames[s.link]
            d = origin + R * _vector(s.point) - _vector(s.anchor)
            stretch = sp.sqrt(d.dot(d)) - _number(s.length)
            for i in chain:
                self.f[i] -= _number(s.stiffness) * stretch * stretch.diff(self.q[i])

    def rows(self) -> list[tuple[Any, Any, Any, Any]]:
        """phi, J, phi' and k of each row."""
        rows = []
        for a, at, b, on in self.case.closures:
            (Ra, pa, ca), (Rb, pb, cb) = self._frame(a), self._frame(b)
            gap = pa + Ra * _vector(at) - pb - Rb * _vector(on)
            chain = sorted({*ca, *cb})
            for k in range(2 if self.case.planar else 3):
                J = {i: gap[k].diff(self.q[i]) for i in chain}
                rate = sum(x * self.v[i] for i, x in J.items())
                rows.append((gap[k], J, rate, -self._rate(rate, chain)))
        return rows


def _source(case: Case) -> tuple[str, int, int]:
    """A function of q, v that fills the matrix, its right side, and residuals of rows."""
    own = Equations(case)
    rows, n = own.rows(), own.n
    targets, values = [], []
    for i in range(n):
        targets.append(f"b[{i}]")
        values.append(own.f[i])
        for j in range(i + 1):
            if own.M[i, j] != 0:
                targets.append(f"K[{i},{j}]=K[{j},{i}]")
                values.append(own.M[i, j])
    for r, (gap, J, rate, k) in enumerate(rows):
        for i, x in J.items():
            targets.append(f"K[{n + r},{i}]=K[{i},{n + r}]")
            values.append(x)
        targets += [f"b[{n + r}]", f"g[{r}]", f"g[{len(rows) + r}]"]
        values += [k, gap, rate]
    shared, values = sp.cse(values, order="none")
    text = PythonCodePrinter({"fully_qualified_modules": True, "precision": 17}).doprint
    lines = ["def fill(q, v, K, b, g):", *(f" q{i}=q[{i}];v{i}=v[{i}]" for i in range(n))]
    lines += [f" {name}={text(x)}" for name, x in shared]
    lines += [f" {target}={text(x)}" for target, x in zip(targets, values, strict=True)]
    return "\n".join(lines), n, len(rows)


@cache
def solver(name: str) -> Any:
    """Compiled (q, v, duration, tolerance) -> q at the end."""
    source, n, rows = _source(CASES[name]())
    names: dict[str, Any] = {"math": math}
    exec(source, names)  # the text is this module's own
    fill = numba.njit(names["fill"])
    size = n + rows
    soft = SOFT if name == "bricard" else 0.0
    sweeps = 3 if soft else 1

    @numba.njit
    def eliminate(K, pivots):
        for k in range(size):
            p = k
            for i in range(k + 1, size):
                if abs(K[i, k]) > abs(K[p, k]):
                    p = i
            pivots[k] = p
            if p != k:
                for j in range(size):
                    K[k, j], K[p, j] = K[p, j], K[k, j]
            for i in range(k + 1, size):
                if K[i, k] != 0.0:
                    K[i, k] /= K[k, k]
                    for j in range(k + 1, size):
                        K[i, j] -= K[i, k] * K[k, j]

    @numba.njit
    def substitute(K, pivots, x):
        for k in range(size):
            x[k], x[pivots[k]] = x[pivots[k]], x[k]
        for k in range(size):
            for i in range(k + 1, size):
                x[i] -= K[i, k] * x[k]
        for k in range(size - 1, -1, -1):
            for j in range(k + 1, size):
                x[k] -= K[k, j] * x[j]
            x[k] /= K[k, k]

    @numba.njit
    def solve(K, b, x, pivots):
        for r in range(rows):
            K[n + r, n + r] = -soft
        eliminate(K, pivots)
        x[:] = b
        substitute(K, pivots, x)
        for _ in range(sweeps - 1):
            again = b.copy()
            for r in range(rows):
                again[n + r] -= soft * x[n + r]
            substitute(K, pivots, again)
            x[:] = again

    @numba.njit
    def rate(y, K, b, g, x, pivots, out):
        K[:] = 0.0
        fill(y[:n], y[n:], K, b, g)
        solve(K, b, x, pivots)
        out[:n] = y[n:]
        out[n:] = x[:n]

    @numba.njit
    def project(y, K, b, g, x, pivots):
        for _ in range(3):
            K[:] = 0.0
            fill(y[:n], y[n:], K, b, g)
            worst = 0.0
            for r in range(rows):
                worst = max(worst, abs(g[r]))
            if worst < 1e-14:
                break
            b[:n] = 0.0
            for r in range(rows):
                b[n + r] = -g[r]
            solve(K, b, x, pivots)
            y[:n] += x[:n]
            if worst < 1e-8:
                break
        K[:] = 0.0
        fill(y[:n], y[n:], K, b, g)
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += K[i, j] * y[n + j]
            b[i] = total
        b[n:] = 0.0
        solve(K, b, x, pivots)
        y[n:] = x[:n]

    @numba.njit
    def integrate(q, v, duration, tolerance):
        K, b, g = np.zeros((size, size)), np.zeros(size), np.zeros(2 * rows)
        x, pivots = np.zeros(size), np.zeros(size, np.int64)
        y = np.concatenate((q, v))
        k = np.zeros((12, 2 * n))
        rate(y, K, b, g, x, pivots, k[0])
        t, h = 0.0, 1e-4 * duration
        while t < duration:
            h = min(h, duration - t)
            for s in range(1, 12):
                stage = y.copy()
                for j in range(s):
                    if A[s, j] != 0.0:
                        stage += h * A[s, j] * k[j]
                rate(stage, K, b, g, x, pivots, k[s])
            new = y.copy()
            for j in range(12):
                if B[j] != 0.0:
                    new += h * B[j] * k[j]
            e5 = e3 = 0.0
            for i in range(2 * n):
                a5 = a3 = 0.0
                for j in range(12):
                    a5 += E5[j] * k[j, i]
                    a3 += E3[j] * k[j, i]
                scale = tolerance + tolerance * max(abs(y[i]), abs(new[i]))
                e5 += (a5 / scale) ** 2
                e3 += (a3 / scale) ** 2
            total = e5 + 0.01 * e3
            error = h * e5 / math.sqrt(total * 2 * n) if total > 0 else 0.0
            if error < 1.0:
                t += h
                project(new, K, b, g, x, pivots)
                y = new
                rate(y, K, b, g, x, pivots, k[0])
                h *= 10.0 if error == 0 else min(10.0, 0.9 * error ** (-1 / 8))
            else:
                h *= max(0.2, 0.9 * error ** (-1 / 8)) if error == error else 0.2
        return y

    integrate(CASES[name]().q, CASES[name]().qd, 1e-9, 1e-3)
    return integrate


def sympy_numba(name: str, case: Case, tolerance: float) -> End:
    """The end by a tolerance."""
    run = solver(name)
    start = time.process_time()
    y = run(case.q, case.qd, case.duration, tolerance)
    return End(time.process_time() - start, y[: len(case.q)])
