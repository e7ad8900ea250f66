"""The file tools: grep, open, close, search_files, list_files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fsagent.errors import PathRejected, ToolError
from fsagent.search.grep import grep as grep_tree
from fsagent.tokens import estimate_text
from fsagent.tools.data_text import as_data, fenced
from fsagent.tools.listing import list_tree
from fsagent.tools.registry import current_call_id
from fsagent.tools.render import literal_call, render_none, render_page
from fsagent.tools.schema import Tool, finds
from fsagent.tools.scope import Scope, clip_bytes
from fsagent.tools.when import since_moment, until_moment
from fsagent.tools.windows import Window
from fsagent.types import HitPage
from fsagent.workspace.references import split_reference
from fsagent.workspace.view import is_recall, is_text_path, view_lines

DEFAULT_LIMIT, DEFAULT_GREP_LIMIT, MAX_LIMIT = 10, 50, 100

DEFAULT_LINES = 100
"""How many lines `open` shows where no end is named."""

BEFORE_A_HIT, AFTER_A_HIT = 5, 20
"""The lines shown around a line that is opened by its reference."""

MAX_LINE_BYTES = 2_000
SEARCH_ADVICE = (
    "Try other words: synonyms, the names of instances (for vehicles: van, lorry, tram), a shorter "
    "query, or grep with stems such as deliver|delivery."
)
GREP_ADVICE = (
    "Try ignore_case=true, a shorter stem, alternatives such as repair|mend, another path, or "
    "search_files for ranked search by meaningful words."
)


class FileTools:
    """The file tools over one scope."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def tools(self) -> list[Tool]:
        """Return the tools in the order the model sees them."""
        return [self.search_files, self.grep, self.open, self.close, self.list_files]

    @finds
    def grep(
        self,
        pattern: str,
        path: str = ".",
        *,
        ignore_case: bool = False,
        context: int = 0,
        limit: int = DEFAULT_GREP_LIMIT,
        offset: int = 0,
    ) -> str:
        """Find the lines that match a regular expression, newest day first under recall.

        For exact words, names, numbers and word families. Use stems with alternatives, such as
        repair(ed|s)|mend. Searches the text that open shows, with the same line numbers.

        Args:
            pattern: RE2 regular expression, e.g. `invoice|receipt`. No look-around.
            path: Folder or file to search, e.g. `recall/2026`.
            ignore_case: Whether letters match in either case.
            context: Lines to show before and after each hit, e.g. 2.
            limit: Most hits to return.
            offset: Hits to skip, for the next page.
        """
        limit, offset = page_bounds(limit, offset)
        page = grep_tree(
            self._scope.workspace.tree,
            pattern,
            path=path or ".",
            ignore_case=ignore_case,
            context=max(0, min(context, 10)),
            limit=limit,
            offset=offset,
            recall_end=self._scope.turn_start,
        )
        arguments = {
            "pattern": pattern,
            "path": "" if path == "." else path,
            "ignore_case": ignore_case,
            "context": context,
            "limit": 0 if limit == DEFAULT_GREP_LIMIT else limit,
            "offset": offset,
        }
        return show_page(
            self._scope, page, pattern, tool="grep", arguments=arguments, advice=GREP_ADVICE
        )

    @finds
    def search_files(
        self,
        query: str,
        path: str = ".",
        *,
        speaker: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int = DEFAULT_LIMIT,
        offset: int = 0,
    ) -> str:
        """Search all of memory and rank the lines by how well they fit; the first tool to use.

        Words are OR-ed, stemmed and forgiven small typos; write the question's own words and names.
        One search finds one thing: for a list, or for several people, search several times, once
        for each. For a class of things name its instances (vehicles: van, lorry, tram).
        When nothing fits, try synonyms or the words of an answer. Each hit has its date and speaker.

        Args:
            query: Words to find, e.g. `Ada spare key`.
            path: Folder or file to search, e.g. `archival`.
            speaker: Only lines this person said, e.g. `Ada`.
            since: First day, e.g. `2026-11-01` or `last week`.
            until: Last day, e.g. `2026-11-30`.
            limit: Most hits to return.
            offset: Hits to skip, for the next page.
        """
        limit, offset = page_bounds(limit, offset)
        now = self._scope.workspace.recall.now()
        page = self._scope.search.search(
            query,
            path=path or ".",
            speaker=speaker or None,
            since=since_moment(since, now),
            until=until_moment(until, now),
            limit=limit,
            offset=offset,
            exclude_turn=self._scope.turn,
        )
        arguments = {
            "query": query,
            "path": "" if path == "." else path,
            "speaker": speaker,
            "since": since,
            "until": until,
            "limit": 0 if limit == DEFAULT_LIMIT else limit,
            "offset": offset,
        }
        return show_page(
            self._scope, page, query, tool="search_files", arguments=arguments, advice=SEARCH_ADVICE
        )

    def open(self, path: str, start: int = 1, end: int | None = None) -> str:
        """Show lines of a file with their numbers; they stay in your context until you close it.

        Open the lines around a hit to see what was said before and after it. A hit's reference
        such as recall/2026/2026-11-29.jsonl:14 opens the lines around line 14.

        Args:
            path: File to open, e.g. `archival/notes/trip.md`.
            start: First line, from 1.
            end: Last line; as many as fit if left out.
        """
        name, line = split_reference(path)
        if line is not None and (start, end) == (1, None):
            start, end = max(1, line - BEFORE_A_HIT), line + AFTER_A_HIT
        if not is_text_path(name) and self._scope.workspace.tree.exists(name):
            raise PathRejected(name, "KIND", "is not a text file; only text can be opened")
        lines = self._lines(name)
        first, last = _range(name, start, end, len(lines))
        before = self._scope.taint.count
        body, last = self._numbered(name, lines, first, last)
        if self._scope.taint.count > before:
            body = fenced(body)
        text = "\n".join([f"{name} lines {first}-{last} of {len(lines)}", *body])
        if last < len(lines):
            text += f"\n\n(more follows; next: {literal_call('open', {'path': name, 'start': last + 1})})"
        return text + self._keep_window(Window(name, first, last, estimate_text(text), _call_id()))

    def close(self, path: str) -> str:
        """Close an open file: its lines leave your context and their tokens are free again.

        Args:
            path: The file that was opened, e.g. `archival/notes/trip.md`.
        """
        name, _ = split_reference(path)
        windows = self._scope.windows
        closed = windows.close(name)
        if not closed:
            names = sorted({window.path for window in windows.open_windows})
            raise ToolError(f"{name} is not open; open are: {', '.join(names) or 'no files'}")
        return f"Closed {name}; {sum(window.tokens for window in closed)} tokens freed."

    def list_files(self, path: str = ".") -> str:
        """List folders and files with their sizes, dates and descriptions.

        Args:
            path: Folder to list, e.g. `archival`.
        """
        before, taint = self._scope.taint.count, self._scope.taint
        tree, limit_bytes = self._scope.workspace.tree, self._scope.result_bytes
        lines = list_tree(tree, path or ".", limit_bytes, shown=taint.line)
        return "\n".join(fenced(lines) if taint.count > before else lines)

    def _lines(self, path: str) -> list[str]:
        """Return a file's lines; of today's recall those before the turn under way."""
        lines = view_lines(path, self._scope.workspace.tree.read_bytes(path))
        begins = self._scope.turn_start
        return lines[: begins[1] - 1] if begins is not None and begins[0] == path else lines

    def _numbered(
        self, path: str, lines: list[str], first: int, last: int
    ) -> tuple[list[str], int]:
        """Return the numbered lines that fit one window, at least one, and the last one's number."""
        budget = max(1, self._scope.windows.one_window_tokens)
        body: list[str] = []
        used = 0
        for number in range(first, last + 1):
            if is_recall(path) and not lines[number - 1]:
                continue  # a turn's bookkeeping: it has a number and no text
            shown = self._scope.taint.line(path, number, _clipped(lines[number - 1]))
            text = f"{number}: {shown}"
            used += estimate_text(text) + 1
            if body and used > budget:
                return body, number - 1
            body.append(text)
        return body, last

    def _keep_window(self, window: Window) -> str:
        """Register a window; return the sentence about those that had to go for it."""
        gone = self._scope.windows.open(window)
        paged = sorted({other.path for other in gone if not window.covers(other)})
        return f"\n\n(closed to make room: {', '.join(paged)})" if paged else ""


