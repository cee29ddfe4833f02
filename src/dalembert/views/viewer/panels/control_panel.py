"""Controls of the page: playback, choice of parts, a slider for each coordinate, findings."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Sequence,
)
from typing import Any

import numpy as np

from dalembert.closed_forms.printing.markup import html_text
from dalembert.displays import shortened
from dalembert.model.findings import Finding
from dalembert.model.mechanism import Mechanism
from dalembert.results.records import FINISHED
from dalembert.views.viewer.panels.coordinate_controls import (
    SliderCoordinate,
    folders_of,
)

SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "5")
FINE = 1000  # steps of a slider along its range
MOST_SLIDERS = 80
MOST_FRAMES = 500  # to choose from
SHOWN = {
    "frames": ("Frames", False),
    "ellipsoids": ("Inertia ellipsoids", False),
    "centres": ("Centres of mass", False),
    "forces": ("Joint forces", True),
    "reactions": ("Reactions", True),
    "trace": ("Trace", True),
}
SMALL = "font:12px/1.45 system-ui,sans-serif;color:var(--mantine-color-text,currentColor)"
Say = Callable[..., None]


class CoordinateSliders:
    """A slider for each coordinate, in folders; `moved` is told which one a person has moved."""

    def __init__(
        self, gui: Any, coordinates: Sequence[SliderCoordinate], moved: Say, q: np.ndarray
    ):
        self.coordinates: list[SliderCoordinate] = []
        self.sliders: list[Any] = []
        for k, folder in enumerate(folders_of(coordinates[:MOST_SLIDERS])):
            with gui.add_folder(folder.title, expand_by_default=k == 0):
                self.sliders += [self._slider(gui, c, moved, q) for c in folder.coordinates]
            self.coordinates += folder.coordinates
        if len(coordinates) > MOST_SLIDERS:
            gui.add_html(_remark(f"the first {MOST_SLIDERS} of {len(coordinates)} coordinates"))

    def _slider(self, gui: Any, coordinate: SliderCoordinate, moved: Say, q: np.ndarray) -> Any:
        slider = gui.add_slider(
            f"{shortened(coordinate.name)} [{coordinate.unit}]",
            float(coordinate.low),
            float(coordinate.high),
            float(coordinate.step),
            coordinate.value(q),
            hint=_hint(coordinate),
        )

        @slider.on_update
        def _(event: Any) -> None:
            if event.client is not None:  # else the program has set it
                moved(coordinate, float(slider.value))

        return slider

    def set(self, q: np.ndarray, but: SliderCoordinate | None = None) -> None:
        """Show coordinates (nq,); not on the slider that a person is moving."""
        for coordinate, slider in zip(self.coordinates, self.sliders, strict=True):
            if coordinate is not but:
                slider.value = coordinate.value(q)


def _hint(coordinate: SliderCoordinate) -> str:
    limits = "limits of the joint" if coordinate.has_limits else "without limits"
    return f"{shortened(coordinate.name)}: {limits}"


class ShownParts:
    """Checkboxes for what is shown; `changed` is told of each."""

    def __init__(self, gui: Any, mechanism: Mechanism, has_run: bool, changed: Say):
        self.boxes: dict[str, Any] = {}
        with gui.add_folder("Show"):
            for name, (title, is_shown) in SHOWN.items():
                if name == "reactions" and not mechanism.constraints:
                    continue
                if name == "trace" and not has_run:
                    continue
                box = gui.add_checkbox(title, is_shown and (has_run or name == "reactions"))
                box.on_update(lambda _: changed())
                self.boxes[name] = box
            self.trace: Any = None
            if has_run:
                names = unique_labels([p.name for p in (*mechanism.bodies, *mechanism.frames)])
                self.trace = gui.add_dropdown("Trace of", names, initial_value=names[-1])
                self.trace.on_update(lambda _: changed())
                self.frames = names

    def __getitem__(self, name: str) -> bool:
        return name in self.boxes and bool(self.boxes[name].value)

    @property
    def traced(self) -> int:
        """Index of the traced frame among bodies, then frames."""
        return self.frames.index(self.trace.value)

    def trace_frame(self, index: int) -> None:
        """Trace the frame of that index, if there is a choice of it."""
        if index < len(self.frames):
            self.trace.value = self.frames[index]


class PlaybackControls:
    """Play, speed, time, and the trajectory that the sliders and diagrams are about."""

    def __init__(self, gui: Any, times: np.ndarray, reasons: Sequence[str]):
        trajectories = len(reasons)
        begin, end = float(times[0]), float(times[-1])
        end = max(end, begin + 1e-9)
        with gui.add_folder("Playback"):
            self.play = gui.add_button("Play")
            self.time = gui.add_slider("Time [s]", begin, end, (end - begin) / FINE, begin)
            self.speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
            self.trajectory: Any = None
            self.ghosts: Any = None
            if trajectories > 1:
                self.trajectory = gui.add_slider("Trajectory", 1, trajectories, 1, 1)
                self.ghosts = gui.add_checkbox("Ghosts", True)

            if early := _ended_early(reasons):
                gui.add_html(_remark(early))

    def show(self, t: float, is_playing: bool) -> None:
        """Show the time, and what the button does."""
        self.time.value = float(np.clip(t, self.time.min, self.time.max))
        self.play.label = "Pause" if is_playing else "Play"

    @property
    def chosen(self) -> int:
        """Index of the trajectory."""
        return 0 if self.trajectory is None else int(self.trajectory.value) - 1


def _ended_early(reasons: Sequence[str]) -> str:
    """Why trajectories ended before their time, of the first of them."""
    early = [k for k, reason in enumerate(reasons) if reason != FINISHED]
    if not early:
        return ""
    which = f"{len(early)} of {len(reasons)} trajectories" if len(reasons) > 1 else "The run"
    first = f"trajectory {early[0] + 1}: " if len(reasons) > 1 else ""
    return f"{which} ended early; {first}{reasons[early[0]]}"


def unique_labels(names: Sequence[str]) -> list[str]:
    """Names of bounded length, told apart by a number where they would be alike."""
    found: dict[str, None] = {}
    for k, name in enumerate(names[:MOST_FRAMES]):
        label = shortened(name)
        found[label if label and label not in found else f"{label} #{k}"] = None
    return list(found)


def findings_html(findings: Sequence[Finding]) -> str:
    """Findings as a list."""
    items = "".join(
        f"<li><b>{html_text(finding.severity)}</b>: {html_text(finding)}</li>"
        for finding in findings
    )
    return f'<ul style="{SMALL};padding:0 12px 0 22px;margin:6px 0;overflow-wrap:anywhere">{items}</ul>'


def _remark(words: str) -> str:
    return f'<div style="{SMALL};opacity:.75;padding:4px 8px">{html_text(words)}</div>'
