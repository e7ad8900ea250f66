"""Which folder is the workspace: `-w`, else FSAGENT_WORKSPACE, else the nearest one upwards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fsagent.errors import WorkspaceError

SETTINGS_NAME = "fsagent.yaml"
VARIABLE = "FSAGENT_WORKSPACE"


def find_workspace(explicit: Path | None, env: Mapping[str, str], cwd: Path) -> Path:
    """Return the workspace's folder. Raises `WorkspaceError` with what to do where there is none."""
    if explicit is not None:
        return check_workspace(explicit)
    if env.get(VARIABLE):
        return check_workspace(Path(env[VARIABLE]))
    for folder in (cwd, *cwd.parents):
        if is_workspace(folder):
            return folder
    raise WorkspaceError(
        f"no workspace here: neither this folder nor one above holds {SETTINGS_NAME}; "
        "make one with: fsagent init DIR, or name one with -w DIR"
    )


def check_workspace(folder: Path) -> Path:
    """Return `folder` if it is a workspace, else raise `WorkspaceError`."""
    if not folder.exists():
        raise WorkspaceError(
            f"{folder} does not exist; make a workspace with: fsagent init {folder}"
        )
    if not folder.is_dir():
        raise WorkspaceError(f"{folder} is a file, not a workspace's folder")
    if not is_workspace(folder):
        raise WorkspaceError(
            f"{folder} is not a workspace (it holds no {SETTINGS_NAME}); "
            f"make one with: fsagent init {folder}"
        )
    return folder


def check_outside(path: Path) -> None:
    """Raise `WorkspaceError` for a path below a workspace: what is written there becomes its memory."""
    for folder in path.resolve().parents:
        if is_workspace(folder):
            raise WorkspaceError(
                f"{path} lies in the workspace {folder} and would become a part of its memory; "
                "name a place outside of it"
            )


def is_workspace(folder: Path) -> bool:
    """Say whether a folder is a workspace: it holds the settings."""
    try:
        return (folder / SETTINGS_NAME).is_file()
    except OSError:
        return False  # a folder above that may not be looked into
