"""Lagrangians of users in motion: against mechanisms, closed forms and their own equations in (q, p)."""

import csv
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da

PENDULUMS = json.loads((Path(__file__).parents[1] / "data" / "reference" / "pendulums.json").read_text())
FORMS = ("lagrange", "hamilton")
G, RATE = 9.81, 8.0      # m/s^2; rad/s


def of_mechanism(mechanism):
    return da.lagrangian_system(lambda q, qd, t: da.kinetic_energy(mechanism, q, qd) - da.potential_energy(mechanism, q),
                                mechanism.coordinate_names, name=mechanism.name)


def hoop(forces=None):
    """A bead on a hoop of radius 1 that turns at a given rate, from the lowest point."""
    return da.lagrangian_system(lambda q, qd, t: (qd[0]**2 + RATE**2 * da.sin(q[0])**2) / 2 + G * da.cos(q[0]), "theta",
                                forces, "hoop")


def driven(q, qd, t):
    """A cart with a pendulum, L of every kind of term: quadratic, linear in qd, and with time."""
    return (1 + 0.2 * da.sin(t)) * qd[0]**2 + qd[1]**2 / 2 + qd[0] * qd[1] * da.cos(q[1]) + 0.3 * da.sin(3 * t) * q[1] * qd[0] \
        + G * da.cos(q[1]) - 2 * q[0]**2


@pytest.fixture(scope="module")
def cart():
    return da.lagrangian_system(driven, "x theta", forces=lambda q, qd, t: [-0.1 * qd[0], 0.2 * da.cos(2 * t)], name="cart")


@pytest.mark.parametrize("form", FORMS)
def test_the_lagrangian_of_a_mechanism_moves_as_the_mechanism(form):
    chain = da.planar_chain(2)
    options = {"q": [0.3, -0.8], "qd": [0.1, 0], "t": 0.5, "h": 5e-4, "record": 0.05,
               "control": lambda t, q, qd: np.array([da.sin(3 * t), -qd[1] / 100])}
    right, run = da.simulate(chain, **options), da.simulate(of_mechanism(chain), formulation=form, **options)
    assert run.reason == "finished" and run.forces["control"] == "traced"
    for name in ("q", "qd", "work", "momenta", "kinetic_energy", "energy", "power_balance"):
        found, expected = (np.asarray(getattr(r, name)) for r in (run, right))
        assert np.abs(found - expected).max() < 1e-8 * max(1, np.abs(expected).max()), name


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["rk4", "dopri5", "dop853", "gauss4", "implicit_midpoint", "semi_implicit_euler", "symplectic_euler", "radau5"])
def test_every_kind_of_term_in_both_forms_and_the_balance_closes(cart, form, method):
    if (method, form) in (("symplectic_euler", "lagrange"), ("semi_implicit_euler", "hamilton")):
        with pytest.raises(ValueError, match=method):      # it is no method of this form
            da.simulate(cart, [0.2, 0.4], [0, 1.0], 1.0, method=method, formulation=form)
        return
    right = da.simulate(cart, [0.2, 0.4], [0, 1.0], 1.0, method="dop853", rtol=1e-12, record=0.1)
    run = da.simulate(cart, [0.2, 0.4], [0, 1.0], 1.0, method=method, record=0.1, formulation=form)
    error = {"symplectic_euler": 2e-2, "semi_implicit_euler": 2e-2, "implicit_midpoint": 1e-4}.get(method, 1e-6)
    assert run.reason == "finished" and np.abs(run.q - right.q).max() < error
    assert np.abs(run.power_balance).max() < error and np.abs(run.work).max() > 0.1
    assert np.abs(run.momenta - cart.momenta(run.q, run.qd, run.times)).max() < 1e-12


def test_jacobis_integral_of_a_turning_hoop_is_kept_and_the_energy_is_not():
    run = da.simulate(hoop(), [0.5], [0], 3.0, method="gauss6", h=2e-3)
    theta, rate = run.q[:, 0], run.qd[:, 0]
    jacobi = (rate**2 - RATE**2 * np.sin(theta)**2) / 2 - G * np.cos(theta)
    assert np.abs(run.energy - jacobi).max() < 1e-12 and run.energy_drift < 1e-11 and not run.work.any()
    total = jacobi + RATE**2 * np.sin(theta)**2                         # T + Pi: the motor that turns the hoop does work
    assert np.ptp(total) > 1
    rest = np.arccos(G / RATE**2)                                       # the bead's other equilibrium
    assert np.abs(da.simulate(hoop(), [rest], [0], 1.0).q - rest).max() < 1e-12


