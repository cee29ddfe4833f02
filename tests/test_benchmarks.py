"""The benchmarks' own parts: the same model for all engines, the same step, honest tables. No times are asserted."""

import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert as da

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """Imports a module of the benchmarks, whose generated files go to a folder of this test."""
    monkeypatch.setenv("DALEMBERT_BENCH_CACHE", str(tmp_path))
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    own = {path.stem for path in BENCHMARKS.iterdir()}
    yield lambda name: __import__(name, fromlist=["_"])
    for name in [n for n in sys.modules if n.split(".")[0] in own]:
        del sys.modules[name]


def test_chain_file_is_the_generators_chain_turned_the_other_way(bench):
    robots = bench("robots")
    file = da.load(robots.chain_urdf(5).encode(), passive=False)
    chain = da.planar_chain(5)
    q, qd, qdd = np.random.default_rng(0).standard_normal((3, 4, 5))
    expected = da.inverse_dynamics(chain, q, qd, qdd)
    np.testing.assert_allclose(-da.inverse_dynamics(file, -q, -qd, -qdd), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_long_chains_get_fewer_states(bench):
    robots = bench("robots")
    assert robots.states("chain10", 8192).q.shape == (8000, 10) and robots.states("chain500", 8192).q.shape == (160, 500)
    assert robots.ROBOTS["chain10"].path.is_relative_to(Path(bench("native").CACHE))


def test_rk4_step_converges_like_h_to_the_fifth_to_the_exact_motion(bench, monkeypatch):
    """A free fall of the UR5: one step of h against 16 steps of h / 16, whose error is 16^4 times smaller."""
    ensemble, robots = bench("ensemble"), bench("robots")
    q, qd, _, tau = robots.states("ur5", 4)
    errors = []
    for h in (0.02, 0.01):
        steps = []
        for count in (1, 16):
            monkeypatch.setattr(ensemble, "STEP_SIZE", h / count)
            step = ensemble.rk4_step.__wrapped__("ur5")
            x = (q, qd)
            for _ in range(count):
                x = step(*x, tau)
            steps.append(np.concatenate(x, axis=1))
        errors.append(np.abs(steps[0] - steps[1]).max())
    assert 20 < errors[0] / errors[1] < 45      # 2^5 = 32, with terms of higher order


def test_kernel_without_avx512_computes_the_same(bench):
    narrow, robots = bench("narrow"), bench("robots")
    from dalembert.tracing.quantities import traced

    states = robots.states("ur5", 21)
    for quantity in ("forward_dynamics", "inverse_dynamics_derivatives"):
        program = traced(robots.mechanism("ur5"), [quantity])
        contender = narrow.contender(program, quantity, states)
        contender.call()
        plain = getattr(da, quantity)(robots.mechanism("ur5"), *states.inputs(quantity))
        for found, expected in zip(contender.result(), plain if isinstance(plain, tuple) else (plain,), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_features_without_avx512_lack_what_builds_on_it(bench):
    features = "+avx2,+avx512f,-avx512er,+fma,+avx10.1,+avx512vl"
    assert bench("narrow").narrowed(features) == "+avx2,-avx512f,-avx512er,+fma,-avx10.1,-avx512vl"


def test_half_of_each_ratio_applies_without_avx512_and_nothing_else_changes(bench):
    targets = {t.key: t for t in bench("targets").TARGETS}
    ratio = targets["ratio", "panda", "inverse_dynamics", "Pinocchio"]
    assert ratio.bound == 45 and ratio.narrow().bound == 22.5 and ratio.narrow().met(23) and not ratio.met(23)
    single = targets["single", "dalembert"]
    assert single.narrow() == single and not single.met(0.6e-6)
    assert targets["growth", "forward_dynamics"].met(1.5) and not targets["growth", "forward_dynamics"].met(2.5)


@pytest.mark.parametrize("wide", [False, True])
def test_page_shows_bounds_of_this_machine_beside_the_full_ones(bench, wide):
    report = bench("report")
    time = {"median": 5e-8, "low": 4e-8, "high": 6e-8}
    row = {"states": 8192, "times": {"dalembert": time, "Pinocchio": time}, "difference": 1e-14, "operations": 1000,
           "ratios": {"dalembert": {"Pinocchio": (30.0, 32.0)}}, "bytes": 224,
           "limits": {"peak": 0.4, "copying": 0.1, "writing": 0.05}}
    if wide:
        row["times"]["dalembert, AVX2 only"] = time
        row["ratios"]["dalembert, AVX2 only"] = {"Pinocchio": (24.0, 25.0)}
    chain = {key: row[key] for key in ("states", "times", "difference", "ratios")}
    machine = report.machine()
    machine["vectors"]["AVX-512"] = wide
    text = report.page({"machine": machine, "rounds": 3, "peak": 4e10, "left_out": {"frax": "not installed"},
                        "robots": {"panda": {"inverse_dynamics": row}, "chain100": {"inverse_dynamics": chain}},
                        "chains": {"inverse_dynamics": {"100": {"states": 6400, "per_joint": 1e-8, "first": 0.3, "memory": 2e8},
                                                        "1000": {"failed": "not done within 60 s"}}}})
    assert "Left out: frax: not installed." in text and "not done within 60 s" in text
    assert "| 100 | inverse dynamics | 8192 |" in text and "30.0 (32.0)" in text
    line = next(x for x in text.splitlines() if x.startswith("| Panda, inverse dynamics: times Pinocchio"))
    if wide:
        assert line.endswith("| at least 45.0 times | 30.0 times | **missed** | at least 22.5 times | 24.0 times | met |")
    else:
        assert line.endswith("| at least 45.0 times | at least 22.5 times | 30.0 times | met |")


@pytest.mark.parametrize("robot, quantity", [("ur5", "inverse_dynamics"), ("ur5", "rk4_step"), ("g1", "mass_matrix"),
                                             ("chain10", "forward_dynamics")])
def test_frax_computes_the_same(bench, robot, quantity):
    pytest.importorskip("frax")
    robots, peers = bench("robots"), bench("peers")
    states = robots.states(robot, 32)
    (contender,) = bench("peers.frax").Frax(robot, states).contenders(quantity)
    contender.call()
    ours = bench("ensemble").rk4_step(robot) if quantity == robots.STEP else getattr(da.compile(robots.mechanism(robot)), quantity)
    found = ours(*states.inputs(quantity))
    assert peers.difference(list(found) if isinstance(found, tuple) else [found], contender.result()) < 1e-9


def test_work_and_precision_are_measured_on_the_same_motion(bench, tmp_path):
    work = bench("work_precision")
    case = work.cases()[0]
    rows = work.measured(case._replace(duration=0.5), 1, (1e-7,))
    assert [r.method for r in rows] == ["dopri5", "dop853"]
    for row in rows:
        assert abs(row.ours[1] / row.scipys[1] - 1) < 0.2 and max(row.ours[2], row.scipys[2]) < 1e-5
        assert row.per_step == pytest.approx(row.scipys[0] / row.scipys[1] / (row.ours[0] / row.ours[1]))
    assert work.table(rows).count("\n") == 3
    work.diagram(rows, tmp_path / "d.svg")
    assert "<svg" in (tmp_path / "d.svg").read_text(encoding="utf-8")


def test_trees_are_compared_in_pairs_taken_in_turn(bench):
    compare = bench("compare")
    order = []
    pairs = compare.in_turn(["old", "new"], 4, lambda tree: order.append(tree) or {"old": 2.0, "new": 3.0}[tree])
    assert order == ["old", "new", "new", "old"] * 2 and (pairs == [2.0, 3.0]).all()
    ratio, low, high = compare.ratio_and_interval(np.array([[1.0, r] for r in range(1, 42)]))
    assert (ratio, low, high) == (21, 14, 28)      # ranks of the median of 41: 97 % by the binomial distribution


@pytest.mark.parametrize("name", ["four-bar", "squeezer", "slider-crank"])
def test_loops_begin_closed_and_end_where_stored_solutions_do(bench, name):
    cases = bench("loop_cases")
    case = cases.CASES[name]()
    mechanism, law = cases.mechanism(case), cases.forces(case)
    assert np.abs(da.constraint_residual(mechanism, case.q)).max() < 1e-12
    options = {"forces": law} if law else {}
    run = da.simulate(mechanism, case.q, case.qd, [0.0, case.duration], method="dop853", rtol=1e-9, atol=1e-9, **options)
    assert case.error(run.q[-1]) < 1e-6
    moved = run.q[-1].copy()
    moved[0] += 1e-3
    assert case.error(moved) > 1e-4


def test_least_times_are_those_that_reach_an_error(bench):
    loops = bench("loops")
    curve = loops.Curve("case", "engine", [loops.Point(1.0, 1e-4), loops.Point(2.0, 1e-6), loops.Point(4.0, 1e-8)])
    assert curve.seconds_at(1e-6) == (2.0, True)
    seconds, sure = curve.seconds_at(1e-10)
    assert not sure and abs(seconds - 8.0) < 1e-9


@pytest.mark.slow
def test_elastic_arms_move_as_the_table_says(bench, tmp_path):
    elastic = bench("elastic")
    found = elastic.curve("exact", 3, "rodas5p", (1e-2, 4e-4), 1)
    coarse, fine = found.rows
    assert fine.calm < 1e-4 < coarse.calm and fine.steps > coarse.steps      # 3e-5 m by the number of modes
    assert found.seconds_at(1e-4) == fine.seconds and found.seconds_at(1e-9) == np.inf
    assert elastic.table([found]).count("\n") == 3
    elastic.diagram([found], tmp_path / "d.svg")
    assert "<svg" in (tmp_path / "d.svg").read_text(encoding="utf-8")


def test_operations_of_chains_of_beams_grow_in_proportion(bench):
    elastic = bench("elastic")
    counts = np.array([elastic.operations(elastic.chain(n)) for n in (2, 4, 6)])
    assert (np.diff(counts, n=2, axis=0) == 0).all()
