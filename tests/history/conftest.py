"""A workspace with real git, in surroundings that are poisoned on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from history_kit import Clock, Turns, fingerprint, poison

from fsagent import Workspace
from fsagent.config import Settings


@pytest.fixture(autouse=True)
def canary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Poisoned surroundings for every test here; whatever a test does, nothing of them may run."""
    path = poison(monkeypatch, tmp_path)
    monkeypatch.setenv("FSAGENT_CONFIG", str(tmp_path / "no-config.yaml"))
    other = fingerprint(tmp_path / "other")
    yield path
    assert not path.exists(), path.read_text()
    assert fingerprint(tmp_path / "other") == other


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reopen(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., Workspace]]:
    """Opens the workspace (made at first), as often as a test likes."""
    opened: list[Workspace] = []

    def open_it(folder: Path | None = None) -> Workspace:
        root = folder or tmp_path / "ws"
        workspace = Workspace.init(
            root, clock=clock, settings=Settings(timezone="UTC", user_name="Ann")
        )
        opened.append(workspace)
        return workspace

    yield open_it
    for workspace in opened:
        workspace.close()


@pytest.fixture
def workspace(reopen: Callable[..., Workspace]) -> Workspace:
    return reopen()


@pytest.fixture
def turns(workspace: Workspace, clock: Clock) -> Turns:
    return Turns(workspace, clock)
