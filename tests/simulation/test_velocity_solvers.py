"""Solvers for velocities of momenta along a motion in Hamilton's form: directly in machine code, by iterations with counts."""

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import UnknownNameError

CHAIN = da.hamilton.planar_chain([1.0, 1.0, 1.0], [1.0, 1.0, 1.0])
TREE = da.planar_chain(3)
Q, QD = np.array([0.3, -0.5, 0.2]), np.array([1.0, -0.4, 0.6])
SHORT = {"h": 5e-3, "record": 0.01}


def run_of(system, solver, **options):
    return da.simulate(system, Q, QD, 0.05, formulation="hamilton", solver=solver, **SHORT, **options)


@pytest.mark.parametrize(("system", "solver"), [
    (CHAIN, "cholesky"), (CHAIN, "minimal_residuals"), (CHAIN, "conjugate_directions"), (TREE, "conjugate_directions"),
    *(pytest.param(TREE, solver, marks=pytest.mark.slow) for solver in ("cholesky", "minimal_residuals"))], ids=lambda x: x if isinstance(x, str) else x.name)
def test_every_solver_leads_to_the_motion_of_the_sweep(system, solver):
    right, run = run_of(system, "sweep"), run_of(system, solver)
    assert np.abs(run.q - right.q).max() < 1e-8 and np.abs(run.qd - right.qd).max() < 1e-7
    assert right.solutions is None and (run.solutions is None) == (solver == "cholesky")
    if run.solutions:
        assert run.solutions.solver == solver and run.solutions.solutions >= 4 * run.steps
        assert run.solutions.iterations >= run.solutions.solutions / 2 and 0 <= run.solutions.residual < 1e-6
        assert run.solutions.operations.multiplications > 0


def test_a_solver_of_ones_own_keeps_its_tolerance_and_is_not_changed():
    own = da.hamilton.Solver("conjugate_directions", tolerance=1e-3)
    coarse, fine = run_of(CHAIN, own), run_of(CHAIN, "conjugate_directions")
    assert coarse.solutions.iterations < fine.solutions.iterations and own.solutions == 0
    assert fine.solutions.residual < coarse.solutions.residual


def test_counts_are_of_all_trajectories_and_adaptive_methods():
    one = run_of(CHAIN, "conjugate_directions")
    two = da.simulate(CHAIN, [Q, Q], QD, 0.05, formulation="hamilton", solver="conjugate_directions", **SHORT)
    assert two.solutions.solutions == 2 * one.solutions.solutions
    adaptive = run_of(CHAIN, "minimal_residuals", method="dopri5", rtol=1e-6)
    assert adaptive.solutions.solutions >= 6 * adaptive.steps and np.abs(adaptive.q[-1] - one.q[-1]).max() < 1e-5


def test_solvers_that_are_none_are_refused_by_name():
    with pytest.raises(UnknownNameError, match="gauss"):
        run_of(CHAIN, "gauss")
    with pytest.raises(ValueError, match="take formulation='hamilton', not 'newton_euler'"):
        da.simulate(da.planar_chain(3), Q, QD, 0.05, solver="sweep")
    hoop = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2 + da.cos(q[0]), "angle")
    with pytest.raises(ValueError, match="has one way only"):
        da.simulate(hoop, [0.1], [0.0], 0.1, formulation="hamilton", solver="sweep")
