"""Time of a motion that is played: it runs while it plays, at a speed, and begins again at its end."""

from __future__ import annotations

import time
from collections.abc import Callable


class PlayingClock:
    """Time from `begin` to `end` [s], at `speed` times real time.

    now: a clock [s]; another one in tests.
    """

    def __init__(self, begin: float, end: float, now: Callable[[], float] = time.monotonic):
        self.begin = begin
        self.end = end
        self.now = now
        self.t = begin
        self.speed = 1.0
        self.is_playing = False
        self.last = now()

    def play(self, is_playing: bool) -> None:
        """Go on or stand still; at the end it begins again."""
        self.advance()
        if is_playing and self.t >= self.end:
            self.t = self.begin
        self.is_playing = is_playing

    def seek(self, t: float) -> None:
        """Go to a time."""
        self.advance()
        self.t = min(max(t, self.begin), self.end)

    def set_speed(self, speed: float) -> None:
        """Run at another speed from now on."""
        self.advance()
        self.speed = speed

    def advance(self) -> float:
        """The time that it is now; it stands at the end for a moment, then begins again."""
        now = self.now()
        elapsed, self.last = now - self.last, now
        if not self.is_playing:
            return self.t
        if self.t >= self.end:
            self.t = self.begin
        else:
            self.t = min(self.t + elapsed * self.speed, self.end)
        return self.t
