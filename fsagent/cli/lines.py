"""Read what a person writes: messages of one line or several, from a terminal or a pipe."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from fsagent.cli.common import note
from fsagent.config import environment
from fsagent.errors import ConfigError

OPEN_QUOTES = '"""'


def read_message(read: Callable[[str], str]) -> str:
    """Read a message: one line, lines that end in a backslash joined, or a text in triple quotes.

    Ctrl-D ends a text of several lines, Ctrl-C in one gives it up and returns nothing.
    """
    line = read("> ")
    quoted = line.strip().startswith(OPEN_QUOTES)
    lines = [line.strip().removeprefix(OPEN_QUOTES) if quoted else line]
    is_open = _in_quotes if quoted else _goes_on
    try:
        while is_open(lines[-1]):
            lines.append(read(". "))
    except EOFError:
        pass  # what was written is a message: nothing is thrown away
    except KeyboardInterrupt:
        note("\n(given up)")
        return ""
    if quoted:
        return "\n".join([*lines[:-1], lines[-1].rstrip().removesuffix(OPEN_QUOTES)]).strip("\n")
    return "\n".join(line.removesuffix("\\") for line in lines)


def _in_quotes(line: str) -> bool:
    return not line.rstrip().endswith(OPEN_QUOTES)


def _goes_on(line: str) -> bool:
    return line.endswith("\\")


def read_line(prompt: str) -> str:
    """Read a line with the line editor on a terminal, plainly from a pipe."""
    if sys.stdin.isatty():
        return input(prompt)
    line = utf8(sys.stdin.buffer.readline())
    if not line:
        raise EOFError
    return line.rstrip("\n")


def utf8(raw: bytes) -> str:
    """Return standard input as text; what is kept for ever is not kept with holes in it."""
    try:
        return raw.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as err:
        raise ConfigError(
            "standard input is not UTF-8 text; convert it first, e.g. iconv -f latin1 -t utf-8"
        ) from err


def unbroken(text: str) -> str:
    """Return the words of the command line; bytes that are not UTF-8 arrive as lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as err:
        raise ConfigError("the question is not UTF-8 text; use a terminal set to UTF-8") from err
    return text


@contextlib.contextmanager
def line_editor(history: Path, hide: Callable[[str], str]) -> Iterator[None]:
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
    if environment().get("TERM") != "dumb":
        # Python switches it off; without it each line of a pasted text is a message of its own.
        readline.parse_and_bind("set enable-bracketed-paste on")
    try:
        yield
    finally:
        for place in range(readline.get_current_history_length()):
            line = readline.get_history_item(place + 1) or ""
            readline.replace_history_item(place, hide(line))
        with contextlib.suppress(OSError):
            history.parent.mkdir(exist_ok=True)
            readline.write_history_file(history)
