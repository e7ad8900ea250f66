"""One consistent view for a search: the last commit, and behind it what waits to be indexed."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fsagent.search.analysis import Analysis, Analyzer
from fsagent.search.changes import Change, changes
from fsagent.search.columns import Appender, Columns, Documents, Growing, load
from fsagent.search.documents import Document
from fsagent.search.index import open_index
from fsagent.search.manifest import MANIFEST, Manifest, read_manifest, read_pointer
from fsagent.search.rows import RowMaker
from fsagent.search.soundness import fault_of
from fsagent.workspace.stamps import CLOCK_GRAIN_NS, Stamp, Stamps
from fsagent.workspace.tree import Tree

_TRIES = 3
_log = logging.getLogger(__name__)

IndexStamp = tuple[str, int, int]
"""The folder in force, and time and inode of its manifest."""


@dataclass
class Commit:
    """What one commit of the index holds; empty where there is no index yet."""

    folder: Path | None
    stamp: IndexStamp
    manifest: Manifest
    columns: Columns
    searcher: Any = None
    schema: Any = None


@dataclass
class Snapshot:
    """A commit with its tail. Ordinals at or behind `commit.manifest.count` are the tail's."""

    commit: Commit
    documents: Documents
    paths: dict[int, str]
    speakers: list[str]
    languages: list[str]
    pending: list[Change]
    tail_postings: dict[int, list[int]] = field(default_factory=dict)
    tail_words: set[str] = field(default_factory=set)
    tail_terms: int = 0
    tail_chunks: int = 0

    @property
    def tail_count(self) -> int:
        """How many documents wait to be indexed."""
        return self.documents.count - self.documents.base

    @property
    def live_count(self) -> int:
        """How many documents can be found."""
        return self.commit.manifest.live + self.tail_count

    @property
    def dead_files(self) -> list[int]:
        """The numbers of files that the index holds and that are gone or changed since."""
        return [change.replaces for change in self.pending if change.replaces is not None]


class SnapshotSource:
    """Makes snapshots of a tree, keeping the commit and the tail while nothing changes."""

    def __init__(self, tree: Tree, language: str) -> None:
        self._tree, self._language = tree, language
        self._analyzer = Analyzer(language)
        self._commit: Commit | None = None
        self._snapshot: Snapshot | None = None
        self._key: object = None
        self._stamps = Stamps(tree)
        self._state: tuple[object, dict[str, Stamp]] | None = None
        self._settled = False

    def take(self) -> Snapshot:
        """Return a snapshot of the files as they are now."""
        commit = self._load_commit()
        started = time.time_ns()
        found = self._stamps.look()
        state = (commit.stamp, found)
        if self._snapshot is not None and self._settled and state == self._state:
            return self._snapshot
        pending = [c for c in changes(self._tree, commit.manifest, found) if _matters(c)]
        key = (commit.stamp, tuple((c.path, found.get(c.path), _mark(c)) for c in pending))
        if self._snapshot is None or key != self._key:
            self._snapshot, self._key = self._make(commit, pending), key
        # What was written just now may be written again with the same stamp: look closer next time.
        newest = max((mtime for _, mtime in found.values()), default=0)
        self._state, self._settled = state, newest + CLOCK_GRAIN_NS < started
        return self._snapshot

    def has_index(self) -> bool:
        """Say whether there is a sound index of this language to build on."""
        return self._load_commit().folder is not None

    def size_bytes(self) -> int:
        """Return how large the files are together."""
        return sum(size for size, _ in self._stamps.look().values())

    def _load_commit(self) -> Commit:
        # A writer may swap or merge what is being opened: look again where the pointer has moved.
        for _ in range(_TRIES):
            folder = read_pointer(self._tree.derived)
            stamp = _stamp(folder)
            if self._commit is not None and self._commit.stamp == stamp:
                return self._commit
            opened = self._open(folder, stamp)
            if opened is not None or _stamp(read_pointer(self._tree.derived)) == stamp:
                break
        self._commit = opened or Commit(None, stamp, Manifest(language=self._language), Growing())
        return self._commit

    def _open(self, folder: Path | None, stamp: IndexStamp) -> Commit | None:
        """Open a commit, the manifest first: tantivy is then at least as new as it."""
        manifest = read_manifest(folder) if folder else None
        if folder is None or manifest is None or manifest.language != self._language:
            return None
        fault = fault_of(folder, manifest)
        if fault is not None:
            _log.debug("the index is not used: %s", fault)
            return None
        try:
            columns = load(folder, count=manifest.count, terms=manifest.terms, links=manifest.links)
            index = open_index(folder)
            return Commit(folder, stamp, manifest, columns, index.searcher(), index.schema)
        except (OSError, ValueError) as err:
            _log.debug("the index cannot be opened: %s", err)
            return None

    def _make(self, commit: Commit, pending: list[Change]) -> Snapshot:
        manifest = commit.manifest
        appender = Appender(manifest.count, manifest.terms)
        speakers = list(manifest.speakers)
        postings: dict[int, list[int]] = {}
        words: set[str] = set()

        def collect(
            ordinal: int, number: int, path: str, document: Document, analysis: Analysis
        ) -> None:
            words.update(analysis.terms)
            for item in set(analysis.hashes):
                postings.setdefault(item, []).append(ordinal)

        rows = RowMaker(self._analyzer, appender, speakers, collect)
        paths = manifest.paths()
        number = manifest.next_number
        for change in pending:
            if change.replaces is not None:
                paths.pop(change.replaces, None)
            if change.entry is None:
                if change.replaces is None:
                    paths = {n: path for n, path in paths.items() if path != change.path}
                continue
            known = change.entry.number
            rows.add(change, number if known < 0 else known)
            if known < 0:
                paths[number] = change.path
                number += 1
        return Snapshot(
            commit=commit,
            documents=Documents(commit.columns, appender.columns),
            paths=paths,
            speakers=speakers,
            languages=sorted({*manifest.languages, *rows.languages}),
            pending=pending,
            tail_postings=postings,
            tail_words=words,
            tail_terms=len(appender.columns.terms),
            tail_chunks=rows.chunks,
        )


def _matters(change: Change) -> bool:
    """Say whether a change adds or takes away text; a new time alone does not."""
    return change.data is not None or change.entry is None


def _mark(change: Change) -> int | None:
    return change.entry.crc if change.entry else None


def _stamp(folder: Path | None) -> IndexStamp:
    if folder is None:
        return "", 0, 0
    try:
        info = (folder / MANIFEST).stat()
    except OSError:
        return "", 0, 0
    return folder.name, info.st_mtime_ns, info.st_ino
