"""Keep a model's reasoning out of what is shown and stored."""

from __future__ import annotations

import re

_TAGS = "(?:think|thinking|reasoning)"
# A tag counts at the start of the text or of a line only: an answer may write about <think> inline.
_BLOCK = re.compile(
    rf"(?:\A\s*|(?<=\n)[ \t]*)<({_TAGS})>.*?(?:</\1>\s*|\Z)", re.DOTALL | re.IGNORECASE
)
_OPENING = re.compile(rf"<{_TAGS}>", re.IGNORECASE)
_CLOSING = re.compile(rf"(?:\n</{_TAGS}>|</{_TAGS}>[ \t]*\n)\s*", re.IGNORECASE)
_OPENING_TAIL = re.compile(r"(?:\A\s*|\n[ \t]*)<[a-z]{0,9}\Z", re.IGNORECASE)


def strip_thinking(text: str) -> str:
    """Return `text` without its reasoning blocks and without white space around."""
    return _BLOCK.sub("", text[_headless_end(text) :]).strip()


def shown_so_far(text: str, *, headless: bool = False) -> str:
    """Return the part of an unfinished reply that can be shown: a prefix of what will be stored.

    `headless` holds everything back until a closing tag, for endpoints known to open the block
    in the prompt.
    """
    end = _headless_end(text)
    if headless and not end:
        return ""
    shown = _BLOCK.sub("", text[end:])
    if tail := _OPENING_TAIL.search(shown):
        shown = shown[: tail.start()]
    return shown.strip()


def opens_in_prompt(text: str) -> bool:
    """Return whether this whole reply closes a reasoning block that it never opened."""
    return _headless_end(text) > 0


def _headless_end(text: str) -> int:
    """Return where the reasoning ends of a reply that has the closing tag alone, else 0.

    Chat templates that open the block in the prompt leave such replies.
    """
    closing = _CLOSING.search(text)
    if closing is None or _OPENING.search(text, 0, closing.start()):
        return 0
    return closing.end()
