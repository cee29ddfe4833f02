"""Sweeps: every sample once, on any executor, whatever dies; results in a folder that a second call goes on with."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.sweeps.identity import identity
from dalembert.sweeps.outcome_table import blocked
from dalembert.sweeps.sample_sets import SampleSet
from dalembert.sweeps.workers import processes


class Here(Executor):
    """Computes at once, in this thread, and counts what it holds."""

    def __init__(self):
        self.tasks, self.most, self.samples = 0, 0, 0

    def submit(self, function, batch):
        future = Future()
        self.tasks += 1
        self.most, self.samples = max(self.most, len(batch)), self.samples + len(batch)
        future.set_result(function(batch))
        return future


def product(a, b, c=1.0):
    return {"product": a * b * c, "both": ("part", [a, b]), "text": f"{a} {b}", "large": a * b > 50, "phase": a + 1j * b}


def falling(a, b):
    if a == 2:
        raise ValueError(f"no sample for {b}")
    return a + b


def logged(a, folder, pause=0.0, deadly=(), once=()):
    """a^2; leaves a trace of having been called, and may end its process: always, or the first time."""
    with open(Path(folder) / f"{a}", "a") as trace:
        trace.write("x")
    time.sleep(pause)
    if a in deadly or (a in once and (Path(folder) / f"{a}").stat().st_size == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    return a**2


def calls(folder):
    return {int(p.name): p.stat().st_size for p in Path(folder).iterdir()}


def traces(tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    return str(folder)


# --- samples ---

def test_a_grid_is_all_combinations_and_the_last_name_runs_fastest():
    grid = SampleSet({"a": [1, 2], "b": np.array([0.5, 1.5, 2.5]), "way": ["x", "y"]})
    expected = [(a, b, w) for a in (1, 2) for b in (0.5, 1.5, 2.5) for w in ("x", "y")]
    assert [tuple(grid[k].values()) for k in range(len(grid))] == expected
    assert grid.shape == (2, 3, 2) and type(grid[0]["b"]) is float


def test_values_that_go_together_are_the_same_samples_as_a_list_of_them():
    rows = [{"q": np.array([0.1, 0.2]), "m": 1.0}, {"q": np.array([0.3, 0.4]), "m": 2.0}]
    for samples in (SampleSet(rows), SampleSet({"q": [[0.1, 0.2], [0.3, 0.4]], "m": [1.0, 2.0]}, paired=True)):
        assert samples.dims == ("sample",) and len(samples) == 2
        np.testing.assert_array_equal(samples[1]["q"], [0.3, 0.4])
        assert samples[1]["m"] == 2.0


@pytest.mark.parametrize("given, paired, says", [
    ({}, False, "there are no parameters"), ({"a": []}, False, "there are no samples: 'a' 0 values"), ([], False, "there are no parameters"),
    ({"a": 3}, False, "parameter 'a': 3 is one value, expected a sequence"), ({"a": "word"}, False, "parameter 'a': word is one value"),
    ({"a": [1, 2], "b": [1]}, True, "different lengths: 'a' 2, 'b' 1"), ([{"a": 1}, {"b": 1}], False, "sample 1 has the parameters 'b', the first one 'a'"),
    ([{"a": 1}, 7], False, "sample 1 is 7: expected {name: value}"), ({"a/b": [1]}, False, "parameter 'a/b'")])
def test_samples_that_are_none_are_refused(given, paired, says):
    with pytest.raises(da.DalembertError, match=says.replace("{", "\\{")):
        SampleSet(given, paired)


@pytest.mark.parametrize("shape, rows", [((7,), 3), ((4, 5, 6), 13), ((4, 5, 6), 30), ((4, 5, 6), 1000), ((1000, 2), 64), ((2, 1000), 64), ((3, 3), 1)])
def test_blocks_of_samples_are_neighbours_in_order(shape, rows):
    lengths = blocked(shape, rows)
    numbers = np.arange(np.prod(shape)).reshape(shape)
    block = numbers[tuple(slice(n) for n in lengths)].ravel()
    np.testing.assert_array_equal(block, np.arange(len(block)))
    assert len(block) <= rows


# --- results ---

@pytest.fixture(scope="module")
def pool():
    with processes(2) as executor:
        yield executor


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("way", ["default", "threads", "processes", "maker", "here"])
def test_results_are_those_of_plain_loops_on_every_executor(way, stored, pool, tmp_path):
    executor = {"default": None, "threads": ThreadPoolExecutor(2), "processes": pool, "maker": lambda: processes(1), "here": Here()}[way]
    a, b = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0])
    found = da.sweep(product, {"a": a, "b": b}, executor, c=2.0, store=tmp_path / "s.zarr" if stored else None)
    np.testing.assert_array_equal(found["product"], 2 * a[:, None] * b)
    np.testing.assert_array_equal(found["both"], np.stack(np.meshgrid(a, b, indexing="ij"), axis=-1))
    np.testing.assert_array_equal(found["large"], 1 * a[:, None] * b * 2 / 2 > 50)
    np.testing.assert_array_equal(found["phase"], a[:, None] + 1j * b)
    assert found["text"].tolist() == [[f"{x} {y}" for y in b] for x in a]
    data = found.to_xarray()
    assert data["both"].dims == ("a", "b", "part") and found.computed == 6 and not found.errors
    assert float(data["product"].sel(a=3.0, b=20.0)) == 120
    assert (found.status == 1).all() and found.summary() == "6 samples (a 3 x b 2): 6 done, 0 failed, 6 computed now"


@pytest.mark.parametrize("given, paired, count", [
    ({"a": range(10**9)}, False, 10**9), ({"a": range(10**5), "b": range(10**5), "c": [1]}, False, 10**10),
    ({"a": range(10**9), "b": range(10**9)}, True, 10**9)])
def test_more_samples_than_memory_holds_are_refused_before_it_is_spent(given, paired, count):
    import tracemalloc

    tracemalloc.start()
    try:
        with pytest.raises(da.ShapeError, match=rf"{count} samples .* would take {count * 24e-9:.3g} GB of memory before the first result"):
            da.sweep(product, given, Here(), paired=paired)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_a_range_is_the_same_values_as_its_list():
    for numbers in (range(5), range(10, 0, -3), range(2**70, 2**70 + 3)):
        made = SampleSet({"a": numbers})
        assert [made[k]["a"] for k in range(len(made))] == list(numbers)
        assert identity(made.values) == identity(SampleSet({"a": list(numbers)}).values)


def test_one_sample_is_one():
    assert da.sweep(product, {"a": [1.0], "b": [2.0]}).summary() == "1 sample (a 1 x b 1): 1 done, 0 failed, 1 computed now"


def test_samples_one_by_one_have_one_dimension():
    found = da.sweep(product, [{"a": 1, "b": 5}, {"a": 2, "b": 6}, {"a": 4, "b": 7}], Here())
    assert found["product"].tolist() == [5, 12, 28]
    assert found.to_xarray()["both"].dims == ("sample", "part")
    assert found.to_xarray()["b"].values.tolist() == [5, 6, 7]


def test_a_sample_that_raises_is_recorded_and_ends_nothing():
    found = da.sweep(falling, {"a": [1, 2, 3], "b": [10, 20]}, Here())
    np.testing.assert_array_equal(found["result"], [[11, 21], [np.nan, np.nan], [13, 23]])
    assert found.errors == {2: "ValueError: no sample for 10", 3: "ValueError: no sample for 20"}
    assert "sample 2 (a=2, b=10): ValueError: no sample for 10" in found.summary()


def test_a_sample_that_raises_ends_the_sweep_if_asked(tmp_path):
    with pytest.raises(da.DalembertError, match=r"sample 2 \(a=2, b=10\): ValueError: no sample for 10\nTraceback"):
        da.sweep(falling, {"a": [1, 2, 3], "b": [10, 20]}, Here(), errors="raise", store=tmp_path / "s.zarr", batch=1)
    kept = da.sweep(falling, {"a": [1, 2, 3], "b": [10, 20]}, Here(), store=tmp_path / "s.zarr")
    assert kept["result"][0].tolist() == [11, 21] and kept.computed < 6


def test_results_of_another_kind_or_shape_are_errors_of_their_sample():
    results = {0: [1.0, 2.0], 1: [1.0], 2: {"x": 1.0}, 3: [1j, 2j], 4: object(), 5: 2**60, 6: {}, 7: ("a", [[1.0]]), 8: ["a", "b"]}
    found = da.sweep(_value_of, {"key": [*results]}, Here(), table=results)
    for k, says in {1: r"shape \(1,\)", 2: "results x, but result", 3: "is of kind complex number, but number", 4: "is object, expected a number",
                    5: "beyond 2", 6: "returned no results", 7: "has shape (1, 1), but dimensions", 8: "is of kind text, but number"}.items():
        assert says.replace("\\", "") in found.errors[k], found.errors[k]
    assert found["result"][0].tolist() == [1, 2] and np.isnan(found["result"][1:]).all()


def _value_of(key, table):
    return table[key]


def test_a_result_with_the_name_of_a_parameter_is_refused():
    with pytest.raises(da.DalembertError, match="result 'a': there is a parameter of that name"):
        da.sweep(_same, {"a": [1, 2]}, Here())


def _same(a):
    return {"a": a}


@pytest.mark.parametrize("call, says", [
    (lambda: da.sweep(product, {"a": [1]}, Here(), errors="ignore"), "errors='ignore': expected 'record' or 'raise'"),
    (lambda: da.sweep(product, {"a": [1]}, Here(), batch=0), "batch=0"),
    (lambda: da.sweep(3, {"a": [1]}, Here()), "3 is no function and no mechanism"),
    (lambda: da.sweep(product, {"a": [1]}, 7), "executor=7: expected"),
    (lambda: da.sweep(product, {"a": [1]}, Here(), a=2), "a: given as a parameter and as a constant"),
    (lambda: da.sweep(lambda a: a, {"a": [1]}), "the function cannot be sent to other processes")])
def test_calls_that_make_no_sense_say_so(call, says):
    with pytest.raises((ValueError, TypeError, da.DalembertError), match=says):
        call()


def test_few_samples_are_on_their_way_at_any_time():
    executor, shown = Here(), []
    found = da.sweep(_double, {"k": range(30_000)}, executor, progress=lambda done, total: shown.append((done, total)))
    np.testing.assert_array_equal(found["result"], 2.0 * np.arange(30_000))
    assert executor.samples == 30_000 and 20 < executor.tasks < 3000 and executor.most <= 1024
    assert shown[-1] == (30_000, 30_000) and shown == sorted(shown)


def _double(k):
    return 2.0 * k


# --- folders ---

def test_a_second_call_computes_only_what_is_missing(tmp_path):
    store, log = tmp_path / "s.zarr", traces(tmp_path)
    grid = {"a": range(8)}
    with pytest.raises(_Stop):
        da.sweep(logged, grid, Here(), store=store, batch=1, progress=_stop_at(3), folder=log)
    assert 3 <= len(calls(log)) < 8
    before = set(calls(log))
    found = da.sweep(logged, grid, Here(), store=store, folder=log)
    assert found.computed == 8 - len(before) and set(calls(log).values()) == {1}
    np.testing.assert_array_equal(found["result"], np.arange(8.0) ** 2)
    assert da.sweep(logged, grid, Here(), store=store, folder=log).computed == 0


class _Stop(Exception):
    pass


def _stop_at(count):
    def progress(done, total):
        if done >= count:
            raise _Stop
    return progress


def test_failed_samples_are_computed_again_only_if_asked(tmp_path):
    grid = {"a": [1, 2, 3], "b": [10]}
    for retry, computed in ((False, 3), (False, 0), (True, 1)):
        found = da.sweep(falling, grid, Here(), store=tmp_path / "s.zarr", retry=retry)
        assert found.computed == computed and list(found.errors) == [1]


def test_a_folder_of_another_sweep_is_refused(tmp_path):
    store = tmp_path / "s.zarr"
    da.sweep(product, {"a": [1], "b": [2]}, Here(), store=store)
    for call, says in ((lambda: da.sweep(product, {"a": [1], "b": [3]}, Here(), store=store), "the samples is not the same"),
                       (lambda: da.sweep(falling, {"a": [1], "b": [2]}, Here(), store=store), "the function is not the same"),
                       (lambda: da.sweep(falling, {"a": [1], "b": [2]}, Here(), store=store, c=1), "the function, the options are not the same")):
        with pytest.raises(da.DalembertError, match=f"is of another sweep: {says}"):
            call()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("kept")
    with pytest.raises(da.DalembertError, match="is there and no Zarr folder"):
        da.sweep(product, {"a": [1], "b": [2]}, Here(), store=tmp_path / "notes")
    assert (tmp_path / "notes" / "mine.txt").read_text() == "kept"
    da.simulate(da.planar_chain(1), [0.1], [0], 0.1).to_zarr(tmp_path / "run.zarr")
    with pytest.raises(da.DalembertError, match="is a Zarr folder without a sweep"):
        da.sweep(product, {"a": [1], "b": [2]}, Here(), store=tmp_path / "run.zarr")


@pytest.fixture
def filled(tmp_path):
    """A folder of a sweep, and the same call again."""
    def call():
        return da.sweep(product, {"a": [1, 2, 3], "b": [10, 20]}, Here(), store=tmp_path / "s.zarr")

    call()
    return tmp_path / "s.zarr", call


@pytest.mark.parametrize("places", [1, pytest.param(None, marks=pytest.mark.slow)])
def test_a_flipped_bit_anywhere_in_a_folder_of_a_sweep_is_named(places, filled):
    folder, call = filled
    rng = np.random.default_rng(0)
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = file.read_bytes()
        for at in range(len(data)) if places is None else rng.integers(len(data), size=places):
            file.write_bytes(data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1:])
            with pytest.raises(da.DamagedStoreError, match="is damaged") as found:
                call()
            assert found.value.file == file.relative_to(folder).as_posix()
        file.write_bytes(data)
    assert call().computed == 0


@pytest.mark.parametrize("harm", ["missing", "shorter", "longer"])
@pytest.mark.parametrize("file", ["status/0.0", "product/0.0", "error/.zarray", ".zattrs", ".dalembert/ledger"])
def test_a_file_of_a_sweep_that_is_not_as_it_was_written_is_named(file, harm, filled):
    folder, call = filled
    found, path = call(), folder / file
    data = path.read_bytes()
    path.unlink() if harm == "missing" else path.write_bytes(data[:-1] if harm == "shorter" else data + b"\0")
    with pytest.raises(da.DamagedStoreError, match="is damaged") as error:
        call()
    if file == "product/0.0":
        assert r"array 'product', chunk 0.0 (a 0 to 2, b 0 to 1)" in str(error.value)
        for look in (lambda: found["product"], lambda: found.to_xarray()["product"].values):
            with pytest.raises(da.DamagedStoreError, match="array 'product', chunk"):
                look()


def test_a_sweep_that_ends_at_any_write_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    """Its status is never ahead of its results, and no sample is computed twice that was committed."""
    from dalembert.results import store_folder
    from dalembert.sweeps import outcome_table

    monkeypatch.setattr(outcome_table, "BUFFER", 0)      # each sample is written for itself
    grid, write = {"a": [1, 2, 3], "b": [10, 20]}, store_folder.write
    whole = da.sweep(product, grid, Here())
    for number in range(0, 60, 7):
        left = [number]

        def failing(path, key, data, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, "No space left on device")
            write(path, key, data)

        store = tmp_path / f"{number}.zarr"
        with monkeypatch.context() as patch:
            patch.setattr(store_folder, "write", failing)
            with pytest.raises(da.StoreError, match="cannot be written: No space left on device"):
                da.sweep(product, grid, Here(), store=store)
        found = da.sweep(product, grid, Here(), store=store)
        for name in whole.results:
            np.testing.assert_array_equal(found[name], whole[name])
        assert (found.status == 1).all() and (number < 40 or found.computed < 6)


def test_a_folder_that_another_process_writes_is_refused(filled):
    from dalembert.results.store_lock import StoreLock

    folder, call = filled
    with StoreLock(folder), pytest.raises(da.LockedStoreError, match=f"is being written by process {os.getpid()} on"):
        call()
    assert call().computed == 0


def test_identity_follows_what_a_function_does():
    def made(n, text="lambda a: a + n"):
        return eval(text, {"n": n})      # no source to be found: the code itself is compared

    assert identity(made(1)) == identity(made(1)) != identity(made(1, "lambda a: a - n"))
    assert identity([1, 2.0]) != identity([1, 2]) and identity(np.array([1.0])) != identity(np.array([2.0]))
    arm = da.planar_chain(2)
    assert identity(arm) == identity(da.planar_chain(2)) != identity(arm.replace({"link1.mass": 3.0}))


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
import dalembert as da
from test_sweep import logged

if __name__ == "__main__":
    try:
        da.sweep(logged, {{"a": range({count})}}, store={store!r}, folder={log!r}, pause=0.02)
    except KeyboardInterrupt:
        sys.exit(77)
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_sweep_that_is_killed_goes_on_where_it_was(sent, tmp_path):
    count, store, log = 200, tmp_path / "s.zarr", traces(tmp_path)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(here=str(Path(__file__).parent), count=count, store=str(store), log=log))
    going = subprocess.Popen([sys.executable, str(script)])
    try:
        _until(lambda: store.exists() and (store / "status" / "0").exists())      # something was written
        going.send_signal(sent)
        assert going.wait(30) == (77 if sent == signal.SIGINT else -sent)
    finally:
        going.kill()
    time.sleep(0.3)      # its processes follow
    before, started = _written(store), calls(log)
    assert 0 < before < count and before <= len(started)
    found = da.sweep(logged, {"a": range(count)}, store=store, folder=log, pause=0.02)
    np.testing.assert_array_equal(found["result"], np.arange(float(count)) ** 2)
    assert found.computed == count - before
    assert sum(calls(log).values()) == len(started) + found.computed      # nothing that was written is computed again


def _until(true, limit=60.0):
    end = time.monotonic() + limit
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def _written(store):
    import xarray

    with xarray.open_zarr(store, chunks=None, mask_and_scale=False) as data:
        done = data["status"].values == 1
        np.testing.assert_array_equal(data["result"].values[done], data["a"].values[done] ** 2.0)
        return int(done.sum())


# --- workers that die ---

def test_a_process_that_dies_costs_only_time(tmp_path):
    log = traces(tmp_path)
    found = da.sweep(logged, {"a": range(20)}, lambda: processes(1), folder=log, once=(3, 11))
    np.testing.assert_array_equal(found["result"], np.arange(20.0) ** 2)
    assert not found.errors


def test_a_sample_that_kills_every_process_is_recorded_and_the_others_are_done(tmp_path):
    log = traces(tmp_path)
    found = da.sweep(logged, {"a": range(12)}, lambda: processes(1), folder=log, deadly=(5,))
    assert found.errors == {5: "the process that computed it died, 3 times."} and calls(log)[5] == 3
    np.testing.assert_array_equal(np.delete(found["result"], 5), np.delete(np.arange(12.0) ** 2, 5))


def test_a_broken_executor_of_the_caller_is_an_error_and_what_was_done_is_kept(tmp_path):
    log, store = traces(tmp_path), tmp_path / "s.zarr"
    with processes(1) as executor, pytest.raises(da.DalembertError, match="takes no more work: give a function"):
        da.sweep(logged, {"a": range(10)}, executor, folder=log, once=(6,), store=store, batch=1)
    found = da.sweep(logged, {"a": range(10)}, Here(), folder=log, once=(6,), store=store)
    assert 0 < found.computed < 10 and not found.errors


def test_processes_that_do_not_begin_end_the_sweep(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text("import dalembert as da\ndef f(a): return a\nda.sweep(f, {'a': [1, 2, 3]})\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "below `if __name__ == '__main__':`" in done.stderr


def test_dask_computes_every_sample_although_a_worker_is_killed(tmp_path):
    distributed = pytest.importorskip("distributed")
    log, store = traces(tmp_path), tmp_path / "s.zarr"
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as cluster, \
            distributed.Client(cluster) as client:
        found = da.sweep(logged, {"a": range(60)}, client, folder=log, pause=0.01, once=(20,), store=store)
        np.testing.assert_array_equal(found["result"], np.arange(60.0) ** 2)
        assert not found.errors and calls(log)[20] >= 2
        again = da.sweep(lambda a: a + 1, {"a": range(10)}, client.get_executor())      # Dask sends functions by value
        np.testing.assert_array_equal(again["result"], np.arange(10.0) + 1)
