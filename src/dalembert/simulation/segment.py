"""Functions that every propagator is called as: in machine code, in pieces of bounded duration, or
interpreted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dalembert.native.propagator import Segment, Trajectories

Propagate = Callable[[Segment], Trajectories]
Told = Callable[[Any], object]  # called now and then with the time reached, or one of each (N,) [s]
