"""CasADi: C that it generates from Pinocchio's algorithms on its symbols, compiled, and called in a
C loop.
"""

from __future__ import annotations

import ctypes
import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from native import CACHE, FAST, HERE, SHARED, built, run
from peers import Contender, address
from peers.pinocchio import DEFINES, MODEL, Pinocchio, columns, includes, rows_of
from robots import STEP, STEP_SIZE

WAYS = ("", "_local", "_world", "_analytical", "_automatic")
HOW = "C generated from Pinocchio's algorithms on its symbols, gcc -O3 -march=native, called in a C loop"
LOOP = """
void run(long n, long nq, long nv, long size, const double* q, const double* v, const double* x, double* out)
{{
  casadi_int arguments, results, integers, numbers;
  {name}_work(&arguments, &results, &integers, &numbers);
  const double* arg[arguments + 1]; double* res[results + 1]; casadi_int iw[integers + 1]; double w[numbers + 1];
  for (long i = 0; i < n; ++i) {{
    arg[0] = q + i * nq; arg[1] = v + i * nv; arg[2] = x + i * nv; res[0] = out + i * size;
    {name}(arg, res, iw, w, 0);
  }}
}}
"""


class CasADi:
    """One robot; its functions take Pinocchio's vectors."""

    def __init__(self, name: str, pinocchio: Pinocchio):
        self.name, self.pinocchio = name, pinocchio

    def contenders(self, quantity: str) -> list[Contender]:
        """One per way of writing the algorithm: axes of the intermediate vectors, analytical or
        automatic derivatives.
        """
        found = _generated(
            self.name, self.pinocchio, "casadi_step" if quantity == STEP else "casadi_generate"
        )
        sources = [found[quantity + way] for way in WAYS if quantity + way in found]
        with ThreadPoolExecutor(2) as pool:  # gcc takes a while
            return [self._contender(quantity, file) for file in pool.map(_compiled, sources)]

    def _contender(self, quantity: str, file: Path) -> Contender:
        p = self.pinocchio
        x = p.tau if quantity.startswith(("forward", STEP)) else p.a
        nv = p.model.nv
        out = np.zeros((len(p.q), nv * columns(quantity, p.model)))
        function = ctypes.CDLL(str(file)).run
        function.argtypes = [*[ctypes.c_long] * 4, *[ctypes.c_void_p] * 4]
        function.restype = None

        def call() -> None:
            function(
                len(p.q),
                p.model.nq,
                nv,
                out.shape[1],
                address(p.q),
                address(p.v),
                address(x),
                address(out),
            )

        return Contender("CasADi", HOW, call, lambda: self.ours(quantity, out), len(p.q))

    def ours(self, quantity: str, out: np.ndarray) -> list[np.ndarray]:
        """Results of the loop in this package's order of entries."""
        p = self.pinocchio
        if quantity in ("inverse_dynamics", "forward_dynamics", "regressor", STEP):
            return p.ours(quantity, out)
        matrices = out.reshape(len(out), -1, p.model.nv, p.model.nv).transpose(
            1, 0, 3, 2
        )  # stored by columns
        return [m[:, p.order][:, :, p.order] for m in matrices]

    def external(self, quantity: str):
        """The compiled function as CasADi calls it from Python."""
        import casadi

        source = _generated(self.name, self.pinocchio, "casadi_generate")[quantity]
        return casadi.external(quantity, str(_compiled(source)))


def _generated(name: str, pinocchio: Pinocchio, program: str) -> dict[str, Path]:
    """C files of one robot by the functions' names, by one of the generating programs."""
    import casadi

    folder = Path(casadi.__file__).parent
    rows = np.array(rows_of(pinocchio.model)).tobytes()
    sources = (HERE / "peers" / f"{program}.cpp", MODEL)
    generator = built(
        sources,
        "",
        (*DEFINES, "-O0", *includes(), f"-I{folder / 'include'}"),
        "g++",
        (f"-L{folder}", "-lcasadi", f"-Wl,-rpath,{folder}"),
    )
    home = CACHE / f"{name}-{hashlib.sha256(rows + generator.name.encode()).hexdigest()[:16]}"
    if not (home / "done").exists():
        home.mkdir(parents=True, exist_ok=True)
        (home / "rows").write_bytes(rows)
        run(
            [
                str(generator),
                str(home / "rows"),
                str(home),
                *[str(STEP_SIZE)] * (program == "casadi_step"),
            ]
        )
        (home / "done").touch()
    return {p.stem: p for p in home.glob("*.c") if not p.stem.startswith("loop_")}


def _compiled(source: Path) -> Path:
    """The generated file with the loop behind it, compiled."""
    whole = source.with_name(f"loop_{source.name}")
    whole.write_text(source.read_text() + LOOP.format(name=source.stem))
    return built((whole,), ".so", (*FAST, *SHARED, "-w"), link=("-lm",))
