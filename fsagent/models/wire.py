"""The shapes of a chat-completions request, and the numbers of its reply."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fsagent.models.alternation import Roles, told_as
from fsagent.types import FinishReason, Message, ToolSpec, Usage

_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "prohibited_content": "content_filter",
}
BROKEN_OFF = frozenset({
    "abort", "aborted", "cancelled", "canceled", "error", "insufficient_system_resource",
    "network_error",
})  # fmt: skip
"""Finish reasons by which a server says that it gave up in the middle of a reply."""

HIGH_SURROGATES = "".join(map(chr, range(0xD800, 0xDC00)))
_SURROGATE = re.compile("[\ud800-\udfff]")


def wire_messages(messages: Sequence[Message], roles: Roles = "any") -> list[dict[str, Any]]:
    """Return the `messages` of a request, in an order that the endpoint takes."""
    return [_wire_message(message) for message in told_as(messages, roles)]


def _wire_message(message: Message) -> dict[str, Any]:
    shape: dict[str, Any] = {"role": message.role, "content": mended(message.content)}
    if message.role == "tool":
        shape["tool_call_id"] = message.tool_call_id or ""
    if message.tool_calls:
        shape["content"] = shape["content"] or None
        shape["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _object_text(call.arguments)},
            }
            for call in message.tool_calls
        ]
    return shape


def _object_text(arguments: str) -> str:
    # Chat templates parse the arguments of earlier calls: one malformed call sent back as it came
    # makes llama.cpp, vLLM and Ollama refuse every later request of the conversation.
    try:
        whole = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        whole = False
    return mended(arguments) if whole else json.dumps({"malformed": mended(arguments)})


def mended(text: str) -> str:
    """Return a text that can be encoded: halves of a character are joined, lone ones replaced.

    Servers that cut a reply by bytes or escapes send the halves of an emoji in two events.
    """
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def wire_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """Return the `tools` of a request."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in tools
    ]


def read_finish(value: object) -> FinishReason:
    """Return the finish reason, with the spellings of different servers folded."""
    return _FINISH.get(str(value).lower(), "unknown")


def read_usage(value: object) -> Usage:
    """Return the usage a server reports; a zero is what servers send that do not count."""
    if not isinstance(value, Mapping):
        return Usage()
    details = value.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    if cached is None:
        cached = value.get("prompt_cache_hit_tokens")  # DeepSeek's name
    prompt = _count(value.get("prompt_tokens"))
    return Usage(
        prompt,
        _count(value.get("completion_tokens")),
        cached if prompt and isinstance(cached, int) and cached >= 0 else None,
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
