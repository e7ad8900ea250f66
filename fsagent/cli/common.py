"""What the commands share: options, opening the workspace, output that is safe on a terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fsagent.config import Settings, environment, load_settings
from fsagent.errors import ConfigError, FsagentError, HistoryError
from fsagent.workspace.locate import find_workspace

if TYPE_CHECKING:
    from fsagent.memory.workspace import Workspace

F = TypeVar("F", bound=Callable[..., Any])
_T = TypeVar("_T", str, bytes)
EXIT_NOTHING = 1

# Errors are worded for the model, which has tools; a person has commands.
_AS_COMMANDS = {
    "; list_files shows what there is": "; fsagent ls shows what there is",
    "or use literal=true": "or add -F to take it as plain text",
    "is a folder, not a file": "is a folder, not a file; fsagent ls shows what is in it",
    "(permission denied)": (
        "(permission denied); get the right to write the workspace, or work in a copy of it"
    ),
}

# Controls of C0 and C1 but for tab and newline: they could move the cursor or recolour the screen.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def workspace_option(function: F) -> F:
    """Add `-w/--workspace`."""
    return click.option(
        "-w",
        "--workspace",
        metavar="DIR",
        help="The workspace's folder (default: the nearest one upwards).",
    )(function)


def json_option(function: F) -> F:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")(function)


def model_options(function: F) -> F:
    """Add `--model`, `--base-url` and `--profile`."""
    options = [
        click.option(
            "--model", metavar="NAME", help="offline, scripted:FILE, or an endpoint's model name."
        ),
        click.option(
            "--base-url",
            metavar="URL",
            help="An OpenAI-compatible server, e.g. http://127.0.0.1:8080/v1.",
        ),
        click.option(
            "--profile", type=click.Choice(["filesystem", "memgpt"]), help="The agent's tool set."
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def given_workspace(ctx: click.Context, workspace: str | None) -> None:
    """Note a `-w` that stood before the command."""
    ctx.ensure_object(dict)
    if workspace is not None:
        ctx.obj["workspace"] = workspace


def workspace_root(workspace: str | None) -> Path:
    """Return the workspace's folder by `-w`, the environment, or upwards from here."""
    ctx = click.get_current_context(silent=True)
    named = workspace or ((ctx.obj or {}).get("workspace") if ctx else None)
    return find_workspace(Path(named) if named else None, environment(), Path.cwd())


def open_workspace(workspace: str | None, **flags: Any) -> Workspace:
    """Open the workspace with settings from files, environment and flags."""
    from fsagent.memory.workspace import Workspace

    root = workspace_root(workspace)
    return Workspace.open(root, settings=load_settings(root, environment(), flags))


@contextmanager
def open_memory(workspace: str | None, *, as_of: str | None, **flags: Any) -> Iterator[Workspace]:
    """Open the workspace, or with a date a throw-away copy of it as it stood at that day's end."""
    with open_workspace(workspace, **flags) as memory:
        if as_of is None:
            yield memory
            return
        from fsagent.memory.history.log import read_moment

        moment = read_moment(as_of, now=memory.history.now(), end=True)
        if moment is None:
            raise HistoryError(f"{as_of!r} is no date; write 2026-11-29, yesterday, or last week")
        with memory.history.as_of(moment) as (folder, commit), _shared_at(memory, moment) as shared:
            if commit is None:
                note(
                    f"fsagent: nothing was committed by {moment:%Y-%m-%d %H:%M}; recall alone speaks"
                )
            settings = replace(memory.settings, shared=shared)
            with type(memory).open(folder, settings=settings, clock=lambda: moment) as past:
                yield past


@contextmanager
def _shared_at(memory: Workspace, moment: datetime) -> Iterator[str | None]:
    """Lay the shared blocks as they stood; None where there are none, or no history tells."""
    if memory.settings.shared is None:
        yield None
        return
    history = memory.shared_history
    if history is None:
        note("fsagent: the shared blocks belong to another workspace and are left out of the past")
        yield None
        return
    with history.as_of(moment) as (folder, commit):
        if commit is None:
            note(f"fsagent: of shared blocks nothing was committed by {moment:%Y-%m-%d %H:%M}")
        yield str(folder)


def warn_of_damage(memory: Workspace) -> None:
    """Say which lines of recall cannot be read: what stands there was not searched."""
    from fsagent.memory.damage import damaged_lines

    bad = damaged_lines(memory.tree)
    if bad:
        first, more = bad[0], len(bad) - 1
        others = f" So are {more} others; fsagent doctor counts them." if more else ""
        note(
            f"fsagent: {first.path}:{first.line} is damaged: {first.reason}. It is kept as it is and "
            f"left out of searches.{others}"
        )


def settings_outside(**flags: Any) -> Settings:
    """Return settings where no workspace is needed."""
    return load_settings(None, environment(), flags)


def safe(text: str) -> str:
    """Return text with control characters made visible, so that it cannot drive the terminal."""
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def say(text: str = "") -> None:
    """Print a line of data on standard output."""
    click.echo(safe(text))


def say_json(shape: Any) -> None:
    """Print one JSON value on standard output."""
    click.echo(json.dumps(shape, ensure_ascii=False, indent=None))


def note(text: str) -> None:
    """Print a line for the person on standard error."""
    click.echo(safe(text), err=True)


def complain(text: str) -> None:
    """Print an error as a sentence on standard error."""
    note(f"fsagent: {text}")


def words_of(err: FsagentError) -> str:
    """Return an error's sentence with the commands of a person for the tools of a model."""
    text = str(err)
    for tool, command in _AS_COMMANDS.items():
        text = text.replace(tool, command)
    return text


def in_editor(text: _T) -> _T | None:
    """Return a text as the person's editor saved it, None where it was not saved."""
    try:
        return click.edit(text, extension=".md")
    except click.ClickException as err:
        raise ConfigError(
            f"{err.message}; name your editor in EDITOR, or give the text as an option (see --help)"
        ) from err


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun: `1 hit`, `2 hits`."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def on_terminal() -> bool:
    """Say whether standard output is a terminal."""
    return sys.stdout.isatty()


def version_line() -> str:
    """Return the line that `--version` prints."""
    return "fsagent %(version)s"
