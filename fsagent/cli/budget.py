"""Commands that tell what the agent uses: usage, context."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from fsagent.cli.common import (
    json_option,
    model_options,
    note,
    open_memory,
    open_workspace,
    say,
    say_json,
    workspace_option,
)
from fsagent.errors import ConfigError

if TYPE_CHECKING:
    from fsagent.agent.report import ContextReport

EXIT_NOTHING = 1


@click.command()
@click.option("--since", default="", metavar="DAY", help="Only from this day on: 2026-11-29.")
@workspace_option
@json_option
def usage(workspace: str | None, as_json: bool, since: str) -> int:
    """Show tokens and cost by day, role and model."""
    from fsagent.agent.usage import usage_report
    from fsagent.models.prices import PRICES_OF

    with open_workspace(workspace) as memory:
        rows = usage_report(memory, since=_day(since, memory.history.now()))
    if as_json:
        say_json([row.as_dict() for row in rows])
        return 0 if rows else EXIT_NOTHING
    for row in rows:
        cost = "price unknown" if row.usd is None else f"{row.usd:.4f} USD"
        say(
            f"{row.day}  {row.role:<10} {row.model:<20} {row.requests:>5} requests "
            f"{row.prompt_tokens:>9} in ({row.cached_tokens} cached) {row.completion_tokens:>8} out"
            f"  {cost}{'  (partly estimated)' if row.estimated else ''}"
        )
    note(f"(prices of {PRICES_OF})" if rows else "(nothing was used)")
    return 0 if rows else EXIT_NOTHING


def _day(text: str, now: datetime) -> str:
    """Return the day that `--since` names, "" where it names none."""
    from fsagent.memory.history.log import read_moment

    if not text:
        return ""
    moment = read_moment(text, now=now, end=False)
    if moment is None:
        raise ConfigError(f"{text!r} is no date; write 2026-11-29, yesterday, or last week")
    return f"{moment:%Y-%m-%d}"


@click.command()
@workspace_option
@model_options
@json_option
def context(
    *,
    workspace: str | None,
    model: str | None,
    base_url: str | None,
    profile: str | None,
    as_json: bool,
) -> None:
    """Show what fills the context window of the last conversation, by section."""
    from fsagent.agent.loop import Agent
    from fsagent.agent.report import context_report

    flags = {"model": model, "base_url": base_url, "profile": profile}
    with (
        open_memory(workspace, as_of=None, **flags) as memory,
        Agent(memory, resume=True, history=False) as agent,
    ):
        report = context_report(agent)
    if as_json:
        say_json(report.as_dict())
        return
    print_context(report)


def print_context(report: ContextReport) -> None:
    """Print what fills a context window, by section."""
    for section in report.sections:
        say(f"{section.name:<24} {section.tokens:>8} tokens")
    say(f"{'used':<24} {report.used_tokens:>8} of {report.limit_tokens} tokens")
