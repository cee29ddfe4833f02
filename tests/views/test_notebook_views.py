"""Notebooks show mechanisms, runs, sweeps, equations and expressions; names stay text, nothing raises."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import numpy as np
import pytest

import dalembert as da
from dalembert import displays

NAME = "<script>alert(1)</script>&"


@pytest.fixture(scope="module")
def arm():
    chain = da.planar_chain(2)
    joints = (dataclasses.replace(chain.joints[0], name=NAME, limits=da.Limits(-1, 1)), chain.joints[1])
    return dataclasses.replace(chain, name=NAME, joints=joints)


@pytest.fixture(scope="module")
def run(arm):
    return da.simulate(arm, [0.3, -0.4], [0, 0], 0.1, record=0.01, control=da.controllers.GravityPD(arm, [0.5, 0.0], 10.0, 2.0))


def element(text):
    """The HTML, which is well-formed, and has no script."""
    root = ElementTree.fromstring(f"<div>{text}</div>")
    assert not [e for e in root.iter() if e.tag == "script"]
    return root


def drawings(root):
    """The pictures that stand for something: not the pieces of curves in legends."""
    return [svg for svg in root.iter("svg") if svg.get("role") == "img"]


def test_a_mechanism_is_a_picture_and_a_table(arm):
    root = element(arm._repr_html_())
    rows = ["".join(row.itertext()) for row in root.iter("tr")]
    assert len(rows) == 3 and rows[1].startswith(f"{NAME}revolutebaselink1") and rows[1].endswith("−1 to 1")
    assert len(list(root.iter("svg"))) == 1


def test_the_mass_of_an_elastic_link_is_there():
    beam = da.Beam(0.5, EIz=1.0, mass_per_length=0.5)
    bodies = [da.Body("base"), da.Body("link", 1.0, beam=beam, modes={"bend_y": 1})]
    link = da.Mechanism("link", bodies, [da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "link")])
    assert "1.25" in [cell.text for cell in element(link._repr_html_()).iter("td")]


def test_a_run_is_its_summary_and_diagrams(run, arm):
    root = element(run._repr_html_())
    assert "".join(root.find(".//pre").itertext()) == run.summary()
    charts = drawings(root)
    assert [chart.get("aria-label").partition(":")[0] for chart in charts] == [
        "joint angles [rad] over time [s]", "joint velocities [rad/s] over time [s]", "applied torques [N m] over time [s]",
        "energies [J] over time [s]"]
    assert "link2 from" not in charts[0].get("aria-label") and f"{NAME} from" in charts[0].get("aria-label")
    solid = [line for line in charts[0].iter("polyline") if line.get("opacity") == "1"]
    height = [np.array([point.split(",") for point in line.get("points").split()], float)[:, 1] for line in solid]
    np.testing.assert_allclose(np.corrcoef(height[0], run.q[:, 0])[0, 1], -1, atol=1e-3)      # upwards
    assert len(list(charts[0].iter("polyline"))) == 4      # with the references
    assert repr(run) == f"<Run: 1 trajectory of {NAME!r}, 0 s to 0.1 s, 11 records, rk4, stopped: finished>"


def test_diagrams_are_drawn_as_the_last_line_of_a_cell(run):
    assert run.plot("q")._repr_png_().startswith(b"\x89PNG")


def test_a_sweep_is_its_summary_and_ranges():
    found = da.sweep(lambda x: {"double": 2 * x, "word": "a"}, {"x": [1.0, 2.0]}, ThreadPoolExecutor(1))
    rows = [[cell.text for cell in row] for row in element(found._repr_html_()).iter("tr")]
    assert ["double", "2", "2", "4"] in rows


def test_expressions_are_formulas():
    x, y = da.symbols("x y")
    assert (da.sin(x) * y / 2)._repr_latex_().startswith(r"$\frac") or "sin" in (da.sin(x) * y / 2)._repr_latex_()
    long = x
    for _ in range(500):
        long = long * y + 1
    assert long._repr_latex_() is None


def test_equations_are_mathematics():
    root = element(da.equations(da.planar_chain(1))._repr_html_())
    assert len(list(root.iter("math"))) + len([e for e in root.iter() if e.tag.endswith("}math")]) >= 3


def test_what_cannot_be_shown_shows_its_repr(arm, run, monkeypatch):
    for name in ("mechanism_html", "run_html"):
        monkeypatch.setitem(displays.DISPLAYS, name, lambda thing: 1 / 0)
    with pytest.warns(da.DalembertWarning, match="is shown as text, as it cannot be drawn"):
        assert arm._repr_html_() is None and run._repr_html_() is None


def test_several_trajectories_and_symbols_are_shown():
    several = da.simulate(da.planar_chain(1), np.linspace(0, 1, 20)[:, None], [0], 0.05, record=0.01)
    root = element(several._repr_html_())
    assert len(list(drawings(root)[0].iter("polyline"))) == 12 and "the first 12 trajectories" in "".join(root.itertext())
    m, l = da.symbols("m l")
    assert ">m<" in da.planar_chain(1, mass=m, length=l)._repr_html_()
