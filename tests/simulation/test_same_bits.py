"""A trajectory alone and in an ensemble of any size: equal to the last bit."""

import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.targets.llvm import values
from dalembert.integrators.method_kinds import MOMENTA, VELOCITIES, FixedStep
from dalembert.integrators.methods import METHODS
from dalembert.native.kernel import Kernel
from dalembert.tracing.quantities import FORMULATIONS

SIZES = (2, 9)      # ensembles


def assert_same_bits(mechanism, method, formulation, t=0.2, **options):
    rng = np.random.default_rng(mechanism.nv)
    q, qd = rng.uniform(-1, 1, (max(SIZES), mechanism.nq)), rng.uniform(-1, 1, (max(SIZES), mechanism.nv))
    options |= {"method": method, "formulation": formulation, "record": 0.1}
    options |= {"h": 0.02} if isinstance(METHODS[method], FixedStep) else {}
    runs = [da.simulate(mechanism, q[:n], qd[:n], t, **options) for n in SIZES]
    for row in (0, 1):
        alone = da.simulate(mechanism, q[row], qd[row], t, **options)
        for run in runs:
            for name in ("q", "qd", "work"):
                assert np.array_equal(getattr(alone, name), getattr(run, name)[row]), (name, len(run.q))


@pytest.mark.parametrize("method", METHODS)
def test_a_trajectory_alone_has_the_bits_it_has_in_an_ensemble(method):
    assert_same_bits(da.planar_chain(3), method, "hamilton" if method == "symplectic_euler" else "newton_euler")


@pytest.mark.slow
@pytest.mark.parametrize("joints", [1, 2, 3, 4])
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_so_does_one_of_any_method_formulation_and_number_of_joints(method, formulation, joints):
    if (MOMENTA if formulation == "hamilton" else VELOCITIES) in METHODS[method].refuses:
        pytest.skip("refused: it is no method for this state")
    assert_same_bits(da.planar_chain(joints), method, formulation)


def test_results_depend_neither_on_where_code_is_cut_nor_on_the_number_of_rows(monkeypatch):
    def f(x):
        y = [x[k % 4] * x[(k + 1) % 4] + da.exp(x[k % 3]) * k for k in range(40)]
        return [sum(a * b - c for a, b, c in zip(y[k:], y[k + 1:], y[k + 2:])) for k in range(8)]

    program, x = da.function(f, x=4).program, np.random.default_rng(1).uniform(0.2, 0.9, (37, 4))
    found = []
    for chunk in (values.CHUNK, 50, 13, 6):
        monkeypatch.setattr(values, "CHUNK", chunk)
        kernel = Kernel.of(program)
        for n in (1, 7, 8, 9, 37):
            parts = [np.empty((len(part), 8)) for part in np.split(x, range(n, 37, n))]
            for part, result in zip(np.split(x, range(n, 37, n)), parts, strict=True):
                kernel.run([part], [result], len(part))
            found.append(np.concatenate(parts))
    assert all(np.array_equal(found[0], other) for other in found)
