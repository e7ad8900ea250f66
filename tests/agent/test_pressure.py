"""What a person said early is in core, with its citation, when the window has long moved on."""

from __future__ import annotations

import re
from typing import Any

import pytest
from agent_kit import MakeAgent

from fsagent.agent.events import Compacted, Event, Notice
from fsagent.memory.facts import Fact, facts_of
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Request, Scripted, call
from fsagent.types import Completion

TOLD = "By the way, I keep eleven bees called Bruno in Graz."
FACT = "Keeps eleven bees called Bruno in Graz."
WARNED = "Memory pressure:"


class Talker:
    """Talks, notes the warnings it gets, and keeps what it finds of TOLD when it is asked to."""

    def __init__(self) -> None:
        self.warned = self.asked = 0

    def __call__(self, request: Request) -> Completion | str:
        text = request.messages[-1].content
        if any(spec.name == "memory_patch" for spec in request.tools):
            self.asked += 1
            found = re.search(rf"^\[([\d-]+:\d+)\] .*{re.escape(TOLD)}$", text, re.M)
            edit = {"op": "add", "block": "human", "old": "", "new": f"- {FACT}"}
            return call("memory_patch", edits=[edit | {"cites": [found[1]]}] if found else [])
        self.warned += WARNED in text
        return "I see, and the weather is fine." + " So it goes." * 20


def endless(talker: Talker) -> Any:
    while True:
        yield talker


def human(workspace: Workspace) -> list[Fact]:
    return list(facts_of(workspace.core.block("human").value))


def said_at(workspace: Workspace, fact: Fact) -> str:
    ((path, line),) = fact.citations
    return dict(workspace.recall.read(path))[line].content


@pytest.mark.timeout(300)
def test_a_fact_of_message_10_is_in_core_at_message_400(
    fast_workspace: Workspace, make_agent: MakeAgent
) -> None:
    talker = Talker()
    agent = make_agent(Scripted(endless(talker)), context_tokens=8_192, history=True)
    evicted_before_saved: list[bool] = []
    notices: list[str] = []

    def on_event(event: Event) -> None:
        if isinstance(event, Compacted):
            evicted_before_saved.append(not human(fast_workspace))
        elif isinstance(event, Notice):
            notices.append(event.text)

    for number in range(1, 201):  # a message and its reply each
        text = TOLD if number == 5 else f"Day {number}: I saw tree {number} on my walk, and a fox."
        assert agent.run(text, on_event).stop == "answered"

    (fact,) = human(fast_workspace)
    assert fact.words == FACT
    assert said_at(fast_workspace, fact) == TOLD
    assert len(evicted_before_saved) > 2
    assert not any(evicted_before_saved), "the fact left the window before it was in core"
    assert talker.warned > 0
    # Once for each time the window filled (in at most three pieces), not once a turn.
    assert talker.asked <= 3 * (len(evicted_before_saved) + 1)
    assert any("Saved before the oldest messages" in notice for notice in notices)


@pytest.mark.timeout(300)
def test_the_offline_model_keeps_what_was_said_in_a_small_window(
    fast_workspace: Workspace, make_agent: MakeAgent
) -> None:
    agent = make_agent(_offline(), context_tokens=4_096, history=True)
    told = {3: "My name is Anna.", 5: "I live in Porto.", 90: "Actually, I moved to Lisbon."}
    compacted = 0

    def on_event(event: Event) -> None:
        nonlocal compacted
        compacted += isinstance(event, Compacted)

    for number in range(1, 201):
        text = told.get(
            number, f"Day {number}: tree {number} stood there in the rain." + " Ah." * 30
        )
        assert agent.run(text, on_event).stop == "answered"

    facts = {fact.words: said_at(fast_workspace, fact) for fact in human(fast_workspace)}
    assert facts == {"Is called Anna.": told[3], "Lives in Lisbon.": told[90]}
    assert compacted > 2
    assert agent.run("Where do I live?").text.startswith("Lisbon [")


def test_nothing_is_saved_where_sleep_is_switched_off(
    fast_workspace: Workspace, make_agent: MakeAgent
) -> None:
    agent = make_agent(_offline(), context_tokens=4_096, history=True, sleep_after_s=0.0)
    for number in range(40):
        agent.run("I live in Porto." if number == 0 else f"Tree {number}." + " Ah." * 60)
    assert human(fast_workspace) == []


def test_nothing_is_saved_while_there_is_room(
    fast_workspace: Workspace, make_agent: MakeAgent
) -> None:
    talker = Talker()
    agent = make_agent(Scripted(endless(talker)), history=True)
    for _ in range(5):
        agent.run(TOLD)
    assert talker.asked == 0


def test_a_model_that_fails_to_save_does_not_stop_the_chat(
    fast_workspace: Workspace, make_agent: MakeAgent
) -> None:
    def mute(request: Request) -> Completion | str:
        return "No." + " So it goes." * 20

    def forever() -> Any:
        while True:
            yield mute

    agent = make_agent(Scripted(forever()), context_tokens=4_096, history=True)
    for number in range(60):
        assert agent.run(f"Tree {number}." + " Ah." * 40).stop == "answered"
    assert human(fast_workspace) == []


def test_ctrl_c_while_it_saves_keeps_the_message(
    fast_workspace: Workspace, make_agent: MakeAgent
) -> None:
    class Away(Talker):
        def __call__(self, request: Request) -> Completion | str:
            if any(spec.name == "memory_patch" for spec in request.tools) and not self.asked:
                self.asked += 1
                raise KeyboardInterrupt
            return super().__call__(request)

    agent = make_agent(Scripted(endless(Away())), context_tokens=4_096, history=True)
    with pytest.raises(KeyboardInterrupt):
        for number in range(60):
            agent.run(f"Tree {number}." + " Ah." * 40)
    text = f"Tree {number}." + " Ah." * 40
    assert agent.unanswered is not None
    assert agent.unanswered.text == text
    assert agent.retry().stop == "answered"
    asked = [record for _, _, record in fast_workspace.recall.tail(40) if record.role == "user"]
    assert [record.content for record in asked].count(text) == 1


def test_a_block_that_cannot_be_read_does_not_stop_the_chat(
    fast_workspace: Workspace, make_agent: MakeAgent
) -> None:
    agent = make_agent(_offline(), context_tokens=4_096, history=True)
    agent.run("I live in Porto.")
    broken = fast_workspace.root / "core/broken.md"
    broken.write_text("---\nlimit: [\n---\n", encoding="utf-8")
    notices: list[str] = []

    def on_event(event: Event) -> None:
        if isinstance(event, Notice):
            notices.append(event.text)

    for number in range(60):
        assert agent.run(f"Tree {number}." + " Ah." * 40, on_event).stop == "answered"
    assert any("Nothing was saved" in text and "core/broken.md" in text for text in notices)


def _offline() -> Any:
    from fsagent.models.offline import Offline

    return Offline()
