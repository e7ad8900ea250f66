"""Cut long lines: 400 characters around what was found."""

from __future__ import annotations

MAX_LINE_CHARS = 400
MAX_CONTEXT = 20


def clip_around(text: str, middle: int) -> tuple[str, bool]:
    """Cut a line to 400 characters around the place `middle`; say whether it was cut."""
    if len(text) <= MAX_LINE_CHARS:
        return text, False
    start = max(0, min(middle - MAX_LINE_CHARS // 2, len(text) - MAX_LINE_CHARS))
    head = "…" if start else ""
    tail = "…" if start + MAX_LINE_CHARS < len(text) else ""
    shown = text[start : start + MAX_LINE_CHARS]
    return head + shown[len(head) : MAX_LINE_CHARS - len(tail)] + tail, True
