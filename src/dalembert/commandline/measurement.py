"""Speed of this package on this machine beside the engines that are installed, for `dalembert
bench`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

import dalembert as da
from dalembert.codegen.program import STATUS, Program
from dalembert.commandline.output import TableColumn, left, line, show_table
from dalembert.commandline.peers import mujoco_model, pinocchio_model
from dalembert.model.mechanism import Mechanism
from dalembert.reports.speed_section import processor
from dalembert.reports.timing import Times, side_by_side
from dalembert.tracing.quantities import straight

SEED = 1743
# of the largest entry: beyond it another engine does not compute the same, and is not timed
AGREEMENT = 1e-8
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
IN_CASADI = {
    "add": "plus",
    "sub": "minus",
    "mul": "times",
    "div": "rdivide",
    "min": "fmin",
    "max": "fmax",
    "abs": "fabs",
    "less": "lt",
    "less_equal": "le",
    "equal": "eq",
    "and": "logic_and",
    "or": "logic_or",
    "not": "logic_not",
    "select": "if_else",
}  # functions whose names differ
PACKAGES = {"Pinocchio": "pin", "MuJoCo": "mujoco", "CasADi": "casadi"}


class Contender(NamedTuple):
    """A quantity of all states by one engine; `result` gives it in this package's conventions."""

    engine: str
    how: str
    call: Callable[[], object]
    result: Callable[[], np.ndarray]


