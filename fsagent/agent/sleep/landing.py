"""Write a patch: archival first, then the blocks, then one commit with the cursor in it.

A crash at any place loses nothing and repeats nothing: moved lines are in archival before they
leave a block; the mark that is on disk before the first write lets the next start commit what was
written as sleep's; the cursor moves only with the whole patch, and edits done again are duplicates.
"""

from __future__ import annotations

import secrets
from dataclasses import replace

from fsagent.agent.sleep.cursor import Cursor, read_cursor, write_cursor
from fsagent.agent.sleep.patch import Patch
from fsagent.errors import WorkspaceError
from fsagent.memory.accepting import NOTE
from fsagent.memory.history.history import TURN_LOCK
from fsagent.memory.history.messages import TurnNote
from fsagent.memory.history.shared import writing_for
from fsagent.memory.workspace import Workspace


class MemoryMoved(WorkspaceError):
    """A block is not what the patch was made for."""


def land(workspace: Workspace, patch: Patch, *, model: str, cost: str) -> str | None:
    """Write a patch and return its commit, None where the history keeps none.

    Raises `WorkspaceLocked` while a turn is under way, `MemoryMoved` where somebody edited a block
    since; nothing is written then.
    """
    with workspace.tree.lock(TURN_LOCK, timeout_s=0):
        _check_base(workspace, patch)
        _keep_refused(workspace, patch)
        commit = _write(workspace, patch, model, cost) if patch.changed else None
        write_cursor(workspace, Cursor(patch.seq))
        return commit


def _check_base(workspace: Workspace, patch: Patch) -> None:
    now = {block.label: block.value for block in workspace.core.blocks()}
    for label, value in patch.base.items():
        if now.get(label) != value:
            raise MemoryMoved(f"block {label} was edited meanwhile; sleep again")
    if read_cursor(workspace).seq != patch.since:
        raise MemoryMoved("another sleep has read these lines meanwhile; sleep again")


def _write(workspace: Workspace, patch: Patch, model: str, cost: str) -> str | None:
    core, archival, history = workspace.core, workspace.archival, workspace.history
    note = TurnNote(
        turn=f"sleep-{workspace.recall.now():%Y%m%dT%H%M%S}-{secrets.token_hex(2)}",
        tools=("sleep",),
        model=model,
        cost=cost,
        why=_why(patch),
        by="sleep",
    )
    notes = {label: NOTE.format(label=label) for label in patch.moved}
    paths = [*notes.values(), *(core.block(label).path for label in patch.changed)]
    history.mark(note, paths)
    for label, lines in patch.moved.items():
        archival.extend(notes[label], f"About {label}", lines)
    with writing_for(note):
        # What shrinks first: all blocks share one budget, and no write may go over it.
        for label in sorted(patch.changed, key=patch.growth):
            core.write(label, patch.values[label], base=patch.base[label])
    note = replace(note, slept=patch.slept)
    history.mark(note, paths)
    return history.commit_marked(note, paths)


def _why(patch: Patch) -> str:
    cited = dict.fromkeys(cite for one in patch.passed() for cite in one.edit.cites)
    return f"it was said at {', '.join(cited)}" if cited else ""


def _keep_refused(workspace: Workspace, patch: Patch) -> None:
    for verdict in patch.refused():
        workspace.review.keep("sleep", [verdict.edit], [verdict.reason])
