"""Commands that talk: ask, chat."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from fsagent.cli.common import (
    complain,
    counted,
    json_option,
    model_options,
    note,
    open_memory,
    say_json,
    warn_of_damage,
    workspace_option,
)
from fsagent.cli.lines import line_editor, unbroken, utf8
from fsagent.errors import ConfigError, ModelError
from fsagent.types import Answer

if TYPE_CHECKING:
    from fsagent.agent.loop import Agent
    from fsagent.cli.screen import Screen
    from fsagent.config import Settings
    from fsagent.memory.workspace import Workspace

EXIT_NOTHING, EXIT_ERROR, EXIT_INTERRUPTED = 1, 2, 130
HISTORY_NAME = "chat_history"


@click.command()
@click.argument("question", nargs=-1)
@workspace_option
@model_options
@click.option(
    "--as-of", metavar="DATE", help="Answer from memory as it stood at the end of this day."
)
@click.option("--retry", is_flag=True, help="Ask the last message again, which got no answer.")
@click.option("-v", "--verbose", is_flag=True, help="Show each tool's arguments and result.")
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
    retry: bool,
    verbose: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Ask one question and print the answer with its citations.

    Without QUESTION it is read from standard input. The question is on disk before the model is
    asked: where the model fails, --retry asks it again and does not write it a second time. The
    exit status is 2 where there is no whole answer.
    """
    from fsagent.cli.local import found_here
    from fsagent.cli.screen import Screen

    if retry and (question or as_of):
        raise ConfigError("--retry asks the last message again; leave out QUESTION and --as-of")
    text = None if retry else _question(question)
    quiet = quiet or as_json
    flags = {"model": model, "base_url": base_url, "profile": profile}
    with open_memory(workspace, as_of=as_of, **flags) as memory:
        settings = found_here(memory.settings)
        with _agent(memory, settings, resume=retry, quiet=quiet) as agent:
            if text is None and agent.unanswered is None:
                note("fsagent: the last message has its answer; there is nothing to retry")
                return EXIT_NOTHING
            try:
                answer = _answer(agent, text, Screen(verbose=verbose, quiet=quiet, streams=False))
            except ModelError as err:
                kept = (
                    "" if as_of else " Your question is saved; fsagent ask --retry asks it again."
                )
                complain(f"{err}{kept}")
                return err.exit_status
            except KeyboardInterrupt:
                complain("stopped; your question is saved, fsagent ask --retry asks it again")
                return EXIT_INTERRUPTED
        if as_json:
            say_json(answer.as_dict())
        else:
            _print_answer(answer, quiet=quiet)
        _print_notices(memory)
        if as_of is None:
            warn_of_damage(memory)
    return 0 if answer.stop == "answered" else EXIT_ERROR


@click.command()
@workspace_option
@model_options
@click.option("--continue", "resume", is_flag=True, help="Go on with the last conversation.")
@click.option("-v", "--verbose", is_flag=True, help="Show each tool's arguments and result.")
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

    /help lists the commands inside. Every message is on disk before it is shown. One that got no
    answer, because the model failed or the program ended, can be asked again at the next start.
    """
    from fsagent.cli.conversation import Conversation
    from fsagent.cli.local import found_here
    from fsagent.cli.screen import Screen

    flags = {"model": model, "base_url": base_url, "profile": profile}
    with open_memory(workspace, as_of=None, **flags) as memory, ExitStack() as stack:
        settings = found_here(memory.settings)
        agent = stack.enter_context(_agent(memory, settings, resume=resume))
        for sentence in agent.notices():
            note(f"({sentence})")
        retry = _wants_retry(memory)
        if retry and agent.unanswered is None:  # the message stands in the last conversation
            agent = stack.enter_context(_agent(memory, settings, resume=True, quiet=True))
        _greet(agent)
        warn_of_damage(memory)
        with line_editor(memory.root / ".fsagent" / HISTORY_NAME, memory.tree.secrets.hide):
            return Conversation(agent, memory, Screen(verbose=verbose)).run(retry=retry)


def _question(words: tuple[str, ...]) -> str:
    """Return the question of the command line, else of standard input."""
    given = words and words != ("-",)
    if not given and sys.stdin.isatty():
        note("(write the question; Ctrl-D on a line of its own ends it)")
    text = unbroken(" ".join(words)) if given else utf8(sys.stdin.buffer.read()).rstrip("\n")
    if not text.strip():
        raise ConfigError("there is no question; write it behind the command, or pipe it in")
    return text


def _agent(
    memory: Workspace, settings: Settings, *, resume: bool = False, quiet: bool = False
) -> Agent:
    from fsagent.agent.loop import Agent

    agent = Agent(memory, settings.model, settings=settings, resume=resume)
    if not quiet and settings.model == "offline":
        note("(the embedded offline model: it searches and quotes, and understands little)")
    address = getattr(agent.model, "base_url", None)
    if not quiet and address and settings.base_url is None and settings.api_key is None:
        note(f"(model {agent.model.name} of the server on this machine at {address})")
    return agent


def _answer(agent: Agent, text: str | None, screen: Screen) -> Answer:
    """Answer a question, or with None the last one that got no answer."""
    with screen.turn():
        return agent.retry(screen.show) if text is None else agent.run(text, screen.show)


def _wants_retry(memory: Workspace) -> bool:
    """Say whether the last message, left without an answer, is to be asked again."""
    from fsagent.agent.unanswered import last_unanswered

    left = last_unanswered(memory.recall)
    if left is None:
        return False
    if not sys.stdin.isatty():
        note(
            f"(The last message got no answer: {left.short!r}. fsagent ask --retry asks it again.)"
        )
        return False
    note(f"Your last message got no answer: {left.short}")
    return click.confirm("Ask it again?", default=True, err=True)


def _greet(agent: Agent) -> None:
    address = getattr(agent.model, "base_url", None)
    where = f" at {address}" if address else ""
    note(f"fsagent, model {agent.model.name}{where}. /help lists commands, Ctrl-D ends.")
    if agent.restored:
        note(
            f"(going on with the last conversation: {counted(agent.restored, 'message')} of it at hand)"
        )


def _print_answer(answer: Answer, *, quiet: bool) -> None:
    from fsagent.cli.conversation import print_citations
    from fsagent.cli.markdown import print_reply

    print_reply(answer.text)
    if not quiet:
        print_citations(answer)
        tokens = (answer.usage.prompt_tokens or 0) + (answer.usage.completion_tokens or 0)
        note(
            f"({counted(answer.steps, 'step')}, {counted(answer.tool_calls, 'tool call')}, "
            f"{tokens} tokens, {answer.model})"
        )


def _print_notices(memory: Workspace) -> None:
    for sentence in memory.notices():
        note(f"({sentence})")
