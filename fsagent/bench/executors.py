"""Where a run's questions are answered: in this process, in several, or on a Ray cluster.

Whatever the executor, a question is answered from a fresh store by code that keeps nothing between
questions, so that the predictions are the same.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context

from fsagent.bench.options import BenchOptions
from fsagent.bench.rundir import Key
from fsagent.bench.worker import Outcome, Worker

_AHEAD = 2
"""Questions queued for each process: enough to keep it busy, few to finish after Ctrl-C."""


def outcomes(options: BenchOptions, keys: Sequence[Key]) -> Generator[Outcome, None, None]:
    """Yield an outcome for each key, as it comes. Closing the generator ends the work."""
    if options.executor == "ray":
        from fsagent.bench.ray_executor import on_ray

        return on_ray(options, keys)
    if options.workers > 1:
        return _in_processes(options, keys)
    return _in_this_process(options, keys)


def _in_this_process(options: BenchOptions, keys: Sequence[Key]) -> Generator[Outcome, None, None]:
    worker = Worker(options)
    try:
        for key in keys:
            yield worker.run(key)
    finally:
        worker.close()


def _in_processes(options: BenchOptions, keys: Sequence[Key]) -> Generator[Outcome, None, None]:
    # spawn: forking a process that draws a progress bar in a thread can hang the child.
    pool = ProcessPoolExecutor(
        options.workers, mp_context=get_context("spawn"), initializer=_start, initargs=(options,)
    )
    waiting: set[Future[Outcome]] = set()
    rest = iter(keys)
    try:
        while True:
            while len(waiting) < options.workers * _AHEAD and (key := next(rest, None)):
                waiting.add(pool.submit(_run, key))
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        for future in waiting:
            future.cancel()
        pool.shutdown(wait=True, cancel_futures=True)


_worker: Worker | None = None


def _start(options: BenchOptions) -> None:
    global _worker  # noqa: PLW0603 - a pool's processes have no other place to keep it
    # Ctrl-C goes to the whole process group; the parent alone decides what it means.
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker = Worker(options)
    import atexit

    atexit.register(_worker.close)


def _run(key: Key) -> Outcome:
    assert _worker is not None
    return _worker.run(key)
