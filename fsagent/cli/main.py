"""The entry point: finds the command, prints errors as sentences, sets the exit status."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Any, NoReturn

import click

import fsagent
from fsagent.cli.common import complain, given_workspace, version_line, words_of
from fsagent.errors import FsagentError

EXIT_INTERRUPTED = 130

# Each command's module is loaded when the command is called, so that --help stays fast.
# A test holds the words here equal to the command's own help.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("fsagent.cli.folder:init", "Lay a new workspace."),
    "chat": ("fsagent.cli.talk:chat", "Talk with the agent."),
    "ask": ("fsagent.cli.talk:ask", "Ask one question and print the answer with its citations."),
    "search": ("fsagent.cli.find:search", "Search all memory, best hits first."),
    "grep": ("fsagent.cli.find:grep", "Search memory for a regular expression, line by line."),
    "index": ("fsagent.cli.indexing:index", "Show, rebuild or delete the index that search keeps."),
    "open": ("fsagent.cli.find:open_file", "Show a file with line numbers, as the agent sees it."),
    "ls": ("fsagent.cli.find:ls", "List the files of memory with sizes, dates and descriptions."),
    "import": (
        "fsagent.cli.importing:import_",
        "Import documents, or LoCoMo samples, into memory.",
    ),
    "block": (
        "fsagent.cli.block:block",
        "Show core memory's blocks, edit them, make and remove them.",
    ),
    "log": ("fsagent.cli.history:log", "Show what changed in memory, newest first."),
    "show": ("fsagent.cli.history:show", "Show one change: a commit, a turn or a day."),
    "diff": (
        "fsagent.cli.history:diff",
        "Show how memory differs between two revisions, or from one until now.",
    ),
    "blame": (
        "fsagent.cli.history:blame",
        "Show each line of a block with its date, its turn and the words that led to it.",
    ),
    "why": (
        "fsagent.cli.history:why",
        "Tell why memory holds a fact: its line, the change, the turn, and what was said.",
    ),
    "undo": (
        "fsagent.cli.history:undo",
        "Take back exactly what one turn (or commit) wrote into memory.",
    ),
    "rollback": (
        "fsagent.cli.history:rollback",
        "Make memory what it was at a commit, turn or day, as a new commit.",
    ),
    "forget": ("fsagent.cli.forget:forget", "Take a fact out of memory."),
    "sleep": (
        "fsagent.cli.sleeping:sleep",
        "Keep in core memory what lasts of what was said since the last sleep.",
    ),
    "review": (
        "fsagent.cli.reviewing:review",
        "Decide on edits of memory that wait for you, each with why it was not written.",
    ),
    "export": (
        "fsagent.cli.bundling:export",
        "Write the workspace with its whole history into one file.",
    ),
    "import-bundle": (
        "fsagent.cli.bundling:import_bundle",
        "Lay the workspace of an exported file into a new folder, with its history.",
    ),
    "watch": (
        "fsagent.cli.watching:watch",
        "Commit edits from outside as they happen, and sleep when nobody talks, until Ctrl-C.",
    ),
    "audit": (
        "fsagent.cli.auditing:audit",
        "Find what is wrong with memory: repeated, contradicting, stale, uncited facts, secrets.",
    ),
    "context": (
        "fsagent.cli.budget:context",
        "Show what fills the context window of the last conversation, by section.",
    ),
    "usage": ("fsagent.cli.budget:usage", "Show tokens and cost by day, role and model."),
    "config": ("fsagent.cli.folder:config", "Show each setting and where it came from."),
    "doctor": ("fsagent.cli.doctor:doctor", "Check the installation, the workspace and the model."),
    "demo": ("fsagent.cli.demo:demo", "Show everything on a small conversation, without a key."),
    "bench": ("fsagent.cli.bench:bench", "Measure how much the agent remembers."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        from importlib import import_module

        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"there is no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-w", "--workspace", metavar="DIR", help="The workspace's folder.")
@click.version_option(fsagent.__version__, "-V", "--version", message=version_line())
@click.pass_context
def cli(ctx: click.Context, workspace: str | None) -> None:
    """An agent whose memory is a folder of plain files."""
    given_workspace(ctx, workspace)


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 1 nothing found, 2 error, 3 locked, 130 interrupted."""
    # Importing makes many objects that stay: walking them again and again costs a start 7 ms of 115.
    gc.set_threshold(20_000, 20, 20)
    _use_utf8()
    try:
        status = _run()
        _ignore_ctrl_c()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away (head, less): quiet, and nothing left for the interpreter to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status)


def _run() -> int:
    try:
        result: Any = cli.main(prog_name="fsagent", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as err:
        err.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        _ignore_ctrl_c()
        complain("interrupted; what was saved so far stays saved")
        return EXIT_INTERRUPTED
    except SystemExit as stop:
        # click's own way out of a pipe whose reader went away; its status would say "nothing found".
        raise BrokenPipeError from stop
    except FsagentError as err:
        complain(words_of(err))
        return err.exit_status


def _ignore_ctrl_c() -> None:
    """All is closed and saved: another Ctrl-C has nothing left to stop but the exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _use_utf8() -> None:
    """Read and write UTF-8 with replacement whatever the console thinks."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
