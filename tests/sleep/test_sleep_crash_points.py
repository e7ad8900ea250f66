"""Every storage call of a sleep fails once: by a kill, an EIO, a disk that is full."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

DRIVER = Path(__file__).with_name("sleep_crash_driver.py")
PATHS = (ROOT, ROOT / "tests/memory", ROOT / "tests/sleep")
MODES = ("kill", "eio", "enospc")


@pytest.fixture
def fast_folder() -> Iterator[Path]:
    """A folder in memory where there is such a disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def drive(folder: Path, *arguments: str) -> dict[str, Any]:
    result = subprocess.run(
        [sys.executable, str(DRIVER), str(folder), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PATHS))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    tally: dict[str, Any] = json.loads(result.stdout)
    return tally


@pytest.mark.parametrize("mode", MODES)
def test_no_crash_point_of_a_sleep_loses_or_doubles_anything(fast_folder: Path, mode: str) -> None:
    tally = drive(fast_folder, mode)
    print(f"sleep crash points ({mode}): {tally['points']}: {len(tally['wrong'])} wrong")
    assert tally["points"] > 25
    assert tally["wrong"] == []


def test_the_crash_points_bite_a_careless_sleep(fast_folder: Path) -> None:
    wrong = drive(fast_folder, "kill", "naive")["wrong"]
    assert any("lost" in text or "missing" in text for text in wrong)
