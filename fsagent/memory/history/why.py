"""Why memory holds a fact: its line, the commit, the turn, and the utterance it cites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fsagent.errors import HistoryError
from fsagent.memory.facts import fact_of
from fsagent.memory.history.blame import blame, blamed_by
from fsagent.memory.history.lines import Utterance, cited, source_utterance
from fsagent.memory.history.log import Commit, read_log
from fsagent.memory.history.repository import Repository
from fsagent.memory.history.scan import is_instruction, memory_files
from fsagent.memory.trust import Lineage, Origin, trust_of
from fsagent.workspace.view import is_text_path, view_lines

MOST = 20
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Reason:
    """Where a fact stands and where it came from.

    `cited` are the recall lines it names (none: the fact is uncited), `turn_words` the words its
    turn began with, `commit` None where it is not committed yet, `origin` its source and trust.
    """

    path: str
    line: int
    text: str
    commit: Commit | None
    cited: tuple[Utterance, ...]
    turn_words: Utterance | None
    origin: Origin

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a reason."""
        return {
            "path": self.path,
            "line": self.line,
            "text": self.text,
            "commit": self.commit.as_dict() if self.commit else None,
            "cited": [words.as_dict() for words in self.cited],
            "turn_words": self.turn_words.as_dict() if self.turn_words else None,
            **self.origin.as_dict(),
        }


def why(repository: Repository, text: str, *, now: datetime) -> list[Reason]:
    """Return the lines of memory that hold `text` (exactly, else all its words) with their origin."""
    places = list(_places(repository, text))[:MOST]
    blamed = {}
    for path, _, _ in places:
        if path not in blamed:
            try:
                blamed[path] = blame(repository, path, now=now)
            except HistoryError:
                blamed[path] = []
    lineage = Lineage(repository.tree)
    return [
        _reason(repository, lineage, place, found.commit if found else None)
        for place in places
        for found in [blamed_by(blamed[place[0]], place[1])]
    ]


def removals(repository: Repository, text: str, *, now: datetime) -> list[Commit]:
    """Return the commits that added or removed `text`, for a fact that is gone."""
    if repository.tip() is None:
        return []
    return read_log(
        repository.git, "HEAD", changing=text, paths=_memory_roots(repository), zone=now.tzinfo
    )


def _memory_roots(repository: Repository) -> tuple[str, ...]:
    tracked = repository.tracked(repository.tip())
    return tuple(sorted({path.partition("/")[0] for path in tracked} - {"recall", "prompts"}))


def _reason(
    repository: Repository,
    lineage: Lineage,
    place: tuple[str, int, str],
    commit: Commit | None,
) -> Reason:
    path, line, text = place
    source = commit.trailers.get("Source", "") if commit else ""
    return Reason(
        path=path,
        line=line,
        text=text,
        commit=commit,
        cited=tuple(cited(repository.tree, text)),
        turn_words=source_utterance(repository.tree, source),
        origin=_origin(lineage, place, commit),
    )


def _origin(lineage: Lineage, place: tuple[str, int, str], commit: Commit | None) -> Origin:
    """Return a fact's origin: of what it cites, else of who wrote it into core, else of its file."""
    path, line, text = place
    fact = fact_of(text, line)
    if fact.citations:
        return trust_of(fact, lineage)
    if not path.startswith("core/"):
        return lineage.origin(path, line)
    if commit is not None and commit.by in ("person", "outside"):
        return Origin("user", "trusted")
    return Origin("agent", "trusted" if commit is not None else "unknown")


def _places(repository: Repository, text: str) -> Iterator[tuple[str, int, str]]:
    """Yield the lines that hold the text; where none does, the lines that hold all its words."""
    lines = list(_lines(repository))
    wanted = " ".join(text.split()).casefold()
    exact = [item for item in lines if wanted in " ".join(item[2].split()).casefold()]
    if exact:
        yield from exact
        return
    words = set(_WORD.findall(wanted))
    if words:
        yield from (item for item in lines if words <= set(_WORD.findall(item[2].casefold())))


def _lines(repository: Repository) -> Iterator[tuple[str, int, str]]:
    for entry in memory_files(repository.tree):
        if is_text_path(entry.path) and "/" in entry.path and not is_instruction(entry.path):
            data = repository.tree.read_bytes(entry.path)
            for number, line in enumerate(view_lines(entry.path, data), 1):
                yield entry.path, number, line
