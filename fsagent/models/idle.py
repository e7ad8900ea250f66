"""Cut a connection that has gone silent."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from types import TracebackType


class IdleLimit:
    """Shut a socket down when no `feed` comes for `limit_s` seconds, `first_s` for the first one.

    A read timeout of the HTTP library cannot do this: keep-alive comments reset it, and it is the
    same before the first token (a long prompt on a small machine takes minutes) and after it.
    """

    def __init__(self, sock: socket.socket | None, *, first_s: float, limit_s: float) -> None:
        self._sock, self._limit_s = sock, limit_s
        self._deadline = time.monotonic() + first_s
        self._changed = threading.Condition()
        self._done = False
        self.expired = False
        self._thread = threading.Thread(target=self._watch, name="idle-limit", daemon=True)

    def feed(self) -> None:
        """Note that an event has come. The watcher sees the later deadline when it wakes."""
        self._deadline = time.monotonic() + self._limit_s

    def __enter__(self) -> IdleLimit:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._changed:
            self._done = True
            self._changed.notify()
        self._thread.join()

    def _watch(self) -> None:
        with self._changed:
            while not self._done:
                # The first limit may be the longer one: look again at least every limit_s.
                left = self._deadline - time.monotonic()
                if left <= 0:
                    self.expired = True
                    self._shut_down()
                    return
                self._changed.wait(min(left, self._limit_s))

    def _shut_down(self) -> None:
        # shutdown, not close: it wakes the thread that is blocked in recv.
        if self._sock is not None:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
