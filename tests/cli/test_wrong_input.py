"""What a newcomer types wrong: each error says, in the words of the command line, what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT, Run
from terminal import on_terminal

from fsagent.cli.common import words_of
from fsagent.errors import PathRejected
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace

TOOLS = ("list_files", "search_files", "literal=true", "core_memory_", "archival_memory_")


@pytest.fixture
def memory(fsagent: Run, tmp_path: Path) -> Path:
    """A workspace with one message in recall and one document."""
    fsagent("init", "memory")
    with Workspace.open(tmp_path / "memory") as workspace:
        workspace.recall.append(Draft("user", "Ann", "I adopted a kitten.", turn="t", session="s"))
        workspace.archival.import_document("trip.md", b"# Trip\n\nWe sail to Corsica.\n")
    return tmp_path / "memory"


def write_sample(path: Path) -> None:
    """Write a conversation of one turn with one question, in LoCoMo's form."""
    turn = {"speaker": "Ada", "dia_id": "D1:1", "text": "I have a cat."}
    sample = {
        "sample_id": "a",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [turn],
        },
        "qa": [{"question": "What pet?", "answer": "a cat", "evidence": ["D1:1"], "category": 4}],
    }
    path.write_text(json.dumps([sample]), encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (["open", "nope.md"], "fsagent ls shows what there is"),
        (["open", "core"], "fsagent ls shows what is in it"),
        (["ls", "nope"], "fsagent ls shows what there is"),
        (["grep", "x", "nope"], "fsagent ls shows what there is"),
        (["search", "x", "--path", "nope"], "fsagent ls shows what there is"),
        (["grep", "(unclosed"], "-F"),
        (["usage", "--since", "blursday"], "write 2026-11-29"),
        (["log", "--limit", "-1"], "x>=0"),
        (["why", " "], "write words of the fact"),
        (["export", "no/such/folder/x.bundle"], "there is no folder no/such/folder"),
        (["import", "memory/core/human.md", "--to", "elsewhere"], "is no LoCoMo file"),
        (["import", "memory/core/human.md", "--sample", "a"], "is no LoCoMo file"),
        (["sleep", "--base-url", "http://127.0.0.1:9/v1"], "add --model NAME"),
        (["ask", "--base-url", "http://127.0.0.1:9/v1", "Hi?"], "add --model NAME"),
        (["bench", "locomo", "--base-url", "http://127.0.0.1:9/v1"], "add --model NAME"),
        (["bench", "locomo", "--resume"], "--out DIR"),
        (["bench", "locomo", "--evaluate-only"], "--out DIR"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_error_says_what_to_do_in_commands(
    fsagent: Run, memory: Path, command: list[str], advice: str
) -> None:
    bench = command[0] == "bench"
    done = fsagent(*(command if bench else ["-w", "memory", *command]))
    assert (done.returncode, done.stdout) == (2, "")
    assert advice in done.stderr
    assert not [tool for tool in TOOLS if tool in done.stderr]


def test_a_page_behind_the_last_hit_is_said(fsagent: Run, memory: Path) -> None:
    for command in ("grep", "search"):
        done = fsagent(command, "kitten", "--offset", "7", "-w", "memory")
        assert (done.returncode, done.stdout) == (1, "")
        assert "nothing behind the first 7 hits" in done.stderr


def test_one_hit_of_more_is_one_hit(fsagent: Run, memory: Path) -> None:
    done = fsagent("grep", "a", "--limit", "1", "-w", "memory")
    assert "(1 hit shown" in done.stderr


def test_open_takes_a_citation_as_it_stands(fsagent: Run, memory: Path) -> None:
    day = next(memory.glob("recall/*/*.jsonl")).stem
    for cited in (f"{day}:1", f"[{day}:1]", "[archival/trip.md:3]"):
        done = fsagent("open", cited, "-w", "memory")
        assert done.returncode == 0
        assert ("I adopted a kitten." in done.stdout) is (day in cited)
    twice = fsagent("open", f"{day}:1", "2", "-w", "memory")
    assert (twice.returncode, twice.stdout) == (2, "")
    assert "leave out START" in twice.stderr


def test_ls_of_a_file_is_its_row(fsagent: Run, memory: Path) -> None:
    done = fsagent("ls", "archival/trip.md", "-w", "memory")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert "trip.md" in done.stdout


def test_forget_takes_no_rule_out_of_a_prompt_and_says_so(fsagent: Run, memory: Path) -> None:
    before = (memory / "prompts/sleep.md").read_bytes()
    assert b"Bergen" in before
    fsagent("block", "edit", "human", "--value", "- Sister lives in Bergen.", "-w", "memory")
    done = fsagent("forget", "Bergen", "--yes", "-w", "memory")
    assert done.returncode == 0
    assert "prompts/sleep.md:" in done.stderr and "stays" in done.stderr
    assert (memory / "prompts/sleep.md").read_bytes() == before
    assert b"Bergen" not in (memory / "core/human.md").read_bytes()


def test_forget_says_where_nothing_holds_it(fsagent: Run, memory: Path) -> None:
    done = fsagent("forget", "zeppelin", "--yes", "-w", "memory")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing was changed" in done.stderr


def test_why_takes_no_example_of_a_prompt_for_a_fact(fsagent: Run, memory: Path) -> None:
    done = fsagent("why", "Bergen", "-w", "memory")
    assert (done.returncode, done.stdout) == (1, "")
    assert "fsagent search looks in recall" in done.stderr


def test_what_an_import_may_not_have_meant_is_said(
    fsagent: Run, memory: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "latin.md").write_bytes("Müller in Lyon\n".encode("latin-1"))
    (notes / "other.json").write_text('{"a": 1}', encoding="utf-8")
    (notes / "plain.md").write_text("Noël\n", encoding="utf-8")
    (tmp_path / "elsewhere.md").write_text("not named\n", encoding="utf-8")
    (notes / "link.md").symlink_to(tmp_path / "elsewhere.md")
    done = fsagent("import", "notes", "-w", "memory")
    assert done.returncode == 0
    said = done.stderr.splitlines()
    assert [line for line in said if "not UTF-8" in line and "latin.md" in line]
    assert [line for line in said if "stored as a document" in line and "other.json" in line]
    assert [line for line in said if "is a link" in line and "link.md" in line]
    assert not [line for line in said if "plain.md" in line and "->" not in line]
    kept = {path.name for path in (memory / "archival").glob("*.*")}
    assert kept == {"trip.md", "latin.md", "other.json", "plain.md"}
    assert (memory / "archival/latin.md").read_bytes() == (notes / "latin.md").read_bytes()


def test_a_bench_that_never_began_leaves_no_run_to_resume(fsagent: Run, tmp_path: Path) -> None:
    write_sample(tmp_path / "data.json")
    command = ("bench", "locomo", "--data", "data.json", "--out", "run")
    failed = fsagent(*command, "--model", "nowhere")
    assert failed.returncode == 2
    assert "no endpoint for model" in failed.stderr
    assert fsagent(*command).returncode == 0


@pytest.mark.parametrize("editor", ["no-such-editor", "false"])
def test_an_editor_that_fails_is_told_how_to_name_another(memory: Path, editor: str) -> None:
    before = (memory / "core/human.md").read_bytes()
    env = {"EDITOR": editor, "VISUAL": editor}
    with on_terminal("block", "edit", "human", "-w", "memory", cwd=memory.parent, env=env) as tty:
        assert tty.wait_for_end() == 2
        assert f"{editor}: Editing failed" in tty.text and "name your editor in EDITOR" in tty.text
    assert (memory / "core/human.md").read_bytes() == before


@pytest.mark.parametrize("second", ["exit 0", "exit 1"], ids=["closes it unsaved", "fails"])
def test_a_text_that_was_too_long_is_kept_when_the_second_round_comes_to_nothing(
    memory: Path, second: str
) -> None:
    before = (memory / "core/human.md").read_bytes()
    editor = memory.parent / "editor"
    editor.write_text(
        f'#!/bin/sh\nif grep -q precious "$1"; then {second}; fi\n'
        'yes \'precious words\' | head -n 900 >> "$1"; touch -d 2001-01-01 "$1"\n',
        encoding="utf-8",
    )
    editor.chmod(0o755)
    env = {"VISUAL": str(editor)}
    with on_terminal("block", "edit", "human", "-w", "memory", cwd=memory.parent, env=env) as tty:
        tty.wait_for("Edit it again?")
        tty.type("y\n")
        assert tty.wait_for_end() == 2
        assert "your text is kept in" in tty.text
    assert (memory / "core/human.md").read_bytes() == before
    kept = [path.read_text() for path in (memory / ".fsagent/quarantine").glob("*")]
    assert any("precious words" in text for text in kept)


def test_a_secret_in_a_block_is_replaced_and_said(fsagent: Run, memory: Path) -> None:
    token = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    for command in (["edit", "human"], ["new", "other"]):
        done = fsagent("block", *command, "--value", f"The token is {token}", "-w", "memory")
        assert done.returncode == 0
        assert "held a secret (github token)" in done.stderr and token not in done.stderr
    plain = fsagent("block", "edit", "human", "--value", "- Likes tea.", "-w", "memory")
    assert "secret" not in plain.stderr


def test_why_takes_a_fact_of_several_words_without_quotes(fsagent: Run, memory: Path) -> None:
    fsagent("block", "edit", "human", "--value", "- Likes green tea.", "-w", "memory")
    done = fsagent("why", "Likes", "green", "tea", "-w", "memory")
    assert (done.returncode, "core/human.md:6" in done.stdout) == (0, True)


def test_ask_on_a_terminal_says_that_it_waits_for_the_question(memory: Path) -> None:
    with on_terminal("ask", "-w", "memory", cwd=memory.parent) as tty:
        tty.wait_for("Ctrl-D on a line of its own")
        tty.type("Hello\n\x04")
        assert tty.wait_for_end() == 0


def test_a_workspace_that_may_not_be_written_is_a_sentence_with_advice() -> None:
    err = PathRejected(".fsagent/locks", "IO", "may not be read or written (permission denied)")
    assert "work in a copy of it" in words_of(err)


def test_ctrl_c_at_a_question_of_a_chat_goes_back_to_the_chat(memory: Path) -> None:
    edit = ("block", "edit", "human", "--value", "- Likes tea.", "-w", "memory")
    with on_terminal(*edit, cwd=memory.parent) as tty:
        assert tty.wait_for_end() == 0
    with on_terminal("chat", "-w", "memory", cwd=memory.parent) as tty:
        tty.wait_for_prompt()
        tty.type("/undo HEAD\n")
        tty.wait_for("[y/N]")
        tty.type("\x03")
        tty.wait_for("nothing more was changed")
        tty.wait_for_prompt()
        tty.type("/foo\n")
        tty.wait_for("there is no command /foo. /help")
        tty.wait_for_prompt()
        tty.type("/exit\n")
        assert tty.wait_for_end() == 0
    assert "Likes tea" in (memory / "core/human.md").read_text(encoding="utf-8")


def test_a_reader_that_goes_away_is_no_error(memory: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "fsagent", "config"],
        cwd=memory,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=100,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_newline_of_a_pipe_is_no_part_of_the_question(fsagent: Run, memory: Path) -> None:
    assert fsagent("ask", "-w", "memory", stdin="Two\nlines?\n").returncode == 0
    day = max(memory.glob("recall/*/*.jsonl"))
    said = [json.loads(line)["content"] for line in day.read_bytes().splitlines()]
    assert "Two\nlines?" in said and "Two\nlines?\n" not in said


@pytest.mark.parametrize(
    "command",
    [
        ["init", "inner"],
        ["import", "../data.json"],
        ["export", "copy.bundle"],
        ["import-bundle", "../x.bundle", "inner"],
        ["forget", "--purge", "kitten", "--backup", "copy.bundle", "--yes"],
        ["demo", "inner"],
        ["bench", "locomo", "--data", "../data.json"],
        ["bench", "fetch"],
    ],
    ids=" ".join,
)
def test_nothing_is_laid_into_a_workspace_that_is_no_memory(
    fsagent: Run, memory: Path, command: list[str]
) -> None:
    write_sample(memory.parent / "data.json")
    names = {path.name for path in memory.iterdir()}
    done = fsagent(*command, cwd=memory)
    assert done.returncode == 2
    assert "lies in the workspace" in done.stderr and "outside of it" in done.stderr
    assert {path.name for path in memory.iterdir()} - {".git"} == names - {".git"}
    assert fsagent("grep", "kitten", cwd=memory).returncode == 0
