"""What changed on disk since the last commit: a stat scan, and a hash where size or time differ.

Nothing depends on events. A file whose time is as young as the scan itself is hashed again next
time, since it could change once more within the clock's tick.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fsagent.errors import PathRejected, WorkspaceError
from fsagent.workspace.locate import SETTINGS_NAME
from fsagent.workspace.paths import MOUNTED, canonical
from fsagent.workspace.tree import Entry, Tree
from fsagent.workspace.view import decode_text
from fsagent.workspace.watch import is_temporary

RECALL = "recall"
MAX_FILE_BYTES = 32 * 1024 * 1024
_TICK_NS = 50_000_000


@dataclass(frozen=True, slots=True)
class Change:
    """One file that differs: its bytes before and after, None where it is not there.

    `blob` is the object name of the bytes before, None for a new file.
    """

    path: str
    before: bytes | None
    after: bytes | None
    blob: str | None = None


@dataclass
class Seen:
    """What the last scan knew of each file: size, time, object name of its bytes.

    `fresh` counts what was learned since it was saved. `skipped` holds the files that are not
    committed and why, `held` what was found in the bytes of an object's name.
    """

    files: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    fresh: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)


def blob_name(data: bytes, algorithm: str) -> str:
    """Return the object name git gives these bytes."""
    return hashlib.new(algorithm, b"blob %d\0" % len(data) + data).hexdigest()


def changed_files(
    tree: Tree, tracked: Mapping[str, str], seen: Seen, entries: Iterator[Entry], *, within: str
) -> Iterator[Change]:
    """Yield the files among `entries` that differ from `tracked`, then those of `within` now gone.

    `tracked` maps paths to object names as committed. `within` is "recall", or "" for all else.
    `before` is left None: only the object's name is known here.
    """
    algorithm = hash_of(tracked.values())
    young = time.time_ns() - _TICK_NS
    present: set[str] = set()
    seen.skipped.clear()
    for entry in entries:
        present.add(entry.path)
        blob = tracked.get(entry.path)
        known = seen.files.get(entry.path)
        if known and blob and known == (entry.size, entry.mtime_ns, blob):
            continue
        data = _read(tree, entry, seen)
        if data is None:
            continue
        name = blob_name(data, algorithm)
        if entry.mtime_ns < young:
            seen.files[entry.path] = (entry.size, entry.mtime_ns, name)
            seen.fresh += 1
        if name != blob and not _is_held(tree, seen, entry.path, name, data):
            yield Change(entry.path, None, data, blob)
    for path in _gone(tree, tracked, present, within):
        seen.files.pop(path, None)
        yield Change(path, None, None, tracked[path])


def _is_held(tree: Tree, seen: Seen, path: str, name: str, data: bytes) -> bool:
    """Keep a file that holds a secret out of the history, which forgets nothing.

    Recall is clean by its only writer, and ids in it look drawn.
    """
    if in_recall(path):
        return False
    if name not in seen.held:
        found = tree.secrets.first(decode_text(data))
        seen.held[name] = f"holds a secret on line {found[0]} ({found[1]})" if found else ""
    reason = seen.held[name] or ("has a secret in its name" if tree.secrets.find(path) else "")
    if reason:
        seen.skipped[path] = f"{reason}; take it out, or allow it in secrets.yaml"
    return bool(reason)


def memory_files(tree: Tree) -> Iterator[Entry]:
    """Yield every file of memory but the recall log."""
    for entry in tree.list("."):
        if entry.path == RECALL:
            continue
        found = tree.walk(entry.path) if entry.is_dir else iter([entry])
        yield from (item for item in found if not is_temporary(item.path))


def is_instruction(path: str) -> bool:
    """Say whether a file of the workspace tells the agent how to work: a prompt or settings."""
    return path.startswith("prompts/") or path in (SETTINGS_NAME, "secrets.yaml")


def recall_files(tree: Tree) -> Iterator[Entry]:
    """Yield the files of the recall log."""
    if tree.is_dir(RECALL):
        yield from (item for item in tree.walk(RECALL) if not is_temporary(item.path))


def in_recall(path: str) -> bool:
    """Say whether a path lies in the recall log."""
    return path.startswith(RECALL + "/")


def own_paths(paths: Iterable[str]) -> frozenset[str]:
    """Leave out the mounted folder's files: each edit of those is in that folder's own history."""
    return frozenset(path for path in paths if not path.startswith(MOUNTED))


def is_governed(path: str) -> bool:
    """Say whether a committed path is one that we commit: no dot files, links, odd names."""
    try:
        return canonical(path) == path and not is_temporary(path)
    except PathRejected:
        return False


def _gone(tree: Tree, tracked: Mapping[str, str], present: set[str], within: str) -> Iterator[str]:
    for path in tracked.keys() - present:
        if in_recall(path) == (within == RECALL) and is_governed(path) and not _stands(tree, path):
            yield path


def _stands(tree: Tree, path: str) -> bool:
    """Say whether something is there that is no plain file of ours (a link, a folder)."""
    try:
        tree.stat(path)
    except PathRejected as err:
        return err.code != "MISSING" and not (err.code == "KIND" and _below_a_file(tree, path))
    return True


def _below_a_file(tree: Tree, path: str) -> bool:
    """Say whether a path is gone because a folder above it became a file."""
    return not tree.is_dir(path)


def _read(tree: Tree, entry: Entry, seen: Seen) -> bytes | None:
    if entry.size > MAX_FILE_BYTES:
        seen.skipped[entry.path] = f"is larger than {MAX_FILE_BYTES // 2**20} MiB"
        return None
    try:
        return tree.read_bytes(entry.path, limit=MAX_FILE_BYTES)
    except (PathRejected, WorkspaceError) as err:
        seen.skipped[entry.path] = str(err)
        return None


def hash_of(names: Iterable[str]) -> str:
    """Return the repository's hash; one made by us is SHA-1, a person may have made another."""
    return "sha256" if any(len(name) == 64 for name in names) else "sha1"
