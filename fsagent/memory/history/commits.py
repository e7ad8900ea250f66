"""One commit by plumbing: objects, a private index, write-tree, commit-tree, update-ref.

`update-ref` gets the old value, so the commit is itself a compare-and-swap, and a stale
`index.lock` of a person's git does not matter.
"""

from __future__ import annotations

import contextlib
import logging
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from fsagent.errors import HistoryError
from fsagent.memory.history.git import Git
from fsagent.memory.history.place import under_way

_log = logging.getLogger(__name__)
_FEW = 4
_COMMIT = re.compile("[0-9a-f]{40}([0-9a-f]{24})?")


class CommitsHeld(HistoryError):
    """No commit just now: the person's git is in the middle of something. The edit stands."""


class HeadMoved(HistoryError):
    """Another commit came first; nothing was written. Read the head again and repeat."""


@dataclass(frozen=True, slots=True)
class Head:
    """The branch and its commit; `id` is None before the first."""

    ref: str
    id: str | None


@dataclass(frozen=True, slots=True)
class Author:
    """Whose commit it is."""

    name: str
    email: str


def read_head(git: Git) -> Head:
    """Return the branch and its commit. Raises `CommitsHeld` on a detached head."""
    ref = _branch(git)
    return Head(ref, _loose(git, ref) or _parsed(git, ref))


def read_tip(git: Git) -> str | None:
    """Return the newest commit, on a detached head too; None before the first."""
    with contextlib.suppress(CommitsHeld):
        return read_head(git).id
    return _parsed(git, "HEAD")


def _loose(git: Git, ref: str) -> str | None:
    """Return a branch's commit from its file, which spares a process; None where it is packed."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        name = (git.directory / ref).read_text(encoding="ascii").strip()
        if _COMMIT.fullmatch(name):
            return name
    return None


def _parsed(git: Git, name: str) -> str | None:
    return git.text("rev-parse", "-q", "--verify", name, allowed=(0, 1)) or None


def _branch(git: Git) -> str:
    """Return the branch's name: from the file, which spares a process, else from git."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        kind, _, name = (git.directory / "HEAD").read_text(encoding="utf-8").strip().partition(" ")
        # A repository of another format keeps a placeholder here.
        if kind == "ref:" and name.startswith("refs/heads/") and not name.endswith(".invalid"):
            return name
    ref = git.text("symbolic-ref", "-q", "HEAD", allowed=(0, 1))
    if not ref:
        raise CommitsHeld("HEAD is detached (a checkout of an old commit); git switch a branch")
    return ref


def check_free(git: Git) -> None:
    """Raise `CommitsHeld` while a merge or rebase of the person is under way."""
    why = under_way(git.directory)
    if why:
        raise CommitsHeld(f"{why}; finish or abort it with git")


def write_blobs(git: Git, contents: Sequence[bytes]) -> list[str]:
    """Store contents as objects and return their names; no filter ever sees them."""
    if len(contents) <= _FEW:
        return [
            git.run("hash-object", "-w", "--stdin", "--no-filters", feed=data).decode().strip()
            for data in contents
        ]
    parts = [
        b"blob\nmark :%d\ndata %d\n%b\n" % (number, len(data), data)
        for number, data in enumerate(contents, 1)
    ]
    parts += [b"get-mark :%d\n" % number for number in range(1, len(contents) + 1)]
    return git.run("fast-import", "--quiet", feed=b"".join(parts)).decode().split()


class PrivateIndex:
    """The index we build trees with: a file of ours that bears the name of the commit it stands at."""

    def __init__(self, git: Git, folder: Path) -> None:
        self._git, self._folder = git, folder
        self._next = folder / "index.next"

    def tree_of(self, entries: Mapping[str, str | None], *, base: str | None) -> str:
        """Return the tree of the commit `base` with `entries` put in (None: taken out).

        The index that gave it waits until `keep`.
        """
        for path in (self._next, self._folder / "index.next.lock"):
            path.unlink(missing_ok=True)
        try:
            shutil.copyfile(self._at(base), self._next)
            return self._tree_of(entries, base)
        except (OSError, HistoryError):
            self._next.unlink(missing_ok=True)
            self._run("read-tree", base or "--empty")
            return self._tree_of(entries, base)

    def keep(self, commit: str) -> None:
        """Take the index of the last `tree_of` as the one of `commit`."""
        self._next.replace(self._at(commit))
        for path in self._folder.glob("index-*"):
            if path != self._at(commit):
                path.unlink(missing_ok=True)

    def _at(self, commit: str | None) -> Path:
        return self._folder / f"index-{commit or 'none'}"

    def _tree_of(self, entries: Mapping[str, str | None], base: str | None) -> str:
        null = "0" * len(base or "0" * 40)
        lines = [
            f"0 {null}\t{path}\0" if name is None else f"100644 {name}\t{path}\0"
            for path, name in entries.items()
        ]
        self._run("update-index", "-z", "--index-info", feed="".join(lines).encode())
        return self._run("write-tree").decode().strip()

    def _run(self, *args: str, feed: bytes = b"") -> bytes:
        return self._git.run(*args, feed=feed, variables={"GIT_INDEX_FILE": str(self._next)})


def write_commit(
    git: Git, tree: str, parent: str | None, message: str, *, author: Author, when: datetime
) -> str:
    """Store a commit object and return its name; no branch moves yet."""
    date = f"{int(when.timestamp())} {when.strftime('%z') or '+0000'}"
    variables = {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.email,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": "fsagent",
        "GIT_COMMITTER_EMAIL": "fsagent@fsagent.invalid",
        "GIT_COMMITTER_DATE": date,
    }
    parents = ["-p", parent] if parent else []
    data = message.encode("utf-8", "replace")
    written = git.run("commit-tree", tree, *parents, feed=data, variables=variables)
    return written.decode().strip()


def advance(git: Git, head: Head, commit: str, subject: str) -> None:
    """Move the branch from where it was read to `commit`. Raises `HeadMoved` if it moved meanwhile."""
    old = head.id or "0" * len(commit)
    identity = {"GIT_COMMITTER_NAME": "fsagent", "GIT_COMMITTER_EMAIL": "fsagent@fsagent.invalid"}
    try:
        git.run(
            "update-ref", "-m", f"fsagent: {subject}", head.ref, commit, old, variables=identity
        )
    except HistoryError as err:
        if read_head(git) != head:
            raise HeadMoved(str(err)) from err
        raise


def update_persons_index(git: Git, entries: Mapping[str, str | None], commit: str) -> None:
    """Bring the person's own index along, so that `git status` is clean; a locked one is left."""
    if git.directory.name != ".git":
        return
    with contextlib.suppress(OSError):
        if (git.directory / "index.lock").exists():
            _log.debug("the index of the workspace's git is locked; left as it is")
            return
    try:
        if not (git.directory / "index").exists():
            git.run("read-tree", commit)
            return
        lines = [
            f"0 {'0' * len(commit)}\t{path}\0" if name is None else f"100644 {name}\t{path}\0"
            for path, name in entries.items()
        ]
        git.run("update-index", "-z", "--index-info", feed="".join(lines).encode())
    except HistoryError as err:
        _log.debug("the index of the workspace's git was not updated: %s", err)
