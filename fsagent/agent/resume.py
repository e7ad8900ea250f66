"""Go on where a session stopped: rebuild the queue from the end of recall."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fsagent.agent.context import LOW_SHARE
from fsagent.agent.queue import Queue, Unit
from fsagent.agent.recorder import SAID, facts_of
from fsagent.agent.session import Session
from fsagent.agent.taint import restore_taint
from fsagent.agent.unanswered import retried
from fsagent.memory.recall import Recall
from fsagent.tokens import estimate_text
from fsagent.tools.windows import Window
from fsagent.types import Message
from fsagent.workspace.records import Record

TAIL_LINES = 600
"""How many lines of recall are looked at; what stands before them is found by search."""

_WINDOW = re.compile(r"(?P<path>\S.*) lines (?P<start>\d+)-(?P<end>\d+) of \d+\n")


def last_session(recall: Recall) -> str | None:
    """Return the id of the session that spoke last, None where recall knows none."""
    for _, _, record in reversed(recall.tail(TAIL_LINES)):
        if record.session and record.kind == "begin":
            return record.session
    return None


def restore(session: Session) -> int:
    """Fill the session's queue with its newest messages; return how many these are.

    The last compaction's summary comes back with them; what does not fit stays in recall.
    """
    tail = session.workspace.recall.tail(TAIL_LINES)
    records = [record for _, _, record in tail if record.session == session.id]
    context = session.context
    context.queue.summary, through = _last_summary(records)
    restore_taint(session, records)
    half_said = {retried(record) for record in records if record.kind == "begin"}
    units = _whole_units(
        record
        for record in records
        if record.seq > through and not (record.turn in half_said and _is_text(record))
    )
    for unit in _newest(units, int(context.room_tokens * LOW_SHARE)):
        for message in unit.messages:
            context.add(message, turn=unit.turn, seq=unit.seq)
            session.used_ids.update(call.id for call in message.tool_calls)
            _open_window(session, message)
        context.fit_step()
    context.settle()
    return sum(len(unit.messages) for unit in context.queue.units)


def _last_summary(records: Sequence[Record]) -> tuple[str, int]:
    """Return the newest summary and the `seq` up to which it speaks."""
    for record in reversed(records):
        if record.kind == "compaction":
            facts = facts_of(record.content)
            return str(facts.get("summary", "")), int(facts.get("through", 0))
    return "", 0


def _whole_units(records: Iterable[Record]) -> list[Unit]:
    """Return the messages as units; a call without all of its results is left out."""
    queue = Queue()
    for record in records:
        if record.kind is not None or record.source == SAID or record.role == "system":
            continue
        if record.role == "tool" and not _awaits(queue, record.tool_call_id):
            continue
        queue.add(_message(record), turn=record.turn, seq=record.seq)
    return [unit for unit in queue.units if unit.is_whole]


def _is_text(record: Record) -> bool:
    """Say whether a record is text of the model: of a turn that was asked again, half an answer."""
    return record.role == "assistant" and not record.tool_calls


def _awaits(queue: Queue, call_id: str | None) -> bool:
    calls = queue.units[-1].messages[0].tool_calls if queue.units else ()
    return any(call.id == call_id for call in calls)


def _message(record: Record) -> Message:
    name = record.name if record.role == "tool" else None
    return Message(record.role, record.content, record.tool_calls, record.tool_call_id, name)


def _newest(units: Sequence[Unit], room_tokens: int) -> list[Unit]:
    kept: list[Unit] = []
    for unit in reversed(units):
        room_tokens -= unit.tokens
        if room_tokens < 0:
            break
        kept.append(unit)
    return kept[::-1]


def _open_window(session: Session, message: Message) -> None:
    match = _WINDOW.match(message.content) if message.name == "open" else None
    if match and message.tool_call_id:
        tokens = estimate_text(message.content)
        window = Window(
            match["path"], int(match["start"]), int(match["end"]), tokens, message.tool_call_id
        )
        session.scope.windows.open(window)
