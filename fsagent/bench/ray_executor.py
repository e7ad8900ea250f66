"""Answer a run's questions on a Ray cluster: an actor a worker, each with its own stores.

The cluster is that of `RAY_ADDRESS`, else one on this machine for the time of the run. On other
machines fsagent must be installed, and the data file lie at the same path.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Generator, Sequence
from typing import Any

from fsagent.bench.options import BenchOptions
from fsagent.bench.rundir import Key
from fsagent.bench.worker import Outcome, Worker
from fsagent.errors import ConfigError


def on_ray(options: BenchOptions, keys: Sequence[Key]) -> Generator[Outcome, None, None]:
    """Yield an outcome for each key, as it comes."""
    try:
        import ray
    except ImportError as err:
        raise ConfigError("--executor ray needs Ray: pip install 'fsagent[ray]'") from err

    started = not ray.is_initialized()
    if started:
        _start(ray, options.workers)
    remote = ray.remote(num_cpus=1)(Worker)
    located = dataclasses.replace(options, data=options.data.resolve())
    actors: list[Any] = [remote.remote(located) for _ in range(options.workers)]
    idle, running, rest = list(actors), dict[Any, Any](), iter(keys)
    try:
        while True:
            while idle and (key := next(rest, None)):
                actor = idle.pop()
                running[actor.run.remote(key)] = actor
            if not running:
                return
            done, _ = ray.wait(list(running))
            for reference in done:
                idle.append(running.pop(reference))
                yield _outcome(ray, reference)
    finally:
        # Closed, not killed: each deletes its store. A run that is broken off waits for no answer.
        ray.wait([actor.close.remote() for actor in actors], num_returns=len(actors), timeout=10)
        for actor in actors:
            ray.kill(actor)
        if started:
            ray.shutdown()


def _start(ray: Any, workers: int) -> None:
    """Join the cluster of `RAY_ADDRESS`, or start one of `workers` processors on this machine."""
    from fsagent.config import environment

    address = environment().get("RAY_ADDRESS")
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address:
        ray.init(address=address, **quiet)
    else:
        ray.init(num_cpus=workers, include_dashboard=False, **quiet)


def _outcome(ray: Any, reference: Any) -> Outcome:
    try:
        outcome: Outcome = ray.get(reference)
    except ray.exceptions.RayTaskError as err:
        # What a worker raised counts, not that it was raised elsewhere.
        raise err.cause from err
    return outcome
