"""`sweep`: a function, or the simulation of a mechanism, at many samples, on any executor."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.displays import in_notebook
from dalembert.errors import DalembertError, public_names
from dalembert.results import storage
from dalembert.results.labels import library
from dalembert.spatial.arrays import Array
from dalembert.sweeps.identity import identity
from dalembert.sweeps.outcome_table import DONE, ERROR, FAILED, MISSING, OutcomeTable, table_of
from dalembert.sweeps.sample_sets import SampleSet
from dalembert.sweeps.trials import Outcome, Simulated
from dalembert.sweeps.workers import Workers, is_loss
from dalembert.systems.kinds import is_system

if TYPE_CHECKING:
    from xarray import Dataset

TASK = 0.25  # s: a batch of samples takes about that long
MOST_AT_ONCE = 1024  # samples of a batch
AHEAD = 3  # batches that wait or run, for each worker
GROWTH = 4  # of the batches, from one to the next
MOST_LOSSES = 3  # workers that a sample may take with it
PATIENCE = 1.0  # s between two looks at what has to be written

Progress = Callable[[int, int], Any]


class Sweep:
    """Results of a sweep, an array for each, shaped as the samples and then as the result.

    Attributes
    ----------
    dims, shape : of the samples: the names of a grid and how many values each has, or ('sample',)
        and (N,).
    parameters : {name: values}
    computed : samples that were computed in this call; the others were in the folder.
    path : the folder, or None.

    Examples
    --------
    >>> import dalembert as da
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> found = da.sweep(lambda x: x * x, {"x": [1.0, 2.0]}, ThreadPoolExecutor(1))
    >>> found.shape, found.results
    ((2,), ('result',))
    """

    __dir__ = public_names

    def __init__(self, samples: SampleSet, table: OutcomeTable, computed: int):
        self._samples = samples
        self._table = table
        self.computed = computed
        self.dims = samples.dims
        self.shape = samples.shape
        self.parameters = samples.values
        self.path = None if table.folder is None else table.folder.path

    def __getitem__(self, name: str) -> Array:
        """The array of a result: NaN, False or '' where a sample failed."""
        if name not in self._table.results():
            raise KeyError(
                f"there is no result {name!r}: {', '.join(self.results) or 'no sample succeeded'}."
            )
        array = np.asarray(self._table.arrays[name][...])
        return array if array.dtype.kind in "bfc" else array.astype(object)

    @property
    def results(self) -> tuple[str, ...]:
        """Names of the results."""
        return tuple(self._table.results())

    @cached_property
    def status(self) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
        """0 not computed, 1 done, 2 failed; shaped as the samples."""
        return self._table.status.reshape(self.shape)

    @cached_property
    def errors(self) -> dict[int, str]:
        """Message of every sample that failed, by its number in C order."""
        failed = np.flatnonzero(self.status.reshape(-1) == FAILED)
        messages = np.asarray(self._table.arrays[ERROR][...]).reshape(-1) if len(failed) else ()
        return {int(k): str(messages[k]) for k in failed}

    def sample(self, k: int) -> dict[str, Any]:
        """Parameters of sample k, 0 to N - 1 in C order.

        Raises
        ------
        ValueError
            There is no such sample.

        Examples
        --------
        >>> import dalembert as da
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> swept = da.sweep(lambda x: x * x, {"x": [1.0, 2.0]}, ThreadPoolExecutor(1))
        >>> swept.sample(1)
        {'x': 2.0}
        """
        return self._samples[k]

    def summary(self) -> str:
        """How many samples, how they went, and the first error.

        Examples
        --------
        >>> import dalembert as da
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> swept = da.sweep(lambda x: x * x, {"x": [1.0, 2.0]}, ThreadPoolExecutor(1))
        >>> print(swept.summary())
        2 samples (x 2): 2 done, 0 failed, 2 computed now
        """
        names = " x ".join(f"{name} {n}" for name, n in zip(self.dims, self.shape, strict=True))
        done = int((self.status == DONE).sum())
        count = f"{len(self._samples)} sample{'s' if len(self._samples) > 1 else ''}"
        lines = [
            f"{count} ({names}): {done} done, {len(self.errors)} failed, {self.computed} computed "
            "now"
        ]
        lines += [
            f"{self._samples.text(k)}: {message}" for k, message in list(self.errors.items())[:1]
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Sweep: {self.summary()}>"

    def _repr_html_(self) -> str | None:
        return in_notebook("sweep_html", self)

    def to_xarray(self) -> Dataset:
        """An `xarray.Dataset` with the parameters as dimensions (needs the extra `files`); of a
        folder, loaded when used.

        Examples
        --------
        >>> import dalembert as da
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> swept = da.sweep(lambda x: x * x, {"x": [1.0, 2.0]}, ThreadPoolExecutor(1))
        >>> swept.to_xarray()["result"].values
        array([1., 4.])
        """
        xarray = library("xarray", storage.EXTRA)
        if self._table.folder is not None:
            store = storage.checked_store(self._table.folder)
            return xarray.open_zarr(store, mask_and_scale=False, chunks=None)
        variables = {
            name: (self._table.dims[name], array) for name, array in self._table.arrays.items()
        }
        return xarray.Dataset(
            variables,
            {name: (dims, values) for name, (dims, values) in self._table.constants.items()},
        )


def sweep(
    work: Any,
    samples: Any,
    executor: Any = None,
    *,
    paired: bool = False,
    store: Any = None,
    errors: str = "record",
    retry: bool = False,
    collect: Any = "final",
    batch: int | None = None,
    progress: bool | Progress = False,
    **options: Any,
) -> Sweep:
    """A function, or the simulation of a mechanism, at every sample of its parameters.

    Parameters
    ----------
    work : function, Mechanism, LagrangianSystem or another system
        A function is called with the values of a sample by name and returns a number, a text, an
        array, a Run, or {name: any of these}; (names of dimensions, array) names the axes. A
        mechanism is simulated: a sample gives numbers of it by path ('payload.mass'), initial
        states ('q', 'qd', 'q[elbow]', 'qd[0]') and options of `simulate` by name; of a Lagrangian
        its parameters by name.
    samples : {name: values}, or sequence of {name: value}
        All combinations of the values, the last name running fastest; or the samples one by one.
    executor : concurrent.futures.Executor, client of dask.distributed, or function that makes an
        executor, optional By default a process for each processor. An executor that a function
        makes is closed in the end and, like the default one, made anew where a process dies.
    paired : bool
        The values go together, entry by entry, instead of in all combinations.
    store : path, optional
        A folder of Zarr for the results, written as they come; called again, it computes only what
        is missing there.
    errors : 'record' or 'raise'
        Whether a sample that raises is marked as failed, with its message, or ends the sweep.
    retry : bool
        Compute samples again that failed in an earlier call.
    collect : 'final', 'records' or function of a Run
        What is kept of a simulation: the last record, all of them, or what the function returns.
    batch : int, optional
        Samples of a task; by default as many as take about a quarter of a second.
    progress : bool or function (done, all), optional
        Show a bar, or call the function.
    options :
        Constants for the function; of a mechanism, `t`, `q`, `qd` and the options of `simulate`.

    Returns
    -------
    Sweep

    Raises
    ------
    DalembertError
        The folder holds another sweep; a sample failed and errors='raise'; the executor died. What
        was computed until then is in the folder.
    ShapeError, UnknownNameError, ValueError, TypeError
        Samples or options are none.

    Examples
    --------
    >>> import dalembert as da
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> found = da.sweep(lambda x, y: x * y, {"x": [1.0, 2.0], "y": [3.0, 4.0, 5.0]}, ThreadPoolExecutor(1))
    >>> found["result"]
    array([[ 3.,  4.,  5.],
           [ 6.,  8., 10.]])
    """
    if errors not in ("record", "raise"):
        raise ValueError(f"errors={errors!r}: expected 'record' or 'raise'.")
    if batch is not None and batch < 1:
        raise ValueError(f"batch={batch}: expected at least one sample.")
    task = Simulated(work, options, collect) if is_system(work) else _Task(work, options)
    points = SampleSet(samples, paired, task.called)
    task.check(list(points.values))
    of_same = {
        "the function": identity(work),
        "the options": identity([options, collect]),
        "the samples": identity([points.values, points.dims]),
    }
    with table_of(points, task.labels(), store, of_same) as table:
        status = table.status
        todo = np.flatnonzero(
            (status == MISSING) | (status == FAILED) if retry else status == MISSING
        )
        with _shown(progress, len(points) - len(todo), len(points)) as show:
            _Sweeping(points, table, errors == "raise", batch, show).run(task, executor, todo)
    return Sweep(points, table, len(todo))


class _Task:
    """A user's function with constants."""

    called: dict[str, str] = {}

    def __init__(self, function: Callable[..., Any], constants: dict[str, Any]):
        if not callable(function):
            raise TypeError(f"{function!r} is no function and no mechanism.")
        self.function = function
        self.constants = constants

    def __call__(self, **sample: Any) -> Any:
        return self.function(**self.constants, **sample)

    def check(self, names: list[str]) -> None:
        """Raise if a parameter is a constant, too."""
        if twice := [name for name in names if name in self.constants]:
            raise ValueError(f"{', '.join(twice)}: given as a parameter and as a constant.")

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Names of the entries of results."""
        return {}


class _Sweeping:
    """The samples on their way: submitted in batches, a few ahead of the workers; outcomes written
    as they come.
    """

    def __init__(
        self,
        samples: SampleSet,
        table: OutcomeTable,
        raising: bool,
        batch: int | None,
        show: Progress,
    ):
        self._samples = samples
        self._table = table
        self._raising = raising
        self._show = show
        self._fixed = batch
        self._size = batch or 1
        self._pending: dict[Future[Any], list[int]] = {}
        self._again: deque[int] = deque()  # lost with their worker once: one by one
        self._alone: deque[int] = (
            deque()
        )  # lost twice: one at a time, to find which it is that kills workers
        self._losses: Counter[int] = Counter()
        self._left = 0

    def run(self, task: Any, executor: Any, todo: np.ndarray) -> None:
        """Compute these samples."""
        if not len(todo):
            return
        rest = map(int, todo)
        self._left = len(todo)
        self._workers = Workers(executor, task)
        try:
            while self._submit(rest):
                done, _ = wait(self._pending, PATIENCE, FIRST_COMPLETED)
                self._take(done)
                self._table.flush_when_due()
        except BaseException:
            self._save()
            self._workers.close(abandon=True)
            raise
        self._table.flush()
        self._workers.close()

    def _save(self) -> None:
        """Write what has been computed; the rest is given up."""
        for future in self._pending:
            if not future.cancel() and future.done() and future.exception() is None:
                for found in future.result()[0]:
                    self._table.put(found)
        self._table.flush()

    def _submit(self, rest: Iterator[int]) -> bool:
        """Keep the workers busy; whether there is anything to wait for."""
        while len(self._pending) < AHEAD * self._workers.count:
            batch = self._next(rest)
            if not batch:
                break
            self._pending[self._workers.submit([(k, self._samples[k]) for k in batch])] = batch
        return bool(self._pending)

    def _next(self, rest: Iterator[int]) -> list[int]:
        if self._again:
            return [self._again.popleft()]
        if self._alone:
            return [] if self._pending else [self._alone[0]]
        fair = math.ceil(
            self._left / (2 * self._workers.count)
        )  # all workers end at about the same time
        return list(islice(rest, self._size if self._fixed else min(self._size, fair)))

    def _take(self, done: set[Future[Any]]) -> None:
        """Outcomes of batches; batches whose worker died are computed again."""
        lost = [
            k for future in [f for f in self._pending if f in done] for k in self._outcomes(future)
        ]
        if lost and self._workers.is_broken:
            rest, _ = wait(self._pending)  # the other batches have failed as well
            lost += [k for future in rest for k in self._outcomes(future)]
            self._workers.renew()
        for k in lost:
            self._losses[k] += 1
            if self._losses[k] >= MOST_LOSSES:
                self._put(
                    Outcome(k, {}, f"the process that computed it died, {MOST_LOSSES} times.")
                )
            elif self._losses[k] == 1:
                self._again.append(k)
            elif k not in self._alone:
                self._alone.append(k)
        self._show(len(self._samples) - self._left, len(self._samples))

    def _outcomes(self, future: Future[Any]) -> list[int]:
        """Take the outcomes of a batch, or give its samples back if they were lost with a worker."""
        batch = self._pending.pop(future)
        error = CancelledError() if future.cancelled() else future.exception()
        if is_loss(error):
            return batch
        if error is None:
            found, seconds = future.result()
            if not self._fixed:
                self._size = max(
                    1,
                    min(
                        round(TASK * len(batch) / max(seconds, 1e-6)),
                        GROWTH * self._size,
                        MOST_AT_ONCE,
                    ),
                )
        else:  # not of the function: what goes to the worker or back cannot be sent
            found = [Outcome(k, {}, f"{type(error).__name__}: {error}") for k in batch]
        found = [self._put(one) for one in found]
        failed = [one for one in found if one.error]
        if failed and self._raising:
            raise DalembertError(
                f"{self._samples.text(failed[0].k)}: {failed[0].error}\n{failed[0].raised}".rstrip()
            )
        return []

    def _put(self, found: Outcome) -> Outcome:
        found = self._table.put(found)
        self._left -= 1
        if self._alone and self._alone[0] == found.k:
            self._alone.popleft()
        return found


@contextmanager
def _shown(progress: bool | Progress, done: int, total: int) -> Iterator[Progress]:
    """A function that shows how many samples are done: the one given, a bar, or none."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda done, total: None
    else:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        with Progress(BarColumn(), MofNCompleteColumn(), "samples", TimeRemainingColumn()) as bar:
            task = bar.add_task("", total=total, completed=done)
            yield lambda done, total: bar.update(task, completed=done)
