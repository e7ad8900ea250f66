"""Take the date out of a clause: what is left is matched by rules, the date makes the fact absolute."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from fsagent.dates import MONTHS, WEEKDAYS, When, find_dates

_PREPOSITION = re.compile(
    r"(?:,?\s*\b(?:(?:back |starting |effective )?(?:on|in|since|from|by|at|around|about|as of|until|till|before)|"
    r"starting|just)\b)?(?:\s+the)?\s*$",
    re.IGNORECASE,
)
_FOR_TIME = re.compile(
    r",?\s+for (?:(?:about|around|almost|over|nearly|more than|the (?:last|past)) )?"
    r"(?P<count>\d{1,2}|an?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) "
    r"(?P<unit>year|month|week)s?(?: now)?$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[\s,]+(?:now|currently|these days|nowadays|too|as well|again|actually|by the way|btw|though|already|"
    r"right now|at the moment|just|so much|very much|a lot|the most|more than anything|finally|since then|"
    r"then|unfortunately|sadly|luckily|fortunately|of course|by far|at present|for now|everyone|everybody|guys|"
    r"please|thanks|thank you|haha|tbh|honestly)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Dated:
    """A date in the forms that facts need: `on 2026-12-04`, and as a person's birthday."""

    since: str
    on: str
    birthday: str
    start: date
    end: date
    preposition: str = ""


def undated(text: str, said: datetime) -> tuple[str, Dated | None]:
    """Return a clause without its one date, and that date; "for two years" is the day it began."""
    found = find_dates(text, said)
    if len(found) == 1:
        start, end = found[0].span
        before = _PREPOSITION.search(text[:start])
        cut = before.start() if before else start
        words = f"{text[cut:start]}{text[start:end]}"
        return without_tail(f"{text[:cut]} {text[end:]}"), dated(found[0], words)
    text = without_tail(text)
    if match := _FOR_TIME.search(text):
        ago = f"{match['count']} {match['unit']}s ago"
        if past := find_dates(ago, said):
            return without_tail(text[: match.start()]), dated(past[0], ago)
    return text, None


def without_tail(text: str) -> str:
    """Return a clause without the small words at its end that say nothing lasting."""
    text = " ".join(text.split()).strip(" ,.")
    while match := _TAIL.search(text):
        text = text[: match.start()]
    return text


def dated(when: When, words: str) -> Dated:
    """Return a date as facts write it; `words` are those it was said in."""
    start, end = when.start, when.end
    first = re.match(r"\W*(\w+)", words)
    span = "weekend" if when.unit == "weekend" else "week"
    form, birthday = f"the {span} of {start.isoformat()}", ""
    joined = f" in {form}"
    if when.unit == "day" and start == end:
        form, joined = start.isoformat(), f" on {start.isoformat()}"
        birthday = f"{start.day} {MONTHS[start.month - 1].capitalize()}"
        if re.search(r"\d{4}", words):
            birthday += f" {start.year}"
    elif when.unit == "month":
        form, joined = f"{start:%Y-%m}", f" in {start:%Y-%m}"
    elif when.unit == "year":
        form, joined, birthday = str(start.year), f" in {start.year}", str(start.year)
    elif when.unit == "season":
        form, joined = when.label.removeprefix("the "), f" in {when.label}"
    preposition = first[1].lower() if first else ""
    return Dated(f" (since {form})", joined, birthday, start, end, preposition)


def coming(when: When, words: str, today: date) -> Dated | None:
    """Return a date where it is still to come; a bare weekday is the next one."""
    if words.strip().casefold() in WEEKDAYS:
        when = When(when.start + timedelta(7), when.end + timedelta(7), "", "day")
    return dated(when, words) if when.end >= today else None
