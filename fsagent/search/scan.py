"""Scan one file for a pattern: rule it out on its raw bytes, then match on its text view."""

from __future__ import annotations

import itertools
import re
import time
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from fsagent.search.patterns import Pattern
from fsagent.search.viewbytes import PLAIN_LINE, is_damaged, recall_bytes, view_bytes
from fsagent.workspace.records import decode
from fsagent.workspace.view import (
    SNIFF_BYTES,
    UNREADABLE,
    is_binary,
    is_recall,
    render,
    render_line,
)

# Words that the view writes itself: they need not stand in a line's raw bytes.
_VIEW_WORDS = "image called result of characters"
_VIEW_SAMPLE = _VIEW_WORDS.encode()
_VIEW_RAW = (rb'"tool', rb'"images"')
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_DAMAGE_WORDS = "unreadable record"
# A letter may hide in \\u; where a word's edge counts, the letter of another escape hides that.
_ESCAPES = {False: rb"\\u", True: rb"\\[bfnrtu]"}
# A file in which more than one line in six is a candidate is rendered whole.
_DENSE = 6
_FEW = 8
# Up to so many literals, each of so many letters at least, are looked for one by one.
_SEVERAL, _LONG = 8, 4
_FIRST_PIECE_BYTES = 16_384
_CHECK_EVERY = 2_000


_Finders = tuple[Any, ...]


class Limits(NamedTuple):
    """When to end a file's scan: a moment, a number of matches (None: all); numbers kept of `keep`."""

    deadline: float
    want: int | None
    keep: int


@dataclass
class Scanned:
    """The matching lines of one file: their count, and the numbers of the first `keep` of them."""

    data: bytes
    recall: bool
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
        raw = self.raw_line(number)
        return render_line(raw) if self.recall else raw.decode("utf-8", "replace")

    @property
    def line_count(self) -> int:
        """The lines of the file."""
        return len(self._line_starts()) - 1

    def shown(self, number: int) -> tuple[str, str | None, str | None]:
        """Return a line as text, and a recall line's time and speaker (None for what is no record)."""
        if not self.recall:
            return self.line(number), None, None
        try:
            record = decode(self.raw_line(number))
        except ValueError:
            return UNREADABLE, None, None
        return render(record), record.ts, record.name

    def _line_starts(self) -> list[int]:
        if not self._starts:
            if self.data and not self.data.endswith(b"\n"):
                self.data += b"\n"
            at = 0
            self._starts.append(0)
            while (at := self.data.find(b"\n", at) + 1) > 0:
                self._starts.append(at)
        return self._starts


_NOTHING = Scanned(b"", recall=False)


def scan_file(
    path: str, buffer: bytearray, size: int, pattern: Pattern, limits: Limits
) -> Scanned | None:
    """Return the matches of the file that stands in `buffer[:size]`, None for a binary file.

    The buffer is read in place: only candidate lines, and a file of which lines are shown, are copied.
    """
    if not is_recall(path):
        return _scan_text(path, buffer, size, pattern, limits)
    scanned = Scanned(b"", recall=True)
    # Where a few hits are enough, the file is read from its start in growing pieces.
    start, line = 0, 1
    wide = size if limits.want is None else _FIRST_PIECE_BYTES
    while start < size:
        end = buffer.find(b"\n", start + wide - 1, size) + 1 or size
        _scan_recall(scanned, _Piece(buffer, start, end), line, pattern, limits)
        if scanned.timed_out or (limits.want is not None and scanned.count >= limits.want):
            break
        if end < size:
            line += buffer.count(b"\n", start, end)
        start, wide = end, 3 * wide
    if scanned.numbers:
        scanned.data = bytes(memoryview(buffer)[:size])
    return scanned


def _scan_text(
    path: str, buffer: bytearray, size: int, pattern: Pattern, limits: Limits
) -> Scanned | None:
    plain = buffer.find(b"\0", 0, min(size, SNIFF_BYTES)) < 0 and not buffer.startswith(_UTF16)
    finders = _own_finders(pattern) if plain else ()
    if finders and all(finder.search(buffer, 0, size) is None for finder in finders):
        return _NOTHING
    data = bytes(memoryview(buffer)[:size])
    if is_binary(data):
        return None
    view = view_bytes(path, data)
    scanned = Scanned(view, recall=False)
    _match(scanned, view, pattern, limits)
    return scanned


class _Piece(NamedTuple):
    """Whole lines of a log, where they stand in the buffer."""

    buffer: bytearray
    start: int
    end: int

    def copy(self) -> bytes:
        return bytes(memoryview(self.buffer)[self.start : self.end])


def _scan_recall(
    scanned: Scanned, piece: _Piece, first: int, pattern: Pattern, limits: Limits
) -> None:
    """Match whole lines of a log, of which the first has the number `first`."""
    numbered = len(scanned.numbers) < limits.keep
    candidates = _candidates(piece, pattern, numbered)
    if candidates and pattern.inner and not numbered:
        # Only counted: a hit within the text of a plain line needs no view.
        judged = [(line, _in_text(piece.buffer, line, pattern)) for line in candidates]
        scanned.count += sum(verdict is True for _, verdict in judged)
        candidates = [line for line, verdict in judged if verdict is None]
    if candidates is None:
        raw = piece.copy()
        _match(scanned, recall_bytes(raw), pattern, limits, raw=raw, first=first)
    elif candidates:
        numbers = [number + first - 1 for number, _, _ in candidates]
        raw = b"\n".join([piece.buffer[start:end] for _, start, end in candidates]) + b"\n"
        _match(scanned, recall_bytes(raw), pattern, limits, raw=raw, numbers=numbers)


