"""Command line of dalembert: `dalembert demo | robots | info | check | dynamics | simulate | equations |
report | codegen | bench`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from dalembert import __version__
from dalembert.commandline import VectorError
from dalembert.commandline.application import Application, Argument, Option, UsageError
from dalembert.commandline.loading import existing, findings_of, load, numeric, tree_of
from dalembert.commandline.shared_options import (
    AS_USUAL,
    Base,
    Constraints,
    File,
    Gravity,
    Json,
    MeshFolders,
    Q,
    Qd,
    Qdd,
    Reading,
    Tau,
    Tolerance,
)
from dalembert.commandline.simulation_options import (
    AT_REST,
    BY_DEFAULT,
    NO_FILES,
    Files,
    TypedState,
    TypedSteps,
)
from dalembert.commandline.written_files import check_writable
from dalembert.errors import (
    DalembertError,
    DalembertWarning,
    MissingFileError,
    StoreError,
    UnknownNameError,
)

# Everything else is imported by the commands that need it, so that `dalembert --help` does not wait
# for it.

FAILED, USAGE, INTERRUPTED = 1, 2, 130
BARE: dict[str, Any] = {
    "mimic": "independent",
    "passive": False,
    "exact_angles": False,
}  # as all engines have a robot
INPUT_ERRORS = (MissingFileError, UnknownNameError, VectorError)

app = Application(
    "dalembert",
    __version__,
    "Equations of motion of multibody systems, from a robot file.",
    "Exit codes: 0 done; 1 bad content of a file or a failed computation; 2 wrong usage or a "
    "missing file. --debug anywhere, or DALEMBERT_DEBUG=1, shows the traceback of an error.",
)


@app.command
def demo(
    file: Annotated[
        Path | None, Argument("Another robot than the embedded Panda arm.", "FILE", existing)
    ] = None,
    folder: Annotated[
        Path,
        Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help=("Folder for what is written; made if there is none."),
        ),
    ] = Path("dalembert_demo"),
) -> None:
    """Show what the package does, on the embedded Panda arm.

    Prints the equations of two rods as textbooks have them; mass and Coriolis matrices, gravity vector and energies of the arm (or of FILE) at a
    random state, every identity that they must satisfy with its residual, a simulated motion under
    a controller with its power balance, the gravity vector in closed form, and the speed of the
    compiled functions beside the other engines that are installed; exit 1 if an identity fails.
    Writes into FOLDER the run, its diagrams, a page that shows the motion, and a report with all
    closed forms (of the Panda with its fingers locked).
    """
    from dalembert import data
    from dalembert.commandline.demonstration import (
        compare_speed,
        demonstrate,
        show_closed_forms,
        show_files,
        show_motion,
        show_textbook_arm,
    )

    path = data.path("panda") if file is None else file
    out = _console()
    mechanism = numeric(tree_of(load(path, quiet=True)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {str(folder)!r}: {error.strerror}.") from None
    if file is None:
        show_textbook_arm(out)
    holds = demonstrate(out, mechanism)
    written = show_motion(out, mechanism, folder)
    bare = mechanism if file is not None else mechanism.lock(["panda_finger_joint1"])
    written += show_closed_forms(out, bare, folder / "report.html")
    compare_speed(out, load(path, quiet=True, **BARE), path)
    show_files(out, written)
    if not holds:
        raise SystemExit(FAILED)


@app.command
def info(
    file: File,
    reading: Reading = AS_USUAL,
    quantities: Annotated[
        bool, Option("--quantities", help="List what can be computed, with shapes and units.")
    ] = False,
) -> None:
    """Show bodies, joints, frames, mass and constraints of a model.

    Degrees of freedom are counted by the rank of the constraints. Followers that were reduced and
    what of the file was not used are listed as well.
    """
    from dalembert.commandline.summary import summarize
    from dalembert.commandline.tables import show_findings

    mechanism = reading.load(file, quiet=True)
    out = _console()
    summarize(out, mechanism)
    if quantities:
        from dalembert.commandline.system_tables import show_quantities

        show_quantities(out, mechanism)
    show_findings(out, mechanism.check())


@app.command
def robots(as_json: Json = False) -> None:
    """List the embedded robots, whose names serve as FILE.

    Joints are listed by type: R revolute, C continuous, P prismatic, S spherical, F free.
    """
    from dalembert.commandline.embedded import overview, show_robots

    if as_json:
        print(json.dumps(overview(), indent=2))
    else:
        show_robots(_console())


@app.command
def check(
    file: File,
    as_json: Json = False,
    tolerance: Tolerance = None,
    constraints: Constraints = None,
    mesh_folders: MeshFolders = (),
    strict: Annotated[bool, Option("--strict", help="Fail on warnings as well.")] = False,
) -> None:
    """List faults of a file with line numbers.

    Exit 1 if there are errors, with --strict also if there are warnings.
    """
    findings = findings_of(file, tolerance, constraints, mesh_folders)
    count = {
        severity: sum(f.severity == severity for f in findings)
        for severity in ("error", "warning", "note")
    }
    if as_json:
        print(json.dumps([f.as_dict() for f in findings], indent=2))
    else:
        from dalembert.commandline.output import line
        from dalembert.commandline.tables import show_findings

        out = _console()
        show_findings(out, findings)
        line(
            out,
            ", ".join(f"{n} {severity}{'' if n == 1 else 's'}" for severity, n in count.items()),
        )
    if count["error"] or strict and count["warning"]:
        raise SystemExit(FAILED)


@app.command
def repair(
    file: File,
    output: Annotated[
        Path | None, Option("--output", "-o", metavar="FILE", help="Write the repaired file.")
    ] = None,
    write: Annotated[
        bool, Option("--write", help="Write it in place of FILE; without this, FILE stays.")
    ] = False,
    masses: Annotated[
        str | None, Option(metavar="LINK=KG,...", help="Masses of links, in place of theirs.")
    ] = None,
    from_shapes: Annotated[
        bool,
        Option("--from-shapes", help="Moments that are 0 follow from mass and shapes of the link."),
    ] = False,
) -> None:
    """Mend faults of a URDF file, and show what would change.

    Elements given twice, missing axes and limits, exchanged limits, and impossible inertias, which
    become the nearest possible ones of the same mass. Comments and layout stay. Prints the changes,
    a diff, and the errors and warnings that are left; writes nothing unless asked. Exit 1 if errors
    are left.
    """
    from dalembert.commandline.repairing import repaired, show
    from dalembert.commandline.typed_vectors import typed_numbers
    from dalembert.whole_files import whole_file

    if write and output is not None:
        raise UsageError("--write and --output exclude each other.")
    found = repaired(file, typed_numbers(masses, "--masses"), from_shapes)
    target = file if write else output
    if target is not None:
        try:
            with whole_file(target) as out:
                out.write(found.after)
        except OSError as error:
            raise UsageError(f"cannot write {str(target)!r}: {error.strerror}.") from None
    show(_console(), found, target)
    if any(finding.severity == "error" for finding in found.left):
        raise SystemExit(FAILED)


@app.command
def convert(
    file: File,
    output: Annotated[Path, Argument("File to write: .toml, .urdf, .xml (MJCF).", "OUT")],
    strict: Annotated[
        bool, Option("--strict", help="Fail where OUT cannot say all that FILE says.")
    ] = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Write a model in another format.

    A warning lists all that the format cannot say; a .toml file says everything.
    """
    from dalembert.commandline.output import line
    from dalembert.writers.save import ENDINGS, save

    with suppress(OSError):  # a file that is not there, or in a closed folder
        if output.samefile(file):
            raise UsageError(f"{str(output)!r} is FILE itself: name another file.")
    check_writable("OUT", output, ENDINGS)
    save(reading.load(file), output, strict)
    line(_console(), f"written to {output}")


