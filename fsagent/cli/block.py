"""The commands of block: core memory's blocks, looked at and edited by a person."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fsagent.cli.attaching import attach, attach_names, detach
from fsagent.cli.common import (
    EXIT_NOTHING,
    counted,
    in_editor,
    json_option,
    note,
    open_workspace,
    say,
    say_json,
    workspace_option,
)
from fsagent.cli.history import confirmed, yes_option
from fsagent.errors import (
    BlockConflict,
    BlockLimitExceeded,
    ConfigError,
    CoreTokensExceeded,
    CorruptFile,
    FsagentError,
    WorkspaceError,
)

if TYPE_CHECKING:
    from fsagent.memory.core import Block
    from fsagent.memory.workspace import Workspace

EXIT_BROKEN = 2


@click.group()
def block() -> None:
    """Show core memory's blocks, edit them, make and remove them."""


@block.command("list")
@workspace_option
@json_option
def list_blocks(workspace: str | None, as_json: bool) -> int:
    """List the blocks with their use of the limits; exit status 2 where one cannot be read."""
    bad: list[CorruptFile] = []
    with open_workspace(workspace) as memory:
        blocks, budget = memory.core.blocks(bad), memory.settings.core_tokens
        tokens, apart = memory.core.tokens(), list(_apart(memory))
    if as_json:
        unreadable = [{"path": err.path, "line": err.line, "reason": err.reason} for err in bad]
        say_json(
            {
                "blocks": [_as_dict(one) for one in blocks],
                "tokens": tokens,
                "core_tokens": budget,
                "unreadable": unreadable,
            }
        )
        return EXIT_BROKEN if bad else 0
    width = max((len(one.label) for one in blocks), default=0)
    for one in blocks:
        use = f"{one.size}/{one.limit}"
        say(f"{one.label:<{width}}  {use:>11}  {_marks(one):<18}  {one.description}".rstrip())
    say(f"{counted(len(blocks), 'block')}, about {tokens} of {budget} tokens")
    for text in [*apart, *(str(err) for err in bad)]:
        note(f"fsagent: {text}")
    return EXIT_BROKEN if bad else 0


@block.command()
@click.argument("label")
@workspace_option
@json_option
def show(label: str, workspace: str | None, as_json: bool) -> None:
    """Print a block's text; its description and its limit go to standard error."""
    with open_workspace(workspace) as memory:
        one = memory.core.block(label)
        facts = _facts(memory, one) if as_json else []
    if as_json:
        say_json({**_as_dict(one), "value": one.value, "facts": facts})
        return
    marks = f", {_marks(one)}" if _marks(one) else ""
    note(f"{one.path}: {one.size} of {one.limit} characters{marks}. {one.description}".rstrip())
    say(one.value)


@block.command()
@click.argument("label")
@click.option("--value", metavar="TEXT", help="The new text; the front matter stays.")
@click.option("--file", metavar="FILE", help="The whole new file, front matter too.")
@workspace_option
def edit(label: str, value: str | None, file: str | None, workspace: str | None) -> int:
    """Edit a block: in your editor, or with --value, --file, or the text on standard input.

    The editor ($VISUAL, $EDITOR) gets the whole file, so the limit, the description and read_only
    can be changed there. What the agent wrote meanwhile is merged; where both changed the same
    lines, nothing is written and your text is kept. The limits hold for you too: raise them first.
    """
    if value is not None and file is not None:
        raise click.UsageError("--value and --file are two ways to say it; give one")
    with open_workspace(workspace) as memory:
        memory.history.settle()
        core = memory.core
        before = core.read_file(label)
        if file is not None:
            data = _read(file)
            after = _landed(memory, label, data, lambda: core.save_file(label, data, base=before))
        elif value is None and sys.stdin.isatty():
            found = _edited_by_hand(memory, label, before)
            if found is None:
                return EXIT_NOTHING
            after = found
        else:
            base, text = core.block(label).value, _piped() if value is None else value
            after = _landed(
                memory,
                label,
                text.encode(),
                lambda: core.write(label, text, base=base, by="person"),
            )
        if core.read_file(label) == before:
            note("fsagent: nothing to change; the block is like that already")
            return EXIT_NOTHING
        _record(memory, "edit", after)
    say(f"{after.label} now has {after.size} of {after.limit} characters.")
    return 0


