"""A turn that is recorded through the history is one commit with its facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from history_kit import git

from fsagent import Workspace
from fsagent.memory.history.recording import CommittingRecorder
from fsagent.memory.recall import Draft, Reference
from fsagent.types import Message, ToolCall, Usage


class Plain:
    """A recorder that writes the messages into recall."""

    def __init__(self, workspace: Workspace) -> None:
        self._recall = workspace.recall
        self.ended: list[str] = []

    def begin(self, turn: str, message: Message) -> Reference | None:
        return self.message(turn, message)

    def message(self, turn: str, message: Message, **_: Any) -> Reference | None:
        return self._recall.append(Draft(message.role, "ann", message.content, turn=turn))

    def mark(self, turn: str, kind: str, facts: Mapping[str, Any], **_: Any) -> Reference | None:
        return self._recall.append(Draft("system", "fsagent", "", turn=turn, kind=kind))

    def end(self, turn: str, stop: str) -> None:
        self.ended.append(stop)


def test_a_recorded_turn_is_one_commit_with_its_facts(workspace: Workspace) -> None:
    plain = Plain(workspace)
    recorder = CommittingRecorder(plain, workspace.history, writing={"core_memory_append"})
    recorder.begin("t-1", Message("user", "I have a dog"))
    calls = (ToolCall("1", "grep", "{}"), ToolCall("2", "core_memory_append", "{}"))
    recorder.message("t-1", Message("assistant", "", calls), model="m", usage=Usage(100, 20))
    workspace.core.append("human", "- Has a dog.")
    recorder.message("t-1", Message("assistant", "Noted."), model="m", usage=Usage(130, 5))
    recorder.end("t-1", "answered")
    workspace.close()
    assert plain.ended == ["answered"]
    message = git(workspace.root, "log", "-1", "--format=%B", "--", "core")
    assert message.split("\n\n")[-1].split("\n") == [
        "Turn: t-1",
        "Tool: core_memory_append",
        "Model: m",
        "Cost: 255 tokens",
        "Source: recall/2026/2026-11-30.jsonl:1",
        "Memory-By: agent",
    ]


def test_what_others_changed_is_at_hand_once_the_turn_began(workspace: Workspace) -> None:
    recorder = CommittingRecorder(Plain(workspace), workspace.history, writing=())
    recorder.begin("t-1", Message("user", "Hello"))
    recorder.end("t-1", "answered")
    path = workspace.root / "core" / "human.md"
    path.write_text(path.read_text() + "- By hand.\n")
    recorder.begin("t-2", Message("user", "Hello"))
    assert "+- By hand." in recorder.outside
    recorder.end("t-2", "answered")
