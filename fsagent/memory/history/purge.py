"""Forgetting for good: files, log, index and history rewritten so that the text is nowhere.

The history is rewritten into a fresh repository beside the old one, which then takes its place:
nothing survives but what was copied on purpose, no reflog, no loose or unreachable object. A crash
on the way leaves the old repository or the new one in place; running it again finishes the work.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fsagent.errors import HistoryError
from fsagent.memory.history.commits import check_free, read_head
from fsagent.memory.history.git import LONG_LIMIT_S, Git
from fsagent.memory.history.needle import Needle
from fsagent.memory.history.place import MARK, lay_repository, swap_paths
from fsagent.memory.history.repository import LOCK, Repository
from fsagent.memory.history.scan import memory_files, recall_files
from fsagent.workspace.tree import MAX_WRITE_BYTES, Tree, sha256

RECALL_LOCK = "recall"
TURN_LOCK = "turn"
_KEPT = frozenset({"git", "locks", ".gitignore"})
_COPIED = ("config", "info/exclude", "info/attributes", "description")
_PATH_LINE = re.compile(rb"(?:M [0-7]{6} \S+|D) (.*)", re.S)


@dataclass(frozen=True, slots=True)
class Finding:
    """A file that holds the text: the lines that go (or become tombstones); `whole`: its name does."""

    path: str
    lines: tuple[int, ...]
    whole: bool = False


def find(tree: Tree, needle: Needle, *, recall: bool) -> list[Finding]:
    """Return the files that hold the text, in memory, or with `recall` in the log."""
    found = []
    for entry in recall_files(tree) if recall else memory_files(tree):
        lines = tuple(needle.lines_of(tree.read_bytes(entry.path)))
        whole = not recall and needle.in_name(entry.path)
        if lines or whole:
            found.append(Finding(entry.path, lines, whole))
    return found


def purge(repository: Repository, needle: Needle) -> None:
    """Take the text out of every file and out of the history. Commit outside edits first.

    Raises `WorkspaceLocked` while a turn is under way in another process.
    """
    tree = repository.tree
    check_possible(repository, needle)
    with tree.lock(TURN_LOCK, timeout_s=0), tree.lock(RECALL_LOCK), tree.lock(LOCK):
        fresh, old = swap_paths(tree.derived, repository.git.directory)
        for folder in (fresh, old):
            _remove(folder)
        fresh.parent.mkdir(parents=True, exist_ok=True)
        if repository.exists():
            rewrite(repository.git, fresh, needle, tree.derived)
        _scrub_files(tree, needle)
        if repository.exists():
            repository.git.directory.rename(old)
            fresh.rename(repository.git.directory)
            _remove(old)
        _clear_derived(tree, needle)
        repository.reset()
        if repository.git.directory.name == ".git" and repository.tip():
            repository.git.run("read-tree", "HEAD")


def check_possible(repository: Repository, needle: Needle) -> None:
    """Raise `HistoryError` where the text could live on somewhere a rewrite does not reach."""
    directory = repository.git.directory
    if repository.exists():
        check_free(repository.git)
        read_head(repository.git)
        if (directory / "worktrees").is_dir() and any((directory / "worktrees").iterdir()):
            raise HistoryError("this history has linked worktrees; remove them with git first")
        if (directory / "objects" / "info" / "alternates").exists():
            raise HistoryError("this history borrows objects of another repository (alternates)")
        refs = repository.git.text("for-each-ref", "--format=%(refname)").split("\n")
        named = next((ref for ref in refs if needle.in_name(ref)), None)
        if named:
            raise HistoryError(f"the name {named} holds the text; rename it with git first")
    for entry in [*memory_files(repository.tree), *recall_files(repository.tree)]:
        if entry.size > MAX_WRITE_BYTES and needle.in_bytes(repository.tree.read_bytes(entry.path)):
            raise HistoryError(f"{entry.path} holds the text and is too large to rewrite; split it")


def rewrite(old: Git, fresh: Path, needle: Needle, derived: Path) -> None:
    """Write the history of `old` without the text into a new repository at `fresh`."""
    new = Git(old.binary, fresh)
    lay_repository(new, derived)
    with (
        old.pipe(
            "fast-export",
            "--all",
            "--signed-tags=strip",
            "--tag-of-filtered-object=drop",
            "--reencode=yes",
            "--use-done-feature",
        ) as source,
        new.pipe("fast-import", "--quiet", "--done", "--force") as target,
    ):
        assert source.stdout and source.stdin and target.stdin
        source.stdin.close()
        for piece in _rewritten(source.stdout, needle):
            target.stdin.write(piece)
        target.stdin.close()
    new.run("symbolic-ref", "HEAD", read_head(old).ref)
    for name in _COPIED:
        _copy_clean(old.directory / name, fresh / name, needle)
    for hook in (old.directory / "hooks").glob("*"):
        _copy_clean(hook, fresh / "hooks" / hook.name, needle)
    new.run("config", "core.bare", "false" if old.directory.name == ".git" else "true")
    (fresh / MARK).touch()
    # Blobs of files whose names were dropped are on no tree any more.
    new.run("reflog", "expire", "--expire=now", "--all")
    new.run("gc", "-q", "--prune=now", limit_s=LONG_LIMIT_S)
    new.run("fsck", "--connectivity-only", limit_s=LONG_LIMIT_S)


def _rewritten(stream: IO[bytes], needle: Needle) -> Iterator[bytes]:
    """Yield the pieces of an export with blobs, messages, names and paths cleaned."""
    in_blob = False
    for line in iter(stream.readline, b""):
        if line.startswith(b"data "):
            data = stream.read(int(line[5:]))
            clean = needle.scrub(data) if in_blob else needle.scrub_message(data)
            yield b"data %d\n%b" % (len(clean), clean)
            continue
        if line.startswith((b"blob", b"commit ", b"tag ", b"reset ")):
            in_blob = line.startswith(b"blob")
        path = _PATH_LINE.fullmatch(line.rstrip(b"\n"))
        if path and needle.in_name(_unquoted(path[1])):
            continue
        if line.startswith((b"author ", b"committer ", b"tagger ")) and needle.in_bytes(line):
            head, _, rest = line.partition(b" ")
            yield b"%b fsagent <person@fsagent.invalid>%b" % (head, rest.rpartition(b">")[2])
        else:
            yield line


def _unquoted(path: bytes) -> str:
    """Return a path of the export stream as text; one with odd characters comes C-quoted."""
    if path.startswith(b'"'):
        return (
            path[1:-1]
            .decode("unicode_escape", "replace")
            .encode("latin-1", "replace")
            .decode("utf-8", "replace")
        )
    return path.decode("utf-8", "replace")


def _scrub_files(tree: Tree, needle: Needle) -> None:
    for entry in [*memory_files(tree), *recall_files(tree)]:
        if needle.in_name(entry.path) and not entry.path.startswith("recall/"):
            tree.remove(entry.path)
            continue
        data = tree.read_bytes(entry.path)
        clean = needle.scrub(data)
        if clean != data:
            tree.replace(entry.path, clean, expect=sha256(data))


def _clear_derived(tree: Tree, needle: Needle) -> None:
    """Delete what is derived (an index holds words in no form a scan could see) and what holds it."""
    for path in tree.derived.iterdir():
        if path.name in _KEPT:
            continue
        if path.name.startswith("index") or path.name in ("history", "recall.json"):
            _remove(path)
            continue
        for file in [path, *path.rglob("*")]:
            if file.is_file() and (needle.in_name(file.name) or needle.in_bytes(file.read_bytes())):
                file.unlink()


def _copy_clean(source: Path, target: Path, needle: Needle) -> None:
    if source.is_file() and not needle.in_bytes(source.read_bytes()):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def count_lines(findings: Sequence[Finding]) -> int:
    """Return how many lines the findings name."""
    return sum(len(finding.lines) for finding in findings)
