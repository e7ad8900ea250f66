"""The memory tools: core blocks, archival notes, and the search of the conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fsagent.errors import ToolError
from fsagent.memory.core import Block
from fsagent.memory.edits import CoreEdit, edited
from fsagent.tools.files import DEFAULT_LIMIT, SEARCH_ADVICE, page_bounds, show_page
from fsagent.tools.schema import Tool, finds
from fsagent.tools.scope import Scope
from fsagent.tools.when import since_moment, until_moment
from fsagent.types import Hit, HitPage

REVIEW_REASON = "it was proposed while text that others wrote was in the agent's context"

_TAG_POOL = 200
"""How many ranked hits a filter by tags looks at."""


class MemoryTools:
    """The memory tools over one scope."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def core_tools(self) -> list[Tool]:
        """Return the tools that edit core blocks."""
        return [self.core_memory_append, self.core_memory_replace]

    def archival_tools(self) -> list[Tool]:
        """Return the tools of archival memory."""
        return [self.archival_memory_insert, self.archival_memory_search]

    def recall_tools(self) -> list[Tool]:
        """Return the tools of recall memory."""
        return [self.conversation_search]

    def core_memory_append(self, label: str, content: str) -> str:
        """Add a line to a core block, which you always see. For lasting facts and preferences.

        Check that the block does not say it already. End the line with where you know it from.

        Args:
            label: The block, e.g. `human`.
            content: One line, dates absolute, e.g. `- Moved to Oslo in May 2026. [2026-05-09:14]`.
        """
        if not content.strip():
            raise ToolError("Not written: content is empty; give the line to add.")
        edit = CoreEdit("add", label, new=content.strip())
        if self._scope.taint.sources and not self._scope.taint.vouched(content):
            return self._kept(edit)
        return self._written(self._scope.workspace.core.append(label, content))

    def core_memory_replace(self, label: str, old: str, new: str) -> str:
        """Replace text in a core block: correct, shorten, or with an empty new text delete it.

        Args:
            label: The block, e.g. `human`.
            old: The exact text to replace; it must stand there exactly once.
            new: The text to put in its place.
        """
        if self._scope.taint.sources:
            return self._kept(CoreEdit("replace", label, old, new))
        return self._written(self._scope.workspace.core.replace(label, old, new))

    def archival_memory_insert(
        self, title: str, content: str, tags: list[str] | None = None
    ) -> str:
        """Write a note into archival memory: what is worth keeping but not always needed.

        Args:
            title: What the note is about, e.g. `Trip to Lofoten`.
            content: The note in Markdown, dates absolute, facts with their citations.
            tags: Words to find it by, e.g. `["travel", "norway"]`.
        """
        sources = self._scope.taint.sources
        path = self._scope.workspace.archival.insert(title, content, tags or [], lineage=sources)
        return f"Wrote {path}."

    @finds
    def archival_memory_search(
        self, query: str, tags: list[str] | None = None, limit: int = DEFAULT_LIMIT, offset: int = 0
    ) -> str:
        """Search the notes and documents in archival memory and rank the lines by fit.

        Args:
            query: Words to find, e.g. `Lofoten ferry`.
            tags: Only notes that have all of these tags.
            limit: Most hits to return.
            offset: Hits to skip, for the next page.
        """
        limit, offset = page_bounds(limit, offset)
        find = self._scope.search.search
        if tags:
            paths = self._tagged(tags)
            hits = find(query, path="archival", limit=_TAG_POOL).hits
            page = _slice([hit for hit in hits if hit.path in paths], limit, offset)
        else:
            page = find(query, path="archival", limit=limit, offset=offset)
        arguments = {
            "query": query,
            "tags": tags,
            "limit": 0 if limit == DEFAULT_LIMIT else limit,
            "offset": offset,
        }
        return self._shown(page, query, "archival_memory_search", arguments)

    @finds
    def conversation_search(
        self,
        query: str,
        *,
        roles: list[Literal["user", "assistant"]] | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int = DEFAULT_LIMIT,
        offset: int = 0,
    ) -> str:
        """Search everything said in past conversations and rank the lines by fit.

        Words are OR-ed and stemmed. For a list search several times, once for each thing; for a
        class of things name its instances. Each hit has its date and speaker.

        Args:
            query: Words to find, e.g. `birthday present`.
            roles: Only lines of these roles, e.g. `["user"]`.
            since: First day, e.g. `2026-11-01` or `last week`.
            until: Last day, e.g. `2026-11-30`.
            limit: Most hits to return.
            offset: Hits to skip, for the next page.
        """
        limit, offset = page_bounds(limit, offset)
        now = self._scope.workspace.recall.now()
        page = self._scope.search.search(
            query,
            path="recall",
            roles=tuple(roles) if roles else None,
            since=since_moment(since, now),
            until=until_moment(until, now),
            limit=limit,
            offset=offset,
            exclude_turn=self._scope.turn,
        )
        arguments = {
            "query": query,
            "roles": roles,
            "since": since,
            "until": until,
            "limit": 0 if limit == DEFAULT_LIMIT else limit,
            "offset": offset,
        }
        return self._shown(page, query, "conversation_search", arguments)

    def _shown(self, page: HitPage, query: str, tool: str, arguments: Mapping[str, Any]) -> str:
        return show_page(
            self._scope, page, query, tool=tool, arguments=arguments, advice=SEARCH_ADVICE
        )

    def _kept(self, edit: CoreEdit) -> str:
        """Keep an edit for the person's review, since untrusted text is in front of the model.

        An edit that could not be written anyway is refused at once.
        """
        scope = self._scope
        block = scope.workspace.core.block(edit.block)
        if block.read_only:
            raise ToolError(f"Not written: block {edit.block!r} is read-only; a person edits it.")
        edited(block.value, edit)
        proposal = scope.workspace.review.keep(
            "agent", [edit], [REVIEW_REASON], turn=scope.turn or "", sources=scope.taint.sources
        )
        if proposal.id not in scope.taint.kept:
            scope.taint.kept.append(proposal.id)
        return (
            f"Not written yet: the edit waits for the person's review as {proposal.id}, since text "
            f"that others wrote is in your context ({', '.join(scope.taint.sources[:3])}). Do not "
            "repeat it; go on and tell the person."
        )

    def _written(self, block: Block) -> str:
        return (
            f"Block {block.label} now has {block.size} of {block.limit} characters:\n{block.value}"
        )

    def _tagged(self, tags: list[str]) -> set[str]:
        """Return the paths of the notes that have all of `tags`."""
        wanted = {tag.casefold() for tag in tags}
        return {
            entry.path
            for entry in self._scope.workspace.archival.entries()
            if wanted <= {tag.casefold() for tag in entry.tags}
        }


def _slice(hits: list[Hit], limit: int, offset: int) -> HitPage:
    page = tuple(hits[offset : offset + limit])
    more = offset + len(page) < len(hits)
    return HitPage(page, total=len(hits), clipped_hits=more)
