"""Save what matters before it leaves the context: a sleep as soon as the window is nearly full.

At 70 % the model is told so; whatever it does about it, what people said since the last sleep goes
through a sleep and its gates before the next turn. One is enough until the oldest half has left:
what is said later is in the newer half. A turn that by itself overflows the window loses nothing
either: recall holds it, and the next sleep reads it there.
"""

from __future__ import annotations

from dataclasses import dataclass

from fsagent.agent.events import Notice, OnEvent
from fsagent.agent.session import Session
from fsagent.errors import FsagentError

_RETRIED = ("deferred", "cancelled")


@dataclass(slots=True)
class Pressure:
    """Remembers whether what the window holds was saved since it last had room."""

    saved: bool = False

    def relieve(self, session: Session, on_event: OnEvent) -> None:
        """Sleep where the window is nearly full and nothing of it was saved yet.

        The setting `sleep_after_s` switches sleep off, this one too.
        """
        if not session.context.is_pressed():
            self.saved = False
            return
        if self.saved or session.settings.sleep_after_s <= 0:
            return
        try:
            self._save(session, on_event)
        except FsagentError as err:
            # What is wrong with memory must not stop a conversation; recall has every word.
            self.saved = True
            on_event(
                Notice(f"Nothing was saved before the oldest messages leave the context: {err}")
            )

    def _save(self, session: Session, on_event: OnEvent) -> None:
        from fsagent.agent.sleep.sleep import sleep

        session.workspace.history.wait()
        report = sleep(
            session.workspace,
            session.settings.sleep_model or session.model,
            settings=session.settings,
            idle=True,
        )
        self.saved = report.stop not in _RETRIED
        if report.landed or report.kept:
            on_event(Notice(f"Saved before the oldest messages leave the context: {report.text}."))
