"""Read from a tool's result which lines of memory it showed, in order, and at what cost.

The format is that of our tools: a hit is `path:line: text`, a line around it `path-line- text`, and
an open window is `path lines 10-30 of 120` with `14: text` below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fsagent.tokens import estimate_text

_HIT = re.compile(r"^(?P<path>recall/[^:\n]+\.jsonl):(?P<line>\d+): ")
_AROUND = re.compile(r"^(?P<path>recall/\S+\.jsonl)-(?P<line>\d+)- ")
_WINDOW = re.compile(r"^(?P<path>\S.*) lines \d+-\d+ of \d+$")
_NUMBERED = re.compile(r"^(?P<line>\d+): ")

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Turns in the order they were shown first; `tokens[i]` is all that was shown by then."""

    dia_ids: tuple[str, ...]
    tokens: tuple[int, ...]
    total_tokens: int


def shown_turns(results: Iterable[str], dia_ids: Mapping[Place, str]) -> Ranked:
    """Return the turns that tool results showed; every line of a result costs its tokens."""
    order: dict[str, int] = {}
    spent = 0
    for result in results:
        window: str | None = None
        for line in result.split("\n"):
            spent += estimate_text(line + "\n")
            if found := _WINDOW.match(line):
                window = found["path"]
                continue
            place = _place(line, window)
            if place is not None and place in dia_ids:
                order.setdefault(dia_ids[place], spent)
    return Ranked(tuple(order), tuple(order.values()), spent)


def _place(line: str, window: str | None) -> Place | None:
    if found := _HIT.match(line) or _AROUND.match(line):
        return found["path"], int(found["line"])
    if window is not None and (found := _NUMBERED.match(line)):
        return window, int(found["line"])
    return None
