"""The secrets that stand in a workspace: put there by a person, or kept before there was a rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fsagent.memory.history.scan import in_recall, memory_files, recall_files
from fsagent.workspace.records import decode
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import decode_text, is_recall, raw_lines


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret's line, from 1, and its kind; its text is never told."""

    path: str
    line: int
    kind: str


def leaks(tree: Tree) -> Iterator[Leak]:
    """Yield every secret in the files of memory and in the log."""
    for entry in [*memory_files(tree), *recall_files(tree)]:
        data = tree.read_bytes(entry.path)
        found = _in_log(tree, data) if is_recall(entry.path) else _in_text(tree, data)
        yield from (Leak(entry.path, line, kind) for line, kind in found)
        if not in_recall(entry.path):
            yield from (Leak(entry.path, 1, one.kind) for one in tree.secrets.find(entry.path))


def _in_text(tree: Tree, data: bytes) -> Iterator[tuple[int, str]]:
    text = decode_text(data)
    for one in tree.secrets.find(text):
        yield text.count("\n", 0, one.start) + 1, one.kind


def _in_log(tree: Tree, data: bytes) -> Iterator[tuple[int, str]]:
    """Yield the lines of a log that hold a secret: in their words, captions and arguments."""
    for number, line in enumerate(raw_lines(data), 1):
        try:
            record = decode(line)
        except ValueError:
            continue  # doctor names it as unreadable
        texts = [record.content, record.name, *record.images]
        texts += [call.arguments for call in record.tool_calls]
        kinds = dict.fromkeys(one.kind for text in texts for one in tree.secrets.find(text))
        yield from ((number, kind) for kind in kinds if record.kind != "intent")
