"""What a search leaves out: other folders, speakers, roles and days."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from fsagent.errors import BadArguments
from fsagent.search.documents import KINDS, minute_of
from fsagent.search.rows import KIND_SHIFT
from fsagent.search.snapshot import Snapshot
from fsagent.search.text import tokens
from fsagent.workspace.paths import canonical_dir
from fsagent.workspace.tree import Tree

Moment = str | date | datetime | None
_DATE_CHARS = len("2026-11-29")


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of one search, on the values that the columns hold. None lets everything pass."""

    path: str = "."
    speakers: frozenset[str] | None = None
    kinds: frozenset[int] | None = None
    first_minute: int | None = None
    last_minute: int | None = None

    def allows(self, snapshot: Snapshot, ordinal: int) -> bool:
        """Say whether a document is alive and passes."""
        documents = snapshot.documents
        path = snapshot.paths.get(documents.position(ordinal)[0])
        if path is None or not self._in_path(path):
            return False
        if self.kinds is not None and documents.flags(ordinal) >> KIND_SHIFT not in self.kinds:
            return False
        if self.speakers is not None and (
            snapshot.speakers[documents.speaker(ordinal)].lower() not in self.speakers
        ):
            return False
        minute = documents.minute(ordinal)
        if self.first_minute is not None and minute < self.first_minute:
            return False
        return self.last_minute is None or 0 <= minute <= self.last_minute

    def _in_path(self, path: str) -> bool:
        return self.path in (".", path) or path.startswith(self.path + "/")

    def queries(self, schema: Any) -> list[Any]:
        """Return tantivy's queries that a document must match."""
        import tantivy

        query = tantivy.Query
        found = []
        if self.path != ".":
            found.append(query.term_query(schema, "tag", f"p:{self.path}", "basic"))
        if self.speakers is not None:
            found.append(query.term_set_query(schema, "tag", [f"s:{n}" for n in self.speakers]))
        if self.kinds is not None:
            tags = [f"k:{KINDS[kind]}" for kind in self.kinds]
            found.append(query.term_set_query(schema, "tag", tags))
        if self.first_minute is not None or self.last_minute is not None:
            found.append(
                query.range_query(
                    schema,
                    "minute",
                    tantivy.FieldType.Integer,
                    lower_bound=0 if self.first_minute is None else self.first_minute,
                    upper_bound=self.last_minute,
                )
            )
        return found


@dataclass(frozen=True, slots=True)
class Wanted:
    """The filters as somebody gave them."""

    path: str = "."
    speaker: str | None = None
    since: Moment = None
    until: Moment = None
    roles: tuple[str, ...] | None = None


def read_filters(
    tree: Tree, snapshot: Snapshot, wanted: Wanted, now: datetime, notes: list[str]
) -> Filters | None:
    """Return the filters, None where no document can pass; `notes` are told why.

    Raises `PathRejected` for a path that is not there and `BadArguments` for what cannot be read.
    """
    path = canonical_dir(wanted.path)
    if path != "." and not tree.is_dir(path):
        tree.stat(path)
    speakers = None
    if wanted.speaker and wanted.speaker.strip():
        speakers = speakers_called(wanted.speaker, snapshot.speakers)
        if not speakers:
            known = ", ".join([item for item in snapshot.speakers if item][:8])
            notes.append(f"no speaker is called {wanted.speaker}; speakers: {known}")
            return None
    return Filters(
        path=path,
        speakers=speakers,
        kinds=kinds_of(wanted.roles),
        first_minute=minute_bound("since", wanted.since, now, last=False),
        last_minute=minute_bound("until", wanted.until, now, last=True),
    )


def speakers_called(name: str, known: Collection[str]) -> frozenset[str]:
    """Return the lower-cased speakers that a name means: the name itself, else those it is a part of."""
    wanted = name.strip().lower()
    lowered = {item.lower() for item in known if item}
    if wanted in lowered:
        return frozenset([wanted])
    words = set(tokens(wanted))
    whole = frozenset(item for item in lowered if words and words <= set(tokens(item)))
    return whole or frozenset(item for item in lowered if wanted in item)


def kinds_of(roles: Sequence[str] | None) -> frozenset[int] | None:
    """Return the numbers of the roles a search is limited to."""
    if roles is None:
        return None
    unknown = [role for role in roles if role not in KINDS]
    if unknown:
        raise BadArguments(f"roles holds {unknown[0]!r}; the roles are: {', '.join(KINDS[:3])}")
    return frozenset(KINDS.index(role) for role in KINDS if role in roles)


def minute_bound(name: str, value: Moment, now: datetime, *, last: bool) -> int | None:
    """Return a filter's bound in minutes; a date without a time means its whole day.

    `value` is a datetime, a date, ISO text, or words such as "last March" read against `now`.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        value = _read(name, value.strip(), now, last=last)
    if isinstance(value, datetime):
        local = value.astimezone(now.tzinfo) if value.tzinfo else value
        return minute_of(local)
    edge = time(23, 59) if last else time(0, 0)
    return minute_of(datetime.combine(value, edge))


def _read(name: str, text: str, now: datetime, *, last: bool) -> date | datetime:
    try:
        if len(text) <= _DATE_CHARS:
            return date.fromisoformat(text)
        return datetime.fromisoformat(text)
    except ValueError:
        from fsagent.dates import parse_when

        span = parse_when(text, now)
    if span is None:
        raise BadArguments(
            f"{name} {text[:60]!r} is no date; write 2026-11-29, or words such as last March"
        )
    first, end = span
    return min(end, date.max - timedelta(1)) if last else max(first, date(1, 1, 2))
