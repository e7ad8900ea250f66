"""Read what the tools printed: hits, open windows and plain context lines, as lines of memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from fsagent.types import Message

_HIT = re.compile(r"^(?P<path>[^\s:][^:\n]*?):(?P<line>\d+): (?P<text>.*)$")
_AROUND = re.compile(r"^(?P<path>[^\s:][^:\n]*?)-(?P<line>\d+)- (?P<text>.*)$")
_WINDOW = re.compile(r"^(?P<path>\S.*?) lines (?P<start>\d+)-(?P<end>\d+) of (?P<total>\d+)")
_NUMBERED = re.compile(r"^\s*(?P<line>\d+): (?P<text>.*)$")
_RECALL = re.compile(
    r"^\[?(?P<day>\d{4}-\d\d-\d\d)(?:[ T](?P<time>\d\d:\d\d))?[^\]\s]*\]? (?P<speaker>[^:]{1,60}): (?P<body>.*)$"
)
_MISSING = re.compile(r"^\(no line holds: (?P<words>.*)\)$")
_CALLED = re.compile(r"^(?:\[called [^\]\s]+\]\s*)+$")
_PERSONA = "core/persona.md"
_BULLET = re.compile(r"^\s*[-*+]\s+")
_CITES = re.compile(r"\s*\[[^\[\]]*:\d+(?:-\d+)?\]\s*$")
_DAY_FILE = re.compile(r"^recall/\d{4}/(\d{4}-\d\d-\d\d)\.jsonl$")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of memory. `rank` is its place among the hits, None where only a window showed it."""

    path: str
    number: int
    body: str
    speaker: str | None = None
    said: datetime | None = None
    rank: int | None = None
    cites: str = ""

    @property
    def is_core(self) -> bool:
        """Whether it is a fact of core memory: what was kept, and kept up to date."""
        return self.path.startswith("core/") and self.path != _PERSONA

    @property
    def citation(self) -> str:
        """Return how an answer cites this line: a fact of core by the line that it cites itself."""
        if self.cites:
            return self.cites
        day = _DAY_FILE.match(self.path)
        return f"[{day[1] if day else self.path}:{self.number}]" if self.path else ""


@dataclass(frozen=True)
class Evidence:
    """All lines the tools have shown in this turn, by place, and the words no line holds."""

    lines: tuple[Line, ...] = ()
    missing: frozenset[str] = frozenset()

    def hits(self) -> list[Line]:
        """Return the lines that search found, best first."""
        found = [line for line in self.lines if line.rank is not None]
        return sorted(found, key=lambda line: line.rank or 0)

    def before(self, line: Line, back: int = 1) -> Line | None:
        """Return the line `back` lines above, if it was shown."""
        return self.by_place.get((line.path, line.number - back))

    @cached_property
    def by_place(self) -> dict[tuple[str, int], Line]:
        """The lines by path and number."""
        return {(line.path, line.number): line for line in self.lines}


def read_evidence(messages: Iterable[Message]) -> Evidence:
    """Return what the tool results among `messages` show."""
    found: dict[tuple[str, int], Line] = {}
    missing: set[str] = set()
    for message in messages:
        if message.role == "tool":
            _read_result(message.content, found, missing)
    return Evidence(tuple(found.values()), frozenset(missing))


def read_context(text: str) -> Evidence:
    """Return the lines of memory that stand in a plain text, such as a prompt with its context."""
    found: dict[tuple[str, int], Line] = {}
    for place, raw in enumerate(text.splitlines(), 1):
        if (match := _HIT.match(raw)) and not _RECALL.match(raw):
            _add(found, make_line(match["path"], int(match["line"]), match["text"], len(found)))
        elif _RECALL.match(raw):
            _add(found, make_line("", place, raw, None))
    return Evidence(tuple(found.values()))


def make_line(path: str, number: int, text: str, rank: int | None) -> Line:
    """Return one line of the text view as its parts."""
    match = _RECALL.match(text)
    if match is None and path.startswith("core/"):
        cited = _CITES.search(text)
        words = _CITES.sub("", _BULLET.sub("", text))
        return Line(path, number, words, rank=rank, cites=cited[0].strip() if cited else "")
    if match is None:
        return Line(path, number, text, rank=rank)
    said = _moment(f"{match['day']} {match['time'] or '00:00'}")
    # A step of the agent that only called tools says nothing that could be an answer.
    body = "" if _CALLED.match(match["body"]) else match["body"]
    return Line(path, number, body, match["speaker"].strip(), said, rank)


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M")  # a wall time as printed, zone unknown
    except ValueError:
        return None


def _read_result(text: str, found: dict[tuple[str, int], Line], missing: set[str]) -> None:
    window: str | None = None
    for raw in text.splitlines():
        if match := _WINDOW.match(raw):
            window = match["path"]
        elif window and (match := _NUMBERED.match(raw)):
            _add(found, make_line(window, int(match["line"]), match["text"], None))
        elif match := _MISSING.match(raw):
            missing.update(word.strip().lower() for word in match["words"].split(","))
        elif match := _HIT.match(raw):
            rank = sum(line.rank is not None for line in found.values())
            _add(found, make_line(match["path"], int(match["line"]), match["text"], rank))
        elif match := _AROUND.match(raw):
            _add(found, make_line(match["path"], int(match["line"]), match["text"], None))


def _add(found: dict[tuple[str, int], Line], line: Line) -> None:
    """Keep the longer text and the better rank of a line that was shown twice."""
    key = (line.path, line.number)
    old = found.get(key)
    if old is None:
        found[key] = line
        return
    longer = line if len(line.body) > len(old.body) else old
    found[key] = replace(longer, rank=old.rank if old.rank is not None else line.rank)


def speakers(lines: Sequence[Line]) -> frozenset[str]:
    """Return the names of all who speak in `lines`."""
    return frozenset(line.speaker for line in lines if line.speaker)
