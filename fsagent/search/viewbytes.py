"""The text view of a whole file as UTF-8 bytes: what grep's engine runs over.

Recall lines as recall writes them become text by one substitution over the file; only lines with
tool calls, captions, escapes or damage are decoded one by one (a JSON decode of each line costs
five times as much).
"""

from __future__ import annotations

import re
import zlib

from fsagent.workspace.view import decode_text, is_recall, render_line

_TEXT = rb'[^"\\\x00-\x1f]*'
PLAIN_LINE = re.compile(
    rb'^\{"crc":"[0-9a-f]{8}","seq":\d+,"ts":"([^"\\\x00-\x1f]{10})[^"\\\x00-\x1f]'
    rb'([^"\\\x00-\x1f]{5})' + _TEXT + rb'","turn":"' + _TEXT + rb'",'
    rb'(?:"session":"' + _TEXT + rb'",)?"role":"(?:user|assistant|system)",'
    rb'"name":"(' + _TEXT + rb')",(?:"(?:model|source)":"' + _TEXT + rb'",)*'
    rb'(?:"usage":\{[^{}\\\x00-\x1f]*\},)?(?:"clamped":true,)?'
    rb'"content":"(' + _TEXT + rb')"\}$',
    re.M,
)
"""A line as recall writes it, without escapes, tools and captions; its groups: day, time, name, text."""

_OTHER = re.compile(rb"^(?!\x01).*$", re.M)
# Breaks that recall escapes and a hand-written line may hold as they are.
_RARE = (b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\x01", b"\r")


def view_bytes(path: str, data: bytes) -> bytes:
    """Return the lines of `view_lines(path, data)` joined by LF, each ended by one."""
    if is_recall(path):
        return recall_bytes(data)
    if data.isascii() or _is_plain_utf8(data):
        text = data.replace(b"\r\n", b"\n")
    else:
        text = decode_text(data).replace("\r\n", "\n").encode("utf-8", "replace")
    if text.endswith(b"\r"):
        text = text[:-1]
    return text if not text or text.endswith(b"\n") else text + b"\n"


def recall_bytes(data: bytes) -> bytes:
    """Return raw recall lines as lines of text, their number kept."""
    if not data:
        return data
    whole = data if data.endswith(b"\n") else data + b"\n"
    if any(mark in data for mark in _RARE):
        return b"".join(map(_render, whole[:-1].split(b"\n")))
    text = PLAIN_LINE.sub(b"\x01\\1 \\2 \\3: \\4", whole[:-1])
    return _OTHER.sub(_render_match, text).replace(b"\x01", b"") + b"\n"


def is_damaged(line: bytes) -> bool:
    """Say whether a raw line's checksum does not fit (such a line is not shown as text)."""
    if not line.startswith(b'{"crc":"'):
        return False
    return b"%08x" % zlib.crc32(line[18:].rstrip(b"\r\n")) != line[8:16]


def _render_match(match: re.Match[bytes]) -> bytes:
    return render_line(match[0]).encode("utf-8", "replace")


def _render(line: bytes) -> bytes:
    return render_line(line).encode("utf-8", "replace") + b"\n"


def _is_plain_utf8(data: bytes) -> bool:
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
