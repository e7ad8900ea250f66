"""What a commit says: a subject built from the real diff, the edits, why, and trailers.

Nothing here comes from the model's claim of what it did. Lines of the body begin with `+`, `-` or a
space, so that text from memory cannot pose as a trailer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from fsagent.memory.history.commits import Author
from fsagent.memory.history.place import AUTHORED_KEY
from fsagent.memory.history.scan import Change, in_recall
from fsagent.workspace.view import decode_text, is_binary

By = Literal["agent", "person", "sleep", "outside"]
SLEPT_KEY = "Slept-Through"
SUBJECT_CHARS = 71
_LINE_CHARS = 200
_BODY_LINES = 60
_NEW_FILE_LINES = 12
_KEYS = (
    "Turn",
    "Tool",
    "Model",
    "Cost",
    "Source",
    "Undoes",
    "Workspace",
    SLEPT_KEY,
    AUTHORED_KEY,
)
_CITATION = re.compile(r"\s*\[\d{4}-\d\d-\d\d:\d+(?:-\d+)?\]")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")


@dataclass(frozen=True, slots=True)
class TurnNote:
    """What a turn adds to its commit: its id, tools, model, cost, and the words that led to it.

    `source` is where those words stand (`recall/2026/2026-11-30.jsonl:14`), `why` the words. `slept`
    is how far a sleep has read (`2026-11-30:14 seq 96`): its cursor, in the commit of its edits.
    `workspace` names the one that wrote a block which several share.
    """

    turn: str = ""
    tools: tuple[str, ...] = ()
    model: str = ""
    cost: str = ""
    source: str = ""
    why: str = ""
    undoes: str = ""
    by: By = "agent"
    slept: str = ""
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """One file's change in lines."""

    path: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    made: bool
    deleted: bool


def author_of(by: By, user_name: str) -> Author:
    """Return the author: the agent, the sleep worker, the person, or the person outside fsagent."""
    names = {
        "agent": "fsagent",
        "sleep": "fsagent sleep",
        "person": user_name,
        "outside": f"{user_name} (outside fsagent)",
    }
    name = re.sub(r"[<>\n\r\0]", "", names[by]).strip() or by
    return Author(name, f"{by}@fsagent.invalid")


def commit_message(
    changes: Sequence[Change],
    *,
    by: By,
    note: TurnNote,
    lead: str = "",
    hide: Callable[[str], str] = str,
) -> str:
    """Return the whole message. `lead` stands before the subject (`undo t-12`, `roll back`).

    `hide` takes the secrets out of a text, before anything of it is cut short.
    """
    edits = [edit_of(change, hide) for change in changes]
    note = replace(note, why=hide(note.why))
    subject = clip(f"{lead}: {subject_of(edits)}" if lead else subject_of(edits), SUBJECT_CHARS)
    why = [f"  because {one_line(note.why)}"] if note.why else []
    body = [line for edit in edits if not in_recall(edit.path) for line in _edit_lines(edit)]
    if len(body) > _BODY_LINES:
        body = [*body[:_BODY_LINES], f"  ... and {len(body) - _BODY_LINES} more lines"]
    paragraphs = ["\n".join(why), "\n".join(body), "\n".join(_trailers(by, note))]
    return "\n\n".join([subject, *(text for text in paragraphs if text)]) + "\n"


def trailers_of(message: str) -> dict[str, str]:
    """Return the trailers of a message, those of ours only."""
    last = message.strip().rpartition("\n\n")[2]
    pairs = (line.partition(": ") for line in last.split("\n"))
    return {key: value for key, colon, value in pairs if colon and key in _KEYS}


def edit_of(change: Change, hide: Callable[[str], str] = str) -> Edit:
    """Return a change as added and removed lines."""
    if in_recall(change.path):
        return Edit(change.path, (), (), change.blob is None, change.after is None)
    old, new = _lines(change.before, hide), _lines(change.after, hide)
    added: list[str] = []
    removed: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += old[i1:i2]
            added += new[j1:j2]
    made, deleted = change.blob is None, change.after is None
    return Edit(change.path, tuple(added), tuple(removed), made, deleted)