@app.command
def dynamics(
    file: File,
    q: Q = None,
    qd: Qd = None,
    qdd: Qdd = None,
    tau: Tau = None,
    reading: Reading = AS_USUAL,
    gravity: Gravity = None,
    as_json: Json = False,
) -> None:
    """Compute M, C, g, and tau or qdd at one state.

    Inverse dynamics of --qdd (0 where not given) or, with --tau, forward dynamics; energies, bias
    and passive forces.
    """
    if qdd is not None and tau is not None:
        raise UsageError(
            "--qdd and --tau exclude each other: accelerations ask for inverse dynamics, forces "
            "for forward."
        )
    from dalembert.commandline.state import dynamics_at, show_dynamics

    mechanism = numeric(reading.load(file))
    quantities = dynamics_at(mechanism, q, qd, qdd, tau, gravity)
    if as_json:
        print(
            json.dumps(
                {k: v.tolist() if hasattr(v, "tolist") else v for k, v in quantities.items()},
                indent=2,
            )
        )
    else:
        show_dynamics(_console(), mechanism, quantities, "tau" if tau is None else "qdd")


@app.command
def simulate(
    file: File,
    t: Annotated[float, Option("--t", metavar="SECONDS", help="Duration.", show_default=False)],
    typed: TypedState = AT_REST,
    steps: TypedSteps = BY_DEFAULT,
    files: Files = NO_FILES,
    reading: Reading = AS_USUAL,
    as_json: Json = False,
) -> None:
    """Move a mechanism from a state for some time.

    Prints how the run went and the final state; exit 1 if it ended early, with what was computed
    until then.
    """
    from dalembert.commandline import simulation
    from dalembert.commandline.output import say
    from dalembert.simulation.options import Constraining, Contact, Model, Recording, Stepping

    simulation.check_files(files, t)
    model = Model(numeric(reading.load(file)), steps.formulation)
    with simulation.wrong_usage():
        stepping = Stepping(steps.method, steps.h, steps.rtol, steps.atol, steps.longest_step)
        recording = Recording(t, files.record, **simulation.streamed(files))
        constraining = Constraining(steps.stabilisation, steps.time_constant)
        contact = Contact(steps.friction, steps.stops or None)
        run = simulation.simulated(typed, model, contact, stepping, recording, constraining)
    try:
        written = simulation.write_files(files, run)
    except (OSError, StoreError) as error:
        raise UsageError(f"cannot write the run: {str(error).rstrip('.')}.") from None
    if as_json:
        print(json.dumps(simulation.as_json(run, written), indent=2))
    else:
        simulation.show(_console(), run, written)
    if run.reason != "finished":
        say("error", f"the run ended early: {run.reason}")
        raise SystemExit(FAILED)


