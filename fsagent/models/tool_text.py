"""Find the tool calls that a model wrote as text."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fsagent.models.assembly import new_call_id
from fsagent.types import Completion, ToolCall, ToolSpec

# What models put around a call: Hermes and Qwen, Qwen-Coder, Llama 3, Mistral, fenced JSON.
_OPENERS = (
    "<tool_call>",
    "<tools>",
    "<function=",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "```json",
    "```tool",
    "```xml",
)
_OPENER = re.compile("|".join(map(re.escape, _OPENERS)), re.IGNORECASE)
_TAG = re.compile("|".join(re.escape(one) for one in _OPENERS if one[0] != "`"), re.IGNORECASE)
_BARE = re.compile(r"\n[ \t]*[{\[]")
_FUNCTION = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(
    r"<parameter=([\w.-]+)>\n?(.*?)\n?(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL
)
_BROKEN_NAME = re.compile(r'"(?:name|tool)"\s*:\s*"([\w.-]+)"')
_GAP = re.compile(r"(?:[\s,;]|</?tool_call>|</?tools>|```\w*)*", re.IGNORECASE)
_NAMES = ("tool", "name", "function", "tool_name", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input")


@dataclass(frozen=True, slots=True)
class Found:
    """The text before the first call, and the calls in order. `text` is all of it without calls."""

    text: str
    calls: tuple[ToolCall, ...] = ()


def read_text_calls(completion: Completion, tools: Sequence[ToolSpec]) -> Completion:
    """Return the completion with the calls taken out of its text; none from a reply that was cut."""
    found = find_calls(completion.message.content, [tool.name for tool in tools])
    if completion.finish_reason in ("length", "content_filter"):
        tag = _TAG.search(found.text)
        text = found.text[: tag.start()].rstrip() if tag else found.text
        cut = completion.finish_reason == "length" and bool(tag or found.calls)
        return replace(
            completion,
            message=replace(completion.message, content=text),
            calls_were_cut=completion.calls_were_cut or cut,
        )
    if not found.calls:
        return completion
    message = replace(completion.message, content=found.text, tool_calls=found.calls)
    return replace(completion, message=message, finish_reason="tool_calls")


def find_calls(text: str, names: Collection[str]) -> Found:
    """Return the calls in a whole reply; what follows the first call is not text for a person.

    JSON is a call where its name is one of `names`, or where a tag says that it is a call. A tagged
    call that is broken JSON is returned with its raw text, so that the model is told what is wrong.
    """
    for start in _starts(text):
        if calls := _calls_at(text, start, names):
            return Found(text[:start].rstrip(), calls)
    return Found(text)


def shown_before_calls(text: str) -> str:
    """Return the part of an unfinished reply that cannot belong to a call."""
    if text[:1] in ("{", "["):
        return ""
    starts = [found.start() for found in (_OPENER.search(text), _BARE.search(text)) if found]
    if starts:
        return text[: min(starts)].rstrip()
    return text[: len(text) - _partial_opener(text)].rstrip()


def _partial_opener(text: str) -> int:
    tail = text[-16:].lower()
    for size in range(len(tail), 0, -1):
        if any(opener.lower().startswith(tail[-size:]) for opener in _OPENERS):
            return size
    return 0


def _starts(text: str) -> Iterator[int]:
    """Yield where a call may begin: a tag, a fence, or JSON that opens the text or a line."""
    pattern = re.compile(rf"{_OPENER.pattern}|(?:\A\s*|(?<=\n)[ \t]*)(?=[{{\[])", re.IGNORECASE)
    for found in pattern.finditer(text):
        yield found.start()


def _calls_at(text: str, start: int, names: Collection[str]) -> tuple[ToolCall, ...]:
    opener = _OPENER.match(text, start)
    tag = opener[0].lower() if opener else ""
    if tag == "<function=":
        return _function_tags(text[start:])
    body = text[opener.end() if opener else start :]
    if tag == "<tool_call>" and (inside := body.lstrip()).startswith("<function="):
        return _function_tags(inside)
    tagged = bool(tag) and not tag.startswith("```")
    calls = tuple(_json_calls(body, names, tagged))
    if not calls and tagged and (name := _BROKEN_NAME.search(body)):
        return (broken_call(name[1], body),)
    return calls


def _function_tags(text: str) -> tuple[ToolCall, ...]:
    calls = []
    for name, body in _FUNCTION.findall(text):
        parameters = _PARAMETER.findall(body)
        arguments = json.dumps(dict(parameters), ensure_ascii=False) if parameters else body.strip()
        calls.append(ToolCall(new_call_id(), name, arguments))
    return tuple(calls)


def _json_calls(body: str, names: Collection[str], tagged: bool) -> Iterator[ToolCall]:
    """Yield the calls of the JSON values that follow each other at the start of `body`."""
    decoder = json.JSONDecoder(strict=False)
    place = _gap_end(body, 0)
    if body.startswith('{{"', place):  # small models double the braces of the template they saw
        body, place = body.replace("}}}", "}}"), place + 1
    while body[place : place + 1] in ("{", "["):
        try:
            value, place = decoder.raw_decode(body, place)
        except (ValueError, RecursionError):  # "[[[[..." is not worth more
            return
        for one in value if isinstance(value, list) else [value]:
            yield from _calls_of(one, names, tagged)
        place = _gap_end(body, place)


def _gap_end(text: str, place: int) -> int:
    found = _GAP.match(text, place)
    return found.end() if found else place


def _calls_of(value: object, names: Collection[str], tagged: bool) -> Iterator[ToolCall]:
    if not isinstance(value, Mapping):
        return
    if isinstance(several := value.get("tool_calls"), list):
        for one in several:
            yield from _calls_of(one, names, True)
        return
    if isinstance(inner := value.get("function"), Mapping):
        value = inner
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    if name is None or not (name in names or tagged):
        return
    yield ToolCall(new_call_id(), name, _arguments(value))


def _arguments(value: Mapping[str, Any]) -> str:
    for key in _ARGUMENTS:
        if key in value:
            given = value[key]
            return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    rest = {key: one for key, one in value.items() if key not in (*_NAMES, "type", "id")}
    return json.dumps(rest, ensure_ascii=False)


def broken_call(name: str, body: str) -> ToolCall:
    """Return the call that `body` would be were it JSON; its raw arguments tell what is wrong."""
    return ToolCall(new_call_id(), name, _broken(body))


def _broken(body: str) -> str:
    end = re.search(r"</tool_call>|</tools>|```", body)
    whole = body[: end.start() if end else len(body)].strip()
    found = re.search(r'"(?:arguments|parameters|args)"\s*:\s*', whole)
    return whole[found.end() :] if found else whole
