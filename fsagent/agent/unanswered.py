"""Find the last message that got no answer, so that it can be asked again without being written again.

A turn that a crash, Ctrl-C or a failing model ended leaves its message in recall. A retry is a turn
of its own whose `begin` names that turn; it writes no second message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fsagent.agent.recorder import facts_of
from fsagent.memory.recall import Recall, Reference
from fsagent.workspace.records import Record

TAIL_LINES = 400
"""How many lines of recall are looked at."""

RETRIES = "retries"
"""The fact of a `begin` line that names the turn whose message it asks again."""

UNANSWERED = ("interrupted", "model_error")
"""The stops that leave a message without an answer."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A message without an answer: where its turn begins, its session, why the last try ended.

    `turns` are the turns that tried, newest first; the last one holds the message.
    """

    turns: tuple[str, ...]
    session: str
    text: str
    begins: Reference
    stop: str

    @property
    def short(self) -> str:
        """The message as one line."""
        return short(self.text)


def short(text: str) -> str:
    """Return a message as one line for a notice."""
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."


def last_unanswered(recall: Recall, session: str | None = None) -> Unanswered | None:
    """Return the message of the newest turn (of a session) where that turn ended without an answer."""
    tail = recall.tail(TAIL_LINES)
    turns = {
        record.turn: (place, record)
        for place, (_, _, record) in enumerate(tail)
        if record.kind == "begin" and record.session and session in (None, record.session)
    }
    if not turns:
        return None
    newest = next(reversed(turns))
    ends = [record for _, _, record in tail if record.kind == "end" and record.turn == newest]
    stop = str(facts_of(ends[-1].content).get("stop", "")) if ends else ""
    tries = tries_of(newest, {turn: record for turn, (_, record) in turns.items()})
    said = next((one for _, _, one in tail if one.turn == tries[-1] and one.role == "user"), None)
    if stop not in UNANSWERED or tries[-1] not in turns or said is None:
        return None
    path, line, begin = tail[turns[tries[-1]][0]]
    begins = Reference(path, line, begin.seq)
    return Unanswered(tries, begin.session or "", said.content, begins, stop)


def tries_of(turn: str, begins: Mapping[str, Record]) -> tuple[str, ...]:
    """Return the turns that tried to answer one message, newest first: a retry names the one before."""
    tries = [turn]
    while tries[-1] in begins and (before := retried(begins[tries[-1]])) and before not in tries:
        tries.append(before)
    return tuple(tries)


def retried(begin: Record) -> str:
    """Return the turn that a `begin` asks again, empty for a message of its own."""
    return str(facts_of(begin.content).get(RETRIES, ""))
