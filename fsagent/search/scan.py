"""Scan one file for a pattern: rule it out on its raw bytes, then match on its text view."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from fsagent.search.patterns import Pattern
from fsagent.search.viewbytes import is_damaged, recall_bytes, view_bytes
from fsagent.workspace.records import decode
from fsagent.workspace.view import is_binary, is_recall, render_line

# Words that the view writes itself: they need not stand in a line's raw bytes.
_VIEW_WORDS = "image called result of characters"
_VIEW_RAW = (b'"tool', b'"images"')
_DAMAGE_WORDS = "unreadable record"
# A file in which more than one line in six is a candidate is rendered whole.
_DENSE = 6
_CHECK_EVERY = 2_000


@dataclass(frozen=True, slots=True)
class Limits:
    """When to end a file's scan: a moment, a number of matches (None: all); numbers kept of `keep`."""

    deadline: float
    want: int | None
    keep: int


@dataclass
class Scanned:
    """The matching lines of one file: their count, and the numbers of the first `keep` of them."""

    data: bytes
    render: Callable[[bytes], str]
    count: int = 0
    numbers: list[int] = field(default_factory=list)
    timed_out: bool = False
    _starts: list[int] = field(default_factory=list)

    def raw_line(self, number: int) -> bytes:
        """Return a line's bytes without its LF."""
        starts = self._line_starts()
        return self.data[starts[number - 1] : starts[number] - 1]

    def line(self, number: int) -> str:
        """Return a line as text."""
        return self.render(self.raw_line(number))

    @property
    def line_count(self) -> int:
        """The lines of the file."""
        return len(self._line_starts()) - 1

    def heading(self, number: int) -> tuple[str | None, str | None]:
        """Return a recall line's time and speaker, None for what is no record."""
        try:
            record = decode(self.raw_line(number))
        except ValueError:
            return None, None
        return record.ts, record.name

    def _line_starts(self) -> list[int]:
        if not self._starts:
            if self.data and not self.data.endswith(b"\n"):
                self.data += b"\n"
            at = 0
            self._starts.append(0)
            while (at := self.data.find(b"\n", at) + 1) > 0:
                self._starts.append(at)
        return self._starts


def scan_file(path: str, data: bytes, pattern: Pattern, limits: Limits) -> Scanned | None:
    """Return a file's matches, None for a binary file."""
    if not is_recall(path):
        if is_binary(data):
            return None
        view = view_bytes(path, data)
        scanned = Scanned(view, lambda line: line.decode("utf-8", "replace"))
        _match(scanned, view, pattern, limits)
        return scanned
    scanned = Scanned(data, render_line)
    candidates = _candidates(data, pattern)
    if candidates is None:
        view = recall_bytes(data)
        _match(scanned, view, pattern, limits, raw=data)
    elif candidates:
        lines = [data[start:end] for _, start, end in candidates]
        numbers = [number for number, _, _ in candidates]
        raw = b"\n".join(lines) + b"\n"
        _match(scanned, recall_bytes(raw), pattern, limits, raw=raw, numbers=numbers)
    return scanned


def _match(
    scanned: Scanned,
    view: bytes,
    pattern: Pattern,
    limits: Limits,
    *,
    raw: bytes | None = None,
    numbers: list[int] | None = None,
) -> None:
    """Count the lines of `view` that match; each is judged once.

    `raw` holds the same lines as they stand in the file, so that damaged ones can be told.
    """
    search, find = pattern.regex.search, view.find
    at, line, counted_to, size = 0, 1, 0, len(view)
    starts = _offsets(raw) if raw is not None else None
    while at < size and (limits.want is None or scanned.count < limits.want):
        match = search(view, at)
        if match is None:
            return
        start = match.start()
        if start >= size:
            return
        line += view.count(b"\n", counted_to, start)
        counted_to = start
        at = find(b"\n", start) + 1 or size
        if starts is not None and raw is not None and _hides(raw, starts, line, view, start):
            continue
        if len(scanned.numbers) < limits.keep:
            scanned.numbers.append(numbers[line - 1] if numbers else line)
        scanned.count += 1
        if scanned.count % _CHECK_EVERY == 0 and time.monotonic() > limits.deadline:
            scanned.timed_out = True
            return


def _offsets(raw: bytes) -> list[int]:
    import itertools

    lengths = map(len, raw.split(b"\n"))
    return list(itertools.accumulate(lengths, lambda total, n: total + n + 1, initial=0))


def _hides(raw: bytes, starts: list[int], line: int, view: bytes, start: int) -> bool:
    """Say whether a matched line is damaged, so that open shows it without its text."""
    damaged = is_damaged(raw[starts[line - 1] : starts[line] - 1])
    return damaged and not view.startswith(b"[unreadable", view.rfind(b"\n", 0, start) + 1)


def _candidates(data: bytes, pattern: Pattern) -> list[tuple[int, int, int]] | None:
    """Return (number, start, end) of the lines that can match; None where most or all can."""
    literals = pattern.literals
    if literals is None or any(word.lower() in _DAMAGE_WORDS for word in literals):
        return None
    finder = _finder(literals, pattern.ignore_case)
    if isinstance(finder, bytes):
        # A letter may hide in an escape of a line that something else wrote.
        if finder not in data and b"\\u" not in data:
            return []
        finder = _finder_regex(literals, pattern.ignore_case)
    most = data.count(b"\n") // _DENSE + 8
    found: list[tuple[int, int, int]] = []
    at, number, counted_to = 0, 1, 0
    while match := finder.search(data, at):
        hit = match.start()
        start = data.rfind(b"\n", at, hit) + 1 or at
        end = data.find(b"\n", hit)
        end = len(data) if end < 0 else end
        number += data.count(b"\n", counted_to, start)
        counted_to = start
        found.append((number, start, end))
        if len(found) > most:
            return None
        at = end + 1
        if at >= len(data):
            break
    return found


def _finder(literals: tuple[str, ...], ignore_case: bool) -> Any:
    if len(literals) == 1 and not ignore_case and not _written_by_view(literals):
        return literals[0].encode("utf-8", "replace")
    return _finder_regex(literals, ignore_case)


@lru_cache(maxsize=64)
def _finder_regex(literals: tuple[str, ...], ignore_case: bool) -> Any:
    """Return an RE2 of the literals, and of the raw signs of lines the view words itself."""
    import re

    import re2

    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.never_capture = True
    words = [re.escape(word.encode("utf-8", "replace")) for word in literals]
    words.append(rb"\\u")
    if _written_by_view(literals):
        words += [re.escape(mark) for mark in _VIEW_RAW]
    return re2.compile(b"|".join(words), options)


def _written_by_view(literals: tuple[str, ...]) -> bool:
    return any(word.isdigit() or word.lower() in _VIEW_WORDS for word in literals)
