"""The command sleep: consolidate what was said into core memory, now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fsagent.cli.common import (
    counted,
    json_option,
    note,
    open_workspace,
    say,
    say_json,
    workspace_option,
)
from fsagent.errors import ConfigError

if TYPE_CHECKING:
    from fsagent.agent.sleep.report import Outlook, SleepReport

_WORKED = ("landed", "nothing", "proposed")


@click.command()
@click.option("--diff", "preview", is_flag=True, help="Show the change, write nothing.")
@click.option("--apply", "landing", is_flag=True, help="Write exactly what the last --diff showed.")
@click.option(
    "--dry-run", is_flag=True, help="Say how much would be read and what it may cost; ask no model."
)
@click.option(
    "--model",
    metavar="NAME",
    help="The model that is asked (default: the setting sleep_model, else model).",
)
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server.")
@click.option("-v", "--verbose", is_flag=True, help="Show each edit with what became of it.")
@workspace_option
@json_option
def sleep(
    *,
    preview: bool,
    landing: bool,
    dry_run: bool,
    model: str | None,
    base_url: str | None,
    verbose: bool,
    workspace: str | None,
    as_json: bool,
) -> int:
    """Keep in core memory what lasts of what was said since the last sleep.

    A model proposes edits; rules check each against the words that were said. What passes becomes a
    commit, which `fsagent undo` takes back; what does not waits for `fsagent review`. The log of
    what was said is read and never written.
    """
    if preview + landing + dry_run > 1:
        raise ConfigError("choose one of --diff, --apply and --dry-run")
    from fsagent.agent.sleep import sleep as asleep

    with open_workspace(workspace, sleep_model=model, base_url=base_url) as memory:
        chosen = {"model", "sleep_model"} & memory.settings.origins.keys()
        if base_url is not None and not chosen:
            raise ConfigError("--base-url needs the name of a model there: add --model NAME")
        if dry_run:
            _print_outlook(asleep.outlook(memory), as_json=as_json)
            return 0
        report = asleep.apply_preview(memory) if landing else asleep.sleep(memory, preview=preview)
        if as_json:
            say_json(_shape(report))
        else:
            print_report(report, verbose=verbose, landing=landing)
        for text in memory.notices():
            note(f"fsagent: {text}")
    return 0 if report.stop in _WORKED else 2


def print_report(report: SleepReport, *, verbose: bool = False, landing: bool = False) -> None:
    """Print what a sleep did."""
    if report.diff:
        say(report.diff)
    if verbose:
        for one in report.verdicts:
            edit = one.edit
            said = edit.line or f"without {edit.old!r}"
            note(
                f"{one.outcome}: {edit.block}: {said}" + (f" ({one.reason})" if one.reason else "")
            )
    note(f"fsagent: {report.text}")
    for commit in report.commits:
        note(f"commit {commit[:10]}; take it back with: fsagent undo {commit[:10]}")
    used = (report.usage.prompt_tokens or 0) + (report.usage.completion_tokens or 0)
    if used and not landing:
        cost = f", {report.usd:.4f} USD" if report.usd else ""
        note(f"({counted(report.lines, 'line')} read by {report.model}, {used} tokens{cost})")


def _print_outlook(outlook: Outlook, *, as_json: bool) -> None:
    if as_json:
        say_json({name: getattr(outlook, name) for name in outlook.__slots__})
        return
    cost = "price unknown" if outlook.usd is None else f"about {outlook.usd:.4f} USD"
    say(
        f"{counted(outlook.lines, 'line')} since the last sleep: "
        f"{counted(outlook.requests, 'request')} to {outlook.model}, "
        f"about {outlook.prompt_tokens} tokens in, {cost}"
    )


def _shape(report: SleepReport) -> dict[str, Any]:
    return {
        "stop": report.stop,
        "text": report.text,
        "lines": report.lines,
        "commits": list(report.commits),
        "edits": [
            {**one.edit.as_dict(), "outcome": one.outcome, "reason": one.reason}
            for one in report.verdicts
        ],
        "diff": report.diff,
        "model": report.model,
        "usage": report.usage.as_dict(),
        "usd": report.usd,
    }
