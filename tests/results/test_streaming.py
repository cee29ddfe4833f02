"""Runs that are written while they are computed: readable at any time, the same to the last bit however often they are killed."""

import dataclasses
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray

import dalembert as da
from dalembert.results import stored_arrays, streaming
from dalembert.results.even_times import Even
from dalembert.results.recorder import Recorder

ARM = da.planar_chain(2)
RUBBING = dataclasses.replace(ARM, joints=tuple(dataclasses.replace(j, coulomb=(0.8,)) for j in ARM.joints))
ONE = {"q": [0.3, -0.5], "qd": [0, 0], "t": 1.0}
TWO = {"q": [[0.3, -0.5], [1, 1]], "qd": [0, 0], "t": 1.0}
SHORT = ONE | {"t": 0.35}
TWO_SHORT = TWO | {"t": 0.35}
RECORDS = ("times", "q", "qd", "work", "kinetic_energy", "potential_energy", "steps", "rejected")


def wave(t, q, qd):
    return da.array([da.sin(3 * t), -qd[0]])


def switch(t, q, qd):
    return np.array([1.0, 0.0]) if t < 0.3 else np.zeros(2)


def wild(t, q, qd):
    return 1e3 * qd


def low(t, q, qd):
    return q[0] + 1.2


def turning(t, q, qd):
    return qd[1]


low.direction = -1

CASES = {
    "one": (ARM, SHORT), "several": (ARM, TWO_SHORT), "adaptive": (ARM, SHORT | {"method": "dopri5"}),
    "several adaptive": (ARM, TWO_SHORT | {"method": "dop853", "control": wave}),
    "implicit": (ARM, SHORT | {"method": "implicit_midpoint"}),
    "momenta": (ARM, SHORT | {"formulation": "hamilton"}), "called": (ARM, SHORT | {"control": switch}),
    "ends early": (ARM, ONE | {"t": 20.0, "record": 1e-2, "h": 1e-2, "method": "explicit_euler", "control": wild}),
    "one of several ends": (ARM, SHORT | {"control": np.array([[0, 0], [1e95, 0], [1, 0]]), "t": 0.2, "record": 0.001}),
    "numbers": (ARM, TWO_SHORT | {"parameters": {"link2.mass": [0.5, 2.0], "q1.viscous": 0.1}}),
    "friction": (RUBBING, SHORT), "events and friction": (RUBBING, TWO | {"events": [low, turning], "t": 2.0}),
    "events, adaptive": (ARM, TWO | {"events": [low, turning], "method": "dopri5"})}


class Cut(Exception):
    pass


@pytest.fixture
def parts(monkeypatch):
    """Sets the records of a part, and how many parts are written before the run is cut off."""
    def put(size, until=None):
        monkeypatch.setattr(streaming, "records_of", lambda numbers, work: size)
        written, left = Recorder.write, [until]

        def write(self, *rest):
            if left[0] == 0:
                raise Cut
            left[0] = left[0] and left[0] - 1
            written(self, *rest)

        monkeypatch.setattr(Recorder, "write", write)
        return lambda: monkeypatch.setattr(Recorder, "write", written)
    return put


def assert_same(a, b):
    for name in RECORDS:
        np.testing.assert_array_equal(np.asarray(getattr(a, name)), np.asarray(getattr(b, name)), err_msg=name)
    assert (a.reasons, a.forces, a.method, a.h, a.friction) == (b.reasons, b.forces, b.method, b.h, b.friction)
    assert plain(a.events) == plain(b.events) and plain(a.changes) == plain(b.changes)
    assert (a.modes is None) == (b.modes is None) and (a.modes is None or np.array_equal(a.modes, b.modes))


def plain(rows):
    return [tuple(v.tolist() if isinstance(v, np.ndarray) else v for v in row) for row in rows]


# --- the same run ---

@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name in (
    "several adaptive", "implicit", "momenta", "friction") else name for name in CASES])
def test_a_run_that_was_cut_off_goes_on_to_the_same_end_as_one_in_memory(name, parts, tmp_path):
    mechanism, call = CASES[name]
    parts(10**6)
    expected = da.simulate(mechanism, **call)
    store, whole = tmp_path / "run.zarr", parts(83 if name != "ends early" else 3, until=2)
    functions = {k: v for k, v in call.items() if k in ("control", "events") and not isinstance(v, np.ndarray)}
    with pytest.raises(Cut):
        da.simulate(mechanism, **call, store=store)
    cut = da.Run.load(mechanism, store)
    assert 1 < len(cut.times) < len(expected.times) and cut.reason == "not finished: `resume` goes on"
    np.testing.assert_array_equal(cut.q, expected.q[..., :len(cut.times), :])
    whole()
    found = da.resume(mechanism, store, **functions)
    assert_same(found, expected)
    assert_same(da.Run.load(mechanism, store), expected)
    assert_same(da.simulate(mechanism, **call, store=store, resume=True), expected)      # finished: nothing is computed


