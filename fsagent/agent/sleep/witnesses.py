"""The lines a fact may rest on: those of the material, and older ones that citations name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fsagent.agent.sleep.material import Said, said_of
from fsagent.errors import PathRejected
from fsagent.memory.stance import takes_back
from fsagent.memory.support import share_of, unsupported_part
from fsagent.memory.words import content_words
from fsagent.memory.workspace import Workspace
from fsagent.workspace.references import split_reference
from fsagent.workspace.view import is_recall

MOST_CITES = 4
"""On how many lines together a fact may rest: words picked from many would support anything."""

_ANCHOR_SHARE = 0.5
"""The share of a fact's words that one of several lines has to hold."""

_RANGE = re.compile(r":(\d{1,9})-(\d{1,9})$")
_MOST_RANGE = 50


class Witnesses:
    """Finds lines by citation, and those that support a fact or take it back."""

    def __init__(self, workspace: Workspace, lines: Sequence[Said]) -> None:
        self._workspace = workspace
        self._lines = [line for line in lines if line.is_citable]
        self._found: dict[tuple[str, int], Said | None] = {
            (line.path, line.line): line for line in lines
        }
        self.speakers = content_words(" ".join({line.name for line in self._lines}))

    def named(self, cites: Iterable[str]) -> list[Said]:
        """Return the lines that citations such as `2026-11-29:14` or `2026-11-29:14-16` name.

        What does not resolve is left out.
        """
        return self.of(place for cite in cites for place in _places(cite.strip().strip("[]")))

    def of(self, places: Iterable[tuple[str, int]]) -> list[Said]:
        """Return the lines at these places that are there."""
        found = (self._at(path, line) for path, line in dict.fromkeys(places))
        return [said for said in found if said is not None]

    def supporting(self, words: str, lines: Sequence[Said]) -> list[Said]:
        """Return those of some lines that support a fact: alone, else a few of them together."""
        alone = [line for line in lines if self.missing(words, [line]) is None]
        if alone:
            return alone[-MOST_CITES:]
        shares = {line: share_of(words, line.source.told) for line in lines}
        some = [line for line, share in shares.items() if share > 0][-MOST_CITES:]
        anchored = any(shares[line] >= _ANCHOR_SHARE for line in some)
        return some if anchored and self.missing(words, some) is None else []

    def best(self, words: str) -> Said | None:
        """Return the person's line that supports a fact best, None where none does."""
        fit = [line for line in self._lines if self.missing(words, [line]) is None]
        return max(fit, key=lambda line: share_of(words, line.source.told), default=None)

    def missing(self, words: str, lines: Sequence[Said]) -> str | None:
        """Return what of a fact some lines do not support, None where they do."""
        return unsupported_part(words, [line.source for line in lines])

    def taking_back(self, words: str, cites: Iterable[str]) -> list[Said]:
        """Return the cited lines in which a person takes a fact back."""
        named = [line for line in self.named(cites) if line.is_citable]
        return [line for line in named if takes_back(line.text, words)][-MOST_CITES:]

    def _at(self, path: str, line: int) -> Said | None:
        if (path, line) not in self._found:
            self._found[path, line] = self._read(path, line)
        return self._found[path, line]

    def _read(self, path: str, line: int) -> Said | None:
        try:
            if not is_recall(path) or not self._workspace.tree.exists(path):
                return None
        except PathRejected:
            return None
        for number, record in self._workspace.recall.read(path):
            if number >= line:
                return next(said_of([(path, number, record)]), None) if number == line else None
        return None


def _places(cite: str) -> Iterator[tuple[str, int]]:
    path, first = split_reference(cite)
    if first is None:
        return
    span = _RANGE.search(cite)
    last = min(int(span[2]), first + _MOST_RANGE) if span else first
    yield from ((path, line) for line in range(first, max(first, last) + 1))
