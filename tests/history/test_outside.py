"""Edits from outside: noticed, committed as the person's, shown to the agent, never lost."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from history_kit import Turns, git

from fsagent import Workspace
from fsagent.memory.history.messages import TurnNote
from fsagent.workspace.watch import Watcher, is_temporary


def wait_for(state: Callable[[], bool], *, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not state():
        assert time.monotonic() < end, "the state was not reached"
        time.sleep(0.02)


@pytest.fixture
def watched(turns: Turns) -> Iterator[tuple[Workspace, list[str]]]:
    """A workspace under watch, with the list of commits the watch made."""
    turns.play("Hello", lambda: turns.workspace.core.append("human", "- A."))
    commits: list[str] = []

    def look() -> None:
        commit = turns.workspace.history.look()
        if commit:
            commits.append(commit)

    watcher = Watcher(turns.workspace.root, look, quiet_s=0.1, rescan_s=0.5)
    watcher.start()
    yield turns.workspace, commits
    watcher.stop()


def committed(workspace: Workspace, path: str) -> str:
    return git(workspace.root, "show", f"HEAD:{path}", check=False)


def by_rename(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.swp")
    beside.write_text(text)
    beside.replace(path)


def by_backup(path: Path, text: str) -> None:
    path.replace(path.with_name(path.name + "~"))
    path.write_text(text)


def in_place(path: Path, text: str) -> None:
    with path.open("r+", encoding="utf-8") as file:
        file.truncate()
        for char in text:
            file.write(char)
            file.flush()


def by_sed(path: Path, text: str) -> None:
    subprocess.run(["sed", "-i", f"s/A\\./{text.strip()}/", str(path)], check=True)


@pytest.mark.parametrize("save", [by_rename, by_backup, in_place, by_sed])
def test_every_way_of_saving_is_committed_as_the_persons(
    watched: tuple[Workspace, list[str]], save: Callable[[Path, str], None]
) -> None:
    workspace, _ = watched
    path = workspace.root / "core" / "human.md"
    save(path, "Edited outside.\n")
    wait_for(lambda: "Edited outside." in committed(workspace, "core/human.md"))
    assert git(workspace.root, "log", "-1", "--format=%an") == "Ann (outside fsagent)"
    assert "~" not in git(workspace.root, "ls-tree", "-r", "--name-only", "HEAD")


def test_its_own_commits_wake_no_loop(watched: tuple[Workspace, list[str]]) -> None:
    workspace, commits = watched
    (workspace.root / "archival" / "x.md").write_text("x\n")
    wait_for(lambda: len(commits) == 1)
    head = git(workspace.root, "rev-parse", "HEAD")
    quiet = threading.Event()
    quiet.wait(1.5)  # Three rescans.
    assert (len(commits), git(workspace.root, "rev-parse", "HEAD")) == (1, head)


def test_a_burst_of_files_is_taken_in_whole(watched: tuple[Workspace, list[str]]) -> None:
    workspace, _ = watched
    count = int(os.environ.get("FSAGENT_BURST", "2000"))
    for number in range(count):
        folder = workspace.root / "archival" / f"b{number % 20}"
        folder.mkdir(exist_ok=True)
        (folder / f"n{number}.md").write_text(f"{number}\n")

    def all_in() -> bool:
        names = git(workspace.root, "ls-tree", "-r", "--name-only", "HEAD", "archival")
        return len(names.split("\n")) == count

    wait_for(all_in, seconds=60)


def test_a_deleted_file_stays_in_the_history(watched: tuple[Workspace, list[str]]) -> None:
    workspace, commits = watched
    (workspace.root / "core" / "persona.md").unlink()
    wait_for(lambda: bool(commits))
    assert git(workspace.root, "show", "--format=%s", "--name-status") == (
        "persona: deleted\n\nD\tcore/persona.md"
    )


def test_a_turn_under_way_is_not_taken_for_an_outside_edit(turns: Turns) -> None:
    history = turns.workspace.history
    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    history.begin_turn("t-2")
    turns.workspace.core.append("human", "- B.")
    found: list[str | None] = []
    other = Workspace.open(turns.workspace.root)
    thread = threading.Thread(target=lambda: found.append(other.history.look()))
    thread.start()
    thread.join()
    other.close()
    assert found == [None]
    assert history.commit_turn(TurnNote("t-2"))


def test_the_agent_is_shown_the_edits_of_others_once(turns: Turns) -> None:
    history = turns.workspace.history
    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    path = turns.workspace.root / "core" / "human.md"
    path.write_text(path.read_text().replace("- A.", "- A, says Ann."))
    shown = history.begin_turn("t-2")
    assert "-- A.\n+- A, says Ann.\n" in shown
    assert "core/human.md" in shown
    history.commit_turn(TurnNote("t-2"))
    assert history.begin_turn("t-3") == ""


def test_edits_that_watch_committed_are_shown_too_and_the_agents_own_are_not(
    turns: Turns,
) -> None:
    history = turns.workspace.history
    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    (turns.workspace.root / "archival" / "x.md").write_text("From outside.\n")
    history.look()
    shown = history.begin_turn("t-2")
    assert "+From outside." in shown
    assert "- A." not in shown


def test_an_outside_edit_in_the_middle_of_a_turn_stays_the_persons(turns: Turns) -> None:
    history = turns.workspace.history
    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    history.begin_turn("t-2")
    turns.workspace.core.append("human", "- B.")
    (turns.workspace.root / "archival" / "x.md").write_text("Meanwhile.\n")
    history.commit_turn(TurnNote("t-2"))
    assert "+Meanwhile." in history.begin_turn("t-3")
    assert git(turns.workspace.root, "log", "-2", "--format=%ae %s").split("\n") == [
        "outside@fsagent.invalid document x: new",
        'agent@fsagent.invalid human: add "B."',
    ]


def test_a_turn_that_died_before_its_commit_is_caught_up_as_its_own(turns: Turns) -> None:
    workspace = turns.workspace
    turns.play("a", lambda: workspace.core.append("human", "- A."))
    script = (
        "import os, sys; from fsagent import Workspace; ws = Workspace.open(sys.argv[1]);"
        "ws.history.begin_turn('t-dead', model='m'); ws.core.append('human', '- B.'); os._exit(9)"
    )
    import sys

    done = subprocess.run([sys.executable, "-c", script, str(workspace.root)], check=False)
    assert done.returncode == 9
    workspace.history.begin_turn("t-next")
    message = git(workspace.root, "log", "-1", "--format=%B")
    assert "Turn: t-dead" in message
    assert "Memory-By: agent" in message


def test_the_commit_behind_the_reply_is_made_by_the_end(turns: Turns) -> None:
    workspace = turns.workspace
    history = workspace.history
    history.begin_turn("t-1")
    workspace.core.append("human", "- A.")
    history.end_turn(TurnNote("t-1"))
    workspace.close()
    assert "Turn: t-1" in git(workspace.root, "log", "--format=%B")
    assert not list((workspace.root / ".fsagent/history/pending").glob("*.json"))


@pytest.mark.parametrize(
    "name",
    [
        "human.md~",
        "#human.md#",
        "4913",
        "a.tmp",
        "~$notes.md",
        "b.crdownload",
        "x.md.sb-1a2b3c4d-Ab12",
    ],
)
def test_names_that_programs_write_in_passing_are_left_out(name: str) -> None:
    assert is_temporary(f"core/{name}")


@pytest.mark.parametrize("name", ["human.md", "tmp.md", "notes.part.md", "a~b.md", "4913.md"])
def test_names_of_memory_are_not(name: str) -> None:
    assert not is_temporary(f"core/{name}")


def test_two_processes_that_commit_at_once_lose_nothing(turns: Turns) -> None:
    import sys

    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    script = (
        "import sys; from fsagent import Workspace;"
        "from fsagent.memory.history.messages import TurnNote\n"
        "name = sys.argv[2]\n"
        "with Workspace.open(sys.argv[1]) as ws:\n"
        "    for n in range(10):\n"
        "        ws.history.begin_turn(f'{name}-{n}')\n"
        "        ws.archival.insert(f'{name} {n}', 'text')\n"
        "        ws.history.commit_turn(TurnNote(f'{name}-{n}'))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(turns.workspace.root), name])
        for name in ("left", "right", "third")
    ]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    root = turns.workspace.root
    names = git(root, "ls-tree", "-r", "--name-only", "HEAD", "archival/notes").split("\n")
    assert len(names) == 30
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "fsck", "--strict") == ""


def test_where_the_system_refuses_to_watch_it_polls_and_says_so(tmp_path: Path) -> None:
    import sys

    script = (
        "import resource, sys, threading, time; from pathlib import Path\n"
        "from fsagent.workspace.watch import Watcher\n"
        "import watchdog.observers, watchdog.observers.polling\n"
        "looks = []\n"
        "watcher = Watcher(Path(sys.argv[1]), lambda: looks.append(1), quiet_s=0.05, rescan_s=60)\n"
        "held = [open('/dev/null') for _ in range(20)]\n"
        "limit = max(file.fileno() for file in held) + 1\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))\n"
        "watcher.start()\n"
        "for file in held: file.close()\n"
        "end = time.monotonic() + 20\n"
        "while len(looks) < 1 and time.monotonic() < end: time.sleep(0.02)\n"
        "(Path(sys.argv[1]) / 'new.md').write_text('x')\n"
        "while len(looks) < 2 and time.monotonic() < end: time.sleep(0.02)\n"
        "watcher.stop(); print(len(looks), watcher.warning)\n"
    )
    folder = tmp_path / "watched"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("2 the system refuses to watch this folder"), done.stderr
