"""Laying a new workspace from the template."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from fsagent.errors import PathRejected, WorkspaceError
from fsagent.workspace.locate import SETTINGS_NAME
from fsagent.workspace.tree import Tree

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

    Raises `WorkspaceError` where `root` is a file, or a name of the template is a link.
    """
    if root.exists() and not root.is_dir():
        raise WorkspaceError(f"{root} is a file; choose a folder for the workspace")
    template = template_folder()
    made: list[str] = []
    kept: list[str] = []
    try:
        root.mkdir(parents=True, exist_ok=True)
        with closing(Tree(root)) as tree:
            for folder in _FOLDERS:
                tree.make_folder(folder)
            for source in sorted(path for path in template.rglob("*") if path.is_file()):
                name = source.relative_to(template).as_posix()
                (made if _laid(tree, name, source.read_bytes()) else kept).append(name)
    except OSError as err:
        raise WorkspaceError(f"cannot make a workspace at {root}: {err.strerror}") from err
    return Laid(root, tuple(made), tuple(kept))


def _laid(tree: Tree, name: str, data: bytes) -> bool:
    """Write one file through the guarded tree, so that no link leads it elsewhere; False if it is there."""
    try:
        tree.create(name, data)
    except PathRejected as err:
        if err.code != "COL":
            raise
        return False
    return True


def template_text(name: str) -> str:
    """Return a file of the template as text (the prompts' fallback)."""
    return (template_folder() / name).read_text(encoding="utf-8")
