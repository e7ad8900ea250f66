"""Whether what was said supports a fact: its words, its names, its numbers, its dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from fsagent.dates import find_dates
from fsagent.memory.facts import content_words, has_word

MIN_SHARE = 0.5
"""The share of a fact's content words that must stand in the lines it cites."""

_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_DATE = re.compile(
    rf"\b\d{{4}}-\d\d(?:-\d\d)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTHS})\b(?:,?\s*\d{{4}}\b)?"
    rf"|\b(?:{_MONTHS})\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s*\d{{4}}\b)?|\b(?:{_MONTHS})\s+\d{{4}}\b"
    r"|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"\bfor (?:(?:about|around|over|almost|nearly|the last|the past) )?(\w+ years?)\b"
)
_YEAR = re.compile(r"\b\d{4}\b")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[\w,;:)] )[^\W\d_a-z]\w+")
_UP_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_UP_TO_TWELVE.split(), 1)}
_CALENDAR = re.compile(rf"(?:{_MONTHS}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """A cited line: its words with the speaker's name, the year it was said in, and those it speaks of."""

    text: str
    year: int | None = None
    years: frozenset[int] = frozenset()


def is_supported(words: str, sources: Sequence[Source]) -> bool:
    """Say whether cited lines support a fact.

    Half of its content words stand there, every name and every number too. Dates are worked out
    from relative ones, so a date counts only by its year, which has to be near the line's.
    """
    return unsupported_part(words, sources) is None


def unsupported_part(words: str, sources: Sequence[Source]) -> str | None:
    """Return what of a fact the cited lines do not support, None where they do."""
    said = " ".join(source.text for source in sources)
    for year in _years_of(words):
        near = any(source.year is not None and abs(source.year - year) <= 1 for source in sources)
        told = str(year) in said or any(year in source.years for source in sources)
        if not near and not told:
            return str(year)
    plain = _DATE.sub(" ", words)
    return _missing_number(plain, said) or _missing_name(plain, said) or _missing_words(plain, said)


def years_told(text: str, said: date) -> frozenset[int]:
    """Return the years that a text said on a day speaks of: "ten years ago", "for three years"."""
    began = _DURATION.sub(r"\1 ago", text)
    dates = [*find_dates(text, said), *find_dates(began, said)]
    return frozenset(day.year for when in dates for day in (when.start, when.end))


def share_of(words: str, said: str) -> float:
    """Return the share of a fact's content words that stand in a text."""
    want, have = content_words(words), content_words(said)
    return sum(has_word(have, word) for word in want) / len(want) if want else 0.0


def _years_of(words: str) -> Iterable[int]:
    for found in _DATE.finditer(words):
        yield from (int(year[0]) for year in _YEAR.finditer(found[0]))


def _missing_number(words: str, said: str) -> str | None:
    known = set(_NUMBER.findall(said))
    known |= {
        _NUMBER_WORDS[word]
        for word in re.findall(r"[a-z]+", said.casefold())
        if word in _NUMBER_WORDS
    }
    return next((number for number in _NUMBER.findall(words) if number not in known), None)


def _missing_name(words: str, said: str) -> str | None:
    have = content_words(said)
    for name in _NAME.findall(words):
        if not _CALENDAR.match(name) and not all(
            has_word(have, one) for one in content_words(name)
        ):
            return str(name)
    return None


def _missing_words(words: str, said: str) -> str | None:
    want, have = content_words(words), content_words(said)
    if not want:
        return None
    missing = [word for word in sorted(want) if not has_word(have, word)]
    return ", ".join(missing) if len(missing) > len(want) * (1 - MIN_SHARE) else None
