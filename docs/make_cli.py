"""Write docs/cli.md from the commands' own help. A test fails when the two differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from fsagent.cli.main import cli

TARGET = Path(__file__).parent / "cli.md"


def page() -> str:
    """Return the whole page."""
    parts = ["# The command line\n\nMade from the commands' help by `python docs/make_cli.py`.\n"]
    context = click.Context(
        cli, info_name="fsagent", max_content_width=100, terminal_width=100, **cli.context_settings
    )
    parts += [f"## {title}\n\n```\n{text}\n```\n" for title, text in _sections(cli, context)]
    return "\n".join(parts)


def _sections(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _sections(
                inner, click.Context(inner, info_name=name, parent=context, terminal_width=100)
            )


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8", newline="\n")
