"""Requests as they go over the wire."""

from __future__ import annotations

from fsagent.models.wire import wire_messages
from fsagent.types import Message


def test_a_late_system_message_stands_behind_the_message_before_it() -> None:
    messages = [Message("system", "You help."), Message("user", "Hi"), Message("system", "Now: 9")]
    assert wire_messages(messages) == [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Hi\n\n<context>\nNow: 9\n</context>"},
    ]


def test_a_system_message_behind_an_assistant_stays_one() -> None:
    messages = [Message("system", "A"), Message("assistant", "B"), Message("system", "C")]
    assert [shape["role"] for shape in wire_messages(messages)] == ["system", "assistant", "system"]
