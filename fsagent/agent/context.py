"""The context window: what a model is sent, in an order that keeps the provider's cache.

    system prompt and core blocks     frozen for the session, byte for byte
    summary                           of what was evicted, at the head of the queue
    recent messages                   open windows among them; a closed one is one line
    late tail                         clock, blocks changed since, open files, memory pressure

Sizes are estimated tokens, corrected by what the server reports; a report of zero is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fsagent.agent.queue import Queue, Unit
from fsagent.errors import ConfigError
from fsagent.tokens import BYTES_PER_TOKEN, estimate_message, estimate_request, estimate_text
from fsagent.tools.scope import clip_bytes
from fsagent.tools.windows import Windows
from fsagent.types import Message, ToolCall, ToolSpec, Usage

WARN_SHARE = 0.7
"""The share of the window at which the model is asked to save what matters."""

LOW_SHARE = 0.5
"""The share of the queue's room that stays after an eviction."""

SUMMARY_SHARE = 0.15
MESSAGE_SHARE = 0.2
STEP_SHARE = 0.3
"""The shares of the queue's room that the summary, one message, and one step's results may fill."""

REPLY_SHARE, MIN_REPLY_TOKENS, MAX_REPLY_TOKENS = 0.125, 256, 4096
MIN_ROOM_TOKENS = 256
MAX_CLIPPED_ARGUMENTS = 20
_TAIL_TOKENS = 120
"""What the late tail usually takes."""

MIN_SCALE, MAX_SCALE = 0.5, 4.0
SMALL_CONTEXT_TOKENS = 8_192
"""Below and at this size the model works, with fewer lines at a time; the person is told."""

