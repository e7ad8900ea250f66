"""The scan that ends a purge: every object of the history and every file must not hold the text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fsagent.memory.history.git import Git
from fsagent.memory.history.needle import Needle
from fsagent.memory.history.repository import Repository


@dataclass(frozen=True, slots=True)
class Sweep:
    """How much was looked at, and where the text still stands."""

    objects: int
    files: int
    found: tuple[str, ...]


def sweep(repository: Repository, needle: Needle) -> Sweep:
    """Look at every object, reachable or not, and at every file of the workspace and its git."""
    objects = 0
    found: list[str] = []
    if repository.exists():
        for name, kind, data in every_object(repository.git):
            objects += 1
            if _object_holds(needle, kind, data, len(name) // 2):
                found.append(f"{kind} {name}")
    files = 0
    for path in _files(repository):
        files += 1
        relative = path.relative_to(repository.tree.root).as_posix()
        if needle.in_name(relative) or _file_holds(needle, path):
            found.append(relative)
    return Sweep(objects, files, tuple(found))


def every_object(git: Git) -> Iterator[tuple[str, str, bytes]]:
    """Yield the name, kind and content of every object in the repository."""
    with git.pipe("cat-file", "--batch", "--batch-all-objects", "--unordered") as process:
        assert process.stdin and process.stdout
        process.stdin.close()
        yield from _batch(process.stdout)


def _batch(stream: IO[bytes]) -> Iterator[tuple[str, str, bytes]]:
    for header in iter(stream.readline, b""):
        name, kind, size = header.decode().split()
        data = stream.read(int(size))
        stream.read(1)
        yield name, kind, data


def _object_holds(needle: Needle, kind: str, data: bytes, name_bytes: int) -> bool:
    if kind != "tree":
        return needle.in_bytes(data)
    return any(needle.in_name(name) for name in _names(data, name_bytes))


def _names(data: bytes, name_bytes: int) -> Iterator[str]:
    at = 0
    while at < len(data):
        start, end = data.index(b" ", at) + 1, data.index(b"\0", at)
        yield data[start:end].decode("utf-8", "replace")
        at = end + 1 + name_bytes


def _files(repository: Repository) -> Iterator[Path]:
    """Yield every file but packed and loose objects, which are read as objects; links too."""
    ours = repository.git.directory
    for folder, folders, names in os.walk(repository.tree.root):
        here = Path(folder)
        if here == ours and "objects" in folders:
            folders.remove("objects")
        if here == repository.tree.root and ours != here / ".git" and ".git" in folders:
            folders.remove(".git")  # Somebody's repository: not ours to read.
        yield from (here / name for name in names)


def _file_holds(needle: Needle, path: Path) -> bool:
    if path.is_symlink():
        return needle.in_text(str(path.readlink()))
    try:
        return path.is_file() and needle.in_bytes(path.read_bytes())
    except OSError:
        return True  # What cannot be read cannot be cleared of it.
