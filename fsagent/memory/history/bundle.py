"""A whole workspace with its history in one file: a git bundle, which git itself can clone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fsagent.errors import HistoryError, PathRejected
from fsagent.memory.history.git import LONG_LIMIT_S, Git, find_git, read_blobs
from fsagent.memory.history.place import find_place, lay_repository
from fsagent.memory.history.repository import Repository
from fsagent.memory.history.scan import is_governed
from fsagent.workspace.locate import SETTINGS_NAME
from fsagent.workspace.tree import MAX_WRITE_BYTES, Tree

_BATCH = 200


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import laid down: files, commits, and names that were left out as unsafe."""

    files: int
    commits: int
    refused: tuple[str, ...]


def export_bundle(repository: Repository, target: Path) -> int:
    """Write the history with all files into `target` and return its size in bytes.

    The file appears whole or not at all. Commit everything first.
    """
    if not target.absolute().parent.is_dir():
        raise HistoryError(f"{target} cannot be written: there is no folder {target.parent}")
    temporary = target.with_name(f".{target.name}.part")
    try:
        repository.git.run(
            "bundle",
            "create",
            "-q",
            str(temporary.absolute()),
            "HEAD",
            "--branches",
            "--tags",
            limit_s=LONG_LIMIT_S,
        )
        temporary.replace(target)
    except OSError as err:
        raise HistoryError(f"{target} cannot be written: {err.strerror}") from err
    finally:
        temporary.unlink(missing_ok=True)
    return target.stat().st_size


def import_bundle(source: Path, root: Path) -> Imported:
    """Lay the workspace of a bundle into the empty folder `root`.

    Its files are written through the guarded tree, so a bundle made to harm cannot place a hook, a
    link or a path outside. Raises `HistoryError` where the folder is not empty or the file is none.
    """
    binary = find_git()
    if binary is None:
        raise HistoryError("there is no git on this machine; install git to import a bundle")
    if not source.is_file():
        raise HistoryError(f"{source} is not a file")
    if root.exists() and any(root.iterdir()):
        raise HistoryError(f"{root} is not empty; name a new folder")
    root.mkdir(parents=True, exist_ok=True)
    tree = Tree(root)
    try:
        git = Git(binary, find_place(binary, tree.root, tree.derived).directory)
        lay_repository(git, tree.derived)
        _fetch(git, source)
        return _lay_files(git, tree)
    finally:
        tree.close()


def _fetch(git: Git, source: Path) -> None:
    flags = {
        "fetch.fsckObjects": "true",
        "protocol.allow": "never",
        "protocol.file.allow": "always",
    }
    # The branch's place is checked out nowhere: git is told of no work tree.
    git.run(
        "fetch",
        "-q",
        "--no-write-fetch-head",
        "--update-head-ok",
        str(source.absolute()),
        "+refs/heads/*:refs/heads/*",
        "+refs/tags/*:refs/tags/*",
        flags=flags,
        limit_s=LONG_LIMIT_S,
    )
    branches = git.text("for-each-ref", "--format=%(refname)", "refs/heads").split()
    if branches and "refs/heads/main" not in branches:
        git.run("symbolic-ref", "HEAD", branches[0])


def _put(tree: Tree, path: str, data: bytes) -> None:
    """Write a new file of any size; one write of the tree has a limit."""
    for start in range(0, len(data) or 1, MAX_WRITE_BYTES):
        tree.append(path, data[start : start + MAX_WRITE_BYTES])


def _lay_files(git: Git, tree: Tree) -> Imported:
    repository = Repository(tree, git.binary)
    tracked = repository.tracked(repository.tip())
    if SETTINGS_NAME not in tracked:
        raise HistoryError(f"the bundle holds no workspace: there is no {SETTINGS_NAME} in it")
    paths = [path for path in sorted(tracked) if is_governed(path)]
    refused = [path for path in sorted(tracked) if not is_governed(path)]
    for start in range(0, len(paths), _BATCH):
        batch = paths[start : start + _BATCH]
        contents = read_blobs(git, [tracked[path] for path in batch])
        for path, data in zip(batch, contents, strict=True):
            try:
                _put(tree, path, data or b"")
            except PathRejected:
                refused.append(path)
    commits = int(git.text("rev-list", "--count", "HEAD"))
    if git.directory.name == ".git":
        git.run("read-tree", "HEAD")
    return Imported(len(paths), commits, tuple(refused))
