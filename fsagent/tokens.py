"""Token counts, estimated: UTF-8 bytes / 4, corrected by what the server reports."""

from __future__ import annotations

from collections.abc import Sequence

from fsagent.types import Message, ToolSpec

BYTES_PER_TOKEN = 4
MESSAGE_OVERHEAD_TOKENS = 4


def estimate_text(text: str) -> int:
    """Return the estimated tokens of `text`, at least 1 for any text that is not empty."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def estimate_message(message: Message) -> int:
    """Return the estimated tokens of one message with its tool calls and framing."""
    calls = sum(
        estimate_text(call.name) + estimate_text(call.arguments) for call in message.tool_calls
    )
    return MESSAGE_OVERHEAD_TOKENS + estimate_text(message.content) + calls


def estimate_request(messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
    """Return the estimated prompt tokens of a whole request."""
    import json

    schemas = sum(
        estimate_text(spec.name + spec.description + json.dumps(dict(spec.parameters)))
        for spec in tools
    )
    return sum(map(estimate_message, messages)) + schemas
