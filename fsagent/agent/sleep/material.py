"""What recall holds since the last sleep: the words of people, and of the assistant for context.

Nothing that came out of memory is material: tool calls and results are left out, the assistant's
lines may be read and never cited, its reasoning is stripped.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from fsagent.agent.recorder import SAID
from fsagent.agent.recovery import is_in_turn
from fsagent.memory.recall import Recall
from fsagent.memory.support import Source
from fsagent.memory.workspace import Workspace
from fsagent.models.thinking import strip_thinking
from fsagent.tokens import estimate_text, in_pieces
from fsagent.workspace.records import Record
from fsagent.workspace.references import citation_name
from fsagent.workspace.view import NEWLINE_MARK

MOST_LINES = 20_000
"""How many lines one sleep looks at, the oldest first; the rest is for the next."""

MOST_CHARS = 2_000
"""How much of one message a sleep reads."""


@dataclass(frozen=True, slots=True)
class Said:
    """One line of recall that a sleep reads.

    `citation` is such as `2026-11-29:14`; `imported` says that nobody said it here.
    """

    path: str
    line: int
    seq: int
    ts: str
    turn: str
    role: str
    name: str
    text: str
    imported: bool = False

    @property
    def citation(self) -> str:
        """How a fact names this line."""
        return citation_name(self.path, self.line)

    @property
    def is_citable(self) -> bool:
        """Whether a fact may rest on it: a person said it."""
        return self.role == "user"

    @property
    def source(self) -> Source:
        """The line as support of a fact."""
        return Source(self.name, self.text, datetime.fromisoformat(self.ts).date())

    def shown(self) -> str:
        """Return the line as the model sees it."""
        moment = datetime.fromisoformat(self.ts)
        text = self.text if len(self.text) <= MOST_CHARS else f"{self.text[:MOST_CHARS]} (cut)"
        who = f"user {self.name}" if self.role == "user" else "assistant"
        return f"[{self.citation}] {moment:%Y-%m-%d %H:%M %A} {who}: {text}"


@dataclass(frozen=True, slots=True)
class Material:
    """The lines since a cursor, in the order of `seq`, and the `seq` they reach to.

    Lines of a turn still under way are left out.
    """

    lines: tuple[Said, ...] = ()
    through: int = 0


def material_since(workspace: Workspace, seq: int) -> Material:
    """Return what was said since the line `seq`. Where that is nothing no day file is read.

    Every day counts, whatever its file's time: an import writes to old days, a clock goes back, a
    sync program keeps the times of another machine.
    """
    if workspace.recall.last_seq() <= seq:
        return Material((), seq)
    records = heapq.nsmallest(MOST_LINES, _records(workspace.recall, seq), _by_seq)
    records = _before_open_turns(workspace, records)
    through = max((record.seq for _, _, record in records), default=seq)
    return Material(tuple(said_of(records)), through)


def pieces(lines: Sequence[Said], limit_tokens: int) -> Iterator[list[Said]]:
    """Yield the lines in pieces of at most `limit_tokens` each."""
    return in_pieces(lines, lambda line: estimate_text(line.shown()), limit_tokens)


_Found = tuple[str, int, Record]


def _by_seq(found: _Found) -> int:
    return found[2].seq


def _records(recall: Recall, seq: int) -> Iterator[_Found]:
    for path in recall.days():
        for number, record in recall.since(path, seq):
            yield path, number, record


def said_of(records: Iterable[_Found]) -> Iterator[Said]:
    """Yield the records that are somebody's words, as (path, line, record)."""
    for path, number, record in records:
        if record.kind is not None or record.role not in ("user", "assistant"):
            continue
        if record.source == SAID and record.role == "user":
            continue
        text = _one_line(record)
        if text:
            yield Said(
                path,
                number,
                record.seq,
                record.ts,
                record.turn,
                record.role,
                record.name,
                text,
                imported=record.source not in (None, SAID),
            )


def _one_line(record: Record) -> str:
    text = strip_thinking(record.content) if record.role == "assistant" else record.content
    images = [f"[image: {caption}]" for caption in record.images]
    return NEWLINE_MARK.join(" ".join([text, *images]).strip().splitlines())


def _before_open_turns(workspace: Workspace, records: list[_Found]) -> list[_Found]:
    """Return the records before the first turn that another process is still in."""
    begun: dict[str, _Found] = {}
    for found in records:
        record = found[2]
        if record.kind == "begin":
            begun[record.turn] = found
        elif record.kind == "end":
            begun.pop(record.turn, None)
    alive = [
        found[2].seq for found in begun.values() if is_in_turn(workspace, found[2].session or "")
    ]
    return [found for found in records if found[2].seq < min(alive)] if alive else records