def test_friction_brings_the_bead_to_rest_where_the_hoop_carries_it():
    run = da.simulate(hoop(lambda q, qd, t: [-2 * qd[0]]), [0.1], [0], 20.0, record=0.1)
    assert abs(run.q[-1, 0] - np.arccos(G / RATE**2)) < 1e-6 and run.work[-1] < -1 and np.abs(run.power_balance).max() < 1e-8


def kapitza(a=0.02):
    """A pendulum on a pivot that is shaken, y = a cos(w t): terms linear in the velocity, and time."""
    given = PENDULUMS["kapitza"]["parameters"]
    l, w = given["l"], 150

    def L(q, qd, t):
        yd = -a * w * da.sin(w * t)
        return l**2 * qd[0]**2 / 2 + l * yd * qd[0] * da.sin(q[0]) + yd**2 / 2 - G * (a * da.cos(w * t) - l * da.cos(q[0]))

    return da.lagrangian_system(L, "theta", name="Kapitza")


@pytest.mark.parametrize("form", FORMS)
def test_kapitzas_pendulum_stays_upright(form):
    rows = np.array(PENDULUMS["kapitza"]["rows"], dtype=float)
    run = da.simulate(kapitza(), [np.pi - 0.2], [0], rows[:, 0], method="dop853", rtol=1e-12, atol=1e-13, formulation=form)
    assert np.abs(run.q - rows[:, 1:2]).max() < 1e-8 and np.abs(run.qd - rows[:, 2:]).max() < 1e-6
    assert np.abs(run.q - np.pi).max() < 0.21 and np.abs(run.power_balance).max() < 1e-7 < np.abs(run.work).max()
    assert np.abs(da.simulate(kapitza(0), [np.pi - 0.2], [0], 2.0, formulation=form).q - np.pi).max() > 1      # it falls


def test_a_lagrangian_that_is_not_quadratic_in_the_velocity():
    """A relativistic particle on a spring, in units of the speed of light: p = v / sqrt(1 - v^2), H = sqrt(1 + p^2) + x^2/2."""
    fast = da.lagrangian_system(lambda q, qd, t: -da.sqrt(1 - qd[0]**2) - q[0]**2 / 2, "x", name="particle")
    run = da.simulate(fast, [2.0], [0], 5.0, method="dop853", rtol=1e-11, record=0.1)
    right = solve_ivp(lambda t, x: [x[1] / np.sqrt(1 + x[1]**2), -x[0]], (0, 5), [2.0, 0], method="DOP853", rtol=1e-12,
                      atol=1e-13, t_eval=run.times).y
    assert np.abs(run.q[:, 0] - right[0]).max() < 1e-8 and np.abs(run.momenta[:, 0] - right[1]).max() < 1e-8
    assert np.abs(run.energy - 3).max() < 1e-9 and 0.9 < np.abs(run.qd).max() < 1
    with pytest.raises(da.DalembertError, match="'particle' is not quadratic in qd: it has no velocities of momenta"):
        da.simulate(fast, [2.0], [0], 1.0, formulation="hamilton")


def test_a_singular_mass_matrix_ends_the_run_and_names_coordinate_and_time():
    sliding = da.lagrangian_system(lambda q, qd, t: (qd[0]**2 + (q[0] - 1) * qd[1]**2) / 2, "r b", name="sliding")
    for form in FORMS:
        run = da.simulate(sliding, [2.0, 0], [-1.0, 0], 3.0, record=0.3, formulation=form)      # b at rest feels nothing
        assert run.reason == "after t = 0.9 s: the mass matrix of 'sliding' is singular: coordinate 'b'."
        assert len(run.times) == 4 and run.q[-1, 0] == pytest.approx(1.1)
        with pytest.raises(da.SingularMassMatrixError, match="coordinate 'b'.*'sliding' is singular"):
            da.simulate(sliding, [1.0, 0], [-1.0, 0], 3.0, formulation=form)
    square = da.lagrangian_system(lambda q, qd, t: q[0]**2 * qd[0]**2 / 2, "x", name="square")      # x^2 = 1 - 2 t
    stuck = da.simulate(square, [[1.0], [2.0]], [-1.0], 1.0, method="dopri5")
    assert stuck.reasons == ("after t = 0.5 s: the mass matrix of 'square' is nearly singular: coordinate 'x'.", "finished")
    assert np.isnan(stuck.q[0, 501:]).all() and np.abs(stuck.q[1, :, 0]**2 - (4 - 4 * stuck.times)).max() < 1e-6


