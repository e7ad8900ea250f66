"""The line of a recall file: one JSON object, `crc` first and `content` last.

`crc` is the CRC-32 of every byte behind it up to the line's end. `content` stands last so that a
scan of raw bytes can tell text from header: the bytes `,"content":"` occur once in a line, since
quotes inside strings are escaped. Text stays readable UTF-8; U+2028, U+2029, U+0085 and controls
are escaped, so that no reader splits a record.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from fsagent.types import Role, ToolCall

CONTENT_KEY = b',"content":"'
_PREFIX = b'{"crc":"'
_PREFIX_LENGTH = len(_PREFIX) + 8 + len(b'",')
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_CRC = re.compile(rb"[0-9a-f]{8}")
_SEQ = re.compile(rb'"seq":([0-9]{1,15})[,}]')
_ROLES = frozenset(get_args(Role))
MAX_SEQ = 10**15


@dataclass(frozen=True, slots=True)
class Record:
    """One thing said or done. `ts` is ISO 8601 with offset; `seq` orders the whole workspace.

    `session` names a conversation; lines lend each other context only inside one. `kind` marks a
    turn's bookkeeping (begin, intent, result, end), which has no text. `source` says where an
    imported line came from. `images` holds captions. `clamped`: the clock had gone back.
    """

    seq: int
    ts: str
    turn: str
    role: Role
    name: str
    content: str
    session: str | None = None
    kind: str | None = None
    model: str | None = None
    source: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    usage: Mapping[str, Any] | None = None
    images: tuple[str, ...] = ()
    clamped: bool = False


def encode(record: Record) -> bytes:
    """Return the record as one line of UTF-8 JSON with its LF."""
    shape: dict[str, Any] = {"seq": record.seq, "ts": record.ts, "turn": record.turn}
    for key in ("session", "role", "name", "kind", "model", "source", "tool_call_id"):
        value = getattr(record, key)
        if value is not None:
            shape[key] = value
    if record.tool_calls:
        shape["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in record.tool_calls
        ]
    if record.usage is not None:
        shape["usage"] = dict(record.usage)
    if record.images:
        shape["images"] = list(record.images)
    if record.clamped:
        shape["clamped"] = True
    shape["content"] = record.content
    text = json.dumps(shape, ensure_ascii=False, separators=(",", ":"))
    rest = _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text[1:]).encode()
    return b'%s%08x",%s\n' % (_PREFIX, zlib.crc32(rest), rest)


def decode(line: bytes) -> Record:
    """Return the record of one line (LF optional).

    A line without a `crc` (written by hand) is read as it is. Raises ValueError with the reason
    for a line that is not a record or whose checksum does not fit.
    """
    return _record(decode_shape(line))


def decode_shape(line: bytes) -> dict[str, Any]:
    """Return the JSON object of one line, its checksum checked, its fields not. Raises ValueError."""
    line = line.rstrip(b"\r\n")
    if line.startswith(_PREFIX):
        check = line[len(_PREFIX) : len(_PREFIX) + 8]
        if not _CRC.fullmatch(check):
            raise ValueError("it has no whole checksum; the line was torn or edited")
        if zlib.crc32(line[_PREFIX_LENGTH:]) != int(check, 16):
            raise ValueError("its checksum does not fit; the line was damaged or edited")
    try:
        shape = json.loads(str(line, "utf-8"))
    except RecursionError as err:
        raise ValueError("it is nested too deeply") from err
    if not isinstance(shape, dict):
        raise ValueError("it is not a JSON object")
    return shape


def claimed_seq(line: bytes) -> int:
    """Return the `seq` a line gives in its header, readable or not; 0 where it gives none."""
    found = _SEQ.search(line)
    return int(found[1]) if found else 0


def _record(shape: dict[str, Any]) -> Record:
    role: Any = shape.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise ValueError(f"its role is {role!r}, not one of {', '.join(sorted(_ROLES))}")
    usage = shape.get("usage")
    if usage is not None and not isinstance(usage, dict):
        raise ValueError("its 'usage' is not an object")
    return Record(
        seq=_seq(shape.get("seq", 0)),
        ts=_moment(_text(shape, "ts")),
        turn=str(shape.get("turn", "")),
        role=role,  # type: ignore[arg-type]
        name=str(shape.get("name", role)),
        content=_text(shape, "content"),
        session=_optional(shape, "session"),
        kind=_optional(shape, "kind"),
        model=_optional(shape, "model"),
        source=_optional(shape, "source"),
        tool_calls=tuple(map(_tool_call, _items(shape, "tool_calls"))),
        tool_call_id=_optional(shape, "tool_call_id"),
        usage=usage,
        images=tuple(str(caption) for caption in _items(shape, "images")),
        clamped=bool(shape.get("clamped", False)),
    )


def _tool_call(shape: Any) -> ToolCall:
    try:
        return ToolCall(str(shape["id"]), str(shape["name"]), str(shape["arguments"]))
    except (KeyError, TypeError, IndexError) as err:
        raise ValueError("a tool call lacks its id, name or arguments") from err


def _seq(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MAX_SEQ:
        raise ValueError("its 'seq' is not a whole number")
    return value


def _moment(ts: str) -> str:
    """Return a time that all readers can slice and compare: ISO 8601, seconds, with its offset."""
    if len(ts) < len("2026-11-30T09:00:00Z") or ts[10] not in "T " or ts[4] != "-" or ts[13] != ":":
        raise ValueError("its 'ts' is not a time such as 2026-11-30T09:00:00+01:00")
    if datetime.fromisoformat(ts).tzinfo is None:
        raise ValueError("its 'ts' has no offset")
    return ts


def _items(shape: dict[str, Any], key: str) -> list[Any]:
    value = shape.get(key, [])
    if not isinstance(value, list):
        raise ValueError(f"its {key!r} is not a list")
    return value


def _optional(shape: dict[str, Any], key: str) -> str | None:
    return None if shape.get(key) is None else _text(shape, key)


def _text(shape: dict[str, Any], key: str) -> str:
    value = shape.get(key)
    if not isinstance(value, str):
        raise ValueError(f"its {key!r} is not text")
    return value
