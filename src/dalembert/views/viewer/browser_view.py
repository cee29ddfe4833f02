"""`da.view`: a mechanism and its run in the browser."""

from __future__ import annotations

import html
import os
import threading
import time
import warnings
from collections.abc import (
    Iterator,
    Sequence,
)
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
)

import numpy as np

from dalembert.arguments import (
    check_flag,
    check_instance,
    check_text,
    check_whole,
    path_of,
)
from dalembert.closed_forms.printing.markup import html_text
from dalembert.displays import shortened
from dalembert.errors import (
    DalembertError,
    DalembertWarning,
)
from dalembert.model.findings import (
    Finding,
    listed,
)
from dalembert.model.mechanism import Mechanism
from dalembert.views.diagrams.panels import Panel
from dalembert.views.figures.plain_numbers import with_numbers
from dalembert.views.figures.posture import posture
from dalembert.views.viewer import viewer_server
from dalembert.views.viewer.holding_forces import holding_forces
from dalembert.views.viewer.loop_motion import moved
from dalembert.views.viewer.nodes.robot_meshes import robot_meshes
from dalembert.views.viewer.nodes.stage import ViewerScene
from dalembert.views.viewer.panels.control_panel import (
    CoordinateSliders,
    PlaybackControls,
    ShownParts,
    findings_html,
)
from dalembert.views.viewer.panels.coordinate_controls import (
    SliderCoordinate,
    coordinates_of,
)
from dalembert.views.viewer.panels.diagram_panels import (
    cursor_html,
    curves_html,
    diagrams_of,
)
from dalembert.views.viewer.panels.equation_panel import EquationPage
from dalembert.views.viewer.playing_clock import PlayingClock
from dalembert.views.viewer.run_states import (
    RunStates,
    ViewedState,
)
from dalembert.views.viewer.window_fit import fit_window

if TYPE_CHECKING:
    from dalembert.results.run import Run

MAX_BODIES = 500  # of a mechanism that is shown: browsers draw some solids for each
FRAME = 1 / 30  # s between pictures of a motion that is played
NUMBERS = 0.1  # s between numbers and cursors beside it
MOST_POSTURES = 50  # of each trajectory, that the camera frames
HOST = "127.0.0.1"
CLOSING = 2.0  # s, at most, until a thread ends that forms closed forms
FRAME_HEIGHT = 620  # pixels, in a notebook
PANEL = 400  # pixels of the panel of equations and diagrams


def view(
    mechanism: Mechanism,
    run: Run | None = None,
    q: Any = None,
    port: int = 0,
    host: str = HOST,
    dark: bool = False,
    mesh_folders: Sequence[str | os.PathLike[str]] = (),
) -> Viewer:
    """Show a mechanism, or a run of it, in the browser: a page on this machine, through viser.

    The page has the robot on its ground, a slider for each coordinate, playback of the run,
    its diagrams, and the equations with the values they have now. Loops stay closed when a slider
    moves, elastic links bend. Without a run the forces shown are those that hold the posture.
    Needs the extra `view`.

    Parameters
    ----------
    mechanism : Mechanism
        Symbols in it stand for 1.
    run : Run, optional
        A run of this mechanism; several trajectories are shown as one and its ghosts.
    q : (nq,) array, optional
        Posture at the beginning [rad, m]; by default the run's first, or a good one.
    port : int
        0 takes any free one.
    host : str
        '127.0.0.1' is this machine alone; another opens the page to the network, with a warning.
    dark : bool
        A dark page.
    mesh_folders : paths
        Folders beside those of the robot file in which its meshes are looked for.

    Returns
    -------
    Viewer
        With `url`, `update(q)`, `screenshot(file)` and `close()`; a context manager, and a frame
        with the page in notebooks.

    Raises
    ------
    DalembertError
        viser is not installed; the port is taken; the mechanism has too many bodies.
    ShapeError
        The run is of another mechanism; q has another length.

    Warns
    -----
    DalembertWarning
        Meshes of the robot file are not shown; the page is open to the network.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> with da.view(arm, da.simulate(arm, [0.5, 0.2], [0, 0], 1.0)) as viewer:
    ...     print(viewer.url[:17])
    http://127.0.0.1:
    """
    check_instance("mechanism", mechanism, Mechanism, "a Mechanism")
    _check_run(run)
    check_whole("port", port, 0)
    check_text("host", host)
    check_flag("dark", dark)
    if len(mechanism.bodies) > MAX_BODIES:
        raise DalembertError(
            f"mechanism {mechanism.name!r} has {len(mechanism.bodies)} bodies; the viewer shows at "
            f"most MAX_BODIES = {MAX_BODIES}. mechanism.picture(file) draws more."
        )
    numbers = with_numbers(mechanism)
    states = None if run is None else RunStates(numbers, run)
    start = _start(numbers, states, q)
    ranges = None if states is None else states.ranges()
    meshes, findings = robot_meshes(numbers, mesh_folders, ranges)
    if findings:
        warnings.warn(listed(findings), DalembertWarning, stacklevel=2)
    server = viewer_server.started(host, port, shortened(mechanism.name), dark)
    try:
        return Viewer(server, mechanism, ViewerScene(server, numbers, meshes, states), start, dark)
    except BaseException:
        viewer_server.stopped(server)
        raise


