"""Know the damaged lines of recall without reading all of it each time.

A line that is no record stays in its file and is skipped by every reader; the person is told. What
was checked is remembered by size, time and checksum of the bytes, so a start costs one stat a day
file, and a day that grew costs its new lines. The memory of it is derived: without it all is read.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from fsagent.errors import PathRejected
from fsagent.memory.recall import BadLine
from fsagent.memory.recall_end import day_paths
from fsagent.workspace.records import decode
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import raw_lines

STATE = "recall-checked.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class _Checked:
    """What is known of a day file: its first `size` bytes, and which of their lines are damaged."""

    size: int
    mtime_ns: int
    crc: int
    lines: int
    bad: tuple[tuple[int, str], ...] = ()


def damaged_lines(tree: Tree) -> list[BadLine]:
    """Return the lines of recall that are no records, oldest first; a torn last line is not one."""
    known = _read(tree)
    now = {path: _look(tree, path, known.get(path)) for path in day_paths(tree)}
    if now != known:
        _write(tree, now)
    return [BadLine(path, line, why) for path, found in now.items() for line, why in found.bad]


def _look(tree: Tree, path: str, known: _Checked | None) -> _Checked:
    stat = tree.peek(path)
    if stat is None:
        return _Checked(0, 0, 0, 0)
    if known is not None and (stat.size, stat.mtime_ns) == (known.size, known.mtime_ns):
        return known
    try:
        data = tree.read_bytes(path)
    except PathRejected:
        return _Checked(0, 0, 0, 0)  # readers refuse it by name
    whole = memoryview(data)[: data.rfind(b"\n") + 1]
    if known is not None and zlib.crc32(whole[: known.size]) == known.crc:
        start, lines, bad = known.size, known.lines, known.bad
    else:
        start, lines, bad = 0, 0, ()
    fresh = raw_lines(bytes(whole[start:]))
    bad += tuple(_damaged(fresh, lines + 1))
    return _Checked(len(whole), stat.mtime_ns, zlib.crc32(whole), lines + len(fresh), bad)


def _damaged(lines: list[bytes], first: int) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, first):
        try:
            decode(line)
        except ValueError as err:
            yield number, str(err)


def _read(tree: Tree) -> dict[str, _Checked]:
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        shape: Mapping[str, Any] = json.loads(tree.state.read(STATE) or b"{}")
        if shape.get("version") == VERSION:
            return {path: _checked(one) for path, one in shape["files"].items()}
    return {}


def _checked(shape: Mapping[str, Any]) -> _Checked:
    return _Checked(**{**shape, "bad": tuple((int(line), str(why)) for line, why in shape["bad"])})


def _write(tree: Tree, now: Mapping[str, _Checked]) -> None:
    shape = {"version": VERSION, "files": {path: asdict(one) for path, one in now.items()}}
    data = json.dumps(shape, ensure_ascii=False, separators=(",", ":")).encode()
    with suppress(OSError):  # a folder that cannot be written is read all the same
        # State files are written in place: what a longer one had behind would stay.
        tree.state.write(STATE, data.ljust(len(tree.state.read(STATE) or b"")))
