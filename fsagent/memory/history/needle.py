"""A text to forget: finding it in words, records, names and raw bytes, and taking its lines out.

It is found whatever the case, the spacing (a line break inside it too), the Unicode form (NFC, NFD),
escaped as in JSON, and in UTF-16. A whole line goes, since half a sentence may still tell.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fsagent.errors import HistoryError
from fsagent.workspace.records import Record, decode, encode
from fsagent.workspace.view import is_binary

FORGOTTEN = "[forgotten]"
KIND = "forgotten"
_GAP = r"(?:\s|\\+(?:[nrt]|u[0-9a-f]{4}))+"
_NAME_GAP = r"[\W_]+"
_LOG_START = b'{"crc":"'
_NOBODY = Record(0, "1970-01-01T00:00:00+00:00", "", "system", "system", FORGOTTEN, kind=KIND)
_LEAST = 3


class Needle:
    """One text to forget. Raises `HistoryError` for a text too short to be meant."""

    def __init__(self, text: str) -> None:
        words = text.split()
        if sum(map(len, words)) < _LEAST:
            raise HistoryError(
                f"{text!r} is too short to forget; give at least {_LEAST} characters"
            )
        self._pattern = _any_of(_GAP, words)
        self._names = _any_of(_NAME_GAP, re.findall(r"\w+", text) or words)

    def in_text(self, text: str) -> bool:
        """Say whether it stands in a text."""
        return self._pattern.search(text) is not None

    def in_name(self, name: str) -> bool:
        """Say whether it stands in a file's name, as a slug too."""
        return self._names.search(name) is not None

    def in_bytes(self, data: bytes) -> bool:
        """Say whether it stands in raw bytes, read as UTF-8 and, where there are NULs, as UTF-16."""
        if self.in_text(data.decode("utf-8", "replace")):
            return True
        if b"\0" not in data:
            return False
        return any(
            self.in_text(data[start:].decode(encoding, "replace"))
            for encoding in ("utf-16-le", "utf-16-be")
            for start in (0, 1)
        )

    def scrub(self, data: bytes) -> bytes:
        """Return a file's bytes without it: lines taken out, records of a log made tombstones."""
        if not self.in_bytes(data):
            return data
        if data.startswith(_LOG_START):
            lines = data.split(b"\n")
            return b"\n".join(
                self._tombstone(line) if self.in_bytes(line) else line for line in lines
            )
        if is_binary(data):
            return b""
        encoding = _encoding(data)
        kept = self._without_lines(data.decode(encoding, "surrogateescape"))
        clean = kept.encode(encoding, "surrogateescape")
        return b"" if self.in_bytes(clean) else clean

    def scrub_message(self, message: bytes) -> bytes:
        """Return a commit's message without it: the subject becomes a mark, other lines go."""
        if not self.in_bytes(message):
            return message
        subject, _, rest = message.decode("utf-8", "replace").partition("\n")
        lines = [line for line in rest.split("\n") if not self.in_text(line)]
        subject = FORGOTTEN if self.in_text(subject) else subject
        clean = "\n".join([subject, *lines]).encode()
        return f"{FORGOTTEN}\n".encode() if self.in_bytes(clean) else clean

    def lines_of(self, data: bytes) -> Iterator[int]:
        """Yield the numbers of the lines that hold it."""
        if not self.in_bytes(data):
            return
        if data.startswith(_LOG_START):
            for number, line in enumerate(data.split(b"\n"), 1):
                if self.in_bytes(line):
                    yield number
            return
        text = data.decode(_encoding(data), "surrogateescape")
        yield from sorted(number + 1 for number in self._touched(text))

    def _without_lines(self, text: str) -> str:
        touched = self._touched(text)
        lines = text.split("\n")
        return "\n".join(line for number, line in enumerate(lines) if number not in touched)

    def _touched(self, text: str) -> set[int]:
        """Return the line numbers, from 0, that any match touches."""
        touched: set[int] = set()
        for match in self._pattern.finditer(text):
            first = text.count("\n", 0, match.start())
            touched.update(range(first, first + match[0].count("\n") + 1))
        return touched

    def _tombstone(self, line: bytes) -> bytes:
        """Return a record that keeps the line's place, order and role, and says nothing."""
        try:
            record = decode(line)
        except ValueError:
            return encode(_NOBODY).rstrip(b"\n")
        bare = replace(
            _NOBODY,
            seq=record.seq,
            ts=record.ts,
            turn=record.turn,
            role=record.role,
            name=record.role,
            session=record.session,
        )
        clean = encode(bare).rstrip(b"\n")
        return (
            encode(replace(bare, turn="", session=None)).rstrip(b"\n")
            if self.in_bytes(clean)
            else clean
        )


def _any_of(gap: str, words: list[str]) -> re.Pattern[str]:
    """Return a pattern for the words in each Unicode form, plain or escaped as JSON escapes."""
    forms: dict[str, None] = {}
    for form in ("NFC", "NFD"):
        normal = [unicodedata.normalize(form, word) for word in words]
        for ascii_only in (False, True):
            spelled = [_json(word, ascii_only=ascii_only) for word in normal]
            # Escaped twice (JSON in JSON) there are more backslashes.
            escaped = [re.escape(word).replace(r"\\", r"\\+") for word in spelled]
            forms[gap.join(escaped)] = None
        forms[gap.join(map(re.escape, normal))] = None
    return re.compile("|".join(forms), re.I)


def _json(word: str, *, ascii_only: bool) -> str:
    escaped: Any = json.dumps(word, ensure_ascii=ascii_only)
    return str(escaped)[1:-1]


def _encoding(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    return "utf-8"
