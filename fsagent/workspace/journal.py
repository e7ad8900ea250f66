"""Tell whoever asked what is about to be written: the path, and the hash before and after.

A turn writes it down as an intent, so that after a crash the file's hash says whether the write
happened. The listener belongs to one context of execution: writers elsewhere in the process are
not heard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Intend = Callable[[str, str, str], None]
"""Receives the path, the sha256 it has (`""` for no file) and the sha256 it is to have."""

_intend: ContextVar[Intend | None] = ContextVar("intend", default=None)


@contextmanager
def journaling(intend: Intend) -> Iterator[None]:
    """Have `intend` called before every whole-file write in this context."""
    token = _intend.set(intend)
    try:
        yield
    finally:
        _intend.reset(token)


def announce(path: str, before: str, after: str) -> None:
    """Say what is about to be written; returns when that is kept."""
    intend = _intend.get()
    if intend is not None:
        intend(path, before, after)