@pytest.mark.parametrize("name", ["one of several ends", "events and friction"])
def test_a_run_in_memory_does_not_depend_on_its_parts(name, parts):
    mechanism, call = CASES[name]
    parts(10**6)
    expected = da.simulate(mechanism, **call)
    parts(50)
    assert_same(da.simulate(mechanism, **call), expected)


def test_a_run_by_a_called_library_goes_on_with_the_same_bits(parts, tmp_path):
    """radau5 begins anew with every part; their borders do not depend on where the run was cut off."""
    call = ONE | {"method": "radau5"}
    parts(83)
    expected = da.simulate(ARM, **call, store=tmp_path / "whole.zarr")
    whole = parts(83, until=3)
    with pytest.raises(Cut):
        da.simulate(ARM, **call, store=tmp_path / "run.zarr")
    whole()
    assert_same(da.resume(ARM, tmp_path / "run.zarr"), expected)
    np.testing.assert_allclose(expected.q, da.simulate(ARM, **call).q, atol=1e-8)


def test_times_at_equal_distances_are_those_of_linspace():
    for end, count in ((1.3, 1001), (7.1, 13), (100.0, 2), (1e4, 10**6)):
        even, times = Even(0.0, end, count), np.linspace(0.0, end, count)
        for at in (slice(None), slice(1, 9), slice(-3, None)):
            np.testing.assert_array_equal(even[at], times[at])
        assert len(even) == count and even[-1] == times[-1] and even[1] == times[1]


SCRIPT = """
import numpy as np, resource, sys
import dalembert as da
records, store = int(sys.argv[1]), sys.argv[2]
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run = da.simulate(da.planar_chain(1), [1.0], [0.0], records * 1e-3, record=1e-3, store=store)
assert len(run.times) == records + 1
run.energy_drift, run.to_netcdf(store + ".nc"), run.final()
print(peak())
"""


def test_a_run_that_is_killed_is_readable_and_goes_on_to_the_same_end(tmp_path):
    records, store = 600_000, tmp_path / "run.zarr"
    going = subprocess.Popen([sys.executable, "-c", SCRIPT, str(records), str(store)])
    end = time.monotonic() + 600
    try:
        while not store.exists():
            assert time.monotonic() < end and going.poll() is None
            time.sleep(0.005)
        time.sleep(0.05)
    finally:
        os.kill(going.pid, signal.SIGKILL)
        going.wait()
    pendulum = da.planar_chain(1)
    cut = da.Run.load(pendulum, store, lazy=True)
    assert 0 < len(cut.times) <= records
    with xarray.open_zarr(store, chunks=None) as data:
        last = float(data["time"][len(cut.times) - 1])
        assert last == cut.times[-1] and not np.isnan(data["power_balance"].values[:len(cut.times)]).any()
    found = da.resume(pendulum, store)
    whole = da.simulate(pendulum, [1.0], [0.0], records * 1e-3, record=1e-3)
    for name in ("times", "q", "qd", "work"):
        np.testing.assert_array_equal(np.asarray(getattr(found, name)), getattr(whole, name))


def peak(records, folder):
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(records), str(folder / f"{records}.zarr")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int(done.stdout) / 1024


@pytest.mark.slow
def test_memory_does_not_grow_with_the_records(tmp_path):
    """[MiB]; records alone are 32 byte each, 275 MiB for the difference."""
    less = peak(10**6, tmp_path)
    shutil.rmtree(tmp_path / f"{10**6}.zarr")
    assert peak(10**7, tmp_path) < less + 90


# --- arrays that are read when they are looked at ---

@pytest.fixture(scope="module", params=[ONE, TWO], ids=["one", "two"])
def both(request, tmp_path_factory):
    """A run in memory and the same in a folder."""
    call = request.param
    return da.simulate(ARM, **call), da.simulate(ARM, **call, store=tmp_path_factory.mktemp("both") / "both.zarr")


KEYS = [np.s_[-1], np.s_[..., -1, :], np.s_[..., 3:700:7, 0], np.s_[:1], np.s_[..., ::-1, :], np.s_[..., [1, 5], :], np.s_[...], np.s_[..., -4:, 1],
        np.s_[..., None]]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_stored_arrays_are_indexed_as_arrays(both, key):
    memory, folder = both
    assert isinstance(folder.q, stored_arrays.Stored) and folder.q.shape == memory.q.shape and folder.q.dtype == memory.q.dtype
    np.testing.assert_array_equal(folder.q[key], memory.q[key])


