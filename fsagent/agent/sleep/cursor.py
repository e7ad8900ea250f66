"""How far sleep has read: in the commit of its edits; a state file spares reading again what gave nothing."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass

from fsagent.memory.workspace import Workspace
from fsagent.workspace.references import citation_name

STATE = "sleep.json"
_STATE_BYTES = 512
_SLEPT = re.compile(r"seq (\d{1,15})$")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The `seq` up to which sleep has read, the time of the newest file seen, failures in a row since.

    `failed_at` is the last `seq` of the material that failed.
    """

    seq: int = 0
    mtime_ns: int = 0
    failures: int = 0
    failed_at: int = 0


def read_cursor(workspace: Workspace) -> Cursor:
    """Return the cursor: the state file's, or the newest commit's where that is further."""
    state = _state(workspace)
    match = _SLEPT.search(workspace.history.slept_through())
    committed = int(match[1]) if match else 0
    # A state without its commit tells of a sleep that had nothing to change; a commit without its
    # state comes from elsewhere (a clone).
    return state if state.seq >= committed else Cursor(committed)


def write_cursor(workspace: Workspace, cursor: Cursor) -> None:
    """Note the cursor beside the history."""
    data = json.dumps(asdict(cursor)).encode().ljust(_STATE_BYTES)
    workspace.tree.state.write(STATE, data)


def slept_trailer(path: str, line: int, seq: int) -> str:
    """Return the cursor as a commit names it."""
    return f"{citation_name(path, line)} seq {seq}"


def _state(workspace: Workspace) -> Cursor:
    try:
        state = Cursor(**json.loads(workspace.tree.state.read(STATE) or b"{}"))
    except (ValueError, TypeError):
        return Cursor()
    return state if all(type(value) is int for value in asdict(state).values()) else Cursor()