@block.command()
@click.argument("label")
@click.option("--description", default="", help="What the block is for; the agent reads it.")
@click.option("--limit", default=5000, show_default=True, help="The most characters it may hold.")
@click.option("--read-only", is_flag=True, help="Only a person may edit it.")
@click.option("--value", metavar="TEXT", default="", help="Its first text.")
@click.option("--shared", is_flag=True, help="Make it in the mounted folder, for all who mount it.")
@workspace_option
def new(
    *,
    label: str,
    description: str,
    limit: int,
    read_only: bool,
    value: str,
    shared: bool,
    workspace: str | None,
) -> None:
    """Make a block; the agent sees it from its next session on."""
    if limit < 1:
        raise click.UsageError(f"--limit {limit} holds nothing; write a number of characters")
    with open_workspace(workspace) as memory, _for_a_person(label):
        memory.history.settle()
        made = memory.core.create(
            label,
            description=description,
            limit=limit,
            read_only=read_only,
            value=value,
            shared=shared,
        )
        _record(memory, "new block", made)
        if shared and not memory.core.mounted().attaches(label):
            attach_names(memory, [*(memory.core.mounted().attached or ()), label])
    say(f"Made {made.path}.")


@block.command()
@click.argument("label")
@yes_option
@workspace_option
def rm(label: str, yes: bool, workspace: str | None) -> int:
    """Remove a block; the history keeps it, and undo brings it back."""
    with open_workspace(workspace) as memory:
        data = memory.core.read_file(label)
        path = memory.core.path(label)
        say(data.decode("utf-8", "replace").rstrip("\n"))
        if not confirmed(f"Remove {path}?", yes=yes):
            return EXIT_NOTHING
        kept = "" if memory.history.settle(path) else _kept(memory, label, data)
        memory.core.remove(label, base=data)
        commit = memory.history.record("remove block", paths=[path])
        _print_notices(memory)
    back = (
        f"its text is kept in {kept}"
        if kept
        else f"fsagent undo {(commit or '')[:10]} brings it back"
    )
    say(f"Removed {path}; {back}.")
    return 0


block.add_command(attach)
block.add_command(detach)


# Editing.


def _edited_by_hand(memory: Workspace, label: str, before: bytes) -> Block | None:
    """Open the editor until the text lands, or the person gives up; None where nothing was changed."""
    data, base = before, before
    while True:
        try:
            found = in_editor(data)
        except ConfigError as err:
            raise ConfigError(_kept_from(before, memory, label, data, str(err))) from err
        if found is None and data != before:
            raise WorkspaceError(_not_written(memory, label, data))
        if found is None or found == base:
            note("fsagent: nothing was changed")
            return None
        data = found
        try:
            return memory.core.save_file(label, data, base=base)
        except (BlockLimitExceeded, CoreTokensExceeded, CorruptFile) as err:
            note(f"fsagent: {_advice(label, err)}")
            if not click.confirm("Edit it again?", default=True, err=True):
                raise WorkspaceError(_not_written(memory, label, data)) from err
        except BlockConflict as err:
            raise WorkspaceError(_conflict(memory, label, data, err)) from err


def _kept_from(before: bytes, memory: Workspace, label: str, data: bytes, words: str) -> str:
    """Add to an error where the text is kept that an earlier round of editing left."""
    return words if data == before else f"{words}; {_not_written(memory, label, data)}"


def _landed(memory: Workspace, label: str, data: bytes, write: Callable[[], Block]) -> Block:
    """Write, and keep the person's text where it is refused."""
    try:
        return write()
    except BlockConflict as err:
        raise WorkspaceError(_conflict(memory, label, data, err)) from err
    except (BlockLimitExceeded, CoreTokensExceeded, CorruptFile) as err:
        raise WorkspaceError(_advice(label, err)) from err


