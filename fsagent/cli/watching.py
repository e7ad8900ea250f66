"""The command watch: commits what an editor or a sync program changes, as it happens."""

from __future__ import annotations

import threading

import click

from fsagent.cli.common import note, open_workspace, say, workspace_option


@click.command()
@click.option("--once", is_flag=True, help="Look once and end.")
@workspace_option
def watch(once: bool, workspace: str | None) -> None:
    """Commit edits from outside as they happen, until Ctrl-C."""
    from fsagent.memory.history.log import one_commit
    from fsagent.workspace.watch import Watcher

    with open_workspace(workspace) as opened:
        history = opened.history
        repository = history.repository

        def look() -> None:
            commit = history.look()
            for text in history.notices():
                note(f"fsagent: {text}")
            if commit:
                say(f"{commit[:10]}  {one_commit(repository.git, commit).subject}")

        if once:
            look()
            return
        watcher = Watcher(opened.root, look)
        watcher.start()
        note(
            f"Watching {opened.root}; Ctrl-C ends."
            + (f" {watcher.warning}" if watcher.warning else "")
        )
        try:
            threading.Event().wait()
        finally:
            watcher.stop()
