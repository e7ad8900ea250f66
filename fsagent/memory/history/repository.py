"""The workspace's repository: what is committed, what differs on disk, and one more commit.

What the last scan saw is kept in `.fsagent/history/state.json`. It is derived: without it the
next commit reads the head's tree and hashes every file once.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath

from fsagent.memory.history.commits import (
    Author,
    Head,
    HeadMoved,
    PrivateIndex,
    advance,
    check_free,
    read_head,
    read_tip,
    update_persons_index,
    write_blobs,
    write_commit,
)
from fsagent.memory.history.git import Git, find_git, read_blobs
from fsagent.memory.history.place import Place, find_place, lay_repository
from fsagent.memory.history.scan import (
    RECALL,
    Change,
    Seen,
    changed_files,
    in_recall,
    memory_files,
    recall_files,
)
from fsagent.workspace.tree import Entry, Tree

LOCK = "history"
_TRIES = 3
_MANY = 50
_SMALL_BYTES = 64 * 1024
_MOST_RECENT = 64


@dataclass(frozen=True, slots=True)
class Scope:
    """What a commit looks at: all memory, or only `paths` of it (None: all), and these recall files."""

    memory: bool = True
    paths: frozenset[str] | None = None
    recall: tuple[str, ...] = ()


@dataclass
class _State:
    """What is committed at `head`, by path; the size of committed logs; what the last scan saw."""

    head: str = ""
    tracked: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    seen: Seen = field(default_factory=Seen)


class Repository:
    """The git side of a workspace. Raises `HistoryError` where git cannot do what was asked."""

    def __init__(self, tree: Tree, binary: str, *, hidden: bool = False) -> None:
        self.tree = tree
        self.place: Place = find_place(binary, tree.root, tree.derived, hidden=hidden)
        self.git = Git(binary, self.place.directory)
        self.folder = tree.derived / "history"
        self._index = PrivateIndex(self.git, self.folder)
        self._state: _State | None = None
        self._recent: dict[str, bytes | None] = {}
        self._stamp: tuple[int, int] = (0, 0)

    def exists(self) -> bool:
        """Say whether there is a history yet."""
        return (self.git.directory / "HEAD").is_file()

    def lay(self) -> None:
        """Make the repository where there is none."""
        lay_repository(self.git, self.tree.derived)
        self.folder.mkdir(parents=True, exist_ok=True)

    def head(self) -> Head:
        """Return the branch and its commit."""
        return read_head(self.git) if self.exists() else Head("", None)

    def tip(self) -> str | None:
        """Return the newest commit, on a detached head too; None before the first."""
        if not self.exists():
            return None
        return read_tip(self.git)

    def tracked(self, commit: str | None) -> dict[str, str]:
        """Return the object names of the files of a commit, by path; plain files only."""
        if commit is None:
            return {}
        found: dict[str, str] = {}
        listing = self.git.run("ls-tree", "-r", "-z", "--full-tree", commit)
        for line in listing.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            kind, _, path = line.partition("\t")
            mode, _, name = kind.split(" ")
            if mode.startswith("100"):
                found[path] = name
        return found

    def changes(self, scope: Scope) -> list[Change]:
        """Return what differs on disk from the last commit, with the bytes before and after."""
        with self.tree.lock(LOCK):
            return self._changes(self._load(self.tip()), scope)

    def commit(
        self,
        scope: Scope,
        message: Callable[[Sequence[Change]], str],
        *,
        author: Author,
        when: datetime,
    ) -> str | None:
        """Commit what differs and return the commit's name, None where nothing does.

        Files are read, never written. Raises `CommitsHeld` while the person's git is in the
        middle of something.
        """
        for attempt in range(_TRIES):
            try:
                with self.tree.lock(LOCK):
                    return self._commit(scope, message, author, when)
            except HeadMoved:
                if attempt == _TRIES - 1:
                    raise
        return None

    def snapshot(self) -> str | None:
        """Return the tree of memory as it is on disk now; recall as it was last committed."""
        with self.tree.lock(LOCK):
            tip = self.tip()
            if tip is None:
                return None
            state = self._load(tip)
            changes = self._memory_changes(state, None)
            if not changes:
                return self.git.text("rev-parse", f"{tip}^{{tree}}")
            return self._index.tree_of(self._entries(changes), base=tip)

    def reset(self) -> None:
        """Forget what is derived: private indexes and what the last scan saw."""
        for path in [*self.folder.glob("index*"), self.folder / "state.json"]:
            path.unlink(missing_ok=True)
        self._state = None
        self._recent.clear()

    def save(self) -> None:
        """Keep what the scans saw, so that the next process need not hash every file."""
        with self.tree.lock(LOCK):
            if self._state is not None:
                self._save(self._state)

    @property
    def skipped(self) -> Mapping[str, str]:
        """The files the last scan left out, with the reason."""
        return self._state.seen.skipped if self._state else {}

    # One commit, under the lock.

    def _commit(
        self,
        scope: Scope,
        message: Callable[[Sequence[Change]], str],
        author: Author,
        when: datetime,
    ) -> str | None:
        self.lay()
        check_free(self.git)
        head = read_head(self.git)
        state = self._load(head.id)
        changes = self._changes(state, scope)
        if not changes:
            return None
        entries = self._entries(changes)
        text = message(changes)
        tree = self._index.tree_of(entries, base=head.id)
        commit = write_commit(self.git, tree, head.id, text, author=author, when=when)
        advance(self.git, head, commit, text.partition("\n")[0])
        self._index.keep(commit)
        self._take_over(state, commit, changes, entries)
        update_persons_index(self.git, entries, commit)
        return commit

    def _take_over(
        self,
        state: _State,
        commit: str,
        changes: Sequence[Change],
        entries: Mapping[str, str | None],
    ) -> None:
        state.head = commit
        for change in changes:
            name = entries[change.path]
            if name is None or change.after is None:
                state.tracked.pop(change.path, None)
                state.sizes.pop(change.path, None)
                continue
            state.tracked[change.path] = name
            if len(change.after) <= _SMALL_BYTES:
                self._remember(name, change.after)
            if in_recall(change.path):
                state.sizes[change.path] = len(change.after)

    def _remember(self, name: str, data: bytes) -> None:
        """Keep a small file's bytes for its next change, which spares a process then."""
        self._recent[name] = data
        while len(self._recent) > _MOST_RECENT:
            self._recent.pop(next(iter(self._recent)))

    def _entries(self, changes: Sequence[Change]) -> dict[str, str | None]:
        contents = [change.after for change in changes if change.after is not None]
        names = iter(write_blobs(self.git, contents))
        return {change.path: None if change.after is None else next(names) for change in changes}

    # Scanning.

    def _changes(self, state: _State, scope: Scope) -> list[Change]:
        found = list(self._memory_changes(state, scope.paths)) if scope.memory else []
        if scope.recall:
            found += self._looked_at(state, scope.recall, within=RECALL)
        return self._with_bytes(found)

    def _memory_changes(self, state: _State, paths: frozenset[str] | None) -> Sequence[Change]:
        if paths is not None:
            return self._without_ignored(self._looked_at(state, paths, within=""))
        entries = memory_files(self.tree)
        found = list(changed_files(self.tree, state.tracked, state.seen, entries, within=""))
        if state.seen.fresh > _MANY:
            self._save(state)
        return self._without_ignored(found)

    def _looked_at(self, state: _State, paths: Iterable[str], *, within: str) -> list[Change]:
        """Return what differs among `paths` alone: no scan."""
        names = set(paths)
        tracked = {path: state.tracked[path] for path in names if path in state.tracked}
        return list(changed_files(self.tree, tracked, state.seen, self._stat(names), within=within))

    def _stat(self, paths: Iterable[str]) -> Iterator[Entry]:
        for path in sorted(paths):
            if self.tree.exists(path):
                info = self.tree.stat(path)
                yield Entry(path, info.size, info.mtime_ns, False)

    def _with_bytes(self, changes: Sequence[Change]) -> list[Change]:
        wanted = [change.blob for change in changes if change.blob is not None]
        unknown = [name for name in wanted if name not in self._recent]
        found = {**self._recent, **dict(zip(unknown, read_blobs(self.git, unknown), strict=True))}
        return [
            change if change.blob is None else replace(change, before=found[change.blob])
            for change in changes
        ]

    def _without_ignored(self, changes: Sequence[Change]) -> Sequence[Change]:
        """Leave out new files that the person's `.gitignore` names."""
        new = [change.path for change in changes if change.blob is None]
        folders = {folder for path in new for folder in PurePosixPath(path).parents}
        if not any((self.tree.root / folder / ".gitignore").exists() for folder in folders):
            return changes
        listed = self.git.run(
            "check-ignore",
            "-z",
            "--stdin",
            "--no-index",
            feed="".join(f"{path}\0" for path in new).encode(),
            variables={"GIT_WORK_TREE": str(self.tree.root), "GIT_LITERAL_PATHSPECS": "0"},
            allowed=(0, 1),
        )
        ignored = set(listed.decode().split("\0"))
        return [change for change in changes if change.path not in ignored]

    # State.

    def _load(self, head: str | None) -> _State:
        """Return the state at `head`: from memory, from disk, else from the head's tree."""
        stamp = self._file_stamp()
        if self._state is None or stamp != self._stamp:
            self._state, self._stamp = self._read_state(), stamp
        if self._state.head != (head or ""):
            self._state.head = head or ""
            self._state.tracked = self.tracked(head)
        return self._state

    def _read_state(self) -> _State:
        try:
            shape = json.loads((self.folder / "state.json").read_bytes())
            seen = {path: (item[0], item[1], item[2]) for path, item in shape["seen"].items()}
            return _State(shape["head"], dict(shape["tracked"]), dict(shape["sizes"]), Seen(seen))
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return _State()

    def _save(self, state: _State) -> None:
        shape: dict[str, object] = {
            "head": state.head,
            "tracked": state.tracked,
            "sizes": state.sizes,
        }
        shape["seen"] = state.seen.files
        with contextlib.suppress(OSError):
            temporary = self.folder / "state.next"
            temporary.write_text(json.dumps(shape, separators=(",", ":")), encoding="utf-8")
            temporary.replace(self.folder / "state.json")
            state.seen.fresh = 0
        self._stamp = self._file_stamp()

    def _file_stamp(self) -> tuple[int, int]:
        try:
            info = (self.folder / "state.json").stat()
        except OSError:
            return (0, 0)
        return info.st_mtime_ns, info.st_ino

    def recall_sizes(self) -> dict[str, tuple[int, int]]:
        """Return each recall file's size now and as committed (0: never)."""
        state = self._load(self.tip())
        unknown = [path for path in state.tracked if in_recall(path) and path not in state.sizes]
        for path, data in zip(
            unknown, read_blobs(self.git, [state.tracked[path] for path in unknown]), strict=True
        ):
            state.sizes[path] = len(data or b"")
        return {
            entry.path: (entry.size, state.sizes.get(entry.path, 0))
            for entry in recall_files(self.tree)
        }


def open_repository(tree: Tree, *, hidden: bool = False) -> Repository | None:
    """Return the repository of a tree, `hidden` in its `.fsagent`; None where there is no git."""
    binary = find_git()
    return Repository(tree, binary, hidden=hidden) if binary else None
