"""What a run is written to: labelled arrays and back, diagrams, the page with the motion; names of any letters."""

import csv
import dataclasses
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import dalembert as da
from dalembert.simulation import labels, pictures

NAMES = {"q1": "_угол %d $x_1$ <b>", "q2": "γωνία & </script>", "q3": '肘关节, "a"'}
TITLE = "маятник </title><script>alert(1)</script> {{data}} $\\frac$"
ARRAYS = ("times", "q", "qd", "work", "steps", "rejected", "kinetic_energy")


def named(mechanism):
    """The mechanism with names that each format has a meaning of its own for."""
    joints = tuple(dataclasses.replace(j, name=NAMES.get(j.name, j.name)) for j in mechanism.joints)
    return dataclasses.replace(mechanism, name=TITLE, joints=joints)


@pytest.fixture(scope="module")
def one():
    return da.simulate(named(da.planar_chain(3)), [0.3, -0.5, 0.2], [0, 0, 0], 0.5, record=0.05)


@pytest.fixture(scope="module")
def tree():
    """One trajectory with quaternions, lengths and angles."""
    mechanism = da.random_tree(1, 4, ["free", "spherical", "prismatic", "revolute"])
    return da.simulate(mechanism, *mechanism.random_state(1), 0.2, record=0.02)


@pytest.fixture(scope="module")
def several():
    """Three trajectories; the second does not go on, and its records are NaN."""
    chain = da.planar_chain(2)
    return da.simulate(chain, [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], [0, 0], 0.2, record=0.02,
                       control=np.array([[0, 0], [1e95, 0], [1, 0]]))


@pytest.fixture(params=["one", "tree", "several"])
def run(request):
    return request.getfixturevalue(request.param)


def same(a, b):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert np.shape(a.controller_states) == np.shape(b.controller_states)
    for name in ("method", "h", "reasons", "forces"):
        assert getattr(a, name) == getattr(b, name)


# --- units, labelled arrays, files ---

def test_units_follow_the_joints():
    mechanism = da.random_tree(0, 10)      # every joint type
    units = dict(zip(mechanism.coordinate_names, labels.coordinate_units(mechanism), strict=True))
    rates = dict(zip(mechanism.velocity_names, labels.velocity_units(mechanism), strict=True))
    assert {"rad", "m", "1"} == set(units.values()) and {"rad/s", "m/s"} == set(rates.values())
    for joint in mechanism.independent_joints:
        kind, own = joint.type.name, [units[n] for n in mechanism.coordinate_names if n.split(".")[0] == joint.name]
        expected = {"revolute": ["rad"], "prismatic": ["m"], "free": ["1"] * 4 + ["m"] * 3, "spherical": ["1"] * 4,
                    "planar": ["rad", "m", "m"], "universal": ["rad", "rad"], "cylindrical": ["rad", "m"]}
        assert own == expected.get(kind, own), kind


def test_the_dataset_has_the_runs_numbers_under_the_names_of_the_joints(run):
    pytest.importorskip("xarray")
    data, m = run.to_xarray(), run.mechanism
    for k, name in enumerate(m.coordinate_names):
        np.testing.assert_array_equal(data.q.sel(coordinate=name), run.q[..., k])
    for k, name in enumerate(m.velocity_names):
        np.testing.assert_array_equal(data.qd.sel(velocity=name), run.qd[..., k])
    np.testing.assert_array_equal(data.power_balance, run.power_balance)
    assert data.q.dims == (("time", "coordinate") if run.q.ndim == 2 else ("trajectory", "time", "coordinate"))
    assert data.coordinate_unit.values.tolist() == labels.coordinate_units(m)
    assert (data.time.units, data.work.units, data.attrs["mechanism"]) == ("s", "J", m.name)
    assert np.atleast_1d(data.reason).tolist() == list(run.reasons)


