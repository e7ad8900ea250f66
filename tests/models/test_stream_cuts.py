"""Streamed replies cut at every byte: never half a tool call in a completion."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from fault_server import Answer, FaultServer, Tally, call_delta, chunk, stream, text

from fsagent.errors import ModelError
from fsagent.models.openai_chat import OpenAIChat
from fsagent.types import Completion, Message, ToolSpec

ASK = [Message("user", "What pet do I have?")]
GREP = ToolSpec(
    "grep", "Search files.", {"type": "object", "properties": {"pattern": {"type": "string"}}}
)

Connect = Callable[..., OpenAIChat]


WHOLE_CALLS = {("grep", '{"pattern": "dög"}'), ("open", '{"path": "core/human.md"}')}
TRANSCRIPTS = {
    "text": text("You have a dög, called Rex.").body,
    "one call": stream(
        chunk({"role": "assistant", "content": None}),
        chunk(call_delta(0, "a", "grep", "")),
        chunk(call_delta(0, None, None, '{"patt')),
        chunk(call_delta(0, None, None, 'ern": "dög"}')),
        chunk({}, "tool_calls"),
        chunk(usage={"prompt_tokens": 9, "completion_tokens": 3}),
    ).body,
    "text and two calls": stream(
        chunk({"content": "Let me look."}),
        chunk(call_delta(0, "a", "grep", '{"pattern": "dög"}')),
        chunk(call_delta(1, "b", "open", '{"path": ')),
        chunk(call_delta(1, None, None, '"core/human.md"}')),
        chunk({}, "tool_calls"),
    ).body,
}


def cut_reply(model: OpenAIChat, server: FaultServer, body: bytes) -> Completion | None:
    server.play(Answer(body, content_type="text/event-stream"))
    try:
        return model.complete(ASK, [GREP])
    except ModelError:
        return None


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_stream_cut_at_any_byte_never_gives_half_a_call(
    server: FaultServer, connect: Connect, tally: Tally, name: str
) -> None:
    whole = TRANSCRIPTS[name]
    model = connect(max_retries=0)
    full = cut_reply(model, server, whole)
    assert full is not None
    for size in range(len(whole)):
        reply = cut_reply(model, server, whole[:size])
        made = reply.message.tool_calls if reply else ()
        tally.streams_cut += 1
        tally.half_calls += len({(one.name, one.arguments) for one in made} - WHOLE_CALLS)
        assert reply is None or (reply.message.content, len(reply.message.tool_calls)) == (
            full.message.content,
            len(full.message.tool_calls),
        )
    assert tally.half_calls == 0


def test_the_cuts_bite_a_naive_reader() -> None:
    """Control: a reader that takes what it has at the end of the stream runs half calls."""
    half = 0
    whole = TRANSCRIPTS["one call"]
    for size in range(len(whole)):
        arguments = ""
        for line in whole[:size].split(b"\n\n"):
            try:
                delta = json.loads(line.removeprefix(b"data: "))["choices"][0]["delta"]
                arguments += delta["tool_calls"][0]["function"]["arguments"]
            except (ValueError, LookupError):
                continue
        half += bool(arguments) and ("grep", arguments) not in WHOLE_CALLS
    assert half > 50
