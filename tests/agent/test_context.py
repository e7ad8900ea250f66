"""The context window: frozen in front, paging behind, never over its limit."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from agent_kit import endless
from fault_server import Answer, FaultServer, Request, error, text

from fsagent.agent.compaction import ModelSummary, rule_summary
from fsagent.agent.context import clipped, clipped_call
from fsagent.agent.events import Compacted, Notice
from fsagent.agent.queue import Unit
from fsagent.errors import ConfigError, ContextOverflow
from fsagent.models.openai_chat import OpenAIChat
from fsagent.models.scripted import Scripted, call, calls, reply
from fsagent.tokens import estimate_request
from fsagent.types import Message, ToolCall, Usage


def test_two_turns_share_their_prefix_byte_for_byte(make_agent) -> None:
    model = Scripted([call("core_memory_append", label="human", content="- Tea."), "One.", "Two."])
    agent = make_agent(model)
    agent.run("First")
    agent.run("Second")
    first, second, third = (request.messages for request in model.requests)
    assert second[: len(first) - 1] == first[:-1]
    assert third[: len(second) - 1] == second[:-1]
    assert model.requests[0].tools == model.requests[2].tools
    assert "Now: 2026-11-29 13:56" in first[-1].content


def test_the_prefix_holds_no_clock(make_agent) -> None:
    agent = make_agent(["Hi."])
    assert "2026-11-29 13" not in agent.session.context.system.content


def test_the_model_is_warned_at_70_percent(make_agent) -> None:
    model = Scripted(endless("word " * 300))
    agent = make_agent(model, context_tokens=8_192)
    while not agent.session.context.is_pressed():
        agent.run("tell me " * 100)
    agent.run("more")
    tails = [request.messages[-1].content for request in model.requests]
    assert "Memory pressure" in tails[-1]
    assert "Memory pressure" not in tails[0]


def test_half_is_evicted_behind_a_summary_at_the_head(workspace, make_agent) -> None:
    model = Scripted(endless("word " * 200))
    agent = make_agent(model, context_tokens=8_192)
    events: list[Any] = []
    for number in range(40):
        agent.run(f"message {number} " + "x" * 400, events.append)
    compacted = [event for event in events if isinstance(event, Compacted)]
    assert compacted
    assert all(one.after_tokens < one.before_tokens * 0.8 for one in compacted)
    head = model.requests[-1].messages[1]
    assert head.content.startswith("Summary of the conversation before these messages")
    said = [record.content for _, _, record in workspace.recall.tail(1000) if record.role == "user"]
    assert [text.split()[1] for text in said] == [str(number) for number in range(40)]


def test_every_request_fits_whatever_comes(make_agent) -> None:
    def monster() -> str:
        """Return far too much."""
        return "monster " * 100_000

    script: list[Any] = [
        call("monster"),
        calls(*[call("monster"), call("list_files")] * 2),
        call("archival_memory_insert", title="Big", content="long " * 20_000),
        "done " * 20_000,
        "Fine.",
    ]
    model = Scripted(script)
    agent = make_agent(model, context_tokens=8_192, tools=[monster])
    agent.run("huge " * 50_000)
    agent.run("and now?")
    for request in model.requests:
        assert estimate_request(request.messages, request.tools) <= 8_192


@pytest.mark.timeout(60)
def test_a_megabyte_anywhere_neither_breaks_the_window_nor_takes_minutes(make_agent) -> None:
    def big(number: int) -> str:
        """Give much."""
        return f"{number} y z " * 150_000

    sizes: list[int] = []

    def step(request: Any) -> Any:
        sizes.append(estimate_request(request.messages, request.tools))
        if len(sizes) % 3 == 0:
            return "Words, many words. " * 50_000
        kept = call("core_memory_append", label="human", content="tea and coffee to " * 50_000)
        return calls(call("big", number=len(sizes)), kept)

    agent = make_agent(Scripted(step for _ in range(99)), tools=[big], context_tokens=4_096)
    for _ in range(3):
        assert agent.run("rather tea than coffee to " * 40_000).stop == "answered"
    assert max(sizes) <= agent.session.context.limit_tokens


def test_a_small_window_is_told_and_works(make_agent) -> None:
    notices: list[str] = []
    agent = make_agent(endless("Fine, thanks. " * 20), context_tokens=4_096)
    for number in range(60):
        answer = agent.run(
            f"How are you, {number}? " + "la " * 50,
            lambda event: notices.append(event.text) if isinstance(event, Notice) else None,
        )
        assert answer.stop == "answered"
    assert len(notices) == 1
    assert "small (4096 tokens)" in notices[0]


def test_a_window_too_small_for_the_prompt_says_what_to_set(make_agent) -> None:
    with pytest.raises(ConfigError, match=r"context_tokens 1024 is too small.*or more"):
        make_agent(["Hi."], context_tokens=1_024)


def test_reported_usage_corrects_the_estimate_and_zero_does_not(make_agent) -> None:
    agent = make_agent([reply("a", usage=Usage(0, 0)), reply("b", usage=Usage(4_000, 5))])
    agent.run("one")
    assert agent.session.context.scale == 1.0
    before = agent.session.context.tokens()
    agent.run("two")
    assert agent.session.context.scale > 1.2
    assert agent.session.context.tokens() > before * 1.2


def test_an_overflow_the_server_tells_is_compacted_and_asked_again(make_agent) -> None:
    script: list[Any] = ["word " * 500] * 8
    script += [ContextOverflow("too long", limit_tokens=6_000), "Here."]
    agent = make_agent(Scripted(script), context_tokens=16_384)
    for _ in range(8):
        agent.run("tell me " * 100)
    assert agent.run("again").text == "Here."
    assert agent.session.context.context_tokens == 6_000


def test_a_window_far_smaller_than_the_setting_is_learned_and_kept(
    workspace, make_agent, tmp_path
) -> None:
    def answer(request: Request) -> Answer:
        size = len(json.dumps([request.body["messages"], request.body.get("tools")])) // 4
        said = f"maximum context length is 4096 tokens, your messages resulted in {size} tokens"
        return error(said, 400) if size > 3_900 else text("Yes.")

    with FaultServer().running() as server:
        server.script = answer
        model = OpenAIChat("m", base_url=server.url, quirks=tmp_path / "endpoints.json")
        agent = make_agent(model)
        for number in range(40):
            assert agent.run(f"Message {number} " + "bla " * 100).text == "Yes."
        assert len(server.requests) > 40
        again = make_agent(OpenAIChat("m", base_url=server.url, quirks=tmp_path / "endpoints.json"))
        assert again.session.context.context_tokens == 4_096


def test_closing_a_file_frees_its_tokens(workspace, make_agent) -> None:
    path = workspace.archival.import_document("trip.md", ("We took the ferry.\n" * 80).encode())
    model = Scripted([call("open", path=path), call("close", path=path), "Read."])
    agent = make_agent(model)
    agent.run("Read the trip.")
    opened, closed = model.requests[1].messages, model.requests[2].messages
    assert estimate_request(closed) < estimate_request(opened) - 300
    assert closed[3].content == f"({path} lines 1-80 closed; open it again to read it)"
    assert "tokens freed" in closed[5].content
    assert f"Open files: {path} 1-80" in opened[-1].content


def test_clipping_says_so_and_keeps_both_ends() -> None:
    text = clipped("a" * 5_000 + "z" * 5_000, 1_000)
    assert len(text) <= 1_010
    assert text.startswith("aaa")
    assert text.endswith("zzz")
    assert "10000 characters in all" in text


def test_clipped_arguments_are_still_json() -> None:
    arguments = json.dumps({"title": "T", "content": "c" * 50_000, "tags": ["a"] * 5_000})
    short = clipped_call(ToolCall("1", "archival_memory_insert", arguments), 2_000)
    assert len(short.arguments) < 3_000
    assert json.loads(short.arguments)["title"] == "T"
    assert clipped_call(ToolCall("1", "x", "{" * 9_000), 100).arguments.startswith('{"clipped"')


def said(*texts: str) -> list[Unit]:
    return [Unit("t", [Message("user", text)], 10) for text in texts]


def test_the_rule_keeps_the_newest_lines_and_counts_the_rest() -> None:
    first = rule_summary("", said(*(f"number {n} " + "x" * 100 for n in range(20))), 300)
    second = rule_summary(first, said("the newest"), 300)
    assert second.splitlines()[-1] == "- user: the newest"
    listed = len([line for line in second.splitlines() if line.startswith("- ")])
    assert second.startswith(f"({21 - listed} older messages")


def test_a_summary_of_the_model_is_recursive_and_falls_back(caplog) -> None:
    cut = reply("half of")
    model = Scripted(["First.", type(cut)(cut.message, "length"), ""])
    summarise = ModelSummary(model, "Summarise.", 8_192)
    assert summarise("", said("one"), 100).text == "First."
    assert "Summary so far:\nFirst." in _asked(model, summarise("First.", said("two"), 100).text)
    assert summarise("- x", said("three"), 100).text == "- x\n- user: three"


def _asked(model: Scripted, summary: str) -> str:
    assert summary == "First.\n- user: two"
    return model.requests[-1].messages[-1].content


def test_a_summary_by_the_model_stands_in_recall_with_its_cost(workspace, make_agent) -> None:
    writer = Scripted(
        (reply("They talked about trees.", usage=Usage(50, 6)) for _ in range(9)), name="small"
    )
    agent = make_agent(
        endless("word " * 200),
        context_tokens=8_192,
        summarise=ModelSummary(writer, "Summarise.", 8_192),
    )
    for number in range(30):
        agent.run(f"message {number} " + "x" * 400)
    kept = [one for _, _, one in workspace.recall.tail(500) if one.kind == "compaction"]
    assert kept
    assert "They talked about trees." in kept[0].content
    assert kept[0].model == "small"
    assert kept[0].usage is not None
    assert kept[0].usage["prompt_tokens"] == 50 * (kept[0].usage["completion_tokens"] // 6)
    assert "They talked about trees." in agent.session.context.assemble()[1].content


def test_over_fifty_turns_nine_tenths_of_the_prompt_stay(make_agent) -> None:
    model = Scripted(endless("I see, and what did you do then? " * 3))
    agent = make_agent(model)
    for number in range(50):
        agent.run(f"Turn {number}: I went to the market and bought {number} apples.")
    texts = ["".join(map(repr, (r.tools, *r.messages))) for r in model.requests]
    shares = []
    for before, after in pairwise(texts):
        same = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
        shares.append(same / len(before))
    assert min(shares) >= 0.9