@pytest.mark.parametrize("ending", ["nc", "zarr"])
def test_a_run_comes_back_from_a_file_to_the_last_bit(run, ending, tmp_path):
    for name in ("xarray", {"nc": "h5netcdf", "zarr": "zarr"}[ending]):
        pytest.importorskip(name)
    write = run.to_netcdf if ending == "nc" else run.to_zarr
    path = write(tmp_path / f"бег.{ending}")
    same(da.Run.load(run.mechanism, path), run)
    same(da.Run.load(run.mechanism, write(path)), run)      # over the one that is there
    with pytest.raises(da.DalembertError, match=r"run of .* names \(.*but mechanism 'planar chain' has \(q1, q2, q3, q4, ...\)"):
        da.Run.load(da.planar_chain(5), path)


def test_states_of_a_controller_come_back_as_well(one, tmp_path):
    pytest.importorskip("h5netcdf")
    run = dataclasses.replace(one, controller_states=np.arange(22.0).reshape(11, 2))
    np.testing.assert_array_equal(da.Run.load(run.mechanism, run.to_netcdf(tmp_path / "r.nc")).controller_states,
                                  run.controller_states)


def test_zarr_replaces_nothing_but_zarr(one, tmp_path):
    pytest.importorskip("zarr")
    (tmp_path / "kept.txt").write_text("kept")
    for path in (tmp_path, tmp_path / "kept.txt"):
        with pytest.raises(da.DalembertError, match="is there and no Zarr folder"):
            one.to_zarr(path)
    assert (tmp_path / "kept.txt").read_text() == "kept"


def test_a_file_that_is_not_there_is_said():
    with pytest.raises(da.DalembertError, match="there is no run 'nowhere.nc'"):
        da.Run.load(da.planar_chain(1), "nowhere.nc")


