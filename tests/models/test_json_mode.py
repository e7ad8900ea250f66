"""The JSON mode: a model without tool calls runs the loop."""

from __future__ import annotations

import json

import pytest
from fault_server import Answer, text

from fsagent.models.json_mode import (
    describe,
    first_tools,
    json_messages,
    read_json_reply,
    reply_schema,
    response_format,
)
from fsagent.models.openai_chat import JSON_MAX_TOKENS
from fsagent.models.visible import VisibleText
from fsagent.types import Completion, Message, ToolCall, ToolSpec

GREP = ToolSpec(
    "grep",
    "Search files for a pattern.",
    {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "Regular expression."},
            "limit": {"type": "integer"},
        },
        "required": ["pattern"],
    },
)
FIND = ToolSpec(
    "find",
    "Find lines by words.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "since": {"type": "string"},
            "request_heartbeat": {"type": "boolean"},
        },
        "required": ["query", "request_heartbeat"],
        "additionalProperties": False,
    },
    finds=True,
)
HISTORY = [
    Message("system", "Be brief."),
    Message("user", "Hello"),
    Message("assistant", "Hi."),
    Message("user", "What pet do I have?"),
    Message("assistant", "", (ToolCall("c1", "grep", '{"pattern": "pet"}'),)),
    Message("tool", "No hits.", tool_call_id="c1"),
    Message("system", "The clock says noon."),
]


def test_a_tool_is_described_on_a_line_and_its_parameters_below() -> None:
    assert describe(GREP) == (
        "- grep(pattern: string, limit?: integer): Search files for a pattern.\n"
        "    pattern: Regular expression."
    )


def test_the_conversation_is_told_in_alternating_plain_roles() -> None:
    told = json_messages(HISTORY, [GREP])
    assert [message.role for message in told] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert told[0].content.startswith("Be brief.\n")
    assert "- grep(pattern" in told[0].content
    assert json.loads(told[2].content) == {"reply": "Hi."}
    assert json.loads(told[4].content) == {"tool": "grep", "arguments": {"pattern": "pet"}}
    assert told[5].content.startswith("Result of grep:\nNo hits.\n\nThe clock says noon.")
    assert not any(message.tool_calls or message.tool_call_id for message in told)


def test_the_system_prompt_stays_the_same_while_the_conversation_grows() -> None:
    assert json_messages(HISTORY[:2], [GREP])[0] == json_messages(HISTORY, [GREP])[0]


def test_without_tools_the_conversation_is_told_without_instructions() -> None:
    told = json_messages(HISTORY[:3], [])
    assert [message.content for message in told] == ["Be brief.", "Hello", "Hi."]


def test_the_schema_allows_each_tool_and_a_reply() -> None:
    call, said = reply_schema([GREP])["anyOf"]
    assert call["properties"]["tool"] == {"const": "grep"}
    assert call["properties"]["arguments"] == GREP.parameters
    assert said["required"] == ["reply"]


ASKED = [Message("system", "Be brief."), Message("user", "Where is the key?")]
CLOCK = Message("system", "The clock says noon.")
FOUND = [
    Message("assistant", "", (ToolCall("c1", "find", '{"query": "key"}'),)),
    Message("tool", "No hits.", tool_call_id="c1"),
]
BEGINNINGS = {
    "a question": (ASKED, ["find"]),
    "a question before the late tail": ([*ASKED, CLOCK], ["find"]),
    "a question in Chinese": ([Message("user", "钥匙在哪里？")], ["find"]),
    "a statement": ([Message("user", "The key is under the mat.")], []),
    "a question that has its result": ([*ASKED, *FOUND, CLOCK], []),
    "nothing": ([], []),
}


@pytest.mark.parametrize(("messages", "names"), BEGINNINGS.values(), ids=BEGINNINGS.keys())
def test_a_question_begins_with_a_tool_that_finds(
    messages: list[Message], names: list[str]
) -> None:
    assert [tool.name for tool in first_tools(messages, [GREP, FIND])] == names
    shape = response_format("json_schema", messages, [GREP, FIND])
    assert shape is not None
    allowed = [one["properties"] for one in shape["json_schema"]["schema"]["anyOf"]]
    assert len(allowed) == (1 if names else 3)
    if names:
        assert set(allowed[0]["arguments"]["properties"]) == {"query", "request_heartbeat"}


