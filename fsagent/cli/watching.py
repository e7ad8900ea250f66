"""The command watch: commits what an editor or a sync program changes, and sleeps when all is quiet."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import click

from fsagent.cli.common import complain, note, open_workspace, say, workspace_option
from fsagent.errors import FsagentError

if TYPE_CHECKING:
    from fsagent.memory.workspace import Workspace

SLEEP_EVERY_S = 10.0


@click.command()
@click.option("--once", is_flag=True, help="Look once and end.")
@click.option("--no-sleep", is_flag=True, help="Only commit edits; never consolidate.")
@workspace_option
def watch(once: bool, no_sleep: bool, workspace: str | None) -> None:
    """Commit edits from outside as they happen, and sleep when nobody talks, until Ctrl-C.

    A sleep consolidates what was said into core memory; the setting sleep_after_s says after how
    long a silence (0: never).
    """
    from fsagent.workspace.watch import Watcher

    with open_workspace(workspace) as opened:
        if once:
            _look(opened)
            if not no_sleep:
                _sleep(opened)
            return
        watcher = Watcher(opened.root, lambda: _look(opened))
        watcher.start()
        note(
            f"Watching {opened.root}; Ctrl-C ends."
            + (f" {watcher.warning}" if watcher.warning else "")
        )
        try:
            _until_interrupted(workspace, no_sleep=no_sleep)
        finally:
            watcher.stop()


def _until_interrupted(workspace: str | None, *, no_sleep: bool) -> None:
    never = threading.Event()
    if no_sleep:
        never.wait()
    # A workspace of its own: the watcher's thread uses the other one's history.
    with open_workspace(workspace) as opened:
        while not never.wait(SLEEP_EVERY_S):
            _sleep(opened)


def _look(opened: Workspace) -> None:
    from fsagent.memory.history.log import one_commit

    history = opened.history
    commit = history.look()
    for text in history.notices():
        note(f"fsagent: {text}")
    if commit:
        say(f"{commit[:10]}  {one_commit(history.repository.git, commit).subject}")


def _sleep(opened: Workspace) -> None:
    from fsagent.agent.sleep.unattended import sleep_if_idle

    try:
        report = sleep_if_idle(opened)
    except FsagentError as err:
        complain(f"no sleep now: {err}")
        return
    if report is None or (report.stop == "nothing" and not report.kept):
        return
    for commit in report.commits:
        say(f"{commit[:10]}  sleep: {report.text}")
    if not report.commits:
        note(f"fsagent: sleep: {report.text}")
