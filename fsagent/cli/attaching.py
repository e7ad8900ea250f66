"""The commands block attach and detach: which blocks of the mounted folder are used here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from fsagent.cli.common import EXIT_NOTHING, note, open_workspace, say, workspace_option
from fsagent.config import SETTINGS_NAME
from fsagent.errors import ConfigError

if TYPE_CHECKING:
    from fsagent.memory.workspace import Workspace

KEY = "shared_blocks"


@click.command()
@click.argument("label")
@workspace_option
def attach(label: str, workspace: str | None) -> int:
    """Use a block of the mounted folder here; the setting `shared` names the folder."""
    with open_workspace(workspace) as memory:
        mount = memory.core.mounted()
        if label not in mount.all_labels():
            there = ", ".join(mount.all_labels()) or "none"
            raise ConfigError(f"the shared folder has no block {label!r}; its blocks are: {there}")
        if label in memory.core.own_labels():
            raise ConfigError(
                f"your own block {label!r} takes the place of the shared one; rename or remove it first"
            )
        if mount.attaches(label):
            note(f"fsagent: {label} is attached already")
            return EXIT_NOTHING
        attach_names(memory, [*(mount.attached or ()), label])
    say(f"Attached {label}.")
    return 0


@click.command()
@click.argument("label")
@workspace_option
def detach(label: str, workspace: str | None) -> int:
    """Let go of a shared block here; its file and the others who use it are not touched."""
    with open_workspace(workspace) as memory:
        mount = memory.core.mounted()
        used = mount.all_labels() if mount.attached is None else list(mount.attached)
        if label not in used:
            raise ConfigError(
                f"no shared block {label!r} is attached; attached are: {', '.join(used) or 'none'}"
            )
        attach_names(memory, [one for one in used if one != label])
    say(f"Detached {label}; its file stays as it is.")
    if mount.attached is None:
        note("New blocks of the shared folder are from now on used once they are attached.")
    return 0


def attach_names(memory: Workspace, names: Sequence[str]) -> None:
    """Write which shared blocks are used into the settings, and commit that."""
    from fsagent.workspace.settings_file import set_names

    origin = memory.settings.origins.get(KEY, SETTINGS_NAME)
    if origin != SETTINGS_NAME and not origin.startswith("/"):
        raise ConfigError(f"{KEY} is set by {origin}, which {SETTINGS_NAME} does not change")
    memory.history.settle()
    set_names(memory.tree, KEY, names)
    memory.history.record("shared blocks", paths=[SETTINGS_NAME])
    for text in memory.notices():
        note(f"fsagent: {text}")
