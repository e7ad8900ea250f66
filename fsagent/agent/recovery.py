"""Close a turn that a crash left open: exactly once, by the hash of the file.

An edit's `intent` holds the file's hash before and after. Where the edit has no result yet, the
file says what to do: before = apply it, after = it happened, adopt it; another hash means that
somebody edited in between, so it is applied only where its anchor is still unique, and is kept
under `.fsagent/quarantine` otherwise. A call that had written no intent is never run again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from fsagent.agent.recorder import SAID, RecallRecorder, facts_of
from fsagent.agent.unanswered import short, tries_of
from fsagent.errors import WorkspaceLocked
from fsagent.memory.workspace import Workspace
from fsagent.tools.registry import Toolbox
from fsagent.types import Message, ToolCall
from fsagent.workspace.records import Record

TAIL_LINES = 400
"""How many lines of recall are looked at for a turn without an end."""

LIVE_LOCK_S = 0.0
NOT_RUN, WRITTEN = "interrupted; not run", "was written"
MAY_HAVE_RUN = "interrupted while it ran; what it did is not known"


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A turn that had no end. `edits` says what became of each edit; `said` is what was asked."""

    turn: str
    said: str
    edits: tuple[str, ...]
    answered: bool

    def note(self) -> str:
        """Return the sentence for the person."""
        asked = short(self.said)
        edits = f" Its edits: {'; '.join(self.edits)}." if self.edits else ""
        if self.answered:
            return (
                f"The last turn ({asked!r}) was answered but not closed; it is closed now.{edits}"
            )
        return f"The last turn ({asked!r}) was interrupted and is closed; it can be retried.{edits}"


def session_lock(session: str) -> str:
    """Return the name of the lock that a session holds while a turn is under way."""
    return f"session-{session}"


def is_in_turn(workspace: Workspace, session: str) -> bool:
    """Say whether a process that is alive is in a turn of this session."""
    try:
        with workspace.tree.lock(session_lock(session), timeout_s=LIVE_LOCK_S):
            return False
    except WorkspaceLocked:
        return True


def recover(workspace: Workspace, toolbox: Toolbox) -> tuple[Interrupted, ...]:
    """Close every turn without an end, but for those whose process is still alive."""
    workspace.tree.state.drop_spare_locks()
    open_turns: dict[str, list[Record]] = {}
    begins: dict[str, Record] = {}
    asked: dict[str, str] = {}
    for _, _, record in workspace.recall.tail(TAIL_LINES):
        if record.session is None:
            continue
        if record.kind == "begin":
            open_turns[record.turn], begins[record.turn] = [], record
        if record.role == "user":
            asked[record.turn] = record.content
        if record.kind == "end":
            open_turns.pop(record.turn, None)
        elif record.turn in open_turns:
            open_turns[record.turn].append(record)
    return tuple(
        closed
        for turn, records in open_turns.items()
        for said in [asked.get(tries_of(turn, begins)[-1], "")]
        if (closed := _close_if_dead(workspace, toolbox, records, said)) is not None
    )


def cut_off(
    workspace: Workspace, call: ToolCall, intent: tuple[str, str] | None, *, started: bool
) -> str:
    """Return the result of a call that Ctrl-C cut off: the file's hash says whether it wrote.

    `intent` is the path it was about to write and the hash the file was to have.
    """
    if intent is None:
        text = MAY_HAVE_RUN if started else NOT_RUN
    else:
        text = WRITTEN if workspace.core.digest(intent[0]) == intent[1] else NOT_RUN
    return f"({call.name}: {text})"


def _close_if_dead(
    workspace: Workspace, toolbox: Toolbox, records: Sequence[Record], said: str
) -> Interrupted | None:
    session = records[0].session or ""
    try:
        with workspace.tree.lock(session_lock(session), timeout_s=LIVE_LOCK_S):
            return _close(workspace, toolbox, records, said)
    except WorkspaceLocked:
        return None


def _close(
    workspace: Workspace, toolbox: Toolbox, records: Sequence[Record], said: str
) -> Interrupted:
    turn = records[0].turn
    recorder = RecallRecorder(workspace.recall, session=records[0].session or "")
    intents = {
        str(facts.get("call")): facts
        for record in records
        if record.kind == "intent"
        for facts in [facts_of(record.content)]
    }
    edits = []
    for call in _pending(records):
        if call.id in intents:
            text = _settle(workspace, toolbox, call, intents[call.id])
            edits.append(f"{intents[call.id].get('path')} {text}")
        else:
            text = NOT_RUN
        message = Message("tool", f"({call.name}: {text})", tool_call_id=call.id, name=call.name)
        recorder.message(turn, message)
    answered = _is_answered(records)
    recorder.end(turn, "answered" if answered else "interrupted")
    return Interrupted(turn, said, tuple(edits), answered)


def _pending(records: Sequence[Record]) -> list[ToolCall]:
    done = {record.tool_call_id for record in records if record.role == "tool"}
    return [call for record in records for call in record.tool_calls if call.id not in done]


def _is_answered(records: Sequence[Record]) -> bool:
    last = next((record for record in reversed(records) if record.kind is None), None)
    spoke = any(record.source == SAID for record in records)
    text = last is not None and last.role == "assistant" and not last.tool_calls
    return (text and last is not None and last.source != SAID) or spoke


def _settle(
    workspace: Workspace, toolbox: Toolbox, call: ToolCall, facts: dict[str, object]
) -> str:
    """Bring one edit to its end; return what became of it."""
    path, before, after = (str(facts.get(key, "")) for key in ("path", "before", "after"))
    now = workspace.core.digest(path)
    if now == after:
        return WRITTEN
    if now == before or _anchor_is_unique(workspace, call):
        result = toolbox.run(call)
        if not result.failed:
            return "is written now" if now == before else "is written beside an edit from outside"
    kept = _quarantine(workspace, call, path)
    return f"was edited from outside meanwhile; the agent's edit is kept in {kept}"


def _anchor_is_unique(workspace: Workspace, call: ToolCall) -> bool:
    """Say whether an edit still fits a file that somebody changed, without doing it twice."""
    arguments = facts_of(call.arguments)
    label = str(arguments.get("label", ""))
    block = next((one for one in workspace.core.blocks() if one.label == label), None)
    if block is None:
        return False
    if call.name == "core_memory_append":
        return str(arguments.get("content", "")).strip() not in block.value
    if call.name == "core_memory_replace":
        old, new = str(arguments.get("old", "")), str(arguments.get("new", ""))
        return block.value.count(old) == 1 and not (new and new in block.value)
    return False


def _quarantine(workspace: Workspace, call: ToolCall, path: str) -> str:
    """Keep an edit that fits nowhere, for a person; return where."""
    shape = {"tool": call.name, "path": path, "arguments": call.arguments}
    data = json.dumps(shape, ensure_ascii=False, indent=1).encode()
    return workspace.tree.state.keep("quarantine", f"edit-of-{path.replace('/', '-')}.json", data)
