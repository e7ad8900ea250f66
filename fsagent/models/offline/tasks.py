"""Appointments and tasks that a person has: kept where their date is still to come."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from fsagent.dates import find_dates
from fsagent.models.offline.clause_dates import coming, undated, without_tail
from fsagent.models.offline.idioms import EVENTS
from fsagent.models.offline.rules import clean, is_plain

_CLOCK = re.compile(
    r",?\s+(?:at|from|around)\s+\d{1,2}(?:[:.]\d\d)?(?:\s*(?:am\b|pm\b|a\.m\.|p\.m\.|o'clock\b|h\b))?(?!\w)"
    r"|,?\s+at (?:noon|midnight)\b",
    re.IGNORECASE,
)
_V = r"(?P<v>.+?)"
_FORMS = (
    (rf"I (?:have|have got|got) (?P<a>an?|my|the|another) (?P<v>.*\b(?:{EVENTS})\b.*?)", "Has {a} {v}"),
    (rf"(?:my|our) (?P<v>(?:.* )?(?:{EVENTS})\b.*?) is(?: scheduled| due| set| booked)?(?: for)?", "{v} is"),
    (r"the (?P<v>deadline for .+?|due date for .+?) is", "The {v} is"),
    (rf"I (?:really )?(?:have to|need to|must|have got to|gotta) {_V}", "Has to {v}"),
    (rf"(?:remind me|do not let me forget|help me remember) (?:to|about) {_V}", "Wants to be reminded to {v}"),
    (r"I am (?P<g>flying|travelling|traveling|moving|starting|leaving|going) (?P<v>(?:to|for|with|as|at|on|back) .+?)", "Is {g} {v}"),
    (r"I am getting (?P<v>married|surgery|divorced)", "Is getting {v}"),
)  # fmt: skip


def task(text: str, said: datetime) -> str | None:
    """Return what a clause sets for a day to come: `Has a dentist appointment on 2026-12-04 at 3pm.`"""
    found = find_dates(text, said)
    if len(found) != 1 or re.match(r"I (?:do|am|have) not\b", text, re.IGNORECASE):
        return None
    start, end = found[0].span
    day = coming(found[0], text[start:end], said.date())
    bare, when = undated(text, said)
    if day is None or when is None:
        return None
    rest, clock = _clock(bare)
    for pattern, line in _forms():
        match = pattern.fullmatch(without_tail(rest))
        if match and len(match["v"]) > 2 and is_plain(clean(match["v"])):
            values = {key: clean(value) for key, value in match.groupdict().items()}
            values["a"] = (values.get("a") or "").replace("their", "the")
            due = (
                day.on.replace(" on ", " by ", 1)
                if when.preposition in ("by", "before")
                else day.on
            )
            made = " ".join(line.format(**values).split())
            return f"{made[0].upper()}{made[1:]}{due}{clock}."
    return None


def _clock(text: str) -> tuple[str, str]:
    """Return a clause without its time of day, and that time."""
    match = _CLOCK.search(text)
    if match is None:
        return text, ""
    rest = text[: match.start()] + text[match.end() :]
    return rest, f" {match[0].strip(' ,')}"


@lru_cache(maxsize=1)
def _forms() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), line) for pattern, line in _FORMS)
