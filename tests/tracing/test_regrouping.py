"""Mechanisms that take fewer operations are equal ones."""

import numpy as np
import pytest

import dalembert as da
import oracles
from dalembert.formulations import newton_euler
from dalembert.model.external_forces import ExternalForce
from dalembert.tracing.quantities import straight
from dalembert.tracing.regrouping import on_regrouped_tree, regrouped, slid

OWN = 1e-12


@pytest.mark.parametrize("robot", ["panda", "ur5", "puma560", "solo12_floating"])
def test_regrouped_and_shifted_links_need_the_same_forces(robot):
    m = oracles.robot(robot)
    q, qd = m.random_state(5)
    qdd = np.random.default_rng(3).standard_normal(m.nv)
    frame = m.bodies[-1].name
    loads = [ExternalForce(frame, force=[1, 2, 3], moment=[4, 5, 6], point=[0.1, 0.2, 0.3])]
    for own, other in ((newton_euler.inverse_dynamics(x, q, qd, qdd, external_forces=loads) for x in (m, on_regrouped_tree(m))),
                       (newton_euler.mass_matrix(x, q) for x in (m, on_regrouped_tree(m)))):
        assert np.abs(own - other).max() <= OWN * np.abs(own).max()


def test_links_slide_to_where_their_places_have_fewer_entries():
    m = oracles.robot("ur5")
    tree = m.tree()
    places = [[x for x in t.joint[i].origin.p if x != 0] for t in (tree, slid(tree)) for i in tree.outward()]
    n = len(places) // 2
    assert sum(map(len, places[n:])) < sum(map(len, places[:n]))


def test_shifts_save_operations(monkeypatch):
    m = oracles.robot("ur5")
    count = [len(straight(m, ["forward_dynamics"]).block.code)]
    monkeypatch.setattr("dalembert.tracing.regrouping.slid", lambda tree: tree)
    count.append(len(straight(m, ["forward_dynamics"]).block.code))
    assert count[0] < 0.92 * count[1]


def test_nothing_slides_where_numbers_are_symbols_or_axes_oblique():
    with da.Graph():
        length, = da.symbols("length", 1)
        m = oracles.robot("ur5").replace({"elbow_joint.origin[0]": length})
        tree, twin = m.tree(), slid(m.tree())
        assert any(x is length for i in twin.outward() for x in twin.joint[i].origin.p)
        assert all((i, X.R) == (k, Y.R) for (i, X), (k, Y) in zip(tree.place.values(), twin.place.values()))
    chain = oracles.robot("kinova")                      # read with angles as they are: axes are oblique by 1e-10
    assert slid(chain.tree()).joint == chain.tree().joint
    assert regrouped(chain.tree()).n == chain.tree().n
