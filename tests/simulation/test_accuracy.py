"""Methods are what they are called, and a run that is only a picture says so."""

import warnings

import numpy as np
import pytest

import dalembert as da

TOP = da.Mechanism("top", (da.Body("base"), da.Body("body", 1, (0, 0, 0), (1, 0, 2, 0, 0, 3))),
                   (da.Joint("ball", da.Spherical(), "base", "body"),), gravity=(0, 0, 0))


def warned(*arguments, **options):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run = da.simulate(*arguments, **options)
    return run, [str(w.message) for w in found]


# --- symplectic Euler ---


@pytest.mark.parametrize("start", [(0.4, -0.3), (2.0, 1.0)])
def test_symplectic_euler_is_the_method_in_momenta_and_bounds_the_energy(start):
    chain = da.planar_chain(2)
    run = da.simulate(chain, start, [0, 0], 40.0, method="symplectic_euler", h=2e-3, record=0.1)
    same = da.simulate(chain, start, [0, 0], 40.0, method="symplectic_euler", h=2e-3, record=0.1, formulation="hamilton")
    early, late = (np.abs(half).max() for half in np.array_split(run.power_balance, 2))
    assert np.array_equal(run.q, same.q) and late < 1.5 * early < 0.1 * run.kinetic_energy.max()


def test_symplectic_euler_is_refused_where_it_would_not_be_symplectic():
    chain = da.planar_chain(2)
    with pytest.raises(ValueError, match="not in the .q, qd. of 'newton_euler': take formulation='hamilton'"):
        da.simulate(chain, [0, 0], [0, 0], 1.0, method="symplectic_euler", formulation="newton_euler")
    with pytest.raises(ValueError, match="'newton_euler', not 'hamilton'"):
        da.simulate(chain, [0, 0], [0, 0], 1.0, method="symplectic_euler", stops=True)
    with pytest.raises(ValueError, match=r"free joints \(ball\) have not: take method='implicit_midpoint'"):
        da.simulate(TOP, [1, 0, 0, 0], [1.2, 0, 0.9], 1.0, method="symplectic_euler")
    with pytest.raises(ValueError, match="steps velocities, which a state .q, p. has not"):
        da.simulate(chain, [0, 0], [0, 0], 1.0, method="semi_implicit_euler", formulation="hamilton")


def test_the_method_that_the_refusal_names_keeps_the_energy_of_a_free_body():
    run = da.simulate(TOP, [1, 0, 0, 0], [1.2, 0, 0.9], 500.0, method="implicit_midpoint", formulation="hamilton", h=0.01,
                      record=1.0)
    assert run.reason == "finished" and run.energy_drift < 1e-11


def test_a_sweep_takes_the_formulation_of_its_method():
    found = da.sweep(da.planar_chain(1), {"link1.mass": [1.0, 2.0]}, q=[0.3], t=0.2, method="symplectic_euler")
    right = [da.simulate(da.planar_chain(1).replace({"link1.mass": m}), [0.3], [0], 0.2, method="symplectic_euler").q[-1, 0]
             for m in (1.0, 2.0)]
    assert np.abs(found["q"][:, 0] - right).max() < 1e-13


# --- accuracy ---


def test_a_step_that_is_much_too_long_is_warned_of():
    run, said = warned(da.planar_chain(2), [1, 1], [0, 0], 5.0, h=5.0)
    assert run.reason == "finished" and run.energy_drift > 0.5
    assert len(said) == 1 and "J other than by work" in said[0] and "the step h=5 s is too long for 'rk4'" in said[0]
    _, said = warned(da.planar_chain(2), [[0, 0], [1, 1]], [0, 0], 1.0, rtol=0.5, atol=0.5, method="dopri5", h=1.0)
    assert any("of trajectory" in text and "tolerances are too coarse for 'dopri5'" in text for text in said)


def test_a_poor_run_in_a_folder_is_warned_of_too(tmp_path):
    pytest.importorskip("zarr")
    _, said = warned(da.planar_chain(2), [1, 1], [0, 0], 5.0, method="explicit_euler", h=0.05, store=tmp_path / "run.zarr")
    assert any("too long for 'explicit_euler'" in text for text in said)


@pytest.mark.parametrize("options", [
    {}, {"q": (-np.pi / 2, 0)}, {"control": [3.0, 1.0]}, {"control": lambda t, q, qd: -2 * qd}, {"formulation": "hamilton"},
    {"rtol": 1e-6}, {"friction": "stick"}])
def test_sound_runs_are_not_warned_of(options):
    options = {"q": (1.0, 1.0), **options}
    chain = da.planar_chain(2, gravity=(0, -9.81, 0))
    run, said = warned(chain, options.pop("q"), [0, 0], 2.0, **options)
    assert run.reason == "finished" and said == []


# --- options that belong together ---


def test_a_tolerance_without_a_method_means_a_method_that_has_one():
    assert da.simulate(da.planar_chain(1), [1], [0], 0.1).method == "rk4"
    for option in ({"rtol": 1e-8}, {"atol": 1e-8}, {"rtol": 1e-8, "atol": 1e-10}):
        assert da.simulate(da.planar_chain(1), [1], [0], 0.1, **option).method == "dop853"


@pytest.mark.parametrize("method", ["dopri5", "dop853", "radau5"])
def test_without_an_absolute_tolerance_a_joint_at_rest_stays_at_rest(method):
    run = da.simulate(da.planar_chain(1, gravity=(0, 0, 0)), [0], [0], 1.0, rtol=1e-6, atol=0, method=method)
    assert run.reason == "finished" and not np.any(run.q)


@pytest.mark.parametrize("options, error, text", [
    ({"method": "rk4", "rtol": 1e-8}, ValueError, "rtol=1e-08 with method='rk4', whose steps are fixed"),
    ({"method": "gauss4", "atol": 1e-8}, ValueError, "atol=1e-08 with method='gauss4'"),
    ({"rtol": 0, "atol": 0}, ValueError, "rtol=0 and atol=0 leave no error"),
    ({"rtol": -1e-3}, ValueError, "rtol=-0.001: expected a tolerance of 0 or more"),
    ({"atol": np.nan}, ValueError, "atol=nan"), ({"rtol": np.inf}, ValueError, "rtol=inf"),
    ({"rtol": "1e-9"}, TypeError, "rtol='1e-9'"), ({"atol": True}, TypeError, "atol=True"),
    ({"threads": 0}, ValueError, "threads=0: expected 1 or more"), ({"threads": -1}, ValueError, "threads=-1"),
    ({"threads": 1.5}, TypeError, "threads=1.5"), ({"threads": True}, TypeError, "threads=True"),
    ({"threads": [2]}, TypeError, "threads="), ({"resume": True}, ValueError, "resume=True without store="),
    ({"h": 10**400}, ValueError, "h is beyond the range"), ({"rtol": 10**400}, ValueError, "rtol is beyond the range"),
    ({"record": -10**400}, ValueError, "record is beyond the range"),
    ({"method": 4}, TypeError, "method=4"), ({"resume": "yes"}, TypeError, "resume='yes'"),
])
def test_options_that_make_no_sense_are_refused(options, error, text):
    with pytest.raises(error, match=text):
        da.simulate(da.planar_chain(1), [1], [0], 0.1, **options)
