"""Results of one tree of sources, written to a file, and those of two trees compared:

    PYTHONPATH=OLD/src python benchmarks/results.py write old.npz
    PYTHONPATH=NEW/src python benchmarks/results.py write new.npz
    python benchmarks/results.py compare old.npz new.npz

Functions of 30 mechanisms, plain and compiled, agree to 1e-13 of the largest entry; runs of 1 s of
regular motion to 1e-10; closed forms have the same text. Where the generated program is the same,
compiled results are equal to the last bit. Only names that all versions have are used.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da
from dalembert import controllers, data, hamilton, lagrange

MODELS = Path(__file__).parent.parent / "src" / "dalembert" / "data"
SECONDS = 1.0  # of a run
OF_FUNCTIONS, OF_RUNS = 1e-13, 1e-10  # of the largest entry; absolute [rad, m; rad/s, m/s]
PLAIN = {
    "mass_matrix": "q",
    "gravity_vector": "q",
    "potential_energy": "q",
    "center_of_mass": "q",
    "coriolis_matrix": "q qd",
    "coriolis_vector": "q qd",
    "bias_force": "q qd",
    "passive_force": "q qd",
    "kinetic_energy": "q qd",
    "momenta": "q qd",
    "centroidal_momentum": "q qd",
    "inverse_dynamics": "q qd qdd",
    "regressor": "q qd qdd",
    "forward_dynamics": "q qd tau",
    "inverse_mass_matrix": "q",
}
TRACED = [*PLAIN, "inverse_dynamics_derivatives", "linearize"]
SMALL = ("mass_matrix", "kinetic_energy", "inverse_dynamics", "forward_dynamics", "gravity_vector")
LARGE = ("regressor", "coriolis_matrix", "inverse_mass_matrix", *TRACED[-2:])
FORMULATIONS = ("lagrange", "elementary_motions", "hamilton")
JOINTS = (  # planar joints have other axes in their plane since they turn continuously with its normal
    "revolute",
    "continuous",
    "prismatic",
    "helical",
    "cylindrical",
    "universal",
    "spherical",
    "free",
    "follower",
)
PRINTED = ("mass_matrix", "coriolis_vector", "gravity_vector")


def robots() -> dict[str, Any]:
    """The 30 mechanisms: files, chains of every length that is treated differently, random trees."""
    files = sorted(MODELS.rglob("*.urdf"))
    found = {path.stem: da.load(path) for path in files}
    found |= {f"{n} links": da.planar_chain(n) for n in (1, 2, 6, 30, 60, 150)}
    found |= {f"tree {seed}": da.random_tree(seed, 5 + seed % 4, JOINTS) for seed in range(10)}
    return found


def states(mechanism: Any, count: int = 3) -> dict[str, np.ndarray]:
    """Arrays of states from a fixed seed."""
    rng = np.random.default_rng(7)
    several = [mechanism.random_state(rng) for _ in range(count)]
    q, qd = (np.array(x) for x in zip(*several))
    return {
        "q": q,
        "qd": qd,
        "qdd": rng.standard_normal(qd.shape),
        "tau": rng.standard_normal(qd.shape),
    }


def functions() -> Iterator[tuple[str, Any]]:
    """Plain and compiled quantities, and the generated text of the compiled."""
    for name, mechanism in robots().items():
        print(name, mechanism.nv, file=sys.stderr)
        state, dynamics = states(mechanism), da.compile(mechanism)
        for quantity in TRACED:
            inputs = [state[i] for i in PLAIN.get(quantity, "q qd tau").split()]
            if quantity in PLAIN and mechanism.nv <= 60:
                plain = getattr(da, quantity)
                yield f"plain/{name}/{quantity}", _array(lambda f=plain: f(mechanism, *inputs))  # noqa: B023
            if mechanism.nv > (2 if quantity in LARGE else 12) and quantity not in SMALL:
                continue  # seconds to minutes of compilation each
            compiled = getattr(dynamics, quantity)
            yield f"compiled/{name}/{quantity}", _array(lambda f=compiled: f(*inputs))  # noqa: B023
            yield f"program/{name}/{quantity}", _program(dynamics, quantity)
        if mechanism.nv <= 4:
            for formulation in FORMULATIONS:
                other = _array(
                    lambda: _of_formulation(mechanism, formulation, state)  # noqa: B023
                )
                yield f"compiled/{name}/forward_dynamics {formulation}", other


def _of_formulation(mechanism: Any, formulation: str, state: dict[str, np.ndarray]) -> Any:
    dynamics = da.compile(mechanism, formulation=formulation)
    return dynamics.forward_dynamics(*(state[i] for i in ("q", "qd", "tau")))


def _array(compute: Callable[[], Any]) -> np.ndarray:
    """The result as one array of numbers, or the refusal as text."""
    try:
        result = compute()
    except da.DalembertError as error:
        return np.array(f"{type(error).__name__}: {error}")
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.ravel(np.asarray(x, float)) for x in parts])


def _program(dynamics: Any, quantity: str) -> np.ndarray:
    """Statements of the generated NumPy function, which say whether two programs are the same."""
    try:
        text = _source(dynamics, quantity)
    except da.DalembertError:
        return np.array("")
    return np.array("\n".join(re.findall(r"^ +v\d+ = .*$", text, re.MULTILINE)))


def _source(dynamics: Any, quantity: str) -> str:
    if hasattr(dynamics, "source"):
        return "".join(dynamics.source("numpy", [quantity]).values())
    from dalembert.compiled.quantities import traced

    from dalembert.codegen import numpy_source  # before a compiled object could say it

    return str(numpy_source.source(traced(dynamics.mechanism, [quantity])))


def runs() -> Iterator[tuple[str, Any]]:
    """Final and recorded states of 40 runs of regular motion, with their events."""
    for name, run in _runs().items():
        print(name, file=sys.stderr)
        try:
            result = run()
        except da.DalembertError as error:
            yield f"run/{name}", np.array(f"{type(error).__name__}: {error}")
            continue
        yield f"run/{name}", np.concatenate([np.ravel(result.q), np.ravel(result.qd)])
        times = [e.t for e in result.events] + [c.t for c in result.changes]
        yield f"events/{name}", np.array([float(len(times)), *times])


def _runs() -> dict[str, Callable[[], Any]]:
    def run(source: Any, q: Any, qd: Any, **options: Any) -> Callable[[], Any]:
        options = {"method": "rk4", "h": 1e-3, "record": 0.05} | options
        return lambda: da.simulate(source, q, qd, SECONDS, **options)

    two, six, panda = da.planar_chain(2), da.planar_chain(6), da.load(data.path("panda"))
    swing, still = ([0.4, 0.2], [0.3, -0.1]), ([0.4, 0.2], [0.0, 0.0])
    found = {
        f"2 links {method}": run(two, *swing, method=method, **options)
        for method, options in {
            "explicit_euler": {},
            "rk4": {},
            "implicit_midpoint": {},
            "gauss4": {},
            "gauss6": {},
            "lie_rk4": {},
            "discrete_gradient": {},
            "dopri5": {"rtol": 1e-9},
            "dop853": {"rtol": 1e-9},
            "radau5": {"rtol": 1e-8},
        }.items()
    }
    for method in ("symplectic_euler", "rk4", "implicit_midpoint", "gauss4"):
        found[f"2 links hamilton {method}"] = run(
            two, *swing, method=method, formulation="hamilton"
        )
    for formulation in ("lagrange", "elementary_motions"):
        found[f"2 links {formulation}"] = run(two, *swing, formulation=formulation)
    found["2 links dop853 called"] = run(
        two, *swing, method="dop853", rtol=1e-9, forces=lambda t, q, qd: [-float(qd[0]), 0.0]
    )
    found["several"] = run(two, [[0.4, 0.2], [0.1, 0.0], [0.3, 0.3]], [0.0, 0.0])
    found["events"] = run(two, *swing, events=[lambda t, q, qd: q[0] - 0.2, lambda t, q, qd: qd[1]])
    found["events dopri5"] = run(
        two, *swing, method="dopri5", rtol=1e-9, events=lambda t, q, qd: q[0] - q[1]
    )
    found["parameters"] = run(two, *swing, parameters={"link1.mass": 1.7})

    found["control numbers"] = run(two, *swing, control=[0.5, -0.2])
    found["control traced"] = run(two, *swing, control=lambda t, q, qd: [-q[0], -qd[1]])
    found["control called"] = run(
        two, *swing, control=lambda t, q, qd: [-np.asarray(q)[0].item(), -float(qd[1])], h=2e-3
    )
    found["control PD"] = run(two, *still, control=controllers.GravityPD(two, [0, 0], 20.0, 5.0))
    rubbing = two.replace({"q1.coulomb": 0.4, "q2.coulomb": 0.2, "q2.viscous": 0.1})
    found["friction stick"] = run(rubbing, *swing)
    found["friction sign"] = run(rubbing, *swing, friction="sign")
    found["friction dopri5"] = run(rubbing, *swing, method="dopri5", rtol=1e-9)

    limits = da.Limits((-0.3,), (0.3,))
    bounded = da.Mechanism(
        "bounded",
        (da.Body("base"), da.Body("rod", 1, (0, 0, -0.5), (0.1, 0, 0.1, 0, 0, 0.01))),
        (da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "rod", limits=limits),),
    )
    found["stops"] = run(bounded, [0.2], [2.0], stops={"hinge": 0.5})
    found["stops plastic"] = run(bounded, [0.2], [2.0], stops=True)

    found["6 links"] = run(six, 0.1 * np.ones(6), np.zeros(6))
    long = da.planar_chain(60)
    found["60 links"] = run(long, 1e-3 * np.ones(60), np.zeros(60))
    rest = panda.neutral()
    found["panda"] = run(panda, rest, 0.1 * np.ones(panda.nv))
    found["panda dop853"] = run(panda, rest, 0.1 * np.ones(panda.nv), method="dop853", rtol=1e-10)
    for seed in (1, 3):
        tree = da.random_tree(seed, 4, ["free", "spherical", "prismatic", "revolute"])
        q, qd = tree.random_state(np.random.default_rng(seed))
        found[f"tree {seed}"] = run(tree, q, 0.1 * qd)
        found[f"tree {seed} lie_rk4"] = run(tree, q, 0.1 * qd, method="lie_rk4")
    double = da.lagrangian_system(
        lambda q, qd, t: (qd @ qd) / 2 - da.cos(q[0]) * q[1] - q[1] ** 2 / 2, "x y"
    )
    found["Lagrangian"] = run(double, [0.1, 0.2], [0.0, 0.3])
    found["Lagrangian hamilton"] = run(double, [0.1, 0.2], [0.0, 0.3], formulation="hamilton")
    return found


def closed_forms() -> Iterator[tuple[str, Any]]:
    """Texts of equations: robots, symbols, and each formulation's report of M, h and g."""
    with da.Graph():
        m, l, g = da.symbols("m l g")
        sources = {f"{n} links": da.planar_chain(n, mass=m, length=l, gravity=(0, 0, -g))
                   for n in (1, 2, 3)}  # fmt: skip
        for name in ("cartpole", "double_pendulum", "scara", "stanford_arm", "puma560", "ur5"):
            sources[name] = da.load(next(MODELS.rglob(f"{name}.urdf")))
        for name, source in sources.items():
            print(name, file=sys.stderr)
            kinds = ("newton_euler", "lagrange", "hamilton") if source.nv < 3 else ("newton_euler",)
            for formulation in kinds:
                eom = da.equations(source, formulation=formulation)
                yield f"text/{name}/{formulation}", np.array(eom.text(*PRINTED))
                yield f"text/{name}/{formulation} latex", np.array(eom.latex(*PRINTED))
        flexible = lagrange.flexible_joints
        assert flexible and hamilton  # names of every version
        system = da.lagrangian_system(lambda q, qd, t: (qd @ qd) / 2 - da.cos(q[0]), "x y")
        yield "text/Lagrangian", np.array(da.equations(system).text("mass_matrix"))


