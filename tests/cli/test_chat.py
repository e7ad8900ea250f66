"""Chat on a real terminal and from a pipe: rendering, tool activity, commands, stops, retries."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer, body, chunk, error, stream, text
from hypothesis import given
from hypothesis import strategies as st
from support import Run
from terminal import on_terminal

from fsagent.cli.markdown import blocks

REPLY = """\
# A title

Some **bold** words in <b>HTML</b> and `code`
on a second line.

- one
- two

[A link](http://example.org/x) \x1b[2J\x1b]0;title\x07 end"""
FIND = {"call": "search_files", "arguments": {"query": "Zelda"}}
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7][;m]")


@pytest.fixture
def memory(fsagent: Run, tmp_path: Path) -> Path:
    fsagent("init", "memory")
    return tmp_path / "memory"


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer().running() as running:
        yield running


@pytest.fixture
def scripted(tmp_path: Path) -> Any:
    """Return a function that writes a script and returns the model's name."""

    def write(*steps: Any) -> str:
        path = tmp_path / "script.json"
        path.write_text(json.dumps(steps), encoding="utf-8")
        return f"scripted:{path}"

    return write


def said(memory: Path) -> list[tuple[str, str]]:
    """Return the role and text of every message in recall."""
    days = [day.read_bytes() for day in sorted(memory.glob("recall/*/*"))]
    lines = [line for day in days for line in day.split(b"\n") if line]
    records = [json.loads(line) for line in lines]
    return [(one["role"], one["content"]) for one in records if one.get("kind") is None]


def talk(memory: Path, model: str, *keys: str, **env: str) -> str:
    """Type messages into a chat on a terminal, wait for its prompt after each; return the screen."""
    with on_terminal("chat", "-w", "memory", "--model", model, cwd=memory.parent, env=env) as tty:
        for line in keys:
            tty.wait_for_prompt()
            tty.type(f"{line}\n")
        tty.wait_for_prompt()
        tty.type("\x04")
        assert tty.wait_for_end() == 0
        return tty.text


def test_a_reply_is_rendered_on_a_terminal_and_escaped(memory: Path, scripted: Any) -> None:
    screen = talk(memory, scripted(REPLY), "Hello")
    assert "\x1b[1mbold\x1b[0m" in screen and "**" not in screen
    assert "<b>HTML</b>" in screen and "http://example.org/x" in screen
    assert "\x1b[2J" not in screen and "\x1b]" not in screen
    assert r"\x1b[2J\x1b]0;title\x07" in screen
    assert ("assistant", REPLY) in said(memory)


def test_no_color_is_obeyed(memory: Path, scripted: Any) -> None:
    assert COLOUR.search(talk(memory, scripted(REPLY), "Hello", NO_COLOR=""))
    screen = talk(memory, scripted(REPLY), "Hello", NO_COLOR="1")
    assert "\x1b[1mbold\x1b[0m" in screen and not COLOUR.search(screen)


def test_a_dumb_terminal_and_a_pipe_get_the_text_as_it_is(
    fsagent: Run, memory: Path, scripted: Any
) -> None:
    screen = talk(memory, scripted(REPLY), "Hello", TERM="dumb")
    assert "Some **bold** words" in screen and "\x1b" not in screen
    done = fsagent("chat", "-w", "memory", "--model", scripted(REPLY), stdin="Hello\n")
    assert "Some **bold** words" in done.stdout and "\x1b" not in done.stdout
    assert r"\x1b[2J" in done.stdout


def test_a_tool_is_one_line_and_with_v_shows_its_arguments_and_result(
    fsagent: Run, memory: Path, scripted: Any
) -> None:
    model = scripted(FIND, "Nowhere.")
    brief = fsagent("chat", "-w", "memory", "--model", model, stdin="Where is Zelda?\n")
    (line,) = [line for line in brief.stderr.splitlines() if "search_files" in line]
    assert line == '  search_files("Zelda"): No hits for "Zelda"'
    full = fsagent("chat", "-v", "-w", "memory", "--model", model, stdin="Where is Zelda?\n")
    assert '      "query": "Zelda"' in full.stderr
    assert re.search(r"^    recall/.*Where is Zelda", full.stderr, re.M)


