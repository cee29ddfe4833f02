"""Folders of results: what is damaged is named, a kill or a full disk loses nothing, and one process writes at a time."""

import errno
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray

import dalembert as da
from dalembert.results import disk, recorder, storage, store_folder, streaming
from dalembert.results.dataset import dataset
from dalembert.results.store_folder import StoreFolder
from dalembert.results.store_lock import StoreLock

ARM = da.planar_chain(2)
CALL = {"q": [0.3, -0.5], "qd": [0, 0], "t": 0.05, "h": 1e-3, "record": 1e-3}
ARRAYS = ("times", "q", "qd", "work", "kinetic_energy")


def low(t, q, qd):
    return q[0] - 0.25


@pytest.fixture(scope="module", autouse=True)
def few_records():
    """Parts of 20 records and chunks of 32 numbers, so that a short run has several of each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "records_of", lambda numbers, work: 20)
        patch.setattr(recorder, "CHUNK", 32)
        yield


@pytest.fixture(scope="module")
def whole():
    return da.simulate(ARM, **CALL, events=[low])


def stored(folder):
    return da.simulate(ARM, **CALL, events=[low], store=folder)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written") / "run.zarr"
    stored(folder)
    return folder


@pytest.fixture
def folder(written, tmp_path):
    """A folder of the run, to do harm to."""
    return Path(shutil.copytree(written, tmp_path / "run.zarr"))


def assert_same(found, whole):
    for name in ARRAYS:
        np.testing.assert_array_equal(np.asarray(getattr(found, name)), getattr(whole, name), err_msg=name)
    assert found.reasons == whole.reasons and len(found.events) == len(whole.events)


def files(folder):
    return sorted(p for p in Path(folder).rglob("*") if p.is_file())


def say_nothing_else(folder, errors):
    """Each way to open a folder raises one of these errors; no number comes out."""
    messages = []
    for look in (lambda: da.Run.load(ARM, folder), lambda: da.resume(ARM, folder, events=[low])):
        with pytest.raises(errors) as found:
            look()
        messages.append(str(found.value))
    return messages


# --- damage is named ---

def test_a_flipped_bit_anywhere_in_a_folder_is_named(folder):
    """A bit of two bytes of every file; `test_every_flipped_byte_is_named` is the full form."""
    rng = np.random.default_rng(1)
    for file in files(folder):
        flip_and_see(folder, file, rng, {int(rng.choice([0, -1])), int(rng.integers(file.stat().st_size))})


@pytest.mark.slow
def test_every_flipped_byte_is_named(folder):
    rng = np.random.default_rng(2)
    for file in files(folder):
        flip_and_see(folder, file, rng, range(file.stat().st_size))


def flip_and_see(folder, file, rng, places):
    data, key = file.read_bytes(), file.relative_to(folder).as_posix()
    for at in places:
        damaged = bytearray(data)
        damaged[at] ^= 1 << int(rng.integers(8))
        file.write_bytes(damaged)
        with pytest.raises(da.DamagedStoreError, match="is damaged") as found:
            da.Run.load(ARM, folder)
        assert found.value.folder == str(folder) and found.value.file == key, (key, at)
        assert "\n" not in str(found.value)
    file.write_bytes(data)


@pytest.mark.parametrize("file, says", [
    ("q/1.0", r"array 'q', chunk 1\.0 \(records 16 to 31, coordinate 0 to 1\): its file 'q/1\.0'"),
    ("work/1", r"array 'work', chunk 1 \(records 32 to 50\): its file 'work/1'"), ("steps/0", "array 'steps': its file"),
    ("q/.zarray", "the description of 'q': its file"), (".zmetadata", "the description of the folder: its file"),
    ("continuation/.zattrs", "the description of 'continuation'"), (".dalembert/ledger", "its list of checksums")])
@pytest.mark.parametrize("harm", ["missing", "shorter", "longer", "another", "empty"])
def test_a_file_that_is_not_as_it_was_written_is_named_with_what_it_holds(file, says, harm, folder):
    path = folder / file
    data = path.read_bytes()
    changed = {"shorter": data[:-1], "longer": data + b"x", "another": bytes(len(data)), "empty": b""}
    path.unlink() if harm == "missing" else path.write_bytes(changed[harm])
    for message in say_nothing_else(folder, da.DamagedStoreError):
        assert re.search(says, message), message
    if file == "q/1.0":
        with pytest.raises(da.DamagedStoreError, match=says):
            np.asarray(da.Run.load(ARM, folder, lazy=True).q)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
@pytest.mark.parametrize("harm", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.mkdir(),
                                  lambda path: path.symlink_to(path)], ids=["pipe", "device", "folder", "loop"])
def test_what_is_no_file_in_a_folder_is_named_and_not_waited_for(harm, folder):
    for file in ("q/1.0", ".zattrs", ".dalembert/ledger", ".dalembert/journal"):
        path = folder / file
        data = path.read_bytes() if path.exists() else None
        path.unlink(missing_ok=True)
        harm(path)
        say_nothing_else(folder, da.DamagedStoreError)
        path.rmdir() if path.is_dir() else path.unlink()
        if data is not None:
            path.write_bytes(data)
    with pytest.raises(da.DalembertError, match="neither a file nor a folder"):
        da.Run.load(ARM, "/dev/zero")


def test_descriptions_that_say_something_else_are_damage(folder):
    """Of a folder without checksums, whose files may be anything."""
    without_checksums(folder)
    for file, key, value in ((".zattrs", "dalembert_arguments", 3), (".zattrs", "dalembert_arguments", {"arguments": []}),
                             ("continuation/.zattrs", "records", -1), ("continuation/.zattrs", "records", 10**9),
                             ("continuation/.zattrs", "records", "x"), ("q/.zarray", "shape", [-3, 2]), ("q/.zarray", "dtype", "|O")):
        path = folder / file
        data = path.read_bytes()
        path.write_text(json.dumps(json.loads(data) | {key: value}))
        with pytest.raises(da.StoreError, match="is damaged"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            da.resume(ARM, folder, events=[low])
        path.write_bytes(data)


def test_a_lock_that_is_a_link_is_not_followed(tmp_path):
    victim = tmp_path / "precious.txt"
    victim.write_text("text")
    (tmp_path / "run.zarr.lock").symlink_to(victim)
    with pytest.raises(da.StoreError, match=r"cannot be written: .*run\.zarr\.lock"):
        stored(tmp_path / "run.zarr")
    assert victim.read_text() == "text"


def test_a_place_where_nothing_can_be_written_is_named(whole, tmp_path):
    for write in (whole.to_csv, whole.to_netcdf, lambda path: da.save(ARM, path / "arm.toml")):
        with pytest.raises(da.DalembertError, match="cannot be written"):
            write(tmp_path / "no folder" / "run")
        (tmp_path / "folder").mkdir(exist_ok=True)
    with pytest.raises(da.DalembertError, match="cannot be written"):
        whole.to_csv(tmp_path / "folder")


def test_a_lazy_run_names_a_damaged_chunk_when_it_is_read(folder):
    chunk = folder / "q" / "2.0"
    chunk.write_bytes(bytes([chunk.read_bytes()[0] ^ 1]) + chunk.read_bytes()[1:])
    run = da.Run.load(ARM, folder, lazy=True)
    assert run.q[:32].shape == (32, 2)
    with pytest.raises(da.DamagedStoreError, match=r"array 'q', chunk 2\.0 \(records 32 to 47") as found:
        run.q[40]
    assert found.value.part.startswith("array 'q', chunk 2.0") and pickle.loads(pickle.dumps(found.value)).args


def test_a_file_that_does_not_belong_to_a_folder_is_named(folder):
    (folder / ".DS_Store").write_bytes(b"of a desktop")
    da.Run.load(ARM, folder)
    (folder / "q" / "7.0").write_bytes(b"rubbish")
    for message in say_nothing_else(folder, da.DamagedStoreError):
        assert "the file 'q/7.0' does not belong to it; remove that file." in message


def test_a_folder_of_a_finished_run_in_memory_is_checked_too(whole, tmp_path):
    folder = whole.to_zarr(tmp_path / "run.zarr")
    assert_same(da.Run.load(ARM, folder), whole)
    assert_same(da.Run.load(ARM, whole.to_zarr(folder)), whole)             # replaced
    assert [p.name for p in tmp_path.iterdir()] == ["run.zarr"]
    for file in files(folder):
        flip_and_see(folder, file, np.random.default_rng(3), {file.stat().st_size // 2})


def test_a_flipped_bit_anywhere_in_a_file_is_named(whole, tmp_path):
    path = whole.to_netcdf(tmp_path / "run.nc")
    assert_same(da.Run.load(ARM, path), whole)
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        np.testing.assert_array_equal(data["q"].values, whole.q)
    data, rng = path.read_bytes(), np.random.default_rng(5)
    for at in [*rng.integers(len(data), size=40), *range(len(data) - 60, len(data), 3)]:
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1:])
        with pytest.raises(da.DamagedStoreError, match=r"run\.nc' is damaged"):
            da.Run.load(ARM, path)
    for harmed in (data[:-1], data + b"x", data[:-40]):
        path.write_bytes(harmed)
        with pytest.raises(da.DamagedStoreError, match=r"run\.nc' is damaged"):
            da.Run.load(ARM, path)
    path.write_bytes(data)
    assert_same(da.Run.load(ARM, path), whole)


def test_a_file_without_a_checksum_is_read_with_a_warning(whole, tmp_path):
    path = tmp_path / "run.nc"
    dataset(whole).to_netcdf(path, engine="h5netcdf")
    with pytest.warns(da.DalembertWarning, match=r"run\.nc' has no checksums.*write it again with to_netcdf"):
        run = da.Run.load(ARM, path)
    assert_same(run, whole)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(da.Run.load(ARM, run.to_netcdf(path)), whole)


def test_keys_of_a_ledger_stay_inside_the_folder(folder):
    for key in ("../outside", "/etc/passwd", "a/../../b", "", ".dalembert/x", "a//b", "a\\b"):
        text = json.dumps({"format": 1, "files": {key: [1, "x"]}})
        (folder / ".dalembert" / "ledger").write_text(f"{disk.digest(text.encode())} {text}\n")
        with pytest.raises(da.DamagedStoreError, match="line 1 of its list of checksums"):
            da.Run.load(ARM, folder)
    text = json.dumps({"format": 99, "files": {}})
    (folder / ".dalembert" / "ledger").write_text(f"{disk.digest(text.encode())} {text}\n")
    with pytest.raises(da.StoreError, match="written by a newer version of dalembert .format 99, known is 1.: update this one"):
        da.Run.load(ARM, folder)


def without_checksums(folder):
    """The folder as an earlier version wrote it."""
    shutil.rmtree(folder / ".dalembert")
    for name in (".zattrs", ".zmetadata"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace(f'"{store_folder.MARK}"', '"other"'))


def test_a_folder_without_checksums_is_read_with_a_warning(whole, tmp_path, monkeypatch):
    folder = tmp_path / "run.zarr"
    with monkeypatch.context() as patch:
        killed_at(patch, 80, Killed())
        with pytest.raises(Killed):
            stored(folder)
    store_folder.opened(folder)
    without_checksums(folder)
    with pytest.warns(da.DalembertWarning, match="has no checksums, as an earlier version wrote it: damage would not be seen"):
        assert len(da.Run.load(ARM, folder).times) > 1
    with pytest.warns(da.DalembertWarning, match="has no checksums"):
        assert_same(da.resume(ARM, folder, events=[low]), whole)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(da.Run.load(ARM, folder), whole)
    without_checksums(folder)
    (folder / "q" / "0.0").write_bytes(b"no chunk")
    with pytest.raises(da.DamagedStoreError, match="is damaged, it cannot be read"):
        da.Run.load(ARM, folder)


# --- kills and full disks ---

class Killed(BaseException):
    pass


NO_SPACE = OSError(errno.ENOSPC, "No space left on device")


def killed_at(monkeypatch, number, error, partly=False):
    """The error instead of writing file `number`, of which a part may be there."""
    write, left = disk.write, [number]

    def failing(path, key, data):
        if left[0] == 0:
            if partly:
                (path / disk.OWN).mkdir(parents=True, exist_ok=True)
                (path / disk.OWN / "new").write_bytes(data[:len(data) // 2])
            raise error
        left[0] -= 1
        write(path, key, data)

    monkeypatch.setattr(store_folder, "write", failing)
    return left


@pytest.mark.parametrize("error, seen, step", [(Killed(), Killed, 29), (NO_SPACE, da.StoreError, 58), *(
    pytest.param(*more, 1, marks=pytest.mark.slow) for more in ((Killed(), Killed), (NO_SPACE, da.StoreError)))])
def test_a_run_that_ends_at_any_write_goes_on_to_the_same_bits(error, seen, step, whole, tmp_path, monkeypatch):
    number, is_done = 0, False
    while not is_done:
        folder = tmp_path / f"{number}.zarr"
        with monkeypatch.context() as patch:
            left = killed_at(patch, number, error, partly=number % 2 == 1)
            try:
                stored(folder)
            except seen as found:
                assert isinstance(found, Killed) or "cannot be written: No space left on device" in str(found)
            is_done = left[0] > 0
        if folder.exists():
            found = da.Run.load(ARM, folder)
            count = len(found.times)
            np.testing.assert_array_equal(found.q, whole.q[:count])
            with xarray.open_zarr(folder, chunks=None) as data:
                np.testing.assert_array_equal(data["q"].values[:count], whole.q[:count])
        assert_same(da.simulate(ARM, **CALL, events=[low], store=folder, resume=True), whole)
        assert_same(da.Run.load(ARM, folder), whole)
        shutil.rmtree(folder)
        number += step
    assert number > 80 and not list(tmp_path.iterdir())


def test_a_transaction_is_read_from_its_journal_where_nobody_can_write(tmp_path, monkeypatch):
    folder = StoreFolder(tmp_path / "a")
    for key in ("x", "y", "z/1"):
        folder.stage(key, b"old")
    folder.commit()
    killed_at(monkeypatch, 2, Killed())               # the journal and the first file are there
    folder.stage("x", b"new")
    folder.stage("y", None)
    folder.stage("z/1", b"new")
    folder.stage("z/2", b"new")
    with pytest.raises(Killed):
        folder.commit()
    monkeypatch.undo()
    killed = StoreFolder(tmp_path / "a")
    assert [killed.read(key) for key in ("x", "y", "z/1", "z/2")] == [b"new", None, b"new", b"new"]
    assert killed.keys() == ["x", "z/1", "z/2"] and (tmp_path / "a" / "z" / "1").read_bytes() == b"old"
    killed.verify()
    journal = tmp_path / "a" / ".dalembert" / "journal"
    data = journal.read_bytes()
    for at in range(0, len(data), 7):
        journal.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1:])
        with pytest.raises(da.DamagedStoreError, match="the files of its last change are not as they were written"):
            StoreFolder(tmp_path / "a")
    journal.write_bytes(data)
    store_folder.opened(tmp_path / "a").verify()
    assert not journal.exists() and (tmp_path / "a" / "z" / "1").read_bytes() == b"new"


def test_a_reader_of_a_folder_that_is_being_written_sees_one_state(tmp_path):
    writer = StoreFolder(tmp_path / "a")
    writer.stage("x", b"1")
    writer.commit()
    reader = StoreFolder(tmp_path / "a")
    for value in (b"2", b"33"):
        writer.stage("x", value)
        writer.stage(f"more{value.decode()}", value)
        writer.commit()
        assert reader.read("x") == value
        reader.verify()


class Disk:
    """A disk that keeps no more than what was waited for: contents of files and names in folders as they were then."""

    def __init__(self):
        self.contents, self.names = {}, {}

    def on_disk(self, *paths):
        for path in paths:
            number = path.stat().st_ino
            if path.is_dir():
                self.names[number] = {child.name: child.stat().st_ino for child in path.iterdir()}
            else:
                self.contents[number] = path.read_bytes()

    def after_a_loss_of_power(self, folder, target):
        """The folder as it is found then: files that nobody waited for are empty."""
        number = folder.stat().st_ino if isinstance(folder, Path) else folder
        target.mkdir()
        for name, child in self.names.get(number, {}).items():
            if child in self.names:
                self.after_a_loss_of_power(child, target / name)
            else:
                (target / name).write_bytes(self.contents.get(child, b""))
        return target


@pytest.mark.parametrize("step", [29, pytest.param(1, marks=pytest.mark.slow)])
def test_a_loss_of_power_at_any_write_loses_no_more_than_the_part_that_was_written(step, whole, tmp_path, monkeypatch):
    number, is_done = 0, False
    while not is_done:
        place, drive = tmp_path / str(number), Disk()
        place.mkdir()
        drive.on_disk(place)
        with monkeypatch.context() as patch:
            for module in (recorder, storage, store_folder):
                patch.setattr(module, "on_disk", drive.on_disk)
            left = killed_at(patch, number, Killed())
            try:
                stored(place / "run.zarr")
            except Killed:
                pass
            is_done = left[0] > 0
        found = drive.after_a_loss_of_power(place, tmp_path / "after") / "run.zarr"
        assert_same(da.simulate(ARM, **CALL, events=[low], store=found, resume=True), whole)
        if is_done:
            assert found.exists()
        shutil.rmtree(tmp_path / "after")
        number += step
    assert number > 80


# --- one writer ---

HOLDER = """
import os, sys, time
from dalembert.results.store_lock import StoreLock
lock = StoreLock(sys.argv[1])
if len(sys.argv) > 2 and os.fork():
    time.sleep(60)
