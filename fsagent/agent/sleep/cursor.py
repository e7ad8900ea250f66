"""How far sleep has read: in the commit of its edits; a state file spares reading again what gave nothing."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import asdict, dataclass

from fsagent.agent.sleep.material import Said
from fsagent.agent.sleep.witnesses import Witnesses
from fsagent.memory.workspace import Workspace

STATE = "sleep.json"
_STATE_BYTES = 512
_SLEPT = re.compile(r"(?P<line>\S+:\d+) seq (?P<seq>\d{1,15})(?: sum (?P<sum>[0-9a-f]{8}))?$")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The `seq` up to which sleep has read, and the failures in a row since.

    `failed_at` is the last `seq` of the material that failed.
    """

    seq: int = 0
    failures: int = 0
    failed_at: int = 0


def read_cursor(workspace: Workspace) -> Cursor:
    """Return the cursor: the state file's, or the newest commit's where that is further."""
    state = _state(workspace)
    for slept in workspace.history.slept_through():
        match = _SLEPT.search(slept)
        if match is None or int(match["seq"]) <= state.seq:
            break
        # A commit without its state comes from elsewhere: a clone, whose log may lack what the
        # sleep had read, and holds other lines under the same numbers.
        if _is_line_there(workspace, match):
            return Cursor(int(match["seq"]))
    return state


def write_cursor(workspace: Workspace, cursor: Cursor) -> None:
    """Note the cursor beside the history."""
    data = json.dumps(asdict(cursor)).encode().ljust(_STATE_BYTES)
    workspace.tree.state.write(STATE, data)


def slept_trailer(last: Said, seq: int) -> str:
    """Return the cursor as a commit names it: the last line that was read, and its sum."""
    return f"{last.citation} seq {seq} sum {_sum(last)}"


def _sum(line: Said) -> str:
    return f"{zlib.crc32(f'{line.ts} {line.turn} {line.name} {line.text}'.encode('utf-8', 'replace')):08x}"


def _is_line_there(workspace: Workspace, slept: re.Match[str]) -> bool:
    lines = Witnesses(workspace, []).named([slept["line"]])
    return any(slept["sum"] in (None, _sum(line)) for line in lines)


def _state(workspace: Workspace) -> Cursor:
    try:
        shape = json.loads(workspace.tree.state.read(STATE) or b"{}")
        state = Cursor(*(shape.get(key, 0) for key in Cursor.__slots__))
    except (ValueError, AttributeError):
        return Cursor()
    return state if all(type(value) is int for value in asdict(state).values()) else Cursor()
