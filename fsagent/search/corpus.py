"""What ranked search searches: messages of recall, passages of documents, lines of core, as terms.

The corpus is read from the files and kept in memory; before a search it looks which files changed
(size, time) and reads those only. A day file that grew has its new lines added.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from fsagent.errors import FsagentError
from fsagent.search.text import terms
from fsagent.workspace.records import Record, decode
from fsagent.workspace.tree import Entry, Tree
from fsagent.workspace.view import body, is_recall, is_text_path, prefix, raw_lines, view_lines

PASSAGE_LINES = 12
MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
TIERS = ("core", "archival", "recall")
_TIME_WORDS = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|ago|last|next|weeks?|weekend|months?|years?|since|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|\d{4}|recently|morning|days?)\b",
    re.I,
)
_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
_HEADING = re.compile(r"#{1,6} ")


@dataclass(slots=True)
class Doc:
    """One thing that can be found. `session` and `place` say where it stands among its neighbours."""

    path: str
    line: int
    text: str
    counts: Counter[str]
    length: int
    session: str
    place: int = 0
    speaker: str = ""
    ts: str = ""
    turn: str = ""
    role: str = ""
    asks: bool = False
    ends_asking: bool = False
    says_time: bool = False
    names: int = 0


@dataclass(slots=True)
class _File:
    """What was read of a file, to know when to read it again and from where."""

    size: int
    mtime_ns: int
    lines: int = 0
    heads: dict[str, tuple[int, int]] = field(default_factory=dict)


class Corpus:
    """All documents of a tree with their postings, kept in step with the files."""

    def __init__(self, tree: Tree, language: str) -> None:
        self._tree, self._language = tree, language
        self._files: dict[str, _File] = {}
        self._clear()

    def _clear(self) -> None:
        self.docs: list[Doc] = []
        self.postings: dict[str, list[tuple[int, int]]] = {}
        self.sessions: dict[str, list[int]] = {}
        self.session_counts: dict[str, Counter[str]] = {}
        self.session_df: Counter[str] = Counter()
        self.speakers: dict[str, int] = {}
        self.total_length = 0

    def refresh(self) -> None:
        """Read what changed since the last call; a changed or removed file reads everything anew."""
        entries = {entry.path: entry for entry in self._entries()}
        if any(self._is_rewritten(path, entries.get(path)) for path in self._files):
            self._files.clear()
            self._clear()
        for path, entry in entries.items():
            known = self._files.get(path)
            if known is None or (known.size, known.mtime_ns) != (entry.size, entry.mtime_ns):
                self._read(entry, known)

    def _entries(self) -> Iterator[Entry]:
        for tier in TIERS:
            if self._tree.is_dir(tier):
                for entry in self._tree.walk(tier):
                    if is_text_path(entry.path) and entry.size <= MAX_DOCUMENT_BYTES:
                        yield entry

    def _is_rewritten(self, path: str, entry: Entry | None) -> bool:
        """Say whether a known file is gone or is no longer what was read with lines added."""
        known = self._files[path]
        if entry is None:
            return True
        if (known.size, known.mtime_ns) == (entry.size, entry.mtime_ns):
            return False
        return not is_recall(path) or entry.size <= known.size

    def _read(self, entry: Entry, known: _File | None) -> None:
        file = known or _File(0, 0)
        start = file.size
        try:
            data = self._tree.read_from(entry.path, start)
        except FsagentError:
            # One file that cannot be read does not switch search off; doctor names it.
            self._files[entry.path] = _File(entry.size, entry.mtime_ns)
            return
        if is_recall(entry.path):
            data = data[: data.rfind(b"\n") + 1]
            self._add_records(entry.path, data, file)
            file.size = start + len(data)
        else:
            self._add_text(entry.path, data)
            file.size = entry.size
        # The time is kept only where all of the file was read, so that a torn end is looked at again.
        file.mtime_ns = entry.mtime_ns if file.size == entry.size else -1
        self._files[entry.path] = file

    def _add_records(self, path: str, data: bytes, file: _File) -> None:
        for line in raw_lines(data):
            file.lines += 1
            try:
                record = decode(line)
            except ValueError:
                continue
            if record.kind is None and record.role in ("user", "assistant") and body(record):
                self._add(self._message(path, file.lines, record))

    def _message(self, path: str, line: int, record: Record) -> Doc:
        shown, said = body(record), record.content
        words = [said, *record.images]
        counted = [term for text in words for term in terms(text, self._language)]
        return Doc(
            path=path,
            line=line,
            text=prefix(record) + shown,
            counts=Counter(counted),
            length=len(counted),
            session=record.session or path,
            speaker=record.name,
            ts=record.ts,
            turn=record.turn,
            role=record.role,
            asks="?" in said,
            ends_asking=said.rstrip().endswith("?"),
            says_time=bool(_TIME_WORDS.search(said)),
            names=len(_PROPER.findall(said)),
        )

    def _add_text(self, path: str, data: bytes) -> None:
        lines = view_lines(path, data)
        heading = ""
        for first, last in passages(lines):
            text = "\n".join(lines[first - 1 : last])
            if _HEADING.match(lines[first - 1]):
                heading = lines[first - 1].lstrip("# ")
            counted = terms(text, self._language) + terms(heading, self._language)
            if counted:
                shown = " ".join(line.strip() for line in lines[first - 1 : last] if line.strip())
                self._add(Doc(path, first, shown, Counter(counted), len(counted), session=path))

    def _add(self, doc: Doc) -> None:
        number = len(self.docs)
        members = self.sessions.setdefault(doc.session, [])
        doc.place = len(members)
        members.append(number)
        self.docs.append(doc)
        for term, count in doc.counts.items():
            self.postings.setdefault(term, []).append((number, count))
        counts = self.session_counts.setdefault(doc.session, Counter())
        self.session_df.update(term for term in doc.counts if term not in counts)
        counts.update(doc.counts)
        self.total_length += doc.length
        if doc.speaker:
            self.speakers[doc.speaker] = self.speakers.get(doc.speaker, 0) + 1

    def neighbour(self, doc: Doc, offset: int) -> Doc | None:
        """Return the document `offset` places behind (or before) in the same session."""
        members = self.sessions[doc.session]
        place = doc.place + offset
        return self.docs[members[place]] if 0 <= place < len(members) else None


def passages(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the passages of a document as 1-based (first, last) lines.

    A heading, a list item at the margin and a blank line begin one, and so does every twelfth
    line; front matter is passed over but for its description and title.
    """
    start = None
    for number, line in enumerate(lines[_front_matter(lines) :], _front_matter(lines) + 1):
        begins = bool(_HEADING.match(line)) or line.startswith(("- ", "* "))
        if start is not None and (not line.strip() or begins or number - start >= PASSAGE_LINES):
            yield start, number - 1
            start = None
        if line.strip() and start is None:
            start = number
    if start is not None:
        yield start, len(lines)


def _front_matter(lines: list[str]) -> int:
    """Return how many lines the front matter takes."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == "---":
            return number
    return 0


def moment_of(doc: Doc) -> datetime | None:
    """Return when a document was said, None where it has no date."""
    return datetime.fromisoformat(doc.ts) if doc.ts else None
