"""search and ask as of a date: memory as it stood, nothing written."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from support import Run

from fsagent.agent.loop import Agent
from fsagent.config import Settings
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Scripted, call, reply

OLD = "- Lives in Porto. [2026-11-20:2]"
NEW = "- Lives in Lisbon. [2026-11-25:2]"


@pytest.fixture
def moved(fsagent: Run, tmp_path: Path) -> Path:
    """Return a workspace whose person lived in Porto on the 20th and in Lisbon from the 25th on."""
    root = tmp_path / "memory"
    fsagent("init", str(root))
    for day, edit, city in (
        (20, call("core_memory_append", label="human", content=OLD), "Porto"),
        (25, call("core_memory_replace", label="human", old=OLD, new=NEW), "Lisbon"),
    ):
        now = datetime(2026, 11, day, 12, tzinfo=UTC)
        with Workspace.open(
            root, settings=Settings(timezone="UTC"), clock=lambda now=now: now
        ) as workspace:
            Agent(workspace, Scripted([edit, reply("Noted.")])).run(f"I live in {city}.")
    return root


def tree(root: Path) -> dict[str, bytes]:
    """Return every file of memory, without what is derived."""
    kept = (path for path in root.rglob("*") if path.is_file() and ".fsagent" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in kept}


def test_search_finds_the_fact_that_held_then(fsagent: Run, moved: Path) -> None:
    before = tree(moved)
    past = fsagent("search", "lives", "-w", str(moved), "--as-of", "2026-11-22")
    assert OLD in past.stdout and "Lisbon" not in past.stdout
    assert NEW in fsagent("search", "lives", "-w", str(moved)).stdout
    assert tree(moved) == before


def test_ask_answers_from_memory_as_it_stood_and_writes_nothing(fsagent: Run, moved: Path) -> None:
    before = tree(moved)
    done = fsagent("ask", "-q", "-w", str(moved), "--as-of", "2026-11-22", "Where do I live?")
    assert done.stdout.startswith("Porto")
    assert tree(moved) == before