@app.command
def view(
    file: File,
    run: Annotated[
        Path | None, Argument("Run that `simulate --output` wrote: .nc or .zarr.", "RUN")
    ] = None,
    port: Annotated[
        int, Option(min=0, max=65535, metavar="N", help="Port of the page; 0 is any free one.")
    ] = 0,
    host: Annotated[
        str,
        Option(metavar="HOST", help="Address of the page; another opens it to the network."),
    ] = "127.0.0.1",
    dark: Annotated[bool, Option("--dark", help="A dark page.")] = False,
    no_open: Annotated[bool, Option("--no-open", help="Open no browser.")] = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Show a model in the browser, until Ctrl-C.

    With sliders for its joints, and the equations with their values; with a RUN, its motion and
    diagrams. The page is of this machine alone. Needs pip install 'dalembert[view]'.
    """
    from dalembert.commandline.viewing import Page, run_of, show

    mechanism = reading.load(file)
    motion = None if run is None else run_of(mechanism, run)
    show(mechanism, motion, Page(port, host, dark, not no_open, reading.mesh_folders))


@app.command
def codegen(
    file: File,
    functions: Annotated[
        str,
        Option(
            metavar="NAMES",
            show_default=False,
            help=(
                "Quantities, separated by commas: inverse_dynamics,jacobian:tool; a comma of a "
                "frame's name is written '\\,'."
            ),
        ),
    ],
    target: Annotated[
        str, Option(help="Language: c (C99, with a test), numpy, llvm.", metavar="NAME")
    ] = "c",
    folder: Annotated[
        Path,
        Option(
            "--output", "-o", metavar="DIR", help="Folder for the files, made if there is none."
        ),
    ] = Path("."),
    prefix: Annotated[
        str | None,
        Option(
            metavar="NAME",
            show_default=False,
            help=("What names of functions and files begin with [the mechanism's name]."),
        ),
    ] = None,
    force: Annotated[
        bool, Option("--force", help="Overwrite files that are there with other text.")
    ] = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Write source code of functions of a model.

    Each quantity becomes one function that needs nothing but the language's mathematics (C: math.h;
    NumPy). With the C comes a test program: vectors evaluated with NumPy.
    """
    from dalembert.commandline.generation import TARGETS, write
    from dalembert.commandline.typed_vectors import typed_names

    if target not in TARGETS:
        raise UsageError(f"unknown target {target!r} (known: {', '.join(TARGETS)}).")
    mechanism = numeric(reading.load(file))
    try:
        write(_console(), mechanism, target, typed_names(functions), folder, prefix, force)
    except OSError as error:
        raise UsageError(f"cannot write to {str(folder)!r}: {error.strerror}.") from None


@app.command
def equations(
    file: File,
    symbols: Annotated[
        str | None,
        Option(
            metavar="NAMES",
            help=(
                "Numbers that become symbols, separated by commas: all, inertial, geometry, "
                "gravity, paths, patterns."
            ),
        ),
    ] = None,
    quantities: Annotated[
        str | None,
        Option(
            metavar="NAMES",
            help=(
                "Quantities, separated by commas, as mass_matrix,gravity_vector [all that are "
                "shown]; a comma of a frame's name is written '\\,'."
            ),
        ),
    ] = None,
    form: Annotated[
        str,
        Option(
            "--format", metavar="text|latex|mathml|python|sympy|report", help="What is printed."
        ),
    ] = "text",
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            metavar="FILE",
            help=("Write a document instead: .html, .tex, .md, .txt, .py, .pdf."),
        ),
    ] = None,
    formulation: Annotated[
        str,
        Option(
            metavar="NAME",
            help=(
                "Formulation whose numbers forms are compared with, and whose steps the report "
                "shows."
            ),
        ),
    ] = "newton_euler",
    budget: Annotated[
        int | None,
        Option(
            min=0, metavar="N", help=("Characters of a quantity up to which it is printed in full.")
        ),
    ] = None,
    reading: Reading = AS_USUAL,
) -> None:
    """Write the equations of motion in closed form.

    Every entry is compared with the compiled function at random states before it is shown.
    """
    from dalembert.closed_forms.equations import BUDGET
    from dalembert.commandline.equation_output import FORMATS, show
    from dalembert.commandline.typed_vectors import PATHS, typed_names

    if form not in FORMATS:
        raise UsageError(
            f"unknown format {form!r} (known: {', '.join(FORMATS)}); --output writes a document."
        )
    check_writable("--output", output)
    names = [*filter(None, typed_names(symbols or "", PATHS))]
    wanted = [*filter(None, typed_names(quantities or ""))]
    budget = BUDGET if budget is None else budget
    try:
        show(
            _console(),
            reading.load(file),
            names,
            wanted,
            form,
            output,
            budget,
            formulation,
        )
    except (OSError, ValueError) as error:
        if isinstance(error, DalembertError):
            raise
        why = getattr(error, "strerror", None)
        raise UsageError(f"cannot write {str(output)!r}: {why}." if why else str(error)) from None