class States(NamedTuple):
    """Random states, row-major."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


def installed() -> list[str]:
    """Other engines that can be measured."""
    return [name for name in PACKAGES if name not in _absent()]


def measure(
    mechanism: Mechanism, path: Path, floating: bool, count: int, repeats: int
) -> dict[str, Any]:
    """Nanoseconds per state of each quantity by each engine, on a single thread.

    Keys: mechanism, nv, states, repeats, processor, versions, measured (a list of one row per
    engine and quantity), absent ({engine: why it was not measured}).
    """
    states = _states(mechanism, count)
    rows = []
    absent = _absent()
    engines = _engines(mechanism, path, floating, states, absent)
    for quantity in QUANTITIES:
        ours = _ours(mechanism, quantity, states)
        contenders, gaps = [ours], {ours.engine: 0.0}
        for name, engine in engines.items():
            contender = engine.contender(quantity)
            gaps[name] = _difference(ours, contender)
            if gaps[name] <= AGREEMENT:
                contenders.append(contender)
            else:
                absent[f"{name}, {quantity}"] = f"differs by {gaps[name]:.1e} of the largest entry"
        times = side_by_side({c.engine: c.call for c in contenders}, count, repeats)
        for contender in contenders:
            row = {"quantity": quantity, "engine": contender.engine, "how": contender.how}
            timing = _timing(times[ours.engine], times[contender.engine])
            rows.append(row | timing | {"difference": gaps[contender.engine]})
    packages = {name: _version(package) for name, package in PACKAGES.items()}
    return {
        "mechanism": mechanism.name,
        "nv": mechanism.nv,
        "states": count,
        "repeats": repeats,
        "processor": processor(),
        "versions": {"dalembert": da.__version__, **packages},
        "measured": rows,
        "absent": absent,
    }


def _engines(
    mechanism: Mechanism, path: Path, floating: bool, states: States, absent: dict[str, str]
) -> dict[str, Any]:
    """Other engines with the model in them; refusals are added to `absent`."""
    engines = {}
    for name, engine in (("Pinocchio", _Pinocchio), ("MuJoCo", _MuJoCo), ("CasADi", _CasADi)):
        if name in absent:
            continue
        try:
            engines[name] = engine(mechanism, path, floating, states)
        except Exception as error:  # any objection of another engine to the model
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            absent[name] = f"does not take the model: {first}"
    return engines


def _timing(ours: Times, theirs: Times) -> dict[str, float]:
    """Nanoseconds per state of an engine, and how many times those of this package they are."""
    return {
        "ns": theirs.median * 1e9,
        "ns_low": theirs.spread[0] * 1e9,
        "ns_high": theirs.spread[1] * 1e9,
        "times_dalembert": ours.ratio(theirs),
        "times_quiet": ours.quiet_ratio(theirs),
    }


def show(out: Console, found: dict[str, Any]) -> None:
    """Print what was measured, how each engine was called, and who is missing."""
    line(out, f"mechanism {found['mechanism']}, nv {found['nv']}", "bold")
    line(out, f"{found['states']} random states in row-major arrays, one thread; ns per state,")
    line(out, f"medians of {found['repeats']} rounds and what 10 % and 90 % of them stay below, on")
    line(out, f"{found['processor']}.")
    line(out)
    rows = found["measured"]
    show_table(
        out,
        [
            left("quantity", [r["quantity"] for r in rows]),
            left("engine", [r["engine"] for r in rows]),
        ],
        [
            TableColumn("ns", [_nanoseconds(r["ns"]) for r in rows]),
            TableColumn("10 %", [_nanoseconds(r["ns_low"]) for r in rows]),
            TableColumn("90 %", [_nanoseconds(r["ns_high"]) for r in rows]),
            TableColumn("times", [f"{r['times_dalembert']:.1f}" for r in rows]),
            TableColumn("quiet", [f"{r['times_quiet']:.1f}" for r in rows]),
            TableColumn("difference", [f"{r['difference']:.0e}" for r in rows]),
            left("called", [r["how"] for r in rows]),
        ],
    )
    line(out)
    for name, why in found["absent"].items():
        line(out, f"{name}: {why}.")
    line(out, "times: as long as dalembert takes, the median of the rounds' ratios; quiet: the")
    line(out, "ratio of what 10 % of the rounds stay below. Other engines are called from")
    line(out, "Python here; docs/benchmarks.md measures compiled loops over them.")


def _nanoseconds(x: float) -> str:
    return f"{x:.1f}" if x < 100 else f"{x:.0f}"


def _states(mechanism: Mechanism, count: int) -> States:
    rng = np.random.default_rng(SEED)
    q, qd = (
        np.array(x) for x in zip(*(mechanism.random_state(rng) for _ in range(count)), strict=True)
    )
    return States(q, qd, rng.standard_normal(qd.shape), rng.standard_normal(qd.shape))


def _absent() -> dict[str, str]:
    """Why an engine is not measured at all."""
    return {
        name: f"not installed (pip install {package})"
        for name, package in PACKAGES.items()
        if not _version(package)
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _difference(ours: Contender, theirs: Contender) -> float:
    """Largest difference in any state, relative to the largest entry of that state."""
    ours.call()
    theirs.call()
    a, b = (x.reshape(len(x), -1) for x in (ours.result(), theirs.result()))
    gap = np.abs(a - b).max(1, initial=0.0) / np.maximum(
        np.abs(a).max(1, initial=0.0), np.finfo(float).tiny
    )
    return float(gap.max(initial=0.0))


def _ours(mechanism: Mechanism, quantity: str, states: States) -> Contender:
    compiled = da.compile(mechanism)
    inputs = {
        "inverse_dynamics": (states.q, states.qd, states.qdd),
        "forward_dynamics": (states.q, states.qd, states.tau),
        "mass_matrix": (states.q,),
    }[quantity]
    out = getattr(compiled, quantity)(*inputs)  # compiles it
    method = getattr(compiled, quantity)
    return Contender(
        "dalembert", "compiled, whole batch, out=", lambda: method(*inputs, out=out), lambda: out
    )


class _Pinocchio:
    """Its batch functions where it has them, else one call per state."""

    def __init__(self, mechanism: Mechanism, path: Path, floating: bool, states: States):
        import pinocchio

        self.module, self.mechanism = pinocchio, mechanism
        self.model, self.names = pinocchio_model(path, floating=floating)
        mapped = da.convert.to_pinocchio(mechanism, *states, joint_order=self.names)
        self.q, self.v, self.a, self.tau = (np.ascontiguousarray(x) for x in mapped)
        places = np.arange(float(mechanism.nv))
        self.order = np.argsort(
            da.convert.to_pinocchio(
                mechanism, mechanism.neutral(), places, joint_order=self.names
            ).qd
        )
        self.pool, self.data = pinocchio.ModelPool(self.model, 1), self.model.createData()

    def contender(self, quantity: str) -> Contender:
        """The computation of a quantity."""
        pin = self.module
        if quantity == "mass_matrix":
            return self._mass_matrix()
        x = self.a if quantity == "inverse_dynamics" else self.tau
        function = pin.rneaInParallel if quantity == "inverse_dynamics" else pin.abaInParallel
        out = np.zeros_like(self.v)
        name = "tau" if quantity == "inverse_dynamics" else "qdd"

        def result() -> np.ndarray:
            """The result in this package's order."""
            given = {"qd": self.v, name: out}
            return getattr(
                da.convert.from_pinocchio(self.mechanism, self.q, **given, joint_order=self.names),
                name,
            )

        return Contender(
            "Pinocchio",
            f"{function.__name__} from Python, 1 thread",
            lambda: function(1, self.pool, self.q.T, self.v.T, x.T, out.T),
            result,
        )

    def _mass_matrix(self) -> Contender:
        crba, model, data, nv = self.module.crba, self.model, self.data, self.model.nv
        out = np.zeros((len(self.q), nv, nv))

        def call() -> None:
            """Upper triangles of the mass matrices, state by state."""
            for k, q in enumerate(self.q):
                out[k] = crba(model, data, q)

        def result() -> np.ndarray:
            """Whole matrices in this package's order."""
            upper = np.triu(out)
            full = upper + np.triu(upper, 1).swapaxes(1, 2)
            return full[:, self.order][:, :, self.order]

        return Contender("Pinocchio", "crba from Python, a call per state", call, result)


