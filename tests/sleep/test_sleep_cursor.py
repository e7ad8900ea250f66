"""What sleep has read: nothing is skipped for ever, whatever clocks, copies and other sleeps do."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from datetime import timedelta
from pathlib import Path

import pytest
from sleep_kit import edit, patch, reasons, recall_hash, say, value_of
from support import NOW, ROOT

from fsagent.agent.sleep.sleep import apply_preview, sleep
from fsagent.errors import ConfigError, WorkspaceError
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Scripted

LONG_S = 60.0


def shown(workspace: Workspace) -> str:
    """Sleep without an edit; return what the model was shown as said."""
    model = Scripted([patch()])
    sleep(workspace, model)
    return model.requests[0].messages[1].content.partition("# Said")[2] if model.requests else ""


def test_a_line_is_read_whatever_its_files_time(workspace: Workspace) -> None:
    say(workspace, "I live in Porto.")
    assert "Porto" in shown(workspace)
    say(workspace, "I have a dog.")
    path = workspace.root / workspace.recall.days()[-1]
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert "dog" in shown(workspace)


def test_a_clock_that_goes_back_hides_nothing(workspace: Workspace) -> None:
    say(workspace, "I live in Porto.")
    shown(workspace)
    with Workspace.open(
        workspace.root, settings=workspace.settings, clock=lambda: NOW - timedelta(days=3)
    ) as earlier:
        say(earlier, "I have a dog.")
        assert "dog" in shown(earlier)
    assert shown(workspace) == ""


def test_an_import_of_old_days_is_read_once(workspace: Workspace) -> None:
    say(workspace, "I live in Porto.")
    shown(workspace)
    old = NOW - timedelta(days=400)
    lines = [Draft("user", "Anna", f"Box {n} is old.", ts=old) for n in range(600)]
    workspace.recall.append_many(lines)
    seen = shown(workspace)
    assert seen.count("is old.") + shown(workspace).count("is old.") == 600
    assert "Porto" not in seen
    assert shown(workspace) == ""


def test_a_clone_without_the_newest_lines_reads_what_is_said_in_it(workspace: Workspace) -> None:
    cites = say(workspace, "I live in Porto.", "I have a dog.")
    sleep(workspace, Scripted([patch(edit("add", "Has a dog.", cites[1]))]))
    workspace.history.commit_everything()
    clone = workspace.root.parent / "clone"
    subprocess.run(["git", "clone", "-q", str(workspace.root), str(clone)], check=True)
    (day,) = (clone / "recall").rglob("*.jsonl")
    day.write_bytes(b"".join(day.read_bytes().splitlines(keepends=True)[:4]))
    later = NOW + timedelta(hours=1)
    with Workspace.open(clone, settings=workspace.settings, clock=lambda: later) as copy:
        say(copy, "I like tea.", "I like cake.", "I like rain.")
        seen = shown(copy)
        assert [thing for thing in ("tea", "cake", "rain") if f"I like {thing}." not in seen] == []


def test_a_clone_of_the_whole_reads_nothing_twice(workspace: Workspace) -> None:
    (cite,) = say(workspace, "I live in Porto.")
    sleep(workspace, Scripted([patch(edit("add", "Lives in Porto.", cite))]))
    workspace.history.commit_everything()
    clone = workspace.root.parent / "clone"
    subprocess.run(["git", "clone", "-q", str(workspace.root), str(clone)], check=True)
    with Workspace.open(clone, settings=workspace.settings, clock=workspace.clock) as copy:
        assert shown(copy) == ""


def test_a_copy_keeps_its_cursor(workspace: Workspace) -> None:
    say(workspace, "I live in Porto.")
    shown(workspace)
    copied = shutil.copytree(workspace.root, workspace.root.parent / "copy")
    with Workspace.open(copied, settings=workspace.settings, clock=workspace.clock) as copy:
        assert shown(copy) == ""


def test_of_two_sleeps_at_once_one_lands_and_the_cursor_never_goes_back(
    workspace: Workspace,
) -> None:
    (cite,) = say(workspace, "I live in Porto.")

    def sleeps_too(request: object) -> object:
        say(workspace, "I have a dog.")
        with Workspace.open(
            workspace.root, settings=workspace.settings, clock=workspace.clock
        ) as other:
            assert sleep(other, Scripted([patch()])).stop == "nothing"
        return patch(edit("add", "Lives in Porto.", cite))

    report = sleep(workspace, Scripted([sleeps_too]))  # type: ignore[list-item]
    assert (report.stop, "another sleep" in report.text) == ("deferred", True)
    assert shown(workspace) == ""


def test_a_preview_is_stale_once_a_sleep_has_read_on(workspace: Workspace) -> None:
    (cite,) = say(workspace, "I live in Porto.")
    step = patch(edit("add", "Lives in Porto.", cite))
    sleep(workspace, Scripted([step]), preview=True)
    sleep(workspace, Scripted([patch(edit("add", "Owns a car.", cite))]))
    with pytest.raises(ConfigError, match="fsagent sleep --diff"):
        apply_preview(workspace)
    assert value_of(workspace) == ""
    assert len(reasons(workspace)) == 1


def test_the_second_preview_counts(workspace: Workspace) -> None:
    cites = say(workspace, "I live in Porto.", "I have a dog.")
    for words, cite in (("Lives in Porto.", cites[0]), ("Has a dog.", cites[1])):
        sleep(workspace, Scripted([patch(edit("add", words, cite))]), preview=True)
    apply_preview(workspace)
    assert value_of(workspace) == f"- Has a dog. [{cites[1]}]"


def test_what_a_failed_sleep_cost_is_counted(workspace: Workspace) -> None:
    from fsagent.agent.sleep.log import sleeps

    (cite,) = say(workspace, "I live in Porto.")
    path = workspace.root / workspace.recall.days()[-1]

    def harms(request: object) -> object:
        path.write_bytes(path.read_bytes().replace(b"Porto", b"Paris"))
        return patch(edit("add", "Lives in Porto.", cite))

    with pytest.raises(WorkspaceError):
        sleep(workspace, Scripted([harms]))  # type: ignore[list-item]
    (row,) = sleeps(workspace)
    assert row["usage"]["prompt_tokens"] > 0


def test_the_block_that_shrinks_is_written_first(workspace: Workspace) -> None:
    from dataclasses import replace

    from fsagent.tokens import estimate_text

    old = "- Works as a nurse at the big old hospital in Lisbon."
    workspace.core.write("persona", old, base=workspace.core.block("persona").value)
    os.utime(workspace.root / "core/persona.md", (1_000_000_000, 1_000_000_000))
    total = sum(estimate_text(block.value) for block in workspace.core.blocks())
    cites = say(workspace, "My sister Maria is a nurse in Porto.", "I work as a baker now.")
    added = "Sister Maria is a nurse in Porto."
    shorter = edit("replace", "Works as a baker.", cites[1], block="persona", old=old)
    steps = patch(shorter, edit("add", added, cites[0]))
    settings = replace(workspace.settings, core_tokens=total + 9)
    with Workspace.open(workspace.root, settings=settings, clock=workspace.clock) as full:
        report = sleep(full, Scripted([steps]))
        assert report.stop == "landed", [(v.edit.line, v.reason) for v in report.verdicts]
        assert value_of(full) == f"- {added} [{cites[0]}]"


def test_a_kill_in_the_middle_of_the_models_reply_changes_nothing(workspace: Workspace) -> None:
    (cite,) = say(workspace, "I live in Porto.")
    before = recall_hash(workspace)
    script = f"""
        import sys, time
        from fsagent.agent.sleep.sleep import sleep
        from fsagent.memory.workspace import Workspace
        from fsagent.models.scripted import Scripted
        def hangs(request):
            print("asked", flush=True)
            time.sleep(600)
        with Workspace.open({str(workspace.root)!r}) as memory:
            sleep(memory, Scripted([hangs]))
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"asked\n"
    child.send_signal(signal.SIGKILL)
    child.wait(LONG_S)
    child.stdout.close()
    assert (value_of(workspace), recall_hash(workspace)) == ("", before)
    report = sleep(workspace, Scripted([patch(edit("add", "Lives in Porto.", cite))]))
    assert report.stop == "landed"


def test_a_turn_of_a_dead_process_is_read(workspace: Workspace, tmp_path: Path) -> None:
    begin = Draft("system", "fsagent", "", turn="open", session="dead", kind="begin")
    workspace.recall.append_many(
        [begin, Draft("user", "Anna", "I have a dog.", turn="open", session="dead")]
    )
    assert "dog" in shown(workspace)
