"""Fixtures of the agent's tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_kit import MakeAgent, Ticking

from fsagent.agent.loop import Agent
from fsagent.config import Settings
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Scripted


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    settings = Settings(timezone="Europe/Berlin")
    with Workspace.init(tmp_path / "memory", settings=settings, clock=Ticking()) as opened:
        yield opened


@pytest.fixture
def fast_workspace() -> Iterator[Workspace]:
    """A workspace in memory where there is such a disk: thousands of syncs cost nothing there."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        settings = Settings(timezone="Europe/Berlin")
        root = Path(folder) / "memory"
        with Workspace.init(root, settings=settings, clock=Ticking()) as opened:
            yield opened


@pytest.fixture
def make_agent(request: pytest.FixtureRequest) -> MakeAgent:
    """Make an agent on a script; keyword arguments that are settings go into its settings."""

    fast = "fast_workspace" in request.fixturenames
    workspace = request.getfixturevalue("fast_workspace" if fast else "workspace")

    def make(script: Any, **values: Any) -> Agent:
        own = {"profile", "tools", "recorder", "resume", "summarise", "search", "history"}
        settings = workspace.settings.with_values(
            "test", **{name: value for name, value in values.items() if name not in own}
        )
        kept = {name: value for name, value in values.items() if name in own}
        kept.setdefault("history", False)
        model = script if hasattr(script, "complete") else Scripted(script)
        return Agent(workspace, model, settings=settings, **kept)

    return make
