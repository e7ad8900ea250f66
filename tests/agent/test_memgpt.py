"""The memgpt profile: send_message speaks, heartbeats go on, three at most."""

from __future__ import annotations

import pytest

from fsagent.agent.events import TextDelta
from fsagent.models.scripted import Scripted, call, calls


def say(text: str, **more: object):  # type: ignore[no-untyped-def]
    return call("send_message", message=text, **more)


@pytest.fixture
def memgpt(make_agent):  # type: ignore[no-untyped-def]
    return lambda script, **values: make_agent(script, profile="memgpt", **values)


def test_send_message_with_no_heartbeat_ends_the_turn(workspace, memgpt) -> None:
    shown: list[str] = []
    answer = memgpt([say("Hello!", request_heartbeat=False)]).run(
        "Hi", lambda event: shown.append(event.text) if isinstance(event, TextDelta) else None
    )
    assert (answer.text, answer.stop, answer.steps) == ("Hello!", "answered", 1)
    assert shown == ["Hello!"]


def test_what_was_sent_is_found_by_search_later(workspace, memgpt) -> None:
    memgpt([say("Your dog is called Rex.", request_heartbeat=False)]).run("Hi")
    finder = memgpt([
        call("conversation_search", query="Rex dog", request_heartbeat=True),
        say("Rex.", request_heartbeat=False),
    ])  # fmt: skip
    finder.run("Name of my pet?")
    results = [m.content for m in finder.session.context.queue.messages() if m.role == "tool"]
    assert "assistant: Your dog is called Rex." in results[0]


def test_a_heartbeat_runs_another_step(memgpt) -> None:
    answer = memgpt([
        call("conversation_search", query="dog", request_heartbeat=True),
        say("No dog.", request_heartbeat=False),
    ]).run("Dog?")  # fmt: skip
    assert (answer.text, answer.steps) == ("No dog.", 2)


def test_no_heartbeat_and_no_message_ends_the_turn_with_a_notice(memgpt) -> None:
    script = [call("conversation_search", query="dog", request_heartbeat=False)]
    answer = memgpt(script).run("Dog?")
    assert (answer.stop, answer.steps) == ("no_message", 1)
    assert answer.text


def test_at_most_three_heartbeats(memgpt) -> None:
    model = Scripted(
        call("conversation_search", query=f"dog {n}", request_heartbeat=True) for n in range(9)
    )
    answer = memgpt(model).run("Dog?")
    assert (answer.stop, answer.steps) == ("max_heartbeats", 4)
    assert "speak to the person" in model.requests[3].messages[-1].content


def test_a_failed_tool_and_a_write_ask_for_a_heartbeat_by_themselves(workspace, memgpt) -> None:
    answer = memgpt([
        call("core_memory_append", label="nobody", content="- x", request_heartbeat=False),
        call("core_memory_append", label="human", content="- Has a dog.", request_heartbeat=False),
        say("Saved.", request_heartbeat=False),
    ]).run("I have a dog.")  # fmt: skip
    assert (answer.text, answer.steps) == ("Saved.", 3)
    assert workspace.core.block("human").value == "- Has a dog."


def test_a_write_beside_a_message_asks_for_nothing(memgpt) -> None:
    both = calls(
        call("core_memory_append", label="human", content="- A", request_heartbeat=False),
        say("Saved.", request_heartbeat=False),
    )
    assert memgpt([both]).run("A").steps == 1


def test_every_tool_takes_a_heartbeat(memgpt) -> None:
    agent = memgpt(["Hi."])
    for spec in agent.session.context.specs:
        assert spec.parameters["properties"]["request_heartbeat"]["type"] == "boolean"
        assert "request_heartbeat" in spec.parameters["required"]


def test_plain_text_is_taken_for_the_answer(memgpt) -> None:
    answer = memgpt(["Hello."]).run("Hi")
    assert (answer.text, answer.stop) == ("Hello.", "answered")


def test_plain_text_behind_a_message_hides_none_of_it(memgpt) -> None:
    answer = memgpt([say("Hello!", request_heartbeat=True), "Bye."]).run("Hi")
    assert (answer.text, answer.stop) == ("Hello!\n\nBye.", "answered")


@pytest.mark.parametrize("blank", ["", " \n"])
def test_an_empty_message_is_no_answer(workspace, memgpt, blank) -> None:
    script = [say(blank, request_heartbeat=False), say("Hello!", request_heartbeat=False)]
    agent = memgpt(script)
    assert (agent.run("Hi").text, agent.model.requests[1].messages[-1].role) == ("Hello!", "system")
    said = [record.content for _, _, record in workspace.recall.tail(20) if record.source]
    assert said == ["Hello!"]


def test_a_cheap_model_may_drive_the_heartbeats(memgpt, monkeypatch) -> None:
    cheap = Scripted([say("Cheap words.", request_heartbeat=False)], name="cheap")
    monkeypatch.setattr("fsagent.models.registry.load_model", lambda *_, **__: cheap)
    dear = Scripted([call("conversation_search", query="dog", request_heartbeat=True)])
    answer = memgpt(dear, heartbeat_model="cheap").run("Dog?")
    assert (answer.text, answer.model) == ("Cheap words.", "cheap")