def test_text_shows_while_it_streams_and_ctrl_c_keeps_it(memory: Path, server: FaultServer) -> None:
    half = stream(chunk({"role": "assistant", "content": "Hm"}), done=False, then="stall")
    whole = text("Here I am.")
    server.script = lambda request: half if len(server.requests) == 1 else whole
    arguments = ["chat", "-w", "memory", "--model", "m", "--base-url", server.url]
    env = {"FSAGENT_TOOL_MODE": "native"}
    with on_terminal(*arguments, cwd=memory.parent, env=env) as tty:
        tty.wait_for_prompt()
        tty.type("Are you there?\n")
        tty.wait_for("Hm")
        tty.type("\x03")
        tty.wait_for("/retry asks again")
        assert said(memory) == [("user", "Are you there?"), ("assistant", "Hm")]
        tty.wait_for_prompt()
        tty.type("/retry\n")
        tty.wait_for("Here I am.")
        tty.wait_for_prompt()
        tty.type("\x04")
        assert tty.wait_for_end() == 0
    assert [role for role, _ in said(memory)] == ["user", "assistant", "assistant"]
    sent = [one["content"] for one in server.requests[1].body["messages"][1:]]
    assert len(sent) == 1 and sent[0].startswith("Are you there?")


def test_a_message_without_an_answer_is_offered_at_the_next_start(
    fsagent: Run, memory: Path, server: FaultServer
) -> None:
    server.play(error("overloaded for good", 400))
    endpoint = ["-w", "memory", "--model", "m", "--base-url", server.url]
    failed = fsagent("ask", *endpoint, "Where is my key?")
    assert failed.returncode == 2
    assert "Your question is saved; fsagent ask --retry asks it again." in failed.stderr
    piped = fsagent("chat", *endpoint, stdin="")
    assert "The last message got no answer: 'Where is my key?'" in piped.stderr
    server.play(text("Under the mat."))
    with on_terminal("chat", *endpoint, cwd=memory.parent) as tty:
        tty.wait_for("Ask it again? [Y/n]")
        tty.type("\n")
        tty.wait_for("Under the mat.")
        tty.wait_for_prompt()
        tty.type("\x04")
        assert tty.wait_for_end() == 0
    assert said(memory) == [("user", "Where is my key?"), ("assistant", "Under the mat.")]
    with on_terminal("chat", *endpoint, cwd=memory.parent) as tty:
        tty.wait_for_prompt()
        assert "Ask it again?" not in tty.text


def test_ask_retry_asks_the_last_message_again_and_never_writes_it_twice(
    fsagent: Run, memory: Path, scripted: Any
) -> None:
    down = scripted({"error": "no server"})
    assert fsagent("ask", "-w", "memory", "--model", down, "Where is my key?").returncode == 2
    assert fsagent("ask", "-w", "memory", "--model", down, "--retry").returncode == 2
    done = fsagent("ask", "-w", "memory", "--model", scripted("In the car."), "--retry")
    assert (done.returncode, done.stdout) == (0, "In the car.\n")
    assert said(memory) == [("user", "Where is my key?"), ("assistant", "In the car.")]
    again = fsagent("ask", "-w", "memory", "--retry")
    assert (again.returncode, again.stdout) == (1, "")
    assert "nothing to retry" in again.stderr
    assert fsagent("ask", "-w", "memory", "--retry", "Hello?").returncode == 2


def test_a_reply_that_was_cut_ends_with_2_and_says_so(
    fsagent: Run, memory: Path, scripted: Any
) -> None:
    model = scripted({"reply": "It all began", "finish_reason": "length"})
    done = fsagent("ask", "-w", "memory", "--model", model, "Tell me")
    assert (done.returncode, done.stdout) == (2, "It all began\n")
    assert "cut at its token limit" in done.stderr


