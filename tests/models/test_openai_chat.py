"""A friendly endpoint: what is sent, what is read, what streams."""

from __future__ import annotations

import json

import pytest
from fault_server import body, call_delta, chunk, stream, text

from fsagent.models.wire import wire_messages
from fsagent.types import Message, ToolCall, ToolSpec, Usage

ASK = [Message("system", "Be brief."), Message("user", "What pet do I have?")]
GREP = ToolSpec(
    "grep",
    "Search files.",
    {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]},
)


def test_a_streamed_reply_is_shown_in_pieces_and_returned_whole(server, connect) -> None:
    server.play(text("You have a dog."))
    pieces: list[str] = []
    completion = connect().complete(ASK, on_text=pieces.append)
    assert (completion.message.content, completion.finish_reason) == ("You have a dog.", "stop")
    assert completion.usage == Usage(9, 3)
    assert "".join(pieces) == "You have a dog."
    assert len(pieces) == 2


def test_the_request_holds_the_messages_and_tools_in_the_wire_format(server, connect) -> None:
    server.play(text("ok"))
    history = [
        *ASK,
        Message("assistant", "", (ToolCall("c1", "grep", '{"pattern": "dog"}'),)),
        Message("tool", "No hits.", tool_call_id="c1"),
    ]
    connect(temperature=0.0, max_tokens=50, api_key="key-1").complete(history, [GREP])
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer key-1"
    sent = request.body
    assert (sent["model"], sent["stream"], sent["temperature"], sent["max_tokens"]) == (
        "m",
        True,
        0.0,
        50,
    )
    assert sent["tools"][0]["function"]["name"] == "grep"
    assert sent["messages"][2]["content"] is None
    assert sent["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"pattern": "dog"}'
    assert sent["messages"][3] == {"role": "tool", "content": "No hits.", "tool_call_id": "c1"}


def test_parallel_tool_calls_are_put_together_from_their_pieces(server, connect) -> None:
    server.play(
        stream(
            chunk(call_delta(0, "a", "grep", "")),
            chunk(call_delta(0, None, None, '{"pattern": ')),
            chunk(call_delta(1, "b", "open", '{"path": "x"}')),
            chunk(call_delta(0, None, None, '"dog"}')),
            chunk({}, "tool_calls"),
        )
    )
    completion = connect().complete(ASK, [GREP])
    assert completion.finish_reason == "tool_calls"
    assert completion.message.tool_calls == (
        ToolCall("a", "grep", '{"pattern": "dog"}'),
        ToolCall("b", "open", '{"path": "x"}'),
    )


PIECES = {
    "no index": [
        {"tool_calls": [{"id": "a", "function": {"name": "grep", "arguments": '{"p'}}]},
        {"tool_calls": [{"function": {"arguments": '": 1}'}}]},
        {"tool_calls": [{"id": "b", "function": {"name": "open", "arguments": "{}"}}]},
    ],
    "every index 0": [
        {
            "tool_calls": [
                {"index": 0, "id": "a", "function": {"name": "grep", "arguments": '{"p": 1}'}}
            ]
        },
        {"tool_calls": [{"index": 0, "id": "b", "function": {"name": "open", "arguments": "{}"}}]},
    ],
    "name and id repeated in each piece": [
        {
            "tool_calls": [
                {"index": 0, "id": "a", "function": {"name": "grep", "arguments": '{"p": '}}
            ]
        },
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "grep", "arguments": "1}"}}]},
        {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "open", "arguments": "{}"}}]},
    ],
    "arguments as an object": [
        {
            "tool_calls": [
                {"index": 0, "id": "a", "function": {"name": "grep", "arguments": {"p": 1}}}
            ]
        },
        {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "open", "arguments": {}}}]},
    ],
}


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES.keys())
def test_the_ways_servers_number_their_calls_give_the_same_calls(server, connect, pieces) -> None:
    server.play(stream(*(chunk(delta) for delta in pieces), chunk({}, "stop")))
    calls = connect().complete(ASK, [GREP]).message.tool_calls
    assert [(one.id, one.name, json.loads(one.arguments)) for one in calls] == [
        ("a", "grep", {"p": 1}),
        ("b", "open", {}),
    ]


def test_a_reply_that_is_not_streamed_is_read_as_well(server, connect) -> None:
    message = {"role": "assistant", "content": [{"type": "text", "text": "A dog."}]}
    server.play(body({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
    assert connect().complete(ASK).message.content == "A dog."


def test_an_earlier_malformed_call_is_sent_back_as_valid_json() -> None:
    (sent,) = wire_messages([Message("assistant", "", (ToolCall("a", "grep", '{"x": '),))])
    arguments = sent["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"malformed": '{"x": '}


def test_a_lone_surrogate_does_not_stop_a_request(server, connect) -> None:
    server.play(text("ok"))
    connect().complete([Message("user", "a\ud800b")])
    assert server.requests[0].body["messages"][0]["content"] == "a\N{REPLACEMENT CHARACTER}b"


def test_a_proxy_of_the_environment_is_not_used_for_this_machine(
    server, connect, monkeypatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.play(text("ok"))
    assert connect().complete(ASK).message.content == "ok"
