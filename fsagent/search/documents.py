"""Cut files into the documents that search ranks: a message, a passage under its headings, a core line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from fsagent.workspace.records import decode_shape
from fsagent.workspace.view import is_binary, is_recall, is_text_path, raw_lines, view_lines

Kind = Literal["user", "assistant", "system", "document"]
KINDS: tuple[Kind, ...] = ("user", "assistant", "system", "document")
MAX_PASSAGE_CHARS = 700
NO_DATE = -1
_SKIPPED_TOPS = ("prompts/",)
_SKIPPED_FILES = ("fsagent.yaml", ".gitignore")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_CREATED = re.compile(r"(?:created|date|updated):\s*['\"]?(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?")


@dataclass(slots=True)
class Document:
    """One thing to find. `lead` counts as its text for ranking: headings, the block's label.

    `minute` is local time in minutes (`minute_of`), `session` the conversation it belongs to.
    """

    line: int
    text: str
    kind: Kind = "document"
    speaker: str = ""
    minute: int = NO_DATE
    session: str = ""
    lead: str = ""


def is_indexed(path: str) -> bool:
    """Say whether search reads a file: text that is not a prompt or a setting."""
    if path.startswith(_SKIPPED_TOPS) or path in _SKIPPED_FILES:
        return False
    return is_text_path(path)


def documents_of(path: str, data: bytes, *, first_line: int = 1) -> list[Document]:
    """Return a file's documents in their order. `data` may start at `first_line` for recall."""
    if is_recall(path):
        return list(_messages(data, first_line))
    if is_binary(data):
        return []
    lines = view_lines(path, data)
    if path.startswith("core/"):
        return list(_core_lines(path, lines))
    return list(_passages(path, lines))


def minute_of(moment: datetime) -> int:
    """Return a moment's local wall-clock time in minutes, the unit of the index."""
    return moment.toordinal() * 1440 + moment.hour * 60 + moment.minute


def day_of(minute: int) -> tuple[int, int, int]:
    """Return year, month and day of a document's time."""
    day = datetime.fromordinal(max(1, minute // 1440))
    return day.year, day.month, day.day


def _messages(data: bytes, first_line: int) -> Iterator[Document]:
    days: dict[str, int] = {}
    for number, line in enumerate(raw_lines(data), first_line):
        try:
            # Building a whole Record of each line costs a third of a rebuild.
            shape = decode_shape(line)
            role, ts = shape["role"], shape["ts"]
            if "kind" in shape or role not in KINDS:
                continue
            text = "\n".join((shape["content"], *shape.get("images", ())))
            minute = _minute(ts, days)
        except (ValueError, KeyError, TypeError):
            continue
        if text:
            speaker, session = str(shape.get("name", role)), str(shape.get("session") or "")
            yield Document(number, text, role, speaker, minute, session)


def _minute(ts: str, days: dict[str, int]) -> int:
    day = days.get(ts[:10])
    if day is None:
        day = days[ts[:10]] = date.fromisoformat(ts[:10]).toordinal()
    return day * 1440 + int(ts[11:13]) * 60 + int(ts[14:16])


def _core_lines(path: str, lines: list[str]) -> Iterator[Document]:
    label = path.rpartition("/")[2].rpartition(".")[0].replace("_", " ")
    for number, line in enumerate(lines, 1):
        if number > _front_matter_end(lines) and line.strip():
            yield Document(number, line, lead=label, session=path)


def _passages(path: str, lines: list[str]) -> Iterator[Document]:
    """Yield paragraphs under their headings, short ones together, long ones cut at a line."""
    head = _front_matter_end(lines)
    minute = _created(lines[:head])
    name = path.rpartition("/")[2].rpartition(".")[0].replace("-", " ").replace("_", " ")
    if head > 2:
        yield Document(1, "\n".join(lines[1 : head - 1]), minute=minute, session=path, lead=name)
    headings: list[tuple[int, str]] = []
    start, size, lead = head + 1, 0, name
    block: list[str] = []
    for number, line in enumerate(lines[head:], head + 1):
        heading = _HEADING.match(line)
        if block and (
            heading or size + len(line) > MAX_PASSAGE_CHARS or (not line.strip() and size > 200)
        ):
            yield from _passage(start, block, minute, path, lead)
            block, size = [], 0
        if heading:
            level = len(heading[1])
            headings = [item for item in headings if item[0] < level]
            lead = " ".join([name, *(title for _, title in headings)])
            headings.append((level, heading[2]))
        elif not block:
            lead = " ".join([name, *(title for _, title in headings)])
        if not block:
            start = number
        block.append(line)
        size += len(line) + 1
    yield from _passage(start, block, minute, path, lead)


def _passage(start: int, block: list[str], minute: int, path: str, lead: str) -> Iterator[Document]:
    text = "\n".join(block)
    if text.strip():
        blank = next(index for index, line in enumerate(block) if line.strip())
        yield Document(start + blank, text.strip("\n"), minute=minute, session=path, lead=lead)


def _front_matter_end(lines: list[str]) -> int:
    """Return how many lines the front matter takes, its marks included; 0 where there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((n for n, line in enumerate(lines[1:], 2) if line.rstrip() in ("---", "...")), 0)


def _created(front_matter: list[str]) -> int:
    for line in front_matter:
        if match := _CREATED.match(line):
            return _minute(f"{match[1]}T{match[2] or '00:00'}", {})
    return NO_DATE
