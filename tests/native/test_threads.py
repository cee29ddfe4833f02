"""Threads that compile and call the same things at the same time."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dalembert as da
from dalembert.native import builtin
from dalembert.native.once import once

THREADS = 16

ROUNDS = """
import sys, threading, time, warnings
import numpy as np, dalembert as da
from dalembert.native import builtin

sys.setswitchinterval(1e-5)
warnings.simplefilter("ignore")
rounds, seconds, threads = int(sys.argv[1]), float(sys.argv[2]), 16
long = rounds > 100
until, faults = time.monotonic() + seconds, []

def work(k, n, barrier, mechanism, right):
    try:
        barrier.wait()
        square = da.function(lambda x: x * x + n, x=n)      # the same shapes for all threads
        x = np.arange(float(n))
        for _ in range(3):
            assert np.array_equal(square(x), x * x + n)
        d = da.compile(mechanism)
        q = np.linspace(-1, 1, 40 * mechanism.nq).reshape(40, -1)
        assert np.allclose(d.mass_matrix(q), right, rtol=1e-12, atol=1e-12)
        assert np.allclose(d.mass_matrix(q[3]), right[3], rtol=1e-12, atol=1e-12)
        assert np.allclose(d.gravity_vector(q, threads=2), da.gravity_vector(mechanism, q), rtol=1e-11, atol=1e-11)
        if long:
            run = da.simulate(mechanism, q[k], np.zeros(mechanism.nv), 0.01, h=0.001)
            assert np.isfinite(run.q).all()
    except BaseException as error:
        faults.append(repr(error))
        barrier.abort()

for n in range(1, rounds + 1):
    mechanism = da.planar_chain(1 + n % (3 if long else 1), mass=1 + n / 64)
    q = np.linspace(-1, 1, 40 * mechanism.nq).reshape(40, -1)
    barrier, right = threading.Barrier(threads), da.mass_matrix(mechanism, q)
    workers = [threading.Thread(target=work, args=(k, n, barrier, mechanism, right)) for k in range(threads)]
    for w in workers: w.start()
    for w in workers: w.join()
    if faults or time.monotonic() > until:
        break
print(n, "rounds", faults[:2])
sys.exit(bool(faults))
"""


def assert_rounds_pass(tmp_path, rounds, seconds):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "DALEMBERT_CACHE": str(tmp_path / "kept")}
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", ROUNDS, str(rounds), str(seconds)], env=environment,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_sixteen_threads_compile_and_call_the_same_at_once(tmp_path):
    assert_rounds_pass(tmp_path, 1, 5.0)


@pytest.mark.slow
def test_sixteen_threads_compile_and_call_for_minutes(tmp_path):
    assert_rounds_pass(tmp_path, 10**6, 180.0)


def at_once(function, count=THREADS):
    """Results of a function in threads that begin together."""
    barrier = threading.Barrier(count)

    def work(_):
        barrier.wait()
        return function()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def test_threads_that_meet_get_one_value():
    meeting = threading.Barrier(THREADS)

    @once
    def made(name):
        meeting.wait()                                     # all of them are inside
        return [name]

    values = at_once(lambda: made("a"))
    assert all(value is values[0] is made("a") for value in values)


def test_definitions_of_built_ins_are_made_once(monkeypatch):
    compile_text, meeting = builtin.object_of_text, threading.Barrier(2)

    def slow(text):
        meeting.wait(10)
        return compile_text(text)

    monkeypatch.setattr(builtin, "object_of_text", slow)
    monkeypatch.setattr(builtin.cache, "kept", lambda parts, make: make())
    layout = builtin.Layout((17,), ((19,),), False)
    first, second = at_once(lambda: builtin._definition("of a test", "", layout), 2)
    assert first[0] is second[0] and first[1] is second[1]


def test_what_simulations_keep_may_be_asked_for_from_many_threads():
    from dalembert.compiled import memo

    systems = [da.planar_chain(1, mass=1 + k) for k in range(2 * memo.MOST)]
    asked = at_once(lambda: [memo.kept(m, "key", lambda m=m: m.name) for m in systems for _ in range(3)])
    assert all(found == asked[0] for found in asked) and len(memo._kept) <= memo.MOST + THREADS
    assert np.all([name == systems[0].name for name in asked[0]])
