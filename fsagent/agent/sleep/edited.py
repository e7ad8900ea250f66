"""Whether a person is at a block right now: sleep keeps away for two minutes."""

from __future__ import annotations

import time

from fsagent.agent.recorder import facts_of
from fsagent.errors import HistoryError
from fsagent.memory.workspace import Workspace
from fsagent.workspace.template import template_text

FRESH_S = 120.0
_TAIL_LINES = 400


def fresh_edit(workspace: Workspace) -> tuple[str, float] | None:
    """Return a block that a person edited within two minutes, and how many seconds ago.

    What the agent or a sleep wrote is no person's edit, nor is the template as it was laid.
    """
    now = time.time()
    for block in workspace.core.blocks([]):
        stat = workspace.tree.peek(block.path)
        if stat is None:
            continue
        age_s = now - stat.mtime_ns / 1e9
        if 0 <= age_s < FRESH_S and not _is_ours(workspace, block.path):
            return block.path, age_s
    return None


def _is_ours(workspace: Workspace, path: str) -> bool:
    data = workspace.tree.read_bytes(path)
    return (
        _is_template(path, data)
        or workspace.tree.digest(path) in _written_hashes(workspace)
        or _is_committed_by_agent(workspace, path, data)
    )


def _is_template(path: str, data: bytes) -> bool:
    try:
        return template_text(path).encode() == data
    except OSError:
        return False


def _written_hashes(workspace: Workspace) -> set[str]:
    """Return the hashes that recent turns' tools said they would write."""
    tail = workspace.recall.tail(_TAIL_LINES)
    return {
        str(facts_of(record.content).get("after"))
        for _, _, record in tail
        if record.kind == "intent"
    }


def _is_committed_by_agent(workspace: Workspace, path: str, data: bytes) -> bool:
    """Say whether the file is as the agent's or a sleep's commit left it."""
    try:
        commit = workspace.history.last_change(path, data)
    except HistoryError:
        return False
    return commit is not None and commit.by in ("agent", "sleep")
