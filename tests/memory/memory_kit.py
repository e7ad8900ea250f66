"""A clock for the tests of the tiers."""

from __future__ import annotations

from datetime import UTC, datetime

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now
