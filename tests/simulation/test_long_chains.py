"""Long chains: scans over bodies within loops over steps, in every way that a run is made."""

import time

import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.program import Scan
from dalembert.codegen.targets.llvm import in_memory
from dalembert.compiled import propagation
from dalembert.tracing import regrouping

Q, QD = np.array([0.1, -0.2, 0.3]), np.array([0.2, 0.1, -0.1])
TRACED = {"control": lambda t, q, qd: -0.2 * qd}
WAYS = {
    "free": {}, "fixed": {"method": "rk4", "h": 0.01}, "implicit": {"method": "implicit_midpoint", "h": 0.01},
    "control": TRACED, "event": {"events": lambda t, q, qd: q[0] - 0.05, **TRACED},
    "called": {"control": lambda t, q, qd: np.array([float(f"{-0.2 * x:.17g}") for x in qd])},
    "batch": {"batch": True},
}


def simulated(batch=False, **options):
    chain = da.planar_chain(3)
    q, qd = (np.vstack([Q, 0.5 * Q, -Q]), np.vstack([QD, QD, QD])) if batch else (Q, QD)
    return da.simulate(chain, q, qd, 0.5, **options)


@pytest.mark.parametrize("on_stack", [True, False], ids=["stack", "work"])
@pytest.mark.parametrize("way", WAYS)
def test_runs_are_those_of_straight_code(monkeypatch, way, on_stack):
    right = simulated(**WAYS[way])
    scans, made = [], propagation.propagation_of
    monkeypatch.setattr(regrouping, "ROLLED_FROM", 2)
    monkeypatch.setattr(in_memory, "MOST_ON_STACK", 2**18 if on_stack else 0)
    monkeypatch.setenv("DALEMBERT_CACHE", "off")

    def watched(*arguments, **options):
        found = made(*arguments, **options)
        scans.extend(i for i in found.every_item if isinstance(i, Scan) and len(i.order) > 1)
        return found

    monkeypatch.setattr(propagation, "propagation_of", watched)
    found = simulated(**WAYS[way])
    assert scans
    np.testing.assert_allclose(found.q[..., -1, :], right.q[..., -1, :], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.qd[..., -1, :], right.qd[..., -1, :], rtol=0, atol=1e-9)
    if way == "event":
        assert len(found.events) == len(right.events) > 0
        np.testing.assert_allclose([e.t for e in found.events], [e.t for e in right.events], atol=1e-10)


@pytest.mark.slow
def test_a_chain_of_1000_links_is_simulated():
    begin = time.process_time()
    n = 1000
    run = da.simulate(da.planar_chain(n), np.full(n, 1e-3), np.zeros(n), 0.002, method="rk4", h=0.001)
    print(f"{time.process_time() - begin:.2f} s of CPU")
    assert run.reason == "finished" and np.isfinite(run.qd).all()
