"""The commands on the history, as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from history_kit import Turns, fsagent, git

from fsagent import Workspace

DAY = "2026-11-30"


@pytest.fixture
def filled(turns: Turns) -> Workspace:
    core = turns.workspace.core
    turns.play("I live in Berlin", lambda: core.append("human", f"- Lives in Berlin. [{DAY}:1]"))
    turns.play("I moved", lambda: core.replace("human", "Berlin", "Beijing"))
    turns.play("I have a dog", lambda: core.append("human", "- Has a dog."))
    turns.workspace.close()
    return turns.workspace


def test_log_prints_a_line_a_change_and_json_for_scripts(filled: Workspace) -> None:
    shown = fsagent(filled, "log", "--block", "human", "--author", "agent")
    assert [line[12:] for line in shown.stdout.splitlines()] == [
        f'{DAY} 09:03  agent    human: add "Has a dog."  (t-0003)',
        f'{DAY} 09:02  agent    human: change "Lives in Berlin." to "Lives in Beijing."  (t-0002)',
        f'{DAY} 09:01  agent    human: add "Lives in Berlin."  (t-0001)',
    ]
    rows = json.loads(fsagent(filled, "log", "--tool", "core_memory_append", "--json").stdout)
    assert [row["turn"] for row in rows] == ["t-0003", "t-0002", "t-0001"]
    assert rows[0]["source"] == f"recall/2026/{DAY}.jsonl:5"


def test_log_that_finds_nothing_says_so_by_its_status(filled: Workspace) -> None:
    assert fsagent(filled, "log", "--author", "sleep").returncode == 1
    assert fsagent(filled, "log", "--since", "gibberish").returncode == 2


def test_show_prints_message_and_difference(filled: Workspace) -> None:
    shown = fsagent(filled, "show", "t-0002").stdout
    assert "  because user: I moved" in shown
    assert f"-- Lives in Berlin. [{DAY}:1]\n+- Lives in Beijing. [{DAY}:1]" in shown


def test_diff_between_turns_since_a_day_and_until_now(filled: Workspace) -> None:
    assert "+- Has a dog." in fsagent(filled, "diff", "t-0001", "t-0003").stdout
    assert "+- Has a dog." in fsagent(filled, "diff", "--since", DAY).stdout
    nothing = fsagent(filled, "diff")
    assert (nothing.returncode, nothing.stdout) == (1, "")
    (filled.root / "core" / "persona.md").write_text("Changed by hand.\n")
    assert "+Changed by hand." in fsagent(filled, "diff").stdout


def test_blame_and_why_lead_to_the_words(filled: Workspace) -> None:
    shown = fsagent(filled, "blame", "human").stdout
    assert f"{DAY}  t-0002      - Lives in Beijing. [{DAY}:1]" in shown
    assert f"recall/2026/{DAY}.jsonl:1: {DAY} 09:01 user: I live in Berlin" in shown
    cited = fsagent(filled, "why", "lives in Beijing").stdout
    assert f"cites recall/2026/{DAY}.jsonl:1: {DAY} 09:01 user: I live in Berlin" in cited
    assert "uncited" in fsagent(filled, "why", "has a dog").stdout
    gone = fsagent(filled, "why", "lives in Berlin")
    assert gone.returncode == 1
    assert "t-0001" in gone.stdout


def test_undo_previews_then_does_it(filled: Workspace) -> None:
    preview = fsagent(filled, "undo", "t-0003")
    assert preview.returncode == 1
    assert "-- Has a dog." in preview.stdout
    assert "Has a dog." in (filled.root / "core/human.md").read_text()
    assert fsagent(filled, "undo", "t-0003", "--yes").returncode == 0
    assert "Has a dog." not in (filled.root / "core/human.md").read_text()
    again = fsagent(filled, "undo", "t-0003", "--yes")
    assert again.returncode in (1, 2)


def test_undo_refuses_where_a_later_turn_depends_on_it(filled: Workspace) -> None:
    refused = fsagent(filled, "undo", "t-0001", "--yes")
    assert refused.returncode == 2
    assert "t-0002" in refused.stderr


def test_rollback_goes_back_as_a_new_commit(filled: Workspace) -> None:
    tip = git(filled.root, "rev-parse", "HEAD")
    assert fsagent(filled, "rollback", "t-0001", "--yes").returncode == 0
    assert (filled.root / "core/human.md").read_text().endswith(f"- Lives in Berlin. [{DAY}:1]\n")
    assert git(filled.root, "rev-parse", "HEAD~1") == tip


def test_export_and_import_bundle(filled: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "all.bundle"
    assert fsagent(filled, "export", str(target)).returncode == 0
    assert fsagent(filled, "export", str(target)).returncode == 2
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "fsagent", "import-bundle", str(target), str(tmp_path / "copy")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "t-0003" in git(tmp_path / "copy", "log", "--format=%B")


def test_watch_once_commits_what_an_editor_did(filled: Workspace) -> None:
    (filled.root / "archival" / "x.md").write_text("By hand.\n")
    assert fsagent(filled, "watch", "--once", "--no-sleep").stdout.endswith("document x: new\n")


def test_controls_in_memory_do_not_reach_the_terminal(filled: Workspace) -> None:
    (filled.root / "archival" / "x.md").write_text("\x1b[31mred\x07\n")
    fsagent(filled, "watch", "--once")
    for args in (["show", "HEAD"], ["diff", "HEAD~1"], ["blame", "archival/x.md"], ["why", "red"]):
        assert "\x1b" not in fsagent(filled, *args).stdout, args


def test_on_a_terminal_a_difference_is_shown_by_words(turns: Turns) -> None:
    from click import unstyle

    from fsagent.cli.history import _word_diff
    from fsagent.memory.history.log import diff_text

    core = turns.workspace.core
    turns.play("a", lambda: core.append("human", "- Lives in Berlin, near the lake."))
    turns.play("b", lambda: core.replace("human", "Berlin,", "Rome,"))
    gits = turns.workspace.history.repository.git
    shown = _word_diff(diff_text(gits, "HEAD~1", "HEAD", words=True))
    assert "- Lives in Berlin,Rome, near the lake.\n" in unstyle(shown)
    assert "\x1b[31m" in shown
