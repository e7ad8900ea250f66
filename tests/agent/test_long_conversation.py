"""A conversation of 5,000 messages in a window of 8k tokens."""

from __future__ import annotations

from typing import Any

import pytest

from fsagent.agent.events import Compacted, Finished
from fsagent.models.scripted import Request, Scripted, call
from fsagent.tokens import estimate_request
from fsagent.types import Completion

TURNS = 2_500
FIRST = "My first pet was a tortoise called Archimedes."


class Talker:
    """Answers small talk with small talk, and a question through the tools."""

    def __init__(self) -> None:
        self.largest = 0

    def __call__(self, request: Request) -> Completion | str:
        self.largest = max(self.largest, estimate_request(request.messages, request.tools))
        since = request.messages[1:-1]
        if since[-1].role == "tool":
            found = since[-1].content.splitlines()[0]
            path, line = found.split(":")[:2]
            return f"A tortoise called Archimedes. [{path}:{line}]"
        if "first pet" in since[-1].content and "?" in since[-1].content:
            return call("search_files", query="first pet tortoise")
        return f"I see. {len(since)} things stand before me, and the weather is fine." + " So." * 20


@pytest.mark.timeout(300)
def test_5000_messages_in_8k_tokens(fast_workspace, make_agent) -> None:
    workspace = fast_workspace
    talker = Talker()

    def forever() -> Any:
        while True:
            yield talker

    model = Scripted(forever())
    agent = make_agent(model, context_tokens=8_192)
    steps: list[bool] = []

    def on_event(event: Any) -> None:
        if isinstance(event, Compacted):
            assert event.after_tokens < event.before_tokens
            assert not (steps and steps[-1]), "compacted twice in a row"
            steps.append(True)
        elif isinstance(event, Finished):
            steps.append(False)

    agent.run(FIRST)
    for number in range(1, TURNS):
        answer = agent.run(f"Day {number}: I went for a walk and saw tree {number}.", on_event)
        assert answer.stop == "answered"
        model.requests.clear()
    answer = agent.run("What was my first pet?", on_event)

    assert steps.count(True) > 20
    assert talker.largest <= 8_192
    assert [one.text.endswith(FIRST) for one in answer.citations] == [True]
    said = [record for path in workspace.recall.days() for _, record in workspace.recall.read(path)]
    talk = [record for record in said if record.kind is None and record.role != "tool"]
    assert len([record for record in talk if record.role == "user"]) == TURNS + 1
    assert len([record for record in talk if record.role == "assistant"]) == TURNS + 2
    assert [record.seq for record in said] == sorted(record.seq for record in said)