@contextmanager
def _for_a_person(label: str) -> Iterator[None]:
    """Say a refusal in a person's terms: the tools it names are the model's."""
    try:
        yield
    except (BlockLimitExceeded, CoreTokensExceeded) as err:
        raise WorkspaceError(_advice(label, err)) from err


def _advice(label: str, err: FsagentError) -> str:
    if isinstance(err, BlockLimitExceeded):
        return (
            f"not written: block {label!r} would hold {err.size} characters, its limit is "
            f"{err.limit}. Shorten the text, or raise limit in the block's front matter "
            f"(fsagent block edit {label}, in your editor)"
        )
    if isinstance(err, CoreTokensExceeded):
        return (
            f"not written: all blocks together would hold about {err.tokens} tokens, the limit is "
            f"{err.limit}. Shorten a block (fsagent block list), or raise core_tokens in fsagent.yaml"
        )
    return f"not written: {err}"


def _conflict(memory: Workspace, label: str, data: bytes, err: BlockConflict) -> str:
    """Keep a person's text that fits no more, and show how it differs from the block as it is."""
    theirs, yours = err.theirs.splitlines(), err.yours.splitlines()
    for line in unified_diff(theirs, yours, f"{label} now", "yours", lineterm=""):
        note(line)
    return f"block {label!r} was changed on the same lines while you edited it; " + _not_written(
        memory, label, data
    )


def _not_written(memory: Workspace, label: str, data: bytes) -> str:
    return f"nothing was written, your text is kept in {_kept(memory, label, data)}"


def _kept(memory: Workspace, label: str, data: bytes) -> str:
    return memory.tree.state.keep("quarantine", f"block-{label}.md", data)


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as err:
        raise WorkspaceError(f"{file} cannot be read: {err.strerror}") from err


def _piped() -> str:
    data = sys.stdin.buffer.read()
    if not data.strip():
        raise click.UsageError("standard input is empty; to empty a block write --value ''")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as err:
        raise WorkspaceError("standard input is not UTF-8 text") from err


# Showing.


def _record(memory: Workspace, lead: str, one: Block) -> None:
    memory.history.record(lead, paths=[one.path])
    _print_notices(memory)


def _print_notices(memory: Workspace) -> None:
    for kind in memory.tree.secrets.take_removed():
        note(f"fsagent: the text held a secret ({kind}); a marker stands in its place")
    for text in memory.notices():
        note(f"fsagent: {text}")


def _marks(one: Block) -> str:
    marks = [
        ("shared", one.shared),
        ("read-only", one.read_only),
        ("over its limit", one.size > one.limit),
    ]
    return ", ".join(name for name, holds in marks if holds)


def _apart(memory: Workspace) -> Iterator[str]:
    """Yield what is said of shared blocks that are not among the blocks."""
    mount = memory.core.mount
    if mount is None:
        return
    for label in memory.core.hidden():
        yield f"the shared block {label!r} is not used: your own block of that label takes its place"
    for label in mount.missing():
        yield f"the shared block {label!r} is attached, and the folder holds no {label}.md"
    detached = [label for label in mount.all_labels() if not mount.attaches(label)]
    if detached:
        yield f"shared blocks that are not attached: {', '.join(detached)}"


def _facts(memory: Workspace, one: Block) -> list[dict[str, Any]]:
    """Return a block's lines, each with the source and trust of what it cites."""
    from fsagent.memory.facts import facts_of
    from fsagent.memory.trust import Lineage, trust_of

    lineage = Lineage(memory.tree)
    return [
        {"line": fact.line, "text": fact.text, **trust_of(fact, lineage).as_dict()}
        for fact in facts_of(one.value)
    ]


def _as_dict(one: Block) -> dict[str, Any]:
    from fsagent.tokens import estimate_text

    return {
        "label": one.label,
        "description": one.description,
        "path": one.path,
        "size": one.size,
        "limit": one.limit,
        "tokens": estimate_text(one.value),
        "read_only": one.read_only,
        "shared": one.shared,
    }
