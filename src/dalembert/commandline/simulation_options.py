"""Options of `dalembert simulate`, in groups."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

from dalembert.commandline.application import Option
from dalembert.commandline.shared_options import Q, Qd


class TypedState(NamedTuple):
    """Initial state and forces, as typed."""

    q: Q = None
    qd: Qd = None
    tau: Annotated[
        str | None,
        Option(
            metavar="TAU",
            help=("Constant joint forces, likewise; with --controller, added to its own."),
        ),
    ] = None
    controller: Annotated[
        str | None,
        Option(
            metavar="NAME", help=("Controller on all joints: pd, gravity-pd or computed-torque.")
        ),
    ] = None
    goal: Annotated[
        str | None,
        Option(
            metavar="Q", help=("Posture that the controller goes to, as --q [the initial one].")
        ),
    ] = None
    bandwidth: Annotated[
        float | None,
        Option(
            min=1e-9,
            metavar="RAD/S",
            help=(
                "Natural frequency that the controller gives each joint, critically damped [10]."
            ),
        ),
    ] = None
    sampled: Annotated[
        float | None,
        Option(
            min=1e-9,
            metavar="SECONDS",
            help=("Period at which the controller runs; its force is held in between [always]."),
        ),
    ] = None
    delay: Annotated[
        float | None,
        Option(
            min=0,
            metavar="SECONDS",
            help=("Time from a sample until its force takes effect, with --sampled [0]."),
        ),
    ] = None
    saturate: Annotated[
        bool,
        Option("--saturate", help="Forces of the drives stay within the limits of their efforts."),
    ] = False


class TypedSteps(NamedTuple):
    """Method, equations and contact, as typed."""

    method: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help=(
                "Integrator; an unknown name lists them [rk4; with a tolerance or constraints "
                "dop853; for stiff elastic links rodas5p]."
            ),
        ),
    ] = None
    formulation: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help=("Equations of motion: newton_euler [the default], lagrange, hamilton, ..."),
        ),
    ] = None
    h: Annotated[
        float,
        Option("--h", metavar="SECONDS", help=("Step; of methods that choose it, the first one.")),
    ] = 1e-3
    rtol: Annotated[
        float | None,
        Option(
            min=0,
            metavar="NUMBER",
            help=("Relative tolerance of methods that choose the step [1e-9; rodas5p 1e-6]."),
        ),
    ] = None
    atol: Annotated[
        float | None,
        Option(
            min=0, metavar="NUMBER", help=("Absolute tolerance of these [1e-12; rodas5p rtol/100].")
        ),
    ] = None
    longest_step: Annotated[
        float | None, Option(min=1e-300, metavar="SECONDS", help=("Greatest step of these."))
    ] = None
    stabilisation: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help=(
                "How constraints are met: projection [the default], baumgarte, ggl, none, "
                "null_space, partitioning; an unknown name lists all."
            ),
        ),
    ] = None
    time_constant: Annotated[
        float | None,
        Option(
            min=1e-300,
            metavar="SECONDS",
            help=("In which errors of constraints fade, with --stabilisation baumgarte."),
        ),
    ] = None
    friction: Annotated[
        str,
        Option(
            metavar="stick|sign",
            help=("Dry friction of a joint at rest: holds it up to the bound of its law, or is 0."),
        ),
    ] = "stick"
    stops: Annotated[bool, Option("--stops", help="Joints stop at their limits.")] = False


class Files(NamedTuple):
    """Records, and files of a run."""

    record: Annotated[
        float | None,
        Option(metavar="SECONDS", help=("Spacing of the records [a thousandth of the duration].")),
    ] = None
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            metavar="FILE",
            help=("Write the run: .csv, .nc (NetCDF) or, while it is computed, .zarr."),
        ),
    ] = None
    resume: Annotated[
        bool, Option("--resume", help=("Go on with a run in --output that was cut off (.zarr)."))
    ] = False
    plot: Annotated[
        Path | None, Option(metavar="FILE", help="Draw diagrams: .png, .svg or .pdf.")
    ] = None
    animate: Annotated[
        Path | None,
        Option(metavar="FILE", help=("Show the motion: .html (a page), .gif or .mp4 (a film).")),
    ] = None
    speed: Annotated[
        float,
        Option(
            min=1e-9,
            metavar="NUMBER",
            help=("Speed of the motion shown: 1 is real time, 0.1 ten times slower."),
        ),
    ] = 1.0
    magnify: Annotated[
        float,
        Option(
            min=1e-9,
            metavar="NUMBER",
            help=("Factor of the deflections of elastic bodies in the motion shown."),
        ),
    ] = 1.0


AT_REST, BY_DEFAULT, NO_FILES = TypedState(), TypedSteps(), Files()  # nothing typed