def test_without_a_tool_that_finds_nothing_is_forced() -> None:
    assert first_tools(ASKED, [GREP]) == []
    assert "For example" not in json_messages(ASKED, [GREP])[0].content


def test_the_last_hint_fits_the_step_behind_the_late_tail_too() -> None:
    asked = json_messages([*ASKED, CLOCK], [GREP, FIND])[-1].content
    told = json_messages([*ASKED, *FOUND, CLOCK], [GREP, FIND])[-1].content
    call = '{"tool": "find", "arguments": {"query": "...", "request_heartbeat": true}}'
    assert asked.startswith("Where is the key?\n\nThe clock says noon.\n\n(You know nothing")
    assert call in asked
    assert "Next JSON object" in told and "You know nothing" not in told


def test_the_instructions_show_an_example_with_a_tool_there_is() -> None:
    system = json_messages(ASKED, [GREP, FIND])[0].content
    line = next(line for line in system.splitlines() if line.startswith("you: {"))
    read = read_json_reply(Completion(Message("assistant", line.removeprefix("you: "))), [FIND])
    assert [call.name for call in read.message.tool_calls] == ["find"]
    assert set(json.loads(read.message.tool_calls[0].arguments)) == {"query", "request_heartbeat"}


REPLIES = {
    "a call": ('{"tool": "grep", "arguments": {"pattern": "pet"}}', "", ["grep"]),
    "several calls": (
        '{"tool": "grep", "arguments": {}}\n{"tool": "grep", "arguments": {}}',
        "",
        ["grep", "grep"],
    ),
    "an unknown tool": ('{"tool": "fly", "arguments": {}}', "", ["fly"]),
    "a reply": ('{"reply": "A dog."}', "A dog.", []),
    "a fenced reply": ('```json\n{"reply": "A dog."}\n```', "A dog.", []),
    "a reply as a tool": (
        '{"tool": "reply", "arguments": {"reply": "A dog."}}',
        "A dog.",
        [],
    ),
    "two replies": ('{"reply": "A dog."}{"reply": "A cat."}', "A dog.", []),
    "words behind it": ('{"reply": "A dog."} I hope this helps!', "A dog.", []),
    "words before it": ('Sure!\n{"reply": "A dog."}', "A dog.", []),
    "an end token": ('{"reply": "A dog."}<|im_end|>', "A dog.", []),
    "a fence and words": ('```json\n{"reply": "A dog."}\n```\nDone.', "A dog.", []),
    "a reply and a call": ('{"reply": "I look."}{"tool": "grep", "arguments": {}}', "", ["grep"]),
    "no end": ('{"reply": "A dog."', "A dog.", []),
    "a list": ('{"reply": ["A dog.", "A cat."]}', "A dog.\nA cat.", []),
    "a number": ('{"answer": 5}', "5", []),
    "nothing": ('{"reply": null}', "", []),
    "an empty object": ("{}", "", []),
    "half a character": ('{"reply": "\\ud83d"}', "\ufffd", []),
    "another key": ('{"answer": "A dog."}', "A dog.", []),
    "a newline in the string": ('{"reply": "A\ndog."}', "A\ndog.", []),
    "plain text": ("A dog.", "A dog.", []),
    "other JSON": ('{"dog": 1}', '{"dog": 1}', []),
}


@pytest.mark.parametrize(("said", "content", "names"), REPLIES.values(), ids=REPLIES.keys())
def test_a_reply_is_read(said: str, content: str, names: list[str]) -> None:
    read = read_json_reply(Completion(Message("assistant", said)), [GREP])
    assert read.message.content == content
    assert [one.name for one in read.message.tool_calls] == names
    assert read.finish_reason == ("tool_calls" if names else "stop")


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ('{"tool": "grep", "arguments": {"pattern": "pet"}', '{"pattern": "pet"}'),
        ('{"tool": "grep", "arguments": {"pattern": pet}}', '{"pattern": pet}}'),
    ],
)
def test_a_malformed_call_is_a_call_that_the_model_is_told_about(said: str, arguments: str) -> None:
    read = read_json_reply(Completion(Message("assistant", said)), [GREP])
    (call,) = read.message.tool_calls
    assert (call.name, call.arguments, read.message.content) == ("grep", arguments, "")


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ('{"tool": "grep", "arguments": {"pattern": "pe', ""),
        ('{"tool": "grep", "arguments": {"pattern": "pet"}}', ""),
        ('{"reply": "A dog, call', "A dog, call"),
        ('{"reply": "A dog\\', "A dog"),
        ('{"reply": "caf\\u00', "caf"),
        ("A do", "A do"),
    ],
)
def test_a_reply_cut_by_its_length_calls_nothing(said: str, content: str) -> None:
    read = read_json_reply(Completion(Message("assistant", said), "length"), [GREP])
    assert (read.message.content, read.message.tool_calls) == (content, ())
    assert read.calls_were_cut == ('"tool"' in said)


