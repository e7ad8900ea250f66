"""Write edits that a person decided on: into blocks, and moved lines into archival."""

from __future__ import annotations

from collections.abc import Sequence

from fsagent.errors import ToolError
from fsagent.memory.archival import Archival
from fsagent.memory.core import Core
from fsagent.memory.edits import CoreEdit, edited
from fsagent.memory.facts import facts_of

NOTE = "archival/notes/about-{label}.md"
"""Where lines go that leave a block for archival."""

POINTER = "- Older facts about this: {path}"


def accept(core: Core, archival: Archival, edits: Sequence[CoreEdit]) -> list[str]:
    """Write edits as the person's and return the paths written.

    Raises `ToolError` where one does not fit the block as it is now or a limit; those before it
    stand.
    """
    written: list[str] = []
    for edit in edits:
        block = core.block(edit.block)
        after = applied(block.value, edit)
        if edit.op == "archive":
            note = NOTE.format(label=edit.block)
            archival.extend(note, f"About {edit.block}", [edit.old])
            written.append(note)
        core.write(edit.block, after, base=block.value, by="person")
        written.append(block.path)
    return list(dict.fromkeys(written))


def applied(value: str, edit: CoreEdit) -> str:
    """Return a block's value with a decided edit applied. Raises `ToolError` where it does not fit."""
    if edit.op == "add" and any(fact.text == edit.line for fact in facts_of(value)):
        raise ToolError(f"block {edit.block!r} has this line already: {edit.line}")
    if edit.op == "archive":
        return with_pointer(edited(value, edit), edit.block)
    return edited(value, edit)


def is_pointer(line: str, label: str) -> bool:
    """Say whether a line is the one that says where a block's older facts are."""
    return line.strip() == POINTER.format(path=NOTE.format(label=label))


def with_pointer(value: str, label: str) -> str:
    """Return a block's value with the line that says where its older facts are."""
    pointer = POINTER.format(path=NOTE.format(label=label))
    return value if pointer in value.split("\n") else f"{value}\n{pointer}".lstrip("\n")
