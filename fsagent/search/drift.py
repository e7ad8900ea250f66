"""Whether the index holds what the files hold: by hash, and by count of documents.

An index that merely waits for the next search is brought up first: only what catching up does not
see is drift. Where there is no index there is none to drift.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fsagent.errors import PathRejected
from fsagent.search.changes import MAX_FILE_BYTES
from fsagent.search.columns import load
from fsagent.search.documents import is_indexed
from fsagent.search.index import catch_up, open_index
from fsagent.search.manifest import MARK, Manifest, checksum, read_manifest, read_pointer
from fsagent.workspace.stamps import Stamps
from fsagent.workspace.tree import Tree


def drift(tree: Tree, language: str) -> Iterator[tuple[str, str]]:
    """Yield each path whose content the index does not hold, with what is wrong; the index's own
    damage under the path of its folder."""
    if read_pointer(tree.derived) is None:
        if (tree.derived / "index.json").exists():
            yield ".fsagent/index.json", "names an index that is not there"
        return
    if not catch_up(tree, language):
        return  # another process is writing it
    folder = read_pointer(tree.derived)
    manifest = read_manifest(folder) if folder else None
    if folder is None or manifest is None:
        yield ".fsagent/index.json", "the index cannot be read"
        return
    yield from _of_files(tree, manifest)
    yield from _of_counts(folder, manifest)


def _of_files(tree: Tree, manifest: Manifest) -> Iterator[tuple[str, str]]:
    there = {path for path in Stamps(tree).look() if is_indexed(path)}
    for path, entry in sorted(manifest.files.items()):
        if path not in there:
            yield path, "is in the index and not on the disk"
            continue
        try:
            data = tree.read_bytes(path, limit=MAX_FILE_BYTES)
        except PathRejected:
            continue
        if checksum(memoryview(data)[: entry.size]) != entry.crc:
            yield path, "is not what the index holds of it"
    for path in sorted(there - manifest.files.keys()):
        try:
            tree.read_bytes(path, limit=MAX_FILE_BYTES)
        except PathRejected:
            continue  # unreadable files are doctor's
        yield path, "is not in the index"


def _of_counts(folder: Path, manifest: Manifest) -> Iterator[tuple[str, str]]:
    name = f".fsagent/{folder.name}"
    if (folder / MARK).exists():
        yield name, "was left in the middle of a write"
    try:
        columns = load(folder, count=manifest.count, terms=manifest.terms, links=manifest.links)
        found = open_index(folder).searcher().num_docs
    except (OSError, ValueError) as err:
        yield name, f"cannot be read: {err}"
        return
    held = Counter(columns.files)
    live = sum(held[entry.number] for entry in manifest.files.values())
    if found != live:
        yield name, f"finds {found} documents where the files hold {live}"
