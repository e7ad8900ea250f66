"""Summarise what leaves the window: by the model in bounded pieces, else by rule.

The summary is recursive: each piece is folded into the summary so far. A summary that the model
cut short, left empty or failed to give is replaced by the rule's; recall keeps every message, so
a poor summary costs a search and loses nothing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from fsagent.agent.queue import Unit
from fsagent.errors import ModelError
from fsagent.tokens import (
    BYTES_PER_TOKEN,
    estimate_message,
    estimate_request,
    estimate_text,
    in_pieces,
)
from fsagent.tools.scope import clip_bytes
from fsagent.types import Message, Model, Usage

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary's text, and what it cost of which model."""

    text: str
    usage: Usage = field(default_factory=Usage)
    model: str | None = None


Summarise = Callable[[str, Sequence[Unit], int], Summary]
"""Return a new summary from the old one and the evicted units, within a number of tokens."""

MAX_PIECES = 6
"""How many requests one compaction may cost; older pieces beyond that are summarised by rule."""

PIECE_SHARE = 0.5
"""The share of the window that one piece may fill."""

LINE_BYTES = 160
_COUNT = re.compile(r"\((\d+) older messages are not listed")


def summarise_by_rule(previous: str, units: Sequence[Unit], limit_tokens: int) -> Summary:
    """Summarise without a model."""
    return Summary(rule_summary(previous, units, limit_tokens))


def rule_summary(previous: str, units: Sequence[Unit], limit_tokens: int) -> str:
    """Return the newest lines of what was said, each cut short, behind a count of the older ones."""
    lines = [line for line in previous.splitlines() if line.strip() and not _COUNT.match(line)]
    lines += [f"- {text}" for unit in units for text in _lines(unit)]
    older = _older_count(previous)
    budget = limit_tokens * BYTES_PER_TOKEN - LINE_BYTES
    kept: list[str] = []
    for line in reversed(lines):
        budget -= len(line.encode("utf-8", "surrogatepass")) + 1
        if budget < 0:
            break
        kept.append(line)
    older += len(lines) - len(kept)
    head = [f"({older} older messages are not listed; search recall for them)"] if older else []
    return "\n".join(head + kept[::-1])


@dataclass(slots=True)
class ModelSummary:
    """Summarise with a model."""

    model: Model
    prompt: str
    context_tokens: int

    def __call__(self, previous: str, units: Sequence[Unit], limit_tokens: int) -> Summary:
        """Return the new summary; falls back to the rule where the model fails."""
        pieces = list(in_pieces(units, _unit_tokens, int(self.context_tokens * PIECE_SHARE)))
        summary, late = previous, pieces[-MAX_PIECES:]
        for piece in pieces[:-MAX_PIECES]:
            summary = rule_summary(summary, piece, limit_tokens)
        usage = Usage()
        for piece in late:
            summary, used = self._fold(summary, piece, limit_tokens)
            usage += used
        return Summary(summary, usage, self.model.name)

    def _fold(self, previous: str, units: Sequence[Unit], limit_tokens: int) -> tuple[str, Usage]:
        said = "\n".join(line for unit in units for line in _lines(unit, limit_bytes=2_000))
        request = (
            f"Summary so far:\n{previous or '(none)'}\n\nMessages:\n{said}\n\n"
            f"Write the new summary in at most {limit_tokens * 3 // 4} words."
        )
        messages = [Message("system", self.prompt), Message("user", request)]
        try:
            reply = self.model.complete(messages)
        except ModelError as err:
            log.warning("the summary failed (%s); a list of messages takes its place", err)
            return rule_summary(previous, units, limit_tokens), Usage()
        text = reply.message.content.strip()
        usage = reply.usage.or_estimate(
            estimate_request(messages, ()), estimate_message(reply.message)
        )
        if not text or reply.finish_reason not in ("stop", "unknown"):
            return rule_summary(previous, units, limit_tokens), usage
        return clip_bytes(text, limit_tokens * BYTES_PER_TOKEN), usage


def _unit_tokens(unit: Unit) -> int:
    return sum(estimate_text(line) for line in _lines(unit, limit_bytes=2_000))


def _lines(unit: Unit, *, limit_bytes: int = LINE_BYTES) -> Iterator[str]:
    """Yield what was said in a unit; tool results stand in recall and are named only."""
    for message in unit.messages:
        text = " ".join(message.content.split())
        if message.role in ("user", "assistant") and text:
            yield f"{message.role}: {clip_bytes(text, limit_bytes)}"
        for call in message.tool_calls:
            yield f"assistant called {call.name} {clip_bytes(call.arguments, limit_bytes)}"


def _older_count(previous: str) -> int:
    match = _COUNT.match(previous)
    return int(match[1]) if match else 0
