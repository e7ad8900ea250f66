"""What the tests of the history share: a person's git, a clock, turns, poisoned surroundings."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fsagent import Workspace
from fsagent.memory.history.messages import TurnNote
from fsagent.memory.recall import Draft

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
CLEAN = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **delta: float) -> None:
        self.now += timedelta(**delta)


def git(folder: Path, *args: str, check: bool = True, feed: str | None = None) -> str:
    """Run git as a person with a clean environment would."""
    identity = ("-c", "user.name=Person", "-c", "user.email=person@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *args],
        env=CLEAN,
        capture_output=True,
        text=True,
        check=False,
        input=feed,
    )
    if check and done.returncode:
        raise AssertionError(f"git {args}: {done.stderr}")
    return done.stdout.rstrip("\n")


def fingerprint(folder: Path) -> str:
    """Return a hash of every name and byte below a folder, `.fsagent` and workspaces left out."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "ws" not in path.relative_to(folder).parts:
            digest.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return digest.hexdigest()


def poison(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Poison HOME and the environment; return the file that appears if anything of it ran."""
    canary = tmp_path / "canary"
    script = tmp_path / "evil.sh"
    script.write_text(f'#!/bin/sh\necho "$0 $*" >> {canary}\nexit 1\n')
    script.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "prepare-commit-msg",
        "post-index-change",
        "pre-auto-gc",
    ):
        (hooks / name).symlink_to(script)
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "attributes").write_text("* filter=evil\n")
    config = (
        f"[core]\n hooksPath = {hooks}\n fsmonitor = {script}\n autocrlf = true\n pager = {script}\n"
        f" editor = {script}\n[commit]\n gpgsign = true\n[gpg]\n program = {script}\n"
        f'[filter "evil"]\n clean = {script}\n smudge = {script}\n required = true\n'
        f"[diff]\n external = {script}\n[log]\n showSignature = true\n[gc]\n auto = 1\n"
    )
    (home / ".gitconfig").write_text(config)
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], env=CLEAN, check=True)
    for name, value in {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / "index"),
        "GIT_OBJECT_DIRECTORY": str(other / "objects"),
        "GIT_AUTHOR_NAME": "Evil",
        "GIT_COMMITTER_EMAIL": "evil@example.org",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": str(hooks),
        "GIT_EXTERNAL_DIFF": str(script),
        "GIT_PAGER": str(script),
        "GIT_EDITOR": str(script),
        "GIT_TRACE": str(canary),
        "GIT_NAMESPACE": "evil",
        "GIT_CEILING_DIRECTORIES": "/",
    }.items():
        monkeypatch.setenv(name, value)
    return canary


class Turns:
    """Plays turns as the agent would: words into recall, edits, the commit."""

    def __init__(self, workspace: Workspace, clock: Clock) -> None:
        self.workspace, self.clock, self.count = workspace, clock, 0

    def play(
        self, words: str, edit: Callable[[], object] | None = None, *, by: str = "user"
    ) -> str:
        """Play one turn and return its id."""
        self.count += 1
        turn = f"t-{self.count:04d}"
        self.clock.forward(minutes=1)
        history = self.workspace.history
        history.begin_turn(turn, model="scripted")
        self.workspace.recall.append(Draft("user", by, words, turn=turn))
        if edit is not None:
            edit()
        self.workspace.recall.append(Draft("assistant", "fsagent", "Noted.", turn=turn))
        note = TurnNote(turn, ("core_memory_append",), "scripted", "12 tokens")
        history.commit_turn(note)
        return turn


def fsagent(workspace: Workspace, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the command line on a workspace, not on a terminal."""
    environment = {**CLEAN, "PYTHONPATH": os.pathsep.join(sys.path), "FSAGENT_TIMEZONE": "UTC"}
    return subprocess.run(
        [sys.executable, "-m", "fsagent", *args, "-w", str(workspace.root)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env=environment,
    )
