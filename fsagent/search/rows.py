"""Turn changed files into rows of the columns: the same for the index and for what waits before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fsagent.search.analysis import Analysis, Analyzer
from fsagent.search.changes import Change
from fsagent.search.columns import Appender, Row, chunked
from fsagent.search.documents import KINDS, Document, documents_of
from fsagent.search.manifest import IndexedFile

KIND_SHIFT = 8
Sink = Callable[[int, int, str, Document, Analysis], None]
"""Receives ordinal, file number, path, document and analysis of each row."""


class RowMaker:
    """Adds the documents of changed files to an appender. `sink` sees each one."""

    def __init__(
        self, analyzer: Analyzer, appender: Appender, speakers: list[str], sink: Sink
    ) -> None:
        self.analyzer, self.appender, self.speakers, self.sink = analyzer, appender, speakers, sink
        self.languages: set[str] = set()
        self.chunks = 0
        self._speaker_numbers = {name: number for number, name in enumerate(speakers)}

    def add(self, change: Change, number: int) -> IndexedFile | None:
        """Add a change's documents under a file number; return the entry for the manifest."""
        entry = change.entry
        if entry is None or change.data is None:
            return entry
        documents = documents_of(change.path, change.data, first_line=change.first_line)
        ordinals: dict[int, int] = {}
        for index, place, cut_after in chunked([item.session for item in documents]):
            document = documents[index]
            after = ordinals[cut_after] if cut_after is not None else None
            if place == 0:
                self.chunks += 1
                if after is None and change.first_line > 1 and document.session == entry.session:
                    after = entry.last if entry.last >= 0 else None
            ordinals[index] = self._row(change.path, number, document, place, after)
        entry = replace(entry, number=number)
        if documents:
            last = len(documents) - 1
            entry.last, entry.session = ordinals[last], documents[last].session
        return entry

    def _row(
        self, path: str, number: int, document: Document, place: int, after: int | None
    ) -> int:
        text = f"{document.lead}\n{document.text}" if document.lead else document.text
        analysis = self.analyzer.analyze(text)
        self.languages.add(analysis.language)
        row = Row(
            hashes=analysis.hashes,
            file=number,
            line=document.line,
            minute=document.minute,
            speaker=self._speaker(document.speaker),
            flags=analysis.flags | KINDS.index(document.kind) << KIND_SHIFT,
            place=place,
            after=after,
        )
        ordinal = self.appender.add(row)
        self.sink(ordinal, number, path, document, analysis)
        return ordinal

    def _speaker(self, name: str) -> int:
        number = self._speaker_numbers.get(name)
        if number is None:
            if len(self.speakers) >= 0xFFFF:  # the column holds 16 bits; the rest go without a name
                return 0
            number = len(self.speakers)
            self.speakers.append(name)
            self._speaker_numbers[name] = number
        return number