def test_names_of_all_letters_survive_in_csv(one, tmp_path):
    with one.to_csv(tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head[1:4] == list(NAMES.values()) and head[4] == f"rate of {NAMES['q1']}"
    np.testing.assert_array_equal(np.array(rows, dtype=float)[:, 1:4], one.q)


@pytest.mark.parametrize(("missing", "write", "extra"), [
    ("matplotlib", lambda run, folder: run.plot(folder / "x.png"), "plot"),
    ("xarray", lambda run, folder: run.to_xarray(), "files"), ("zarr", lambda run, folder: run.to_zarr(folder / "x"), "files"),
    ("h5netcdf", lambda run, folder: run.to_netcdf(folder / "x.nc"), "files")])
def test_a_library_that_is_not_installed_is_named_with_its_extra(one, missing, write, extra, tmp_path, monkeypatch):
    if missing in ("zarr", "h5netcdf"):
        pytest.importorskip("xarray")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(da.DalembertError, match=rf"^{missing} is not installed: pip install 'dalembert\[{extra}\]'\.$"):
        write(one, tmp_path)
    assert not list(tmp_path.iterdir())


# --- diagrams ---

def lines(figure, up):
    """Each drawn line of the panel with this y label, as (x, y)."""
    ax, = (ax for ax in figure.axes if ax.get_ylabel() == up and ax.get_xlabel() == "time [s]")
    return [line.get_data() for line in ax.get_lines()], [text.get_text() for text in ax.get_legend().get_texts()]


def test_diagrams_draw_every_entry_in_a_panel_of_its_unit(tree):
    pytest.importorskip("matplotlib")
    figure, m = tree.plot(), tree.mechanism
    for what, values, names, units in (("coordinates", tree.q, m.coordinate_names, labels.coordinate_units(m)),
                                       ("velocities", tree.qd, m.velocity_names, labels.velocity_units(m))):
        for unit in set(units):
            at = [k for k, u in enumerate(units) if u == unit]
            drawn, legend = lines(figure, f"{what} [{unit}]")
            assert legend == [names[k] for k in at]
            for (x, y), k in zip(drawn, at, strict=True):
                np.testing.assert_array_equal((x, y), (tree.times, values[:, k]))
    energies, _ = lines(figure, "energies [J]")
    np.testing.assert_array_equal([y for _, y in energies],
                                  [tree.kinetic_energy, tree.potential_energy, tree.energy, tree.work])
    np.testing.assert_array_equal(lines(figure, "power balance [J]")[0][0][1], tree.power_balance)
    phases = {(ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes if ax.get_xlabel() != "time [s]"}
    assert phases == {("coordinates [rad]", "velocities [rad/s]"), ("coordinates [m]", "velocities [m/s]")}


def test_diagrams_of_several_trajectories_share_colours(several):
    pytest.importorskip("matplotlib")
    ax = several.plot().axes[0]
    assert [line.get_color() for line in ax.get_lines()] == ["C0"] * 3 + ["C1"] * 3
    np.testing.assert_array_equal(ax.get_lines()[2].get_ydata(), several.q[2, :, 0])


def test_long_legends_say_how_many_more_there_are():
    pytest.importorskip("matplotlib")
    chain = da.planar_chain(15)
    legend = lines(da.simulate(chain, np.full(15, 0.1), np.zeros(15), 0.01).plot(), "coordinates [rad]")[1]
    assert len(legend) == 12 and legend[-1] == "q12 and 3 more"


@pytest.mark.parametrize(("ending", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_diagrams_of_any_names_are_written(one, ending, start, tmp_path):
    pytest.importorskip("matplotlib")
    one.plot(tmp_path / f"r{ending}")
    content = (tmp_path / f"r{ending}").read_bytes()
    assert content.startswith(start)
    if ending == ".svg":
        text = "".join(ElementTree.fromstring(content).itertext())
        assert all(name in text for name in (*NAMES.values(), TITLE))


def test_letters_that_no_font_has_and_invisible_ones_are_spelled_out():
    assert pictures._drawable("aя\u202e\U00013000", {97, 0x44f}) == "aя\\u202e\\U00013000"
    assert pictures._drawable("aя\x07", None) == "aя\\x07"


# --- motion ---

def data_of(page):
    return json.loads(re.search(r"^const run = (.*);$", page, re.MULTILINE)[1])


def test_the_page_holds_placements_and_centres_of_mass(run, tmp_path):
    if run.q.ndim == 3:
        with pytest.raises(da.ShapeError, match="shows one trajectory, not 3"):
            run.animate(tmp_path / "r.html")
        return
    found, m = data_of(run.animate(tmp_path / "r.html").read_text(encoding="utf-8")), run.mechanism
    assert found["names"] == list(m.frame_names) and found["times"] == run.times.tolist()
    frames = np.array(found["frames"])
    for k, name in enumerate(m.frame_names):
        T = da.placement(m, run.q, name)
        shown = frames[:, k].reshape(-1, 4, 3)      # origin, then axes
        np.testing.assert_allclose(shown[:, 0], T[:, :3, 3], atol=1e-5 * abs(frames).max())
        np.testing.assert_allclose(shown[:, 1:], T[:, :3, :3].transpose(0, 2, 1), atol=1e-5 * abs(frames).max())
    tree, _, _ = m.at()
    moved = {b.name for b in m.bodies if tree.place[b.name][0] != 0}      # others do not count in center_of_mass
    joined = {(found["names"][a], found["names"][b]) for a, b in found["sticks"]}
    assert {(j.parent, j.child) for j in m.joints} <= joined
    moving = [(w, k) for k, w in enumerate(found["weights"]) if found["names"][w[0]] in moved]
    mean = sum(w[1] * np.array(found["masses"])[:, k] for w, k in moving) / sum(w[1] for w, _ in moving)
    np.testing.assert_allclose(mean, da.center_of_mass(m, run.q), atol=2e-5 * abs(frames).max())


def test_the_page_is_whole_and_needs_nothing_else(one, tmp_path):
    page = one.animate(tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("<script>") == page.count("</script>") == 1 and "&lt;script&gt;alert(1)" in page
    assert "default-src 'none'" in page and not re.search(r"https?:|src=|href=|@import", page)
    assert "{{data}} $\\frac$</title>" in page      # the name, not filled again


def test_long_runs_are_thinned_out_in_the_page(one):
    m = da.planar_chain(1)
    run = da.simulate(m, [0.5], [0], 3.0, record=1e-3)
    times = pictures.figure_of(run)["times"]
    assert len(times) == pictures.MOST_FRAMES and (times[0], times[-1]) == (0, 3) and np.diff(times).max() < 0.005


def test_an_animation_is_a_page(one, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.html or \.htm"):
        one.animate(tmp_path / "r.gif")
