"""Show a reply while it streams: Markdown on a terminal, plain text elsewhere."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import click

from fsagent.cli.common import on_terminal, safe

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live
    from rich.markdown import Markdown
    from rich.segment import Segment

REFRESH_HZ = 12


class Reply(Protocol):
    """Where the text of a reply goes."""

    def feed(self, text: str) -> None:
        """Show a piece of the reply; what is shown is escaped."""
        ...

    def end(self) -> None:
        """Finish what was shown; more may follow as another piece."""
        ...


def reply_screen() -> Reply:
    """Return what shows replies on this standard output."""
    if not on_terminal():
        return PlainReply()
    from rich.console import Console

    console = Console(highlight=False)
    return PlainReply() if console.is_dumb_terminal else MarkdownReply(console)


class PlainReply:
    """Writes a reply as it comes."""

    def __init__(self) -> None:
        self._written = False

    def feed(self, text: str) -> None:
        """Write a piece."""
        click.echo(safe(text), nl=False)
        sys.stdout.flush()
        self._written = True

    def end(self) -> None:
        """End the line."""
        if self._written:
            click.echo()
        self._written = False


class MarkdownReply:
    """Renders a reply block by block: whole blocks stay, the last one is redrawn as it grows."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._rest, self._live, self._blocks = "", _Lines("", tail=True), 0
        self._screen: Live | None = None

    def feed(self, text: str) -> None:
        """Show a piece."""
        self._rest += safe(text.replace("\r\n", "\n"))
        if self._screen is None:
            self._screen = self._begin()
        *whole, self._rest = blocks(self._rest) if "\n" in text else [self._rest]
        self._live.text = self._rest  # first: what is printed above it redraws it
        for block in whole:
            self._print(block)

    def end(self) -> None:
        """Leave the last block as it is."""
        rest, self._rest, self._live.text = self._rest, "", ""
        screen, self._screen = self._screen, None
        if screen is not None:
            screen.stop()
        for block in blocks(rest):
            self._print(block)
        self._blocks = 0

    def _begin(self) -> Live:
        from rich.live import Live

        screen = Live(
            self._live, console=self._console, refresh_per_second=REFRESH_HZ, transient=True
        )
        screen.start()
        return screen

    def _print(self, block: str) -> None:
        shown = _Lines(block, above=bool(self._blocks))
        if block.strip():
            self._console.print(shown, end="")
            self._blocks += 1


class _Lines:
    """A block without the empty lines that its kind has around it; with `above`, one empty line first.

    With `tail`, as many of its last lines as the terminal has room for.
    """

    def __init__(self, text: str, *, above: bool = False, tail: bool = False) -> None:
        self.text, self._above, self._tail = text, above, tail

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        if not self.text.strip():
            return
        lines = _trimmed(console.render_lines(rendered(self.text), options, pad=False))
        if self._above:
            yield Segment.line()
        for line in lines[-max(1, console.height - 2) :] if self._tail else lines:
            yield from line
            yield Segment.line()


def _trimmed(lines: list[list[Segment]]) -> list[list[Segment]]:
    full = [place for place, line in enumerate(lines) if "".join(one.text for one in line).strip()]
    return lines[full[0] : full[-1] + 1] if full else []


def print_reply(text: str) -> None:
    """Print a whole reply."""
    screen = reply_screen()
    screen.feed(text)
    screen.end()


def rendered(text: str) -> Markdown:
    """Return text as Markdown that shows all of it: HTML as text, addresses in full, lines as written."""
    from rich.markdown import Markdown

    shown = Markdown("", hyperlinks=False)
    shown.parsed = _parser().parse(text)
    for token in shown.parsed:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"
    return shown


def blocks(text: str) -> list[str]:
    """Split Markdown into its blocks; the last one may still grow."""
    starts = [token.map[0] for token in _parser().parse(text) if token.map and token.level == 0]
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    edges = [0, *sorted({start for start in starts if start > 0})]
    ends = [*edges[1:], len(lines)]
    return ["".join(lines[start:end]) for start, end in zip(edges, ends, strict=True)]


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    options: Any = {"html": False}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
