"""Object code on disk: hits give the same results, damage and strangers' folders are harmless, size is bounded."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import dalembert as da
from dalembert.compiled import dynamics
from dalembert.native import builtin, cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "kept"))
    monkeypatch.setattr(builtin, "supported", lambda: False)                 # the code of calls is kept as well, once per layout
    cache.folder.cache_clear()
    cache._warn_once.cache_clear()
    monkeypatch.setattr(cache, "_unseen", math.inf)                          # as in a process that has written nothing yet
    yield tmp_path / "kept" / cache.OWN
    cache.folder.cache_clear()


def gravity(q=(0.3, -0.4)):
    return da.compile(da.planar_chain(2)).gravity_vector(np.array(q))


def test_the_second_time_nothing_is_traced_and_the_results_are_the_same(folder, monkeypatch):
    first = gravity()
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(dynamics, "traced", lambda *_: pytest.fail("traced again"))
    assert np.array_equal(gravity(), first)


def test_what_the_code_depends_on_decides_the_entry(folder):
    chain = da.planar_chain(2)
    for changed in (chain, chain.replace({"link2.mass": 1.5}), chain.replace({"q2.origin[0]": 1 + 2**-52}),
                    chain.replace({"gravity[2]": -9.80665}), chain.lock(["q1"]), chain.without("limits")):
        da.compile(changed).gravity_vector(np.zeros(changed.nq))
    assert len(list(folder.iterdir())) == 5      # limits change no code
    da.compile(chain).mass_matrix(np.zeros(2))
    da.compile(chain, parameters=["link1.mass"]).gravity_vector(np.zeros(2))
    assert len(list(folder.iterdir())) == 7


@pytest.mark.parametrize("damage", [lambda d: b"", lambda d: d[:-7], lambda d: d[:100] + b"\x00" + d[101:],
                                    lambda d: d[:-9] + b"!" + d[-8:], lambda d: b"{}\n" + d, lambda d: b"[1]\n"])
def test_a_damaged_entry_counts_as_absent(folder, damage):
    first = gravity()
    entry, = folder.iterdir()
    entry.write_bytes(damage(entry.read_bytes()))
    assert np.array_equal(gravity(), first)
    assert cache.read(entry.stem) is not None      # and has been written again


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="rights of POSIX")
@pytest.mark.parametrize("own", [True, False])
def test_a_folder_that_others_can_write_to_is_not_used(folder, own):
    folder.mkdir(parents=True)
    (folder if own else folder.parent).chmod(0o777)
    with pytest.warns(da.DalembertWarning, match="compiled code is not kept: .*others can write to it"):
        gravity()
    assert not list(folder.iterdir())


def test_it_can_be_switched_off(folder, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, "off")
    cache.folder.cache_clear()
    gravity()
    assert not folder.exists() and cache.contents() == (None, 0, 0)


def test_entries_used_longest_ago_go_first(folder, monkeypatch):
    for k in range(1, 5):
        da.compile(da.planar_chain(1, mass=k)).gravity_vector(np.zeros(1))
        os.utime(max(folder.iterdir(), key=os.path.getmtime), (k, k))
    oldest = min(folder.iterdir(), key=os.path.getmtime)
    monkeypatch.setattr(cache, "MAX_BYTES", 3.5 * oldest.stat().st_size)
    da.compile(da.planar_chain(1, mass=9)).gravity_vector(np.zeros(1))
    assert not oldest.exists() and len(list(folder.iterdir())) == 3
    assert cache.clear() == 3 and not list(folder.iterdir())


def test_the_folder_is_looked_through_once_in_many_entries(folder, monkeypatch):
    looks = []
    monkeypatch.setattr(cache, "_pruned", lambda: looks.append(len(list(folder.iterdir()))))
    sizes = [100_000] * 100
    for k, size in enumerate(sizes):
        cache.write(f"{k:064x}", (), (), bytes(size))
    assert looks[0] == 1 and len(looks) == 1 + sum(sizes[1:]) * cache.LOOKS // cache.MAX_BYTES
    assert max(np.diff(looks)) * sizes[0] < 1.1 * cache.MAX_BYTES / cache.LOOKS


def test_custom_joints_are_kept_by_what_their_functions_gave(folder):
    for length in (1.0, 2.0, 1.0):
        lever = da.Custom(lambda q, length=length: (((1, 0, 0), (0, 1, 0), (0, 0, 1)), (length * q[0], 0, 0)), ("slide",))
        bodies = da.Body("base"), da.Body("load", 1.0)
        m = da.Mechanism("lever", bodies, (da.Joint("j", lever, "base", "load"),))
        assert da.compile(m).mass_matrix(np.zeros(1)) == pytest.approx(length**2)
    assert len(list(folder.iterdir())) == 2


WORKER = """
import sys, warnings, numpy as np, dalembert as da
f = da.compile(da.planar_chain(3)).forward_dynamics
print(f(np.array([.1, .2, .3]), np.zeros(3), np.zeros(3)).tobytes().hex())
"""


def test_many_processes_may_compile_the_same_at_once_and_be_killed(folder):
    environment = os.environ | {cache.VARIABLE: str(folder.parent), "PYTHONPATH": os.pathsep.join(sys.path)}
    runs = [subprocess.Popen([sys.executable, "-c", WORKER], env=environment, stdout=subprocess.PIPE, text=True)
            for _ in range(5)]
    runs[0].kill()
    runs[0].communicate()
    results = {run.communicate()[0] for run in runs[1:]}
    expected = da.forward_dynamics(da.planar_chain(3), [0.1, 0.2, 0.3], np.zeros(3), np.zeros(3))
    assert len(results) == 1
    assert np.allclose(np.frombuffer(bytes.fromhex(results.pop().strip())), expected, rtol=1e-12)


def strangers(folder):
    """Files that are not the cache's: by name, by kind, by place; what each holds."""
    name = "ab" * 32
    files = {folder.parent / "thesis.kernel": b"mine", folder.parent / f"{name}.kernel": b"x" * 5000,
             folder / "notes.txt": b"n" * 9000, folder / "image.kernel": b"k" * 9000, folder / "data.part": b"p",
             folder / f"{name}.kernel.bak": b"b", folder / f"{name}.kernel" / "inside.kernel": b"d",
             folder.parent.parent / "elsewhere.kernel": b"e" * 9000}
    for file, content in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        os.utime(file, (1, 1))
    (folder / ("cd" * 32 + ".kernel")).symlink_to(folder.parent.parent / "elsewhere.kernel")
    (folder / "dalembert-link.part").symlink_to(folder.parent.parent / "elsewhere.kernel")
    return files


