"""A fault server and a client that never really waits."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fault_server import FaultServer, Tally

from fsagent.models.openai_chat import OpenAIChat


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer().running() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    """The seconds that the client would have waited."""
    return []


@pytest.fixture
def connect(server: FaultServer, waits: list[float]) -> Callable[..., OpenAIChat]:
    """Make a client of the fault server; keyword arguments as `OpenAIChat` takes them."""

    def make(**options: Any) -> OpenAIChat:
        given = {
            "base_url": server.url,
            "timeout_s": 5.0,
            "idle_timeout_s": 5.0,
            "sleep": waits.append,
            "dice": random.Random(7),
            **options,
        }
        return OpenAIChat("m", **given)

    return make


TALLY = pytest.StashKey[Tally]()


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Tally:
    return request.config.stash.setdefault(TALLY, Tally())


@pytest.fixture
def counted_fault(request: pytest.FixtureRequest, tally: Tally) -> Iterator[None]:
    """Count a fault, and whether it went as specified."""
    failed = request.session.testsfailed
    tally.faults += 1
    yield
    tally.as_specified += request.session.testsfailed == failed


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    tally = config.stash.get(TALLY, None)
    if tally is not None:
        terminalreporter.write_line(
            f"provider faults: {tally.faults} faults: {tally.as_specified} as specified, "
            f"{tally.streams_cut} streams cut: {tally.half_calls} tools run from cut calls"
        )