def test_the_commands_of_a_chat(fsagent: Run, memory: Path, scripted: Any) -> None:
    note = {
        "call": "core_memory_append",
        "arguments": {"label": "human", "content": "- Has a dog."},
    }
    model = scripted(note, "Noted.", "Yes.")
    lines = [
        "I have a dog.",
        "/memory",
        "/search dog",
        "/search",
        "/serch dog",
        "/context",
        "/model",
        "/model offline",
        "/model",
        "/retry",
        "/help",
        " /etc is a folder",
    ]
    done = fsagent("chat", "-w", "memory", "--model", model, stdin="\n".join([*lines, ""]))
    assert done.returncode == 0
    assert "- Has a dog." in done.stdout
    assert re.search(r"^recall/.*:2: .*I have a dog\.", done.stdout, re.M)
    assert "system prompt and core" in done.stdout and "tokens" in done.stdout
    assert f"{model}\noffline\noffline\n" in done.stdout
    assert "write what to search for" in done.stderr
    assert "did you mean /search?" in done.stderr
    assert "has its answer" in done.stderr
    assert "/undo [TURN]" in done.stdout
    assert ("user", " /etc is a folder") in said(memory)


def test_undo_takes_back_what_the_last_turn_wrote(memory: Path, scripted: Any) -> None:
    note = {
        "call": "core_memory_append",
        "arguments": {"label": "human", "content": "- Has a dog."},
    }
    model = scripted(note, "Noted.", "Well.")
    block = memory / "core/human.md"
    with on_terminal("chat", "-w", "memory", "--model", model, cwd=memory.parent) as tty:
        tty.wait_for_prompt()
        tty.type("I have a dog.\n")
        tty.wait_for("Noted.")
        assert "Has a dog" in block.read_text()
        tty.wait_for_prompt()
        tty.type("/undo\n")
        tty.wait_for("- Has a dog.")
        tty.wait_for("[y/N]")
        tty.type("y\n")
        tty.wait_for("Done")
        assert "Has a dog" not in block.read_text()
        tty.wait_for_prompt()
        tty.type("/undo\n")
        tty.wait_for("there is nothing to undo")


def test_sleep_in_a_chat_keeps_what_lasts(fsagent: Run, memory: Path) -> None:
    lines = "I live in Porto.\n/sleep\n/memory\n"
    done = fsagent("chat", "-w", "memory", "--model", "offline", stdin=lines)
    assert "Porto" in done.stdout.partition("human (")[2]
    assert "take it back with: fsagent undo" in done.stderr


def test_an_idle_chat_sleeps_and_says_so(memory: Path) -> None:
    env = {"FSAGENT_SLEEP_AFTER_S": "0.1"}
    arguments = ["chat", "-w", "memory", "--model", "offline"]
    with on_terminal(*arguments, cwd=memory.parent, env=env) as tty:
        tty.wait_for_prompt()
        tty.type("I live in Porto.\n")
        tty.wait_for_prompt()
        end = time.monotonic() + 30
        while "Porto" not in (memory / "core/human.md").read_text():
            assert time.monotonic() < end
            time.sleep(0.05)
        while "slept meanwhile" not in tty.text:
            assert time.monotonic() < end
            tty.type("/model\n")
            tty.wait_for_prompt()


def test_several_lines_are_one_message_on_a_terminal(memory: Path, scripted: Any) -> None:
    talk(memory, scripted("Yes.", "Yes."), '"""first\n\nsecond"""', "third\\\nfourth")
    assert [text for role, text in said(memory) if role == "user"] == [
        "first\n\nsecond",
        "third\nfourth",
    ]


def test_a_pasted_text_of_several_lines_is_one_message(memory: Path, scripted: Any) -> None:
    talk(memory, scripted("Yes."), "\x1b[200~first\nsecond\x1b[201~")
    assert said(memory) == [("user", "first\nsecond"), ("assistant", "Yes.")]