class _MuJoCo:
    """MuJoCo, called from Python state by state."""

    def __init__(self, mechanism: Mechanism, path: Path, floating: bool, states: States):
        import mujoco

        self.module, self.mechanism, self.states = mujoco, mechanism, states
        self.model, self.names = mujoco_model(path, floating=floating)
        self.data = mujoco.MjData(self.model)
        mapped = da.convert.to_mujoco(mechanism, *states, joint_order=self.names)
        self.q, self.v, self.a, self.tau = (np.ascontiguousarray(x) for x in mapped)

    def contender(self, quantity: str) -> Contender:
        """The computation of a quantity."""
        return getattr(self, f"_{quantity}")()

    def _inverse_dynamics(self) -> Contender:
        inverse = self.module.mj_inverse
        model = self.model
        data = self.data
        out = np.empty_like(self.v)

        def call() -> None:
            """Forces, state by state."""
            for k in range(len(out)):
                data.qpos[:], data.qvel[:], data.qacc[:] = self.q[k], self.v[k], self.a[k]
                inverse(model, data)
                out[k] = data.qfrc_inverse

        return Contender(
            "MuJoCo",
            "mj_inverse from Python, a call per state",
            call,
            lambda: (
                da.convert.from_mujoco(
                    self.mechanism, self.q, self.v, tau=out, joint_order=self.names
                ).tau
            ),
        )

    def _forward_dynamics(self) -> Contender:
        forward = self.module.mj_forward
        model = self.model
        data = self.data
        out = np.empty_like(self.v)

        def call() -> None:
            """Accelerations, state by state."""
            for k in range(len(out)):
                data.qpos[:], data.qvel[:], data.qfrc_applied[:] = self.q[k], self.v[k], self.tau[k]
                forward(model, data)
                out[k] = data.qacc

        return Contender(
            "MuJoCo",
            "mj_forward from Python, a call per state",
            call,
            lambda: (
                da.convert.from_mujoco(
                    self.mechanism, self.q, self.v, out, joint_order=self.names
                ).qdd
            ),
        )

    def _mass_matrix(self) -> Contender:
        mujoco, model, data, nv = self.module, self.model, self.data, self.model.nv
        out = np.empty((len(self.q), nv, nv))

        def call() -> None:
            """Mass matrices, state by state."""
            for k in range(len(out)):
                data.qpos[:] = self.q[k]
                mujoco.mj_kinematics(model, data)
                mujoco.mj_comPos(model, data)
                mujoco.mj_makeM(model, data)
                mujoco.mj_fullM(model, data, out[k])

        return Contender(
            "MuJoCo",
            "mj_makeM and mj_fullM from Python, calls per state",
            call,
            lambda: self._ours(out),
        )

    def _ours(self, out: np.ndarray) -> np.ndarray:
        """Mass matrices along our velocities: P^T M P, its velocities being P times ours."""
        unit = [np.tile(e, (len(out), 1)) for e in np.eye(self.mechanism.nv)]
        P = np.stack(
            [
                da.convert.to_mujoco(self.mechanism, self.states.q, e, joint_order=self.names).qd
                for e in unit
            ],
            -1,
        )
        return P.swapaxes(1, 2) @ out @ P


class _CasADi:
    """Its interpreter, in one call for the batch, on the expressions that this package formed: it
    reads no robot files.
    """

    def __init__(self, mechanism: Mechanism, path: Path, floating: bool, states: States):
        self.states = states
        self.functions = {
            name: _casadi_function(straight(mechanism, [name]), len(states.q))
            for name in QUANTITIES
        }

    def contender(self, quantity: str) -> Contender:
        """The computation of a quantity."""
        (buffer, evaluate), names, shape = self.functions[quantity]
        out = np.empty((len(self.states.q), *shape))
        inputs = [getattr(self.states, name) for name in names]
        for k, x in enumerate(inputs):
            buffer.set_arg(k, x.data)
        buffer.set_res(0, out.data)
        return Contender(
            "CasADi", "its interpreter on our expressions, whole batch", evaluate, lambda: out
        )


def _casadi_function(program: Program, count: int) -> tuple[Any, tuple[str, ...], tuple[int, ...]]:
    """Buffer and call of a function of matrices whose columns are states, names of the inputs,
    shape of one result.
    """
    import casadi

    block = program.block
    assert block
    inputs = [casadi.SX.sym(port.name, port.size) for port in program.inputs]
    values: list[Any] = []
    for op, args in block.code:
        if op == "constant":
            values.append(casadi.SX(args[0]))
        elif op == "input":
            values.append(inputs[args[0]][args[1]])
        else:
            operands = [values[a] for a in args]
            values.append(
                -operands[0] if op == "neg" else getattr(casadi, IN_CASADI.get(op, op))(*operands)
            )
    at = next(k for k, port in enumerate(program.outputs) if port.name != STATUS)
    result = casadi.densify(casadi.vertcat(*(values[k] for k in block.results[at])))
    function = casadi.Function("f", inputs, [result]).map(count)
    return function.buffer(), tuple(port.name for port in program.inputs), program.outputs[at].shape
