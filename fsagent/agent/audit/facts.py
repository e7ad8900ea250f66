"""Audit the facts of core memory against each other and against the calendar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import combinations

from fsagent.agent.audit.findings import Finding, Placed
from fsagent.attributes import contradict, read_fact
from fsagent.dates import find_dates
from fsagent.memory.facts import near_duplicates

PERSONA = "persona"
"""The block about the agent itself: a person writes it, so that it cites nothing."""

GRACE = timedelta(days=1)
"""How long after its day a task is still left alone."""

OLD_AGE = timedelta(days=365)
"""After this time an age that was true on a day is out of date."""

_PLAN = re.compile(
    r"\b(?:has to|needs to|must|wants to be reminded|plans to|is (?:going|flying|travelling|traveling|moving|"
    r"starting|leaving|getting|planning)|will|is due|due|deadline|appointment|meeting|interview|exam|flight|"
    r"reminder|task|todo|to do|scheduled|booked|until|by)\b|\bis on \d{4}",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\((?:since|from)\b[^()]*\)|\bsince [^,;.]*", re.IGNORECASE)
_AGE = re.compile(r"\b(?:is|was) \d{1,3}(?: years old)?\b", re.IGNORECASE)
_POINTER = re.compile(r"\barchival/\S+\.\w+$")


def between_facts(facts: Sequence[Placed]) -> Iterator[Finding]:
    """Yield the facts that repeat or contradict another."""
    about = [one for one in facts if not is_pointer(one)]
    for one, other in combinations(about, 2):
        older, newer = sorted((one, other), key=_age)
        if _plain(one.fact.words) == _plain(other.fact.words):
            text = f"{_said(older)} stands at {newer.where} too"
            yield older.finding("duplicate", text, f"remove one of them: {_edit(older)}")
        elif _clash(one, other):
            text = f"{_said(older)} contradicts {newer.where}: {_said(newer)}"
            yield older.finding("contradiction", text, f"keep what holds now: {_edit(older)}")
        elif near_duplicates(one.fact.words, other.fact.words):
            text = f"{_said(older)} says what {newer.where} does: {_said(newer)}"
            yield older.finding("near-duplicate", text, f"merge them into one line: {_edit(older)}")


def outdated(facts: Iterable[Placed], today: date) -> Iterator[Finding]:
    """Yield plans and tasks whose day is over, ages of long ago, and dates that are not absolute."""
    for one in facts:
        dates = find_dates(one.fact.words, today)
        relative = next((when for when in dates if when.relative), None)
        if relative is not None:
            start, end = relative.span
            text = (
                f"{_said(one)}: {one.fact.words[start:end]!r} counts from a day that is not named"
            )
            yield one.finding("stale", text, f"write the date: {_edit(one)}")
            continue
        due = find_dates(_SINCE.sub("", one.fact.words), today)
        last = max((when.end for when in due), default=None)
        if last is None:
            continue
        if _PLAN.search(one.fact.words) and last + GRACE < today:
            text = f"{_said(one)}: {last.isoformat()} is over"
            yield one.finding("stale", text, f"say what came of it, or remove it: {_edit(one)}")
        elif _AGE.search(one.fact.words) and last + OLD_AGE < today:
            text = f"{_said(one)}: that was in {last.year}"
            yield one.finding("stale", text, f"write the year of birth instead: {_edit(one)}")


def uncited(facts: Iterable[Placed]) -> Iterator[Finding]:
    """Yield the facts without a citation, but for the persona and what a person keeps read-only."""
    for one in facts:
        if one.fact.citations or one.block.read_only or one.block.label == PERSONA:
            continue
        if not is_pointer(one):
            advice = f"find the line with fsagent search, and cite it: {_edit(one)}"
            yield one.finding("uncited", f"{_said(one)} names no line", advice)


def is_pointer(one: Placed) -> bool:
    """Say whether a line only tells where older facts went."""
    return not one.fact.citations and bool(_POINTER.search(one.fact.words))


def _clash(one: Placed, other: Placed) -> bool:
    if (one.block.label == PERSONA) != (other.block.label == PERSONA):
        return False  # who the agent is says nothing of the person
    first, second = read_fact(one.fact.words), read_fact(other.fact.words)
    return first is not None and second is not None and contradict(first, second)


def _age(one: Placed) -> tuple[tuple[str, int], int]:
    """Order facts by when they were said; one that cites nothing is taken for the oldest."""
    return max(one.fact.citations, default=("", 0)), one.line


def _plain(words: str) -> str:
    return " ".join(re.findall(r"\w+", words.casefold()))


def _said(one: Placed) -> str:
    words = one.fact.words
    return f'"{words if len(words) <= 100 else words[:97] + "..."}"'


def _edit(one: Placed) -> str:
    return f"fsagent block edit {one.block.label}"
