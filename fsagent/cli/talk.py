"""Commands that talk: ask, chat."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fsagent.cli.common import (
    complain,
    json_option,
    model_options,
    note,
    open_memory,
    safe,
    say,
    say_json,
    workspace_option,
)
from fsagent.errors import ConfigError, ModelError
from fsagent.types import Answer

if TYPE_CHECKING:
    from fsagent.agent.events import Event
    from fsagent.agent.loop import Agent
    from fsagent.memory.workspace import Workspace

EXIT_INTERRUPTED = 130
HISTORY_NAME = "chat_history"
OPEN_QUOTES = '"""'
HELP = """\
/help     this list
/context  how full the context window is
/memory   the core blocks
/model    the model in use
/exit     end the chat (or Ctrl-D)
A line that ends in \\ goes on in the next one; \"\"\" begins and ends a text of several lines.
Ctrl-C stops a reply; what was said stays saved."""


@click.command()
@click.argument("question", nargs=-1)
@workspace_option
@model_options
@click.option(
    "--as-of", metavar="DATE", help="Answer from memory as it stood at the end of this day."
)
@click.option("-v", "--verbose", is_flag=True, help="Show what each tool returned.")
@click.option("-q", "--quiet", is_flag=True, help="Print the answer alone.")
@json_option
def ask(
    *,
    question: tuple[str, ...],
    workspace: str | None,
    model: str | None,
    base_url: str | None,
    profile: str | None,
    as_of: str | None,
    verbose: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Ask one question and print the answer with its citations.

    Without QUESTION it is read from standard input.
    """
    given = question and question != ("-",)
    text = _unbroken(" ".join(question)) if given else _utf8(sys.stdin.buffer.read())
    if not text.strip():
        raise ConfigError("there is no question; write it behind the command, or pipe it in")
    flags = {"model": model, "base_url": base_url, "profile": profile}
    with open_memory(workspace, as_of=as_of, **flags) as memory:
        agent = _agent(memory, quiet=quiet or as_json)
        screen = Screen(verbose=verbose, quiet=quiet or as_json, streams=False)
        answer = agent.stream(text, screen.show)
        if as_json:
            say_json(answer.as_dict())
        else:
            _print_answer(answer, quiet=quiet)
        _print_notices(memory)
    return 0 if answer.stop == "answered" else 2


@click.command()
@workspace_option
@model_options
@click.option("--continue", "resume", is_flag=True, help="Go on with the last conversation.")
@click.option("-v", "--verbose", is_flag=True, help="Show what each tool returned.")
def chat(
    *,
    workspace: str | None,
    model: str | None,
    base_url: str | None,
    profile: str | None,
    resume: bool,
    verbose: bool,
) -> int:
    """Talk with the agent.

    /help lists the commands inside. Every message is on disk before it is shown.
    """
    flags = {"model": model, "base_url": base_url, "profile": profile}
    with open_memory(workspace, as_of=None, **flags) as memory:
        agent = _agent(memory, resume=resume)
        note(f"fsagent, model {agent.model.name}. /help lists commands, Ctrl-D ends.")
        with _line_editor(memory.root / ".fsagent" / HISTORY_NAME, memory.tree.secrets.hide):
            return _converse(agent, memory, Screen(verbose=verbose))


def _agent(memory: Workspace, *, resume: bool = False, quiet: bool = False) -> Agent:
    from fsagent.agent.loop import Agent

    agent = Agent(memory, memory.settings.model, resume=resume)
    if memory.settings.model == "offline" and not quiet:
        note("(the embedded offline model: it searches and quotes, and understands little)")
    return agent


@dataclass(slots=True)
class Screen:
    """Shows a turn while it runs: tool activity on stderr, the reply's text on stdout."""

    verbose: bool = False
    quiet: bool = False
    streams: bool = True
    written: bool = False

    def show(self, event: Event) -> None:
        """Show one event."""
        from fsagent.agent import events

        match event:
            case events.TextDelta(text) if self.streams:
                click.echo(safe(text), nl=False)
                sys.stdout.flush()
                self.written = True
            case events.ToolStarted(_, summary) if not self.quiet:
                self._break()
                note(f"  {summary}")
            case events.ToolFinished(_, summary, text, _) if not self.quiet:
                note(text if self.verbose else f"    {summary}")
            case events.Notice(text) if not self.quiet:
                self._break()
                note(text)
            case events.Compacted(before, after, count) if not self.quiet:
                note(f"  ({count} old messages summarised: about {before} -> {after} tokens)")
            case events.Finished():
                self._break()

    def _break(self) -> None:
        if self.written:
            click.echo()
            self.written = False


def _converse(agent: Agent, memory: Workspace, screen: Screen) -> int:
    while True:
        try:
            text = read_message(_read_line)
        except EOFError:
            return 0
        except KeyboardInterrupt:
            note("\nInterrupted; everything said is saved.")
            return EXIT_INTERRUPTED
        if text.strip() in ("/exit", "/quit"):
            return 0
        if text.startswith("/"):
            _command(text.strip(), agent, memory)
        elif text.strip():
            _turn(agent, memory, screen, text)


def _turn(agent: Agent, memory: Workspace, screen: Screen, text: str) -> None:
    try:
        answer = agent.stream(text, screen.show)
    except KeyboardInterrupt:
        note("\n(stopped; what was said is saved)")
    except ModelError as err:
        complain(f"{err} Your message is saved.")
    else:
        _print_citations(answer)
        _print_notices(memory)


def _command(text: str, agent: Agent, memory: Workspace) -> None:
    if text == "/help":
        say(HELP)
    elif text == "/model":
        say(agent.model.name)
    elif text == "/memory":
        for block in memory.core.blocks():
            say(f"{block.label} ({block.size} of {block.limit} characters): {block.description}")
            say(block.value or "(empty)")
    elif text == "/context":
        for section in agent.session.context.sections():
            say(f"{section.name:<24} {section.tokens:>8} tokens")
    else:
        complain(f"there is no command {text.split(maxsplit=1)[0]}; /help lists them")


def read_message(read_line: Callable[[str], str]) -> str:
    """Read a message: one line, lines that end in a backslash joined, or a text in triple quotes."""
    line = read_line("> ")
    if line.strip().startswith(OPEN_QUOTES):
        return _quoted(line.strip().removeprefix(OPEN_QUOTES), read_line)
    lines = [line]
    while lines[-1].endswith("\\"):
        lines[-1] = lines[-1][:-1]
        lines.append(read_line(". "))
    return "\n".join(lines)


def _quoted(first: str, read_line: Callable[[str], str]) -> str:
    lines = [first]
    while not lines[-1].rstrip().endswith(OPEN_QUOTES):
        lines.append(read_line(". "))
    lines[-1] = lines[-1].rstrip().removesuffix(OPEN_QUOTES)
    return "\n".join(lines).strip("\n")


def _read_line(prompt: str) -> str:
    """Read a line with the line editor on a terminal, plainly from a pipe."""
    if sys.stdin.isatty():
        return input(prompt)
    line = _utf8(sys.stdin.buffer.readline())
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _utf8(raw: bytes) -> str:
    """Return standard input as text; what is kept for ever is not kept with holes in it."""
    try:
        return raw.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as err:
        raise ConfigError(
            "standard input is not UTF-8 text; convert it first, e.g. iconv -f latin1 -t utf-8"
        ) from err


def _unbroken(text: str) -> str:
    """Return the words of the command line; bytes that are not UTF-8 arrive as lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as err:
        raise ConfigError("the question is not UTF-8 text; use a terminal set to UTF-8") from err
    return text


@contextlib.contextmanager
def _line_editor(history: Path, hide: Callable[[str], str]) -> Iterator[None]:
    """Give the line editor its history from a file, and write it back without secrets."""
    if not sys.stdin.isatty():
        yield
        return
    try:
        import readline
    except ImportError:  # a Python without it edits lines without history
        yield
        return
    with contextlib.suppress(OSError):
        readline.read_history_file(history)
    readline.set_history_length(1000)
    try:
        yield
    finally:
        for place in range(readline.get_current_history_length()):
            line = readline.get_history_item(place + 1) or ""
            readline.replace_history_item(place, hide(line))
        with contextlib.suppress(OSError):
            history.parent.mkdir(exist_ok=True)
            readline.write_history_file(history)


def _print_answer(answer: Answer, *, quiet: bool) -> None:
    say(answer.text)
    if not quiet:
        _print_citations(answer)
        tokens = (answer.usage.prompt_tokens or 0) + (answer.usage.completion_tokens or 0)
        note(
            f"({answer.steps} steps, {answer.tool_calls} tool calls, {tokens} tokens, {answer.model})"
        )


def _print_citations(answer: Answer) -> None:
    for citation in answer.citations:
        say(f"  {citation.path}:{citation.line}: {citation.text}")


def _print_notices(memory: Workspace) -> None:
    for sentence in memory.history.notices():
        note(f"({sentence})")
