"""Sleep for a workspace that nobody is talking to: `fsagent watch` asks now and then."""

from __future__ import annotations

from datetime import datetime

from fsagent.agent.recovery import is_in_turn
from fsagent.agent.sleep.cursor import read_cursor
from fsagent.agent.sleep.report import SleepReport
from fsagent.agent.sleep.sleep import sleep
from fsagent.memory.workspace import Workspace

_TAIL_LINES = 20


def sleep_if_idle(workspace: Workspace) -> SleepReport | None:
    """Sleep once where something new was said and all is quiet for `sleep_after_s`; else None."""
    after_s = workspace.settings.sleep_after_s
    tail = workspace.recall.tail(_TAIL_LINES)
    if after_s <= 0 or not tail:
        return None
    last = tail[-1][2]
    quiet_s = (workspace.recall.now() - datetime.fromisoformat(last.ts)).total_seconds()
    if quiet_s < after_s or workspace.recall.last_seq() <= read_cursor(workspace).seq:
        return None
    if any(is_in_turn(workspace, record.session) for _, _, record in tail if record.session):
        return None
    return sleep(workspace, idle=True)
