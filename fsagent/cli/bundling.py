"""Commands that move a whole workspace: export, import-bundle."""

from __future__ import annotations

from pathlib import Path

import click

from fsagent.cli.common import counted, note, open_workspace, say, workspace_option
from fsagent.errors import HistoryError
from fsagent.workspace.locate import check_outside


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@workspace_option
def export(file: str, force: bool, workspace: str | None) -> None:
    """Write the workspace with its whole history into one file.

    The file is a git bundle: fsagent import-bundle lays it again, and git clone reads it too.
    """
    from fsagent.memory.history.bundle import export_bundle

    target = Path(file)
    check_outside(target)
    if target.exists() and not force:
        raise HistoryError(f"{file} is there already; name another file, or add --force")
    with open_workspace(workspace) as opened:
        opened.history.commit_everything()
        size = export_bundle(opened.history.repository, target)
    say(f"Wrote {file}: {size / 1000:.0f} kB, everything committed, with its history.")


@click.command("import-bundle")
@click.argument("file", metavar="FILE")
@click.argument("directory", metavar="DIR")
def import_bundle(file: str, directory: str) -> None:
    """Lay the workspace of an exported file into a new folder, with its history."""
    from fsagent.memory.history.bundle import import_bundle as lay

    check_outside(Path(directory))
    laid = lay(Path(file), Path(directory))
    for path in laid.refused:
        note(f"fsagent: left out, its name or kind is not one of memory: {path}")
    say(
        f"Workspace {directory} is ready: {counted(laid.files, 'file')}, {counted(laid.commits, 'commit')}."
    )
