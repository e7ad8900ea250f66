"""Running the git binary so that nothing around the workspace can reach into it.

The environment is an allow-list and every inherited `GIT_*` is dropped: with GIT_DIR inherited,
`git -C workspace commit` commits into another repository. Git is told where its directory is and
that there is no work tree, so it discovers nothing, reads no `.gitattributes` and runs no filter;
files are read by us and handed over as bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from fsagent.config import environment
from fsagent.errors import HistoryError

LIMIT_S = 20.0
LONG_LIMIT_S = 1800.0
_PASSED = ("PATH", "PATHEXT", "SYSTEMROOT", "WINDIR", "COMSPEC", "TMPDIR", "TEMP", "TMP")
_FIXED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    # Without this an explicit GIT_DIR makes the current folder the work tree.
    "GIT_IMPLICIT_WORK_TREE": "0",
    "LC_ALL": "C",
}
_FLAGS = {
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "log.showSignature": "false",
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "",
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.quotePath": "false",
    # Loose objects are not synced by default; a ref that outlives its object is a broken repository.
    "core.fsync": "committed,reference",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "i18n.commitEncoding": "utf-8",
    "i18n.logOutputEncoding": "utf-8",
}


def find_git() -> str | None:
    """Return the git binary on the PATH, None where there is none."""
    return shutil.which("git", path=environment().get("PATH"))


class Git:
    """A git directory, worked on through the binary. Raises `HistoryError` with git's own words."""

    def __init__(self, binary: str, directory: Path) -> None:
        self.binary, self.directory = binary, directory

    def run(
        self,
        *args: str,
        feed: bytes = b"",
        variables: Mapping[str, str] | None = None,
        flags: Mapping[str, str] | None = None,
        limit_s: float = LIMIT_S,
        allowed: Sequence[int] = (0,),
    ) -> bytes:
        """Run one command and return its output; a status not in `allowed` raises `HistoryError`."""
        try:
            done = subprocess.run(
                self._command(args, flags),
                input=feed,
                capture_output=True,
                timeout=limit_s,
                env=self._environment(variables),
                check=False,
            )
        except subprocess.TimeoutExpired as err:
            raise HistoryError(f"git {args[0]} took longer than {limit_s:g} s; ended") from err
        except OSError as err:
            raise HistoryError(f"git cannot be run: {err.strerror}") from err
        if done.returncode not in allowed:
            raise HistoryError(f"git {args[0]}: {_first_line(done.stderr, done.returncode)}")
        return done.stdout

    def text(self, *args: str, allowed: Sequence[int] = (0,)) -> str:
        """Run one command and return its output as stripped text."""
        return self.run(*args, allowed=allowed).decode("utf-8", "replace").strip()

    @contextmanager
    def pipe(self, *args: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a command whose input and output are streamed; its end is waited for and checked."""
        process = subprocess.Popen(
            self._command(args, None),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment(None),
        )
        try:
            with process:
                yield process
        except BaseException:
            process.kill()
            raise
        if process.returncode:
            raise HistoryError(f"git {args[0]} ended with status {process.returncode}")

    def spawn(self, *args: str, flags: Mapping[str, str] | None = None) -> None:
        """Start a command that goes on by itself, for maintenance that may outlive this process."""
        subprocess.Popen(
            self._command(args, flags),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self._environment(None),
            start_new_session=True,
        ).wait(LIMIT_S)

    def _command(self, args: Sequence[str], flags: Mapping[str, str] | None) -> list[str]:
        settings = {**_FLAGS, **(flags or {})}
        given = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        return [self.binary, *given, *args]

    def _environment(self, variables: Mapping[str, str] | None) -> dict[str, str]:
        outer = environment()
        kept = {name: outer[name] for name in _PASSED if name in outer}
        return {**kept, **_FIXED, "GIT_DIR": str(self.directory), **(variables or {})}


def read_blobs(git: Git, names: Sequence[str]) -> list[bytes | None]:
    """Return the contents of objects, in order; None for one that is not there."""
    if not names:
        return []
    data = git.run("cat-file", "--batch", feed="".join(f"{name}\n" for name in names).encode())
    found: list[bytes | None] = []
    at = 0
    for _ in names:
        end = data.index(b"\n", at)
        header = data[at:end].split(b" ")
        at = end + 1
        if header[-1] == b"missing":
            found.append(None)
            continue
        size = int(header[-1])
        found.append(data[at : at + size])
        at += size + 1
    return found


def _first_line(stderr: bytes, status: int) -> str:
    text = stderr.decode("utf-8", "replace").strip()
    lines = [line for line in text.splitlines() if not line.startswith(("hint:", "warning:"))]
    return lines[0].removeprefix("fatal: ") if lines else f"status {status}"