def test_ctrl_c_in_ask_saves_the_question_and_says_how_to_go_on(
    memory: Path, server: FaultServer
) -> None:
    server.play(stream(chunk({"role": "assistant", "content": "Hm"}), done=False, then="stall"))
    arguments = ["ask", "-w", "memory", "--model", "m", "--base-url", server.url, "Are you there?"]
    with on_terminal(*arguments, cwd=memory.parent, env={"FSAGENT_TOOL_MODE": "native"}) as tty:
        end = time.monotonic() + 30
        while not server.requests:
            assert time.monotonic() < end
            time.sleep(0.05)
        tty.type("\x03")
        tty.wait_for("fsagent ask --retry asks it again")
        assert tty.wait_for_end() == 130
    assert said(memory)[0] == ("user", "Are you there?")


def test_continue_says_that_it_goes_on(fsagent: Run, memory: Path, scripted: Any) -> None:
    fsagent("chat", "-w", "memory", "--model", scripted("Hi."), stdin="Hello\n")
    done = fsagent("chat", "--continue", "-w", "memory", "--model", scripted("Hi."), stdin="")
    assert "going on with the last conversation: 2 messages" in done.stderr


MODELS = {"data": [{"id": "nomic-embed-text"}, {"id": "qwen3"}, {"id": "gemma"}]}


def test_a_server_on_this_machine_is_named_and_used_where_nothing_is_chosen(
    fsagent: Run, memory: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = lambda request: body(MODELS) if request.path == "/v1/models" else text("Hi.")
    monkeypatch.setenv("FSAGENT_LOCAL_PORTS", str(server.port))
    done = fsagent("ask", "-w", "memory", "Hello")
    assert done.stdout == "Hi.\n"
    assert f"found a server on this machine, {server.url}: using its qwen3." in done.stderr
    assert "--model offline none of them" in done.stderr
    named = fsagent("ask", "-w", "memory", "--model", "gemma", "Hello")
    assert f"model gemma of the server on this machine at {server.url}" in named.stderr
    before = len(server.requests)
    offline = fsagent("ask", "-w", "memory", "--model", "offline", "Hello")
    assert "embedded offline model" in offline.stderr and len(server.requests) == before


@pytest.mark.parametrize("command", [["ask", "Hello"], ["doctor"]], ids=["ask", "doctor"])
def test_a_base_url_without_a_model_uses_the_one_its_server_has(
    fsagent: Run, memory: Path, server: FaultServer, command: list[str]
) -> None:
    server.script = lambda request: body(MODELS) if request.path == "/v1/models" else text("Hi.")
    done = fsagent("-w", "memory", *command, "--base-url", server.url)
    assert done.returncode == 0
    assert f"using qwen3 of {server.url}. It also has nomic-embed-text, gemma." in done.stderr
    assert (
        done.stdout == "Hi.\n" if command[0] == "ask" else f"qwen3 at {server.url}" in done.stdout
    )


def test_a_base_url_of_all_programs_chooses_no_model(
    fsagent: Run, memory: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert "embedded offline model" in fsagent("ask", "-w", "memory", "Hello").stderr
    assert server.requests == []


def test_a_server_that_lists_no_model_that_talks_is_not_guessed_at(
    fsagent: Run, memory: Path, server: FaultServer
) -> None:
    server.play(body({"data": [{"id": "nomic-embed-text"}]}))
    done = fsagent("ask", "-w", "memory", "--base-url", server.url, "Hello")
    assert (done.returncode, done.stdout) == (2, "")
    assert "add --model NAME" in done.stderr and "nomic-embed-text" in done.stderr


def test_without_a_server_the_offline_model_answers(fsagent: Run, memory: Path) -> None:
    assert "embedded offline model" in fsagent("ask", "-w", "memory", "Hello").stderr


@given(st.lists(st.sampled_from(["a", "# b", "- c", "```", "| d |", "|---|", "", "\u2028", "> e"])))
def test_blocks_lose_nothing(lines: list[str]) -> None:
    whole = "\n".join(lines)
    assert "".join(blocks(whole)) == whole
