"""Split a server-sent event stream into its events."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its `event:` name and its `data:` lines joined by newlines."""

    name: str
    data: str


def events(chunks: Iterable[bytes]) -> Iterator[Event | None]:
    """Yield each complete event of a stream of bytes; None stands for a comment (keep-alive).

    An event counts as complete at its blank line; what an aborted stream leaves behind is dropped.
    Some servers separate events by single newlines, so a line that starts `data:` after one whose
    JSON object is closed ends the event before it.
    """
    name = ""
    data: list[str] = []
    for line in _lines(chunks):
        if not line:
            if data:
                yield Event(name, "\n".join(data))
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "":
            yield None
        elif field == "event":
            name = value
        elif field == "error":  # llama.cpp writes its errors as a field of their own
            name, data = "error", [value]
        elif field == "data":
            if data and _whole(data) and value[:1] in "{[":
                yield Event(name, "\n".join(data))
                data = []
            data.append(value)


def _whole(data: list[str]) -> bool:
    return data[0][:1] == "{" and data[-1][-1:] == "}"


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    # Split on LF alone: U+2028 inside a JSON string is text, splitlines() would cut there.
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            # A byte order mark may open a stream; no field begins with one.
            yield line.removesuffix(b"\r").removeprefix(BOM_UTF8).decode("utf-8", "replace")
