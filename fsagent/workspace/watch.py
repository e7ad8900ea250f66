"""Noticing edits from outside: events wake a scan, and a scan alone decides what changed.

Events are lost in bursts (10-87 % of 50,000 files) and raised by reading, so they carry nothing
but the wish to look; a rescan every half minute covers a lost one.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_log = logging.getLogger(__name__)
QUIET_S = 0.4
PATIENCE_S = 5.0
RESCAN_S = 30.0
_POLL_S = 2.0
# What editors, browsers and sync programs write before the real file: vim, Emacs, Office, rsync,
# Syncthing, Dropbox, Firefox, Chromium, macOS's safe save.
_TEMPORARY = re.compile(
    r"(.*~|~\$.*|\#.*\#|4913|.*\.(tmp|temp|part|partial|swp|swo|swx|crdownload|download|bak~)"
    r"|.*\.sb-[0-9a-f]{8}-\w+|.*\.tmp\.\w+)",
    re.I,
)


def is_temporary(path: str) -> bool:
    """Say whether a name is one that a program writes in passing, not a file of memory."""
    return _TEMPORARY.fullmatch(path.rpartition("/")[2]) is not None


class Watcher:
    """Calls `look` in its own thread when files beneath `root` changed and then stayed quiet.

    `look` is called once at the start, after each burst, and every `rescan_s` seconds. What it
    raises is logged and the watch goes on. Where the system refuses to watch, it polls, and
    `warning` says so.
    """

    def __init__(
        self,
        root: Path,
        look: Callable[[], None],
        *,
        quiet_s: float = QUIET_S,
        rescan_s: float = RESCAN_S,
    ) -> None:
        self._root, self._look = root, look
        self._quiet_s, self._rescan_s = quiet_s, rescan_s
        self._event, self._stop = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="fsagent-watch", daemon=True)
        self._observer: Any = None
        self.warning: str | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._observer = self._observe()
        self._event.set()
        self._thread.start()

    def stop(self) -> None:
        """End the watch and wait for a look that is under way."""
        self._stop.set()
        self._event.set()
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._event.wait(self._rescan_s)
            self._settle()
            if self._stop.is_set():
                return
            try:
                self._look()
            except Exception:
                _log.exception("a look at outside edits failed; the next one tries again")

    def _settle(self) -> None:
        """Wait until no event came for a while, but not for ever."""
        end = time.monotonic() + PATIENCE_S
        while self._event.is_set() and time.monotonic() < end:
            self._event.clear()
            self._stop.wait(self._quiet_s)
        self._event.clear()

    def _observe(self) -> Any:
        from watchdog.observers import Observer

        try:
            observer = Observer()
            wake: Any = _Wake(self._root, self._event)
            observer.schedule(wake, str(self._root), recursive=True)
            observer.start()
        except OSError as err:
            # Looking is a stat scan, so looking more often is all that polling needs.
            self._rescan_s = min(self._rescan_s, _POLL_S)
            self.warning = (
                f"the system refuses to watch this folder ({err.strerror or err}); "
                f"it is looked at every {self._rescan_s:g} s instead"
            )
            _log.warning("%s", self.warning)
            return None
        return observer


class _Wake:
    """What watchdog calls: sets the event for a change beneath the root that could matter."""

    def __init__(self, root: Path, event: threading.Event) -> None:
        self._root, self._event = root, event

    def dispatch(self, event: Any) -> None:
        """Take one event; opening and reading a file are no change."""
        if event.event_type in ("opened", "closed_no_write"):
            return
        for name in (event.src_path, getattr(event, "dest_path", "")):
            if name and self._matters(str(name)):
                self._event.set()
                return

    def _matters(self, name: str) -> bool:
        parts = Path(name).parts[len(self._root.parts) :]
        return bool(parts) and not any(part.startswith(".") for part in parts)
