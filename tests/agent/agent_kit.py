"""What the tests of the agent share: a clock, and scripts without an end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone

from fsagent.agent.loop import Agent

START = datetime(2026, 11, 29, 13, 56, tzinfo=timezone(timedelta(hours=1)))

MakeAgent = Callable[..., Agent]


class Ticking:
    """A clock that goes a second with every look."""

    def __init__(self, start: datetime = START) -> None:
        self.now = start

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def endless(text: str) -> Iterator[str]:
    """Yield the same reply for ever."""
    while True:
        yield text
