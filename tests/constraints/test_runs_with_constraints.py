"""Runs, stores, sweeps and processes keep the constraints of a mechanism."""

import dataclasses
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dalembert as da


@pytest.fixture(scope="module")
def start():
    mechanism, q = da.loops.four_bar(angle=1.0)
    return (mechanism, *da.project(mechanism, q, [2.0, 0, 0]))


def renamed(mechanism):
    """The mechanism with another name of its constraint."""
    return dataclasses.replace(mechanism, constraints=(dataclasses.replace(mechanism.constraints[0], name="my pin"),))


@pytest.fixture(scope="module")
def run(start):
    return da.simulate(*start, 0.1, record=0.05)


@pytest.mark.parametrize("ending", ["nc", "zarr"])
def test_a_run_is_read_back_with_the_mechanism_and_not_with_its_tree(run, start, ending, tmp_path):
    pytest.importorskip("xarray")
    file = tmp_path / f"run.{ending}"
    (run.to_netcdf if ending == "nc" else run.to_zarr)(file)
    back = da.Run.load(start[0], file)
    assert np.array_equal(back.q, run.q) and np.array_equal(back.multipliers, run.multipliers)
    assert np.allclose(back.energy, run.energy)
    with pytest.raises(da.DalembertError, match=r"is a run with constraints \(pin\), but mechanism 'four-bar' has \(\)"):
        da.Run.load(start[0].without("constraints"), file)
    with pytest.raises(da.DalembertError, match=r"has \(my pin\)"):
        da.Run.load(renamed(start[0]), file)


def test_a_run_in_a_store_goes_on_only_with_the_same_constraints(start, tmp_path):
    pytest.importorskip("zarr")
    mechanism, q, qd = start
    whole = da.simulate(mechanism, q, qd, 0.1, record=0.05, store=tmp_path / "run.zarr")
    assert np.array_equal(da.resume(mechanism, tmp_path / "run.zarr").q, whole.q)
    with pytest.raises(da.DalembertError, match="another mechanism"):
        da.resume(renamed(mechanism), tmp_path / "run.zarr")


def ended(pin):
    mechanism, q = da.loops.four_bar(angle=1.0)
    longer = mechanism.replace({"pin.second_origin[0]": pin})
    state = da.project(longer, q, [2.0, 0, 0])
    return da.simulate(longer, *state, 0.05).q[-1]


def test_a_sweep_over_a_number_of_a_constraint():
    pins = [0.8, 0.82]
    swept = da.sweep(ended, {"pin": pins}, ThreadPoolExecutor(1))
    found = np.asarray(swept["result"])
    assert np.abs(found[0] - found[1]).max() > 1e-3
    assert all(np.array_equal(end, ended(pin)) for end, pin in zip(found, pins))


def test_a_mechanism_with_constraints_is_pickled(start):
    again = pickle.loads(pickle.dumps(start[0]))
    assert again == start[0] and again.identity() == start[0].identity() and again.constraints[0].source == start[0].constraints[0].source


def test_numbers_of_constraints_are_parameters_of_runs(start):
    mechanism, q, qd = start
    longer = mechanism.replace({"pin.second_origin[0]": 0.82})
    state = da.project(longer, q, qd)
    right = da.simulate(longer, *state, 0.05)
    found = da.simulate(mechanism, *state, 0.05, parameters={"pin.second_origin[0]": 0.82})
    np.testing.assert_allclose(found.q[-1], right.q[-1], atol=1e-9)


def test_its_text_counts_constraints(start):
    assert repr(start[0]) == "<Mechanism 'four-bar': 4 bodies, 3 joints, 1 constraint, nq = 3, nv = 3>"
    assert "2 constraints" in repr(da.loops.n_four_bar(2).mechanism)
