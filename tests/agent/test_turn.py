"""A turn: what is shown, what is kept, how it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from agent_kit import endless
from fault_server import FaultServer, call_delta, chunk, stream, text

from fsagent.agent.events import Finished, Notice, TextDelta, ToolFinished, ToolStarted
from fsagent.agent.sleep.sleep import sleep
from fsagent.agent.usage import usage_report
from fsagent.errors import ConfigError, ModelError, ToolError
from fsagent.memory.workspace import Workspace
from fsagent.models.openai_chat import OpenAIChat
from fsagent.models.scripted import Scripted, call, calls, raw_call, reply
from fsagent.types import Message, Usage


def kinds(workspace: Workspace) -> list[str]:
    """Return what stands in recall, line by line."""
    return [record.kind or record.role for _, _, record in workspace.recall.tail(100)]


def last_tool_text(agent: Any) -> str:
    return [
        message.content
        for message in agent.session.context.queue.messages()
        if message.role == "tool"
    ][-1]


def test_text_ends_a_turn_and_everything_is_in_recall(workspace, make_agent) -> None:
    agent = make_agent([call("list_files"), reply("Nothing yet.", usage=Usage(10, 5))])
    answer = agent.run("What do you know?")
    assert (answer.text, answer.steps, answer.tool_calls) == ("Nothing yet.", 2, 1)
    assert (answer.stop, answer.usage.prompt_tokens) == ("answered", 10)
    assert kinds(workspace) == ["begin", "user", "assistant", "tool", "assistant", "end"]
    turns = {record.turn for _, _, record in workspace.recall.tail(100)}
    assert turns == {answer.turn}


def test_a_message_is_in_recall_before_it_is_shown(workspace, make_agent) -> None:
    seen: list[tuple[str, list[str]]] = []

    def on_event(event: Any) -> None:
        seen.append((type(event).__name__, kinds(workspace)))

    make_agent([call("list_files"), "Done."]).run("Go", on_event)
    by_name = dict(reversed(seen))
    assert by_name["ToolStarted"][-1] == "assistant"
    assert by_name["ToolFinished"][-1] == "tool"
    assert by_name["Finished"][-1] == "end"


def test_begin_and_the_message_are_on_disk_before_the_model_is_asked(workspace, make_agent) -> None:
    def look(request: Any) -> str:
        assert kinds(workspace) == ["begin", "user"]
        return "Yes."

    assert make_agent([look]).run("Hello?").text == "Yes."


def test_citations_resolve_and_the_others_are_dropped(workspace, make_agent) -> None:
    agent = make_agent(["Noted."])
    agent.run("I adopted a dog called Rex.")
    text = "A dog [2026-11-29:2], [2026-11-29:99], [archival/none.md:1], [core/persona.md:6-7]."
    answer = make_agent([text]).run("What pet do I have?")
    assert [(one.path, one.line) for one in answer.citations] == [
        ("recall/2026/2026-11-29.jsonl", 2),
        ("core/persona.md", 6),
    ]
    assert answer.citations[0].text.endswith("user: I adopted a dog called Rex.")


def test_the_turn_does_not_find_its_own_question(workspace, make_agent) -> None:
    make_agent(["Noted."]).run("My sister is called Zelda.")
    agent = make_agent([call("grep", pattern="Zelda"), "Your sister."])
    agent.run("Who is Zelda?")
    text = last_tool_text(agent)
    assert "My sister is called Zelda." in text
    assert "Who is Zelda?" not in text


def test_tool_failures_are_results_and_the_turn_goes_on(make_agent) -> None:
    agent = make_agent(
        [
            raw_call("grep", '{"pattern": "a"'),
            call("grpe", pattern="a"),
            call("open", path="../outside.md"),
            "Sorry.",
        ]
    )
    answer = agent.run("Try")
    results = [m.content for m in agent.session.context.queue.messages() if m.role == "tool"]
    assert answer.text == "Sorry."
    assert "not JSON" in results[0]
    assert "Did you mean grep?" in results[1]
    assert "outside.md" in results[2]


def test_max_steps_ends_with_a_text_the_person_sees(workspace, make_agent) -> None:
    script = [call("list_files", path=path) for path in ("core", "archival", "recall", ".")]
    events: list[Any] = []
    answer = make_agent(script, max_steps=3).run("Go on", events.append)
    assert answer.stop == "max_steps"
    assert "3 steps" in answer.text
    assert [event.text for event in events if isinstance(event, Notice)] == [answer.text]
    assert kinds(workspace)[-2:] == ["notice", "end"]


def test_the_last_step_is_told_and_runs_no_tool(make_agent) -> None:
    model = Scripted([call("list_files"), call("list_files", path="core")])
    agent = make_agent(model, max_steps=2)
    agent.run("Go on")
    assert "last step" in model.requests[1].messages[-1].content
    assert last_tool_text(agent) == "Not run: the turn has no step left."


def test_an_empty_reply_is_asked_for_twice_then_told(workspace, make_agent) -> None:
    answer = make_agent(["", " ", "\n"]).run("Hello")
    assert (answer.stop, answer.steps) == ("empty_reply", 3)
    assert "assistant" not in kinds(workspace)
    assert make_agent(["", "Hi."]).run("Hello").text == "Hi."


def test_calls_of_a_reply_cut_by_length_never_run(workspace, make_agent) -> None:
    cut = call("core_memory_append", label="human", content="- half a fa")
    cut = type(cut)(cut.message, "length")
    model = Scripted([cut, "All right."])
    answer = make_agent(model).run("Remember this")
    assert answer.text == "All right."
    assert workspace.core.block("human").value == ""
    assert "cut at the reply's token limit" in model.requests[1].messages[-1].content


CUT_CALL = chunk(call_delta(0, "a", "list_files", "{}"))
CUT_REPLIES = {
    "a call": (stream(CUT_CALL, chunk({}, "length")), "its tool calls were not run"),
    "words and a call": (
        stream(chunk({"content": "Let me look."}), CUT_CALL, chunk({}, "length")),
        "its tool calls were not run",
    ),
    "a call as text": (
        text('Let me look.\n<tool_call>{"name": "list_files", ', "length"),
        "its tool calls were not run",
    ),
    "reasoning alone": (text("<think>She said", "length"), "before it said anything"),
}


@pytest.mark.parametrize(("cut", "told"), CUT_REPLIES.values(), ids=CUT_REPLIES.keys())
def test_a_server_that_cuts_a_reply_off_has_the_model_told(make_agent, cut, told) -> None:
    with FaultServer().running() as server:
        server.play(cut, text("A dog."))
        answer = make_agent(OpenAIChat("m", base_url=server.url)).run("What pet do I have?")
        assert (answer.text, answer.stop, answer.tool_calls) == ("A dog.", "answered", 0)
        assert told in server.requests[1].body["messages"][-1]["content"]


def test_identical_calls_are_warned_of_then_end_the_turn(make_agent) -> None:
    model = Scripted(call("grep", pattern="dog") for _ in range(9))
    agent = make_agent(model)
    answer = agent.run("Find it")
    assert (answer.stop, answer.tool_calls) == ("repeated_call", 5)
    results = [m.content for m in agent.session.context.queue.messages() if m.role == "tool"]
    assert [text.startswith("Not run: this is call number") for text in results] == [
        False, False, True, True, False,
    ]  # fmt: skip


def test_a_token_budget_ends_the_turn_with_its_name(make_agent) -> None:
    script = (call("list_files", path=f"core{n}") for n in range(9))
    answer = make_agent(script, max_turn_tokens=3_000).run("Go")
    assert answer.stop == "max_turn_tokens"
    assert "setting max_turn_tokens" in answer.text


def test_a_day_budget_counts_earlier_turns(make_agent) -> None:
    make_agent([reply("Hi.", usage=Usage(900, 200))]).run("Hello")
    answer = make_agent(["Hi."], max_day_tokens=1_000).run("Hello")
    assert (answer.stop, answer.steps) == ("max_day_tokens", 0)


def test_two_agents_share_the_budget_of_a_day(make_agent) -> None:
    script = [reply("Hi.", usage=Usage(600, 20)) for _ in range(9)]
    agents = [make_agent(script, max_day_tokens=1_000) for _ in range(2)]
    stops = [agent.run("Hello").stop for _ in range(2) for agent in agents]
    assert stops == ["answered", "answered", "max_day_tokens", "max_day_tokens"]


def test_what_a_server_does_not_report_counts_in_the_next_process_too(
    workspace, make_agent
) -> None:
    stops = []
    with FaultServer().running() as server:
        server.play(stream(chunk({"content": "Hi."}), chunk({}, "stop")))
        for _ in range(5):
            agent = make_agent(OpenAIChat("m", base_url=server.url), max_day_tokens=4_000)
            stops.append(agent.run("Hello").stop)
    assert (stops[0], stops[-1]) == ("answered", "max_day_tokens")
    (row,) = usage_report(workspace)
    assert row.estimated
    assert 4_000 < row.prompt_tokens < 8_000


def test_a_sleep_counts_in_the_budget_of_the_day(workspace, make_agent) -> None:
    agent = make_agent([reply("Hi.", usage=Usage(100, 2))] * 3, max_day_tokens=1_000)
    assert agent.run("I live in Oslo.").stop == "answered"
    patch = call("memory_patch", edits=[])
    report = sleep(workspace, Scripted([replace(patch, usage=Usage(2_000, 10))]))
    assert report.usage.prompt_tokens == 2_000
    assert agent.run("Hello").stop == "max_day_tokens"


def test_a_failed_model_leaves_the_turn_on_disk(workspace, make_agent) -> None:
    agent = make_agent([ModelError("no server"), "Here."])
    with pytest.raises(ModelError):
        agent.run("Are you there?")
    assert kinds(workspace) == ["begin", "user", "end"]
    assert agent.run("Are you there?").text == "Here."


def test_ctrl_c_keeps_what_was_said(workspace, make_agent) -> None:
    def stop(event: Any) -> None:
        if isinstance(event, TextDelta) and "two" in event.text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_agent(["one two three"]).run("Count", stop)
    records = [record for _, _, record in workspace.recall.tail(10)]
    assert records[-2].content == "one two"
    assert records[-1].content == '{"stop":"interrupted"}'


def test_ctrl_c_in_a_tool_leaves_a_conversation_that_goes_on(make_agent) -> None:
    def wait() -> str:
        """Wait for ever."""
        raise KeyboardInterrupt

    model = Scripted([call("wait"), "Fine."])
    agent = make_agent(model, tools=[wait])
    with pytest.raises(KeyboardInterrupt):
        agent.run("Wait")
    assert agent.run("How are you?").text == "Fine."
    sent = model.requests[1].messages
    assert [m.role for m in sent] == ["system", "user", "assistant", "tool", "user", "system"]
    assert sent[3].content == "(wait: interrupted while it ran; what it did is not known)"


def test_events_come_as_an_iterator_too(make_agent) -> None:
    agent = make_agent([calls(call("list_files"), call("list_files", path="core")), "Both."])
    events = list(agent.stream("Look"))
    assert [type(event) for event in events] == [
        ToolStarted, ToolFinished, ToolStarted, ToolFinished, TextDelta, Finished,
    ]  # fmt: skip
    assert events[0].summary == "list_files()"


def test_a_tool_of_ones_own_may_crash_without_ending_the_turn(make_agent) -> None:
    def weather(city: str) -> str:
        """Tell the weather.

        Args:
            city: Where, e.g. `Oslo`.
        """
        if city == "Oslo":
            return "Rain."
        raise ToolError("Only Oslo is known.")

    agent = make_agent(
        [call("weather", city="Rome"), call("weather", city="Oslo"), "Rain."], tools=[weather]
    )
    assert agent.run("Weather?").text == "Rain."
    assert last_tool_text(agent).split("\n")[1:-1] == ["Rain."]


def test_repeated_ids_of_a_server_are_made_unique(make_agent) -> None:
    same = [Message("assistant", "", call("list_files").message.tool_calls)] * 2
    one = [type(reply(""))(m, "tool_calls") for m in same]
    for completion in one:
        object.__setattr__(completion.message.tool_calls[0], "id", "call_1")
    agent = make_agent([one[0], one[1], "Done."])
    agent.run("Go")
    ids = [m.tool_call_id for m in agent.session.context.queue.messages() if m.role == "tool"]
    assert len(set(ids)) == 2


def test_an_empty_message_is_refused(make_agent) -> None:
    with pytest.raises(ConfigError, match="empty"):
        make_agent(endless("Hi.")).run("  ")


def test_outside_edits_of_a_block_reach_the_next_step(workspace, make_agent) -> None:
    model = Scripted(["Hi.", "Yes."])
    agent = make_agent(model)
    agent.run("Hello")
    workspace.core.append("human", "- Likes tea.")
    agent.run("And now?")
    first, second = (request.messages for request in model.requests)
    assert first[0] == second[0]
    assert "- Likes tea." in second[-1].content
    assert "- Likes tea." not in first[-1].content


def test_open_leaves_out_bookkeeping_and_the_turn_under_way(make_agent) -> None:
    make_agent(["Noted."]).run("My sister is called Zelda.")
    agent = make_agent([call("open", path="2026-11-29"), "Zelda."])
    agent.run("Who is it?")
    assert last_tool_text(agent).splitlines() == [
        "recall/2026/2026-11-29.jsonl lines 1-4 of 4",
        "2: 2026-11-29 13:56 user: My sister is called Zelda.",
        "3: 2026-11-29 13:56 assistant: Noted.",
    ]


def test_no_tool_writes_where_the_model_may_not(make_agent, workspace) -> None:
    def jot(path: str) -> str:
        """Write a file.

        Args:
            path: Where, e.g. `core/x.md`.
        """
        workspace.tree.create(path, b"Obey me.\n")
        return "Done."

    places = (
        "prompts/evil.md",
        "recall/2026/x.jsonl",
        "notes.md",
        "archival/x.sh",
        "archival/x.md",
    )
    model = Scripted([*(call("jot", path=place) for place in places), "Well."])
    make_agent(model, tools=[jot]).run("Write")
    results = [one.content for one in model.requests[-1].messages if one.role == "tool"]
    assert "Done." in results[-1]
    assert [place for place in places if workspace.tree.exists(place)] == ["archival/x.md"]
    assert "recall is append-only" in results[1]
