"""A workspace with a conversation, and its tools."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from fsagent.config import Settings
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
from fsagent.search.ranked import Search
from fsagent.tools.files import FileTools
from fsagent.tools.memory import MemoryTools
from fsagent.tools.registry import Toolbox
from fsagent.tools.scope import Scope
from fsagent.tools.windows import Windows

ZONE = timezone(timedelta(hours=1))
TALK = [
    (27, "Caroline", "I went to an adoption agency today."),
    (28, "Melanie", "My kids painted a sunset."),
    (28, "Caroline", "I adopted a puppy called Rex."),
    (29, "Melanie", "How is the puppy?\nDoes Rex sleep?"),
]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    now = datetime(2026, 11, 30, 12, 0, tzinfo=ZONE)
    settings = Settings(timezone="Europe/Berlin")
    with Workspace.init(tmp_path / "memory", settings=settings, clock=lambda: now) as opened:
        opened.recall.append_many(
            Draft(
                "user",
                name,
                text,
                turn=f"t{place}",
                ts=datetime(2026, 11, day, 13, 56, tzinfo=ZONE),
                session=f"s/{day}",
            )
            for place, (day, name, text) in enumerate(TALK)
        )
        yield opened


@pytest.fixture
def scope(workspace: Workspace) -> Scope:
    search = Search(workspace.tree, workspace.settings, workspace.clock)
    return Scope(workspace, search, Windows(32_768), 32_768)


@pytest.fixture
def files(scope: Scope) -> FileTools:
    return FileTools(scope)


@pytest.fixture
def memory(scope: Scope) -> MemoryTools:
    return MemoryTools(scope)


@pytest.fixture
def box(files: FileTools, memory: MemoryTools) -> Toolbox:
    return Toolbox(
        [
            *files.tools(),
            *memory.core_tools(),
            *memory.archival_tools(),
            *memory.recall_tools(),
        ]
    )
