"""Read the ways a line of memory is named: a path, `path:line`, a day, `2026-11-29:14`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_DAY = re.compile(r"(\d{4})-\d\d-\d\d(?:\.jsonl)?")
_BRACKETS = re.compile(r"\[([^\[\]\n]{3,400})\]")
_REFERENCE = re.compile(r"(?P<name>[^\s,;:][^,;:]*):(?P<line>\d+(?:-\d+)?)")
# "[at 6:30]" is no reference: a name has a folder or an ending.
_NAMED = re.compile(r"^[^/].*/|\.\w+$")
_LINE = re.compile(r"^(?P<name>.+?):(?P<line>\d+)(?:-\d+)?:?$")


def split_reference(text: str) -> tuple[str, int | None]:
    """Return the path and the line of a reference; a day names its recall file.

    No legal path holds a colon, so `path:14` is never ambiguous.
    """
    match = _LINE.match(text)
    name, line = (match["name"], int(match["line"])) if match else (text, None)
    return day_path(name) or name, line


def citation_name(path: str, line: int) -> str:
    """Return how a citation names a line: `2026-11-29:14`, `archival/notes/trip.md:3`."""
    name = path.rpartition("/")[2]
    return f"{name.removesuffix('.jsonl') if _DAY.fullmatch(name) else path}:{line}"


def day_path(name: str) -> str | None:
    """Return the recall file of a day such as `2026-11-29`, None where `name` is not a day."""
    match = _DAY.fullmatch(name)
    return f"recall/{match[1]}/{name.removesuffix('.jsonl')}.jsonl" if match else None


def references_in(text: str) -> Iterator[tuple[str, int]]:
    """Yield the path and line of every reference in brackets; a bracket may hold several."""
    for bracket in _BRACKETS.finditer(text):
        yield from references_of(bracket[1])


def references_of(inside: str) -> Iterator[tuple[str, int]]:
    """Yield the path and line of every reference in a bracket's text."""
    for match in _REFERENCE.finditer(inside):
        path, line = split_reference(match[0])
        if line is not None and _NAMED.search(path):
            yield path, line


def without_references(text: str) -> str:
    """Return a text without its brackets of references."""
    return _BRACKETS.sub(lambda bracket: "" if any(references_of(bracket[1])) else bracket[0], text)
