"""The commands review: edits of memory that wait for a person."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from fsagent.cli.common import (
    EXIT_NOTHING,
    complain,
    in_editor,
    json_option,
    note,
    open_workspace,
    say,
    say_json,
    workspace_option,
)
from fsagent.errors import CorruptFile, ToolError

if TYPE_CHECKING:
    from fsagent.memory.edits import CoreEdit
    from fsagent.memory.review import Proposal
    from fsagent.memory.workspace import Workspace

_TAG_RUN = re.compile("[\U000e0000-\U000e007f]+")
_TAG_BASE = 0xE0000


@click.group(invoke_without_command=True)
@workspace_option
@json_option
@click.pass_context
def review(ctx: click.Context, workspace: str | None, as_json: bool) -> int:
    """Decide on edits of memory that wait for you, each with why it was not written.

    Without a command it lists them.
    """
    ctx.ensure_object(dict)
    if workspace is not None:
        ctx.obj["workspace"] = workspace
    if ctx.invoked_subcommand is not None:
        return 0
    with open_workspace(workspace) as memory:
        bad: list[CorruptFile] = []
        waiting = memory.review.all(bad)
        for err in bad:
            complain(str(err))
        if as_json:
            say_json([one.as_dict() for one in waiting])
        else:
            for one in waiting:
                say(f"{one.id}  {one.ts[:16].replace('T', ' ')}  {one.by:<5}  {_short(one)}")
            note(
                "show ID, accept ID, edit ID or reject ID decides."
                if waiting
                else "(nothing waits for review)"
            )
    if bad:
        return 2
    return 0 if waiting else EXIT_NOTHING


@review.command()
@click.argument("name", metavar="ID")
@workspace_option
@json_option
def show(name: str, workspace: str | None, as_json: bool) -> None:
    """Show a proposal: what it would change, why it was not written, where it comes from."""
    with open_workspace(workspace) as memory:
        proposal = memory.review.get(name)
        if as_json:
            say_json(proposal.as_dict())
            return
        say(f"{proposal.id}, proposed by {proposal.by} {proposal.ts}")
        for reason in proposal.reasons:
            say(f"not written: {revealed(reason)}")
        if proposal.sources:
            say(f"comes from: {', '.join(map(revealed, proposal.sources))}")
        if proposal.turn:
            say(f"turn: {proposal.turn}")
        say(_diff(memory, proposal))


@review.command()
@click.argument("names", nargs=-1, required=True, metavar="ID...")
@workspace_option
def accept(names: tuple[str, ...], workspace: str | None) -> int:
    """Write proposals into memory as your own edits, each one commit."""
    with open_workspace(workspace) as memory:
        return max(_accept(memory, memory.review.get(name)) for name in names)


@review.command()
@click.argument("name", metavar="ID")
@click.option("--new", metavar="TEXT", help="The text to write (default: ask your editor).")
@workspace_option
def edit(name: str, new: str | None, workspace: str | None) -> int:
    """Change a proposal's text, then write it into memory."""
    with open_workspace(workspace) as memory:
        proposal = memory.review.get(name)
        writing = [one for one in proposal.edits if one.line]
        if len(writing) != 1:
            complain(f"{proposal.id} has {len(writing)} texts to edit; accept or reject it")
            return 2
        text = new if new is not None else in_editor(writing[0].line)
        if text is None or not text.strip():
            note("(nothing was changed)")
            return EXIT_NOTHING
        changed = tuple(
            replace(one, new=text.strip(), cites=()) if one.line else one for one in proposal.edits
        )
        return _accept(memory, replace(proposal, edits=changed))


@review.command()
@click.argument("names", nargs=-1, required=True, metavar="ID...")
@workspace_option
def reject(names: tuple[str, ...], workspace: str | None) -> None:
    """Let proposals go; memory stays as it is."""
    with open_workspace(workspace) as memory:
        for proposal in [memory.review.get(name) for name in names]:
            memory.review.drop(proposal.id)
            note(f"fsagent: {proposal.id} is rejected")


def _accept(memory: Workspace, proposal: Proposal) -> int:
    from fsagent.memory.accepting import accept as write

    memory.history.settle()  # what others edited is theirs, not a part of this
    try:
        paths = write(memory.core, memory.archival, proposal.edits)
    except ToolError as err:
        complain(f"{proposal.id} is not written: {err}")
        return 2
    memory.review.drop(proposal.id)
    memory.history.record(f"accept {proposal.id}", paths=paths)
    for text in memory.notices():
        note(f"fsagent: {text}")
    note(f"fsagent: {proposal.id} is written into {', '.join(paths)}")
    return 0


def _short(proposal: Proposal) -> str:
    more = f" (and {len(proposal.edits) - 1} more)" if len(proposal.edits) > 1 else ""
    return f"{_words(proposal.edits[0])}{more}: {revealed('; '.join(proposal.reasons))}"


def _words(edit: CoreEdit) -> str:
    text = edit.line if edit.op == "add" else f"{edit.old} -> {edit.line or edit.op}"
    flat = revealed(" ".join(text.split()))
    return f"{edit.block}: {flat if len(flat) <= 80 else flat[:77] + '...'}"


def _diff(memory: Workspace, proposal: Proposal) -> str:
    """Return what the edits would change now, or each edit where it does not fit any more."""
    from fsagent.memory.accepting import applied

    parts: list[str] = []
    for edit in proposal.edits:
        try:
            before = memory.core.block(edit.block).value
            after = applied(before, edit)
        except ToolError as err:
            parts.append(f"does not fit the block as it is: {revealed(str(err).splitlines()[0])}")
            parts.append(_words(edit))
            continue
        path = f"core/{edit.block}.md"
        lines = difflib.unified_diff(
            before.split("\n"), after.split("\n"), path, path, lineterm="", n=1
        )
        parts += [revealed(line) for line in lines]
    return "\n".join(parts)


def revealed(text: str) -> str:
    """Return a text with what a reader cannot see written out: `<U+202E>`, and tag characters decoded."""
    from fsagent.memory.unseen import unseen

    text = _TAG_RUN.sub(_decoded, text)
    hidden = set(unseen(text))
    return "".join(f"<U+{ord(ch):04X}>" if at in hidden else ch for at, ch in enumerate(text))


def _decoded(run: re.Match[str]) -> str:
    hidden = "".join(chr(ord(ch) - _TAG_BASE) for ch in run[0])
    return f"<hidden text: {''.join(ch if ch.isprintable() else '?' for ch in hidden)}>"
