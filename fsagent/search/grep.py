"""grep: RE2 over the text view of a workspace's files, with caps and honest flags.

Recall comes newest day first. Without `count_all` the scan ends when the page is full, so a common
pattern costs the same in a large workspace as in a small one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fsagent.errors import PathRejected, WorkspaceError
from fsagent.search.clip import MAX_CONTEXT, MAX_LINE_CHARS, clip_around
from fsagent.search.globs import glob_filter
from fsagent.search.patterns import Pattern, compile_pattern
from fsagent.search.scan import Limits, Scanned, scan_file
from fsagent.types import Hit, HitPage
from fsagent.workspace.bulk import Folder, opened
from fsagent.workspace.paths import canonical_dir
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import is_recall, is_text_path

DEADLINE_S = 5.0
MAX_LIMIT = 100
MAX_REPLY_CHARS = 16_000
MAX_FILE_BYTES = 64 * 1024 * 1024
_log = logging.getLogger(__name__)


def grep(
    tree: Tree,
    pattern: str,
    *,
    path: str = ".",
    ignore_case: bool = False,
    literal: bool = False,
    context: int = 0,
    limit: int = 50,
    offset: int = 0,
    globs: Sequence[str] = (),
    count_all: bool = False,
    deadline_s: float = DEADLINE_S,
    recall_end: tuple[str, int] | None = None,
) -> HitPage:
    """Return the lines that match, a page of them, in a stable order.

    `recall_end` is a path and a line: recall is searched as it stood before that line.

    `limit` is at most 100, a line's text at most 400 characters centred on the match, a page's
    text at most 16,000. `total` is None where the scan ended at the page. Raises `BadArguments`
    for a pattern RE2 does not know and `PathRejected` for a path that may not be opened.
    """
    compiled = compile_pattern(pattern, ignore_case=ignore_case, literal=literal)
    page = _Page(max(1, min(limit, MAX_LIMIT)), max(0, offset), max(0, min(context, MAX_CONTEXT)))
    deadline = time.monotonic() + deadline_s
    for file in _files(tree, path, globs):
        name = file.path
        if recall_end is not None and is_recall(name) and name > recall_end[0]:
            continue
        if time.monotonic() > deadline:
            page.timed_out = True
            break
        want = None if count_all else page.offset + page.limit + 1 - page.seen
        lines = recall_end[1] - 1 if recall_end and name == recall_end[0] else None
        limits = Limits(deadline, want, page.room)
        scanned = _scan(file, compiled, page, limits, lines=lines)
        if scanned is not None:
            page.timed_out |= scanned.timed_out
            page.add(name, scanned, compiled)
        if page.timed_out or (page.full and not count_all):
            break
    notes = page.notes(pattern, literal)
    beyond = page.seen > page.offset + len(page.hits)
    arguments = _arguments(
        pattern=pattern,
        path=path,
        ignore_case=ignore_case,
        literal=literal,
        context=context,
        limit=limit,
    )
    known = not page.timed_out and (count_all or not page.full)
    return HitPage(
        hits=tuple(page.hits),
        total=page.seen if known else None,
        clipped_hits=beyond,
        timed_out=page.timed_out,
        next=f"grep({arguments}, offset={page.offset + len(page.hits)})" if beyond else None,
        notes=notes,
    )


@dataclass
class _Page:
    limit: int
    offset: int
    context: int
    hits: list[Hit] = field(default_factory=list)
    seen: int = 0
    chars: int = 0
    clipped: bool = False
    timed_out: bool = False
    binary: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    buffer: bytearray = field(default_factory=bytearray)

    @property
    def full(self) -> bool:
        """Whether the page is complete and one hit beyond it is known."""
        return self.seen > self.offset + len(self.hits) and (
            self.clipped or len(self.hits) >= self.limit
        )

    @property
    def room(self) -> int:
        """How many of the next hits may be needed for the page."""
        return max(0, self.offset + self.limit - self.seen)

    def add(self, path: str, scanned: Scanned, pattern: Pattern) -> None:
        """Count a file's hits and keep those that stand on this page."""
        first = self.seen
        self.seen += scanned.count
        for index, number in enumerate(scanned.numbers):
            if first + index < self.offset or self.clipped or len(self.hits) >= self.limit:
                continue
            hit = _hit(path, number, scanned, pattern, self.context)
            size = len(hit.text) + sum(len(text) for _, text in (*hit.before, *hit.after))
            if self.hits and self.chars + size > MAX_REPLY_CHARS:
                self.clipped = True
                continue
            self.hits.append(hit)
            self.chars += size

    def notes(self, pattern: str, literal: bool) -> tuple[str, ...]:
        """Return the sentences a reader of the page needs."""
        notes = []
        if self.timed_out:
            notes.append(
                "the time limit ended the scan; give a path, or a pattern with a longer word in it"
            )
        if self.binary:
            notes.append(f"{len(self.binary)} binary files skipped")
        if self.unread:
            notes.append(
                f"{len(self.unread)} files could not be read: {', '.join(self.unread[:3])}"
            )
        if not literal and not pattern.isascii() and ("\\w" in pattern or "\\b" in pattern):
            notes.append("\\w and \\b know ASCII letters only; \\pL is any letter")
        return tuple(notes)


