"""The command forget: a fact gone from memory, or with --purge from everything there is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fsagent.cli.common import EXIT_NOTHING, counted, note, open_workspace, say, workspace_option
from fsagent.cli.history import confirmed, open_history, shared_option, yes_option
from fsagent.errors import HistoryError
from fsagent.workspace.locate import check_outside

if TYPE_CHECKING:
    from fsagent.memory.history.history import History
    from fsagent.memory.history.needle import Needle
    from fsagent.memory.history.purge import Finding


@click.command()
@click.argument("text", metavar="TEXT")
@click.option("--purge", is_flag=True, help="Also from recall, the index and the whole history.")
@click.option("--backup", metavar="FILE", help="With --purge: export everything to FILE first.")
@shared_option
@yes_option
@workspace_option
def forget(
    *, text: str, purge: bool, backup: str | None, shared: bool, yes: bool, workspace: str | None
) -> int:
    """Take a fact out of memory.

    Lines of core and archival memory that hold TEXT go; history and recall keep it, and undo
    brings it back. With --purge it is gone for good, everywhere: recall lines become empty
    tombstones, the history is rewritten, and a scan of all that is left shows it. Shared blocks
    are others' too and are left alone; with --shared it is taken out of those, for all.
    """
    from fsagent.memory.history.needle import Needle
    from fsagent.memory.history.purge import find
    from fsagent.memory.history.scan import is_instruction

    needle = Needle(text)
    if not shared:
        _note_shared(needle, workspace)
    with open_history(workspace, shared=shared) as history:
        history.look()
        tree = history.repository.tree
        memory = find(tree, needle, recall=False)
        said = find(tree, needle, recall=True)
        if purge:
            return _purge(history, needle, [*memory, *said], backup, yes=yes)
        _note_instructions(memory)
        facts = [one for one in memory if one.lines and not is_instruction(one.path)]
        return _forget(history, needle, facts, said, yes=yes)


def _note_shared(needle: Needle, workspace: str | None) -> None:
    """Say which shared blocks hold it too: they are not touched."""
    with open_workspace(workspace) as memory:
        for block in memory.core.blocks([]):
            if block.shared and needle.in_text(block.value):
                note(
                    f"fsagent: the shared block {block.label!r} says it too and stays; "
                    "--shared takes it out there"
                )


def _note_instructions(memory: Sequence[Finding]) -> None:
    """Say which prompts and settings hold it: they are no facts, and a rule would go with it."""
    from fsagent.memory.history.scan import is_instruction

    for finding in memory:
        if finding.lines and is_instruction(finding.path):
            note(f"fsagent: {finding.path}:{finding.lines[0]} says it too and stays; it is no fact")


def _forget(
    history: History,
    needle: Needle,
    memory: Sequence[Finding],
    said: Sequence[Finding],
    *,
    yes: bool,
) -> int:
    from fsagent.memory.history.purge import count_lines
    from fsagent.memory.history.undo import FilePlan, preview

    tree = history.repository.tree
    plans = []
    for finding in memory:
        data = tree.read_bytes(finding.path)
        plans.append(FilePlan(finding.path, data, needle.scrub(data)))
    if plans:
        say(preview(plans).rstrip("\n"))
    if said:
        note(
            f"fsagent: {count_lines(said)} recall lines say it too and stay; "
            "--purge takes them out as well"
        )
    if not plans:
        note("fsagent: no line of core or archival memory holds it; nothing was changed")
        return EXIT_NOTHING
    if not confirmed(f"Take it out of {counted(len(plans), 'file')}?", yes=yes):
        return EXIT_NOTHING
    commit = history.apply(plans, lead="forget")
    say(f"Done: {(commit or '')[:10]}. fsagent undo {(commit or '')[:10]} brings it back.")
    return 0


def _purge(
    history: History, needle: Needle, findings: Sequence[Finding], backup: str | None, *, yes: bool
) -> int:
    from fsagent.memory.history.purge import purge
    from fsagent.memory.history.sweep import sweep

    repository = history.repository
    before = sweep(repository, needle)
    if not before.found:
        note("fsagent: it stands nowhere: not in a file, not in the history")
        return EXIT_NOTHING
    for finding in findings:
        lines = (
            "the whole file"
            if finding.whole
            else f"lines {', '.join(map(str, finding.lines[:20]))}"
        )
        say(f"{finding.path}: {lines}")
    say(f"It stands in {len(before.found)} places, those of the history included.")
    _offer_backup(history, backup, yes=yes)
    if not confirmed("Rewrite files and history for good? There is no undo.", yes=yes):
        return EXIT_NOTHING
    purge(repository, needle)
    after = sweep(repository, needle)
    if after.found:
        raise HistoryError("it still stands in: " + "; ".join(after.found[:10]))
    say(
        f"Gone: scanned {after.objects} objects of the history and {after.files} files, found nothing. "
        "Copies elsewhere (a remote, a backup, a clone) are not reached."
    )
    if repository.place.outer is not None:
        note(
            f"fsagent: the repository at {repository.place.outer} is not ours and was not searched"
        )
    return 0


def _offer_backup(history: History, backup: str | None, *, yes: bool) -> None:
    """Write a backup where a file is named; on a terminal ask for one."""
    from fsagent.memory.history.bundle import export_bundle

    if backup is None and not yes and sys.stdin.isatty():
        backup = click.prompt(
            "A backup first (it will hold the text)? File name, or empty for none",
            default="",
            show_default=False,
            err=True,
        )
    if not backup:
        return
    target = Path(backup)
    check_outside(target)
    if target.exists():
        raise HistoryError(f"{backup} is there already; name another file")
    history.commit_everything()
    export_bundle(history.repository, target)
    note(f"fsagent: wrote {backup}; it holds the text")
