"""A real terminal for tests: the command line runs on a pty, its own session leader."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from support import ROOT

DEADLINE_S = 40
PROMPT = re.compile(rb"(?:\n|\x1b\[\?2004h)> ")


class Terminal:
    """A program on a terminal. `seen` is everything that it has written."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process, self._descriptor, self.seen = process, descriptor, b""
        self._read_to = 0

    @property
    def text(self) -> str:
        """What was written, as text with its escape sequences."""
        return self.seen.decode("utf-8", "replace")

    def type(self, keys: str) -> None:
        """Press keys; a newline is the Enter key."""
        os.write(self._descriptor, keys.encode())

    def wait_for(self, wanted: str) -> None:
        """Wait until the program writes this text, behind what was waited for before."""
        self._wait(re.compile(re.escape(wanted.encode())))

    def wait_for_prompt(self) -> None:
        """Wait until a chat waits for a message."""
        self._wait(PROMPT)

    def _wait(self, wanted: re.Pattern[bytes]) -> None:
        end = time.monotonic() + DEADLINE_S
        while (found := wanted.search(self.seen, self._read_to)) is None:
            assert time.monotonic() < end, f"{wanted!r} did not come; seen: {self.text!r}"
            assert self._pump(0.2), f"the program ended without {wanted!r}; seen: {self.text!r}"
        self._read_to = found.end()

    def wait_for_end(self) -> int:
        """Read on until the program ends; return its exit status."""
        end = time.monotonic() + DEADLINE_S
        while self._pump(0.1) and self.process.poll() is None:
            assert time.monotonic() < end, f"the program did not end; seen: {self.text!r}"
        while self._pump(0):
            pass
        return self.process.wait(DEADLINE_S)

    def press_until_it_ends(self, keys: str) -> int:
        """Press keys again and again until the program has ended; return its exit status."""
        for _ in range(40):
            if self.process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                self.type(keys)
            self._pump(1)
            time.sleep(0.2)
        status = self.process.wait(1)
        while self._pump(0.2) and select.select([self._descriptor], [], [], 0)[0]:
            pass
        return status

    def _pump(self, timeout_s: float) -> bool:
        """Read what there is; False where there will be no more."""
        if not select.select([self._descriptor], [], [], timeout_s)[0]:
            return timeout_s > 0
        try:
            piece = os.read(self._descriptor, 65_536)
        except OSError:  # the other side is closed
            return False
        self.seen += piece
        return bool(piece)


@contextmanager
def on_terminal(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, columns: int = 100
) -> Iterator[Terminal]:
    """Run `fsagent` on a terminal; whatever is left of it at the end is killed."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **(env or {})}
    with subprocess.Popen(
        [sys.executable, "-m", "fsagent", *arguments],
        stdin=child, stdout=child, stderr=child, cwd=cwd, env=variables, start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509 - one thread only
    ) as process:  # fmt: skip
        os.close(child)
        try:
            yield Terminal(process, parent)
        finally:
            if process.poll() is None:
                process.kill()
            os.close(parent)


def _take_terminal() -> None:
    """Make standard input the controlling terminal, so that Ctrl-C arrives as a signal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
