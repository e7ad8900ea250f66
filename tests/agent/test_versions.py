"""A turn that writes is a commit; what others edited reaches the next turn."""

from __future__ import annotations

import re

from fsagent.agent.report import context_report
from fsagent.agent.usage import usage_report
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Scripted, call, reply
from fsagent.types import Usage


def test_a_turn_that_writes_is_a_commit_with_its_tool_and_words(workspace, make_agent) -> None:
    script = [call("core_memory_append", label="human", content="- Has a dog."), "Saved."]
    answer = make_agent(script, history=True).run("I have a dog.")
    workspace.close()
    with Workspace.open(workspace.root, settings=workspace.settings) as again:
        message = again.history.repository.git.text("log", "-3", "--format=%B", "HEAD")
    assert "core_memory_append" in message
    assert answer.turn in message
    assert "I have a dog." in message
    day, trailers = "recall/2026/2026-11-29.jsonl", message.split("\n\n")
    written = next(part for part in trailers if part.startswith("Turn: ")).split("\n")
    assert written[:3] == [f"Turn: {answer.turn}", "Tool: core_memory_append", "Model: scripted"]
    assert re.fullmatch(r"Cost: \d+ tokens", written[3])
    assert written[4:6] == [f"Source: {day}:2", "Memory-By: agent"]


def test_an_outside_edit_is_shown_in_the_next_turn(workspace, make_agent) -> None:
    model = Scripted(["Hi.", "I see."])
    agent = make_agent(model, history=True)
    agent.run("Hello")
    path = workspace.root / "archival" / "notes" / "tea.md"
    path.write_text("We like tea.\n", encoding="utf-8")
    agent.run("What is new?")
    assert "edited from outside" in model.requests[1].messages[-1].content
    assert "We like tea." in model.requests[1].messages[-1].content


def test_usage_by_day_role_and_model(workspace, make_agent) -> None:
    agent = make_agent([reply("Hi.", usage=Usage(100, 5, 40)), reply("Hi.", usage=Usage(200, 5))])
    agent.run("One")
    agent.run("Two")
    (row,) = usage_report(workspace)
    assert (row.day, row.role, row.model, row.requests) == ("2026-11-29", "chat", "scripted", 2)
    assert (row.prompt_tokens, row.completion_tokens, row.cached_tokens) == (300, 10, 40)
    assert usage_report(workspace, since="2026-12-01") == ()


def test_the_context_report_adds_up(make_agent) -> None:
    agent = make_agent(["Hi."])
    agent.run("Hello")
    report = context_report(agent)
    assert abs(sum(section.tokens for section in report.sections) - report.used_tokens) < 10
    assert report.as_dict()["sections"]["tools"] > 500
    assert 0 < report.free_tokens < report.context_tokens
