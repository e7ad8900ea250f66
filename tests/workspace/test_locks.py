"""Locks: between processes and threads, re-entrant, gone with their holder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from fsagent.errors import WorkspaceLocked
from fsagent.workspace.derived import lock_name
from fsagent.workspace.locks import filelock_held
from fsagent.workspace.tree import Tree

HOLDER = """
import sys
from pathlib import Path
from fsagent.workspace.tree import Tree
with Tree(Path(sys.argv[1])).lock(sys.argv[2]):
    print("held", flush=True)
    sys.stdin.readline()
"""


def holder(root: Path, name: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(root), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_lock_held_elsewhere_is_told_after_its_time(tree: Tree) -> None:
    other = holder(tree.root, "recall")
    with (
        pytest.raises(WorkspaceLocked, match="recall is held"),
        tree.lock("recall", timeout_s=0.05),
    ):
        pass
    other.communicate("\n")
    with tree.lock("recall", timeout_s=0):
        pass


def test_a_killed_holder_holds_nothing(tree: Tree) -> None:
    other = holder(tree.root, "turn")
    other.kill()
    other.communicate()
    with tree.lock("turn", timeout_s=1):
        pass


def test_a_lock_is_taken_again_by_its_own_thread_only(tree: Tree) -> None:
    seen: list[str] = []

    def other_thread() -> None:
        try:
            with tree.lock("recall", timeout_s=0.02):
                seen.append("taken")
        except WorkspaceLocked:
            seen.append("locked")

    with tree.lock("recall"), tree.lock("recall/2026/2026-11-30.jsonl"):
        thread = threading.Thread(target=other_thread)
        thread.start()
        thread.join()
        with pytest.raises(WorkspaceLocked), Tree(tree.root).lock("recall", timeout_s=0):
            pass
    assert seen == ["locked"]
    other_thread()
    assert seen == ["locked", "taken"]


def test_an_error_inside_lets_go(tree: Tree) -> None:
    with pytest.raises(ZeroDivisionError), tree.lock("recall"):
        raise ZeroDivisionError
    other = holder(tree.root, "recall")
    other.communicate("\n")


def test_locks_work_on_when_their_folder_was_deleted(tree: Tree) -> None:
    with tree.lock("recall"):
        pass
    shutil.rmtree(tree.root / ".fsagent")
    other = holder(tree.root, "recall")
    with pytest.raises(WorkspaceLocked), tree.lock("recall", timeout_s=0.02):
        pass
    other.communicate("\n")


def test_filelock_and_flock_hold_the_same_lock(tree: Tree) -> None:
    with tree.lock("recall"):
        path = tree.derived / "locks" / lock_name("recall")
        with pytest.raises(WorkspaceLocked), filelock_held(path, "recall", 0.02):
            pass
    with (
        filelock_held(path, "recall", 0.5),
        pytest.raises(WorkspaceLocked),
        tree.lock("recall", timeout_s=0.02),
    ):
        pass


def test_one_time_locks_that_nobody_holds_are_dropped(tree: Tree) -> None:
    for name in ("session-dead", "an odd name", "recall", "turn"):
        with tree.lock(name):
            pass
    living = holder(tree.root, "session-alive")
    folder = tree.derived / "locks"
    with tree.lock("session-mine"):
        assert tree.state.drop_spare_locks() == 2
        kept = {path.name for path in folder.iterdir()}
        assert kept == {"recall.lock", "turn.lock", "session-alive.lock", "session-mine.lock"}
        with closing(Tree(tree.root)) as other, pytest.raises(WorkspaceLocked):
            other.lock("session-mine", timeout_s=0.02).__enter__()
    living.communicate("\n")
    with (
        closing(Tree(tree.root)) as other,
        tree.lock("session-dead"),
        pytest.raises(WorkspaceLocked),
    ):
        other.lock("session-dead", timeout_s=0.02).__enter__()
    assert tree.state.drop_spare_locks() == 3


def test_a_lock_is_exclusive_while_another_drops_its_file(tree: Tree) -> None:
    count = tree.root / "count"
    count.write_text("0")

    def work() -> None:
        with closing(Tree(tree.root)) as own:
            for _ in range(100):
                with own.lock("session-shared"):
                    count.write_text(str(int(count.read_text()) + 1))
                own.state.drop_spare_locks()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count.read_text() == "400"


def test_paths_share_a_bounded_number_of_locks(tree: Tree) -> None:
    names = {lock_name(f"archival/note-{number}.md") for number in range(2000)}
    assert len(names) <= 64
    assert lock_name("recall") == lock_name("recall/2026/2026-11-30.jsonl") == "recall.lock"
    assert lock_name("turn") not in names
    assert lock_name("core/Human.md") == lock_name("core/human.md")
    assert "/" not in lock_name("../x") and lock_name("..").endswith(".lock")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_share_its_parents_lock(tree: Tree) -> None:
    program = f"""
import os
from pathlib import Path
from fsagent.errors import WorkspaceLocked
from fsagent.workspace.tree import Tree
tree = Tree(Path({str(tree.root)!r}))
with tree.lock("recall"):
    child = os.fork()
    if child == 0:
        try:
            with tree.lock("recall", timeout_s=0.05):
                os._exit(1)
        except WorkspaceLocked:
            os._exit(0)
    print(os.waitpid(child, 0)[1])
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout == "0\n"
