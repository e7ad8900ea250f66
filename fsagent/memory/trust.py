"""Where a line of memory comes from, and whether it may shape core memory without a person's look.

Trust is the least of a line's lineage. What a person says is trusted; documents, imported
conversations and other tools' results are not; what the agent writes is as trusted as what its turn
had seen. A turn that has seen untrusted text says so in recall, before the model reads it, in a
bookkeeping line of the kind `untrusted`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from fsagent.errors import FsagentError
from fsagent.memory.archival import NOTES
from fsagent.memory.facts import Fact
from fsagent.memory.recall_end import day_paths
from fsagent.workspace import frontmatter
from fsagent.workspace.records import Record, decode
from fsagent.workspace.tree import FileStat, Tree
from fsagent.workspace.view import decode_text, is_recall, raw_lines

Source = Literal["user", "agent", "import", "tool", "document"]
Trust = Literal["trusted", "untrusted", "unknown"]

UNTRUSTED = "untrusted"
"""The kind of a recall line that names the untrusted text a turn has been shown."""

_HEAD_BYTES = 16 * 1024
_OWN_FOLDERS = ("core", "prompts")
_OWN_FILES = ("fsagent.yaml", "secrets.yaml")
_CACHED_FILES = 64


@dataclass(frozen=True, slots=True)
class Origin:
    """Who a line comes from. `unknown` is the trust of a fact that names no source."""

    source: Source
    trust: Trust

    @property
    def is_trusted(self) -> bool:
        """Whether nothing untrusted is known of it."""
        return self.trust != "untrusted"

    def as_dict(self) -> dict[str, str]:
        """Return the JSON shape."""
        return {"source": self.source, "trust": self.trust}


_USER, _AGENT = Origin("user", "trusted"), Origin("agent", "trusted")
_TAINTED, _IMPORT = Origin("agent", "untrusted"), Origin("import", "untrusted")
_TOOL, _DOCUMENT = Origin("tool", "untrusted"), Origin("document", "untrusted")
_LEAST_LAST = (_USER, _AGENT, Origin("agent", "unknown"), _TAINTED, _IMPORT, _TOOL, _DOCUMENT)


class Lineage:
    """Tells the origin of any line of a workspace; keeps what it read until the file changes."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._kept: dict[tuple[str, str], tuple[FileStat | None, Any]] = {}

    def origin(self, path: str, line: int) -> Origin:
        """Return where a line comes from; a file or line that is not there is a document's."""
        folder = path.partition("/")[0]
        if is_recall(path):
            return self._of_recall(path, line)
        if folder in _OWN_FOLDERS or path in _OWN_FILES:
            return _AGENT
        if path.startswith(f"{NOTES}/"):
            found: Origin = self._cached("note", path, lambda: _of_note(self._head(path)))
            return found
        return _DOCUMENT

    def of_record(self, path: str, record: Record) -> Origin:
        """Return where a recall line comes from."""
        if record.role == "user":
            return _USER if record.source is None else _IMPORT
        if record.role == "assistant" and record.source is not None and not record.turn:
            return _IMPORT
        return _TAINTED if record.turn in self.tainted_turns(path) else _AGENT

    def tainted_turns(self, path: str) -> frozenset[str]:
        """Return the turns in a day's file, and in that of the day before, that saw untrusted text."""
        days = list(day_paths(self._tree))
        at = days.index(path) if path in days else -1
        before = [days[at - 1]] if at > 0 else []
        return frozenset().union(*(self._tainted_in(day) for day in [path, *before]))

    def _of_recall(self, path: str, line: int) -> Origin:
        lines: list[bytes] = self._cached("log", path, lambda: raw_lines(self._read(path)))
        try:
            record = decode(lines[line - 1])
        except (ValueError, IndexError):
            return _DOCUMENT
        return self.of_record(path, record)

    def _tainted_in(self, path: str) -> frozenset[str]:
        found: frozenset[str] = self._cached("turns", path, lambda: _tainted(self._read(path)))
        return found

    def _read(self, path: str) -> bytes:
        with contextlib.suppress(FsagentError):
            return self._tree.read_bytes(path)
        return b""

    def _head(self, path: str) -> str:
        with contextlib.suppress(FsagentError):
            return decode_text(self._tree.read_from(path, 0, _HEAD_BYTES))
        return ""

    def _cached(self, what: str, path: str, read: Any) -> Any:
        stat = self._tree.peek(path)
        known = self._kept.get((what, path))
        if known is None or known[0] != stat:
            while len(self._kept) >= _CACHED_FILES:
                self._kept.pop(next(iter(self._kept)))
            known = self._kept[what, path] = (stat, read())
        return known[1]


def trust_of(fact: Fact, lineage: Lineage) -> Origin:
    """Return a fact's origin: the least trusted line it cites; unknown where it cites none."""
    cited = [lineage.origin(path, line) for path, line in fact.citations]
    return least(cited) if cited else Origin("agent", "unknown")


def least(origins: Iterable[Origin]) -> Origin:
    """Return the least trusted of some origins."""
    return max(origins, key=_LEAST_LAST.index)


def sources_of(record: Record) -> tuple[str, ...]:
    """Return the places that an `untrusted` line names, none for any other line."""
    if record.kind != UNTRUSTED:
        return ()
    try:
        facts = json.loads(record.content)
        return tuple(map(str, facts["sources"]))
    except (ValueError, KeyError, TypeError):
        return ("a line of recall that cannot be read",)


def is_carried(record: Record) -> bool:
    """Say whether an `untrusted` line only carries on what an earlier turn had seen."""
    with contextlib.suppress(ValueError, AttributeError):
        return bool(json.loads(record.content).get("carried"))
    return False


def _tainted(data: bytes) -> frozenset[str]:
    turns = set()
    for line in raw_lines(data):
        if b'"kind":"untrusted"' in line:
            with contextlib.suppress(ValueError):
                record = decode(line)
                if record.kind == UNTRUSTED:
                    turns.add(record.turn)
    return frozenset(turns)


def _of_note(head: str) -> Origin:
    try:
        meta = frontmatter.parse(NOTES, head).meta
    except FsagentError:
        return _DOCUMENT
    if meta.get("source") != "agent":
        return _DOCUMENT
    return _AGENT if meta.get("trust", "trusted") == "trusted" else _TAINTED