def show_page(
    scope: Scope,
    page: HitPage,
    what: str,
    *,
    tool: str,
    arguments: Mapping[str, Any],
    advice: str,
) -> str:
    """Return a page's text within the scope's size, or what to try where it has no hits."""
    page = replace(page, notes=tuple(_remark(scope, note) for note in page.notes))
    if not page.hits:
        return render_none(what, page, advice)
    return render_page(
        page, tool=tool, arguments=arguments, limit_bytes=scope.result_bytes, taint=scope.taint
    )


def _remark(scope: Scope, note: str) -> str:
    """Return a sentence about a search; one that lists speakers names people of imported talks."""
    _, listed, names = note.partition("; speakers: ")
    own = {scope.workspace.settings.user_name.casefold(), "user", "assistant"}
    if listed and any(name.casefold() not in own for name in names.split(", ")):
        scope.taint.note("names of speakers")
    return as_data(note)


def page_bounds(limit: int, offset: int) -> tuple[int, int]:
    """Return a page's limit and offset within what is allowed."""
    return max(1, min(limit, MAX_LIMIT)), max(0, offset)


def _range(path: str, start: int, end: int | None, count: int) -> tuple[int, int]:
    """Return the first and last line to show, both 1-based. Raises ToolError beyond the file."""
    if count == 0:
        return 1, 0
    if start > count:
        raise ToolError(f"{path} has {count} lines; there is no line {start}.")
    first = max(1, start)
    last = min(count, first + DEFAULT_LINES - 1 if end is None else end)
    if last < first:
        raise ToolError(f"{path}: end {end} is before start {start}; give start <= end.")
    return first, last


def _clipped(line: str) -> str:
    if len(line) * 4 <= MAX_LINE_BYTES or len(line.encode("utf-8", "replace")) <= MAX_LINE_BYTES:
        return line
    return (
        f"{clip_bytes(line, MAX_LINE_BYTES)} [clipped: {len(line)} characters; grep shows the rest]"
    )


def _call_id() -> str:
    return current_call_id() or "direct"
