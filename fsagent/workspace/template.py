"""Laying a new workspace from the template."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from fsagent.errors import WorkspaceError
from fsagent.workspace.locate import SETTINGS_NAME

_FOLDERS = ("core", "recall", "archival/notes", "prompts")


@dataclass(frozen=True, slots=True)
class Laid:
    """What `init` made and what it found there and left alone, as workspace-relative names."""

    root: Path
    made: tuple[str, ...]
    kept: tuple[str, ...]


def template_folder() -> Path:
    """Return the template: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "workspace_template", package.parent / "workspace_template"):
        if (folder / SETTINGS_NAME).is_file():
            return folder
    raise WorkspaceError("the installation lacks workspace_template; install fsagent again")


def lay_template(root: Path) -> Laid:
    """Lay the template into `root`, which may exist; a file that is there is never overwritten.

    Raises `WorkspaceError` where `root` is a file or holds something else than a workspace would.
    """
    if root.exists() and not root.is_dir():
        raise WorkspaceError(f"{root} is a file; choose a folder for the workspace")
    template = template_folder()
    made: list[str] = []
    kept: list[str] = []
    try:
        for folder in _FOLDERS:
            (root / folder).mkdir(parents=True, exist_ok=True)
        for source in sorted(path for path in template.rglob("*") if path.is_file()):
            name = source.relative_to(template).as_posix()
            target = root / name
            if target.exists():
                kept.append(name)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            made.append(name)
    except OSError as err:
        raise WorkspaceError(f"cannot make a workspace at {root}: {err.strerror}") from err
    return Laid(root, tuple(made), tuple(kept))


def template_text(name: str) -> str:
    """Return a file of the template as text (the prompts' fallback)."""
    return (template_folder() / name).read_text(encoding="utf-8")