def _in_text(buffer: bytearray, line: tuple[int, int, int], pattern: Pattern) -> bool | None:
    """Say whether a raw line's text holds an inner pattern; None where only its view can tell."""
    _, start, end = line
    plain = PLAIN_LINE.match(buffer, start, end)
    if plain is None or pattern.regex.search(buffer, *plain.span(4)) is None:
        return None
    return not is_damaged(bytes(memoryview(buffer)[start:end]))


def _match(
    scanned: Scanned,
    view: bytes,
    pattern: Pattern,
    limits: Limits,
    *,
    raw: bytes | None = None,
    numbers: list[int] | None = None,
    first: int = 1,
) -> None:
    """Count the lines of `view` that match; each is judged once.

    `raw` holds the same lines as they stand in the file, so that damaged ones can be told. `numbers`
    are the lines' numbers in it; without them they count from `first`.
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
            scanned.numbers.append(numbers[line - 1] if numbers else line + first - 1)
        scanned.count += 1
        if scanned.count % _CHECK_EVERY == 0 and time.monotonic() > limits.deadline:
            scanned.timed_out = True
            return


def _offsets(raw: bytes) -> list[int]:
    lengths = map(len, raw.split(b"\n"))
    return list(itertools.accumulate(lengths, lambda total, n: total + n + 1, initial=0))


def _hides(raw: bytes, starts: list[int], line: int, view: bytes, start: int) -> bool:
    """Say whether a matched line is damaged, so that open shows it without its text."""
    damaged = is_damaged(raw[starts[line - 1] : starts[line] - 1])
    return damaged and not view.startswith(b"[unreadable", view.rfind(b"\n", 0, start) + 1)


def _candidates(
    piece: _Piece, pattern: Pattern, numbered: bool
) -> list[tuple[int, int, int]] | None:
    """Return (number, start, end) of the lines that can match; None where most or all can.

    Without `numbered` the numbers are 0: counting lines takes longer than finding a rare word.
    """
    finders = _finders(piece, pattern)
    if finders is None:
        return None
    buffer, at, last = piece
    most = -1
    found: list[tuple[int, int, int]] = []
    number, counted_to = int(numbered), at
    ahead = [-1] * len(finders)
    while at < last and (hit := _next_hit(finders, ahead, buffer, at, last)) < last:
        start = buffer.rfind(b"\n", at, hit) + 1 or at
        end = buffer.find(b"\n", hit, last)
        end = last if end < 0 else end
        if numbered:
            number += buffer.count(b"\n", counted_to, start)
            counted_to = start
        found.append((number, start, end))
        if len(found) > _FEW:
            most = buffer.count(b"\n", piece.start, last) // _DENSE if most < 0 else most
            if len(found) > most:
                return None
        at = end + 1
    return found


def _next_hit(finders: _Finders, ahead: list[int], buffer: bytearray, at: int, last: int) -> int:
    """Return where the first of the finders hits at or behind `at`; `last` where none does.

    `ahead` keeps each finder's next hit, so that each reads the data once.
    """
    for index, known in enumerate(ahead):
        if known < at:
            match = finders[index].search(buffer, at, last)
            ahead[index] = last if match is None else match.start()
    return min(ahead)


def _finders(piece: _Piece, pattern: Pattern) -> _Finders | None:
    """Return RE2s of which one hits in every raw line of a piece that can match.

    None where none are known. A lone literal is found ten times as fast as one of several, so each
    long one has its own, and escapes are looked for only where there is a backslash at all.
    """
    escapes = b""
    if piece.buffer.find(b"\\", piece.start, piece.end) >= 0:
        escapes = _ESCAPES[pattern.inner and pattern.bounded]
        if _finder_regex((escapes,), False).search(*piece) is None:
            escapes = b""
    extra: tuple[bytes, ...] = (escapes,) if escapes else ()
    if pattern.inner:
        if pattern.regex.search(_DAMAGE_WORDS.encode()):
            return None
        if pattern.digits or pattern.regex.search(_VIEW_SAMPLE):
            extra += _VIEW_RAW
        return (*_own_finders(pattern), *_others(extra))
    literals = pattern.literals
    if literals is None or any(word.lower() in _DAMAGE_WORDS for word in literals):
        return None
    if any(word.isdigit() or word.lower() in _VIEW_WORDS for word in literals):
        extra += _VIEW_RAW
    return (*_own_finders(pattern), *_others(extra))


@lru_cache(maxsize=64)
def _own_finders(pattern: Pattern) -> _Finders:
    """Return RE2s of which one hits in the raw bytes of every match (of one without an escape)."""
    literals = pattern.literals or ()
    telling = literals and (min(map(len, literals)) >= _LONG or not pattern.inner)
    if telling and not pattern.ignore_case and len(literals) <= _SEVERAL:
        return tuple(_finder_regex((word,), False) for word in _escaped(literals))
    if pattern.inner:
        return (pattern.regex,)
    return (_finder_regex(_escaped(literals), pattern.ignore_case),) if literals else ()


def _others(extra: tuple[bytes, ...]) -> _Finders:
    return (_finder_regex(extra, False),) if extra else ()


@lru_cache(maxsize=64)
def _escaped(words: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(re.escape(word.encode("utf-8", "replace")) for word in words)


@lru_cache(maxsize=64)
def _finder_regex(parts: tuple[bytes, ...], ignore_case: bool) -> Any:
    """Return an RE2 of alternatives."""
    import re2

    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.never_capture = True
    return re2.compile(b"|".join(parts), options)
