"""Edits of core memory as values: proposed by a model, kept for review, applied to a block's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from fsagent.errors import BadArguments, ToolError
from fsagent.memory.blocks import replaced
from fsagent.memory.facts import first_section
from fsagent.workspace.references import without_references

Op = Literal["add", "replace", "archive"]
OPS: tuple[str, ...] = get_args(Op)


@dataclass(frozen=True, slots=True)
class CoreEdit:
    """One edit of a block.

    `add` puts the line `new` at its end, ahead of the sections that headings make; `replace` puts
    `new` in place of `old`, which stands there once (an empty `new` removes it, the whole line where
    it fills one); `archive` moves the line `old` into an archival note. `cites` are such as
    `2026-11-29:14`.
    """

    op: Op
    block: str
    old: str = ""
    new: str = ""
    cites: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of an edit."""
        return {
            "op": self.op,
            "block": self.block,
            "old": self.old,
            "new": self.new,
            "cites": list(self.cites),
        }

    @classmethod
    def from_dict(cls, shape: object) -> CoreEdit:
        """Return an edit of its JSON shape. Raises `BadArguments` naming what is wrong with it."""
        if not isinstance(shape, Mapping):
            raise BadArguments(f"an edit is {shape!r}; write an object with op, block, old, new")
        op, texts = shape.get("op"), {}
        if op not in OPS:
            raise BadArguments(f"op is {op!r}; write one of: {', '.join(OPS)}")
        for key in ("block", "old", "new"):
            value = shape.get(key)
            if value is not None and not isinstance(value, str):
                raise BadArguments(f"{key} of an edit is {value!r}; write text")
            texts[key] = value or ""
        if not texts["block"].strip():
            raise BadArguments("block of an edit is empty; name the block, e.g. human")
        return cls(
            cast(Op, op), texts["block"], texts["old"], texts["new"], _cites(shape.get("cites"))
        )

    @property
    def line(self) -> str:
        """The text to write: `new` with its citations behind it."""
        text = without_references(self.new).rstrip() if self.cites else self.new.rstrip()
        return f"{text} [{', '.join(self.cites)}]" if text and self.cites else text


def edited(value: str, edit: CoreEdit) -> str:
    """Return a block's value with an edit applied; an archived line is gone from it.

    Raises `ToolError` where `old` does not stand there exactly once, or there is nothing to add.
    """
    if edit.op == "add":
        if not edit.line:
            raise ToolError("Not written: new is empty; give the line to add.")
        return _with_line(value, edit.line)
    new = "" if edit.op == "archive" else edit.line
    lines = value.split("\n")
    if lines.count(edit.old) == 1:
        # A whole line, though its words may stand in a longer one too.
        place = lines.index(edit.old)
        lines[place : place + 1] = [new] if new else []
        return "\n".join(lines)
    return replaced(edit.block, value, edit.old, new)


def _with_line(value: str, line: str) -> str:
    """Return a value with a line at its end, ahead of the sections where it has some."""
    lines = value.split("\n") if value else []
    place = first_section(value)
    place = len(lines) if place is None else place
    while place and not lines[place - 1].strip():
        place -= 1
    return "\n".join([*lines[:place], line, *lines[place:]])


def _cites(value: object) -> tuple[str, ...]:
    """Return citations without brackets; one alone may be text."""
    listed = [value] if isinstance(value, str) else value or []
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise BadArguments(f'cites is {value!r}; write a list such as ["2026-11-29:14"]')
    parts = [part for one in listed for part in one.strip().strip("[]").split(",")]
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
