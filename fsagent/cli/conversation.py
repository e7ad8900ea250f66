"""The loop of a chat: read a message or a command, answer it, go on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial

import click

from fsagent.agent.loop import Agent
from fsagent.agent.sleep.idle import IdleSleep
from fsagent.cli.common import complain, note, say
from fsagent.cli.lines import read_line, read_message
from fsagent.cli.screen import Screen
from fsagent.cli.slash import Chat, run_command
from fsagent.errors import ModelError
from fsagent.memory.workspace import Workspace
from fsagent.types import Answer

EXIT_INTERRUPTED = 130
ENDINGS = ("/exit", "/quit")


class Conversation:
    """One chat on a screen; while the person is away the agent sleeps."""

    def __init__(self, agent: Agent, memory: Workspace, screen: Screen) -> None:
        self._agent, self._memory, self._screen = agent, memory, screen
        self._idle = IdleSleep(memory, settings=agent.settings)

    def run(self, *, retry: bool = False) -> int:
        """Talk until the person ends it; return the exit status. `retry` begins with the last message."""
        with closing(self._idle):
            if retry:
                self._retry()
            while (status := self._step()) is None:
                pass
        return status

    def _step(self) -> int | None:
        """Read a message or a command and do it; return the exit status where the chat ends."""
        try:
            text = read_message(read_line)
        except EOFError:
            if sys.stdin.isatty():
                note("")
            return 0
        except KeyboardInterrupt:
            note("\nInterrupted; everything said is saved.")
            return EXIT_INTERRUPTED
        if text.strip() in ENDINGS:
            return 0
        if text.startswith("/") and "\n" not in text:
            self._command(text.strip())
        elif text.strip():
            self._turn(partial(self._agent.run, text, self._screen.show))
        return None

    def _command(self, line: str) -> None:
        self._wake()
        try:
            run_command(line, Chat(self._agent, self._memory, self._retry))
        except (click.Abort, KeyboardInterrupt):
            note("\n(stopped; nothing more was changed)")
        self._idle.turn_ended()

    def _wake(self) -> None:
        """Stop sleeping, and say what became of it."""
        self._idle.turn_begins()
        for report in self._idle.take_reports():
            if report.stop not in ("nothing", "cancelled"):
                note(f"(slept meanwhile: {report.text})")

    def _retry(self) -> None:
        self._turn(partial(self._agent.retry, self._screen.show))

    def _turn(self, answer: Callable[[], Answer]) -> None:
        self._wake()
        try:
            with self._screen.turn():
                answered = answer()
        except KeyboardInterrupt:
            note("(stopped; what was said is saved, /retry asks again)")
        except ModelError as err:
            complain(f"{err} Your message is saved; /retry asks it again.")
        else:
            print_citations(answered)
            for sentence in self._memory.notices():
                note(f"({sentence})")
        self._idle.turn_ended()


def print_citations(answer: Answer) -> None:
    """Print the lines that an answer cites."""
    for citation in answer.citations:
        say(f"  {citation.path}:{citation.line}: {citation.text}")
