"""Observables are declared once, and a run has them by name wherever it goes."""

import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dalembert as da
from dalembert.systems.kinds import system_of

xarray = pytest.importorskip("xarray")
Q, QD, OPTIONS = [0.8, 0.2], [0.0, 0.0], {"t": 0.2, "record": 0.02}


class Bead(da.System):
    """A bead on a spring in the plane, whose spring and force observables look at."""

    name, coordinate_names = "bead", ("x", "y")
    stiffness, mass = 30.0, 0.5

    def mass_matrix(self, q, t=0.0):
        return [[self.mass, 0], [0, self.mass]]

    def bias_force(self, q, qd, t=0.0):
        return self.stiffness * np.asarray(q)

    def potential_energy(self, q, t=0.0):
        return self.stiffness * (q[0] * q[0] + q[1] * q[1]) / 2

    @property
    def observables(self):
        return {"spring_energy": da.Quantity(self.potential_energy, ("q",), (), "J", "energy of the spring"),
                "pull": da.Quantity(lambda q, tau: [self.stiffness * q[0] + tau[0], 2.0 * tau[1]], ("q", "tau"), ("side",), "N", "force",
                                    ("near", "far"))}


def push(t, q, qd):
    return [da.sin(5 * t), 0.1]


@pytest.fixture(scope="module")
def run():
    return da.simulate(Bead(), Q, QD, forces=push, **OPTIONS)


def expected(run):
    tau = np.stack([np.sin(5 * run.times), np.full_like(run.times, 0.1)], axis=-1)
    return {"spring_energy": 15.0 * (run.q ** 2).sum(axis=-1),
            "pull": np.stack([30.0 * run.q[..., 0] + tau[..., 0], 2 * tau[..., 1]], axis=-1)}


def assert_holds(run, of):
    for name, values in expected(of).items():
        np.testing.assert_allclose(run.observables[name], values, rtol=1e-13, err_msg=name)


def test_a_systems_declaration_is_all_that_an_observable_needs(run):
    assert [*run.observables] == ["spring_energy", "pull"] and "pull" in run.observables and len(run.observables) == 2
    assert_holds(run, run)
    with pytest.raises(da.UnknownNameError, match="unknown observable 'pul'.*Did you mean 'pull'"):
        run.observables["pul"]
    np.testing.assert_allclose(da.compile(Bead()).spring_energy(Q), 15 * 0.68)


@pytest.mark.parametrize("ending", ["nc", "zarr"])
def test_files_keep_what_followed_from_forces(run, ending, tmp_path):
    write = {"nc": run.to_netcdf, "zarr": run.to_zarr}[ending]
    read = da.Run.load(Bead(), write(tmp_path / f"run.{ending}"))
    assert_holds(read, run)
    declared = read.observables.declared["pull"]
    assert (declared.unit, declared.description, declared.labels, declared.axes) == ("N", "force", ("near", "far"), ("side",))
    again = da.Run.load(Bead(), read.to_netcdf(tmp_path / "again.nc"))      # a file of a file
    assert_holds(again, run)


def test_streams_keep_them_and_are_read_where_they_are(run, tmp_path, monkeypatch):
    monkeypatch.setattr("dalembert.results.streaming.records_of", lambda size, work: 3)
    stored = da.simulate(Bead(), Q, QD, forces=push, **OPTIONS, store=tmp_path / "run.zarr")
    assert_holds(stored, run)
    lazy = da.Run.load(Bead(), tmp_path / "run.zarr", lazy=True)
    assert_holds(lazy, run)
    np.testing.assert_allclose(lazy.observables["pull"][2:4, 0], expected(run)["pull"][2:4, 0])


def test_copies_batches_and_parts_have_them(run):
    copy = pickle.loads(pickle.dumps(run))
    assert_holds(copy, run)
    several = da.simulate(Bead(), [Q, [0.1, 0.3]], QD, forces=push, **OPTIONS)
    np.testing.assert_array_equal(several.observables["pull"][0], run.observables["pull"])
    from dalembert.results.record_selection import thinned, trajectory
    np.testing.assert_array_equal(thinned(run, 4)[0].observables["pull"], run.observables["pull"][::3])
    np.testing.assert_array_equal(trajectory(several, 0).observables["spring_energy"], run.observables["spring_energy"])


