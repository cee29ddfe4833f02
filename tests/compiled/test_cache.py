"""Object code on disk: hits give the same results, damage and strangers' folders are harmless, size is bounded."""

import os
import subprocess
import sys

import numpy as np
import pytest

import dalembert as da
from dalembert.compiled import builtin, cache, dynamics


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "kept"))
    monkeypatch.setattr(builtin, "supported", lambda: False)                 # the code of calls is kept as well, once per layout
    cache.folder.cache_clear()
    yield tmp_path / "kept"
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
def test_a_folder_that_others_can_write_to_is_not_used(folder):
    folder.mkdir()
    folder.chmod(0o777)
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


def test_mechanisms_with_functions_of_the_user_are_not_kept(folder):
    m = da.random_tree(0, 1, ["custom"])
    da.compile(m).gravity_vector(m.neutral())
    assert not folder.exists() or not list(folder.iterdir())


WORKER = """
import sys, warnings, numpy as np, dalembert as da
f = da.compile(da.planar_chain(3)).forward_dynamics
print(f(np.array([.1, .2, .3]), np.zeros(3), np.zeros(3)).tobytes().hex())
"""


def test_many_processes_may_compile_the_same_at_once_and_be_killed(folder):
    environment = os.environ | {cache.VARIABLE: str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    runs = [subprocess.Popen([sys.executable, "-c", WORKER], env=environment, stdout=subprocess.PIPE, text=True)
            for _ in range(5)]
    runs[0].kill()
    runs[0].communicate()
    results = {run.communicate()[0] for run in runs[1:]}
    expected = da.forward_dynamics(da.planar_chain(3), [0.1, 0.2, 0.3], np.zeros(3), np.zeros(3))
    assert len(results) == 1
    assert np.allclose(np.frombuffer(bytes.fromhex(results.pop().strip())), expected, rtol=1e-12)
