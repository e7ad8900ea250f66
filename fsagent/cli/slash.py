"""The commands inside a chat: lines that begin with a slash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from fsagent.agent.loop import Agent
from fsagent.cli.common import complain, note, say, words_of
from fsagent.errors import FsagentError
from fsagent.memory.workspace import Workspace

RECENT_COMMITS = 200
"""How many commits `/undo` looks back for a turn to take back."""

HELP = """\
/help          this list
/context       how full the context window is
/memory        the core blocks
/search WORDS  search all memory
/undo [TURN]   take back what the last turn or sleep that changed memory wrote, or that turn
/sleep         keep what lasts of what was said, now; it happens by itself when you are away
/retry         ask the last message again, where it got no answer
/model [NAME]  the model in use, or go on with another one
/exit          end the chat (or Ctrl-D)
A line that ends in \\ goes on in the next one; \"\"\" begins and ends a text of several lines.
A space before a slash makes the line a message. Ctrl-C stops a reply; what was said stays saved."""


@dataclass(frozen=True, slots=True)
class Chat:
    """What the commands work on. `retry` asks the last message again and shows the answer."""

    agent: Agent
    memory: Workspace
    retry: Callable[[], None]


def run_command(line: str, chat: Chat) -> None:
    """Run one command; what is wrong with it is said, and the chat goes on."""
    name, _, rest = line.partition(" ")
    if name not in COMMANDS:
        near = get_close_matches(name, COMMANDS, 1)
        hint = f"; did you mean {near[0]}?" if near else "."
        complain(
            f"there is no command {name}{hint} /help lists them, "
            "a space before the slash makes it a message"
        )
        return
    try:
        COMMANDS[name](chat, rest.strip())
    except FsagentError as err:
        complain(words_of(err))


def _help(chat: Chat, rest: str) -> None:
    say(HELP)


def _context(chat: Chat, rest: str) -> None:
    from fsagent.agent.report import context_report
    from fsagent.cli.budget import print_context

    print_context(context_report(chat.agent))


def _memory(chat: Chat, rest: str) -> None:
    for block in chat.memory.core.blocks():
        say(f"{block.label} ({block.size} of {block.limit} characters): {block.description}")
        say(block.value or "(empty)")


def _search(chat: Chat, rest: str) -> None:
    if not rest:
        complain("write what to search for: /search WORDS")
        return
    from fsagent.cli.find import print_page

    print_page(chat.agent.find(rest), as_json=False)


def _undo(chat: Chat, rest: str) -> None:
    from fsagent.cli.history import take_back

    history = chat.memory.history
    history.wait()
    turn = rest or last_turn_that_wrote(chat.memory)
    if turn is None:
        note("fsagent: no turn and no sleep has changed memory; there is nothing to undo")
        return
    take_back(history, turn, yes=False)


def last_turn_that_wrote(memory: Workspace) -> str | None:
    """Return the newest turn or sleep that changed memory and was not taken back since."""
    from fsagent.memory.history.log import read_log

    repository = memory.history.repository
    if repository.tip() is None:
        return None
    commits = read_log(repository.git, "HEAD", limit=RECENT_COMMITS)
    undone = {commit.trailers.get("Undoes", "") for commit in commits}
    turns = (commit.turn for commit in commits if commit.by in ("agent", "sleep") and commit.turn)
    return next((turn for turn in turns if turn not in undone), None)


def _sleep(chat: Chat, rest: str) -> None:
    from fsagent.agent.sleep import sleep as asleep
    from fsagent.cli.sleeping import print_report

    print_report(asleep.sleep(chat.memory, settings=chat.agent.settings), verbose=True)


def _retry(chat: Chat, rest: str) -> None:
    if chat.agent.unanswered is None:
        note("fsagent: the last message of this conversation has its answer")
    else:
        chat.retry()


def _model(chat: Chat, rest: str) -> None:
    if rest:
        chat.agent.use_model(rest)
    say(chat.agent.model.name)


COMMANDS: Mapping[str, Callable[[Chat, str], None]] = {
    "/help": _help,
    "/context": _context,
    "/memory": _memory,
    "/search": _search,
    "/undo": _undo,
    "/sleep": _sleep,
    "/retry": _retry,
    "/model": _model,
}
