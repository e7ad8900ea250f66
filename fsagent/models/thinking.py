"""Keep a model's reasoning out of what is shown and stored."""

from __future__ import annotations

import re

# A tag counts at the start of the text or of a line only: an answer may write about <think> inline.
_BLOCK = re.compile(
    r"(?:\A|(?<=\n))\s*<(think|thinking|reasoning)>.*?(?:</\1>\s*|\Z)", re.DOTALL | re.IGNORECASE
)
# Templates that open the block in the prompt leave a reply with the closing tag alone.
_HEADLESS = re.compile(
    r"\A(?:(?!<(?:think|thinking|reasoning)>).)*?"
    r"(?:\n</(?:think|thinking|reasoning)>|</(?:think|thinking|reasoning)>\s*\n)\s*",
    re.DOTALL | re.IGNORECASE,
)
_OPENING_TAIL = re.compile(r"(?:\A|\n)\s*<[a-z]{0,9}\Z", re.IGNORECASE)


def strip_thinking(text: str) -> str:
    """Return `text` without its reasoning blocks and without white space around."""
    return _BLOCK.sub("", _HEADLESS.sub("", text, count=1)).strip()


def shown_so_far(text: str, *, headless: bool = False) -> str:
    """Return the part of an unfinished reply that can be shown: a prefix of what will be stored.

    `headless` holds everything back until a closing tag, for endpoints known to open the block
    in the prompt.
    """
    if headless and not _HEADLESS.match(text):
        return ""
    shown = _BLOCK.sub("", _HEADLESS.sub("", text, count=1))
    if tail := _OPENING_TAIL.search(shown):
        shown = shown[: tail.start()]
    return shown.strip()


def opens_in_prompt(text: str) -> bool:
    """Return whether this whole reply closes a reasoning block that it never opened."""
    return _HEADLESS.match(text) is not None
