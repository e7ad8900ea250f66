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

    Raises `ToolError` where one does not fit the blocks as they are now; nothing is written then.
    """
    blocks = {edit.block: core.block(edit.block) for edit in edits}
    values = {label: block.value for label, block in blocks.items()}
    moved: dict[str, list[str]] = {}
    for edit in edits:
        values[edit.block] = applied(values[edit.block], edit)
        if edit.op == "archive":
            moved.setdefault(edit.block, []).append(edit.old)
    notes = {label: NOTE.format(label=label) for label in moved}
    for label, lines in moved.items():
        archival.extend(notes[label], f"About {label}", lines)
    for label, block in blocks.items():
        core.write(label, values[label], base=block.value, by="person")
    return [*notes.values(), *(block.path for block in blocks.values())]


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