def test_sweeps_collect_them_at_the_end_and_at_all_records(run):
    with ThreadPoolExecutor(1) as executor:
        ends = da.sweep(Bead(), {"q[x]": [0.8, 0.1]}, executor, t=0.2, q=Q, record=0.02, forces=push)
        every = da.sweep(Bead(), {"q[x]": [0.8, 0.1]}, executor, t=0.2, q=Q, record=0.02, forces=push, collect="records")
    np.testing.assert_allclose(ends["pull"][0], run.observables["pull"][-1])
    assert ends["reason"].tolist() == ["finished", "finished"] and {type(text) for text in ends["reason"]} == {str}
    np.testing.assert_allclose(every["spring_energy"][0], run.observables["spring_energy"])


def test_tables_and_diagrams_name_them(run, tmp_path):
    text = run.to_csv(tmp_path / "run.csv").read_text().splitlines()
    assert text[0].endswith("work,spring_energy,pull of near,pull of far")
    pandas = pytest.importorskip("pandas")
    frame = run.to_dataframe()
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "time"
    np.testing.assert_array_equal(frame["pull of near"], run.observables["pull"][:, 0])
    figure = run.plot("pull", "spring_energy", file=tmp_path / "pull.svg")
    assert [ax.get_ylabel() for ax in figure.axes] == ["force [N]", "energy of the spring [J]"]
    with pytest.raises(da.UnknownNameError, match="'pool'"):
        run.plot("pool", file=tmp_path / "pull.svg")


def test_friction_sampled_control_and_solvers_are_four_users(tmp_path):
    arm = da.planar_chain(2).replace({"q1.coulomb": 0.5, "q2.coulomb": 0.3})
    rubbing = da.simulate(arm, Q, QD, 0.3, record=0.02, store=tmp_path / "run.zarr")
    read = da.Run.load(arm, tmp_path / "run.zarr")
    assert [*read.observables] == ["modes", "reactions"] and read.observables["modes"].dtype == np.int8
    for name in ("modes", "reactions"):
        np.testing.assert_array_equal(getattr(rubbing, name), getattr(read, name))
    assert np.abs(read.reactions).max() <= 0.5 + 1e-12
    sampled = da.controllers.Sampled(lambda k, t, q, qd, m: (-5 * q, m), 0.01)
    held = da.simulate(da.planar_chain(2), Q, QD, 0.1, control=sampled, record=0.02)
    assert held.observables["held_forces"] is held.held and held.held.shape == held.qd.shape
    solved = da.simulate(da.planar_chain(2), Q, QD, 0.02, record=0.01, formulation="hamilton", solver="conjugate_directions",
                         store=tmp_path / "solved.zarr")
    again = da.Run.load(da.planar_chain(2), solved.to_netcdf(tmp_path / "solved.nc"))
    assert again.solutions == solved.solutions and again.solutions.solver == "conjugate_directions"
    assert solved.observables["solutions"][0] == solved.solutions.solutions > 0


def test_counts_of_a_run_that_goes_on_are_of_all_of_it(tmp_path, monkeypatch):
    options = {"t": 0.03, "record": 0.01, "formulation": "hamilton", "solver": "minimal_residuals"}
    whole = da.simulate(da.planar_chain(2), Q, QD, **options)
    monkeypatch.setattr("dalembert.results.streaming.records_of", lambda size, work: 1)
    from dalembert.results.recorder import Recorder
    write, left = Recorder.write, [2]

    def stop(self, *given):
        write(self, *given)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Recorder, "write", stop)
        with pytest.raises(KeyboardInterrupt):
            da.simulate(da.planar_chain(2), Q, QD, **options, store=tmp_path / "run.zarr")
    resumed = da.resume(da.planar_chain(2), tmp_path / "run.zarr")
    assert resumed.solutions.solutions == whole.solutions.solutions


def test_names_of_something_else_are_refused():
    class Wrong(Bead):
        observables = {"q": da.Quantity(lambda q: q[0], ("q",))}

    with pytest.raises(da.DalembertError, match="observable 'q' of 'bead': runs have something else of that name"):
        _ = da.simulate(Wrong(), Q, QD, 0.1).observables
    Wrong.observables = {"a b": Wrong.observables["q"]}
    with pytest.raises(da.DalembertError, match="letters, digits and underscores"):
        da.simulate(Wrong(), Q, QD, 0.1)


