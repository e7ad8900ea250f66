"""Undoing one turn's writes, and going back to a revision; a plan first, then one new commit.

The reverse of a turn is applied line by line. Two facts that stand side by side do not depend on
each other (git's own merge would call that a conflict); a line that was changed since does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff

from fsagent.errors import HistoryError
from fsagent.memory.history.git import read_blobs
from fsagent.memory.history.log import Commit, read_log
from fsagent.memory.history.messages import one_line
from fsagent.memory.history.repository import Repository
from fsagent.memory.history.scan import in_recall, is_governed
from fsagent.memory.merge import Conflict, merge_lines
from fsagent.workspace.tree import sha256
from fsagent.workspace.view import decode_text


class LaterEdits(HistoryError):
    """Later edits depend on what is to be undone. `path`, and `by`: the commit that changed it."""

    def __init__(self, path: str, line: str, by: Commit | None) -> None:
        self.path, self.line, self.by = path, line, by
        who = "since, and that is not committed yet" if by is None else f"since by {_name(by)}"
        super().__init__(
            f'not undone: in {path} "{one_line(line)}" was changed {who}; undo that first, or '
            "edit the file by hand"
        )


@dataclass(frozen=True, slots=True)
class FilePlan:
    """One file's bytes as they are and as they would be; None where there is no file."""

    path: str
    before: bytes | None
    after: bytes | None


def undo_plan(repository: Repository, commits: Sequence[Commit]) -> list[FilePlan]:
    """Return what takes exactly these commits' memory writes back. Raises `LaterEdits`."""
    now: dict[str, bytes | None] = {}
    start: dict[str, bytes | None] = {}
    for commit in sorted(commits, key=lambda item: item.ts, reverse=True):
        for path, before, after in _changed(repository, commit):
            if path not in now:
                now[path] = start[path] = on_disk(repository, path)
            try:
                now[path] = reverse_file(before, after, now[path])
            except _Depends as err:
                raise LaterEdits(
                    path, str(err), _changer(repository, commit, path, str(err))
                ) from err
    return [FilePlan(path, start[path], data) for path, data in now.items() if data != start[path]]


def rollback_plan(repository: Repository, commit: str) -> list[FilePlan]:
    """Return what makes memory (not the recall log) what it was at a commit."""
    then = {
        path: name
        for path, name in repository.tracked(commit).items()
        if not in_recall(path) and is_governed(path)
    }
    contents = dict(zip(then, read_blobs(repository.git, list(then.values())), strict=True))
    here = [path for path in repository.tracked(repository.tip()) if not in_recall(path)]
    plans = [
        FilePlan(path, on_disk(repository, path), contents.get(path))
        for path in sorted({*then, *(path for path in here if is_governed(path))})
    ]
    changed = [plan for plan in plans if plan.before != plan.after]
    _check_held(repository, changed)
    return changed


def _check_held(repository: Repository, plans: Sequence[FilePlan]) -> None:
    """Refuse to write over a file that the history lacks since it holds a secret."""
    secrets = repository.tree.secrets
    for plan in plans:
        found = secrets.first(decode_text(plan.before)) if plan.before is not None else None
        if found is not None:
            raise HistoryError(
                f"{plan.path} holds a secret on line {found[0]} ({found[1]}), so the history lacks "
                "it and going back would lose it; take the secret out first"
            )


def preview(plans: Sequence[FilePlan]) -> str:
    """Return a plan as a unified diff."""
    return "".join(line for plan in plans for line in _diff(plan))


def apply_plan(repository: Repository, plans: Sequence[FilePlan]) -> None:
    """Write the planned files; one that changed since the plan was made raises `StaleWrite`."""
    for plan in plans:
        if plan.after is None:
            repository.tree.remove(plan.path)
        else:
            expect = "" if plan.before is None else sha256(plan.before)
            repository.tree.replace(plan.path, plan.after, expect=expect)


def on_disk(repository: Repository, path: str) -> bytes | None:
    """Return a file's bytes, None where there is none."""
    return repository.tree.read_bytes(path) if repository.tree.exists(path) else None


def reverse_file(before: bytes | None, after: bytes | None, current: bytes | None) -> bytes | None:
    """Return `current` with the change from `before` to `after` taken back."""
    if before is None or after is None:
        if current == after:
            return before
        if current == before:
            return current
        raise _Depends("the whole file")
    if current is None:
        raise _Depends("the whole file")
    # Split on LF only: a lone CR stays inside its line, and a last line without LF is not glued on.
    base, ours, theirs = (data.split(b"\n") for data in (after, before, current))
    try:
        return b"\n".join(merge_lines(base, ours, theirs))
    except Conflict as err:
        raise _Depends(decode_text(base[err.index]).strip()) from err


class _Depends(Exception):
    """A line that must be there as the turn left it is not."""


def _changed(
    repository: Repository, commit: Commit
) -> Iterator[tuple[str, bytes | None, bytes | None]]:
    """Yield the memory files a commit changed with their bytes before and after."""
    if len(commit.parents) > 1:
        raise HistoryError(f"{commit.id[:10]} is a merge; fsagent rollback REV goes back before it")
    parent = commit.parents[0] if commit.parents else None
    old, new = repository.tracked(parent), repository.tracked(commit.id)
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path) and not in_recall(path) and is_governed(path):
            names = [name for name in (old.get(path), new.get(path)) if name]
            found = iter(read_blobs(repository.git, names))
            before = next(found) if path in old else None
            yield path, before, next(found) if path in new else None


def _changer(repository: Repository, commit: Commit, path: str, line: str) -> Commit | None:
    """Return the first later commit in which that line is not there any more."""
    later = read_log(repository.git, f"{commit.id}..HEAD", paths=[path])
    for candidate in reversed(later):
        data = read_blobs(repository.git, [f"{candidate.id}:{path}"])[0]
        if data is None or line not in decode_text(data):
            return candidate
    return later[-1] if line == "the whole file" and later else None


def _name(commit: Commit) -> str:
    turn = f"turn {commit.turn}" if commit.turn else f"commit {commit.id[:10]}"
    return f"{turn} ({commit.subject})"


def _diff(plan: FilePlan) -> Iterator[str]:
    old = decode_text(plan.before or b"").splitlines()
    new = decode_text(plan.after or b"").splitlines()
    source = "/dev/null" if plan.before is None else plan.path
    target = "/dev/null" if plan.after is None else plan.path
    for line in unified_diff(old, new, source, target, lineterm=""):
        yield line + "\n"
