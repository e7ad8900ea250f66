"""Our own searches as systems: `search_files` alone, and grep alone, without an agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fsagent.bench.ingest import open_store
from fsagent.bench.systems.base import RankedContext, Response, Setup
from fsagent.errors import WorkspaceError
from fsagent.search.text import is_stop_word, tokens
from fsagent.types import Hit, HitPage

DEPTH = 200
"""Hits asked for: enough for recall at 50 turns and at 4,000 tokens."""

PAGE = 100
"""Lines that grep returns at a time."""


class SearchSystem:
    """`search`: the hits of one ranked search, best first."""

    def __init__(self, setup: Setup) -> None:
        from fsagent.search.ranked import Search

        self._store = open_store(setup.sample, setup.folder, setup.settings)
        workspace = self._store.workspace
        self._search = Search(workspace.tree, workspace.settings, workspace.clock)
        self._context = RankedContext(setup.sample, setup.budget_tokens)

    def respond(self, question: str) -> Response:
        """Hand the question to the search as it stands."""
        page = self._search.search(question, limit=DEPTH)
        check_depth(page, DEPTH)
        return self._context.response(_turns_of(page.hits, self._store.dia_ids))

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()


class GrepSystem:
    """`grep`: lines that hold any of the question's content words.

    grep does not rank. Lines that hold more of the words stand first, then as grep found them.
    """

    def __init__(self, setup: Setup) -> None:
        self._store = open_store(setup.sample, setup.folder, setup.settings)
        self._context = RankedContext(setup.sample, setup.budget_tokens)

    def respond(self, question: str) -> Response:
        """Search for the words as alternatives, each as a word's beginning."""
        words = content_words(question)
        found = _turns_of(self._hits(words), self._store.dia_ids) if words else []
        lines = {dia_id: self._context.lines[dia_id].lower() for dia_id in found}
        held = {dia_id: sum(word in line for word in words) for dia_id, line in lines.items()}
        return self._context.response(sorted(found, key=lambda dia_id: -held[dia_id]))

    def _hits(self, words: list[str]) -> Iterator[Hit]:
        """Yield every line grep finds, page after page."""
        from fsagent.search.grep import grep

        pattern, offset = rf"\b(?:{'|'.join(words)})", 0
        while True:
            page = grep(
                self._store.workspace.tree,
                pattern,
                path="recall",
                ignore_case=True,
                limit=PAGE,
                offset=offset,
            )
            yield from page.hits
            offset += len(page.hits)
            if page.next is None or not page.hits:
                if page.total is not None and offset < page.total:
                    raise WorkspaceError(
                        f"grep gave {offset} of {page.total} hits and no next page"
                    )
                return

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()


def check_depth(page: HitPage, asked: int) -> None:
    """Raise `WorkspaceError` where a search gave fewer hits than were asked for and there are.

    A cap or a limit that got lost on the way would measure itself, and look like a worse memory.
    """
    due = asked if page.total is None else min(asked, page.total)
    if page.timed_out or len(page.hits) < due:
        raise WorkspaceError(f"the search gave {len(page.hits)} hits, {due} were asked for")


def content_words(question: str) -> list[str]:
    """Return the question's words without stop words, each once, safe within a pattern."""
    words = (word.replace("’", "'") for word in tokens(question) if not is_stop_word(word))
    return list(dict.fromkeys(word for word in words if word.isalnum()))


def _turns_of(hits: Iterable[Hit], dia_ids: Mapping[tuple[str, int], str]) -> list[str]:
    return [dia_ids[hit.path, hit.line] for hit in hits if (hit.path, hit.line) in dia_ids]
