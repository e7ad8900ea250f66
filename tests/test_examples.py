"""The examples run as they stand, without a key and without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SHOWS = {
    "remember.py": ["Rex", "recall/20"],
    "own_tool.py": ["High water is at 14:20. (3 steps, 2 tool calls)"],
    "follow.py": ["imported archival/boat.md", "> search_files(", "Havella", "(answered, "],
}


def test_every_example_is_run_here() -> None:
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(SHOWS)


@pytest.mark.parametrize("name", sorted(SHOWS))
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("OPENAI")},
        "HOME": str(tmp_path),
        "PYTHONPATH": str(EXAMPLES.parent),
        "PYTHONUTF8": "1",
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), str(tmp_path / "memory")],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    for text in SHOWS[name]:
        assert text in done.stdout
