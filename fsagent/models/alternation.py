"""Tell a conversation to chat templates that insist on whose turn it is.

Most endpoints take messages in any order. The templates of Mistral, Gemma and others refuse two
messages of one role in a row, a person's message right behind a tool's result, a system message
anywhere but at the head, or any system message at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from fsagent.types import Message

Roles = Literal["any", "alternating", "no_system"]
STRICTER: dict[str, Roles] = {"any": "alternating", "alternating": "no_system"}

_LEFT_OUT = Message("user", "(Earlier messages are left out here.)")
_UNANSWERED = Message("assistant", "(No answer was given.)")


def told_as(messages: Sequence[Message], roles: Roles) -> list[Message]:
    """Return the messages in an order that the endpoint takes; nothing that was said is lost."""
    folded = _fold_late_system(messages)
    if roles == "any":
        return folded
    if roles == "no_system":
        folded = [_as_user(message) for message in folded]
    return _with_both_sides(joined(folded))


def joined(messages: Iterable[Message]) -> list[Message]:
    """Join neighbours of one role; a system message after the first is the user's side."""
    told: list[Message] = []
    for place, given in enumerate(messages):
        message = _as_user(given) if place else given
        if told and _can_join(told[-1], message):
            told[-1] = _join(told[-1], message)
        else:
            told.append(message)
    return told


def _fold_late_system(messages: Sequence[Message]) -> list[Message]:
    """Put a system message after the first behind the message before it.

    Several templates (Mistral, Gemma, newer Qwen) refuse one in the middle; the others lose nothing.
    """
    folded: list[Message] = []
    for place, message in enumerate(messages):
        if message.role == "system" and place and folded[-1].role in ("user", "tool"):
            before = folded[-1]
            content = f"{before.content}\n\n<context>\n{message.content}\n</context>"
            folded[-1] = replace(before, content=content)
        else:
            folded.append(message)
    return folded


def _as_user(message: Message) -> Message:
    return Message("user", message.content) if message.role == "system" else message


def _can_join(first: Message, second: Message) -> bool:
    return first.role == second.role != "tool" and not first.tool_calls


def _join(first: Message, second: Message) -> Message:
    parts = [part for part in (first.content, second.content) if part]
    return replace(second, content="\n\n".join(parts))


def _with_both_sides(messages: Sequence[Message]) -> list[Message]:
    """Put in the side that is missing: before a first assistant, and between a result and a user."""
    told: list[Message] = []
    for message in messages:
        before = told[-1].role if told else "system"
        if before == "system" and message.role in ("assistant", "tool"):
            told.append(_LEFT_OUT)
        if before == "tool" and message.role == "user":
            told.append(_UNANSWERED)
        told.append(message)
    return told
