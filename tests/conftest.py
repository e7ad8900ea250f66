"""What every test needs: no network, no home, a fixed clock, a workspace."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import NOW, ROOT, Run

from fsagent.config import Settings
from fsagent.memory.workspace import Workspace

_lines: list[str] = []


@pytest.fixture(autouse=True)
def clean_environment(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep the person's own settings, keys and home out of the tests."""
    for key in list(os.environ):
        if key.startswith(("FSAGENT_", "OPENAI_")) and key not in (
            "FSAGENT_NIGHTLY",
            "FSAGENT_LOCOMO",
        ):
            monkeypatch.delenv(key)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FSAGENT_LOCAL_PORTS", "none")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Return a new workspace whose clock stands at NOW."""
    with Workspace.init(
        tmp_path / "memory", settings=Settings(timezone="UTC"), clock=lambda: NOW
    ) as made:
        yield made


@pytest.fixture
def locomo() -> Path:
    """Return the file of the three development conversations; skip where it is not at hand."""
    named = os.environ.get("FSAGENT_LOCOMO")
    path = Path(named) if named else ROOT.parent / "shared/data/locomo/locomo3.json"
    if not path.is_file():
        pytest.skip("needs LoCoMo's data: set FSAGENT_LOCOMO to its file")
    return path


@pytest.fixture
def fsagent(tmp_path: Path) -> Run:
    """Return a function that runs the real command line in a process of its own, in `tmp_path`."""

    def run(
        *arguments: str, stdin: str | None = None, cwd: Path = tmp_path
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "fsagent", *arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
            timeout=100,
            check=False,
        )

    return run


@pytest.fixture
def suite_line() -> list[str]:
    """The list a suite puts its line into; printed at the end of the run."""
    return _lines


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the suites' lines."""
    for line in _lines:
        terminalreporter.write_line(line)
    _lines.clear()
