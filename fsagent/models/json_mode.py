"""Drive a model without tool calls: tools in the prompt, one JSON object as the reply."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fsagent.models.alternation import joined
from fsagent.models.tool_text import Found, broken_call, find_calls
from fsagent.models.wire import HIGH_SURROGATES, mended
from fsagent.types import Completion, Message, ToolSpec

FORM = 2
"""Raised when what a model is told here changes, so that kept replies to the old words are not taken."""

_HOW = """
# How to reply
Every reply is one JSON object and nothing else. Either it calls a tool:
{"tool": "NAME", "arguments": {...}}
or, when the results you got hold the answer, it answers the user:
{"reply": "your answer"}
You know nothing of the user but what tools return, so look things up before you answer. Leave out
arguments that you do not need. Do not make the same call twice: use other words, or answer."""
_TOOLS = "Tools (a parameter with ? may be left out):"
_EXAMPLE = """For example:
user: Where did Ada put the spare key?
you: {call}
user: Result of {tool}: 2020-05-03 18:40 Ada: The spare key is under the blue flower pot now.
you: {{"reply": "Under the blue flower pot."}}"""

# Measured on a model of 1.5B: without a hint at the end it answers from nothing at the first step.
_LOOK = "(You know nothing of this yet. Look it up first, in one JSON object: {call})"
_FIRST = (
    '(Reply with one JSON object. You know nothing yet, so call a tool: {"tool": ...}. '
    'Only small talk gets {"reply": ...} at once.)'
)
_NEXT = (
    "(Next JSON object. If the results answer what was asked, the answer and no more, in the fewest "
    'words, dates like 3 May 2020: {"reply": ...}. Else look with other words: {"tool": ...}.)'
)
_ASKS = re.compile(r"[?\uff1f\u061f]")
_REPLIES = re.compile(r'\s*\{\s*"reply"\s*:\s*"')
_CALLED = re.compile(r'\s*(?:```\w*\s*)?\{\s*"tool"\s*:\s*"((?!reply")[\w.-]+)"')


def json_messages(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[Message]:
    """Return the conversation in plain roles, with the tools described in the system prompt.

    Neighbours of one role become one message, since chat templates insist on alternation.
    """
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    plain = [_plain(message, names, speaks_json=bool(tools)) for message in messages]
    if not tools:
        return joined(plain)
    instructions = "\n".join([_HOW, *_example(tools), _TOOLS, *map(describe, tools)])
    if plain and plain[0].role == "system":
        plain[0] = replace(plain[0], content=f"{plain[0].content}\n{instructions}")
    else:
        plain.insert(0, Message("system", instructions.lstrip()))
    if len(plain) > 1 and plain[-1].role != "assistant":
        plain[-1] = replace(plain[-1], content=f"{plain[-1].content}\n\n{_hint(messages, tools)}")
    return joined(plain)


def first_tools(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """Return the tools that the next reply must call one of; none where it is free.

    A question begins with looking something up, by what is asked alone: a small model would answer
    from nothing, and fill in every filter that a tool has.
    """
    said = next((one for one in reversed(messages) if one.role != "system"), None)
    if said is None or said.role != "user" or not _ASKS.search(said.content):
        return []
    return [_plainest(tool) for tool in tools if tool.finds]


def _plainest(tool: ToolSpec) -> ToolSpec:
    """Return a tool with no more than the parameters it needs."""
    needed = tool.parameters.get("required", ())
    properties = tool.parameters.get("properties", {})
    shape = {**tool.parameters, "properties": {name: properties[name] for name in needed}}
    return replace(tool, parameters=shape)


def _hint(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> str:
    last = next((one for one in reversed(messages) if one.role != "system"), None)
    if last is not None and last.role == "tool":
        return _NEXT
    first = first_tools(messages, tools)
    return _LOOK.format(call=_call_text(first[0], "...")) if first else _FIRST


def _example(tools: Sequence[ToolSpec]) -> list[str]:
    tool = next((tool for tool in tools if tool.finds), None)
    if tool is None:
        return []
    return [_EXAMPLE.format(call=_call_text(_plainest(tool), "Ada spare key"), tool=tool.name)]


def _call_text(tool: ToolSpec, words: str) -> str:
    """Return a call of a tool as the model would write it, `words` for its texts."""
    properties: Mapping[str, Any] = tool.parameters["properties"]
    arguments = {
        name: True if schema.get("type") == "boolean" else words
        for name, schema in properties.items()
    }
    return json.dumps({"tool": tool.name, "arguments": arguments}, ensure_ascii=False)


def describe(tool: ToolSpec) -> str:
    """Return a tool as one line of signature and text, parameters below: short for small windows."""
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", ())
    signature = ", ".join(
        f"{name}{'' if name in required else '?'}: {_type(schema)}"
        for name, schema in properties.items()
    )
    lines = [f"- {tool.name}({signature}): {_first_sentence(tool.description)}"]
    lines += [
        f"    {name}: {' '.join(str(schema['description']).split())}"
        for name, schema in properties.items()
        if isinstance(schema, Mapping) and schema.get("description")
    ]
    return "\n".join(lines)


def reply_schema(tools: Sequence[ToolSpec], first: Sequence[ToolSpec] = ()) -> dict[str, Any]:
    """Return the JSON schema of a reply: a call of one of the tools, or the final text.

    Where there are `first` tools, it is a call of one of these.
    """
    calls = [
        _object({"tool": {"const": tool.name}, "arguments": dict(tool.parameters)})
        for tool in first or tools
    ]
    return {"anyOf": calls if first else [*calls, _object({"reply": {"type": "string"}})]}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def response_format(
    kind: str, messages: Sequence[Message], tools: Sequence[ToolSpec]
) -> dict[str, Any] | None:
    """Return the `response_format` of a request, from the strictest kind to none."""
    if not tools:
        return None
    if kind == "json_schema":
        schema = {"name": "reply", "schema": reply_schema(tools, first_tools(messages, tools))}
        return {"type": "json_schema", "json_schema": schema}
    return {"type": "json_object"} if kind == "json_object" else None


def read_json_reply(completion: Completion, tools: Sequence[ToolSpec]) -> Completion:
    """Return the completion with its tool calls or its reply taken out of the JSON text.

    Text that is no JSON at all is the reply itself. A reply cut by its length calls nothing.
    """
    text = completion.message.content.strip()
    said = _reply_of(text)
    if completion.finish_reason in ("length", "content_filter"):
        # Half a JSON object is nothing to show: keep what there is of the reply's text.
        kept = _with_text(completion, said if said is not None else half_reply(text))
        cut = completion.finish_reason == "length" and bool(_CALLED.match(text))
        return replace(kept, calls_were_cut=cut)
    named = _CALLED.match(text)  # a call of a tool that does not exist is still a call
    found = find_calls(text, [*(tool.name for tool in tools), *(named.groups() if named else ())])
    if not found.calls and named:
        found = Found("", (broken_call(named[1], text),))
    if found.calls:
        message = replace(completion.message, content=found.text, tool_calls=found.calls)
        return replace(completion, message=message, finish_reason="tool_calls")
    return _with_text(completion, text if said is None else said)


def _with_text(completion: Completion, text: str) -> Completion:
    return replace(completion, message=replace(completion.message, content=mended(text).strip()))


def _reply_of(text: str) -> str | None:
    """Return the text of `{"reply": ...}`, fenced or bare, or None where it is not that.

    What follows the object (another reply, an end token, an explanation) is no part of it; an object
    that lacks its end is read as far as it goes; one that says nothing is an empty reply.
    """
    bare = re.sub(r"\A```\w*\s*|\s*```\Z", "", text)
    if bare[:1] != "{" and (late := _REPLIES.search(bare)):
        bare = bare[late.start() :].lstrip()
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(bare)
    except (ValueError, RecursionError):
        return half_reply(bare) if _REPLIES.match(bare) else None
    if isinstance(value, str) and not bare[end:].strip():
        return value
    if not isinstance(value, Mapping):
        return None
    said = _said_in(value)
    return said if said is not None or any(value.values()) else ""


def _said_in(value: Mapping[str, Any]) -> str | None:
    if value.get("tool") == "reply" and isinstance(value.get("arguments"), Mapping):
        value = value["arguments"]
    for key in ("reply", "answer", "response", "message", "content", "text"):
        said = value.get(key)
        if isinstance(said, str | int | float) and not isinstance(said, bool):
            return str(said)
        if isinstance(said, list) and said and all(isinstance(one, str) for one in said):
            return "\n".join(said)
    return None


def half_reply(text: str) -> str:
    """Return what can be read of a reply that is not whole: nothing of a call, all of plain text."""
    found = _REPLIES.match(text)
    if not found:
        return "" if text.lstrip()[:1] in ("{", "") else text
    half = _string_so_far(text[found.end() :])
    try:
        # A character of two escapes may have its second one still to come.
        return str(json.loads(f'"{half}"', strict=False)).rstrip(HIGH_SURROGATES)
    except ValueError:
        return half


def _string_so_far(text: str) -> str:
    """Return a JSON string up to its closing quote or to an escape that is not whole."""
    end = re.search(r'(?<!\\)(?:\\\\)*"', text)
    if end:
        return text[: end.end() - 1]
    return re.sub(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?\Z", r"\1", text)


def _plain(message: Message, names: Mapping[str, str], *, speaks_json: bool) -> Message:
    if message.role == "tool":
        name = message.name or names.get(message.tool_call_id or "", "the tool")
        return Message("user", f"Result of {name}:\n{message.content}")
    if message.role == "assistant":
        return Message("assistant", _spoken(message, speaks_json=speaks_json))
    return Message(message.role, message.content)


def _spoken(message: Message, *, speaks_json: bool) -> str:
    """Return what the assistant would have written in this mode, so that it sees its own format."""
    if not message.tool_calls:
        text = message.content
        return json.dumps({"reply": text}, ensure_ascii=False) if speaks_json else text
    return "\n".join(
        f'{{"tool": {json.dumps(call.name)}, "arguments": {call.arguments or "{}"}}}'
        for call in message.tool_calls
    )


def _type(schema: object) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    if "enum" in schema:
        return "|".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return "|".join(_type(one) for one in schema["anyOf"] if one != {"type": "null"})
    if schema.get("type") == "array":
        return f"[{_type(schema.get('items'))}]"
    return str(schema.get("type", "any"))


def _first_sentence(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:200].rsplit('. ', 1)[0]}."
