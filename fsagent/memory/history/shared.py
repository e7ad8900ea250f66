"""The history of the mounted folder: each edit of a shared block is a commit of its own.

Several workspaces write there. A commit at the turn's end would hold what others wrote meanwhile, so
each edit is committed under the block's lock: what somebody's editor changed before it as theirs,
then the edit as its writer's, with the name of the workspace it came from.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

from fsagent.memory.history.messages import By, TurnNote

if TYPE_CHECKING:
    from fsagent.memory.history.history import History

_note: ContextVar[TurnNote | None] = ContextVar("note", default=None)


@contextmanager
def writing_for(note: TurnNote) -> Iterator[None]:
    """Say for which turn or sleep shared blocks are edited in this context."""
    token = _note.set(note)
    try:
        yield
    finally:
        _note.reset(token)


@contextmanager
def committed(history: History, path: str, *, by_person: bool, workspace: str) -> Iterator[None]:
    """Commit the edit of one file that is made inside; hold the file's lock around it.

    What hinders a commit is a notice of `history`; the edit stands.
    """
    note = _note.get() or TurnNote()
    by: By = "person" if by_person else note.by
    with history.tolerant():
        history.commit("outside", paths=[path])
    yield
    with history.tolerant():
        # Where the words stand and what they were belongs to that workspace alone.
        kept = replace(note, source="", why="", cost="", workspace=workspace)
        history.commit(by, kept, paths=[path])