def test_files_of_earlier_versions_are_read(tmp_path):
    arm = da.planar_chain(2).replace({"q1.coulomb": 0.5})
    run = da.simulate(arm, Q, QD, 0.1, record=0.02)
    data = run.to_xarray().drop_vars("reactions")
    data["modes"].attrs = {"long_name": "0 rests, 1 or -1 slides, 2 moves freely"}
    data.to_netcdf(tmp_path / "old.nc", engine="h5netcdf")
    with pytest.warns(da.DalembertWarning, match="no checksums"):
        old = da.Run.load(arm, tmp_path / "old.nc")
    np.testing.assert_array_equal(old.modes, run.modes)
    with pytest.raises(da.DalembertError, match="reactions of this run are not known"):
        _ = old.reactions


def test_the_command_line_prints_their_last_values(capsys):
    from dalembert.commandline.simulation import as_json
    arm = da.planar_chain(2).replace({"q1.coulomb": 0.5})
    run = da.simulate(arm, Q, QD, 0.1, record=0.02)
    found = json.loads(json.dumps(as_json(run, [])))
    assert found["observables"]["reactions"] == run.reactions[-1].tolist() and system_of(arm).observables == {}


def looking(**declared):
    """A bead with these observables."""
    return type("Looking", (Bead,), {"observables": declared})()


@pytest.mark.parametrize("declared, error, message", [
    ({"mass_matrix": da.Quantity(lambda q: q[0], ("q",))}, da.DalembertError, "observable 'mass_matrix' of 'bead': runs have something else"),
    ({"end_q": da.Quantity(lambda q: q[0], ("q",))}, da.DalembertError, "observable 'end_q' of 'bead': runs have something else"),
    ({"a": lambda q: q[0]}, TypeError, "observable 'a' is .*expected a da.Quantity"),
    ({"a": da.Quantity(lambda qd: qd[0], "qd")}, ValueError, "observable 'a' has inputs 'qd', expected a tuple of some of q, qd, tau, t"),
    ({"a": da.Quantity(lambda q: [q[0], q[1]], ("q",))}, da.ShapeError, r"observable 'a' gives shape \(2,\), declared is \(\)"),
    ({"a": da.Quantity(lambda q: q, ("q",), ("side",)), "b": da.Quantity(lambda q: [q[0]], ("q",), ("side",))}, da.ShapeError,
     r"observable 'b' gives shape \(1,\), declared is \('side',\)"),
    ({"a": da.Quantity(lambda q: q, ("q",), ("time",))}, da.DalembertError, "observable 'a': an axis has the name 'time' of data"),
    ({"a": da.Quantity(lambda q: q, ("q",), ("side",), "", "", ("one",))}, da.ShapeError, "'a' .* has 1 labels, expected one for each"),
    ({"a": da.Quantity(lambda q: "text", ("q",))}, da.DalembertError, "needs a number"),
    ({"a": da.Quantity(lambda q: q[0] if q[0] > 0 else 0.0, ("q",))}, da.DalembertError, "da.where")])
def test_declarations_that_are_none_are_refused_before_a_run(declared, error, message):
    with pytest.raises(error, match=message):
        da.simulate(looking(**declared), Q, QD, **OPTIONS)


def test_one_without_value_is_left_out_of_tables_with_a_warning(tmp_path):
    run = da.simulate(looking(root=da.Quantity(lambda q: da.sqrt(q[0] - 0.5), ("q",)), level=da.Quantity(lambda q: q[1], ("q",))), Q, QD, **OPTIONS)
    assert (run.q[:, 0] < 0.5).any()
    with pytest.warns(da.DalembertWarning, match="observable 'root' is left out: entry"):
        assert run.to_csv(tmp_path / "run.csv").read_text().splitlines()[0].endswith("energy,work,level")


def test_columns_of_a_matrix_have_the_names_of_rows_and_velocities(tmp_path):
    mechanism, q = da.loops.four_bar()
    run = da.simulate(mechanism, q, np.zeros(3), 0.02, record=0.01, method="dop853")
    head, first, *_ = run.to_csv(tmp_path / "run.csv").read_text().splitlines()
    values = dict(zip(head.split(","), map(float, first.split(",")), strict=True))
    J = da.constraint_jacobian(mechanism, run.q[0])
    assert values["constraint_jacobian of pin[2] coupler"] == J[2, 1] != 0
    assert not any("constraint_jacobian of 0" in name for name in values)
