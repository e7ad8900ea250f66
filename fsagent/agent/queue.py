"""The queue of recent messages, in units that the wire keeps together.

A unit is one message, or an assistant message with the results of its tool calls: a result
without its call, or a call without its result, is refused by every endpoint.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from fsagent.tokens import estimate_message
from fsagent.types import Message, ToolCall


@dataclass(slots=True)
class Unit:
    """Messages that stand or fall together. `seq` is the last one's place in recall, if known."""

    turn: str
    messages: list[Message] = field(default_factory=list)
    tokens: int = 0
    seq: int = 0

    @property
    def call_ids(self) -> list[str]:
        """The ids of the results the unit holds."""
        return [message.tool_call_id for message in self.messages if message.tool_call_id]

    @property
    def is_whole(self) -> bool:
        """Say whether every call of the unit has its result."""
        return {call.id for call in self.messages[0].tool_calls} == set(self.call_ids)

    @property
    def is_request(self) -> bool:
        """Say whether the unit is the person's message."""
        return self.messages[0].role == "user"


class Queue:
    """The recent messages, oldest first, and the summary of what stood before them."""

    def __init__(self) -> None:
        self.summary = ""
        self.units: list[Unit] = []

    @property
    def tokens(self) -> int:
        """The estimated tokens of the units, without the summary."""
        return sum(unit.tokens for unit in self.units)

    def add(self, message: Message, *, turn: str, seq: int = 0) -> None:
        """Add a message; a tool result joins the unit of its call."""
        if message.role != "tool" or not self.units:
            self.units.append(Unit(turn))
        unit = self.units[-1]
        unit.messages.append(message)
        unit.tokens += estimate_message(message)
        unit.seq = max(unit.seq, seq)

    def messages(self) -> Iterator[Message]:
        """Yield the messages in order."""
        for unit in self.units:
            yield from unit.messages

    def evict(self, target_tokens: int, *, turn: str) -> list[Unit]:
        """Take the oldest units out until at most `target_tokens` stay, and return them.

        The request of the turn under way stays, and so does the last unit: what a model was asked
        and what it has just been told.
        """
        evicted: list[Unit] = []
        tokens = self.tokens
        for unit in self.units[:-1]:
            if tokens <= target_tokens:
                break
            if unit.turn == turn and unit.is_request:
                continue
            evicted.append(unit)
            tokens -= unit.tokens
        gone = set(map(id, evicted))
        self.units = [unit for unit in self.units if id(unit) not in gone]
        return evicted

    def awaiting(self) -> list[ToolCall]:
        """Return the calls of the last unit that have no result yet."""
        unit = self.units[-1] if self.units else None
        calls = unit.messages[0].tool_calls if unit else ()
        return [call for call in calls if unit and call.id not in unit.call_ids]

    def drop_unfinished(self) -> None:
        """Take out a last unit whose calls have not all got their result."""
        if self.units and not self.units[-1].is_whole:
            self.units.pop()

    def take_up(self, tries: Collection[str], *, turn: str) -> bool:
        """Make the request of broken turns that of a turn under way; False where it is not here.

        What was half said behind it leaves; calls that have their results stay.
        """
        places = [
            place for place, unit in enumerate(self.units) if unit.is_request and unit.turn in tries
        ]
        if not places:
            return False
        after = self.units[places[-1] + 1 :]
        self.units[places[-1] :] = [self.units[places[-1]], *(one for one in after if one.call_ids)]
        self.units[places[-1]].turn = turn
        return True

    def shorten(self, unit: Unit, place: int, content: str) -> None:
        """Put a shorter content into one message of a unit."""
        unit.messages[place] = replace(unit.messages[place], content=content)
        unit.tokens = sum(map(estimate_message, unit.messages))
