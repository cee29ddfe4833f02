"""What a run is written to: labelled arrays and back, diagrams; names of any letters."""

import csv
import dataclasses
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import dalembert as da
from dalembert.displays import visible
from dalembert.systems.kinds import system_of
from dalembert.views.diagrams.charts import CURVES

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
    units = dict(zip(mechanism.coordinate_names, system_of(mechanism).coordinate_units, strict=True))
    rates = dict(zip(mechanism.velocity_names, system_of(mechanism).velocity_units, strict=True))
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
    assert data.coordinate_unit.values.tolist() == system_of(m).coordinate_units
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


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("kind", ["a text", "an empty folder", "a folder", "a cut file", "other NetCDF", "other Zarr"])
def test_what_is_no_run_is_said(one, kind, lazy, tmp_path):
    for name in ("xarray", "h5netcdf", "zarr"):
        pytest.importorskip(name)
    import xarray

    path, other = tmp_path / "r", xarray.Dataset({"q": ("time", [1.0, 2.0])})
    if kind == "a text":
        path.write_text("q1,q2")
    elif kind.endswith("folder"):
        path.mkdir()
        if kind == "a folder":
            (path / "kept.txt").write_text("kept")
    elif kind == "a cut file":
        path.write_bytes(one.to_netcdf(tmp_path / "whole.nc").read_bytes()[:3000])
    elif kind == "other NetCDF":
        other.to_netcdf(path, engine="h5netcdf")
    else:
        other.to_zarr(path, zarr_format=2)
    wrote = "Run.to_netcdf" if path.is_file() else r"Run.to_zarr or simulate\(store=\)"
    with pytest.raises(da.DalembertError, match=rf"/r' (cannot be read as a|is no) run, expected a .* that {wrote} wrote") as found:
        da.Run.load(one.mechanism, path, lazy)
    assert "\n" not in str(found.value)
    if kind.startswith("other"):
        assert "it has no coordinate, velocity, qd, work" in str(found.value)


