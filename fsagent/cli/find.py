"""Commands that find and show: grep, search, open, ls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from fsagent.cli.common import (
    EXIT_NOTHING,
    counted,
    json_option,
    note,
    open_memory,
    open_workspace,
    say,
    say_json,
    warn_of_damage,
    workspace_option,
)
from fsagent.config import Settings
from fsagent.types import HitPage

if TYPE_CHECKING:
    from fsagent.search.merge import Passage

LINES_AROUND = 3


@click.command()
@click.argument("pattern")
@click.argument("path", default=".")
@workspace_option
@click.option("-i", "--ignore-case", is_flag=True, help="Match letters of either case.")
@click.option(
    "-F", "--fixed-strings", "literal", is_flag=True, help="Take the pattern as plain text."
)
@click.option("-C", "--context", default=0, metavar="N", help="Lines to show around each hit.")
@click.option(
    "-g",
    "--glob",
    "globs",
    multiple=True,
    metavar="GLOB",
    help="Only (or with '!', not) such paths.",
)
@click.option("--limit", default=50, show_default=True, metavar="N", help="Most hits to print.")
@click.option("--offset", default=0, metavar="N", help="Hits to pass over.")
@click.option("--count-all", is_flag=True, help="Go on after the page and count every hit.")
@json_option
def grep(workspace: str | None, as_json: bool, pattern: str, path: str, **options: Any) -> int:
    """Search memory for a regular expression, line by line.

    PATTERN is an RE2 expression over the lines that `open` shows. Newest day first under recall/.
    """
    from fsagent.search.grep import grep as run

    _check_counts(**options)
    with open_workspace(workspace) as memory:
        page = run(memory.tree, pattern, path=path, **options)
    return print_page(page, as_json=as_json, offset=options["offset"])


@click.command()
@click.argument("query", nargs=-1, required=True)
@workspace_option
@click.option("--path", default=".", metavar="PATH", help="Only this folder or file.")
@click.option("--speaker", metavar="NAME", help="Only what this speaker said.")
@click.option(
    "--since", metavar="DATE", help="Only recall from this day on: 2026-11-29, or 'last March'."
)
@click.option("--until", metavar="DATE", help="Only recall up to and with this day.")
@click.option("--limit", default=10, show_default=True, metavar="N", help="Most hits to print.")
@click.option("--offset", default=0, metavar="N", help="Hits to pass over.")
@click.option("-C", "--context", default=0, metavar="N", help="Lines to show around each hit.")
@click.option("--explain", is_flag=True, help="Print the features of each hit's score.")
@click.option("--as-of", metavar="DATE", help="Search memory as it stood at the end of this day.")
@json_option
def search(
    *,
    workspace: str | None,
    as_json: bool,
    query: tuple[str, ...],
    context: int,
    as_of: str | None,
    since: str | None,
    until: str | None,
    **options: Any,
) -> int:
    """Search all memory, best hits first."""
    from fsagent.search.ranked import Search
    from fsagent.tools.when import since_moment, until_moment

    _check_counts(context=context, **options)
    if not " ".join(query).strip():
        raise click.UsageError("the query is empty; write a few words")
    with open_memory(workspace, as_of=as_of) as memory:
        now = memory.recall.now()
        finder = Search(
            memory.tree, memory.settings, memory.clock, encoder=encoder_of(memory.settings)
        )
        page = finder.search(
            " ".join(query),
            since=since_moment(since, now),
            until=until_moment(until, now),
            **options,
        )
        if context:
            from fsagent.search.context import with_context

            page = with_context(memory.tree, page, context)
        if as_of is None:
            warn_of_damage(memory)
    return print_page(page, as_json=as_json, offset=options["offset"])


def encoder_of(settings: Settings) -> Any:
    """Return the encoder of an endpoint, where the settings name one."""
    if settings.embeddings is None:
        return None
    from fsagent.models.embeddings import load_encoder

    return load_encoder(settings)


@click.command(name="open")
@click.argument("path")
@click.argument("start", type=int, required=False)
@click.argument("end", type=int, required=False)
@workspace_option
@json_option
def open_file(
    workspace: str | None, as_json: bool, path: str, start: int | None, end: int | None
) -> None:
    """Show a file with line numbers, as the agent sees it.

    PATH may carry a line, as grep prints it: recall/2026/2026-11-29.jsonl:14 shows lines around 14.
    A citation names a line too: 2026-11-29:14.
    """
    from fsagent.workspace.references import split_reference
    from fsagent.workspace.view import view_lines

    path, line = split_reference(path.removeprefix("[").removesuffix("]"))
    if line is not None and start is not None:
        raise click.UsageError(f"{path}:{line} names a line already; leave out START")
    with open_workspace(workspace) as memory:
        lines = view_lines(path, memory.tree.read_bytes(path))
    asked = start if line is None else line
    if asked is not None and not 1 <= asked <= max(1, len(lines)):
        raise click.UsageError(f"{path} has {len(lines)} lines; there is no line {asked}")
    if line is not None:
        start, end = line - LINES_AROUND, line + LINES_AROUND
    first, last = max(1, start or 1), min(len(lines), end or len(lines))
    if last < first - 1:
        raise click.UsageError(f"line {end} stands before line {first}; write START, then END")
    shown = list(enumerate(lines[first - 1 : last], first))
    if as_json:
        say_json({"path": path, "start": first, "end": last, "total": len(lines), "lines": shown})
        return
    for number, text in shown:
        say(f"{number}: {text}")


def _check_counts(*, limit: int, offset: int, context: int, **_: Any) -> None:
    """Refuse counts that could only find nothing."""
    if limit < 1:
        raise click.UsageError(f"--limit is {limit}; write 1 or more")
    for name, value in (("--offset", offset), ("--context", context)):
        if value < 0:
            raise click.UsageError(f"{name} is {value}; write 0 or more")


@click.command()
@click.argument("path", default=".")
@workspace_option
@json_option
def ls(workspace: str | None, as_json: bool, path: str) -> int:
    """List the files of memory with sizes, dates and descriptions."""
    from fsagent.tools.listing import list_rows

    with open_workspace(workspace) as memory:
        rows = list_rows(memory, path)
    if as_json:
        say_json([row.as_dict() for row in rows])
    else:
        for row in rows:
            say(row.line())
    return 0 if rows else EXIT_NOTHING


def print_page(page: HitPage, *, as_json: bool, offset: int = 0) -> int:
    """Print hits; return the exit status."""
    if as_json:
        say_json(page.as_dict())
        return 0 if page.hits else EXIT_NOTHING
    from fsagent.search.merge import passages

    for passage in passages(page.hits):
        _print_passage(passage)
    for sentence in page.notes:
        note(sentence)
    _print_flags(page, offset)
    return 0 if page.hits else EXIT_NOTHING


def _print_passage(passage: Passage) -> None:
    around = False
    for number, text, hit in passage:
        mark = ":" if hit else "-"
        around |= hit is None
        say(f"{passage.path}{mark}{number}{mark} {text}")
        if hit and hit.features:
            say("    " + "  ".join(f"{name}={value:.3f}" for name, value in hit.features.items()))
    if around:
        say("--")


def _print_flags(page: HitPage, offset: int) -> None:
    if page.timed_out:
        note("(stopped at the time limit; there may be more hits)")
    elif page.clipped_hits:
        total = "more" if page.total is None else f"{page.total} in all"
        note(f"({counted(len(page.hits), 'hit')} shown, {total}; see --limit and --offset)")
    elif not page.hits and offset:
        note(f"(nothing behind the first {counted(offset, 'hit')}; write a smaller --offset)")
    elif not page.hits and sys.stderr.isatty():
        note("(nothing found)")