def test_batches_and_called_forces_give_the_same(cart):
    def control(t, q, qd):
        return np.array([-q[0], da.sin(t)])

    q = np.random.default_rng(0).normal(size=(5, 2))
    for form in FORMS:
        options = {"t": 0.3, "h": 0.01, "record": 0.1, "formulation": form}
        many = da.simulate(cart, q, [0, 0.5], control=control, **options)
        alone = da.simulate(cart, q[3], [0, 0.5], control=lambda t, q, qd: control(float(t), q, qd), **options)
        assert alone.forces["control"] == "called" and np.abs(many.q[3] - alone.q).max() < 1e-12
        assert np.abs(many.work[3] - alone.work).max() < 1e-12 and many.energy.shape == (5, 4)


def test_a_run_of_a_lagrangian_is_a_run(cart, tmp_path):
    run = da.simulate(cart, [0.2, 0.4], [0, 1.0], 0.5, record=0.1)
    with open(run.to_csv(tmp_path / "run.csv"), newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head[:5] == ["time", "x", "theta", "rate of x", "rate of theta"]
    assert np.array_equal(np.array(rows, dtype=float)[:, 1:3], run.q)
    again = pickle.loads(pickle.dumps(run))
    assert np.array_equal(again.energy, run.energy) and "of 'cart'" in run.summary() and "stopped: finished" in run.summary()
    with pytest.raises(da.DalembertError, match="'cart' has no bodies"):
        run.animate(tmp_path / "run.html")


def test_the_dataset_goes_by_the_names_of_coordinates(cart, tmp_path):
    pytest.importorskip("xarray")
    run = da.simulate(cart, [0.2, 0.4], [0, 1.0], 0.5, record=0.1)
    data = run.to_xarray()
    assert np.array_equal(data.q.sel(coordinate="theta"), run.q[:, 1]) and data.attrs["mechanism"] == "cart"
    pytest.importorskip("h5netcdf")
    again = da.Run.load(cart, run.to_netcdf(tmp_path / "run.nc"))
    assert np.array_equal(again.q, run.q) and np.array_equal(again.energy, run.energy)


def test_diagrams_show_coordinates_energies_and_phases(cart):
    pytest.importorskip("matplotlib")
    figure = da.simulate(cart, [0.2, 0.4], [0, 1.0], 0.5, record=0.1).plot()
    labels = " ".join(ax.get_ylabel() for ax in figure.axes)
    assert "coordinates" in labels and "energies" in labels and "balance" in labels


@pytest.mark.parametrize(("options", "error", "part"), [
    ({"formulation": "newton_euler"}, da.UnknownNameError, "lagrange, hamilton"), ({"q": [0.1]}, da.ShapeError, "x, theta"),
    ({"q": [0.1, np.nan]}, ValueError, "nan|finite"), ({"method": "discrete_gradient"}, ValueError, "function of time too"),
    ({"control": [1, 2, 3]}, da.ShapeError, "control has shape")])
def test_wrong_options_are_refused(cart, options, error, part):
    with pytest.raises(error, match=part):
        da.simulate(cart, **{"q": [0.2, 0.4], "qd": [0, 1.0], "t": 0.1} | options)


def test_parameters_need_values():
    with da.Graph():
        m = da.symbol("m")
        system = da.lagrangian_system(lambda q, qd, t: m * qd[0]**2 / 2, "x", name="mass")
        with pytest.raises(ValueError, match="'mass' has parameters without values: m.*system.replace"):
            da.simulate(system, [0], [1], 1.0)
        assert da.simulate(system.replace({"m": 2}), [0], [1], 1.0).momenta[-1] == pytest.approx(2)
