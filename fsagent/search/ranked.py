"""Ranked search over all tiers: the index's candidates and their neighbours, re-ranked by features."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fsagent.config import Settings
from fsagent.errors import FsagentError, WorkspaceError
from fsagent.search.filters import Moment, Wanted, read_filters
from fsagent.search.index import catch_up
from fsagent.search.lines import LineReader
from fsagent.search.ranking import Ranked, make_plan, rank
from fsagent.search.snapshot import Snapshot, SnapshotSource
from fsagent.search.typos import nearest_names
from fsagent.types import Clock, Hit, HitPage
from fsagent.workspace.tree import Tree

if TYPE_CHECKING:
    from fsagent.search.vectors import Encoder, Likeness, Vectors

MAX_TAIL = 250
MAX_ENCODED_TAIL = 32
"""Lines that may wait where there are vectors: a new process encodes them at its first search."""

MAX_WAITING = 50
SMALL_BYTES = 262_144
"""A workspace of more bytes gets its index before the first search reads it all."""

FIRST_BUILD_S = 20.0
"""How long a search waits for another process that makes the first index, rather than do its work too."""

MAX_LIMIT = 500
MAX_OFFSET = 1_000
_log = logging.getLogger(__name__)


class Search:
    """Search of one workspace. What was written before a call is found by it.

    The index is caught up by `catch_up` (at a turn's end, in the background) and, where more than
    `MAX_TAIL` documents wait, by a search itself; fewer are read as they are.
    """

    def __init__(
        self, tree: Tree, settings: Settings, clock: Clock, *, encoder: Encoder | None = None
    ) -> None:
        self._tree, self._settings, self._clock = tree, settings, clock
        self._source = SnapshotSource(tree, settings.language)
        self._vectors = make_vectors(tree, settings, encoder)

    def search(
        self,
        query: str,
        *,
        path: str = ".",
        speaker: str | None = None,
        since: Moment = None,
        until: Moment = None,
        roles: Sequence[str] | None = None,
        limit: int = 10,
        offset: int = 0,
        explain: bool = False,
        exclude_turn: str | None = None,
    ) -> HitPage:
        """Return the best hits for a question, best first.

        `since` and `until` are dates, moments, or words such as "last March"; both days count.
        `exclude_turn` leaves out what that turn said. `total` counts the lines that hold one of the
        question's words. Raises `BadArguments` and `PathRejected`.
        """
        snapshot = self._snapshot()
        limit = max(1, min(limit, MAX_LIMIT))
        offset = max(0, min(offset, MAX_OFFSET))
        now = self._clock()
        notes: list[str] = []
        wanted = Wanted(path, speaker, since, until, None if roles is None else tuple(roles))
        filters = read_filters(self._tree, snapshot, wanted, now, notes)
        plan = make_plan(snapshot, query, self._settings, now, notes)
        ranked = Ranked()
        if filters is not None:
            likeness = self._likeness(snapshot, query, notes)
            ranked = rank(snapshot, plan, filters, limit + offset, likeness=likeness)
        reader = LineReader(self._tree, snapshot, plan.query, exclude_turn)
        hits: list[Hit] = []
        skipped = 0
        taken = 0
        for value, ordinal, features, added in ranked.order:
            if len(hits) == limit:
                break
            taken += 1
            shown = ranked.contributions(features, added) if explain else None
            hit = reader.hit(ordinal, value, shown)
            if hit is None:
                continue
            if skipped < offset:
                skipped += 1
                continue
            hits.append(hit)
        more = taken < len(ranked.order)
        if not hits:
            notes += _name_notes(query, snapshot)
        return HitPage(
            hits=tuple(hits),
            total=max(ranked.total, offset + len(hits) if hits else 0),
            clipped_hits=more,
            next=_next_call(query, wanted, limit, offset + len(hits)) if more else None,
            notes=tuple(notes),
        )

    def catch_up(self, *, timeout_s: float = 0.0) -> bool:
        """Write what waits into the index and encode it; return False where another process is at it."""
        done = catch_up(self._tree, self._settings.language, timeout_s=timeout_s)
        if self._vectors is not None:
            self._vectors.catch_up(self._source.take())
        return done

    def close(self) -> None:
        """Write what waits into the index, if nobody else is at it."""
        with contextlib.suppress(OSError, FsagentError, ValueError):
            if self.waiting() > MAX_WAITING:
                self.catch_up()

    def waiting(self) -> int:
        """Return how many documents wait to be indexed."""
        return self._source.take().tail_count

    def _likeness(self, snapshot: Snapshot, query: str, notes: list[str]) -> Likeness | None:
        """Return how like the query each document is, where vectors are asked for and can be had."""
        if self._vectors is None or not query.strip():
            return None
        from fsagent.search.vectors import MAX_NOW

        try:
            missing = self._vectors.catch_up(snapshot, most=MAX_NOW)
            if missing:
                notes.append(
                    f"{missing} lines have no vector yet; `fsagent index rebuild` makes them"
                )
            return self._vectors.likeness(snapshot, query)
        except FsagentError as err:
            notes.append(f"ranked without vectors: {err}")
        except OSError as err:  # its own words would name the host's path
            notes.append(f"ranked without vectors: {err.strerror}")
        return None

    def _snapshot(self) -> Snapshot:
        most = MAX_TAIL if self._vectors is None else MAX_ENCODED_TAIL
        wait_s = 0.0
        if self._source.has_index() or self._source.size_bytes() <= SMALL_BYTES:
            snapshot = self._source.take()
            if snapshot.tail_count <= most:
                return snapshot
        else:
            wait_s = FIRST_BUILD_S
        try:
            catch_up(self._tree, self._settings.language, timeout_s=wait_s)
        except (OSError, WorkspaceError, ValueError) as err:
            # A folder that cannot be written is searched all the same.
            _log.debug("the index could not be written: %s", err)
        return self._source.take()


def make_vectors(tree: Tree, settings: Settings, encoder: Encoder | None) -> Vectors | None:
    """Return the vectors that the settings ask for; None without, or where the extra is missing.

    `encoder` is an endpoint's, made by who may know endpoints.
    """
    if encoder is None and settings.embeddings == "minilm":
        from fsagent.search.minilm import INSTALL, MiniLM, is_installed

        encoder = MiniLM() if is_installed() else None
        if encoder is None:
            _log.debug("embeddings: minilm is not installed: %s", INSTALL)
    if encoder is None:
        return None
    from fsagent.search.vectors import Vectors

    return Vectors(tree, encoder)


def _name_notes(query: str, snapshot: Snapshot) -> list[str]:
    near = nearest_names(query, snapshot.paths.values())
    return [f"files with such a name: {', '.join(near)}"] if near else []


def _next_call(query: str, wanted: Wanted, limit: int, offset: int) -> str:
    import json

    given = {
        "query": query,
        "path": None if wanted.path == "." else wanted.path,
        "speaker": wanted.speaker,
        "since": None if wanted.since is None else str(wanted.since),
        "until": None if wanted.until is None else str(wanted.until),
        "limit": None if limit == 10 else limit,
        "offset": offset,
    }
    parts = (f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in given.items() if v is not None)
    return f"search_files({', '.join(parts)})"
