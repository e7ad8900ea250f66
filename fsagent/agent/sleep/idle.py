"""The idle timer: a while after a turn the agent sleeps in the background; a message cancels it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from fsagent.agent.sleep.report import SleepReport
from fsagent.agent.sleep.sleep import sleep
from fsagent.config import Settings
from fsagent.errors import FsagentError
from fsagent.memory.workspace import Workspace
from fsagent.types import Clock, Model

log = logging.getLogger(__name__)

JOIN_S = 5.0
"""How long `close` waits for a patch that is being written."""


class IdleSleep:
    """Sleep `after_s` seconds after `turn_ended`, unless `turn_begins` comes first.

    It opens the workspace anew in its own thread, so that a message never waits for it. What it
    did is given to `on_report` (in that thread), and kept for `take_reports`.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        model: Model | str | None = None,
        settings: Settings | None = None,
        on_report: Callable[[SleepReport], None] | None = None,
    ) -> None:
        self._root, self._clock = workspace.root, workspace.clock
        self._settings = settings or workspace.settings
        self._model, self._on_report = model, on_report
        self._timer: threading.Timer | None = None
        self._cancelled = threading.Event()
        self._reports: list[SleepReport] = []

    def turn_begins(self) -> None:
        """Cancel what waits or runs; returns at once."""
        self._cancelled.set()
        if self._timer is not None:
            self._timer.cancel()

    def turn_ended(self) -> None:
        """Start the timer. A time of 0 in the setting `sleep_after_s` switches it off."""
        self.turn_begins()
        if self._settings.sleep_after_s <= 0:
            return
        cancelled = self._cancelled = threading.Event()
        self._timer = threading.Timer(self._settings.sleep_after_s, self._sleep, [cancelled])
        self._timer.name, self._timer.daemon = "fsagent-sleep", True
        self._timer.start()

    def take_reports(self) -> list[SleepReport]:
        """Return what the sleeps since the last call did."""
        taken, self._reports = self._reports, []
        return taken

    def wait(self, timeout_s: float) -> None:
        """Wait for the sleep that is scheduled or under way to end."""
        if self._timer is not None:
            self._timer.join(timeout_s)

    def close(self) -> None:
        """Cancel, and wait a moment for a patch that is being written."""
        self.turn_begins()
        self.wait(JOIN_S)

    def _sleep(self, cancelled: threading.Event) -> None:
        try:
            report = sleep_once(
                self._root, self._settings, self._clock, self._model, cancelled.is_set
            )
        except FsagentError as err:
            log.warning("the sleep in the background failed: %s", err)
            report = SleepReport("failed", str(err))
        self._reports.append(report)
        if self._on_report is not None:
            self._on_report(report)


def sleep_once(
    root: object,
    settings: Settings,
    clock: Clock,
    model: Model | str | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> SleepReport:
    """Open the workspace at `root` for one background sleep."""
    with Workspace.open(str(root), settings=settings, clock=clock) as workspace:
        return sleep(workspace, model, settings=settings, idle=True, is_cancelled=is_cancelled)
