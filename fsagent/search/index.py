"""The index on disk: tantivy for candidates, columns for re-ranking, a manifest of what they hold.

`.fsagent/index.json` names the folder in force. One writer at a time holds the lock `index`;
readers hold none: they see the last commit until the next. Order of a commit: a mark, the columns,
tantivy, the manifest, the mark gone. Where the mark is found, what stands behind the manifest's
counts is dropped before anything is added. Files that are not what a commit wrote (`soundness.py`), and
columns of which most rows are dead, are built anew. Deleting `.fsagent/index*` loses nothing.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from fsagent.errors import WorkspaceLocked
from fsagent.search.analysis import Analysis, Analyzer
from fsagent.search.changes import Change, changes
from fsagent.search.columns import Appender, cut
from fsagent.search.documents import Document
from fsagent.search.manifest import (
    MANIFEST,
    MARK,
    Manifest,
    read_manifest,
    read_pointer,
    write_manifest,
    write_pointer,
)
from fsagent.search.rows import RowMaker
from fsagent.search.soundness import fault_of, stamps_of
from fsagent.workspace.stamps import Stamps
from fsagent.workspace.tree import Tree

LOCK = "index"
MANY_DEAD = 20_000
"""More dead rows than live ones and so many on top: time to build anew."""

_SMALL_HEAP_BYTES = 15_000_000
_LARGE_HEAP_BYTES = 120_000_000
_LARGE_BYTES = 4_000_000
_log = logging.getLogger(__name__)

Step = Callable[[str, int], None]
"""Told of progress: what is done ("mark", "file", "columns", "tantivy", "manifest", "merged", "done",
"pointer") and how much of it."""


def catch_up(
    tree: Tree, language: str, *, timeout_s: float = 10.0, on_step: Step | None = None
) -> bool:
    """Bring the index up to the files; make it where there is none. Return False where another holds the lock."""
    try:
        with tree.lock(LOCK, timeout_s=timeout_s):
            folder = read_pointer(tree.derived)
            manifest = read_manifest(folder) if folder else None
            if folder is None or manifest is None or not _goes_on(folder, manifest, language):
                _build(tree, language, on_step)
                return True
            _sweep(tree, folder)
            try:
                _Writer(tree, folder, manifest, on_step).run()
            except ValueError as err:  # what tantivy raises for files it cannot read
                _log.warning("the index is built anew: %s", err)
                _build(tree, language, on_step)
            return True
    except WorkspaceLocked:
        return False


def _goes_on(folder: Path, manifest: Manifest, language: str) -> bool:
    """Say whether an index can be added to; else it is built anew."""
    if manifest.language != language or manifest.count > 2 * manifest.live + MANY_DEAD:
        return False
    fault = fault_of(folder, manifest)
    if fault is not None:
        _log.warning("the index is built anew: %s", fault)
    return fault is None


def _sweep(tree: Tree, folder: Path) -> None:
    """Delete folders that a build left when it was killed."""
    for other in tree.derived.glob("index-*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


def rebuild(tree: Tree, language: str, *, on_step: Step | None = None) -> int:
    """Build the index anew beside the one in force, then swap; return the documents it holds."""
    with tree.lock(LOCK):
        return _build(tree, language, on_step)


def remove_index(tree: Tree) -> None:
    """Delete the index; the next search makes it again."""
    with tree.lock(LOCK):
        for path in tree.derived.glob("index*"):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def schema() -> Any:
    """Return tantivy's schema. `body` holds terms that analysis made, split at spaces."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("tag", tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("ordinal", fast=True)
    builder.add_integer_field("file", indexed=True)
    builder.add_integer_field("minute", fast=True)
    return builder.build()


@lru_cache(maxsize=4096)
def tags_of(path: str, speaker: str, kind: str) -> list[str]:
    """Return the exact terms that filters ask for: the file and its folders, the speaker, the kind."""
    tags = [f"p:{path}", f"k:{kind}"]
    tags += [f"p:{path[:at]}" for at, char in enumerate(path) if char == "/"]
    return [*tags, f"s:{speaker.lower()}"] if speaker else tags


def open_index(folder: Path) -> Any:
    """Return the tantivy index of a folder."""
    import tantivy

    return tantivy.Index.open(str(folder / "tantivy"))


