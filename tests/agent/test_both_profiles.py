"""Both profiles pass the same conversations: what they do differs, what comes of it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fsagent.errors import ModelError
from fsagent.models.scripted import Scripted, call, reply
from fsagent.types import Completion, Usage

PROFILES = ("filesystem", "memgpt")
SEARCH = {"filesystem": "search_files", "memgpt": "conversation_search"}


class Hand:
    """Writes replies as a profile wants them."""

    def __init__(self, profile: str, make_agent: Callable[..., Any]) -> None:
        self.profile, self._make = profile, make_agent

    def use(self, tool: str, **arguments: Any) -> Completion:
        more = {"request_heartbeat": True} if self.profile == "memgpt" else {}
        return call(tool, **arguments, **more)

    def search(self, query: str) -> Completion:
        return self.use(SEARCH[self.profile], query=query)

    def say(self, text: str) -> Completion:
        if self.profile == "memgpt":
            return call("send_message", message=text, request_heartbeat=False)
        return reply(text)

    def agent(self, *script: Any, **values: Any) -> Any:
        return self._make(list(script), profile=self.profile, **values)


@pytest.fixture(params=PROFILES)
def hand(request: pytest.FixtureRequest, make_agent: Callable[..., Any]) -> Hand:
    return Hand(request.param, make_agent)


def test_a_fact_is_told_and_found_in_a_later_conversation(hand) -> None:
    hand.agent(hand.say("Noted.")).run("My dog is called Rex.")
    agent = hand.agent(hand.search("dog"), hand.say("Rex. [2026-11-29:2]"))
    answer = agent.run("What is my dog called?")
    assert (answer.stop, answer.steps, answer.tool_calls >= 1) == ("answered", 2, True)
    assert answer.citations[0].text.endswith("user: My dog is called Rex.")


def test_a_fact_is_saved_and_stands_in_the_next_prompt(hand) -> None:
    save = hand.use("core_memory_append", label="human", content="- Has a dog. [2026-11-29:2]")
    hand.agent(save, hand.say("Saved.")).run("I have a dog.")
    agent = hand.agent(hand.say("Hi."))
    assert "- Has a dog. [2026-11-29:2]" in agent.session.context.system.content


def test_a_fact_is_corrected(hand, workspace) -> None:
    workspace.core.append("human", "- Lives in Berlin.")
    fix = hand.use("core_memory_replace", label="human", old="Berlin", new="Beijing")
    answer = hand.agent(fix, hand.say("Corrected.")).run("I moved to Beijing.")
    assert (answer.text, workspace.core.block("human").value) == (
        "Corrected.",
        "- Lives in Beijing.",
    )


def test_a_note_is_written_once(hand, workspace) -> None:
    note = hand.use("archival_memory_insert", title="Trip", content="We took the ferry.")
    hand.agent(note, hand.say("Written.")).run("Write down the trip.")
    assert [entry.title for entry in workspace.archival.entries()] == ["Trip"]


def test_a_failed_tool_is_a_result_and_the_turn_goes_on(hand) -> None:
    bad = hand.use("core_memory_append", label="nobody", content="- x")
    assert hand.agent(bad, hand.say("There is no such block.")).run("Save x").stop == "answered"


def test_an_empty_reply_is_asked_for_again(hand) -> None:
    assert hand.agent("", hand.say("Here.")).run("Hello").text == "Here."


def test_a_turn_without_end_is_stopped_by_its_budget(hand) -> None:
    script = [hand.search(f"dog {number}") for number in range(9)]
    answer = hand.agent(*script, max_turn_tokens=2_500, max_heartbeats=9).run("Dog?")
    assert answer.stop == "max_turn_tokens"


def test_a_model_that_fails_leaves_a_turn_that_can_be_asked_again(hand) -> None:
    agent = hand.agent(ModelError("no server"), hand.say("Here."))
    with pytest.raises(ModelError):
        agent.run("Hello")
    assert agent.run("Hello").text == "Here."


def test_money_ends_a_turn(hand) -> None:
    priced = Scripted(
        [hand.search("dog").__class__(c.message, "tool_calls", Usage(10_000, 10)) for c in
         (hand.search("dog"), hand.search("cat"), hand.search("cow"))],
        name="gpt-4o",
    )  # fmt: skip
    agent = hand._make(priced, profile=hand.profile, max_turn_usd=0.04)
    answer = agent.run("Pets?")
    assert (answer.stop, answer.steps) == ("max_turn_usd", 2)
    assert "USD" in answer.text


def test_everything_said_is_in_recall_in_order(hand, workspace) -> None:
    hand.agent(hand.search("dog"), hand.say("No dog.")).run("Dog?")
    records = [record for _, _, record in workspace.recall.tail(50)]
    said = [record.content for record in records if record.role in ("user", "assistant")]
    assert [text for text in said if text] == ["Dog?", "No dog."]
    assert [records[0].kind, records[-1].kind] == ["begin", "end"]
