"""Memory as it stood: a throw-away workspace of the files of that date and the log cut at it.

Whatever is written there goes away with it, so asking as of a date writes nothing. Lines keep their
numbers: one that is later than the date but stands before an earlier one is left as an empty line.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

from fsagent.memory.history.git import read_blobs
from fsagent.memory.history.log import commit_at
from fsagent.memory.history.repository import Repository
from fsagent.memory.history.scan import in_recall, is_governed, recall_files
from fsagent.workspace.locate import SETTINGS_NAME
from fsagent.workspace.records import decode, encode
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import raw_lines


@contextmanager
def memory_at(
    tree: Tree, repository: Repository | None, moment: datetime
) -> Iterator[tuple[Path, str | None]]:
    """Lay memory as it stood at a moment into a temporary folder.

    Yields the folder and the commit it came from; None where nothing was committed by then, and
    then there is the log alone.
    """
    with tempfile.TemporaryDirectory(prefix="fsagent-as-of-") as name:
        folder = Path(name)
        commit = None
        if repository is not None and repository.tip():
            commit = commit_at(repository.git, moment)
        if repository is not None and commit:
            _lay_files(repository, commit, folder)
        if not (folder / SETTINGS_NAME).exists() and tree.exists(SETTINGS_NAME):
            _put(folder, SETTINGS_NAME, tree.read_bytes(SETTINGS_NAME))
        for entry in recall_files(tree):
            data = cut_log(entry.path, tree.read_bytes(entry.path), moment)
            if data:
                _put(folder, entry.path, data)
        yield folder, commit


def cut_log(path: str, data: bytes, moment: datetime) -> bytes:
    """Return a day's log without what was said after a moment; line numbers stay."""
    day = _day(path)
    if day is not None and day < (moment - timedelta(days=2)).date():
        return data
    if day is not None and day > (moment + timedelta(days=2)).date():
        return b""
    kept: list[bytes] = []
    end = 0
    for line in raw_lines(data):
        kept.append(_cut_line(line, moment))
        if kept[-1] is line:
            end = len(kept)
    return b"".join(line.rstrip(b"\n") + b"\n" for line in kept[:end])


def _cut_line(line: bytes, moment: datetime) -> bytes:
    try:
        record = decode(line)
        if datetime.fromisoformat(record.ts) <= moment:
            return line
    except (ValueError, TypeError):
        return line
    later = replace(record, content="", kind="later", name=record.role, images=(), tool_calls=())
    return encode(replace(later, usage=None, source=None, tool_call_id=None))


def _day(path: str) -> date | None:
    try:
        return date.fromisoformat(path.rpartition("/")[2].removesuffix(".jsonl"))
    except ValueError:
        return None


def _lay_files(repository: Repository, commit: str, folder: Path) -> None:
    names = {
        path: name
        for path, name in repository.tracked(commit).items()
        if is_governed(path) and not in_recall(path)
    }
    contents = read_blobs(repository.git, list(names.values()))
    for path, data in zip(names, contents, strict=True):
        _put(folder, path, data or b"")


def _put(folder: Path, path: str, data: bytes) -> None:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
