"""Workers of a sweep: an executor of the standard library, Dask's, or processes of one's own that
may die and be replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from functools import lru_cache, partial
from typing import Any

from dalembert.errors import DalembertError
from dalembert.sweeps.trials import Outcome, computed

KILLED = ("KilledWorker",)  # Dask's, after some workers died of a task
AT_HAND = ["__main__", __name__]  # modules that processes find imported when they begin


class Workers:
    """An executor, given or made by a given function, or processes on this machine.

    The latter two are made anew where a process has died, and closed in the end.
    """

    def __init__(self, executor: Any, work: Callable[..., Any]):
        self.own = executor is None or callable(executor) and not hasattr(executor, "submit")
        self._make = processes if executor is None else executor
        self._executor = self._make() if self.own else _submitting(executor)
        self._work: Any = partial(computed, work)
        if isinstance(self._executor, ProcessPoolExecutor):
            self._work = partial(_computed_of, pickled(work))
        self.count = _count(executor, self._executor)

    def submit(
        self, batch: Sequence[tuple[int, dict[str, Any]]]
    ) -> Future[tuple[list[Outcome], float]]:
        """Begin a batch."""
        try:
            return self._executor.submit(self._work, batch)
        except BrokenExecutor as error:  # as if it had been lost on its way
            future: Future[tuple[list[Outcome], float]] = Future()
            future.set_exception(error)
            return future

    @property
    def is_broken(self) -> bool:
        """Whether the executor has lost a process and takes no more work."""
        return bool(getattr(self._executor, "_broken", False))

    def renew(self) -> None:
        """Replace an executor that is broken.

        Raises
        ------
        DalembertError
            It is not one's own; the processes of the new one do not even begin.
        """
        if not self.own:
            raise DalembertError(
                "a process of the executor died, and the executor takes no more work: give a "
                "function that makes an executor, executor=lambda: ProcessPoolExecutor(8), to go "
                "on after that."
            )
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = self._make()
        try:
            self._executor.submit(int).result()
        except BrokenExecutor:
            raise DalembertError(
                "the processes of the executor end before they have computed anything: a script "
                "must call sweep below `if __name__ == '__main__':`, as its processes import it."
            ) from None

    def close(self, abandon: bool = False) -> None:
        """End what is one's own; abandon: do not wait for what is being computed."""
        if not self.own:
            return
        running = (
            list((getattr(self._executor, "_processes", None) or {}).values()) if abandon else ()
        )
        self._executor.shutdown(wait=not abandon, cancel_futures=True)
        for process in running:
            process.terminate()


def processes(count: int | None = None) -> ProcessPoolExecutor:
    """Processes that begin from nothing (not as copies of this process with its threads), by
    default as many as processors.
    """
    ways = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")
    context.set_forkserver_preload(AT_HAND)
    return ProcessPoolExecutor(count or processors(), mp_context=context, initializer=_begin)


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _begin() -> None:
    """A worker leaves Ctrl-C to its parent, and ends when that dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        """End with the process that began this one."""
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def is_loss(error: BaseException | None) -> bool:
    """Whether a future failed because its worker was lost, not by what it computed."""
    return isinstance(error, (BrokenExecutor, CancelledError)) or type(error).__name__ in KILLED


def pickled(work: Callable[..., Any]) -> bytes:
    """A function as it is sent to other processes.

    Raises
    ------
    DalembertError
        It cannot be sent.
    """
    try:
        return pickle.dumps(work)
    except (
        Exception
    ) as error:  # PicklingError, AttributeError, TypeError: pickle raises all of them
        raise DalembertError(
            f"the function cannot be sent to other processes ({error}): define it and what it "
            "refers to at the top of a module, or give "
            "executor=concurrent.futures.ThreadPoolExecutor()."
        ) from None


def _computed_of(
    work: bytes, batch: Sequence[tuple[int, dict[str, Any]]]
) -> tuple[list[Outcome], float]:
    return computed(_unpickled(work), batch)


@lru_cache(maxsize=4)
def _unpickled(work: bytes) -> Callable[..., Any]:
    """The function, the same object for all batches, so that what it compiles is kept."""
    return pickle.loads(work)


def _submitting(executor: Any) -> Executor:
    """Something with `submit` that gives futures of the standard library; of a client of Dask its
    executor.
    """
    if hasattr(executor, "get_executor"):
        return executor.get_executor(pure=False)
    if not hasattr(executor, "submit"):
        raise TypeError(
            f"executor={executor!r}: expected a concurrent.futures.Executor, a client of "
            "dask.distributed, or a function that makes an executor."
        )
    return executor


def _count(given: Any, executor: Any) -> int:
    client = getattr(executor, "_client", None) or given
    if hasattr(client, "nthreads"):
        return max(1, sum(client.nthreads().values()))
    return getattr(executor, "_max_workers", None) or processors()
