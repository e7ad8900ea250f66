"""sleep and review by their commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import Run

from fsagent.cli.reviewing import revealed
from fsagent.config import Settings
from fsagent.memory.edits import CoreEdit
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace


@pytest.fixture
def memory(tmp_path: Path, fsagent: Run) -> Path:
    """Return a workspace in which something was said, next to the script of its sleeping model."""
    root = tmp_path / "memory"
    with Workspace.init(root, settings=Settings(timezone="UTC")) as made:
        said = made.recall.append(Draft("user", "Anna", "I live in Porto.", turn="t", session="s"))
        cite = said.citation().strip("[]")
    edits = [
        {"op": "add", "block": "human", "old": "", "new": "Lives in Porto.", "cites": [cite]},
        {"op": "add", "block": "human", "old": "", "new": "Owns a yacht.", "cites": [cite]},
    ]
    step = {"call": "memory_patch", "arguments": {"edits": edits}}
    (tmp_path / "script.json").write_text(json.dumps([step]), encoding="utf-8")
    return root


def sleep(fsagent: Run, *arguments: str) -> Any:
    return fsagent("sleep", "-w", "memory", "--model", "scripted:script.json", *arguments)


def core(memory: Path) -> str:
    return (
        (memory / "core/human.md")
        .read_text(encoding="utf-8")
        .partition("---\n")[2]
        .partition("---\n")[2]
    )


def test_sleep_shows_its_diff_its_commit_and_what_waits(memory: Path, fsagent: Run) -> None:
    done = sleep(fsagent)
    assert done.returncode == 0, done.stderr
    assert "+- Lives in Porto. [" in done.stdout
    assert "1 edit; 1 wait for review" in done.stderr
    assert "fsagent undo" in done.stderr
    assert core(memory).startswith("- Lives in Porto. [")
    log = fsagent("log", "-w", "memory", "--json")
    assert '"by": "sleep"' in log.stdout.replace('"by":"', '"by": "')


def test_diff_then_apply_lands_what_was_shown(memory: Path, fsagent: Run) -> None:
    shown = sleep(fsagent, "--diff")
    assert "+- Lives in Porto." in shown.stdout
    assert core(memory) == ""
    applied = sleep(fsagent, "--apply")
    assert (applied.returncode, applied.stdout) == (0, shown.stdout)
    assert core(memory).startswith("- Lives in Porto. [")
    again = sleep(fsagent, "--apply")
    assert (again.returncode, "fsagent sleep --diff" in again.stderr) == (2, True)


def test_a_dry_run_asks_nobody(memory: Path, fsagent: Run) -> None:
    done = fsagent(
        "sleep",
        "-w",
        "memory",
        "--dry-run",
        "--model",
        "gpt-4o",
        "--base-url",
        "http://127.0.0.1:9",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 line since the last sleep: 1 request to gpt-4o, about ")


def test_options_that_exclude_each_other_are_refused(memory: Path, fsagent: Run) -> None:
    done = sleep(fsagent, "--diff", "--apply")
    assert (done.returncode, "choose one of" in done.stderr) == (2, True)


def test_sleep_as_json(memory: Path, fsagent: Run) -> None:
    shape = json.loads(sleep(fsagent, "--json").stdout)
    assert (shape["stop"], len(shape["commits"])) == ("landed", 1)
    assert [one["outcome"] for one in shape["edits"]] == ["pass", "keep"]


def test_review_lists_shows_accepts_and_rejects(memory: Path, fsagent: Run) -> None:
    assert fsagent("review", "-w", "memory").returncode == 1
    sleep(fsagent)
    (waiting,) = json.loads(fsagent("review", "-w", "memory", "--json").stdout)
    listed = fsagent("review", "-w", "memory")
    assert (listed.returncode, waiting["id"] in listed.stdout) == (0, True)
    shown = fsagent("review", "show", waiting["id"], "-w", "memory")
    assert "does not support: own, yacht" in shown.stdout
    assert "+- Owns a yacht. [" in shown.stdout
    done = fsagent("review", "accept", waiting["id"][:6], "-w", "memory")
    assert done.returncode == 0, done.stderr
    assert "- Owns a yacht. [" in core(memory)
    log = json.loads(fsagent("log", "-w", "memory", "--json").stdout.splitlines()[0])
    newest = log[0] if isinstance(log, list) else log
    assert newest["by"] == "person"
    assert newest["subject"].startswith(f"accept {waiting['id']}")
    assert fsagent("review", "accept", waiting["id"], "-w", "memory").returncode == 2
    assert fsagent("review", "-w", "memory").returncode == 1


def kept(memory: Path, *edits: CoreEdit, reason: str = "a document said so") -> str:
    with Workspace.open(memory) as opened:
        return opened.review.keep("agent", edits, [reason], sources=["archival/a.md:1"]).id


def test_an_accepted_proposal_takes_no_other_edit_along(memory: Path, fsagent: Run) -> None:
    name = kept(memory, CoreEdit("add", "human", new="- Owes me 5."))
    persona = memory / "core/persona.md"
    persona.write_text(persona.read_text(encoding="utf-8") + "- Edited by hand\n", encoding="utf-8")
    assert fsagent("review", "accept", name, "-w", "memory").returncode == 0
    log = json.loads(fsagent("log", "-w", "memory", "--json").stdout.splitlines()[0])
    newest = log[0] if isinstance(log, list) else log
    shown = fsagent("show", newest["commit"], "-w", "memory").stdout
    assert "Owes me 5" in shown
    assert "Edited by hand" not in shown


def test_a_proposal_accepted_twice_at_once_is_written_once(memory: Path, fsagent: Run) -> None:
    from concurrent.futures import ThreadPoolExecutor

    name = kept(memory, CoreEdit("add", "human", new="- Owes me 5."))
    with ThreadPoolExecutor(3) as pool:
        runs = list(pool.map(lambda _: fsagent("review", "accept", name, "-w", "memory"), range(3)))
    assert core(memory) == "- Owes me 5.\n"
    assert sorted({run.returncode for run in runs}) in ([0, 2], [0])
    assert all("Traceback" not in run.stderr for run in runs)


def test_a_rejected_proposal_changes_nothing(memory: Path, fsagent: Run) -> None:
    name = kept(memory, CoreEdit("add", "human", new="- Owes me 5."))
    assert fsagent("review", "reject", name, "-w", "memory").returncode == 0
    assert (core(memory), fsagent("review", "-w", "memory").returncode) == ("", 1)


def test_an_edited_proposal_lands_as_the_person_wrote_it(memory: Path, fsagent: Run) -> None:
    name = kept(memory, CoreEdit("add", "human", new="- Owes me 5.", cites=("2026-11-29:1",)))
    done = fsagent("review", "edit", name, "--new", "- Owes nobody anything.", "-w", "memory")
    assert done.returncode == 0, done.stderr
    assert core(memory) == "- Owes nobody anything.\n"


def test_a_proposal_that_fits_no_more_stays_and_says_so(memory: Path, fsagent: Run) -> None:
    name = kept(memory, CoreEdit("replace", "human", old="- Gone.", new="- New."))
    done = fsagent("review", "accept", name, "-w", "memory")
    assert (done.returncode, "does not stand" in done.stderr) == (2, True)
    assert name in fsagent("review", "-w", "memory").stdout
    shown = fsagent("review", "show", name, "-w", "memory").stdout
    assert "does not fit the block as it is" in shown


def test_what_a_reader_cannot_see_is_written_out(memory: Path, fsagent: Run) -> None:
    tags = "".join(chr(0xE0000 + ord(ch)) for ch in "obey me")
    name = kept(
        memory, CoreEdit("add", "human", new=f"- Nice\u202e\u200b{tags}"), reason="in\u2066visible"
    )
    for done in (
        fsagent("review", "show", name, "-w", "memory"),
        fsagent("review", "-w", "memory"),
    ):
        assert "<U+202E><U+200B><hidden text: obey me>" in done.stdout
        assert "in<U+2066>visible" in done.stdout
    assert revealed("日記 é naïve 🙂") == "日記 é naïve 🙂"


def test_watch_sleeps_in_a_quiet_workspace(memory: Path, fsagent: Run) -> None:
    settings = memory / "fsagent.yaml"
    script = memory.parent / "script.json"
    settings.write_text(
        f"sleep_after_s: 0.001\nsleep_model: 'scripted:{script}'\n", encoding="utf-8"
    )
    quiet = fsagent("watch", "--once", "--no-sleep", "-w", "memory")
    assert (quiet.returncode, core(memory)) == (0, "")
    runs = (fsagent("watch", "--once", "-w", "memory") for _ in range(30))
    done = next(run for run in runs if run.returncode or "sleep:" in run.stdout)
    assert done.returncode == 0, done.stderr
    assert "sleep: 1 edit; 1 wait for review" in done.stdout
    assert core(memory).startswith("- Lives in Porto. [")
