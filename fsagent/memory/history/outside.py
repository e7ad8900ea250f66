"""What others changed since the agent last looked: shown to it in its next turn as a diff."""

from __future__ import annotations

import contextlib

from fsagent.errors import HistoryError
from fsagent.memory.history.log import Commit, diff_text, read_log
from fsagent.memory.history.repository import Repository

MOST_CHARS = 4000
_OTHERS = ("outside", "person")


def unshown_edits(repository: Repository) -> str:
    """Return the edits of others since the last call as a diff, and note that they were shown."""
    tip = repository.tip()
    mark = repository.folder / "shown"
    shown = ""
    with contextlib.suppress(OSError):
        shown = mark.read_text(encoding="ascii").strip()
    if tip is None or tip == shown:
        return ""
    text = _since(repository, shown, tip) if shown else ""
    mark.write_text(tip, encoding="ascii")
    return text


def _since(repository: Repository, shown: str, tip: str) -> str:
    try:
        commits = read_log(repository.git, f"{shown}..{tip}")
    except HistoryError:
        return (
            ""  # The history was rewritten (forget --purge): what was shown is not there any more.
        )
    parts = [_edit(repository, commit) for commit in reversed(commits) if commit.by in _OTHERS]
    text = "".join(part for part in parts if part)
    if len(text) <= MOST_CHARS:
        return text
    return text[:MOST_CHARS].rpartition("\n")[0] + "\n(more was changed; open the files)\n"


def _edit(repository: Repository, commit: Commit) -> str:
    parent = commit.parents[0] if commit.parents else None
    return _without_headers(diff_text(repository.git, parent, commit.id))


def _without_headers(diff: str) -> str:
    """Leave out what tells a model nothing: object names and modes."""
    dropped = ("index ", "diff --git ", "new file mode", "deleted file mode", "similarity index")
    return "".join(line for line in diff.splitlines(keepends=True) if not line.startswith(dropped))
