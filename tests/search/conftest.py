"""Workspaces for the tests of search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from fsagent.config import Settings
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=timezone(timedelta(hours=8)))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Workspace]:
    """An empty workspace whose clock stands still."""
    with Workspace.init(
        tmp_path / "memory", settings=Settings(timezone="Asia/Shanghai"), clock=lambda: NOW
    ) as workspace:
        yield workspace


Say = Callable[..., None]


@pytest.fixture
def say(memory: Workspace) -> Say:
    """Append lines to recall: say("2026-11-29", "Ann: hello", "Bob: hi")."""

    def append(day: str, *lines: str, session: str | None = None, images: str = "") -> None:
        start = datetime.fromisoformat(f"{day}T13:56:00+08:00")
        drafts = []
        for index, line in enumerate(lines):
            name, _, text = line.partition(": ")
            drafts.append(
                Draft(
                    role="user",
                    name=name,
                    content=text,
                    ts=start + timedelta(seconds=index),
                    session=session or day,
                    images=(images,) if images else (),
                )
            )
        memory.recall.append_many(drafts)

    return append
