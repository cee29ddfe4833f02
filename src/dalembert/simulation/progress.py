"""Progress of a simulation: a bar, or a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from dalembert.arguments import refused
from dalembert.purity.examine import check_arguments

Progress = Callable[[float, float], object] | bool | None


def reported(progress: Progress) -> AbstractContextManager[Callable[[float, float], object]]:
    """The function to tell how much is done, from 0 to 1, and the time reached [s].

    Raises
    ------
    TypeError
        progress is no function, True, False or None.
    """
    if progress is None or progress is False:
        return nullcontext(lambda done, t: None)
    if callable(progress):
        check_arguments(progress, "progress", ("done", "t"))
        return nullcontext(progress)
    if progress is not True:
        raise refused("progress", progress, "True, a function (fraction done, t), or nothing")
    return _bar()


@contextmanager
def _bar() -> Iterator[Callable[[float, float], object]]:
    """A bar in the terminal."""
    from rich.progress import Progress as Bars

    with Bars(transient=True) as bars:
        task = bars.add_task("t = 0 s", total=1.0)
        yield lambda done, t: bars.update(task, completed=done, description=f"t = {t:.4g} s")
