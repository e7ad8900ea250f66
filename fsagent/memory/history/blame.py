"""Who wrote each line of a file of memory, when, in which turn, and after which words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fsagent.errors import HistoryError, PathRejected
from fsagent.memory.history.commits import Author, write_commit
from fsagent.memory.history.lines import Utterance, cited, source_utterance
from fsagent.memory.history.log import Commit, commits_named
from fsagent.memory.history.repository import Repository
from fsagent.workspace.paths import canonical


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """One line with its commit; None where it is not committed yet. `words` are what led to it."""

    line: int
    text: str
    commit: Commit | None
    words: tuple[Utterance, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a blamed line."""
        return {
            "line": self.line,
            "text": self.text,
            "commit": self.commit.as_dict() if self.commit else None,
            "words": [words.as_dict() for words in self.words],
        }


def block_path(repository: Repository, name: str) -> str:
    """Return the path that a block's label, or a path, means."""
    try:
        # In the history of shared blocks a block stands at the top.
        for path in (f"core/{name}.md", f"{name}.md", name):
            if repository.tree.exists(path):
                return canonical(path)
    except PathRejected as err:
        raise HistoryError(f"{name!r} is no block and no file of memory: {err.reason}") from err
    raise HistoryError(f"{name!r} is no block and no file of memory; fsagent ls shows them")


def blame(repository: Repository, path: str, *, now: datetime) -> list[BlamedLine]:
    """Return the lines of a file as it is on disk. Raises `HistoryError` where nothing is recorded."""
    tip = repository.tip()
    if tip is None:
        raise HistoryError("there is no commit yet; the first turn makes one")
    revision, unsaved = _with_unsaved(repository, tip, now)
    output = repository.git.run("blame", "--line-porcelain", revision, "--", path)
    raw = list(_parse(output))
    commits = commits_named(repository.git, {name for name, _, _ in raw} - {unsaved}, now.tzinfo)
    return [
        BlamedLine(line, text, commits.get(name), words_for(repository, text, commits.get(name)))
        for name, line, text in raw
    ]


def words_for(repository: Repository, text: str, commit: Commit | None) -> tuple[Utterance, ...]:
    """Return the utterances a line cites, else the words its turn began with."""
    found = cited(repository.tree, text)
    if found or commit is None:
        return tuple(found)
    source = source_utterance(repository.tree, commit.trailers.get("Source", ""))
    return (source,) if source else ()


def _with_unsaved(repository: Repository, tip: str, now: datetime) -> tuple[str, str]:
    """Return a revision that holds the files as on disk, and its name if it is no real commit."""
    tree = repository.snapshot()
    if tree is None or tree == repository.git.text("rev-parse", f"{tip}^{{tree}}"):
        return tip, ""
    author = Author("nobody yet", "outside@fsagent.invalid")
    # On no branch: git drops it with the next packing.
    name = write_commit(repository.git, tree, tip, "On disk\n", author=author, when=now)
    return name, name


def _parse(output: bytes) -> Iterator[tuple[str, int, str]]:
    name, line = "", 0
    for raw in output.split(b"\n"):
        if raw.startswith(b"\t"):
            yield name, line, raw[1:].decode("utf-8", "replace").rstrip("\r")
            name = ""
        elif not name and raw:
            head = raw.split(b" ")
            name, line = head[0].decode(), int(head[2])


def blamed_by(lines: Iterable[BlamedLine], line: int) -> BlamedLine | None:
    """Return the line of that number."""
    return next((item for item in lines if item.line == line), None)
