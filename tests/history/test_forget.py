"""Forgetting: from memory with the history kept, or from everything, shown by a scan."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from history_kit import Turns, fsagent, git

from fsagent import Workspace
from fsagent.errors import HistoryError
from fsagent.memory.history.needle import FORGOTTEN, Needle
from fsagent.memory.history.purge import find, purge
from fsagent.memory.history.sweep import sweep
from fsagent.workspace.records import decode
from fsagent.workspace.view import raw_lines, view_lines

SECRET = "Biscuit Müller"


def fill(turns: Turns) -> Workspace:
    """A workspace that says the secret in every way: blocks, notes, names, log, messages."""
    workspace = turns.workspace
    turns.play(f"My dog is {SECRET}", lambda: workspace.core.append("human", f"- Dog: {SECRET}."))
    turns.play("Cake?", lambda: workspace.core.append("human", "- Likes cake."))
    turns.play("A note", lambda: workspace.archival.insert(SECRET, "Who he is."))
    turns.play(
        "One more", lambda: workspace.archival.insert("Trip", f"With {SECRET.lower()}\nto Rome")
    )
    turns.play("No", lambda: workspace.core.replace("human", f"- Dog: {SECRET}.", ""))
    workspace.history.commit_everything()
    return workspace


def test_the_scan_bites_before_the_purge(turns: Turns) -> None:
    workspace = fill(turns)
    swept = sweep(workspace.history.repository, Needle(SECRET))
    kinds = {place.split(" ")[0].split("/")[0] for place in swept.found}
    assert {"blob", "commit", "tree", "archival", "recall", ".git"} <= kinds


def test_after_a_purge_no_object_and_no_file_holds_it(turns: Turns) -> None:
    workspace = fill(turns)
    (workspace.root / ".fsagent" / "index").mkdir(exist_ok=True)
    (workspace.root / ".fsagent" / "index" / "segment").write_bytes(b"\0packed words")
    (workspace.root / ".fsagent" / "quarantine").mkdir(exist_ok=True)
    (workspace.root / ".fsagent" / "quarantine" / "x.torn").write_text(f"torn {SECRET}")
    subjects = git(workspace.root, "log", "--format=%s").split("\n")
    needle = Needle(SECRET)
    purge(workspace.history.repository, needle)
    swept = sweep(workspace.history.repository, needle)
    assert swept.found == ()
    assert swept.objects > 10
    everything = subprocess.run(
        ["grep", "-rail", "müller", str(workspace.root)], capture_output=True, check=False
    )
    assert everything.stdout == b""
    assert not (workspace.root / ".fsagent" / "index").exists()
    after = git(workspace.root, "log", "--format=%s").split("\n")
    assert len(after) == len(subjects)
    assert FORGOTTEN in after
    assert git(workspace.root, "fsck", "--strict", "--unreachable") == ""
    assert git(workspace.root, "reflog") == ""
    assert git(workspace.root, "status", "--porcelain") == ""


def test_the_log_keeps_its_numbers_and_the_rest_of_its_words(turns: Turns) -> None:
    workspace = fill(turns)
    day = workspace.recall.days()[0]
    before = view_lines(day, workspace.tree.read_bytes(day))
    purge(workspace.history.repository, Needle(SECRET))
    data = workspace.tree.read_bytes(day)
    after = view_lines(day, data)
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        assert new == ("" if "Müller" in old else old)
    assert [decode(line).seq for line in raw_lines(data)] == list(range(1, len(after) + 1))


def test_the_other_facts_and_turns_stay(turns: Turns) -> None:
    workspace = fill(turns)
    purge(workspace.history.repository, Needle(SECRET))
    assert workspace.core.block("human").value == "- Likes cake."
    assert workspace.tree.read_bytes("archival/notes/trip.md").endswith(b"---\nto Rome\n")
    assert not workspace.tree.exists("archival/notes/biscuit-müller.md")
    assert "Turn: t-0002" in git(workspace.root, "log", "--format=%B")
    turns.play("Again", lambda: workspace.core.append("human", "- Likes tea."))
    assert git(workspace.root, "log", "-1", "--format=%s") == 'human: add "Likes tea."'


def test_branches_tags_stashes_and_unreachable_objects_are_cleaned_too(turns: Turns) -> None:
    workspace = fill(turns)
    root = workspace.root
    git(root, "tag", "-a", "old", "-m", f"With {SECRET}", "HEAD~2")
    git(root, "branch", "side", "HEAD~3")
    git(root, "hash-object", "-w", "--stdin", feed=f"loose {SECRET}")
    (root / "core" / "human.md").write_text(f"stashed {SECRET}\n")
    git(root, "stash")
    git(root, "gc", "-q")
    needle = Needle(SECRET)
    purge(workspace.history.repository, needle)
    assert sweep(workspace.history.repository, needle).found == ()
    assert "refs/heads/side" in git(root, "for-each-ref")


def test_in_an_outer_repository_only_ours_is_rewritten(tmp_path: Path, reopen: object) -> None:
    from history_kit import Clock, fingerprint

    outer = tmp_path / "project"
    git(tmp_path, "init", "-q", str(outer))
    (outer / "notes.md").write_text(SECRET)
    git(outer, "add", ".")
    git(outer, "commit", "-qm", SECRET)
    before = fingerprint(outer)
    clock = Clock()
    with Workspace.init(outer / "ws", clock=clock) as workspace:
        fill(Turns(workspace, clock))
        purge(workspace.history.repository, Needle(SECRET))
        assert sweep(workspace.history.repository, Needle(SECRET)).found == ()
        assert workspace.history.repository.git.text("log", "-1", "--format=%H")
    assert fingerprint(outer) == before


@pytest.mark.parametrize("step", range(1, 4))
def test_a_crash_in_the_middle_is_finished_by_the_next_run(turns: Turns, step: int) -> None:
    """The process dies at the n-th of the purge's three great steps."""
    workspace = fill(turns)
    script = f"""
import os, sys
from pathlib import Path
from fsagent import Workspace
from fsagent.memory.history import purge as module
from fsagent.memory.history.needle import Needle
count = 0
def dying(function):
    def call(*args, **named):
        global count
        count += 1
        if count == {step}:
            os._exit(9)
        return function(*args, **named)
    return call
module._scrub_files = dying(module._scrub_files)
Path.rename = dying(Path.rename)
with Workspace.open(sys.argv[1]) as workspace:
    module.purge(workspace.history.repository, Needle({SECRET!r}))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script, str(workspace.root)], env=environment, check=False
    )
    assert done.returncode == 9
    with Workspace.open(workspace.root) as again:
        repository = again.history.repository
        assert repository.tip()
        purge(repository, Needle(SECRET))
        assert sweep(repository, Needle(SECRET)).found == ()
        assert again.core.block("human").value == "- Likes cake."


@pytest.mark.parametrize(
    "data",
    [
        "x biscuit  MÜLLER y".encode(),
        "x Biscuit\nMüller y".encode(),
        json.dumps({"a": f"say {SECRET}"}).encode(),
        json.dumps({"a": json.dumps({"b": "Biscuit\nMüller"})}).encode(),
        "Biscuit Mu\u0308ller".encode(),
        f"x {SECRET}".encode("utf-16"),
    ],
    ids=["case", "line-break", "json-ascii", "json-twice", "nfd", "utf-16"],
)
def test_it_is_found_however_it_is_written(data: bytes) -> None:
    needle = Needle(SECRET)
    assert needle.in_bytes(data)
    assert not needle.in_bytes(needle.scrub(data))
    assert not needle.in_bytes(b"Biscuits by Mueller, Biscuit, Muller")


def test_other_bytes_of_a_file_stay_as_they_are() -> None:
    data = b"\xffa\r\n" + f"say {SECRET}\r\n".encode() + b"b\r\n"
    assert Needle(SECRET).scrub(data) == b"\xffa\r\nb\r\n"


@pytest.mark.parametrize("text", ["", " ", "a", "ab", "a b"])
def test_a_text_too_short_is_refused(text: str) -> None:
    with pytest.raises(HistoryError, match="too short"):
        Needle(text)


def test_what_is_found_is_named_by_file_and_line(turns: Turns) -> None:
    workspace = fill(turns)
    found = find(workspace.tree, Needle(SECRET), recall=False)
    assert [(item.path, item.whole) for item in found] == [
        ("archival/notes/biscuit-müller.md", True),
        ("archival/notes/trip.md", False),
    ]
    (log,) = find(workspace.tree, Needle(SECRET), recall=True)
    assert log.lines == (1,)


def test_the_command_previews_asks_backs_up_and_reports_the_scan(
    turns: Turns, tmp_path: Path
) -> None:
    workspace = fill(turns)
    workspace.close()
    preview = fsagent(workspace, "forget", SECRET, "--purge")
    assert preview.returncode == 1
    assert "add --yes" in preview.stderr
    backup = tmp_path / "backup.bundle"
    done = fsagent(workspace, "forget", SECRET, "--purge", "--yes", "--backup", str(backup))
    assert done.returncode == 0, done.stderr
    assert "found nothing" in done.stdout
    assert backup.exists()
    again = fsagent(workspace, "forget", SECRET, "--purge", "--yes")
    assert (again.returncode, again.stdout) == (1, "")


def test_plain_forget_keeps_history_and_recall_and_says_so(turns: Turns) -> None:
    workspace = fill(turns)
    workspace.close()
    done = fsagent(workspace, "forget", "likes cake", "--yes")
    assert done.returncode == 0, done.stderr
    assert "Likes cake" not in (workspace.root / "core/human.md").read_text()
    assert "Likes cake" in git(workspace.root, "log", "-p")
    commit = git(workspace.root, "rev-parse", "--short=10", "HEAD")
    back = fsagent(workspace, "undo", commit, "--yes")
    assert back.returncode == 0, back.stderr
    assert "Likes cake" in (workspace.root / "core/human.md").read_text()
