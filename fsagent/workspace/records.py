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
from typing import Any, get_args

from fsagent.types import Role, ToolCall

CONTENT_KEY = b',"content":"'
_PREFIX = b'{"crc":"'
_PREFIX_LENGTH = len(_PREFIX) + 8 + len(b'",')
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ROLES = frozenset(get_args(Role))


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
    line = line.rstrip(b"\r\n")
    if line.startswith(_PREFIX):
        check = int(line[len(_PREFIX) : len(_PREFIX) + 8], 16)
        if zlib.crc32(line[_PREFIX_LENGTH:]) != check:
            raise ValueError("its checksum does not fit; the line was damaged or edited")
    shape = json.loads(line)
    if not isinstance(shape, dict):
        raise ValueError("it is not a JSON object")
    return _record(shape)


def _record(shape: dict[str, Any]) -> Record:
    role: Any = shape.get("role")
    if role not in _ROLES:
        raise ValueError(f"its role is {role!r}, not one of {', '.join(sorted(_ROLES))}")
    try:
        return Record(
            seq=int(shape.get("seq", 0)),
            ts=_text(shape, "ts"),
            turn=str(shape.get("turn", "")),
            role=role,
            name=str(shape.get("name", role)),
            content=_text(shape, "content"),
            session=shape.get("session"),
            kind=shape.get("kind"),
            model=shape.get("model"),
            source=shape.get("source"),
            tool_calls=tuple(
                ToolCall(str(call["id"]), str(call["name"]), str(call["arguments"]))
                for call in shape.get("tool_calls", ())
            ),
            tool_call_id=shape.get("tool_call_id"),
            usage=shape.get("usage"),
            images=tuple(str(caption) for caption in shape.get("images", ())),
            clamped=bool(shape.get("clamped", False)),
        )
    except (KeyError, TypeError) as err:
        raise ValueError(f"a field is missing or has the wrong type: {err}") from err


def _text(shape: dict[str, Any], key: str) -> str:
    value = shape.get(key)
    if not isinstance(value, str):
        raise ValueError(f"its {key!r} is not text")
    return value
