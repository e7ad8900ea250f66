"""What a turn tells while it runs, for a screen that follows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from fsagent.types import Answer, ToolCall


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the text that the person reads."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call is about to run. `summary` is one line such as `search_files("dog")`."""

    call: ToolCall
    summary: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call gave its result. `summary` is one line, `text` the whole result."""

    call: ToolCall
    summary: str
    text: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Compacted:
    """Old messages were replaced by a summary. Sizes are estimated tokens of the whole request."""

    before_tokens: int
    after_tokens: int
    evicted: int


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the person that is not the model's."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The turn is over and on disk."""

    answer: Answer


Event = TextDelta | ToolStarted | ToolFinished | Compacted | Notice | Finished
OnEvent = Callable[[Event], None]


def call_summary(call: ToolCall, *, limit: int = 100) -> str:
    """Return a call as one line: its name and its arguments' values."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = call.arguments
    if isinstance(arguments, dict):
        shown = [
            json.dumps(value, ensure_ascii=False) if place == 0 else f"{name}={value!r}"
            for place, (name, value) in enumerate(arguments.items())
            if name != "request_heartbeat"
        ]
    else:
        shown = [" ".join(str(arguments).split())]
    return _short(f"{call.name}({', '.join(shown)})", limit)


def result_summary(text: str, *, limit: int = 100) -> str:
    """Return a result as one line: its count of hits where it has one, else its first sentence."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return "(empty)"
    counted = next((line for line in lines if line.startswith("(") and " hit" in line[:30]), None)
    first = lines[0].partition(". ")[0]
    return _short(counted.strip("()").partition(";")[0] if counted else first, limit)


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
