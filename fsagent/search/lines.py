"""Turn a ranked document into a hit: the line of its file that open shows, clipped."""

from __future__ import annotations

from collections.abc import Mapping

from fsagent.errors import PathRejected
from fsagent.search.analysis import Analyzer
from fsagent.search.clip import MAX_LINE_CHARS, clip_around
from fsagent.search.documents import documents_of
from fsagent.search.query import Query
from fsagent.search.snapshot import Snapshot
from fsagent.types import Hit
from fsagent.workspace.records import decode
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import is_recall, render, view_lines

_MIN_PREFIX = 3


class LineReader:
    """Reads the lines of hits, each file once."""

    def __init__(
        self, tree: Tree, snapshot: Snapshot, query: Query, exclude_turn: str | None
    ) -> None:
        self._tree, self._snapshot, self._query = tree, snapshot, query
        self._exclude_turn = exclude_turn
        self._data: dict[str, bytes] = {}
        self._analyzer = Analyzer("en")

    def hit(self, ordinal: int, score: float, features: Mapping[str, float] | None) -> Hit | None:
        """Return the hit of a document, None where it is to be left out or gone."""
        number, line = self._snapshot.documents.position(ordinal)
        path = self._snapshot.paths.get(number)
        if path is None:
            return None
        try:
            data = self._read(path)
        except PathRejected:
            return None
        if is_recall(path):
            return self._message(path, line, score, features)
        best = self._best_line(path, data, line)
        if best is None:
            return None
        text, clipped = self._clip(best[1])
        return Hit(path, best[0], text, score=score, clipped_line=clipped, features=features)

    def _message(
        self, path: str, line: int, score: float, features: Mapping[str, float] | None
    ) -> Hit | None:
        try:
            # Up to the line only: a day file may hold ten thousand.
            record = decode(self._data[path].split(b"\n", line)[line - 1])
        except (ValueError, IndexError):
            return None
        if self._exclude_turn is not None and record.turn == self._exclude_turn:
            return None
        text, clipped = self._clip(render(record))
        return Hit(
            path, line, text, record.ts, record.name, score, clipped_line=clipped, features=features
        )

    def _read(self, path: str) -> bytes:
        data = self._data.get(path)
        if data is None:
            data = self._data[path] = self._tree.read_bytes(path)
        return data

    def _best_line(self, path: str, data: bytes, start: int) -> tuple[int, str] | None:
        """Return the line of a passage that holds most of the question's terms."""
        passage = next((d for d in documents_of(path, data) if d.line == start), None)
        if passage is None:
            return None
        lines = view_lines(path, data)[start - 1 : start + passage.text.count("\n")]
        forms = {form for term in self._query.terms for form in term.forms}
        found = [len(forms & set(self._analyzer.analyze(text).terms)) for text in lines]
        shown = [index for index, text in enumerate(lines) if text.strip()]
        if not shown:
            return None
        best = max(shown, key=lambda index: (found[index], -index))
        return start + best, lines[best]

    def _clip(self, text: str) -> tuple[str, bool]:
        """Cut a long line to 400 characters around the first word of the question in it."""
        if len(text) <= MAX_LINE_CHARS:
            return text, False
        lowered = text.lower()
        places = [
            lowered.find(term.word[: max(_MIN_PREFIX, len(term.word) - 2)])
            for term in self._query.terms
        ]
        return clip_around(text, min((place for place in places if place >= 0), default=0))
