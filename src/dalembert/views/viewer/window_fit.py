"""Panels and camera that suit the window of a browser."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from dalembert.views.viewer.nodes.scene_setting import (
    Surroundings,
    set_camera,
)

SETTLED = 1.5  # s, in which a browser lays out the page, or folds a panel
YOUNG = 9.0  # s, of a page whose places of the camera are still on their way
PHONE = 576  # pixels of a window, up to which viser has its panels in a sheet below the scene
NARROW = 400  # pixels of a scene that is too narrow beside both panels
ROOMY = 770  # pixels of a window that has room for a scene beside the controls alone
COVERED = 0.55  # of a phone's height, by the sheet with the controls


class WindowFit:
    """Keeps a motion in the picture of one browser, until a person moves the camera there."""

    def __init__(self, camera: Any, around: Surroundings):
        self.camera = camera
        self.around = around
        self.begun = time.monotonic()
        self.size: tuple[int, int] | None = None
        self.widest = 0  # pixels: before panels are laid out, the width of the window
        self.places: list[np.ndarray] = []
        self.covered = 0.0

    def follow(self, camera: Any) -> None:
        """Frame the motion again where the window has another size."""
        size = (int(camera.image_width), int(camera.image_height))
        self.widest = max(self.widest, size[0])
        if size != self.size and not self._is_moved():
            self.size = size
            self.frame()

    def frame(self) -> None:
        """Frame the motion."""
        width, height = self.camera.image_width, self.camera.image_height
        set_camera(self.camera, self.around, width / max(height, 1), self.covered)
        self.places.append(np.array(self.camera.position))

    def _is_moved(self) -> bool:
        """Whether a person has moved the camera, whose place is none of those it was given."""
        if time.monotonic() - self.begun < YOUNG:
            return False
        place = np.array(self.camera.position)
        return not any(np.allclose(place, own, atol=1e-3) for own in self.places)

    def make_room(self, beside: Any, controls: Any) -> None:
        """Fold panels where they leave the scene no room; on a phone they lie below it."""
        while time.monotonic() - self.begun < YOUNG:
            time.sleep(SETTLED)
            if self.widest <= PHONE:
                self.covered = COVERED
                self.frame()
                return
            if self.camera.image_width < NARROW:
                beside.minimize()
                if self.widest < ROOMY:
                    controls.minimize()
                return


def fit_window(client: Any, panels: tuple[Any, Any], around: Surroundings) -> None:
    """Frame the motion in a browser that has just opened the page, and fold panels where they leave
    the scene no room: that of equations, then that of controls.
    """
    fit = WindowFit(client.camera, around)
    fit.follow(client.camera)
    client.camera.on_update(fit.follow)
    threading.Thread(target=fit.make_room, args=panels, daemon=True).start()
