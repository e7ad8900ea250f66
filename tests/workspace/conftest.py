"""Trees for the tests of files, and the suites' lines at the end of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fsagent.workspace.tree import Tree

NIGHTLY = bool(os.environ.get("FSAGENT_NIGHTLY"))
_lines: list[str] = []


@pytest.fixture
def suite_line() -> list[str]:
    """The list a suite puts its line into; printed at the end of the run."""
    return _lines


@pytest.fixture
def nightly() -> bool:
    """Whether the suites run at their full size (FSAGENT_NIGHTLY=1)."""
    return NIGHTLY


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace's folder with a block, a note and a recall line, beside an outside tree."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(b"canary\n")
    folder = tmp_path / "mem"
    for name, data in {
        "fsagent.yaml": b"model: offline\n",
        "core/persona.md": b"I am kind.\n",
        "archival/note.md": b"A note.\n",
        "recall/2026/2026-11-30.jsonl": b"{}\n",
        "prompts/filesystem.md": b"Be brief.\n",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (tmp_path / "mem-evil").mkdir()
    (tmp_path / "mem-evil" / "x.md").write_bytes(b"canary\n")
    return folder


@pytest.fixture
def tree(root: Path) -> Iterator[Tree]:
    """The guarded tree of `root`."""
    opened = Tree(root)
    yield opened
    opened.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the suites' lines."""
    for line in _lines:
        terminalreporter.write_line(line)
    _lines.clear()
