"""A core block as text: reading its file, and rewriting its value with every other byte kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from fsagent.errors import CorruptFile, ToolError
from fsagent.workspace import frontmatter
from fsagent.workspace.frontmatter import Document

SUFFIX = ".md"
DEFAULT_LIMIT = 5000
_MERGE_MARK = re.compile(r"^(?:<{7}|>{7}|\|{7}) ", re.M)


@dataclass(frozen=True, slots=True)
class Block:
    """A core block. `value` is its text without front matter, `limit` in characters.

    `path` names its file for people and messages; a `shared` block lies in the mounted folder.
    """

    label: str
    description: str
    value: str
    limit: int
    read_only: bool
    path: str
    shared: bool = False

    @property
    def size(self) -> int:
        """The value's characters."""
        return len(self.value)


def read_block(
    path: str, label: str, data: bytes, *, shared: bool = False
) -> tuple[Block, Document]:
    """Return a block of its file's bytes. Raises `CorruptFile` with the line for what is no block."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as err:
        line = data[: err.start].count(b"\n") + 1
        raise CorruptFile(path, "is not UTF-8 text; save it as UTF-8", line=line) from err
    mark = _MERGE_MARK.search(text)
    if mark is not None:
        line = text.count("\n", 0, mark.start()) + 1
        reason = "holds the marks of a merge that is not resolved; choose a side"
        raise CorruptFile(path, reason, line=line)
    document = frontmatter.parse(path, text)
    block = Block(
        label=label,
        description=str(document.meta.get("description") or ""),
        value=document.plain_body.strip("\n"),
        limit=_whole_number(path, document.meta, "limit", DEFAULT_LIMIT),
        read_only=_flag(path, document.meta, "read_only"),
        path=path,
        shared=shared,
    )
    return block, document


def new_block(description: str, limit: int, value: str, *, read_only: bool) -> bytes:
    """Return the file of a new block."""
    meta = {"description": description, "limit": limit, "read_only": read_only}
    body = plain(value).strip("\n")
    return frontmatter.dump(meta, f"{body}\n" if body else "").encode("utf-8", "replace")


def plain(text: str) -> str:
    """Return text with every line break as LF."""
    return text.replace("\r\n", "\n")


def added(value: str, content: str) -> str:
    """Return a value with a line added at its end."""
    return f"{value}\n{content.strip()}" if value else content.strip()


def replaced(label: str, value: str, old: str, new: str) -> str:
    """Return a value with `new` at the one place of `old`; an empty `new` takes whole lines away.

    Raises `ToolError` where `old` does not stand there exactly once.
    """
    old, new = plain(old), plain(new)
    _check_once(label, value, old)
    start = value.index(old)
    end = start + len(old)
    fills = (start == 0 or value[start - 1] == "\n") and value[end : end + 1] in ("", "\n")
    if not new and fills:
        if end < len(value):
            end += 1
        elif start > 0:
            start -= 1
    return value[:start] + new + value[end:]


def rewritten(document: Document, value: str, *, ended: bool) -> str:
    """Return a file's text with its value replaced; what stays of the value stays byte for byte.

    `ended` sees to a line break behind the value.
    """
    body = document.plain_body
    first = len(body) - len(body.lstrip("\n"))
    old = body.strip("\n")
    end = first + len(old)
    if not value and body[end : end + 1] == "\n":
        document = _spliced(document, end, end + 1, "")
    elif ended and value and body[end : end + 1] != "\n":
        document = _spliced(document, end, end, "\n")
    for start, stop, new in reversed(list(_splices(old, value))):
        document = _spliced(document, first + start, first + stop, new)
    return document.head + document.body


def _spliced(document: Document, start: int, end: int, new: str) -> Document:
    return replace(document, body=document.spliced(start, end, new)[len(document.head) :])


def _splices(old: str, new: str) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of `old` that differ, with what takes their place."""
    before, after = _with_ends(old), _with_ends(new)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield _trimmed(old, starts[i1], starts[i2], "".join(after[j1:j2]))


def _with_ends(text: str) -> list[str]:
    """Split on LF only, the ends kept."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + lines[-1:]


def _trimmed(old: str, start: int, end: int, new: str) -> tuple[int, int, str]:
    """Leave out of a replacement what is alike at its beginning and its end."""
    left = _alike(old[start:end], new)
    start, new = start + left, new[left:]
    right = _alike(old[start:end][::-1], new[::-1])
    return start, end - right, new[: len(new) - right]


def _alike(one: str, other: str) -> int:
    """Count the characters that two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _check_once(label: str, value: str, old: str) -> None:
    if not old:
        raise ToolError(
            f"Not written: old is empty; give the exact text to replace in block {label!r}, "
            f"which reads:\n{value}"
        )
    count = _count(value, old)
    if count == 0:
        raise ToolError(
            f"Not written: {old!r} does not stand in block {label!r}, which reads:\n{value}"
        )
    if count > 1:
        lines = [number for number, line in enumerate(value.split("\n"), 1) if old in line]
        where = f" on lines {', '.join(map(str, lines))}" if lines else ""
        raise ToolError(
            f"Not written: {old!r} stands {count} times in block {label!r}{where}; "
            f"give more of the text around the one you mean. It reads:\n{value}"
        )


def _count(text: str, old: str) -> int:
    """Count the places where `old` stands, those that overlap included."""
    count, at = 0, text.find(old)
    while at >= 0:
        count, at = count + 1, text.find(old, at + 1)
    return count


def _whole_number(path: str, meta: Mapping[str, Any], key: str, default: int) -> int:
    value = meta.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CorruptFile(path, f"{key} is {value!r}; write a whole number of characters")
    return value


def _flag(path: str, meta: Mapping[str, Any], key: str) -> bool:
    value = meta.get(key, False)
    if not isinstance(value, bool):
        raise CorruptFile(path, f"{key} is {value!r}; write true or false")
    return value