class _File(NamedTuple):
    """A file to scan, and its folder, which is open."""

    path: str
    folder: Folder


def _files(tree: Tree, path: str, globs: Sequence[str]) -> Iterator[_File]:
    """Yield the files to scan: core first, recall newest day first, then the rest by name."""
    allows = glob_filter(globs) if globs else None
    for file in _found(tree, canonical_dir(path)):
        if allows is None or allows(file.path):
            yield file


def _found(tree: Tree, name: str) -> Iterator[_File]:
    if name != "." and not tree.is_dir(name):
        tree.stat(name)
        with opened(tree, name.rpartition("/")[0] or ".") as folder:
            yield _File(name, folder)
        return
    with opened(tree, name) as folder:
        kinds = folder.kinds()
        if name == ".":
            first = [top for top in ("core", "recall") if kinds.get(top)]
            kinds = {top: kinds[top] for top in dict.fromkeys([*first, *kinds])}
        backwards = name == "recall" or name.startswith("recall/")
        for path in reversed(kinds) if backwards else kinds:
            if not kinds[path]:
                yield _File(path, folder)
                continue
            try:
                yield from _found(tree, path)
            except (PathRejected, WorkspaceError) as err:
                _log.warning("%s is passed over: %s", path, err)


def _scan(
    file: _File,
    pattern: Pattern,
    page: _Page,
    limits: Limits,
    *,
    lines: int | None = None,
) -> Scanned | None:
    path = file.path
    if not (is_text_path(path) or is_recall(path) or "." not in path):
        page.binary.append(path)
        return None
    try:
        size = file.folder.read_into(path, page.buffer, limit=MAX_FILE_BYTES)
    except PathRejected:
        page.unread.append(path)
        return None
    if lines is not None:
        size = _end_of(page.buffer, size, lines)
    scanned = scan_file(path, page.buffer, size, pattern, limits)
    if scanned is None:
        page.binary.append(path)
    return scanned


def _end_of(buffer: bytearray, size: int, lines: int) -> int:
    """Return where so many lines end."""
    end = 0
    for _ in range(lines):
        end = buffer.find(b"\n", end, size) + 1
        if end == 0:
            return size
    return end


def _hit(path: str, number: int, scanned: Scanned, pattern: Pattern, context: int) -> Hit:
    text, ts, speaker = scanned.shown(number)
    shown, clipped = clip_around(text, _middle(text, pattern))
    before = range(max(1, number - context), number) if context else ()
    after = range(number + 1, min(scanned.line_count, number + context) + 1) if context else ()
    return Hit(
        path=path,
        line=number,
        text=shown,
        ts=ts,
        speaker=speaker,
        clipped_line=clipped,
        before=tuple((n, clip_around(scanned.line(n), 0)[0]) for n in before),
        after=tuple((n, clip_around(scanned.line(n), 0)[0]) for n in after),
    )


def _middle(text: str, pattern: Pattern) -> int:
    """Return where in a long line the match stands."""
    data = text.encode("utf-8", "replace") if len(text) > MAX_LINE_CHARS else b""
    span = pattern.search(data)
    if span is None:
        return 0
    head = len(data[: span[0]].decode("utf-8", "replace"))
    return head + min(span[1] - span[0], MAX_LINE_CHARS) // 2


def _arguments(**given: str | int | bool) -> str:
    """Return the arguments that differ from their defaults, as a tool call writes them."""
    import json

    defaults = {"path": ".", "ignore_case": False, "literal": False, "context": 0, "limit": 50}
    return ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in given.items()
        if value != defaults.get(name)
    )