def subject_of(edits: Sequence[Edit]) -> str:
    """Return one line that says what changed: in full for one fact, in counts for many."""
    shown = [edit for edit in edits if not in_recall(edit.path)]
    if not shown:
        days = [edit.path.rpartition("/")[2].removesuffix(".jsonl") for edit in edits]
        return f"recall: log of {days[0]}" if len(days) == 1 else f"recall: {len(days)} days"
    said = "; ".join(_say(edit) for edit in shown[:3])
    if len(shown) <= 3 and len(said) <= SUBJECT_CHARS:
        return said
    if len(shown) == 1:
        return clip(said, SUBJECT_CHARS)
    counts = ", ".join(_count(edit) for edit in shown[:4])
    if len(shown) > 4 or len(counts) > SUBJECT_CHARS:
        return f"{len(shown)} files: {clip(', '.join(name_of(edit.path) for edit in shown), 55)}"
    return counts


def name_of(path: str) -> str:
    """Return what a person calls a file of memory."""
    stem = path.rpartition("/")[2].rpartition(".")[0] or path
    folder = path.partition("/")[0]
    if folder == "core":
        return stem
    if path.startswith("archival/notes/"):
        return f"note {stem}"
    if folder == "archival":
        return f"document {stem}"
    return f"prompt {stem}" if folder == "prompts" else path


def clip(text: str, limit: int) -> str:
    """Return text of at most `limit` characters, cut with three dots."""
    return text if len(text) <= limit else text[: limit - 3].rstrip() + "..."


def one_line(text: str) -> str:
    """Return text as one printable line of bounded length."""
    flat = " ".join(text.split())
    return clip("".join(char if char.isprintable() else "?" for char in flat), _LINE_CHARS)


def plain(line: str) -> str:
    """Return a memory line's words without bullet and citations."""
    return one_line(_CITATION.sub("", _BULLET.sub("", line)))


def _say(edit: Edit) -> str:
    name = name_of(edit.path)
    added = [plain(line) for line in edit.added if line.strip()]
    removed = [plain(line) for line in edit.removed if line.strip()]
    if edit.made:
        return f"{name}: new"
    if edit.deleted:
        return f"{name}: deleted"
    if len(added) == 1 and not removed:
        return f'{name}: add "{added[0]}"'
    if len(removed) == 1 and not added:
        return f'{name}: remove "{removed[0]}"'
    if len(added) == len(removed) == 1:
        old, new = removed[0], added[0]
        both = f'{name}: change "{old}" to "{new}"'
        return both if len(both) <= SUBJECT_CHARS else f'{name}: now "{new}"'
    return _count(edit)


def _count(edit: Edit) -> str:
    name = name_of(edit.path)
    if edit.made or edit.deleted:
        return f"{name} {'new' if edit.made else 'deleted'}"
    added = sum(1 for line in edit.added if line.strip())
    removed = sum(1 for line in edit.removed if line.strip())
    counts = [f"+{added}"] * bool(added) + [f"-{removed}"] * bool(removed)
    return f"{name} {' '.join(counts) or 'spacing'}"


def _edit_lines(edit: Edit) -> Iterator[str]:
    yield f"  {edit.path}"
    for sign, lines in (("-", edit.removed), ("+", edit.added)):
        shown = [line for line in lines if line.strip()]
        most = _NEW_FILE_LINES if edit.made or edit.deleted else len(shown)
        yield from (f"{sign} {one_line(line)}" for line in shown[:most])
        if len(shown) > most:
            yield f"  ... and {len(shown) - most} more lines"


def _trailers(by: By, note: TurnNote) -> Iterator[str]:
    values: Mapping[str, str] = {
        "Turn": note.turn,
        "Tool": ", ".join(dict.fromkeys(note.tools)),
        "Model": note.model,
        "Cost": note.cost,
        "Source": note.source,
        "Undoes": note.undoes,
        "Workspace": note.workspace,
        SLEPT_KEY: note.slept,
        AUTHORED_KEY: by,
    }
    return (f"{key}: {one_line(value)}" for key, value in values.items() if value)


def _lines(data: bytes | None, hide: Callable[[str], str]) -> list[str]:
    if data is None or is_binary(data):
        return []
    return hide(decode_text(data)).replace("\r\n", "\n").split("\n")
