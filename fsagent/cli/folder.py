"""Commands on the folder itself: init, config."""

from __future__ import annotations

from pathlib import Path

import click

from fsagent.cli.common import (
    counted,
    json_option,
    note,
    say,
    say_json,
    workspace_option,
    workspace_root,
)
from fsagent.config import environment, load_settings, masked, setting_names
from fsagent.errors import WorkspaceError


@click.command()
@click.argument("directory", default=".", metavar="[DIR]")
def init(directory: str) -> None:
    """Lay a new workspace.

    Files that are there already stay as they are.
    """
    from fsagent.workspace.locate import check_outside
    from fsagent.workspace.template import lay_template

    check_outside(Path(directory))
    laid = lay_template(Path(directory))
    say(
        f"Workspace {laid.root} is ready: {counted(len(laid.made), 'file')} made, {len(laid.kept)} there already."
    )
    place = "" if laid.root == Path() else f" -w {directory}"
    note(f"Next: fsagent chat{place}    or: fsagent import{place} NOTES.md")


@click.command()
@workspace_option
@json_option
def config(workspace: str | None, as_json: bool) -> None:
    """Show each setting and where it came from."""
    try:
        root = workspace_root(workspace)
    except WorkspaceError:
        if workspace is not None:
            raise
        root = None
    settings = load_settings(root, environment())
    rows = [
        (name, masked(name, getattr(settings, name)), settings.origins.get(name, "default"))
        for name in setting_names()
    ]
    if as_json:
        say_json({name: {"value": value, "origin": origin} for name, value, origin in rows})
        return
    say(f"workspace: {root or '(none here)'}")
    width = max(len(name) for name, _, _ in rows)
    for name, value, origin in rows:
        say(f"{name:<{width}}  {value or '-':<24}  {origin}")
    for name, origin in settings.unknown.items():
        note(f"fsagent: setting {name!r} ({origin}) is unknown; it is kept and has no effect")
