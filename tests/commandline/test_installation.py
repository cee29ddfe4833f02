"""`dalembert doctor`: what a bug report needs."""

from importlib.metadata import PackageNotFoundError, version

from dalembert.commandline import installation


def test_versions_and_extras_are_listed(run, monkeypatch):
    given = ["numpy>=1.26", "h5py>=3.11; extra == 'files'", 'h5py>=3.11; extra == "test"', "no-such-package[all]>=1; extra == 'view'",
             "dalembert[files]; extra == 'test'"]
    monkeypatch.setattr(installation, "requires", lambda name: given)
    code, out, err = run("doctor")
    rows = [line.split() for line in out.splitlines()[5:]]
    assert (code, err) == (0, "") and out.startswith("dalembert ")
    assert ["numpy", version("numpy")] in rows and ["no-such-package", "not", "installed", "view"] in rows
    assert [row[-2:] for row in rows if row[0] == "h5py"] == [["files,", "test"]] and len(rows) == 3


def test_sources_that_are_not_installed_have_no_list(run, monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installation, "requires", absent)
    assert run("doctor")[0] == 0 and installation.required() == {}
