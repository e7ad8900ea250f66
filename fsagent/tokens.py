"""Token counts, estimated: UTF-8 bytes / 4, corrected by what the server reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from fsagent.types import Message, ToolSpec

T = TypeVar("T")
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


def in_pieces(items: Iterable[T], tokens: Callable[[T], int], limit: int) -> Iterator[list[T]]:
    """Yield items in their order, in lists of at most `limit` tokens; a larger one stands alone."""
    piece: list[T] = []
    used = 0
    for item in items:
        size = tokens(item)
        if piece and used + size > limit:
            yield piece
            piece, used = [], 0
        piece.append(item)
        used += size
    if piece:
        yield piece
