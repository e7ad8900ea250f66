"""Agents that share a block: each sees the other's edits, both are in the history as their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import NOW

from fsagent import Agent, Workspace
from fsagent.config import Settings
from fsagent.models.scripted import Scripted
from fsagent.types import Completion, Message, ToolCall

AGENT = """
import json, sys
from fsagent import Agent, Workspace
from fsagent.models.scripted import Scripted
from fsagent.types import Completion, Message, ToolCall

root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])

def script():
    for number in range(count):
        text = json.dumps({"label": "board", "content": f"- {name} {number}."})
        call = ToolCall(f"c{number}", "core_memory_append", text)
        yield Completion(Message("assistant", "", tool_calls=(call,)), finish_reason="tool_calls")
        yield "Noted."

with Workspace.open(root) as memory, Agent(memory, Scripted(script())) as agent:
    print("ready", flush=True); sys.stdin.readline()
    for number in range(count):
        assert agent.run(f"Note {number}").text == "Noted."
"""


@pytest.fixture
def team(tmp_path: Path) -> Path:
    folder = tmp_path / "team"
    folder.mkdir()
    (folder / "board.md").write_text("---\ndescription: For all.\n---\n- first\n")
    for name in ("ann", "bob"):
        Workspace.init(tmp_path / name).close()
        (tmp_path / name / "fsagent.yaml").write_text("shared: ../team\ntimezone: UTC\n")
    return folder


@pytest.fixture
def ann(tmp_path: Path, team: Path) -> Iterator[Workspace]:
    with Workspace.open(tmp_path / "ann", clock=lambda: NOW) as opened:
        yield opened


@pytest.fixture
def bob(tmp_path: Path, team: Path) -> Iterator[Workspace]:
    with Workspace.open(tmp_path / "bob", clock=lambda: NOW) as opened:
        yield opened


def edit(name: str, **arguments: str) -> Completion:
    call = ToolCall("c1", name, json.dumps(arguments))
    return Completion(Message("assistant", "", tool_calls=(call,)), finish_reason="tool_calls")


def test_the_prompt_shows_shared_blocks_and_the_tail_what_another_wrote(
    ann: Workspace, bob: Workspace
) -> None:
    model = Scripted(["Hello.", "I see.", "Still."])
    with Agent(ann, model) as agent:
        agent.run("Hi")
        bob.core.append("board", "- from Bob")
        agent.run("And now?")
        bob.core.remove("human", base=bob.core.read_file("human"))
        agent.run("And now?")
    first, second, third = (request.messages for request in model.requests)
    shown = first[0].content
    assert "<block label='board' description='For all.' use='7/5000 characters, shared" in shown
    assert "from Bob" not in first[-1].content
    assert second[0].content == shown, "the prefix stays as it is"
    assert "Core blocks changed since this session began" in second[-1].content
    assert "- first\n- from Bob" in second[-1].content
    assert "human" not in third[-1].content, "another's own block is not ours"


def test_a_shared_edit_is_committed_where_the_block_lies(ann: Workspace, team: Path) -> None:
    model = Scripted([edit("core_memory_append", label="board", content="- from Ann"), "Done."])
    with Agent(ann, model) as agent:
        turn = agent.run("A secret reason").turn
    ann.close()
    with Workspace.open(ann.root) as again:
        assert again.history.notices() == []
        assert again.shared_history is not None
        log = again.shared_history.repository.git.text("log", "-1", "--format=%an%n%B")
        own = again.history.repository.git.text("log", "--format=%B")
    assert log.startswith("fsagent\nboard.md: add")
    for told in (f"Turn: {turn}", "Tool: core_memory_append", "Workspace: ann"):
        assert told in log
    assert "secret" not in log, "what a person said to Ann is not for all who share"
    assert "from Ann" not in own
    assert not (team / ".git").exists()
    assert (team / ".fsagent" / ".gitignore").read_text() == "*\n"


def test_a_conflict_is_told_to_the_model_with_the_text_as_it_is(
    ann: Workspace, bob: Workspace
) -> None:
    bob.core.replace("board", "- first", "- changed by Bob")
    model = Scripted([edit("core_memory_replace", label="board", old="- first", new="- x"), "Oh."])
    with Agent(ann, model) as agent:
        agent.run("Change it")
    told = model.requests[1].messages
    result = next(one.content for one in told if one.role == "tool")
    assert "'- first' does not stand in block 'board'" in result
    assert "- changed by Bob" in result
    assert bob.core.block("board").value == "- changed by Bob"


def test_two_live_agents_in_two_processes_lose_nothing(tmp_path: Path, team: Path) -> None:
    count = 12
    running = [
        subprocess.Popen(
            [sys.executable, "-c", AGENT, str(tmp_path / name), name, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("ann", "bob")
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in running:
        process.communicate(timeout=100)
        assert process.returncode == 0
    lines = (team / "board.md").read_text().splitlines()
    wanted = {f"- {name} {number}." for name in ("ann", "bob") for number in range(count)}
    assert wanted <= set(lines)
    assert len(lines) == 4 + len(wanted)
    with Workspace.open(tmp_path / "bob") as memory:
        assert memory.shared_history is not None
        log = memory.shared_history.repository.git.text(
            "log", "--format=%s|%(trailers:key=Workspace)"
        )
    for name in ("ann", "bob"):
        assert log.count(f'"{name} ') == log.count(f"Workspace: {name}") == count


def test_an_edit_that_a_crash_cut_off_is_settled_by_the_shared_files_hash(
    ann: Workspace,
) -> None:
    """The intent is on disk, the write happened, the result is not there: it is not done again."""
    from fsagent.agent.recorder import RecallRecorder

    recorder = RecallRecorder(ann.recall, session="s1")
    call = ToolCall("c1", "core_memory_append", '{"label": "board", "content": "- once"}')
    before = ann.core.digest("shared:board.md")
    recorder.begin("t1", Message("user", "Note it"))
    recorder.message("t1", Message("assistant", "", tool_calls=(call,)))
    ann.core.append("board", "- once")
    after = ann.core.digest("shared:board.md")
    assert before not in ("", after)
    facts = {"call": "c1", "path": "shared:board.md", "before": before, "after": after}
    recorder.mark("t1", "intent", facts)
    with Agent(ann, Scripted(["Hello."])) as agent:
        assert "was written" in agent.interrupted[0].edits[0]
    assert ann.core.block("board").value == "- first\n- once"


def test_a_bad_mount_is_told_before_a_model_is_asked(tmp_path: Path) -> None:
    from fsagent.errors import ConfigError

    settings = Settings(timezone="UTC").with_values("a test", shared="../nowhere")
    with (
        Workspace.init(tmp_path / "cat", settings=settings) as memory,
        pytest.raises(ConfigError, match="no such folder"),
    ):
        Agent(memory, Scripted(["Hello."]))
