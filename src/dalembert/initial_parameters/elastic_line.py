"""`elastic_line`: motion of elastic links by the hybrid equations of their source."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dalembert.arguments import check_choice, check_flag, check_instance, check_whole, vector
from dalembert.errors import DalembertWarning, OverflowedError, UnknownNameError, caller_level
from dalembert.initial_parameters.boundary_problem import Drive
from dalembert.initial_parameters.houbolt import houbolt_damping
from dalembert.initial_parameters.line_run import LineRun, run_of
from dalembert.initial_parameters.line_steps import (
    LineRecord,
    LineState,
    Scheme,
    StepEnd,
    about,
    beginning,
    equilibrium,
    hinge_axes,
    next_state,
    record_of,
    steady,
)
from dalembert.initial_parameters.link_fields import Grid
from dalembert.initial_parameters.link_reading import levels_of, read_row
from dalembert.initial_parameters.link_row import LinkRow
from dalembert.integrators.methods import METHODS
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.options import Recording, check_number
from dalembert.spatial.arrays import Values, in_order

STEP = 2.5e-3  # s, the source's
SEGMENTS = 100  # along each link, the source's
PASSES = 4  # solutions of the boundary problem in a step; the source's printed scheme has 1
PIECE = 5.0  # growth exponent between two orthogonalisations
MOST_GROWTH = 10.0  # beyond it, solutions between orthogonalisations lose half of all digits
COARSE = 1.0  # growth exponent over an interval, beyond which a Runge-Kutta step is too coarse
DAMPED = 5e-3  # numerical damping ratio of a link's first frequency that is told
FOLLOWED = 0.13  # omega h at which Houbolt's damping ratio is about 1e-3
LARGE = 0.2  # deflection by length that is told
TORN = 10.0  # deflection by length at which the motion is no longer computed
ANGLES = ("axes", "sections")

Given = Mapping[str, float | Callable[[float], float]]


def elastic_line(
    mechanism: Mechanism,
    q: Values,
    qd: Values,
    t: float | Values,
    control: Callable[..., Any] | Values | None = None,
    *,
    h: float = STEP,
    record: float | None = None,
    segments: int = SEGMENTS,
    passes: int = PASSES,
    orthogonalisations: int | None = None,
    products: bool = True,
    angles: str = "axes",
    accelerations: Given | None = None,
    at_rest: bool = False,
) -> LineRun:
    """Motion of a row of elastic links by the hybrid system of ordinary and partial differential
    equations: a method for comparison with its source, where `simulate` is for everyday use.

        EI y'''' - (N y')' = -rho F (a + eps x + omega_x omega x + y_tt + gravity)

    in the axes of each link, tangent to it at its root, with quasi-static stretch and twist;
    deflections are small, angles of hinges are not. Houbolt's method in time makes the fields a
    boundary problem of all links, which the initial-parameter method solves with Godunov's
    orthogonalisation; Adams' predictor and corrector integrate the angles. docs/elastic_line.md
    derives it and measures its errors. Elastic Coriolis forces are left out, as in the source.

    Parameters
    ----------
    mechanism : Mechanism
        A row of beams without damping, each on a revolute joint at the tip of the one before, and
        rigid bodies fixed to the last tip. Each beam needs EIy, EIz and mass_per_length; without GJ
        it does not twist.
    q, qd : (nq,), (nv,) arrays
        Initial state [rad, m; rad/s, m/s]; coordinates of modes give the links their first shape.
        Before it, all went on at steady rates.
    t : float or sequence of float
        Duration from 0, or times of the records at equal distances [s].
    control : function (t, q, qd) -> (N,), or numbers (N,), optional
        Moments of the hinges [N m] at their angles and rates (N,) [rad, rad/s].
    h : float
        Step [s], shortened so that records fall on steps.
    record : float, optional
        Spacing of the records of a duration [s], which it divides.
    segments : int
        Intervals along each link.
    passes : int
        Solutions of the boundary problem in each step; 1 is the printed scheme, which fails after
        links have become aligned.
    orthogonalisations : int, optional
        Along each link; by default one for every growth of the solutions by exp(5); 0: none.
    products : bool
        Whether there are the accelerations omega_x omega_y x and omega_x omega_z x, which the source
        leaves out and spatial motion needs.
    angles : str
        Integrated angles: between the axes of links ('axes'), or of hinges alone ('sections'), which
        bear fast moments badly.
    accelerations : {joint: number or function of t}, optional
        Accelerations of hinges that are given [rad/s^2]; their moments are found.
    at_rest : bool
        Begin in the equilibrium of the bent links with hinges held at q.

    Returns
    -------
    LineRun
        K records of N links.

    Raises
    ------
    ModelError, UnknownNameError
        The mechanism is no such row; there is no joint of that name.
    ShapeError, TypeError, ValueError
        An argument is no state, time or option.
    SingularMassMatrixError
        A joint turns nothing that has inertia.
    OverflowedError
        Numbers are no longer finite; the message says when, and what to do.

    Warns
    -----
    DalembertWarning
        Solutions grow by more than rounding bears between orthogonalisations; the step damps the
        first frequency of a link.

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(0.8, EIy=129.4, EIz=129.4, mass_per_length=0.2466)
    >>> hinge = da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "link")
    >>> arm = da.Mechanism("arm", (da.Body("base"), da.Body("link", beam=beam, modes=0)), (hinge,))
    >>> run = da.elastic_line(arm, [0.0], [0.0], 0.05, control=[1.0], segments=20)
    >>> run.w.shape, bool(run.w[-1, 0, -1] > 0)     # record, link, node: the tip lags behind
    ((21, 1, 21), True)
    """
    _check(h, segments, passes, orthogonalisations, products, angles, at_rest)
    check_instance("mechanism", mechanism, Mechanism, "a da.Mechanism of beams")
    read = read_row(mechanism)
    row, n = read.row, len(read.row)
    drive = _drive(row, control, accelerations)
    q = vector(in_order(q, "q", mechanism.coordinate_names), "q", mechanism.nq)
    qd = vector(in_order(qd, "qd", mechanism.velocity_names), "qd", mechanism.nv)
    times, step, repeats = _schedule(t, record, h, n * segments)
    scheme = Scheme(
        step,
        _grid(row, step, segments, orthogonalisations),
        passes,
        products,
        _counted(row, angles, accelerations or {}),
        drive,
    )
    _warn_of_step(row, scheme)
    levels = levels_of(mechanism, read.bodies, scheme.grid.x, q, qd, step)
    state = _start(scheme, times[0], q[:n], qd[:n], levels)
    run = run_of(
        row,
        read.root,
        scheme.grid.x,
        times,
        _records(row, scheme, state, len(times), repeats, at_rest),
    )
    _warn_of_deflections(run)
    return run


def _check(h, segments, passes, orthogonalisations, products, angles, at_rest) -> None:
    """See that options are of their kinds."""
    check_number("h", h)
    check_whole("segments", segments, 1)
    check_whole("passes", passes, 1)
    if orthogonalisations is not None:
        check_whole("orthogonalisations", orthogonalisations, 0)
    check_flag("products", products)
    check_flag("at_rest", at_rest)
    check_choice("angles", angles, ANGLES)


def _schedule(t, record, h: float, size: int) -> tuple[np.ndarray, float, int]:
    """Times of the records, the step [s], and the number of steps between records."""
    if np.size(t) > 2 and not np.allclose(np.diff(t, 2), 0, atol=1e-9 * np.ptp(t)):
        raise ValueError("times t are not at equal distances, and the method has one step.")
    schedule = Recording(t, record).schedule(h, METHODS["rk4"], size, np.inf)
    if schedule.last is not None:
        raise ValueError(
            f"record={record!r} does not divide t={t!r}, and the method has one step: give another "
            "spacing of the records."
        )
    return np.asarray(schedule.times[:]), schedule.pace.h, schedule.pace.repeats


def _grid(row: LinkRow, h: float, segments: int, orthogonalisations: int | None) -> Grid:
    """Nodes, with an orthogonalisation for every growth by exp(PIECE) where none are given."""
    growth = float(_growth(row, h).max())
    nodes = int(growth / PIECE) if orthogonalisations is None else orthogonalisations
    return Grid.of(row, segments, nodes)


def _growth(row: LinkRow, h: float) -> np.ndarray:
    """Exponents by which solutions grow from root to tip, b l / sqrt 2 (N, 2)."""
    return row.growth(1 / h**2) * row.length[:, None] / np.sqrt(2)


def _counted(row: LinkRow, angles: str, accelerations: Given) -> np.ndarray:
    """Axes of the hinges about which rotations of tips count in the integrated angles (N, 3); 0 of those
    with given accelerations, which are integrated as they are.
    """
    axes = hinge_axes(row)
    for n, name in enumerate(row.joint_names):
        if angles == "sections" or name in accelerations:
            axes[n] = 0
    return axes


def _drive(row: LinkRow, control, accelerations: Given | None) -> Callable[..., Drive]:
    """Moments and given accelerations of the hinges as a function (t, q, qd)."""
    n = len(row)
    constant = None
    if not callable(control):
        constant = vector(np.zeros(n) if control is None else control, "control", n)
    prescribed = _prescribed(row, accelerations)
    given = np.array([name in prescribed for name in row.joint_names])

    def drive(t, q, qd):
        """At a time, angles and rates of the hinges."""
        moment = constant
        if moment is None:  # of a state that is not finite, which the end of the step tells
            finite = np.isfinite(q).all() and np.isfinite(qd).all()
            moment = vector(control(t, q, qd), "control(t, q, qd)", n) if finite else np.zeros(n)
        values = np.zeros(n)
        for name, acceleration in prescribed.items():
            values[row.joint_names.index(name)] = acceleration(t)
        return Drive(given, values, moment)

    return drive


def _prescribed(row: LinkRow, accelerations: Given | None) -> dict[str, Callable[[float], float]]:
    """Given accelerations of hinges as functions of t, which raise where they give no number."""
    accelerations = {} if accelerations is None else accelerations
    check_instance("accelerations", accelerations, Mapping, "{joint: number or function of t}")

    def checked(name, value):
        """Acceleration as a function."""

        def acceleration(t):
            """At a time."""
            number = value(t) if callable(value) else value
            return vector([number], f"accelerations[{name!r}]", 1)[0]

        return acceleration

    for name in accelerations:
        if name not in row.joint_names:
            raise UnknownNameError("joint", name, row.joint_names)
    return {name: checked(name, value) for name, value in accelerations.items()}


def _start(scheme: Scheme, t, q, qd, levels) -> LineState:
    """State to begin with."""
    theta = levels[2]
    turn = q + about(scheme.hinge, theta.last)
    rate = qd + about(scheme.hinge, (theta.last - theta.before) / scheme.h)
    return steady(float(t), turn, rate, levels)


def _records(
    row, scheme: Scheme, state: LineState, count: int, repeats: int, at_rest: bool
) -> list[LineRecord]:
    """Records of the motion from a state."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if at_rest:
            state = equilibrium(row, scheme, state)
        end = beginning(row, scheme, state)
        records = [record_of(row, scheme, end)]
        while len(records) < count:
            for _ in range(repeats):
                end = next_state(row, scheme, end.state)
                _check_finite(row, scheme, end)
            records.append(record_of(row, scheme, end))
    return records


def _check_finite(row: LinkRow, scheme: Scheme, end: StepEnd) -> None:
    """See that a step has left numbers, and deflections that are no nonsense."""
    deflection = np.abs(end.fields[..., 0]).max(axis=(0, 2))
    if np.isfinite(end.state.turn).all() and (deflection < TORN * row.length).all():
        return
    growth = _growth(row, scheme.h).max() / (len(scheme.grid.orthogonal) + 1)
    if growth > MOST_GROWTH:
        advice = (
            f"solutions grow by exp({growth:.1f}) between orthogonalisations: leave their number "
            "to the method (orthogonalisations=None) and give more segments"
        )
    elif scheme.passes < PASSES:
        advice = f"passes={scheme.passes} leave N of the pass before: give passes={PASSES}"
    else:
        advice = (
            "without damping the motion of aligned links is violent: try a smaller h=, or "
            "da.simulate with damping of the beams"
        )
    raise OverflowedError(
        f"elastic_line: deflections of {deflection.max():.3g} m or numbers that are not finite at "
        f"t = {end.state.t:g} s with h = {scheme.h:g} s; {advice}."
    )


def _warn_of_step(row: LinkRow, scheme: Scheme) -> None:
    """Warn of growth that rounding or intervals do not bear, and of vibrations that the step damps."""
    h = scheme.h
    growth = _growth(row, h)
    piece = float(growth.max()) / (len(scheme.grid.orthogonal) + 1)
    if piece > MOST_GROWTH:
        _warn(
            f"solutions along link {_largest(row, growth)!r} grow by exp({piece:.1f}) between "
            f"orthogonalisations, and lose {2 * piece / np.log(10):.0f} digits: leave out "
            "orthogonalisations=, or give a larger h="
        )
    interval = float(growth.max()) / (len(scheme.grid.x) - 1)
    if interval > COARSE:
        _warn(
            f"solutions along link {_largest(row, growth)!r} grow by exp({interval:.2g}) over an "
            f"interval, too much for its Runge-Kutta step: give segments={int(growth.max() / COARSE * 4)} "
            "or more"
        )
    frequencies = row.first_frequencies()
    effect = houbolt_damping(frequencies, h)
    if effect.damping_ratio.max() > DAMPED:
        n, plane = np.unravel_index(np.argmax(frequencies), frequencies.shape)
        omega = frequencies[n, plane]
        ratio, slower = effect.damping_ratio[n, plane], 1 - effect.frequency_ratio[n, plane]
        _warn(
            f"the step h = {h:g} s damps the first vibration of link {row.names[n]!r}, {omega:.4g} "
            f"rad/s, with a ratio of {ratio:.2g} and slows it by {slower:.1%}: h = "
            f"{FOLLOWED / omega:.2g} s damps it with 0.001"
        )


def _largest(row: LinkRow, growth: np.ndarray) -> str:
    return row.names[int(np.argmax(growth.max(axis=1)))]


def _warn_of_deflections(run: LineRun) -> None:
    """Warn of deflections that are not small."""
    length = run.x[:, -1]
    share = np.maximum(np.abs(run.v), np.abs(run.w)).max(axis=(0, 2)) / length
    n = int(np.argmax(share))
    if share[n] > LARGE:
        _warn(
            f"link {run.links[n]!r} is deflected by {share[n]:.2g} of its length; the equations are for "
            "small deflections. da.simulate has exact beams (kinematics='exact')"
        )


def _warn(message: str) -> None:
    warnings.warn(f"elastic_line: {message}.", DalembertWarning, stacklevel=caller_level())
