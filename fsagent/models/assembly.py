"""Put a reply together from its streamed pieces."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fsagent.models.wire import BROKEN_OFF, mended, read_finish, read_usage
from fsagent.types import FinishReason, ToolCall, Usage

MAX_REPLY_CHARS = 600_000
"""Beyond this a reply counts as cut by its length: local servers without a limit write for ever."""


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Reply:
    """A reply as it grows. `finish` stays None until the server says that the reply is whole.

    `broken_off` says so where it gave up instead.
    """

    text: str = ""
    finish: FinishReason | None = None
    broken_off: str = ""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    choices: int = 0
    _calls: list[_Call] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Add one chunk of a stream, or the whole body of a reply that was not streamed."""
        if isinstance(model := chunk.get("model"), str):
            self.model = mended(model) or self.model
        if (usage := read_usage(chunk.get("usage"))) != Usage():
            self.usage = usage
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping) and choice.get("index") in (0, None):
                self._add_choice(choice)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        self.choices += 1
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, Mapping):
            self.text += _text(delta.get("content")) or _text(delta.get("refusal"))
            pieces = delta.get("tool_calls")
            for piece in pieces if isinstance(pieces, list) else ():
                if isinstance(piece, Mapping):
                    self._add_call(piece)
        if (reason := choice.get("finish_reason")) and str(reason).lower() in BROKEN_OFF:
            self.broken_off = f"the server broke the reply off ({str(reason)[:40]})"
        elif reason:
            self.finish = read_finish(reason)

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else {}
        call = self._place(piece, str(function.get("name") or ""))
        call.id = call.id or str(piece.get("id") or "")
        name = str(function.get("name") or "")
        if name != call.name:  # some servers repeat the name in every piece, others split it
            call.name += name
        arguments = function.get("arguments")
        call.arguments += arguments if isinstance(arguments, str) else _json(arguments)

    def _place(self, piece: Mapping[str, Any], name: str) -> _Call:
        """Return the call a piece belongs to: by index, else by id, else the last one.

        Servers leave the index out, or send every parallel call with index 0: a new id together
        with a name starts a new call.
        """
        index, id = piece.get("index"), piece.get("id")
        place = self._places.get(index if index is not None else id)
        if place is None and index is None and not id and not name and self._calls:
            place = len(self._calls) - 1
        if place is not None and name and id and self._calls[place].id not in ("", id):
            place = None
        if place is None:
            self._calls.append(_Call())
            place = len(self._calls) - 1
        if index is not None or id:
            self._places[index if index is not None else id] = place
        return self._calls[place]

    def is_endless(self) -> bool:
        """Cut a reply that is longer than any model's; return whether it was."""
        size = len(self.text) + sum(len(call.arguments) for call in self._calls)
        if self.finish is None and size > MAX_REPLY_CHARS:
            self.finish = "length"
            return True
        return False

    def end(self) -> None:
        """Note that the server has sent all of it; without a finish reason that one is unknown."""
        if not self.broken_off:
            self.finish = self.finish or "unknown"

    @property
    def calls_were_cut(self) -> bool:
        """Say whether the reply's token limit took its calls away."""
        return self.finish == "length" and bool(self._calls)

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of a whole reply; none of a reply that was cut by its token limit."""
        if self.finish in (None, "length", "content_filter"):
            return ()
        return tuple(
            ToolCall(mended(call.id) or new_call_id(), mended(call.name), mended(call.arguments))
            for call in self._calls
        )


def new_call_id() -> str:
    """Return an id for a tool call that came without one."""
    return f"call_{secrets.token_hex(8)}"


def _text(content: object) -> str:
    """Return the text of a content, which may come as a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(
            part["text"]
            for part in content
            if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        )
    return ""


def _json(arguments: object) -> str:
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
