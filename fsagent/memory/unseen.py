"""Characters that a reader does not see, and that text for a model can be hidden in."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_CATEGORIES = ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")
# Blank letters and fillers, and the selectors of variants: 256 of them can spell any bytes.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(
    map(chr, [*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
)
_JOINERS = "\u200c\u200d"
_EMOJI_STYLES = "\ufe0e\ufe0f"


def unseen(text: str) -> Iterator[int]:
    """Yield the places of characters that cannot be seen; newlines and tabs are none.

    A joiner inside Persian, Hindi or an emoji is seen by what it does, as is the style of an emoji.
    """
    for place, ch in enumerate(text):
        hidden = unicodedata.category(ch) in _CATEGORIES and ch not in "\n\t"
        if (hidden or ch in _BLANK) and not _is_seen(ch, text[place - 1] if place else ""):
            yield place


def _is_seen(ch: str, before: str) -> bool:
    if not before:
        return False
    kind = unicodedata.category(before)
    if ch in _JOINERS:
        return before in _EMOJI_STYLES or (ord(before) >= 0x590 and kind[0] in "LMS")
    return ch in _EMOJI_STYLES and (kind[0] == "S" or before in "0123456789#*‼⁉")
