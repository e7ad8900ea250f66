"""Keep a turn where it belongs: in recall, line by line, each durable before it is shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from fsagent.memory.recall import Draft, Recall, Reference
from fsagent.types import Message, Usage

SAID = "send_message"
"""The `source` of a line that repeats what `send_message` said, so that searches find it."""


class Recorder(Protocol):
    """What a turn is written to. A benchmark has its own, so that questions never enter the store."""

    def begin(self, turn: str, message: Message) -> Reference | None:
        """Open a turn with the person's message; return where it begins in recall, if it does."""
        ...

    def message(
        self,
        turn: str,
        message: Message,
        *,
        model: str | None = None,
        usage: Usage | None = None,
        source: str | None = None,
    ) -> Reference | None:
        """Keep one message."""
        ...

    def mark(
        self,
        turn: str,
        kind: str,
        facts: Mapping[str, Any],
        *,
        model: str | None = None,
        usage: Usage | None = None,
    ) -> Reference | None:
        """Keep a bookkeeping line: intent, compaction, notice."""
        ...

    def end(self, turn: str, stop: str) -> None:
        """Close the turn; `stop` names why it ended."""
        ...


class RecallRecorder:
    """Write turns into recall, under one session."""

    def __init__(self, recall: Recall, *, session: str, user_name: str = "user") -> None:
        self._recall, self._session, self._user_name = recall, session, user_name

    def begin(self, turn: str, message: Message) -> Reference | None:
        """Write `begin` and the person's message with one sync."""
        drafts = [self._mark("begin", turn, {}), self._draft(turn, message)]
        return self._recall.append_many(drafts)[0]

    def message(
        self,
        turn: str,
        message: Message,
        *,
        model: str | None = None,
        usage: Usage | None = None,
        source: str | None = None,
    ) -> Reference | None:
        """Write one message."""
        draft = self._draft(turn, message, model=model, usage=usage, source=source)
        return self._recall.append(draft)

    def mark(
        self,
        turn: str,
        kind: str,
        facts: Mapping[str, Any],
        *,
        model: str | None = None,
        usage: Usage | None = None,
    ) -> Reference | None:
        """Write a bookkeeping line; its facts are JSON in the content."""
        return self._recall.append(self._mark(kind, turn, facts, model=model, usage=usage))

    def end(self, turn: str, stop: str) -> None:
        """Write `end`."""
        self._recall.append(self._mark("end", turn, {"stop": stop}))

    def _mark(
        self,
        kind: str,
        turn: str,
        facts: Mapping[str, Any],
        *,
        model: str | None = None,
        usage: Usage | None = None,
    ) -> Draft:
        content = json.dumps(dict(facts), ensure_ascii=False, separators=(",", ":"))
        return Draft(
            role="system",
            name="fsagent",
            content=content if facts else "",
            turn=turn,
            session=self._session,
            kind=kind,
            model=model,
            usage=_known(usage),
        )

    def _draft(
        self,
        turn: str,
        message: Message,
        *,
        model: str | None = None,
        usage: Usage | None = None,
        source: str | None = None,
    ) -> Draft:
        return Draft(
            role=message.role,
            name=self._name(message),
            content=message.content,
            turn=turn,
            session=self._session,
            model=model,
            source=source,
            tool_calls=message.tool_calls,
            tool_call_id=message.tool_call_id,
            usage=_known(usage),
        )

    def _name(self, message: Message) -> str:
        if message.role == "user":
            return self._user_name
        return message.name or message.role


def facts_of(content: str) -> dict[str, Any]:
    """Return the facts of a bookkeeping line, none where they cannot be read."""
    try:
        facts = json.loads(content) if content else {}
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _known(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    known = {name: count for name, count in usage.as_dict().items() if count}
    return {**known, "estimated": 1} if usage.estimated else known or None
