"""Show a turn while it runs: tool activity on standard error, the reply on standard output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import click

from fsagent.agent import events
from fsagent.agent.events import Event
from fsagent.cli.common import note, safe
from fsagent.cli.markdown import reply_screen
from fsagent.types import ToolCall


class Screen:
    """Shows events: one line a tool, with `verbose` its arguments and its whole result.

    With `streams` the reply's text is shown as it comes; `quiet` leaves out everything else.
    """

    def __init__(self, *, verbose: bool = False, quiet: bool = False, streams: bool = True) -> None:
        self._verbose, self._quiet, self._streams = verbose, quiet, streams
        self._reply = reply_screen()
        self._tool_line_open = False

    def show(self, event: Event) -> None:
        """Show one event."""
        match event:
            case events.TextDelta(text) if self._streams:
                self._end_tool_line()
                self._reply.feed(text)
            case events.ToolStarted(call, summary) if not self._quiet:
                self._break()
                self._tool_started(call, summary)
            case events.ToolFinished(_, summary, text, failed) if not self._quiet:
                self._tool_finished(summary, text, failed=failed)
            case events.Notice(text) if not self._quiet:
                self._break()
                note(text)
            case events.Compacted(before, after, count) if not self._quiet:
                self._break()
                note(f"  ({count} old messages summarised: about {before} -> {after} tokens)")
            case events.Finished():
                self._break()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Leave the terminal whole, however a turn ends."""
        try:
            yield
        finally:
            self._break()

    def _break(self) -> None:
        self._end_tool_line()
        self._reply.end()

    def _end_tool_line(self) -> None:
        if self._tool_line_open:
            click.echo(err=True)
        self._tool_line_open = False

    def _tool_started(self, call: ToolCall, summary: str) -> None:
        if self._verbose:
            note(f"  {call.name}\n{_indented(_readable(call.arguments))}")
            return
        click.echo(safe(f"  {summary}"), err=True, nl=False)
        self._tool_line_open = True

    def _tool_finished(self, summary: str, text: str, *, failed: bool) -> None:
        mark = "failed: " if failed else ""
        if self._verbose:
            note(f"  {mark.removesuffix(': ')}\n{_indented(text)}" if failed else _indented(text))
            return
        click.echo(safe(f": {mark}{summary}"), err=True)
        self._tool_line_open = False


def _readable(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return arguments


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