def test_files_of_others_survive_pruning_and_clearing_byte_for_byte(folder, monkeypatch):
    files = strangers(folder)
    monkeypatch.setattr(cache, "MAX_BYTES", 1)
    for mass in (1, 2, 3):
        da.compile(da.planar_chain(1, mass=mass)).gravity_vector(np.zeros(1))
    assert cache.contents()[1:] == (0, 0)                 # each entry is more than fits
    monkeypatch.setattr(cache, "MAX_BYTES", 2**30)
    gravity()
    assert cache.contents()[1] == 1 and cache.clear() == 1
    assert {file: file.read_bytes() for file in files} == files
    assert sum(path.is_symlink() for path in folder.iterdir()) == 2


def test_unfinished_files_go_after_an_hour(folder):
    folder.mkdir(parents=True, mode=0o700)
    old, new = folder / "dalembert-abc.part", folder / "dalembert-def.part"
    for file in (old, new):
        file.write_bytes(b"")
    os.utime(old, (1, 1))
    da.compile(da.planar_chain(1)).gravity_vector(np.zeros(1))
    assert not old.exists() and new.exists()


@pytest.mark.parametrize("at", ["ports", "code", "seal", "renamed"])
def test_an_entry_that_is_not_what_was_written_is_not_run(folder, at, monkeypatch):
    first = gravity()
    entry, = folder.iterdir()
    seal, ports, code = entry.read_bytes().split(b"\n", 2)
    if at == "renamed":                                    # whole, but of another mechanism
        da.compile(da.planar_chain(2, mass=5)).gravity_vector(np.zeros(2))
        other, = {*folder.iterdir()} - {entry}
        entry.write_bytes(other.read_bytes())
    else:
        parts = {"seal": seal, "ports": ports.replace(b"[2]", b"[3]"), "code": code}
        flipped = bytearray(parts[at])
        flipped[len(flipped) // 2] ^= at != "ports"
        entry.write_bytes(b"\n".join({**parts, at: bytes(flipped)}.values()))
    monkeypatch.setattr(dynamics, "Kernel", lambda code, make=dynamics.Kernel: make(code) if code else None)
    assert cache.read(entry.stem) is None
    assert np.array_equal(gravity(), first) and cache.read(entry.stem) is not None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="rights of POSIX")
@pytest.mark.parametrize("how", ["group", "others", "link", "pipe", "owner"])
def test_a_file_that_others_may_have_written_is_not_run(folder, how, monkeypatch):
    gravity()
    entry, = folder.iterdir()
    if how == "owner":
        another = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: another)
    elif how in ("group", "others"):
        entry.chmod(0o620 if how == "group" else 0o602)
    elif how == "pipe":
        entry.unlink()
        os.mkfifo(entry)
    else:
        entry.rename(folder / "moved")
        entry.symlink_to(folder / "moved")
    assert cache.read(entry.stem) is None


def test_a_link_in_place_of_the_own_folder_is_not_followed(folder, tmp_path):
    (tmp_path / "other").mkdir()
    folder.parent.mkdir()
    folder.symlink_to(tmp_path / "other")
    with pytest.warns(da.DalembertWarning, match="'kernels' in it is no folder"):
        gravity()
    assert not list((tmp_path / "other").iterdir())


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="rights of POSIX")
def test_a_folder_that_others_can_move_is_not_used(folder):
    folder.parent.parent.chmod(0o777)
    with pytest.warns(da.DalembertWarning, match="others can move it"):
        gravity()
    folder.parent.parent.chmod(0o700)


def test_the_sign_of_the_home_folder_is_understood(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(cache.VARIABLE, "~/kept")
    cache.folder.cache_clear()
    assert cache.folder() == tmp_path / "kept" / cache.OWN
    cache.folder.cache_clear()


@pytest.mark.parametrize("place", ["file", "~nobody-of-this-name/kept", "x" * 300])
def test_where_no_folder_can_be_made_one_warning_says_so_and_all_works(folder, tmp_path, monkeypatch, place):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file") if place == "file" else place)
    with pytest.warns(da.DalembertWarning, match="compiled code is not kept") as seen:
        for mass in (1, 2):
            da.compile(da.planar_chain(1, mass=mass)).gravity_vector(np.zeros(1))
    assert len(seen) == 1


def test_where_nothing_can_be_written_one_warning_says_so_and_all_works(folder, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.tempfile, "mkstemp", full)
    with pytest.warns(da.DalembertWarning, match="writing failed .No space left") as seen:
        for mass in (1, 2):
            da.compile(da.planar_chain(1, mass=mass)).gravity_vector(np.zeros(1))
    assert len(seen) == 1 and not list(folder.iterdir())
