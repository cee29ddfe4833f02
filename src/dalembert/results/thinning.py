"""Every k-th record of a long run, for pictures: read from its folder without the rest, where it is
in one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.results.records import Recorded


def thinned(run: Recorded, most: int) -> tuple[Recorded, int]:
    """The run with every k-th of its records, at most so many; and k, 1 if it has no more than
    that.
    """
    step = -(-len(run.times) // most)
    if step == 1:
        return run, step
    at = np.s_[..., ::step]
    rows = (*at, slice(None))
    states = None if run.controller_states is None else np.asarray(run.controller_states[rows])
    return replace(
        run,
        times=np.asarray(run.times[::step]),
        q=np.asarray(run.q[rows]),
        qd=np.asarray(run.qd[rows]),
        work=np.asarray(run.work[at]),
        controller_states=states,
    ), step