print("locked", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """A process that has the lock of a folder, and may leave a child behind."""
    made = []

    def begin(*more):
        process = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "run.zarr"), *more], stdout=subprocess.PIPE,
                                   text=True, start_new_session=True)
        made.append(process)
        assert process.stdout.readline() == "locked\n"
        return process

    yield begin
    for process in made:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        process.stdout.close()


def test_a_second_writer_is_refused_and_told_who_writes(holder, whole, tmp_path):
    process, folder = holder(), tmp_path / "run.zarr"
    says = rf"run\.zarr' is being written by process {process.pid} on .+: wait until it has ended, or end it"
    for write in (lambda: stored(folder), lambda: whole.to_zarr(folder),
                  lambda: da.sweep(ARM, {"q[q1]": [0.1]}, t=0.01, store=folder)):
        with pytest.raises(da.LockedStoreError, match=says) as found:
            write()
        assert found.value.pid == process.pid and found.value.host and not folder.exists()
    process.kill()
    process.wait()
    assert (tmp_path / "run.zarr.lock").exists()
    assert_same(stored(folder), whole)
    assert [p.name for p in tmp_path.iterdir()] == ["run.zarr"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_child_that_outlives_a_killed_writer_locks_nothing(holder, whole, tmp_path):
    process = holder("with a child")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert_same(stored(tmp_path / "run.zarr"), whole)


def test_two_calls_of_one_process_do_not_write_one_folder(whole, tmp_path):
    with StoreLock(tmp_path / "run.zarr"):
        with pytest.raises(da.LockedStoreError, match=f"process {os.getpid()} on"):
            stored(tmp_path / "run.zarr")
        (tmp_path / "link.zarr").symlink_to(tmp_path / "run.zarr")
        with pytest.raises(da.LockedStoreError):
            stored(tmp_path / "link.zarr")
        (tmp_path / "link.zarr").unlink()
    assert_same(stored(tmp_path / "run.zarr"), whole)


def test_a_folder_that_cannot_be_made_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(da.StoreError, match=r"run\.zarr' cannot be written"):
        stored(tmp_path / "file" / "run.zarr")
