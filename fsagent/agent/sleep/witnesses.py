"""The lines a fact may rest on: those of the material, and older ones that citations name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fsagent.agent.sleep.material import Said, said_of
from fsagent.memory.support import share_of, unsupported_part
from fsagent.memory.workspace import Workspace
from fsagent.workspace.references import split_reference
from fsagent.workspace.view import is_recall


class Witnesses:
    """Finds lines by citation, and the line that supports a fact best."""

    def __init__(self, workspace: Workspace, lines: Sequence[Said]) -> None:
        self._workspace = workspace
        self._lines = lines
        self._found: dict[tuple[str, int], Said | None] = {
            (line.path, line.line): line for line in lines
        }

    def named(self, cites: Iterable[str]) -> list[Said]:
        """Return the lines that citations such as `2026-11-29:14` name; what does not resolve is left out."""
        places = (split_reference(cite.strip().strip("[]")) for cite in cites)
        return self.of((path, line) for path, line in places if line is not None)

    def of(self, places: Iterable[tuple[str, int]]) -> list[Said]:
        """Return the lines at these places that are there."""
        found = (self._at(path, line) for path, line in dict.fromkeys(places))
        return [said for said in found if said is not None]

    def supporting(self, words: str) -> Said | None:
        """Return the person's line that supports a fact best, None where none does."""
        fit = [
            line
            for line in self._lines
            if line.is_citable and unsupported_part(words, [line.source]) is None
        ]
        return max(fit, key=lambda line: share_of(words, line.source.told), default=None)

    def _at(self, path: str, line: int) -> Said | None:
        if (path, line) not in self._found:
            self._found[path, line] = self._read(path, line)
        return self._found[path, line]

    def _read(self, path: str, line: int) -> Said | None:
        if not is_recall(path) or not self._workspace.tree.exists(path):
            return None
        for number, record in self._workspace.recall.read(path):
            if number == line:
                return next(said_of([(path, number, record)]), None)
        return None
