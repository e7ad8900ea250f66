"""Put a turn into the history: outside edits are committed before it, its own writes behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fsagent.agent.session import Session
from fsagent.agent.turn import Turn
from fsagent.memory.history.messages import TurnNote
from fsagent.tools.scope import clip_bytes
from fsagent.workspace.tree import Tree

WHY_BYTES = 400
OUTSIDE_SHARE = 0.05
"""The share of the window that the diff of outside edits may fill."""


@contextmanager
def in_history(session: Session, turn: Turn) -> Iterator[None]:
    """Run a turn between the history's begin and end; the commit is made behind the reply.

    What others edited since the last turn stands in `session.outside` meanwhile.
    """
    history = session.workspace.history
    limit = int(session.context.context_tokens * OUTSIDE_SHARE) * 4
    diff = history.begin_turn(turn.id, model=session.model.name)
    session.outside = clip_bytes(diff, limit)
    try:
        yield
    finally:
        session.outside = ""
        history.end_turn(_note(session, turn), paths=_written(session.workspace.tree, session))


def _note(session: Session, turn: Turn) -> TurnNote:
    spent = session.budget.turn
    start = session.scope.turn_start
    hide = session.workspace.tree.secrets.hide  # before it is cut: a cut secret fits no rule
    return TurnNote(
        turn=turn.id,
        tools=tuple(dict.fromkeys(turn.writers)),
        model=turn.model_name,
        cost=f"{spent.tokens} tokens" + (f", {spent.usd:.4f} USD" if spent.usd else ""),
        source=f"{start[0]}:{start[1] + 1}" if start else "",
        why=clip_bytes(" ".join(hide(turn.text).split()), WHY_BYTES),
    )


def _written(tree: Tree, session: Session) -> list[str]:
    tree.take_written()
    return list(dict.fromkeys(session.scope.writes))
