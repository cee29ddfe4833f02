"""States of a system beside q and qd move with it, in its error control, and are recorded."""

import numpy as np
import pytest

import dalembert as da

pytestmark = pytest.mark.usefixtures("quickly_compiled")
M, K, D = 1.5, 20.0, 3.0      # kg, N/m, N s/m


class Maxwell(da.System):
    """A mass on a spring and a damper in series, whose elongation is an internal state."""

    name, coordinate_names, internal_names, internal_states = "maxwell", ("x",), ("damper",), np.array([0.1])

    def mass_matrix(self, q, t=0.0):
        return [[M]]

    def bias_force(self, q, qd, t=0.0):
        return np.zeros(1)

    def potential_energy(self, q, t=0.0):
        return 0 * q[0]

    def generalized_forces(self, q, qd, t=0.0):
        return np.array([K * (self.internal_states[0] - q[0])])

    def internal_rates(self, q, qd, tau, t=0.0):
        return np.array([K / D * (q[0] - self.internal_states[0])])

    @property
    def observables(self):
        return {"tension": da.Quantity(lambda q, s: K * (q - s), ("q", "internal_states"), (1,), "N")}


def exact(times, start):
    A = np.array([[0, 1, 0], [-K / M, 0, K / M], [K / D, 0, -K / D]])
    values, vectors = np.linalg.eig(A)
    return (vectors @ (np.exp(np.outer(values, times)) * np.linalg.solve(vectors, start)[:, None])).real.T


@pytest.mark.parametrize("options", [{}, {"method": "dop853"}, {"method": "gauss4"}, {"method": "dopri5", "events": lambda t, q, qd: q[0]}])
def test_internal_states_move_as_the_closed_form(options):
    run = da.simulate(Maxwell(), [1.0], [0.5], 2.0, **options)
    x = exact(run.times, [1.0, 0.5, 0.1])
    np.testing.assert_allclose(np.column_stack([run.q, run.qd, run.internal_states]), x, atol=2e-8)
    assert np.abs(run.power_balance).max() < 1e-7                     # the element's force does work
    np.testing.assert_allclose(run.observables["tension"][:, 0], K * (x[:, 0] - x[:, 2]), atol=1e-6)
    assert run.observables.declared["internal_states"].labels == ("damper",)


def test_internal_states_stand_beside_states_of_a_controller_and_those_of_other_trajectories():
    class Integral:
        states = np.zeros(1)

        def __call__(self, t, q, qd, states):
            return -2.0 * states

        def rate(self, t, q, qd, states):
            return q

    run = da.simulate(Maxwell(), [[1.0], [0.3]], [[0.5], [0.0]], 1.0, control=Integral(), method="dop853")
    alone = da.simulate(Maxwell(), [0.3], [0.0], 1.0, control=Integral(), method="dop853")
    np.testing.assert_array_equal(run.internal_states[1], alone.internal_states)
    np.testing.assert_array_equal(run.controller_states[1], alone.controller_states)
    assert run.end.internal_states.shape == (2, 1)

    def called(t, q, qd):
        return [-0.5 * float(qd[0])]

    interpreted = da.simulate(Maxwell(), [1.0], [0.5], 1.0, control=called, method="dop853")
    traced = da.simulate(Maxwell(), [1.0], [0.5], 1.0, control=lambda t, q, qd: -0.5 * qd, method="dop853")
    np.testing.assert_allclose(interpreted.internal_states, traced.internal_states, atol=1e-9)


def test_compiled_quantities_take_internal_states_and_files_keep_them(tmp_path):
    compiled = da.compile(Maxwell())
    assert compiled.forward_dynamics([1.0], [0.0], [2.0], internal_states=[0.4]) == pytest.approx((2 - K * 0.6) / M)
    pytest.importorskip("xarray")
    run = da.simulate(Maxwell(), [1.0], [0.5], 0.1)
    read = da.Run.load(Maxwell(), run.to_netcdf(tmp_path / "run.nc"))
    np.testing.assert_array_equal(read.observables["internal_states"], run.internal_states)


def test_what_ends_a_run_names_an_internal_state():
    class Growing(Maxwell):
        def internal_rates(self, q, qd, tau, t=0.0):
            return np.array([self.internal_states[0] ** 3 * 1e3])

    run = da.simulate(Growing(), [1.0], [0.5], 2.0, h=0.01)
    assert "internal state 'damper'" in run.reason or "x" in run.reason


def test_multipliers_of_a_system_that_has_none_are_refused():
    with pytest.raises(da.ConstraintError, match="no constraint of 'maxwell' has multipliers that are states"):
        da.simulate(Maxwell(), [1.0], [0.5], 0.1, multipliers0=[0.0])


def test_stores_and_files_of_several_trajectories_keep_internal_states(tmp_path):
    pytest.importorskip("zarr")
    pytest.importorskip("xarray")
    start = [[1.0], [0.3]], [[0.5], [0.0]], 1.0
    whole = da.simulate(Maxwell(), *start, method="dop853", record=0.1)
    stored = da.simulate(Maxwell(), *start, method="dop853", record=0.1, store=tmp_path / "run.zarr")
    np.testing.assert_array_equal(stored.observables["internal_states"], whole.internal_states)
    np.testing.assert_array_equal(stored.end.internal_states, whole.end.internal_states)
    read = da.Run.load(Maxwell(), whole.to_netcdf(tmp_path / "run.nc"))
    np.testing.assert_array_equal(read.internal_states, whole.internal_states)
    np.testing.assert_array_equal(read.observables["tension"], whole.observables["tension"])