def write(path: str) -> None:
    """Compute all of them and write them to an npz file."""
    warnings.simplefilter("ignore")
    results: dict[str, np.ndarray] = {}
    for source in (functions, runs, closed_forms):
        for name, value in source():
            results[name] = value
    np.savez_compressed(path, **{name.replace("/", "|"): x for name, x in results.items()})
    print(f"{len(results)} results of {Path(da.__file__).parent}")


def compare(old_path: str, new_path: str) -> int:
    """Print each difference above its bound; the number of them."""
    with np.load(old_path) as old_file, np.load(new_path) as new_file:
        old, new = ({k.replace("|", "/"): f[k] for k in f.files} for f in (old_file, new_file))
    wrong, same_bits = 0, 0
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            print(f"{name}: only in the {'old' if name in old else 'new'} tree")
            continue
        a, b, kind = old[name], new[name], name.partition("/")[0]
        if kind == "program":
            continue
        equal = a.shape == b.shape and a.tobytes() == b.tobytes()
        same_bits += equal
        if equal:
            continue
        message = _difference(name, a, b)
        program = name.replace("compiled/", "program/")
        if not message and kind == "compiled" and program in old:
            same = old[program].item() and old[program].item() == new[program].item()
            message = f"not the same bits, of the same program ({_error(a, b):.1e})" if same else ""
        if message:
            wrong += 1
            print(f"{name}: {message}")
    print(
        f"{len(old)} old, {len(new)} new results; {same_bits} equal to the last bit; {wrong} wrong"
    )
    return wrong


def _difference(name: str, a: np.ndarray, b: np.ndarray) -> str:
    """Why two results that are not equal to the last bit differ too much; nothing if not."""
    if a.dtype.kind == "U" or b.dtype.kind == "U":
        return f"\n    {str(a)[:600]}\n    {str(b)[:600]}"
    if a.shape != b.shape:
        return f"{a.shape} numbers, now {b.shape}"
    error = _error(a, b)
    bound = OF_RUNS if name.startswith(("run/", "events/")) else OF_FUNCTIONS
    return f"{error:.1e} of the largest entry" if not error <= bound else ""


def _error(a: np.ndarray, b: np.ndarray) -> float:
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    finite = np.isfinite(a)
    largest = np.abs(a[finite]).max(initial=0)
    return float(np.abs(a[finite] - b[finite]).max(initial=0) / (largest or 1.0))


def main() -> int:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("write", "compare"))
    parser.add_argument("files", nargs="+")
    given = parser.parse_args()
    if given.command == "write":
        write(*given.files)
        return 0
    return bool(compare(*given.files))


if __name__ == "__main__":
    sys.exit(main())