@app.command
def report(
    file: File,
    output: Annotated[
        Path, Option("--output", "-o", metavar="FILE", help="Name of the page.", show_default=True)
    ] = Path("report.html"),
    without: Annotated[
        str | None,
        Option(
            metavar="NAMES",
            help="Sections to leave out, separated by commas: model, findings, equations, "
            "properties, motion, speed.",
        ),
    ] = None,
    q: Annotated[
        str | None,
        Option(metavar="Q", help="Coordinates at which the motion begins, in order or by name."),
    ] = None,
    t: Annotated[
        float | None, Option(metavar="SECONDS", help="Duration of the motion [4].")
    ] = None,
    reading: Reading = AS_USUAL,
) -> None:
    """Write a report on a model as an HTML page that opens anywhere.

    It has a picture and tables of the model, findings of the check, the equations of motion,
    properties checked with residuals, a simulated motion, speeds of the generated code, and how
    each number was obtained. The page needs neither a network nor scripts.
    """
    from dalembert.commandline.reporting import write_report

    check_writable("--output", output)
    mechanism = reading.load(file, quiet=True)
    try:
        write_report(_console(), mechanism, output, without, q, t)
    except (OSError, ValueError) as error:
        if isinstance(error, DalembertError):
            raise
        why = getattr(error, "strerror", None)
        raise UsageError(f"cannot write {str(output)!r}: {why}." if why else str(error)) from None


