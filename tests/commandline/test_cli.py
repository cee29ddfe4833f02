"""The command line as a user sees it: output, exit codes, one line per error."""

import contextlib
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import cli, data
from dalembert.commandline import VectorError
from dalembert.commandline.typed_vectors import typed_vector
from dalembert.displays import visible
from dalembert.reports.identities import identities

PANDA, UR5 = str(data.path("panda")), str(data.path("ur5"))
COMMAND = [sys.executable, "-m", "dalembert.cli"]


def fails(result, code, *parts):
    """Whether a command failed with one line that has all parts."""
    found, out, err = result
    assert (found, out) == (code, "")
    assert err.startswith("error: ") and err.count("\n") == 1
    for part in parts:
        assert part in err


# --- commands ---

@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What `dalembert demo` prints, and the folder it writes into, where no extra is installed."""
    folder, out, err = tmp_path_factory.mktemp("demo") / "new" / "folder", io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patched, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        for library in ("matplotlib", "xarray", "trimesh", "viser"):
            patched.setitem(sys.modules, library, None)
        patched.setattr("dalembert.commandline.measurement.installed", lambda: ())
        code = cli.run(["demo", "-o", str(folder)])
    assert (code, err.getvalue()) == (0, "")
    return out.getvalue(), folder


def test_demo_checks_every_identity_of_the_embedded_panda(demo):
    out, _ = demo
    assert out.index("g2 = 1/2 m2 l2 g c12") < out.index("mechanism panda")
    assert "stopped: finished" in out and "g2 = g (MY2 - p" in out
    assert out.count("PASS") == 10 and "FAIL" not in out and "10 of 10 identities hold" in out


def test_demo_writes_the_run_its_pictures_and_the_equations_with_the_base_installation(demo):
    out, folder = demo
    names = {"start.svg", "motion.html", "run.csv", "report.html"}
    assert {p.name for p in folder.iterdir()} == names and all(f"wrote {folder / name}: " in out for name in names)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert re.search(r'aria-label="p(\d+) = ', page)[1] == "1"      # parts are numbered as they come
    with (folder / "run.csv").open(encoding="utf-8", newline="") as file:
        *_, last = rows = list(csv.DictReader(file))
    energy = [float(row["kinetic energy"]) + float(row["potential energy"]) for row in rows]
    change = float(out.split("T + Pi changes by ")[1].split(" J")[0])
    work = float(out.split("friction do ")[1].split(" J")[0])
    assert change == pytest.approx(energy[-1] - energy[0], rel=1e-5) and work == pytest.approx(float(last["work"]), rel=1e-5)
    assert work == pytest.approx(change, abs=1e-3) and abs(work) > 1 and float(last["time"]) >= 2
    assert "limits of effort: obeyed, none reached" in out and "passed limits" not in out


def test_demo_says_where_it_cannot_write(run, tmp_path):
    (tmp_path / "file").write_text("")
    fails(run("demo", "-o", str(tmp_path / "file")), 2, "cannot write to", "File exists")


def test_demo_fails_when_an_identity_does_not_hold(run, monkeypatch, tmp_path):
    right = da.coriolis_matrix
    monkeypatch.setattr(da, "coriolis_matrix", lambda *state: right(*state) * (1 + 1e-8))
    da.save(da.planar_chain(2), tmp_path / "arm.toml")
    code, out, _ = run("demo", str(tmp_path / "arm.toml"), "-o", str(tmp_path))
    assert code == 1 and out.count("FAIL") == 2 and "8 of 10 identities hold" in out      # the bias force and skewness


@pytest.mark.parametrize("seed", range(4))
def test_identities_hold_on_trees_of_every_joint_type(seed):
    m = da.random_tree(seed, 13)
    q, qd = m.random_state(seed)
    assert [i for i in identities(m, q, qd, np.ones(m.nv)) if not i.holds] == []


def test_info_names_followers_and_what_was_not_used(run):
    code, out, err = run("info", PANDA)
    assert (code, err) == (0, "")
    for part in ("nq 8, nv 8", "moving mass: 16.8221 kg", "-3.0718 to -0.0698", "viscous 0.003", "<dynamics mu_viscous>",
                 "follower panda_finger_joint2: q = 1 q(panda_finger_joint1) + 0", "line 24"):
        assert part in out


def test_info_shows_a_free_base(run):
    assert "root_joint" in run("info", UR5, "--base", "free")[1]


def test_check_exits_with_1_for_errors_and_for_warnings_only_if_strict(run, tmp_path):
    assert run("check", PANDA)[0] == 0
    assert run("check", PANDA, "--strict")[0] == 1
    bad = tmp_path / "bad.urdf"
    bad.write_text(Path(UR5).read_text().replace('izz="', 'izz="-'))
    code, out, err = run("check", str(bad))
    assert (code, err) == (1, "") and "error: body" in out and f"{bad}, line " in out


def test_check_json_is_a_list_of_findings_with_file_and_line(run):
    code, out, _ = run("check", PANDA, "--json")
    findings = json.loads(out)
    assert code == 0 and {f["severity"] for f in findings} == {"note", "warning"}
    assert all(list(f) == ["severity", "what", "file", "line", "why", "fix"] and f["file"] == "panda/panda.urdf" and f["line"] > 0
               for f in findings)


@pytest.mark.parametrize("text, line, why", [
    ("<robot name='x'>\n<link name='a'/>\n<link>\n</robot>", 4, "not well-formed XML"),
    ("<robot name='x'>\n<link name='a'/>\n<joint/>\n</robot>", 3, "no attribute 'name'"),
    ("<robot name='x'>\n<link name='a'/><link name='b'/></robot>", 2, "2 bodies without a parent")])
def test_check_reports_a_file_that_cannot_be_read_as_a_finding(run, tmp_path, text, line, why):
    file = tmp_path / "x.urdf"
    file.write_text(text)
    code, out, err = run("check", str(file), "--json")
    (finding,) = json.loads(out)
    assert (code, err) == (1, "") and (finding["severity"], finding["file"], finding["line"]) == ("error", str(file), line)
    assert why in finding["why"]
    fails(run("info", str(file)), 1, f"{file}, line {line}", why)


def test_an_embedded_robot_is_known_by_name(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert run("info", "panda") == run("info", PANDA)
    fails(run("info", "pandax"), 2, "pandax: there is no such file, and no embedded robot of that name (known: panda, ur5, ", "Did you mean 'panda'?")
    fails(run("info", "panda.urdf"), 2, "panda.urdf: there is no such file.")
    (tmp_path / "panda").write_text("<robot name='mine'><link name='a'/></robot>")      # a file of that name comes first
    assert "mechanism mine" in run("info", "panda")[1]


def test_angle_tolerance_reads_rounded_angles(run, tmp_path):
    file = tmp_path / "few.urdf"
    file.write_text(re.sub(r"1\.570796\d*", "1.5708", Path(UR5).read_text()).replace("3.14159265359", "3.1416"))
    assert "read as exact multiples" not in run("check", str(file))[1]
    code, out, _ = run("check", str(file), "--angle-tolerance", "1e-5")
    assert code == 0 and "read as exact multiples of pi/12; the largest difference is -7.3e-06 rad" in out
    for wrong in ("0.2", "nan", "-1"):
        code, _, err = run("check", str(file), "--angle-tolerance", wrong)
        assert code == 2 and "--angle-tolerance" in err


def test_degrees_typed_as_coordinates_are_asked_about(run):
    for command in (("dynamics", UR5), ("simulate", UR5, "--t", "0.01")):
        code, _, err = run(*command, "--q", "elbow_joint=170")
        assert code == 0 and "warning: joint 'elbow_joint' is at 170 rad, 27.1 full turns. Are these degrees?" in err


def test_dynamics_json_has_every_quantity_with_all_digits(run):
    arm = da.load(UR5)
    q, qd = arm.random_state(3)
    q, qd = np.round(q, 6), np.round(qd, 6)

    def typed(v):
        return ",".join(map(str, v))

    code, out, _ = run("dynamics", UR5, "--q", typed(q), "--qd", typed(qd), "--qdd", typed(q), "--json")
    values = json.loads(out)
    assert code == 0 and values["mechanism"] == "ur5"
    for name, expected in (("mass_matrix", da.mass_matrix(arm, q)), ("coriolis_matrix", da.coriolis_matrix(arm, q, qd)),
                           ("gravity_vector", da.gravity_vector(arm, q)), ("q", q), ("qd", qd), ("qdd", q),
                           ("tau", da.inverse_dynamics(arm, q, qd, q)), ("bias_force", da.bias_force(arm, q, qd)),
                           ("kinetic_energy", da.kinetic_energy(arm, q, qd))):
        assert np.array_equal(values[name], expected)
    forward = json.loads(run("dynamics", UR5, "--q", typed(q), "--qd", typed(qd), "--tau", typed(q), "--json")[1])
    assert np.array_equal(forward["qdd"], da.forward_dynamics(arm, q, qd, q))


def test_dynamics_prints_names_and_matrices(run):
    code, out, err = run("dynamics", UR5, "--q", "elbow_joint=0.5", "--gravity", "0,0,-1.62")
    assert (code, err) == (0, "")
    assert "elbow_joint" in out and "Mass matrix M" in out and "Coriolis matrix C" in out and "tau by inverse" in out


# --- vectors as typed ---

def test_vectors_are_typed_in_order_or_by_name():
    m = da.random_tree(0, 4, joints=("revolute", "free", "planar"))
    names, q = m.coordinate_names, m.neutral()

    def typed(text):
        return typed_vector(text, "--q", names, q, m)

    assert np.array_equal(typed(None), q)
    assert np.array_equal(typed(",".join(str(k / 8) for k in range(m.nq))), np.arange(m.nq) / 8)
    named = typed(f" {names[1]} = -0.5 ,{names[0]}=1e-3")
    assert (named[0], named[1]) == (1e-3, -0.5) and np.array_equal(named[2:], q[2:])


@pytest.mark.parametrize("text, message", [
    ("1,2", "--q has 2 numbers, expected 8"), ("", "--q has 0 numbers"), ("1,,3,4,5,6,7,8", "'' is not a decimal number"),
    ("panda_joint1=inf", "--q panda_joint1: 'inf' is not a decimal"), ("panda_joint1=1,2", "'2' is not of the form"),
    ("panda_joint1=1,panda_joint1=2", "gives 'panda_joint1' twice"), ("panda_joint1=1e400", "too large"),
    ("panda_joint=1", "Did you mean 'panda_joint"), ("panda_joint8=1", "fixed and has no entry"),
    ("panda_finger_joint2=1", "follows 'panda_finger_joint1'")])
def test_a_vector_that_does_not_fit_is_wrong_usage(run, text, message):
    code, out, err = run("dynamics", PANDA, "--q", text)
    warning, error = err.splitlines(keepends=True)                 # of the file, then of the vector
    assert warning.startswith("warning: not used")
    fails((code, out, error), 2, message)


def test_names_may_hold_spaces_commas_equal_signs_and_any_letters():
    link = da.Body("a", 1.0, (1, 0, 0))
    m = da.Mechanism("m", (da.Body("0"), link), (da.Joint("плечо, x=y", da.Revolute(), "0", "a"),))
    assert typed_vector("плечо, x=y=0.5", "--q", m.coordinate_names, m.neutral(), m) == [0.5]
    with pytest.raises(VectorError, match="is not of the form"):
        typed_vector("плечо, x=y=0.5,1", "--q", m.coordinate_names, m.neutral(), m)
    two = da.Mechanism("m", (da.Body("0"), link, da.Body("b", 1.0)), (da.Joint("a=1,b", da.Revolute(), "0", "a"),
                                                                      da.Joint("a", da.Revolute(), "a", "b")))
    typed = typed_vector(" a=1,b = 0.25, a=0.5", "--q", two.coordinate_names, two.neutral(), two)
    assert typed.tolist() == [0.25, 0.5]                               # a name that another one begins with


def test_names_may_be_typed_as_tables_and_errors_show_them():
    names = ("a\nb", r"a\nb", "c\td=e", "плечо", "f\\\n", "\x1b[0m")
    parts = [da.Body("0"), *(da.Body(f"b{k}", 1.0, (1, 0, 0)) for k in range(len(names)))]
    m = da.Mechanism("m", parts, [da.Joint(n, da.Revolute(), f"b{k - 1}" if k else "0", f"b{k}") for k, n in enumerate(names)])

    def typed(text):
        return typed_vector(text, "--q", m.coordinate_names, m.neutral(), m).tolist()

    assert typed("a\nb=1") == [1, 0, 0, 0, 0, 0] and typed(r"a\nb=1") == [0, 1, 0, 0, 0, 0]      # the name that is so
    assert typed(r"c\td=e=2, \u043f\u043b\u0435\u0447\u043e=3") == [0, 0, 2, 3, 0, 0]
    assert typed(visible(names[4]) + "=4," + repr(names[5])[1:-1] + "=5") == [0, 0, 0, 0, 4, 5]
    assert typed(repr(names[4])[1:-1] + "=4") == [0, 0, 0, 0, 4, 0]
    with pytest.raises(VectorError, match="gives .* twice"):
        typed("c\td=e=1," + r"c\td=e=2")


def test_a_quaternion_of_wrong_length_is_wrong_usage(run):
    fails(run("dynamics", UR5, "--base", "free", "--q", "root_joint.w=0.5"), 2, "--q: the quaternion of joint 'root_joint'")


# --- errors and exit codes ---

def test_wrong_usage_is_one_line_and_exit_2(run):
    fails(run("chekc", UR5), 2, "No such command 'chekc'")
    fails(run("check"), 2, "Missing argument", "dalembert check --help")
    fails(run("check", UR5, "--jsno"), 2, "No such option")
    fails(run("dynamics", UR5, "--qdd", "1", "--tau", "1"), 2, "exclude each other")
    fails(run("dynamics", UR5, "--base", "frei"), 2, "Did you mean 'free'?")


@pytest.mark.parametrize("typed, hint", [
    ("simulate cartpole --time 1", "Did you mean '--t'?"), ("simulate cartpole --duration 1", "Did you mean '--t'?"),
    ("simulate cartpole --t 1 --dt 1e-3", "Did you mean '--h'?"), ("simulate cartpole 2", "Did you mean --t 2?"),
    ("simulate cartpole --t 1 --integrator rk4", "Did you mean '--method'?"),
    ("simulate cartpole --t 1 --tau 1 2", "joined by commas"), ("dynamics cartpole --q 0,90deg", "90deg is 1.5708."),
    ("dynamics cartpole --q cart_to_pole=-90°", "-90° is -1.5708."), ("dynamics cartpole --q 1", "--q has 1 number, expected 2"),
    ("codegen cartpole mass_matrix", "Did you mean --functions mass_matrix?"), ("view run.nc cartpole", "FILE is the model, and comes first"),
    ("info run.zarr", "'run.zarr' is a run"), ("convert cartpole x.foo", "must end in .toml"), ("convert cartpole no/x.urdf", "there is no folder 'no'"),
    ("info cartpole --mesh-folders no", "no: there is no such folder"), ("equations cartpole --format html", "--output writes a document"),
])
def test_a_usual_mistake_is_told_how_to_mend(run, typed, hint):
    fails(run(*typed.split()), 2, hint)


def test_a_missing_file_is_exit_2(run):
    for command in ("info", "check", "dynamics", "demo"):
        fails(run(command, "no such.urdf"), 2, "no such.urdf: there is no such file.")


@pytest.mark.parametrize("command", [["dynamics"], ["simulate", "--t", "1"], ["codegen", "--functions", "mass_matrix"],
                                     ["bench"], ["demo"]])
def test_a_command_that_needs_numbers_names_the_symbols_of_a_file(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rod.toml").write_text('name = "rod"\nbody = [{name = "base"}, {name = "rod", mass = "m", com = ["l", 0, 0], inertia = {xx = 0, yy = 0, zz = 0}}]\n'
                                       'joint = [{name = "q", type = "revolute", parent = "base", child = "rod", axis = [0, 1, 0]}]')
    fails(run(command[0], "rod.toml", *command[1:]), 1, "mechanism 'rod' has symbols (l, m)", "dalembert equations")
    assert [f.name for f in tmp_path.iterdir()] == ["rod.toml"]


def test_equations_say_once_where_they_cannot_be_written(run, tmp_path):
    fails(run("equations", "scara", "-o", str(tmp_path / "x.docx")), 2,
          "error: cannot write 'x.docx': known endings are .html")
    fails(run("equations", "scara", "-o", str(tmp_path / "no" / "x.txt")), 2, "there is no folder")


def test_all_equations_as_text_end_with_the_meaning_of_names(run):
    code, out, _ = run("equations", "cartpole")
    assert code == 0 and re.search(r"^MZ2 +pole: m cz, grouped +kg m +0\.05$", out.split("Symbols\n")[1], re.MULTILINE)
    assert "Symbols" not in run("equations", "cartpole", "--quantities", "gravity_vector")[1]


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "dalembert", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"dalembert {da.__version__}\n"


def test_a_failed_computation_is_exit_1(run, tmp_path):
    file = tmp_path / "massless.urdf"
    file.write_text("<robot name='x'><link name='a'/><link name='b'/><joint name='j' type='continuous'>"
                    "<parent link='a'/><child link='b'/></joint></robot>")
    code, out, err = run("dynamics", str(file), "--tau", "1")
    warning, error = err.splitlines()
    assert (code, out) == (1, "") and warning.startswith("warning: body 'b'") and error.startswith("error: joint 'j'")


def test_help_and_version(run):
    code, out, _ = run("--help")
    assert code == 0 and all(command in out for command in ("demo", "info", "check", "dynamics", "--debug"))
    assert run("--version")[:2] == (0, f"dalembert {da.__version__}\n")
    assert run()[0] == 2


def test_an_internal_fault_is_one_line_unless_debug(run, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(da, "load", broken)
    fails(run("info", UR5), 1, "internal fault", "RuntimeError: two\\nlines")
    for arguments, environment in ((("info", UR5, "--debug"), "0"), (("info", UR5), "1")):
        monkeypatch.setenv("DALEMBERT_DEBUG", environment)
        with pytest.raises(RuntimeError):
            cli.run(arguments)


# --- terminals, pipes, locales ---

@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
                                    {"PYTHONIOENCODING": "cp1252"}], ids=["C", "ASCII", "cp1252"])
def test_any_name_in_any_locale_is_literal(tmp_path, locale):
    file = tmp_path / "рука.urdf"
    file.write_text("<robot name='[red]рука[/red]'><link name='a'/><link name='b'><inertial><mass value='1'/>"
                    "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
                    "<joint name='плечо 1' type='continuous'><parent link='a'/><child link='b'/></joint></robot>", "utf-8")
    command = [*COMMAND, "dynamics", file, "--q", "плечо 1=0.5"]
    done = subprocess.run(command, capture_output=True, env={**os.environ, **locale})
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"[red]" in done.stdout and b"\x1b" not in done.stdout and b"0.5" in done.stdout


def test_escapes_of_a_hostile_file_do_not_reach_the_terminal():
    assert visible("a\x1b[2J\nb\u202e") == r"a\x1b[2J\nb\u202e"


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX pipes, signals and terminals")
class TestPosix:
    def test_a_closed_pipe_ends_the_program_without_a_word(self, tmp_path):
        shell = f"set -o pipefail; '{sys.executable}' -m dalembert.cli demo -o {tmp_path} | head -1"
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("Two uniform rods in a vertical plane, M(q) qdd + h(q, qd) + g(q) = tau\n", "")
        assert done.returncode in (0, 128 + signal.SIGPIPE)

    def test_an_interrupt_is_exit_130_without_a_traceback(self, tmp_path):
        heard = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
        command = [sys.executable, "-c", heard, *COMMAND, "check", "/dev/stdin"]      # ignored in some CI
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(4)                                      # it waits for its input
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
        assert child.returncode == 130 and b"Traceback" not in out + err

    @pytest.mark.parametrize("columns", [80, pytest.param(100, marks=pytest.mark.slow)])
    def test_tables_fit_the_terminal_with_every_cell_whole(self, columns):
        self.assert_fits(["info", "panda"], columns, ("panda_hand_tcp_joint", "-3.0718 to -0.0698", "viscous 0.003"))

    @pytest.mark.slow
    def test_tables_of_the_demo_fit_the_terminal_with_every_cell_whole(self, tmp_path):
        self.assert_fits(["demo", "-o", str(tmp_path)], 80, ("panda_hand_tcp_joint", "-3.0718 to -0.0698", "viscous 0.003", "PASS"))

    @staticmethod
    def assert_fits(arguments, columns, texts):
        shown = terminal([*COMMAND, *arguments], columns)
        wide = [row for row in shown.splitlines() if len(row) > columns and not row.startswith(("warning: ", "note: ", "wrote "))]
        assert not wide                                                      # but for whole paths
        for text in texts:
            assert text in shown

    def test_a_bar_shows_how_far_a_simulation_is(self):
        command = [*COMMAND, "simulate", UR5, "--t", "0.1"]
        shown = terminal(command, 80)
        assert "t = 0.1 s" in shown and "100%" in shown
        piped = subprocess.run(command, capture_output=True, text=True)
        assert piped.stderr == "" and piped.stdout.startswith("1 trajectory of 'ur5'")


def terminal(command, columns):
    """What a command shows on a terminal of that many columns, without colours."""
    import fcntl
    import pty
    import re
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")} | {"TERM": "xterm"}
    child = subprocess.Popen(command, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:                                    # Linux: the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(leader)
    assert child.wait() == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())