SAID = 'A "dog" \\\\ caf\u00e9 \U0001f600\nand more.'


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_reply_is_shown_while_it_grows(ascii_only: bool) -> None:
    pieces: list[str] = []
    visible = VisibleText(pieces.append, calls=True, headless=False)
    visible.begin(in_json=True)
    whole = json.dumps({"reply": SAID}, ensure_ascii=ascii_only)
    for end in range(1, len(whole) + 1):
        visible.grow(whole[:end])
    visible.finish(SAID)
    assert "".join(pieces) == SAID
    assert len(pieces) > 10


def test_a_long_reply_is_shown_in_linear_time() -> None:
    looks: list[str] = []
    visible = VisibleText(looks.append, calls=True, headless=False)
    visible.begin(in_json=True)
    whole = json.dumps({"reply": "word " * 8_000})
    for end in range(1, len(whole), 5):  # a look for each token costs the square of the length
        visible.grow(whole[:end])
    assert 1_000 < len(looks) < 5_000


@pytest.mark.parametrize(
    "whole",
    ['{"tool": "grep", "arguments": {"pattern": "reply"}}', '[{"reply": "x"}]', "plain", ' {"re'],
)
def test_nothing_but_a_reply_is_shown_while_it_grows(whole: str) -> None:
    pieces: list[str] = []
    visible = VisibleText(pieces.append, calls=True, headless=False)
    visible.begin(in_json=True)
    for end in range(1, len(whole) + 1):
        visible.grow(whole[:end])
    assert pieces == []


def test_the_json_mode_runs_a_conversation_at_an_endpoint(server, connect) -> None:
    server.play(
        text('{"tool": "grep", "arguments": {"pattern": "pet"}}'), text('{"reply": "A dog."}')
    )
    model = connect(tool_mode="json")
    pieces: list[str] = []
    messages = [Message("user", "What pet do I have?")]
    first = model.complete(messages, [GREP], on_text=pieces.append)
    result = Message("tool", "core/human.md:3: a dog", tool_call_id=first.message.tool_calls[0].id)
    last = model.complete([*messages, first.message, result], [GREP], on_text=pieces.append)
    assert (last.message.content, "".join(pieces)) == ("A dog.", "A dog.")
    sent = server.requests[1].body
    assert "tools" not in sent
    assert sent["max_tokens"] == JSON_MAX_TOKENS
    assert sent["response_format"]["json_schema"]["schema"] == reply_schema([GREP])


def test_calls_written_as_text_are_run_and_teach_the_json_mode(server, connect) -> None:
    written = '```json\n{"name": "grep", "arguments": {"pattern": "pet"}}\n```'
    server.play(text(written), text('{"reply": "A dog."}'))
    model = connect()
    pieces: list[str] = []
    first = model.complete([Message("user", "?")], [GREP], on_text=pieces.append)
    assert [one.name for one in first.message.tool_calls] == ["grep"]
    assert pieces == []
    assert model.quirks.tools == "json"
    assert model.complete([Message("user", "?")], [GREP]).message.content == "A dog."


def test_an_endpoint_that_never_calls_is_found_out_before_its_first_use(server, connect) -> None:
    def answer(request) -> Answer:
        asks_weather = "weather" in request.body["messages"][-1]["content"]
        return text("It is fine.") if asks_weather else text('{"reply": "A dog."}')

    server.script = answer
    model = connect(try_tools=True)
    assert model.complete([Message("user", "Pet?")], [GREP]).message.content == "A dog."
    assert (len(server.requests), model.quirks.tools) == (2, "json")
    model.complete([Message("user", "Pet?")], [GREP])
    assert len(server.requests) == 3
