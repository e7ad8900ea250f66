"""Commands on the history: log, show, diff, blame, why, undo, rollback."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import click

from fsagent.cli.common import (
    EXIT_NOTHING,
    json_option,
    note,
    on_terminal,
    open_workspace,
    safe,
    say,
    say_json,
    workspace_option,
)
from fsagent.errors import HistoryError

if TYPE_CHECKING:
    from fsagent.memory.history.history import History
    from fsagent.memory.history.lines import Utterance
    from fsagent.memory.history.log import Commit
    from fsagent.memory.history.undo import FilePlan
    from fsagent.memory.workspace import Workspace

shared_option = click.option(
    "--shared", is_flag=True, help="Of the mounted folder of shared blocks, whose history it holds."
)
yes_option = click.option("--yes", is_flag=True, help="Do it without asking.")
_ID = 10


@contextmanager
def open_history(workspace: str | None, *, shared: bool = False) -> Iterator[History]:
    """Open the workspace's history, or that of its shared blocks.

    Raises `HistoryError` where nothing is recorded yet.
    """
    with open_workspace(workspace) as opened:
        history = _shared_history(opened) if shared else opened.history
        for text in history.notices():
            note(f"fsagent: {text}")
        if history.repository.tip() is None:
            history.look()
        yield history


def _shared_history(opened: Workspace) -> History:
    history = opened.shared_history
    if history is None:
        owner = opened.core.mounted().tree.root
        raise HistoryError(f"the shared folder belongs to a workspace; ask that one: -w {owner}")
    return history


@click.command()
@click.option("--block", metavar="NAME", help="Only changes of this block or file.")
@click.option("--since", metavar="WHEN", help="From this day or time on, e.g. yesterday.")
@click.option("--until", metavar="WHEN", help="Up to this day or time.")
@click.option("--tool", metavar="NAME", help="Only changes made by this tool.")
@click.option(
    "--author",
    type=click.Choice(["agent", "person", "sleep", "outside"]),
    help="Only changes by this author.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    default=20,
    show_default=True,
    help="Most commits; 0 for all.",
)
@shared_option
@workspace_option
@json_option
def log(
    *,
    block: str | None,
    since: str | None,
    until: str | None,
    tool: str | None,
    author: str | None,
    limit: int,
    shared: bool,
    workspace: str | None,
    as_json: bool,
) -> int:
    """Show what changed in memory, newest first."""
    from fsagent.memory.history.log import read_log

    with open_history(workspace, shared=shared) as history:
        paths = [_path(history, block)] if block else []
        commits = read_log(
            history.repository.git,
            "HEAD",
            paths=paths,
            since=_moment(history, since, end=False),
            until=_moment(history, until, end=True),
            tool=tool,
            by=author,
            zone=history.now().tzinfo,
            limit=limit or None,
        )
    if as_json:
        say_json([commit.as_dict() for commit in commits])
    else:
        for commit in commits:
            say(_line(commit))
    return 0 if commits else EXIT_NOTHING


@click.command()
@click.argument("revision", metavar="REV", default="HEAD")
@shared_option
@workspace_option
@json_option
def show(revision: str, shared: bool, workspace: str | None, as_json: bool) -> None:
    """Show one change: a commit, a turn or a day."""
    from fsagent.memory.history.log import diff_text, one_commit, resolve

    with open_history(workspace, shared=shared) as history:
        git, now = history.repository.git, history.now()
        commit = one_commit(git, resolve(git, revision, now=now), zone=now.tzinfo)
        parent = commit.parents[0] if commit.parents else None
        if as_json:
            diff = diff_text(git, parent, commit.id)
            say_json({**commit.as_dict(), "message": commit.message, "diff": diff})
            return
        say(f"{commit.id[:_ID]}  {commit.ts:%Y-%m-%d %H:%M}  {commit.author}")
        say(commit.message)
        say()
        _print_diff(diff_text(git, parent, commit.id, words=on_terminal()), words=on_terminal())


@click.command()
@click.argument("old", metavar="[OLD]", required=False)
@click.argument("new", metavar="[NEW]", required=False)
@click.option("--since", metavar="WHEN", help="From the start of this day or time until now.")
@click.option("--block", metavar="NAME", help="Only this block or file.")
@shared_option
@workspace_option
def diff(
    *,
    old: str | None,
    new: str | None,
    since: str | None,
    block: str | None,
    shared: bool,
    workspace: str | None,
) -> int:
    """Show how memory differs between two revisions, or from one until now.

    Without a revision: what is on disk and not committed yet.
    """
    from fsagent.memory.history.log import commit_at, diff_text, resolve

    with open_history(workspace, shared=shared) as history:
        repository, now = history.repository, history.now()
        moment = _moment(history, since, end=False)
        if moment is not None:
            start = commit_at(repository.git, moment)
        else:
            start = resolve(repository.git, old, now=now) if old else repository.tip()
        end = resolve(repository.git, new, now=now) if new else repository.snapshot()
        paths = [_path(history, block)] if block else []
        words = on_terminal()
        text = diff_text(repository.git, start, end or "", paths=paths, words=words)
    _print_diff(text, words=words)
    return 0 if text else EXIT_NOTHING


@click.command()
@click.argument("block", metavar="BLOCK")
@shared_option
@workspace_option
@json_option
def blame(block: str, shared: bool, workspace: str | None, as_json: bool) -> None:
    """Show each line of a block with its date, its turn and the words that led to it."""
    from fsagent.memory.history.blame import blame as blame_lines

    with open_history(workspace, shared=shared) as history:
        path = _path(history, block)
        lines = blame_lines(history.repository, path, now=history.now())
    if as_json:
        say_json([line.as_dict() for line in lines])
        return
    for line in lines:
        commit = line.commit
        when = f"{commit.ts:%Y-%m-%d}" if commit else "not saved "
        who = (commit.turn or commit.by) if commit else "-"
        say(f"{line.line:>4}  {when}  {who:<10.24}  {line.text}")
        for words in line.words:
            say(f"{'':>30}{_said(words)}")


@click.command()
@click.argument("words", metavar="TEXT...", nargs=-1, required=True)
@workspace_option
@json_option
def why(words: tuple[str, ...], workspace: str | None, as_json: bool) -> int:
    """Tell why memory holds a fact: its line, the change, the turn, and what was said."""
    from fsagent.memory.history.why import removals
    from fsagent.memory.history.why import why as reasons_for

    text = " ".join(words)
    if not text.strip():
        raise click.UsageError("the text is empty; write words of the fact")
    with open_history(workspace) as history:
        reasons = reasons_for(history.repository, text, now=history.now())
        gone = [] if reasons else removals(history.repository, text, now=history.now())
    if as_json:
        say_json(
            {
                "facts": [reason.as_dict() for reason in reasons],
                "past": [commit.as_dict() for commit in gone],
            }
        )
        return 0 if reasons else EXIT_NOTHING
    for reason in reasons:
        say(f"{reason.path}:{reason.line}: {reason.text}")
        say(f"  {_line(reason.commit)}" if reason.commit else "  not committed yet")
        say(f"  source: {reason.origin.source}, {reason.origin.trust}")
        for utterance in reason.cited:
            say(f"  cites {_said(utterance)}")
        if not reason.cited:
            say("  uncited: the line names no utterance")
            if reason.turn_words:
                say(f"  its turn began with {_said(reason.turn_words)}")
    if gone:
        say("Memory does not hold this now. It was added or removed here:")
        for commit in gone:
            say(f"  {_line(commit)}")
    elif not reasons:
        note(
            f"fsagent: no line of memory holds {text!r}, now or before; fsagent search looks in recall"
        )
    return 0 if reasons else EXIT_NOTHING


@click.command()
@click.argument("turn", metavar="TURN")
@yes_option
@shared_option
@workspace_option
def undo(turn: str, yes: bool, shared: bool, workspace: str | None) -> int:
    """Take back exactly what one turn (or commit) wrote into memory.

    Refuses where later edits depend on it. The conversation itself stays in recall.
    """
    if not shared:
        _note_shared(workspace, turn)
    with open_history(workspace, shared=shared) as history:
        return take_back(history, turn, yes=yes)


def _note_shared(workspace: str | None, turn: str) -> None:
    """Say that a turn wrote shared blocks as well, which have a history of their own."""
    from fsagent.memory.history.log import read_log

    with open_workspace(workspace) as memory:
        history = memory.shared_history if memory.settings.shared else None
        if history is None or history.repository.tip() is None:
            return
        if read_log(history.repository.git, "HEAD", turn=turn):
            note(f"fsagent: shared blocks keep theirs; fsagent undo {turn} --shared takes it back")


def take_back(history: History, turn: str, *, yes: bool) -> int:
    """Take back what a turn or commit wrote; return the exit status."""
    from fsagent.memory.history.log import one_commit, read_log, resolve
    from fsagent.memory.history.undo import undo_plan

    history.look()
    git = history.repository.git
    commits = read_log(git, "HEAD", turn=turn)
    if not commits:
        commits = [one_commit(git, resolve(git, turn, now=history.now()))]
    plans = undo_plan(history.repository, commits)
    return _carry_out(history, plans, lead=f"undo {turn}", undoes=turn, yes=yes)


@click.command()
@click.argument("revision", metavar="REV")
@yes_option
@shared_option
@workspace_option
def rollback(revision: str, yes: bool, shared: bool, workspace: str | None) -> int:
    """Make memory what it was at a commit, turn or day, as a new commit.

    Nothing is rewritten, and recall is left as it is.
    """
    from fsagent.memory.history.log import one_commit, resolve
    from fsagent.memory.history.undo import rollback_plan

    with open_history(workspace, shared=shared) as history:
        history.look()
        git = history.repository.git
        commit = one_commit(git, resolve(git, revision, now=history.now()))
        plans = rollback_plan(history.repository, commit.id)
        lead = f"go back to {commit.ts:%Y-%m-%d %H:%M}"
        return _carry_out(history, plans, lead=lead, undoes="", yes=yes)


def _carry_out(
    history: History, plans: Sequence[FilePlan], *, lead: str, undoes: str, yes: bool
) -> int:
    """Show the plan, ask, do it."""
    from fsagent.memory.history.undo import preview

    if not plans:
        note("fsagent: nothing to change; memory is like that already")
        return EXIT_NOTHING
    _print_diff(preview(plans), words=False)
    if not confirmed(f"Change {len(plans)} {'file' if len(plans) == 1 else 'files'}?", yes=yes):
        return EXIT_NOTHING
    commit = history.apply(plans, lead=lead, undoes=undoes)
    say(f"Done: {(commit or '')[:_ID]}")
    return 0


def confirmed(question: str, *, yes: bool) -> bool:
    """Ask on a terminal; elsewhere only `--yes` goes on."""
    import sys

    if yes:
        return True
    if not sys.stdin.isatty():
        note("fsagent: this is the preview; add --yes to do it")
        return False
    return click.confirm(question, err=True)


def _path(history: History, name: str) -> str:
    from fsagent.memory.history.blame import block_path

    return block_path(history.repository, name)


def _moment(history: History, text: str | None, *, end: bool) -> datetime | None:
    from fsagent.memory.history.log import read_moment

    if text is None:
        return None
    moment = read_moment(text, now=history.now(), end=end)
    if moment is None:
        raise HistoryError(f"{text!r} is no date; write 2026-11-29, yesterday, or last week")
    return moment


def _line(commit: Commit) -> str:
    turn = f"  ({commit.turn})" if commit.turn else ""
    return f"{commit.id[:_ID]}  {commit.ts:%Y-%m-%d %H:%M}  {commit.by:<7}  {commit.subject}{turn}"


def _said(words: Utterance) -> str:
    return f"{words.path}:{words.line}: {words.text}"


def _print_diff(text: str, *, words: bool) -> None:
    if words:
        click.echo(_word_diff(text), nl=False)
        return
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in text.splitlines():
        click.echo(click.style(safe(line), fg=colours.get(line[:1])))


def _word_diff(text: str) -> str:
    """Return git's word porcelain as running lines, removed words struck, added ones green."""
    parts: list[str] = []
    for line in text.splitlines():
        head, rest = line[:1], safe(line[1:])
        if line.startswith(("diff ", "index ", "--- ", "new file", "deleted file", "similarity")):
            continue
        if line.startswith("+++ "):
            parts.append(click.style(safe(line[4:].removeprefix("b/")), bold=True) + "\n")
        elif head == "~":
            parts.append("\n")
        elif head == "-":
            parts.append(click.style(rest, fg="red", strikethrough=True))
        elif head == "+":
            parts.append(click.style(rest, fg="green"))
        elif head == "@":
            parts.append(click.style(safe(line), fg="cyan") + "\n")
        else:
            parts.append(rest)
    return "".join(parts)