def test_stored_arrays_calculate_as_arrays(both):
    memory, folder = both
    np.testing.assert_array_equal(2 * folder.q + folder.q.max() - np.abs(folder.qd), 2 * memory.q + memory.q.max() - np.abs(memory.qd))
    np.testing.assert_array_equal(np.asarray(pickle.loads(pickle.dumps(folder)).momenta), memory.momenta)
    assert folder.summary() == memory.summary() and folder.energy_drift == memory.energy_drift
    with pytest.raises(IndexError):
        folder.q[..., 1001, 0]


def test_files_of_a_stored_run_are_those_of_one_in_memory(both, tmp_path, monkeypatch):
    memory, folder = both
    monkeypatch.setattr(stored_arrays, "BLOCK", 400)      # several parts
    memory.to_netcdf(tmp_path / "a.nc"), folder.to_netcdf(tmp_path / "b.nc")
    xarray.testing.assert_identical(xarray.load_dataset(tmp_path / "a.nc"), xarray.load_dataset(tmp_path / "b.nc"))
    memory.to_zarr(tmp_path / "a.zarr")
    with xarray.open_zarr(tmp_path / "a.zarr", chunks=None) as a, xarray.open_zarr(folder.q.folder, chunks=None) as b:
        xarray.testing.assert_equal(a.load(), b.load())
    if memory.q.ndim == 2:
        memory.to_csv(tmp_path / "a.csv"), folder.to_csv(tmp_path / "b.csv")
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_events_and_modes_are_kept_in_files(suffix, tmp_path):
    run = da.simulate(RUBBING, **TWO, events=[low, turning])
    assert run.events and run.changes
    (run.to_netcdf if suffix == ".nc" else run.to_zarr)(tmp_path / f"run{suffix}")
    assert_same(da.Run.load(RUBBING, tmp_path / f"run{suffix}"), run)


# --- what does not go on ---

def test_a_folder_is_never_overwritten(tmp_path):
    store = tmp_path / "run.zarr"
    da.simulate(ARM, **ONE, store=store)
    with pytest.raises(da.DalembertError, match="is there already: give another name, or remove it; a run that was cut off goes on with resume=True"):
        da.simulate(ARM, **ONE, store=store)
    with pytest.raises(da.DalembertError, match="is read from that folder"):
        da.Run.load(ARM, store, lazy=True).to_zarr(store)


@pytest.mark.parametrize("change, says", [
    ({"q": [0.3, -0.4]}, "another q: it goes on only as it began"), ({"h": 1e-4, "method": "gauss4"}, "another h, method"),
    ({"t": 2.0}, "another t"), ({"control": np.array([1.0, 0.0])}, "control that was none, not constant"),
    ({"control": wave}, "control that was none, not traced")])
def test_a_run_goes_on_only_as_it_began(change, says, tmp_path):
    store = tmp_path / "run.zarr"
    da.simulate(ARM, **ONE, store=store)
    with pytest.raises(da.DalembertError, match=says):
        da.simulate(ARM, **(ONE | change), store=store, resume=True)


def test_resume_needs_a_control_that_does_the_same_and_not_only_its_name(tmp_path):
    def damped(gain):
        return lambda t, q, qd: [-gain * v for v in qd]

    store = tmp_path / "run.zarr"
    da.simulate(ARM, **ONE, control=damped(1.0), store=store)
    with pytest.raises(da.DalembertError, match="another control"):
        da.resume(ARM, store, control=damped(2.0))
    da.resume(ARM, store, control=damped(1.0))


def test_resume_needs_the_mechanism_and_the_functions(tmp_path):
    store = tmp_path / "run.zarr"
    da.simulate(ARM, **ONE, control=wave, events=[low], store=store)
    for mechanism, given, says in ((ARM.replace({"link2.mass": 2.0}), {"control": wave, "events": [low]}, "another mechanism"),
                                   (ARM, {"events": [low]}, "control that was traced, not none"),
                                   (ARM, {"control": wave, "events": [turning]}, "another events"),
                                   (ARM, {"control": wave}, "was simulated with events low: give them again")):
        with pytest.raises(da.DalembertError, match=says):
            da.resume(mechanism, store, **given)
    with pytest.raises(da.DalembertError, match="there is no run"):
        da.resume(ARM, tmp_path / "none.zarr")
    da.simulate(ARM, **ONE).to_zarr(tmp_path / "memory.zarr")
    with pytest.raises(da.DalembertError, match=r"is no run of simulate\(store=...\)"):
        da.resume(ARM, tmp_path / "memory.zarr")
