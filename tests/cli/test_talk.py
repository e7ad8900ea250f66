"""ask and chat: answers with citations, from arguments and standard input, durable before shown."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from support import ROOT, Run

from fsagent.cli.talk import read_message


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
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "fsagent", "chat", "-w", "memory"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb"}
    with subprocess.Popen(
        command, stdin=child, stdout=child, stderr=child, cwd=memory.parent, env=env, start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509 - one thread only
    ) as process:  # fmt: skip
        os.close(child)
        _wait_for(parent, b"> ")
        os.write(parent, b"My brother is called Cosmo.\n")
        _wait_for(parent, b"Noted")
        _wait_for(parent, b"> ")
        assert _interrupt(process, parent) == 130
    os.close(parent)
    assert "Cosmo" in fsagent("grep", "Cosmo", "-w", "memory").stdout
    assert "Cosmo" in (memory / ".fsagent/chat_history").read_text()


def _interrupt(process: subprocess.Popen[bytes], terminal: int) -> int | None:
    """Press Ctrl-C until the process has ended: one that comes before the prompt stops a reply only."""
    for _ in range(30):
        if process.poll() is not None:
            return process.returncode
        with contextlib.suppress(OSError):
            os.write(terminal, b"\x03")
            if select.select([terminal], [], [], 1)[0]:
                os.read(terminal, 4096)
        time.sleep(0.1)
    process.kill()
    return process.wait(10)


def _take_terminal() -> None:
    """Make standard input the controlling terminal, so that Ctrl-C arrives as a signal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _wait_for(terminal: int, wanted: bytes, deadline_s: float = 30) -> None:
    seen, end = b"", time.monotonic() + deadline_s
    while wanted not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        assert ready, f"{wanted!r} did not come; seen: {seen!r}"
        seen += os.read(terminal, 4096)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        pytest.param(["plain"], "plain", id="one line"),
        pytest.param(["one\\", "two\\", "three"], "one\ntwo\nthree", id="backslash"),
        pytest.param(['"""', "a", "", 'b"""'], "a\n\nb", id="quotes"),
        pytest.param(['"""a"""'], "a", id="quotes on one line"),
    ],
)
def test_a_message_of_several_lines(lines: list[str], message: str) -> None:
    rest = iter(lines)
    assert read_message(lambda prompt: next(rest)) == message


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