def test_names_of_all_letters_survive_in_csv(one, tmp_path):
    with one.to_csv(tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head[1:4] == list(NAMES.values()) and head[4] == f"rate of {NAMES['q1']}"
    np.testing.assert_array_equal(np.array(rows, dtype=float)[:, 1:4], one.q)


@pytest.mark.parametrize("name", [
    "=1+1", "+x", "-x", "@SUM(A1)", "\t=x", "\r\n=x", " =x", '"=x"', "a;=x", "a,+x", "a\n=x", "\uff1dx", "'=x", "a|-x"])
def test_no_name_begins_a_formula_in_csv(name, tmp_path):
    """A spreadsheet takes a cell for a formula by its first letter; its separator may be a comma, a semicolon or a tab."""
    chain = da.planar_chain(1)
    chain = dataclasses.replace(chain, joints=(dataclasses.replace(chain.joints[0], name=name),))
    path = da.simulate(chain, [0.1], [0], 0.02).to_csv(tmp_path / "r.csv")
    first = path.read_text(encoding="utf-8").splitlines()[0]
    cells = [cell for separator in ",;\t|" for cell in first.replace('"', "").split(separator)]
    assert not [cell for cell in cells if cell.strip()[:1] in tuple("=+-@\uff1d")], first
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert len(head) == len(rows[0]) == 6 and head[1] != name


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

def panel(figure, up, across="time [s]"):
    """Each line of the panel with these labels, as (x, y), and its legend."""
    ax, = (ax for ax in figure.axes if (ax.get_xlabel(), ax.get_ylabel()) == (across, up))
    legend = ax.get_legend()
    return [line.get_data() for line in ax.get_lines()], [text.get_text() for text in legend.get_texts()] if legend else []


def test_diagrams_draw_every_entry_in_its_unit(tree):
    pytest.importorskip("matplotlib")
    figure, m = tree.plot(), tree.mechanism
    q, qd = system_of(m).coordinate_units, system_of(m).velocity_units
    free = [k for k, n in enumerate(m.coordinate_names) if n.split(".")[-1] in ("px", "py", "pz")]
    for values, names, units, labelled in ((tree.q, m.coordinate_names, q, {"1": ("quaternions",), "rad": ("joint angles [rad]",)}),
                                           (tree.qd, m.velocity_names, qd, {"rad/s": ("joint velocities [rad/s]", "angular velocities [rad/s]")})):
        for unit, up in labelled.items():
            drawn = [line for ax in figure.axes if ax.get_xlabel() == "time [s]" and ax.get_ylabel() in up for line in ax.get_lines()]
            assert len(drawn) == units.count(unit)
            for k in (k for k, u in enumerate(units) if u == unit):
                assert any(np.array_equal(line.get_ydata(), values[:, k]) and np.array_equal(line.get_xdata(), tree.times)
                           for line in drawn), names[k]
    assert panel(figure, "quaternions")[1] == [n for n, u in zip(m.coordinate_names, q, strict=True) if u == "1"]
    assert [m.coordinate_names[k] for k in free] in [[t.get_text() for t in ax.get_legend().get_texts()]
                                                     for ax in figure.axes if ax.get_legend()]
    energies, _ = panel(figure, "energies [J]")
    np.testing.assert_array_equal([y for _, y in energies],
                                  [tree.kinetic_energy, tree.potential_energy, tree.energy, tree.work])
    np.testing.assert_array_equal(panel(figure, "power balance [J]")[0][0][1], tree.power_balance)


def test_phase_portraits_are_of_joints_whose_velocities_are_rates(tree):
    pytest.importorskip("matplotlib")
    figure, m = tree.plot(), tree.mechanism
    phases = {(ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes if ax.get_xlabel() != "time [s]"}
    assert phases == {("joint angles [rad]", "joint velocities [rad/s]"), ("joint positions [m]", "joint velocities [m/s]")}
    drawn, legend = panel(figure, "joint velocities [rad/s]", "joint angles [rad]")
    joints = [j.name for j in m.independent_joints if j.type.name == "revolute"]
    assert legend == joints
    for name, line in zip(joints, drawn, strict=True):
        entry = m.entries[name]
        np.testing.assert_array_equal(line, (tree.q[:, entry.at_q][:, 0], tree.qd[:, entry.at_v.start]))


def test_diagrams_of_several_trajectories_share_colours(several):
    pytest.importorskip("matplotlib")
    ax = several.plot().axes[0]
    assert [line.get_color() for line in ax.get_lines()] == [CURVES[0]] * 3 + [CURVES[1]] * 3
    np.testing.assert_array_equal(ax.get_lines()[2].get_ydata(), several.q[2, :, 0])


def test_at_most_eight_joints_share_a_panel():
    pytest.importorskip("matplotlib")
    chain = da.planar_chain(19)
    figure = da.simulate(chain, np.full(19, 0.1), np.zeros(19), 0.01).plot()
    rows = [ax for ax in figure.axes if ax.get_ylabel() == "joint angles [rad]"]
    assert [len(ax.get_lines()) for ax in rows] == [8, 8, 3]
    named = [[t.get_text() for t in ax.get_legend().get_texts()] for ax in figure.axes if ax.get_xlabel() == "joint angles [rad]"]
    assert sum(named, []) == list(chain.coordinate_names)


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
    assert visible("aя\u202e\U00013000", {97, 0x44f}) == "aя\\u202e\\U00013000"
    assert visible("aя\x07") == "aя\\x07"


def test_diagrams_of_long_runs_draw_every_kth_record(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("zarr")
    run = da.simulate(da.planar_chain(1), [0.5], [0], 5.0, record=1e-4, h=1e-4, control=lambda t, q, qd: -qd)
    stored = da.Run.load(run.mechanism, run.to_zarr(tmp_path / "r.zarr"), lazy=True)
    for shown in (run, stored):
        figure = shown.plot()
        drawn, _ = panel(figure, "joint angles [rad]")
        np.testing.assert_array_equal(drawn[0], (run.times[::3], run.q[::3, 0]))
        np.testing.assert_array_equal(panel(figure, "energies [J]")[0][2][1], run.energy[::3])
        assert figure.get_suptitle() == "planar chain, rk4, one of 3 records drawn"
    assert stored.animate(tmp_path / "r.gif", fps=1).read_bytes() == run.animate(tmp_path / "s.gif", fps=1).read_bytes()


def test_diagrams_of_a_users_lagrangian_have_no_units(tmp_path):
    pytest.importorskip("matplotlib")
    pendulum = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2 + 9.81 * da.cos(q[0]), ["swing"])
    run = da.simulate(pendulum, [0.5], [0], 0.5)
    drawn, legend = panel(run.plot(), "velocities", "coordinates")
    np.testing.assert_array_equal(drawn[0], (run.q[:, 0], run.qd[:, 0]))
    assert legend == ["swing"]
    with pytest.raises(da.DalembertError, match="has no bodies to show"):
        run.animate(tmp_path / "r.html")
