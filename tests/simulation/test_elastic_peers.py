"""Elastic links beside Exudyn's cables (absolute nodal coordinates, which stretch): a flexible pendulum and the two-link arm."""

import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from flexible_arms import EF, EJ, LENGTH, MASS_PER_LENGTH, ends, run_of, two_links

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")      # names of settings change between versions of Exudyn
DAMPING, G = 2e-4, 9.81


@pytest.fixture
def peers():
    """The benchmark's module of cables."""
    pytest.importorskip("exudyn")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        import elastic_peers

        yield elastic_peers
    del sys.modules["elastic_peers"]


def end_of(rows, link):
    """Places of the end of the last link."""
    return rows[:, -4:-2] + [link, 0]


def pendulum(stretch=0):
    """A soft link, hinged at its end, that falls from the vertical of the x axis under gravity along y."""
    beam = da.Beam(LENGTH, EA=EF, EIz=EJ / 20, mass_per_length=MASS_PER_LENGTH, kinematics="exact", damping=da.Rayleigh(0, DAMPING))
    modes = {"bend_y": 4} | ({"stretch": stretch} if stretch else {})
    bodies = [da.Body("base"), da.Body("link", beam=beam, modes=modes)]
    return da.Mechanism("pendulum", bodies, [da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "link")], [da.Frame("end", "link", da.Origin((LENGTH, 0, 0)))],
                        gravity=(0, -G, 0))


@pytest.mark.parametrize("elements, h, end, tolerance", [(6, 2e-4, 0.4, 3e-4), pytest.param(12, 1e-4, 1.0, 5e-5, marks=pytest.mark.slow)])
def test_a_flexible_pendulum_moves_as_by_exudyn(peers, elements, h, end, tolerance):
    """The difference is that of Exudyn's steps: 4e-4 m with 0.2 ms, 3e-5 m with 0.1 ms, at largest."""
    cables = peers.Cables(elements, peers.Link(LENGTH, EJ / 20, EF, MASS_PER_LENGTH, DAMPING))
    cables.add_link((0, -G, 0))
    peer = end_of(cables.run(end, h, 0.05)[1], LENGTH)
    arm = pendulum()
    run = da.simulate(arm, arm.neutral(), np.zeros(arm.nv), end, method="rodas5p", rtol=1e-8, record=0.05)
    np.testing.assert_allclose(da.placement(arm, run.q, "end")[:, :2, 3], peer, atol=tolerance)


@pytest.mark.parametrize("elements, h, end, stretch, tolerance", [
    (4, 1e-3, 0.6, 0, 2e-4), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((8, 2.5e-4, 2.5, 0, 3e-3), (8, 2.5e-4, 2.5, 2, 2e-4)))])
def test_the_two_link_arm_moves_as_by_exudyn(peers, elements, h, end, stretch, tolerance):
    """With the stretch of the cables, 8e-5 m to 2.5 s; without it their motions part by 2.6e-3 m at the second alignment (1.51 s)."""
    cables = peers.two_link_arm(elements, peers.Link(LENGTH, EJ, EF, MASS_PER_LENGTH, DAMPING))
    peer = end_of(cables.run(end, h, 0.05)[1], 2 * LENGTH)
    arm = two_links(5, stretch=stretch)
    tips = ends(arm, run_of(arm, end, record=0.05).q)[1]
    np.testing.assert_allclose(tips, peer, atol=tolerance)
