"""Work between two records is done in pieces: the same bits, progress in between, and interrupts that are heard."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.model.parts import Limits
from dalembert.simulation import pieces

ARM = da.planar_chain(2)
STOPPED = replace(ARM, joints=tuple(j if j.is_fixed else replace(j, coulomb=0.05, limits=Limits((-1.0,), (1.2,)))
                                    for j in ARM.joints))
STARTS = np.array([[1.0, -0.5], [0.3, 0.9], [-0.6, 0.1]])


def level(t, q, qd):
    return q[0]


CASES = {"plain": (ARM, {}), "stops and events": (STOPPED, {"stops": {"q1": 0.5, "q2": 0.3}, "events": level})}


@pytest.fixture
def small(monkeypatch):
    """Pieces of a few steps, told of each."""
    monkeypatch.setattr(pieces, "FIRST", 20)
    monkeypatch.setattr(pieces, "SPAN", 1e-9)
    monkeypatch.setattr(pieces, "LEAST", 3)


def counted(patch):
    """A list that grows with every piece."""
    calls, run = [], pieces.Pieces._piece

    def counting(self, *given, **named):
        calls.append(given)
        return run(self, *given, **named)

    patch.setattr(pieces.Pieces, "_piece", counting)
    return calls


@pytest.mark.parametrize("record", [0.02, 0.6])
@pytest.mark.parametrize("method", ["rk4", "dopri5", *(pytest.param(m, marks=pytest.mark.slow) for m in ("gauss4", "dop853"))])
@pytest.mark.parametrize("case", CASES)
def test_pieces_change_no_bit(case, method, record, monkeypatch):
    mechanism, options = CASES[case]
    for q in (STARTS[0], STARTS[:2]):
        whole = da.simulate(mechanism, q, [0, 0], 0.6, method=method, h=4e-3, record=record, **options)
        with monkeypatch.context() as patch:
            for name, value in (("FIRST", 20), ("SPAN", 1e-9), ("LEAST", 3)):
                patch.setattr(pieces, name, value)
            calls = counted(patch)
            cut = da.simulate(mechanism, q, [0, 0], 0.6, method=method, h=4e-3, record=record, **options)
        assert len(calls) > 5      # dop853 takes few steps
        for name in ("q", "qd", "work", "steps", "rejected"):
            assert np.array_equal(getattr(cut, name), getattr(whole, name)), name
        assert [tuple(c) for c in cut.changes] == [tuple(c) for c in whole.changes]
        assert [e.t for e in cut.events] == [e.t for e in whole.events] and cut.reasons == whole.reasons


@pytest.mark.parametrize("method", ["rk4", "dopri5", "radau5"])
@pytest.mark.parametrize("control", [None, lambda t, q, qd: [0.1 * float(q[0]), 0.0]])
def test_progress_is_told_between_two_records(method, control, small):
    seen = []
    run = da.simulate(ARM, STARTS[0], [0, 0], 1.0, control=control, method=method, h=4e-3, record=1.0,
                      progress=lambda done, t: seen.append((done, t)))
    assert len(run.times) == 2 and len(seen) > 5 and seen == sorted(seen) and seen[-1] == (1.0, 1.0)
    assert sum(0 < done < 1 for done, _ in seen) > 4


@pytest.mark.parametrize("method, t", [("rk4", 2e4), ("dopri5", 2e4)])
def test_an_interrupt_is_heard_between_two_records(method, t):
    """Of 2e7 steps, or an adaptive run with one record at its end, which take a minute or more."""
    program = f"""if True:
        import os, signal, threading, dalembert as da
        signal.signal(signal.SIGINT, signal.default_int_handler)      # ignored in some CI
        arm = da.planar_chain(2)
        da.simulate(arm, [1.0, 0.5], [0, 0], 0.1, method={method!r}, record=0.1)      # compiled before the clock runs
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            da.simulate(arm, [1.0, 0.5], [0, 0], {t}, method={method!r}, record={t})
        except KeyboardInterrupt:
            print("heard")"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=40)
    assert done.stdout == "heard\n", done.stderr


def test_a_callback_that_interrupts_between_two_records_ends_the_run(small):
    def stop(done, t):
        if done > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        da.simulate(ARM, STARTS, [0, 0], 1.0, record=1.0, progress=stop)


def test_a_store_keeps_the_records_before_an_interrupt(small, monkeypatch, tmp_path):
    monkeypatch.setattr("dalembert.results.streaming.records_of", lambda size, work: 1)

    def stop(done, t):
        if 0.55 < done < 0.7:
            raise KeyboardInterrupt

    call = {"t": 1.0, "record": 0.25, "store": tmp_path / "run.zarr"}
    with pytest.raises(KeyboardInterrupt):
        da.simulate(ARM, STARTS[0], [0, 0], progress=stop, **call)
    assert da.Run.load(ARM, call["store"]).times.tolist() == [0.0, 0.25, 0.5]
    found, whole = da.resume(ARM, call["store"]), da.simulate(ARM, STARTS[0], [0, 0], 1.0, record=0.25)
    assert np.array_equal(np.asarray(found.q), whole.q)
