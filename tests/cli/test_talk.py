"""ask and chat: answers with citations, from arguments and standard input, durable before shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT, Run
from terminal import on_terminal

from fsagent.cli.lines import read_message


@pytest.fixture
def memory(fsagent: Run, tmp_path: Path) -> Path:
    fsagent("init", "memory")
    fsagent("ask", "-w", "memory", "My sister Zelda lives in Porto.")
    return tmp_path / "memory"


def test_an_answer_comes_out_of_memory_with_its_citation(fsagent: Run, memory: Path) -> None:
    done = fsagent("ask", "-w", "memory", "Where does my sister live?")
    day = next(memory.glob("recall/*/*.jsonl")).stem
    assert f"Porto [{day}:2]" in done.stdout
    assert f"recall/{day[:4]}/{day}.jsonl:2: " in done.stdout
    assert "search_files" in done.stderr


def test_a_question_from_standard_input_as_json(fsagent: Run, memory: Path) -> None:
    done = fsagent("ask", "-w", "memory", "--json", stdin="Where does my sister live?\n")
    answer = json.loads(done.stdout)
    assert set(answer) >= {"answer", "citations", "steps", "tool_calls", "usage", "model", "turn"}
    assert answer["citations"][0]["line"] == 2
    assert "Porto" in answer["answer"]


def test_chat_reads_lines_and_saves_each_message(fsagent: Run, memory: Path) -> None:
    done = fsagent(
        "chat", "-w", "memory", stdin="Hello\nWhere does Zelda live?\n/memory\n/context\n/nope\n"
    )
    assert done.returncode == 0
    assert "Porto" in done.stdout and "human (0 of 5000 characters)" in done.stdout
    assert "there is no command /nope" in done.stderr
    assert "Where does Zelda live?" in fsagent("grep", "Zelda live\\?", "-w", "memory").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["--model", "scripted:none.json", "Hi?"], "none.json", id="missing script"),
        pytest.param(
            ["--model", "x", "--base-url", "http://127.0.0.1:9/v1", "Hi?"],
            "127.0.0.1:9",
            id="no server",
        ),
        pytest.param(["--model", "x", "--base-url", "nonsense", "Hi?"], "scheme", id="no address"),
        pytest.param(["--model", "gpt-4o-mini", "Hi?"], "OPENAI_API_KEY", id="no key"),
    ],
)
def test_no_model_is_a_sentence(
    fsagent: Run, memory: Path, arguments: list[str], words: str, monkeypatch
) -> None:
    monkeypatch.setenv("FSAGENT_MAX_RETRIES", "0")
    done = fsagent("ask", "-w", "memory", *arguments)
    assert done.returncode == 2
    assert words in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_broken_block_stops_with_file_and_line(fsagent: Run, memory: Path) -> None:
    block = memory / "core/human.md"
    block.write_text("---\nlimit: [\n---\nfact\n")
    done = fsagent("ask", "-w", "memory", "Hi?")
    assert done.returncode == 2
    assert "core/human.md:" in done.stderr
    assert block.read_text() == "---\nlimit: [\n---\nfact\n"


def test_ctrl_c_at_the_prompt_saves_and_exits_130(fsagent: Run, memory: Path) -> None:
    with on_terminal("chat", "-w", "memory", cwd=memory.parent, env={"TERM": "dumb"}) as terminal:
        terminal.wait_for_prompt()
        terminal.type("My brother is called Cosmo.\n")
        terminal.wait_for("Noted")
        terminal.wait_for_prompt()
        # One that comes before the prompt stops a reply only.
        assert terminal.press_until_it_ends("\x03") == 130
    assert "Cosmo" in fsagent("grep", "Cosmo", "-w", "memory").stdout
    assert "Cosmo" in (memory / ".fsagent/chat_history").read_text()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        pytest.param(["plain"], "plain", id="one line"),
        pytest.param(["one\\", "two\\", "three"], "one\ntwo\nthree", id="backslash"),
        pytest.param(['"""', "a", "", 'b"""'], "a\n\nb", id="quotes"),
        pytest.param(['"""a"""'], "a", id="quotes on one line"),
        pytest.param(['"""a', "b"], "a\nb", id="the end of the input ends the text"),
        pytest.param(["one\\"], "one", id="the end of the input after a backslash"),
    ],
)
def test_a_message_of_several_lines(lines: list[str], message: str) -> None:
    rest = iter(lines)

    def read(prompt: str) -> str:
        line = next(rest, None)
        if line is None:
            raise EOFError
        return line

    assert read_message(read) == message


def test_ctrl_c_gives_up_a_message_of_several_lines() -> None:
    def read(prompt: str) -> str:
        if prompt == ". ":
            raise KeyboardInterrupt
        return "one\\"

    assert read_message(read) == ""


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_bytes_that_are_not_utf8_are_refused_and_not_kept(memory: Path, command: str) -> None:
    before = [path.read_bytes() for path in sorted(memory.glob("recall/*/*"))]
    done = subprocess.run(
        [sys.executable, "-m", "fsagent", command, "-w", str(memory)],
        input=b"What is caf\xe9?\n",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"not UTF-8 text; convert it first" in done.stderr
    assert [path.read_bytes() for path in sorted(memory.glob("recall/*/*"))] == before


def test_an_argument_that_is_not_utf8_is_refused(fsagent: Run, memory: Path) -> None:
    done = fsagent("ask", "-w", "memory", os.fsdecode(b"caf\xe9?"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "the question is not UTF-8 text" in done.stderr