def _start(mechanism: Mechanism, states: RunStates | None, q: Any) -> np.ndarray:
    """The posture at the beginning (nq,)."""
    if q is not None:
        mechanism.at(q=q)  # raises where it does not fit
        return np.array(q, dtype=float)
    return posture(mechanism) if states is None else states.q[0, 0]


class Viewer:
    """A page that shows a mechanism; `da.view` makes it.

    url : address of the page
    state : q (nq,) [rad, m], qd (nv,), tau (nv,) [N m, N] and t [s] that are shown

    Examples
    --------
    >>> import dalembert as da
    >>> with da.view(da.planar_chain(1)) as viewer:
    ...     viewer.update([0.5])
    ...     viewer.state.q
    array([0.5])
    """

    def __init__(
        self, server: Any, mechanism: Mechanism, stage: ViewerScene, start: np.ndarray, dark: bool
    ):
        self.server = server
        self.mechanism = mechanism
        self.stage = stage
        self.url = f"http://{_shown_host(server.get_host())}:{server.get_port()}"
        self.is_open = True
        self.lock = threading.RLock()
        self.changed = threading.Event()
        self.wanted: tuple[SliderCoordinate, float] | None = None
        self.is_sought = False
        self.faults: set[str] = set()
        run = stage.run
        self.state = self._at_rest(start) if run is None else run.at(run.times[0])
        self.clock = None if run is None else PlayingClock(run.times[0], run.times[-1])
        self.equations = EquationPage(mechanism, stage.mechanism)
        self.numbers_at = 0.0
        self._build(start, dark)
        self._refresh()
        self.threads = [
            threading.Thread(target=work, name="dalembert viewer", daemon=True)
            for work in (self._work, self._form)
        ]
        for thread in self.threads:
            thread.start()

    # --- the page ---------------------------------------------------------------------------------

    def _build(self, start: np.ndarray, dark: bool) -> None:
        """Make the page: scene, controls at the right, equations and diagrams at the left."""
        gui, run = self.server.gui, self.stage.run
        postures = start[None] if run is None else run.postures(MOST_POSTURES)
        self.around = self.stage.set_surroundings(postures, dark)
        self.playback = None
        if run is not None:
            self.playback = PlaybackControls(gui, run.times, run.run.reasons)
            self._connect(self.playback)
        coordinates = coordinates_of(self.stage.mechanism, start)
        self.sliders = CoordinateSliders(gui, coordinates, self._slider_moved, start)
        self.message = gui.add_html("")
        self.shown = ShownParts(gui, self.stage.mechanism, run is not None, self.changed.set)
        if run is not None:
            self.shown.trace_frame(self.stage.farthest_frame())
        findings = [*self.mechanism.check(), *self._symbols()]
        if findings:
            with gui.add_folder(f"Findings ({len(findings)})", expand_by_default=False):
                gui.add_html(findings_html(findings))
        self._build_beside(gui)
        gui.main_panel.dock_right()

    def _build_beside(self, gui: Any) -> None:
        """The panel of diagrams and equations."""
        panel = gui.add_panel()
        self.diagrams: list[tuple[Panel, Any, Any]] = []
        self.diagrams_of = 0
        if self.stage.run is not None:
            with panel.add_tab("Diagrams"):
                for diagram in diagrams_of(self.stage.run, 0):
                    curves = gui.add_html(curves_html(diagram))
                    self.diagrams.append((diagram, curves, gui.add_html("")))
        with panel.add_tab("Equations"):
            self.page = gui.add_html("")
        panel.dock_left()
        panel.set_width(PANEL)
        panels = (panel, gui.main_panel)
        self.server.on_client_connect(lambda client: fit_window(client, panels, self.around))

    def _symbols(self) -> list[Finding]:
        if not self.mechanism.symbols:
            return []
        names = ", ".join(self.mechanism.symbols)
        why = f"they stand for 1 in this picture: {names}."
        return [Finding("note", "symbols", why, "")]

    def _connect(self, playback: PlaybackControls) -> None:
        """Let the controls of playback act."""
        assert self.clock is not None
        clock = self.clock

        @playback.play.on_click
        def _(_: Any) -> None:
            self.play(not clock.is_playing)

        @playback.time.on_update
        def _(event: Any) -> None:
            if event.client is not None:
                clock.seek(float(playback.time.value))
                self._seek()

        @playback.speed.on_update
        def _(_: Any) -> None:
            clock.set_speed(float(playback.speed.value))

        for control in (playback.trajectory, playback.ghosts):
            if control is not None:
                control.on_update(lambda _: self._seek())

    def _seek(self) -> None:
        """Let the worker show the run at the time of the clock, whatever a slider wanted before."""
        self.wanted = None
        self.is_sought = True
        self.changed.set()

    def _slider_moved(self, coordinate: SliderCoordinate, value: float) -> None:
        """Remember the newest value of a slider; the worker moves there."""
        self.is_sought = False
        self.wanted = (coordinate, value)
        self.changed.set()

    # --- what goes on -----------------------------------------------------------------------------

    def _work(self) -> None:
        """Follow the sliders and the clock until the viewer is closed."""
        while self.is_open:
            is_playing = self.clock is not None and self.clock.is_playing
            self.changed.wait(FRAME if is_playing else None)
            is_changed = self.changed.is_set()
            self.changed.clear()
            if not self.is_open:
                return
            with self.lock, self._told():
                wanted, self.wanted = self.wanted, None
                if wanted is not None:
                    self._follow_slider(*wanted)
                elif self.clock is not None and (is_playing or self.is_sought):
                    self.is_sought = False
                    self._go_to(self.clock.advance())
                elif is_changed:
                    self._refresh()

    def _form(self) -> None:
        """Form closed forms beside all else: large robots take a while."""
        with self._told():
            self.equations.form(lambda: self.is_open)
        self.changed.set()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell a fault of a thread, on the page and as a warning, each once; the page lives on."""
        try:
            yield
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
            if self.is_open and fault not in self.faults:
                self.faults.add(fault)
                self.message.content = f"<b>The page is not up to date.</b> {html_text(fault)}"
                text = f"the viewer of {self.mechanism.name!r} could not show a state: {fault}"
                warnings.warn(text, DalembertWarning, stacklevel=2)

    def _follow_slider(self, coordinate: SliderCoordinate, value: float) -> None:
        if self.clock is not None:
            self.clock.play(False)
        q, is_there = moved(self.stage.mechanism, self.state.q, coordinate, value)
        words = "" if is_there else "the loops do not close beyond here."
        self.message.content = f"<i>{words}</i>" if words else ""
        self.state = self._at_rest(q)
        self._refresh(None if not is_there else coordinate)

    def _at_rest(self, q: np.ndarray) -> ViewedState:
        """A state at rest, with the forces that hold it."""
        mechanism = self.stage.mechanism
        return ViewedState(q, np.zeros(mechanism.nv), holding_forces(mechanism, q), 0.0)

    def _go_to(self, t: float) -> None:
        """Show a time of the run."""
        with self.lock:
            if self.stage.run is not None and self.playback is not None:
                self.state = self.stage.run.at(t, self.playback.chosen)
                self._refresh()

    def _refresh(self, but: SliderCoordinate | None = None) -> None:
        """Show the state; the slider of one coordinate stays as it is."""
        with self.lock, self.server.atomic():
            self.stage.show(self.state, self.shown)
            self.sliders.set(self.state.q, but)
            if self.playback is not None and self.clock is not None:
                self._refresh_run(self.playback, self.clock)
            is_playing = self.clock is not None and self.clock.is_playing
            if not is_playing or time.monotonic() - self.numbers_at > NUMBERS:
                self.numbers_at = time.monotonic()
                self._refresh_numbers()

    def _refresh_numbers(self) -> None:
        """Show the equations, and the values of the diagrams."""
        self.page.content = self.equations.html(self.state)
        if self.clock is not None:
            for diagram, _, cursor in self.diagrams:
                cursor.content = cursor_html(diagram, self.clock.t)

    def _refresh_run(self, playback: PlaybackControls, clock: PlayingClock) -> None:
        playback.show(clock.t, clock.is_playing)
        is_ghostly = playback.ghosts is not None and bool(playback.ghosts.value)
        self.stage.show_ghosts(clock.t, playback.chosen, is_ghostly)
        self.stage.show_trace(self.shown.traced, playback.chosen, self.shown["trace"])
        if self.diagrams_of != playback.chosen and self.stage.run is not None:
            self.diagrams_of = playback.chosen
            found = diagrams_of(self.stage.run, playback.chosen)
            for k, (diagram, (_, curves, cursor)) in enumerate(zip(found, self.diagrams)):
                curves.content = curves_html(diagram)
                self.diagrams[k] = (diagram, curves, cursor)

    # --- for users --------------------------------------------------------------------------------

    def update(self, q: Any) -> None:
        """Show a posture (nq,) [rad, m], at rest; loops are not closed for it.

        Raises
        ------
        ShapeError, QuaternionError

        Examples
        --------
        >>> import dalembert as da
        >>> with da.view(da.planar_chain(1)) as viewer:
        ...     viewer.update([0.2])
        ...     viewer.state.q
        array([0.2])
        """
        self.stage.mechanism.at(q=q)  # raises where it does not fit
        with self.lock:
            if self.clock is not None:
                self.clock.play(False)
            self.state = self._at_rest(np.array(q, dtype=float))
            self._refresh()

    def play(self, is_playing: bool = True) -> None:
        """Play the run, or stand still.

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1)
        >>> run = da.simulate(arm, [0.5], [0.0], 1.0)
        >>> with da.view(arm, run) as viewer:
        ...     viewer.play(False)
        """
        if self.clock is not None:
            with self.lock:
                self.clock.play(is_playing)
                self.changed.set()

    def seek(self, t: float) -> None:
        """Show a time of the run [s].

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1)
        >>> run = da.simulate(arm, [0.5], [0.0], 1.0)
        >>> with da.view(arm, run) as viewer:
        ...     viewer.seek(0.5)
        ...     float(viewer.state.t)
        0.5
        """
        if self.clock is not None:
            with self.lock:
                self.clock.seek(t)
                self._go_to(self.clock.t)

    def screenshot(
        self, file: str | os.PathLike[str], width: int = 1280, height: int = 800
    ) -> Path:
        """Write the scene as a browser shows it that has the page open: .png.

        Raises
        ------
        DalembertError
            No browser has the page open.

        Examples
        --------
        >>> import dalembert as da
        >>> with da.view(da.planar_chain(1)) as viewer:  # doctest: +SKIP
        ...     viewer.screenshot("arm.png")
        """
        path = path_of("file", file)
        clients = self.server.get_clients()
        if not clients:
            raise DalembertError(f"no browser shows the page. Open {self.url} first.")
        client = next(iter(clients.values()))
        picture = client.get_render(height=height, width=width, transport_format="png")
        import imageio.v3

        imageio.v3.imwrite(path, picture)
        return path

    def close(self) -> None:
        """Stop the page; nothing is left of it.

        Examples
        --------
        >>> import dalembert as da
        >>> viewer = da.view(da.planar_chain(1))
        >>> viewer.close()
        >>> viewer.is_open
        False
        """
        if self.is_open:
            self.is_open = False
            self.changed.set()
            for thread in self.threads:
                thread.join(CLOSING)
            viewer_server.stopped(self.server)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = self.url if self.is_open else "closed"
        return f"<Viewer of {self.mechanism.name!r}: {state}>"

    def _repr_html_(self) -> str:
        """A frame with the page, for notebooks."""
        if not self.is_open:
            return html.escape(repr(self))
        return (
            f'<iframe src="{html.escape(self.url)}" width="100%" height="{FRAME_HEIGHT}" '
            'style="border:0;border-radius:6px" title="dalembert viewer"></iframe>'
        )


def _check_run(run: Any) -> None:
    """Refuse a thing in place of a run; coordinates are given by their name."""
    from dalembert.results.run import Run

    check_instance("run", run, (Run, type(None)), "a Run, as da.simulate makes; q= is a posture")


def _shown_host(host: str) -> str:
    """The host of an address: of a server for all, this machine."""
    if host in ("0.0.0.0", "::"):
        return HOST
    return f"[{host}]" if ":" in host else host
