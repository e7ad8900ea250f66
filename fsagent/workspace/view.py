"""The text view: the lines that open shows, grep matches, search cites. One numbering, the file's own.

A recall line is shown as `2026-11-29 13:56 Caroline: text`, never as JSON. Tool calls and results
are shown as a summary without their words, so that memory does not find its own echo.
"""

from __future__ import annotations

import re

from fsagent.workspace.records import Record, decode

NEWLINE_MARK = " ⏎ "
UNREADABLE = "[unreadable record]"
TEXT_SUFFIXES = (
    ".md",
    ".markdown",
    ".txt",
    ".jsonl",
    ".csv",
    ".json",
    ".yaml",
    ".yml",
    ".rst",
    ".org",
)
SNIFF_BYTES = 8192
_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def is_recall(path: str) -> bool:
    """Say whether a path is a recall day file."""
    return path.startswith("recall/") and path.endswith(".jsonl")


def is_text_path(path: str) -> bool:
    """Say whether a path has the ending of a text file."""
    return path.lower().endswith(TEXT_SUFFIXES)


def is_binary(data: bytes) -> bool:
    """Say whether bytes are not text: a NUL in the first 8 kB and no UTF-16 mark."""
    return b"\0" in data[:SNIFF_BYTES] and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def view_lines(path: str, data: bytes) -> list[str]:
    """Return a file's lines as text, the first being line 1; a last empty line does not count."""
    if is_recall(path):
        return [render_line(line) for line in raw_lines(data)]
    text = decode_text(data)
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def raw_lines(data: bytes) -> list[bytes]:
    """Split a log on LF only; a last empty piece does not count."""
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return lines


def decode_text(data: bytes) -> str:
    """Return bytes as text: UTF-8, or UTF-16 with its mark; invalid bytes become U+FFFD."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding, "replace")
    return data.decode("utf-8", "replace")


def render_line(line: bytes) -> str:
    """Return one line of a recall file as text; a damaged line says so."""
    try:
        return render(decode(line))
    except ValueError:
        return UNREADABLE


def render(record: Record) -> str:
    """Return a record as the one line of text that every tool shows; bookkeeping is empty."""
    if record.kind is not None:
        return ""
    return f"{prefix(record)}{body(record)}"


def prefix(record: Record) -> str:
    """Return what stands before a record's words: date, time and speaker."""
    return f"{record.ts[:10]} {record.ts[11:16]} {_one_line(record.name)}: "


def body(record: Record) -> str:
    """Return a record's words as one line, with captions and a summary of tool use."""
    if record.role == "tool":
        return f"[result of {_one_line(record.name)}, {len(record.content)} characters]"
    parts = [_one_line(record.content)] if record.content else []
    parts += [f"[image: {_one_line(caption)}]" for caption in record.images]
    parts += [f"[called {_one_line(call.name)}]" for call in record.tool_calls]
    return " ".join(parts)


def _one_line(text: str) -> str:
    if text.isprintable():
        return text
    text = _BREAKS.sub(NEWLINE_MARK, text)
    return text.encode("utf-8", "replace").decode("utf-8")
