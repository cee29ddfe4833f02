"""`dalembert view`: the page until Ctrl-C, and runs from files."""

import re
import signal
import subprocess
import sys

import pytest

import dalembert as da
from dalembert.commandline import viewing

pytest.importorskip("viser", reason="viser is not installed (extra view)")


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C as soon as the page waits."""
    def interrupt():
        raise KeyboardInterrupt
    monkeypatch.setattr(viewing, "wait", interrupt)


def test_the_address_is_printed_and_control_c_ends_it(run, tmp_path, interrupted, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or len(opened) > 1)
    da.save(da.planar_chain(2), tmp_path / "arm.toml")
    code, out, err = run("view", tmp_path / "arm.toml", "--no-open")
    assert (code, err, opened) == (0, "", []) and re.match(r"http://127\.0\.0\.1:\d+  .Ctrl-C ends the viewer.\n", out)
    code, out, err = run("view", tmp_path / "arm.toml")
    assert code == 0 and opened == [out.split()[0]] and err.startswith("note: no browser is found")
    assert run("view", tmp_path / "arm.toml")[::2] == (0, "")


def test_control_c_ends_the_process_at_once_and_quietly(tmp_path):
    da.save(da.planar_chain(2), tmp_path / "arm.toml")
    heard = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", heard, sys.executable, "-m", "dalembert", "view", "arm.toml", "--no-open"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode in (0, 130) and err == ""


def test_runs_come_from_files(run, tmp_path, interrupted):
    pytest.importorskip("h5netcdf", reason="h5netcdf is not installed (extra files)")
    arm = da.planar_chain(2)
    da.save(arm, tmp_path / "arm.toml")
    da.simulate(arm, [0.5, 0.2], [0, 0], 0.1, control=lambda t, q, qd: -qd).to_netcdf(tmp_path / "run.nc")
    assert run("view", tmp_path / "arm.toml", tmp_path / "run.nc", "--no-open")[0] == 0      # its forces are not known


@pytest.mark.parametrize("arguments, code, message", [
    (["run.csv"], 2, "is no run that can be shown: expected a name that ends in .nc or .zarr"), (["run.nc"], 2, "there is no such file"), (["--port", "70000"], 2, "not in the range")])
def test_wrong_usage_is_a_line(run, tmp_path, arguments, code, message):
    da.save(da.planar_chain(2), tmp_path / "arm.toml")
    found, out, err = run("view", tmp_path / "arm.toml", *arguments, "--no-open")
    assert found == code and message in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("host", ["", "300.1.1.1", "192.0.2.1", "a..b"])
def test_a_host_of_another_machine_is_refused_at_once(run, tmp_path, host):
    da.save(da.planar_chain(2), tmp_path / "arm.toml")
    code, out, err = run("view", tmp_path / "arm.toml", "--no-open", "--host", host)
    assert code == 1 and f"host {host!r} is no address of this machine" in err and len(err.splitlines()) == 1
