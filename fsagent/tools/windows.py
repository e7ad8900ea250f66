"""Keep the windows of open files within their share of the context.

A window is the result of one `open` call, named by that call's id. While it is open its text
stands in the context; once closed, or paged out as the least recently used, the context shows
one line in its place. Window state is derived: a restart begins with none open.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

WINDOW_SHARE = 0.4
"""The share of the context that all open windows together may fill."""

ONE_WINDOW_SHARE = 0.2
"""The share of the context that one window may fill."""


@dataclass(frozen=True, slots=True)
class Window:
    """Lines `start` to `end` of `path`, shown by the call `call_id` at a cost of `tokens`."""

    path: str
    start: int
    end: int
    tokens: int
    call_id: str

    def covers(self, other: Window) -> bool:
        """Say whether every line of `other` stands in this window too."""
        return self.path == other.path and self.start <= other.start and other.end <= self.end


class Windows:
    """The open windows of one agent, least recently used first."""

    def __init__(self, context_tokens: int) -> None:
        self.budget_tokens = int(context_tokens * WINDOW_SHARE)
        self.one_window_tokens = int(context_tokens * ONE_WINDOW_SHARE)
        self._open: dict[str, Window] = {}
        self._gone: dict[str, Window] = {}

    @property
    def open_windows(self) -> tuple[Window, ...]:
        """The open windows, least recently used first."""
        return tuple(self._open.values())

    @property
    def tokens(self) -> int:
        """What the open windows cost together."""
        return sum(window.tokens for window in self._open.values())

    def open(self, window: Window) -> list[Window]:
        """Add a window; return those that had to go: the ones it covers, then the oldest ones."""
        gone = [other for other in self._open.values() if window.covers(other)]
        self._drop(gone)
        self._open[window.call_id] = window
        return gone + self.page_out(self.tokens - self.budget_tokens, keep=window.call_id)

    def close(self, path: str) -> list[Window]:
        """Close every window of `path` and return them."""
        closing = [window for window in self._open.values() if window.path == path]
        self._drop(closing)
        return closing

    def page_out(self, excess_tokens: int, *, keep: str | None = None) -> list[Window]:
        """Page windows out, least recently used first, until `excess_tokens` are free."""
        going: list[Window] = []
        for window in self._open.values():
            if sum(other.tokens for other in going) >= excess_tokens:
                break
            if window.call_id != keep:
                going.append(window)
        self._drop(going)
        return going

    def forget(self, call_ids: Iterable[str]) -> None:
        """Drop windows whose messages left the context."""
        for call_id in call_ids:
            self._open.pop(call_id, None)
            self._gone.pop(call_id, None)

    def replacement(self, call_id: str | None) -> str | None:
        """Return the line that stands for a window that is gone, None for any other result."""
        window = self._gone.get(call_id or "")
        if window is None:
            return None
        return f"({window.path} lines {window.start}-{window.end} closed; open it again to read it)"

    def _drop(self, windows: Iterable[Window]) -> None:
        for window in list(windows):
            del self._open[window.call_id]
            self._gone[window.call_id] = window
