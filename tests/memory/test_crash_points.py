"""Every storage call of every scenario fails once: by a kill, an EIO, a disk that is full."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fsagent.errors import WorkspaceError
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace

DRIVER = Path(__file__).with_name("crash_driver.py")
SCENARIOS = ("turn", "day change", "import", "edit", "insert", "mend")


def drive(folder: Path, scenario: str, *extra: str) -> dict[str, Any]:
    home = folder / f"{scenario}{len(extra)}"
    home.mkdir()
    result = subprocess.run(
        [sys.executable, str(DRIVER), scenario, str(home), *extra],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    tally: dict[str, Any] = json.loads(result.stdout)
    return tally


def test_no_crash_point_loses_or_doubles_anything(fast_folder: Path, suite_line: list[str]) -> None:
    tallies = [drive(fast_folder, scenario) for scenario in SCENARIOS]
    points = sum(tally["points"] for tally in tallies)
    wrong = [text for tally in tallies for text in tally["wrong"]]
    lost, twice, unreadable = (
        sum(word in text for text in wrong) for word in ("lost", "twice", "unreadable")
    )
    suite_line.append(
        f"crash points: {points} crash points: {lost} acknowledged turns lost, "
        f"{twice} edits twice, {unreadable} unreadable files"
    )
    assert points > 150
    assert wrong == []


@pytest.mark.parametrize("scenario", ["turn", "edit"])
def test_the_crash_points_bite_files_written_the_common_way(
    fast_folder: Path, scenario: str
) -> None:
    assert drive(fast_folder, scenario, "naive")["wrong"]


EMPTY = hashlib.sha256(b"").hexdigest()
LIMITED = """
import resource, signal, sys
from fsagent.errors import WorkspaceError
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
root, limit = sys.argv[1], int(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
memory = Workspace.open(root)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    memory.recall.append(Draft("user", "Ann", "x" * 5000))
except WorkspaceError as err:
    print(err)
"""


def test_a_short_write_leaves_the_file_as_it_was_and_is_told(memory: Workspace) -> None:
    first = memory.recall.append(Draft("user", "Ann", "hello"))
    before = memory.tree.read_bytes(first.path)
    today = Workspace.open(memory.root)
    path = today.recall.path_of(today.recall.now())
    digest = today.tree.digest(path)
    today.close()
    for limit in (2048, 3000, 4000):
        result = subprocess.run(
            [sys.executable, "-c", LIMITED, str(memory.root), str(limit)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.stdout.startswith("This turn is not saved: "), result.stderr
        assert "File too large" in result.stdout
        assert str(memory.root) not in result.stdout
        assert memory.tree.digest(path) in (digest, EMPTY)
    assert memory.tree.read_bytes(first.path) == before


def test_a_full_disk_is_told_and_harms_nothing(
    memory: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    reference = memory.recall.append(Draft("user", "Ann", "hello"))
    before = memory.tree.read_bytes(reference.path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(WorkspaceError, match=r"This turn is not saved: .*No space left"):
            memory.recall.append(Draft("user", "Ann", "again"))
        with pytest.raises(WorkspaceError, match="nothing was saved"):
            memory.core.append("human", "- fact")
    assert memory.tree.read_bytes(reference.path) == before
    assert memory.recall.append(Draft("user", "Ann", "again")).seq == reference.seq + 1
    leftovers = list(memory.root.rglob(".fsagent-tmp-*"))
    assert leftovers == []
