"""Where the history lives: `.git` of the workspace, or `.fsagent/git` inside somebody's repository.

A repository is ours when it carries our mark or a commit of ours (a clone has no mark). Any other
`.git`, here or above, is somebody's: nothing of it is read or written.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from fsagent.errors import HistoryError
from fsagent.memory.history.git import Git

MARK = "fsagent-history"
INNER = "git"
AUTHORED_KEY = "Memory-By"
_BRANCH = "refs/heads/main"
_UNDER_WAY = {
    "MERGE_HEAD": "a merge is under way",
    "rebase-merge": "a rebase is under way",
    "rebase-apply": "a rebase is under way",
    "CHERRY_PICK_HEAD": "a cherry-pick is under way",
    "REVERT_HEAD": "a revert is under way",
}


@dataclass(frozen=True, slots=True)
class Place:
    """The git directory, and the folder whose repository the workspace lies in, if any."""

    directory: Path
    outer: Path | None


def find_place(binary: str, root: Path, derived: Path, *, hidden: bool = False) -> Place:
    """Return where the history of the folder at `root` is or is to be; `hidden`: in `.fsagent`."""
    own, inner = root / ".git", derived / INNER
    for target in (own, inner):
        _finish_swap(derived, target)
    outer = _outer(root)
    if hidden or (inner / "HEAD").is_file():
        return Place(inner, outer)
    if own.is_dir() and is_ours(Git(binary, own)):
        return Place(own, None)
    return Place(inner if outer is not None else own, outer)


def is_ours(git: Git) -> bool:
    """Say whether a repository is a workspace's history: by the mark, or by a commit of ours."""
    if (git.directory / MARK).is_file():
        return True
    try:
        found = git.run("log", "-1", "--format=%H", f"--grep=^{AUTHORED_KEY}: ", "HEAD", "--")
    except HistoryError:
        return False
    if found.strip():
        (git.directory / MARK).touch()
    return bool(found.strip())


def lay_repository(git: Git, derived: Path) -> None:
    """Make the git directory where there is none. Hooks and templates of the machine stay out."""
    hide_derived(derived)
    if (git.directory / "HEAD").is_file():
        return
    git.directory.parent.mkdir(parents=True, exist_ok=True)
    bare = ["--bare"] if git.directory.name != ".git" else []
    git.run("init", "-q", "--template=", *bare)
    git.run("symbolic-ref", "HEAD", _BRANCH)
    git.run("config", "core.logAllRefUpdates", "true")
    (git.directory / "info").mkdir(exist_ok=True)
    (git.directory / "info" / "exclude").write_text("/.fsagent/\n", encoding="utf-8")
    (git.directory / MARK).touch()


def hide_derived(derived: Path) -> None:
    """Let `.fsagent` ignore itself, so that no repository around it ever takes it in."""
    derived.mkdir(exist_ok=True)
    ignore = derived / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


def first_notice(place: Place | None, folder: Path) -> list[str]:
    """Return, once in a workspace's life, that there is no git or that the history lives inside."""
    if place is None:
        key, text = "no-git", "there is no git here: memory works, its history is not kept"
    elif place.outer is not None:
        key = "outer"
        text = (
            f"this workspace lies in the repository of {place.outer}; its own "
            "history is kept in .fsagent/git and that repository is not touched"
        )
    else:
        return []
    mark = folder / f"said-{key}"
    try:
        if mark.exists():
            return []
        folder.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError:
        return []
    return [text]


def under_way(directory: Path) -> str | None:
    """Return what keeps commits out just now (a merge, a rebase), None if nothing does."""
    return next((why for name, why in _UNDER_WAY.items() if (directory / name).exists()), None)


def swap_paths(derived: Path, directory: Path) -> tuple[Path, Path]:
    """Return where a rewritten repository waits and where the old one goes, for that directory."""
    stem = "own" if directory.name == ".git" else "inner"
    return derived / "history" / f"{stem}-new.git", derived / "history" / f"{stem}-old.git"


def _finish_swap(derived: Path, directory: Path) -> None:
    """Put a rewritten repository in its place where a crash came between the renames of a purge."""
    fresh, old = swap_paths(derived, directory)
    if not old.exists():
        return
    if fresh.exists() and not directory.exists():
        fresh.rename(directory)
    if directory.exists():
        shutil.rmtree(old)


def _outer(root: Path) -> Path | None:
    return next((folder for folder in (root, *root.parents) if _is_repository(folder)), None)


def _is_repository(folder: Path) -> bool:
    try:
        return (folder / ".git").exists()
    except OSError:
        return False
