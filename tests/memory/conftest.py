"""Workspaces for the tests of the tiers."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from memory_kit import Clock

from fsagent.config import Settings
from fsagent.memory.workspace import Workspace


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still at NOW."""
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Workspace]:
    """A new workspace in UTC."""
    with Workspace.init(
        tmp_path / "mem", settings=Settings(timezone="UTC"), clock=clock
    ) as workspace:
        yield workspace


@pytest.fixture
def fast_folder() -> Iterator[Path]:
    """A folder in memory where the system has one, so that ten thousand syncs cost nothing."""
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=shared if os.access(shared, os.W_OK) else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def nightly() -> bool:
    """Whether the suites run at their full size (FSAGENT_NIGHTLY=1)."""
    return bool(os.environ.get("FSAGENT_NIGHTLY"))
