"""Several processes of two workspaces on one shared block: nothing lost; the plain way loses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fsagent.config import Settings
from fsagent.memory.workspace import Workspace

EDITOR = """
import sys
from fsagent.errors import WorkspaceLocked
from fsagent.memory.workspace import Workspace
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])

def insisting(edit, *arguments, **named):
    # On a machine under load a lock may be held for long: that is told, and tried again.
    for _ in range(30):
        try:
            return edit(*arguments, **named)
        except WorkspaceLocked:
            pass
    raise SystemExit("the lock was never free")

with Workspace.open(root) as memory:
    print("ready", flush=True); sys.stdin.readline()
    core = memory.core
    for number in range(count):
        insisting(core.append, "board", f"- {name} {number}?")
        insisting(core.replace, "board", f"- {name} {number}?", f"- {name} {number}!")
        base = core.block("board").value
        new = base.replace(f"- {name} {number}!", f"- {name} {number}.")
        insisting(core.write, "board", f"{new}\\n- {name} {number} again.", base=base)
"""

NAIVE = """
import sys
from pathlib import Path
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
path = Path(root).parent / "team" / "board.md"
print("ready", flush=True); sys.stdin.readline()
for number in range(count):
    text = path.read_text()
    path.write_text(text + f"- {name} {number}.\\n")
"""

WRITERS = (("ann", "a1"), ("ann", "a2"), ("bob", "b1"), ("bob", "b2"))


@pytest.fixture
def board(fast_folder: Path) -> Path:
    """A shared block that two workspaces mount."""
    team = fast_folder / "team"
    team.mkdir()
    (team / "board.md").write_text("---\nlimit: 1000000   # characters\n---\n", encoding="utf-8")
    for name in ("ann", "bob"):
        Workspace.init(fast_folder / name, settings=Settings(timezone="UTC")).close()
        settings = "shared: ../team\ncore_tokens: 100000\n"
        (fast_folder / name / "fsagent.yaml").write_text(settings, encoding="utf-8")
    return team / "board.md"


def together(program: str, folder: Path, count: int) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(folder / root), name, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for root, name in WRITERS
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in running:
        process.communicate(timeout=300)
        assert process.returncode == 0


def test_two_workspaces_edit_one_shared_block_without_losing_an_edit(
    board: Path, nightly: bool, suite_line: list[str]
) -> None:
    count = 100 if nightly else 25
    together(EDITOR, board.parent.parent, count)
    head, _, body = board.read_text(encoding="utf-8").rpartition("---\n")
    lines = body.splitlines()
    wanted = {
        line
        for _, name in WRITERS
        for number in range(count)
        for line in (f"- {name} {number}.", f"- {name} {number} again.")
    }
    lost = wanted - set(lines)
    edits = 3 * len(WRITERS) * count
    suite_line.append(f"shared blocks: {edits} edits of 4 processes: {len(lost)} lost")
    assert lost == set()
    assert len(lines) == len(wanted)
    assert head == "---\nlimit: 1000000   # characters\n"
    with Workspace.open(board.parent.parent / "ann") as ann:
        assert ann.shared_history is not None
        log = ann.shared_history.repository.git.text(
            "log", "--format=%an %(trailers:key=Workspace)"
        )
    assert log.count("Workspace: ann") == log.count("Workspace: bob") == edits // 2
    assert log.count("outside") == 1, "the file as it was found"


def test_the_writers_bite_a_block_written_the_plain_way(board: Path) -> None:
    """The control."""
    together(NAIVE, board.parent.parent, 200)
    assert board.read_text(encoding="utf-8").count("\n- ") < len(WRITERS) * 200
