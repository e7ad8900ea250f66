"""Carry what untrusted text the model has seen from turn to turn, over a restart too.

A turn is tainted by what its own tools showed, and by what an earlier turn's did: the turn right
before it, in whatever process, and any turn whose messages still stand in the queue or went into
the summary. Recall keeps it: a line of the kind `untrusted` stands there before the model reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fsagent.agent.queue import Unit
from fsagent.agent.recorder import facts_of
from fsagent.agent.session import Session
from fsagent.memory.recall import Recall
from fsagent.memory.trust import UNTRUSTED, is_carried, sources_of
from fsagent.workspace.records import Record

TAIL_LINES = 600
"""How many lines of recall are looked at for the turn before the first one of a process."""


def begin_taint(session: Session, turn: str, said: str, *, again: Iterable[str] = ()) -> None:
    """Start a turn's taint; say in recall what is carried into it.

    `again` are the unanswered turns that it takes up: their messages become its own.
    """
    own = [one for name in again for one in session.tainted.get(name, ())]
    if own:
        session.tainted[turn] = tuple(dict.fromkeys(own))
    if session.before is None:
        session.before = last_sources(session.workspace.recall, turn)
    queued = {unit.turn for unit in session.context.queue.units}
    carried = [
        *own,
        *session.before,
        *(one for name in queued for one in session.tainted.get(name, ())),
        *session.summary_sources,
    ]
    taint = session.scope.taint
    taint.begin(said, carried)
    if taint.carried:
        facts = {"sources": list(taint.carried), "carried": True}
        session.recorder.mark(turn, UNTRUSTED, facts)
    session.outside = taint.outside(session.outside)
    keep_taint(session, turn)


def keep_taint(session: Session, turn: str) -> None:
    """Say in recall what untrusted text the turn is about to be shown, if that is more than before."""
    known = session.tainted.get(turn, ())
    new = [place for place in session.scope.taint.shown_places if place not in known]
    if new:
        session.recorder.mark(turn, UNTRUSTED, {"sources": new})
        session.tainted[turn] = (*known, *new)


def end_taint(session: Session, turn: str) -> None:
    """Remember what this turn saw for the next one."""
    session.before = session.tainted.get(turn, ())


def fold_taint(session: Session, evicted: Iterable[Unit]) -> None:
    """Note that messages of tainted turns go into the summary."""
    turns = dict.fromkeys(unit.turn for unit in evicted)
    gone = [one for turn in turns for one in session.tainted.get(turn, ())]
    session.summary_sources = tuple(dict.fromkeys([*session.summary_sources, *gone]))


def restore_taint(session: Session, records: Sequence[Record]) -> None:
    """Take over from a session's lines what its turns and its summary had seen."""
    for record in records:
        if record.kind == UNTRUSTED and not is_carried(record):
            known = session.tainted.get(record.turn, ())
            session.tainted[record.turn] = (*known, *sources_of(record))
        elif record.kind == "compaction":
            facts = facts_of(record.content)
            session.summary_sources = tuple(map(str, facts.get("sources") or ()))


def last_sources(recall: Recall, turn: str) -> tuple[str, ...]:
    """Return what the last turn before `turn` was shown, whichever process it ran in."""
    found: dict[str, None] = {}
    last = ""
    for record in _back(recall):
        if not record.turn or record.turn == turn:
            continue
        if record.kind == "end" and last and record.turn != last:
            break
        last = last or record.turn
        if record.turn == last and not is_carried(record):
            found.update(dict.fromkeys(sources_of(record)))
    return tuple(found)


def _back(recall: Recall) -> Iterator[Record]:
    return (record for _, _, record in reversed(recall.tail(TAIL_LINES)))
