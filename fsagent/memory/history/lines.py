"""Recall lines that the history points at: citations, and the words a turn began with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fsagent.errors import PathRejected
from fsagent.workspace.records import CONTENT_KEY, decode
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import is_recall, raw_lines, render, render_line

_CITED = re.compile(r"\[(\d{4})-(\d\d)-(\d\d):(\d+)(?:-(\d+))?\]")
_MOST_CITED = 5
_DAYS_BACK = 3


@dataclass(frozen=True, slots=True)
class Utterance:
    """A recall line as text, or why it cannot be shown (`text` then says so)."""

    path: str
    line: int
    text: str
    found: bool = True

    def as_dict(self) -> dict[str, object]:
        """Return the JSON shape of an utterance."""
        return {"path": self.path, "line": self.line, "text": self.text, "found": self.found}


def cited(tree: Tree, text: str) -> list[Utterance]:
    """Return the recall lines that a line of memory cites."""
    found = []
    for year, month, day, first, last in _CITED.findall(text):
        path = f"recall/{year}/{year}-{month}-{day}.jsonl"
        end = min(int(last or first), int(first) + _MOST_CITED - 1)
        found += [utterance(tree, path, number) for number in range(int(first), end + 1)]
    return found


def utterance(tree: Tree, path: str, line: int) -> Utterance:
    """Return one recall line as text."""
    try:
        lines = raw_lines(tree.read_bytes(path))
    except PathRejected:
        return Utterance(path, line, "this day's log is not there", found=False)
    if not 1 <= line <= len(lines):
        return Utterance(path, line, f"the log has {len(lines)} lines", found=False)
    text = render_line(lines[line - 1])
    return Utterance(path, line, text or "(bookkeeping, no words)", found=bool(text))


def source_utterance(tree: Tree, source: str) -> Utterance | None:
    """Return the utterance of a `Source` trailer (`recall/...jsonl:14`)."""
    path, _, line = source.rpartition(":")
    return utterance(tree, path, int(line)) if is_recall(path) and line.isdigit() else None


def words_of_turn(tree: Tree, turn: str) -> Utterance | None:
    """Return the person's words that a turn of the last days began with."""
    if not turn or not tree.is_dir("recall"):
        return None
    for path in _last_days(tree):
        for number, line in enumerate(raw_lines(tree.read_bytes(path)), 1):
            # The turn's id stands in the header; most lines are passed by without decoding.
            if turn.encode() not in line.partition(CONTENT_KEY)[0]:
                continue
            try:
                record = decode(line)
            except ValueError:
                continue
            if record.turn == turn and record.role == "user" and record.kind is None:
                return Utterance(path, number, render(record))
    return None


def _last_days(tree: Tree) -> Iterator[str]:
    years = sorted((entry.path for entry in tree.list("recall") if entry.is_dir), reverse=True)
    days = (
        entry.path for year in years for entry in reversed(tree.list(year)) if is_recall(entry.path)
    )
    for path, _ in zip(days, range(_DAYS_BACK), strict=False):
        yield path