@app.command
def cache(clear: Annotated[bool, Option("--clear", help="Remove all entries.")] = False) -> None:
    """Show or clear the folder where compiled code is kept."""
    from dalembert.native import cache as kept

    if clear:
        print(f"{kept.clear()} entries removed")
    path, entries, size = kept.contents()
    print(
        f"{path}: {entries} entries, {size / 2**20:.1f} MiB" if path else f"off ({kept.VARIABLE})"
    )


@app.command
def doctor() -> None:
    """List versions and extras that are installed, for bug reports."""
    from dalembert.commandline.installation import show_installation

    show_installation(_console())


@app.command
def bench(
    file: File,
    base: Base = "fixed",
    states: Annotated[int, Option(min=1, metavar="N", help="Random states in a batch.")] = 8192,
    repeats: Annotated[
        int, Option(min=1, metavar="N", help="Rounds, in which all engines take turns.")
    ] = 15,
    as_json: Json = False,
) -> None:
    """Measure speed beside other engines.

    Inverse and forward dynamics and the mass matrix of a model by this package and by Pinocchio,
    MuJoCo and CasADi (which evaluates this package's expressions), as far as they are installed;
    results are compared first. Followers are independent joints here, and friction is left out.
    """
    from dalembert.commandline.measurement import measure, show

    mechanism = numeric(tree_of(load(file, quiet=True, base=base, **BARE)))
    found = measure(mechanism, file, base == "free", states, repeats)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        show(_console(), found)


def _console() -> Any:
    from dalembert.commandline.output import console

    return console(sys.stdout)


# --- the way in and out ---------------------------------------------------------------------------------------------


def main() -> None:
    """Run the command line: a line per error, the exit code says which kind."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `dalembert ... | head` ends without a word
    if sys.stdout is None:  # closed: what is printed goes nowhere
        sys.stdout = open(os.devnull, "w")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Exit code of a command line; errors are printed."""
    debug = "--debug" in arguments or os.environ.get("DALEMBERT_DEBUG", "") not in ("", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("always", DalembertWarning)
        warnings.showwarning = _show_warning
        try:
            return app.run([a for a in arguments if a != "--debug"])
        except KeyboardInterrupt:
            return INTERRUPTED
        except Exception as error:
            if debug:
                raise
            return _report(error)


def _report(error: Any) -> int:
    """The exit code of an error, after its line is printed."""
    from dalembert.commandline.output import say

    if isinstance(error, UsageError):
        say("error", f"{error} See {error.command} --help.")
        return USAGE
    if isinstance(error, DalembertError):
        say("error", error)
        return USAGE if isinstance(error, INPUT_ERRORS) else FAILED
    if isinstance(error, OSError) and error.filename is None:  # of the standard output
        say("error", f"cannot write what is printed: {error.strerror or error}.")
        return FAILED
    say(
        "error",
        f"internal fault, please report it: {type(error).__name__}: {error} (--debug shows where).",
    )
    return FAILED


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    from dalembert.commandline.output import say

    say(
        "warning",
        message if issubclass(category, DalembertWarning) else f"{category.__name__}: {message}",
    )


if __name__ == "__main__":
    main()
