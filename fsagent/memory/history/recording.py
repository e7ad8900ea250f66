"""A recorder around another one that makes each turn a commit.

It takes what the turn's messages show (tools called, model, tokens) for the commit's trailers.
What others changed since the agent's last turn is in `outside` once a turn has begun.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from fsagent.memory.history.history import History
from fsagent.memory.history.messages import TurnNote
from fsagent.memory.recall import Reference
from fsagent.types import Message, Usage


class TurnRecorder(Protocol):
    """What a turn is written to."""

    def begin(self, turn: str, message: Message) -> Reference | None: ...

    def message(
        self,
        turn: str,
        message: Message,
        *,
        model: str | None = None,
        usage: Usage | None = None,
        source: str | None = None,
    ) -> Reference | None: ...

    def mark(
        self,
        turn: str,
        kind: str,
        facts: Mapping[str, Any],
        *,
        model: str | None = None,
        usage: Usage | None = None,
    ) -> Reference | None: ...

    def end(self, turn: str, stop: str) -> None: ...


class CommittingRecorder:
    """Write turns through `inner` and commit what they change, behind the reply.

    `writing` names the tools that write memory; only these stand in a commit's `Tool` trailer.
    """

    def __init__(self, inner: TurnRecorder, history: History, *, writing: Collection[str]) -> None:
        self._inner, self._history, self._writing = inner, history, frozenset(writing)
        self._tools: list[str] = []
        self._model, self._usage = "", Usage()
        self.outside = ""

    def begin(self, turn: str, message: Message) -> Reference | None:
        """Take outside edits in, then open the turn."""
        self._tools, self._model, self._usage = [], "", Usage()
        self.outside = self._history.begin_turn(turn)
        return self._inner.begin(turn, message)

    def message(
        self,
        turn: str,
        message: Message,
        *,
        model: str | None = None,
        usage: Usage | None = None,
        source: str | None = None,
    ) -> Reference | None:
        """Write one message and note its tools, model and tokens."""
        self._tools += [call.name for call in message.tool_calls if call.name in self._writing]
        self._note(model, usage)
        return self._inner.message(turn, message, model=model, usage=usage, source=source)

    def mark(
        self,
        turn: str,
        kind: str,
        facts: Mapping[str, Any],
        *,
        model: str | None = None,
        usage: Usage | None = None,
    ) -> Reference | None:
        """Write a bookkeeping line."""
        self._note(model, usage)
        return self._inner.mark(turn, kind, facts, model=model, usage=usage)

    def end(self, turn: str, stop: str) -> None:
        """Close the turn durably, then hand its commit to the background."""
        self._inner.end(turn, stop)
        note = TurnNote(turn, tuple(self._tools), self._model, self._cost())
        self._history.end_turn(note)

    def _note(self, model: str | None, usage: Usage | None) -> None:
        self._model = model or self._model
        self._usage += usage or Usage()

    def _cost(self) -> str:
        tokens = (self._usage.prompt_tokens or 0) + (self._usage.completion_tokens or 0)
        return f"{tokens} tokens" if tokens else ""
