"""Show a reply while it streams: only what will be stored, and nothing twice."""

from __future__ import annotations

import re
from collections.abc import Callable

from fsagent.models.json_mode import half_reply
from fsagent.models.thinking import shown_so_far
from fsagent.models.tool_text import shown_before_calls
from fsagent.models.wire import HIGH_SURROGATES, mended

_MARK = re.compile(r"[<{\[`]")


class VisibleText:
    """Pass on the visible text of a reply as it grows, over several attempts.

    Reasoning and tool calls written as text are held back. When an attempt breaks off and the next
    one says the same again, only what is new is passed on; when it says something else, it starts
    on a new paragraph.
    """

    def __init__(
        self, on_text: Callable[[str], None] | None, *, calls: bool, headless: bool
    ) -> None:
        self._on_text, self._calls, self._headless = on_text, calls, headless
        self._in_json = False
        self._shown, self._unmarked, self._looked_at = "", 0, 0

    def begin(self, *, in_json: bool = False) -> None:
        """Start on another attempt; `in_json` says that the reply is an object with the text in it."""
        self._in_json = in_json
        self._unmarked = self._looked_at = 0

    def grow(self, text: str) -> None:
        """Pass on what can be shown of the reply so far."""
        if self._on_text is None:
            return
        if self._in_json:
            if text.lstrip()[:1] == "{" and self._is_worth_reading(text):
                self._show(half_reply(text).strip())
            return
        if not self._headless and not _MARK.search(text, self._unmarked):
            self._unmarked = len(text)  # nothing that could open a block: most replies, all along
            self._show(text.strip())
            return
        if not self._is_worth_reading(text):
            return
        shown = shown_so_far(text, headless=self._headless)
        self._show(shown_before_calls(shown) if self._calls else shown)

    def _is_worth_reading(self, text: str) -> bool:
        # Reading it all again for each token would cost the square of its length.
        if len(text) - self._looked_at < len(text) // 1000:
            return False
        self._looked_at = len(text)
        return True

    def finish(self, text: str) -> None:
        """Pass on the rest of the whole visible text."""
        if self._on_text is not None:
            self._show(text)

    def _show(self, text: str) -> None:
        assert self._on_text is not None
        text = mended(text.rstrip(HIGH_SURROGATES))  # the other half of a character may follow
        if self._shown.startswith(text):
            return
        if text.startswith(self._shown):
            self._on_text(text[len(self._shown) :])
        else:
            self._on_text(f"\n\n{text}")
        self._shown = text
