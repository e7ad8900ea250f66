"""The commands of block on shared blocks: mounted, attached, detached, with their own history."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support import Run

SETTINGS = "# ours\nshared: ../team/core   # all of us\nfuture: {a: 1}\n"


@pytest.fixture
def team(fsagent: Run, tmp_path: Path) -> Path:
    """A folder of two blocks that the workspaces `ann` and `bob` mount."""
    folder = tmp_path / "team" / "core"
    folder.mkdir(parents=True)
    (folder / "style.md").write_text("---\ndescription: How we write.\n---\n- short\n")
    (folder / "plan.md").write_text("- ship in May\n")
    for name in ("ann", "bob"):
        assert fsagent("init", name).returncode == 0
        (tmp_path / name / "fsagent.yaml").write_text(SETTINGS)
    return folder


def attached(fsagent: Run, name: str) -> list[str]:
    shape = json.loads(fsagent("-w", name, "block", "list", "--json").stdout)
    return [one["label"] for one in shape["blocks"] if one["shared"]]


def test_list_marks_shared_blocks_and_says_what_is_apart(fsagent: Run, team: Path) -> None:
    (team / "human.md").write_text("- x\n")
    shown = fsagent("-w", "ann", "block", "list")
    assert "style         7/5000  shared              How we write." in shown.stdout
    assert "the shared block 'human' is not used: your own block" in shown.stderr


def test_detach_and_attach_keep_every_other_byte_and_delete_nothing(
    fsagent: Run, team: Path, tmp_path: Path
) -> None:
    assert attached(fsagent, "ann") == ["plan", "style"]
    done = fsagent("-w", "ann", "block", "detach", "style")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ann/fsagent.yaml").read_text() == SETTINGS + "shared_blocks: [plan]\n"
    assert attached(fsagent, "ann") == ["plan"]
    assert attached(fsagent, "bob") == ["plan", "style"]
    assert "not attached: style" in fsagent("-w", "ann", "block", "list").stderr
    assert fsagent("-w", "ann", "block", "detach", "style").returncode == 2
    assert fsagent("-w", "ann", "block", "attach", "style").returncode == 0
    assert (
        tmp_path / "ann/fsagent.yaml"
    ).read_text() == SETTINGS + "shared_blocks: [plan, style]\n"
    assert fsagent("-w", "ann", "block", "attach", "style").returncode == 1
    assert sorted(path.name for path in team.glob("*.md")) == ["plan.md", "style.md"]
    log = fsagent("-w", "ann", "log").stdout
    assert log.count("shared blocks: ") == 2


def test_attach_says_what_there_is(fsagent: Run, team: Path, monkeypatch) -> None:
    missing = fsagent("-w", "ann", "block", "attach", "nope")
    assert (missing.returncode, "its blocks are: plan, style" in missing.stderr) == (2, True)
    (team / "human.md").write_text("- x\n")
    own = fsagent("-w", "ann", "block", "attach", "human")
    assert (own.returncode, "takes the place" in own.stderr) == (2, True)
    monkeypatch.setenv("FSAGENT_SHARED_BLOCKS", "plan")
    fixed = fsagent("-w", "ann", "block", "attach", "style")
    assert (fixed.returncode, "environment FSAGENT_SHARED_BLOCKS" in fixed.stderr) == (2, True)


def test_without_a_mount_it_is_said_how_to_make_one(fsagent: Run, team: Path) -> None:
    fsagent("init", "cat")
    for words in (
        ("block", "attach", "x"),
        ("block", "detach", "x"),
        ("block", "new", "x", "--shared"),
        ("log", "--shared"),
    ):
        done = fsagent("-w", "cat", *words)
        assert done.returncode == 2
        assert "shared: ../team/core" in done.stderr


def test_a_folder_that_is_not_there_is_told(fsagent: Run, team: Path, tmp_path: Path) -> None:
    shutil.rmtree(team)
    for words in (("block", "list"), ("ask", "Hello?"), ("doctor",)):
        done = fsagent("-w", "ann", *words)
        assert done.returncode == 2, words
        assert "there is no such folder" in done.stderr + done.stdout
    assert fsagent("-w", "ann", "config").returncode == 0


def test_a_person_edits_and_the_shared_history_tells_who(fsagent: Run, team: Path) -> None:
    edited = fsagent("-w", "ann", "block", "edit", "style", "--value", "- short\n- plain")
    assert edited.returncode == 0, edited.stderr
    edited = fsagent("-w", "bob", "block", "edit", "style", "--value", "- short\n- plain\n- warm")
    assert edited.returncode == 0, edited.stderr
    assert (team / "style.md").read_text() == (
        "---\ndescription: How we write.\n---\n- short\n- plain\n- warm\n"
    )
    rows = json.loads(fsagent("-w", "ann", "log", "--shared", "--json").stdout)
    told = [(row["by"], row["subject"]) for row in rows]
    assert told[:2] == [("person", 'style.md: add "warm"'), ("person", 'style.md: add "plain"')]
    shown = fsagent("-w", "ann", "show", "--shared").stdout
    assert "Workspace: bob" in shown
    assert "+- warm" in shown
    assert "- warm" in fsagent("-w", "bob", "blame", "style", "--shared").stdout
    assert "style" not in fsagent("-w", "ann", "log").stdout


def test_a_shared_edit_is_undone_in_the_shared_history(fsagent: Run, team: Path) -> None:
    fsagent("-w", "ann", "block", "edit", "style", "--value", "- short\n- plain")
    fsagent("-w", "bob", "block", "edit", "style", "--value", "- short\n- plain\n- warm")
    rows = json.loads(fsagent("-w", "ann", "log", "--shared", "--json").stdout)
    done = fsagent("-w", "bob", "undo", rows[1]["commit"], "--shared", "--yes")
    assert done.returncode == 0, done.stderr
    assert (team / "style.md").read_text().endswith("---\n- short\n- warm\n")


def test_new_shared_is_there_for_all(fsagent: Run, team: Path, tmp_path: Path) -> None:
    fsagent("-w", "bob", "block", "detach", "plan")
    made = fsagent("-w", "bob", "block", "new", "rota", "--shared", "--value", "- Ann on Monday")
    assert (made.returncode, made.stdout) == (0, "Made shared:rota.md.\n")
    assert attached(fsagent, "ann") == ["plan", "rota", "style"]
    assert attached(fsagent, "bob") == ["rota", "style"]
    again = fsagent("-w", "ann", "block", "new", "rota", "--shared")
    assert (again.returncode, "already" in again.stderr) == (2, True)
    removed = fsagent("-w", "ann", "block", "rm", "rota", "--yes")
    assert (removed.returncode, "detach" in removed.stderr) == (2, True)
    assert (team / "rota.md").exists()


def test_the_history_of_another_workspaces_core_is_that_workspaces(
    fsagent: Run, team: Path, tmp_path: Path
) -> None:
    (tmp_path / "ann/fsagent.yaml").write_text("shared: ../bob/core\n")
    (tmp_path / "bob/fsagent.yaml").write_text("")
    (tmp_path / "bob/core/house.md").write_text("- a garden\n")
    fsagent("-w", "bob", "watch", "--once")
    done = fsagent("-w", "ann", "block", "edit", "house", "--value", "- a garden\n- a cellar")
    assert done.returncode == 0, done.stderr
    refused = fsagent("-w", "ann", "log", "--shared")
    assert (refused.returncode, "belongs to a workspace" in refused.stderr) == (2, True)
    fsagent("-w", "bob", "watch", "--once")
    assert 'outside  house: add "a cellar"' in fsagent("-w", "bob", "log").stdout


def test_the_past_is_asked_with_the_shared_blocks_of_then(team: Path, tmp_path: Path) -> None:
    from fsagent import Workspace
    from fsagent.cli.common import open_memory

    for day, text in ((20, "- old"), (25, "- new")):
        now = datetime(2026, 11, day, 12, tzinfo=UTC)
        with Workspace.open(tmp_path / "ann", clock=lambda now=now: now) as memory:
            memory.core.replace("style", memory.core.block("style").value, text)
            memory.core.append("human", text)
            memory.history.record("test")
    with open_memory(str(tmp_path / "ann"), as_of="2026-11-22") as past:
        assert past.core.block("style").value == "- old"
        past.core.append("style", "- goes away with the copy")
    with open_memory(str(tmp_path / "ann"), as_of="2026-11-02") as past:
        assert "style" not in [one.label for one in past.core.blocks()]
    assert (team / "style.md").read_text().endswith("---\n- new\n")


def test_forget_says_what_shared_blocks_hold_and_takes_it_out_of_them_when_asked(
    fsagent: Run, team: Path
) -> None:
    fsagent("-w", "ann", "block", "edit", "style", "--value", "- short\n- the code is 4711")
    told = fsagent("-w", "ann", "forget", "4711", "--yes")
    assert "the shared block 'style' says it too and stays" in told.stderr
    assert "4711" in (team / "style.md").read_text()
    done = fsagent("-w", "ann", "forget", "4711", "--shared", "--purge", "--yes")
    assert done.returncode == 0, done.stderr
    assert (team / "style.md").read_text().endswith("---\n- short\n")
    assert "4711" not in fsagent("-w", "bob", "log", "--shared").stdout
    fsagent("-w", "bob", "block", "edit", "style", "--value", "- short\n- after")
    assert fsagent("-w", "ann", "log", "--shared").stdout.count("after") == 1


def test_undo_of_a_turn_tells_of_its_shared_edits(fsagent: Run, team: Path, tmp_path: Path) -> None:
    from fsagent import Agent, Workspace
    from fsagent.models.scripted import Scripted, call

    edits = [
        call("core_memory_append", label="style", content="- shared"),
        call("core_memory_append", label="human", content="- own"),
    ]
    with Workspace.open(tmp_path / "ann") as memory, Agent(memory, Scripted([*edits, "."])) as ann:
        turn = ann.run("Note it").turn
    done = fsagent("-w", "ann", "undo", turn, "--yes")
    assert (done.returncode, f"fsagent undo {turn} --shared" in done.stderr) == (0, True)
    assert "- shared" in (team / "style.md").read_text()
    assert "- own" not in (tmp_path / "ann/core/human.md").read_text()
    assert fsagent("-w", "ann", "undo", turn, "--shared", "--yes").returncode == 0
    assert "- shared" not in (team / "style.md").read_text()