def _build(tree: Tree, language: str, on_step: Step | None) -> int:
    """Build a new folder and put it in force. The lock is held."""
    import tantivy

    tree.derived.mkdir(exist_ok=True)
    folder = _free_folder(tree.derived)
    (folder / "tantivy").mkdir(parents=True)
    tantivy.Index(schema(), path=str(folder / "tantivy"))
    writer = _Writer(tree, folder, Manifest(language=language), on_step)
    writer.run()
    write_pointer(tree.derived, folder)
    writer.on_step("pointer", writer.manifest.count)
    _sweep(tree, folder)
    return writer.manifest.count


def _free_folder(derived: Path) -> Path:
    numbers = [int(p.name[6:]) for p in derived.glob("index-*") if p.name[6:].isdigit()]
    return derived / f"index-{max(numbers, default=0) + 1:04d}"


class _Writer:
    """One run of the writer over one folder. The lock is held."""

    def __init__(self, tree: Tree, folder: Path, manifest: Manifest, on_step: Step | None) -> None:
        self.tree, self.folder, self.manifest = tree, folder, manifest
        self.on_step: Step = on_step or (lambda what, done: None)
        self.appender = Appender(manifest.count, manifest.terms, manifest.crcs)
        self.rows = RowMaker(
            Analyzer(manifest.language), self.appender, manifest.speakers, self._add
        )
        self._writer: Any = None
        self._document: Any = None

    def run(self) -> None:
        """Write all changes in one commit; no change, no commit."""
        found = Stamps(self.tree).look()
        pending = changes(self.tree, self.manifest, found)
        first = next(pending, None)
        mark = self.folder / MARK
        crashed = mark.exists()
        if first is None and not crashed and (self.folder / MANIFEST).exists():
            return
        mark.touch()
        manifest = self.manifest
        self.on_step("mark", manifest.count)
        cut(self.folder, count=manifest.count, terms=manifest.terms, links=manifest.links)
        self._open(sum(size for size, _ in found.values()), crashed)
        for change in [] if first is None else _chain(first, pending):
            self._apply(change)
        self._commit()
        mark.unlink()
        self.on_step("done", manifest.count)

    def _open(self, size: int, crashed: bool) -> None:
        import tantivy

        known = sum(entry.size for entry in self.manifest.files.values())
        heap = _LARGE_HEAP_BYTES if size - known > _LARGE_BYTES else _SMALL_HEAP_BYTES
        index = open_index(self.folder)
        self._writer = index.writer(heap_size=heap, num_threads=1)
        self._document = tantivy.Document
        if crashed:
            behind = tantivy.Query.range_query(
                index.schema,
                "ordinal",
                tantivy.FieldType.Integer,
                lower_bound=self.manifest.count,
            )
            self._writer.delete_documents_by_query(behind)

    def _apply(self, change: Change) -> None:
        manifest = self.manifest
        if change.replaces is not None:
            self._writer.delete_documents_by_term("file", change.replaces)
        if change.entry is None:
            manifest.files.pop(change.path, None)
            return
        number = change.entry.number
        if number < 0:
            number, manifest.next_number = manifest.next_number, manifest.next_number + 1
        entry = self.rows.add(change, number)
        if entry is not None:
            manifest.files[change.path] = entry
        self.on_step("file", len(manifest.files))
        if len(self.appender.columns.ends) >= 100_000:
            self._write_columns()

    def _add(
        self, ordinal: int, number: int, path: str, document: Document, analysis: Analysis
    ) -> None:
        self._writer.add_document(
            self._document(
                body=analysis.body,
                tag=tags_of(path, document.speaker, document.kind),
                ordinal=ordinal,
                file=number,
                minute=document.minute,
            )
        )

    def _write_columns(self) -> None:
        self.manifest.links += len(self.appender.columns.links)
        self.appender.write(self.folder)

    def _commit(self) -> None:
        manifest = self.manifest
        self._write_columns()
        self.on_step("columns", self.appender.count)
        self._writer.commit()
        self.on_step("tantivy", self.appender.count)
        manifest.count, manifest.terms = self.appender.count, self.appender.term_count
        manifest.chunks += self.rows.chunks
        manifest.languages = sorted({*manifest.languages, *self.rows.languages})
        self._note()
        self.on_step("manifest", self.appender.count)
        self._writer.wait_merging_threads()
        if stamps_of(self.folder) != manifest.stamps:
            self._note()
        self.on_step("merged", self.appender.count)

    def _note(self) -> None:
        """Write the manifest, with what the files are now."""
        manifest = self.manifest
        manifest.crcs, manifest.stamps = self.appender.crcs, stamps_of(self.folder)
        manifest.live = open_index(self.folder).searcher().num_docs
        write_manifest(self.folder, manifest)


def _chain(first: Change, rest: Iterable[Change]) -> Iterable[Change]:
    yield first
    yield from rest