_SUMMARY_HEAD = "Summary of the conversation before these messages; all of it stands in recall:"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the window and its estimated tokens."""

    name: str
    tokens: int


class Context:
    """What one agent sends its model. `limit_tokens` is the window less the room for a reply."""

    def __init__(
        self, system: str, specs: Sequence[ToolSpec], windows: Windows, *, context_tokens: int
    ) -> None:
        self.system, self.specs, self.windows = Message("system", system), tuple(specs), windows
        self.queue = Queue()
        self.resize(context_tokens)
        self.scale = 1.0
        self.tail_tokens = _TAIL_TOKENS
        self._tools_tokens = estimate_request((), self.specs)

    def resize(self, context_tokens: int) -> None:
        """Take another window size, as a server may tell it."""
        reply = int(context_tokens * REPLY_SHARE)
        self.context_tokens = context_tokens
        self.limit_tokens = context_tokens - max(MIN_REPLY_TOKENS, min(MAX_REPLY_TOKENS, reply))

    @property
    def room_tokens(self) -> int:
        """What the summary and the queue may fill, in unscaled estimates."""
        fixed = estimate_message(self.system) + self._tools_tokens + self.tail_tokens
        return max(MIN_ROOM_TOKENS, int(self.limit_tokens / self.scale) - fixed)

    @property
    def summary_tokens(self) -> int:
        """How long a summary may be."""
        return int(self.room_tokens * SUMMARY_SHARE)

    def check_size(self) -> None:
        """Raise ConfigError where prompt, blocks and tools leave no room for a conversation."""
        fixed = estimate_message(self.system) + self._tools_tokens + self.tail_tokens
        if fixed + MIN_ROOM_TOKENS > self.limit_tokens:
            need = int((fixed + MIN_ROOM_TOKENS) / (1 - REPLY_SHARE)) + MIN_REPLY_TOKENS
            raise ConfigError(
                f"context_tokens {self.context_tokens} is too small: the prompt, the core blocks "
                f"and the tools take {fixed}; set it to {need} or more"
            )

    def assemble(self, tail: str = "") -> list[Message]:
        """Return the messages of the next request."""
        messages = [self.system, *self._summary(), *self.queue.messages()]
        return [*messages, Message("system", tail)] if tail else messages

    def tokens(self, tail: str = "") -> int:
        """Return the estimated prompt tokens of the next request, corrected by past reports."""
        return int(sum(section.tokens for section in self._unscaled(tail)) * self.scale)

    def share(self) -> float:
        """Return how full the usable window is, 1.0 being full."""
        return self.tokens() / self.limit_tokens

    def is_pressed(self) -> bool:
        """Say whether the model should save what matters, before the oldest half goes."""
        return self.share() >= WARN_SHARE

    def note_tail(self, tail: str) -> None:
        """Note how much the late tail takes, for the room that is left."""
        self.tail_tokens = estimate_text(tail) or _TAIL_TOKENS

    def sections(self, tail: str = "") -> tuple[Section, ...]:
        """Return the window by section, corrected by past reports."""
        return tuple(
            Section(section.name, int(section.tokens * self.scale))
            for section in self._unscaled(tail)
        )

    def calibrate(self, estimated_tokens: int, usage: Usage) -> None:
        """Learn from a report how far the estimates are off; zero or None teaches nothing."""
        if not usage.prompt_tokens or estimated_tokens <= 0:
            return
        seen = usage.prompt_tokens / estimated_tokens * self.scale
        self.scale = min(MAX_SCALE, max(MIN_SCALE, (self.scale + seen) / 2))

    def add(self, message: Message, *, turn: str, seq: int = 0) -> None:
        """Add a message to the queue, clipped where it alone would fill the window."""
        limit = int(self.room_tokens * MESSAGE_SHARE) * BYTES_PER_TOKEN
        if message.role != "tool":
            calls = tuple(clipped_call(call, limit) for call in message.tool_calls)
            message = replace(message, content=clipped(message.content, limit), tool_calls=calls)
        self.queue.add(message, turn=turn, seq=seq)

    def fit_step(self) -> None:
        """Clip the results of the last step where together they would fill the window."""
        if not self.queue.units:
            return
        unit = self.queue.units[-1]
        budget = int(self.room_tokens * STEP_SHARE) * BYTES_PER_TOKEN
        places = [place for place, message in enumerate(unit.messages) if message.role == "tool"]
        sizes = [len(unit.messages[place].content.encode()) for place in places]
        if sum(sizes) <= budget:
            return
        allowed = _water_level(sizes, budget)
        for place in places:
            content = unit.messages[place].content
            self.queue.shorten(unit, place, clipped(content, allowed))

    def evict(self, *, turn: str) -> list[Unit]:
        """Take the oldest half of the queue out; pages windows out first."""
        target = int(self.room_tokens * LOW_SHARE) - self.summary_tokens
        self.windows.page_out(self.queue.tokens - target, keep=self._last_call())
        self.settle()
        evicted = self.queue.evict(max(0, target), turn=turn)
        self.windows.forget(call_id for unit in evicted for call_id in unit.call_ids)
        return evicted

    def settle(self) -> None:
        """Replace closed windows by their line, which frees their tokens."""
        for unit in self.queue.units:
            for place, message in enumerate(unit.messages):
                line = self.windows.replacement(message.tool_call_id)
                if line is not None and message.content != line:
                    self.queue.shorten(unit, place, line)

    def _last_call(self) -> str | None:
        ids = self.queue.units[-1].call_ids if self.queue.units else []
        return ids[-1] if ids else None

    def _summary(self) -> Iterable[Message]:
        if self.queue.summary:
            yield Message("user", f"{_SUMMARY_HEAD}\n{self.queue.summary}")

    def _unscaled(self, tail: str) -> tuple[Section, ...]:
        windows = self.windows.tokens
        return (
            Section("system prompt and core", estimate_message(self.system)),
            Section("tools", self._tools_tokens),
            Section("summary", sum(map(estimate_message, self._summary()))),
            Section("messages", max(0, self.queue.tokens - windows)),
            Section("open files", windows),
            Section("late tail", estimate_text(tail) if tail else self.tail_tokens),
        )


def clipped_call(call: ToolCall, limit_bytes: int) -> ToolCall:
    """Return a call whose long arguments are clipped, still as a JSON object."""
    if len(call.arguments.encode("utf-8", "surrogatepass")) <= limit_bytes:
        return call
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict) or len(arguments) > MAX_CLIPPED_ARGUMENTS:
        arguments = {"clipped": call.arguments}
    share = max(80, limit_bytes // len(arguments))
    short = {
        name: clipped(value if isinstance(value, str) else json.dumps(value), share)
        for name, value in arguments.items()
    }
    return replace(call, arguments=json.dumps(short, ensure_ascii=False))


def clipped(text: str, limit_bytes: int) -> str:
    """Cut a text in its middle to about `limit_bytes`, saying so."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size <= limit_bytes:
        return text
    mark = f"\n[... clipped in the context: {len(text)} characters in all, recall holds them ...]\n"
    room = max(0, limit_bytes - len(mark))
    head = clip_bytes(text, room * 2 // 3)
    tail = clip_bytes(text[::-1], room - room * 2 // 3)[::-1] if room else ""
    return head + mark + tail


def _water_level(sizes: Sequence[int], budget: int) -> int:
    """Return the size that no part may pass, so that all parts together keep to the budget."""
    left, parts = budget, sorted(sizes)
    for place, size in enumerate(parts):
        level = left // (len(parts) - place)
        if size > level:
            return level
        left -= size
    return budget
