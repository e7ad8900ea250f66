"""Whether what was said supports a fact: its words, names, numbers and dates, and how it was said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from fsagent.dates import MONTHS, WEEKDAYS, find_dates
from fsagent.memory.facts import in_another_order
from fsagent.memory.stance import disagreement
from fsagent.memory.words import (
    content_sequence,
    content_words,
    has_word,
    names_in,
    stem,
    telling_words,
    words_of,
)

WORDS_FOR_A_SLIP = 5
"""Of every so many content words of a fact one may be the writer's own; of fewer none."""

_MONTHS = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS) + "|sept"
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
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d)[,.' ](?=\d{3}(?!\d))")
_CALENDAR = re.compile(rf"(?:{_MONTHS}|(?:{'|'.join(WEEKDAYS)})s?)$", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})s?\b", re.IGNORECASE)
_WEEKDAY_AHEAD = timedelta(14)
_FOREIGN = re.compile(
    r"\b(?:ich|mein\w*|ein\w*|kein\w*|nicht|und|wir|yo|tengo|mi|mis|unos|je|j['’]|mon|une|nous|eu|"
    r"meu|minha|não|io|mio|mia|desde|hace|años|los|las|del|ik|mijn|een|jag|min|ett|не|я|мой|моя)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Source:
    """A cited line: the speaker's name, the words, the day they were said on where it is known."""

    name: str
    text: str
    said: date | None = None

    @property
    def told(self) -> str:
        """The words with the speaker's name, which may stand in a fact."""
        return f"{self.name}: {self.text}"


def unsupported_part(words: str, sources: Sequence[Source]) -> str | None:
    """Return what of a fact the cited lines do not support, None where they do.

    Its words stand there but for those of telling, and one in five; every name, number and date
    does, a relative date worked out; and what is said is said of the same person, not denied, not
    only wished or asked.
    """
    said = " ".join(source.told for source in sources)
    plain = _WEEKDAY.sub(" ", _DATE.sub(" ", words))
    return (
        _missing_date(words, sources)
        or _missing_number(plain, said)
        or _missing_name(plain, said)
        or _missing_words(plain, said)
        or _disagreement(words, plain, sources)
    )


def share_of(words: str, said: str) -> float:
    """Return the share of a fact's content words that stand in a text."""
    want, have = content_words(words), content_words(said)
    return sum(has_word(have, word) for word in want) / len(want) if want else 0.0


# Dates.


def _missing_date(words: str, sources: Sequence[Source]) -> str | None:
    known = [span for source in sources for span in _days_of(source)]
    said = " ".join(source.text for source in sources)
    for found in _DATE.finditer(words):
        if not _is_known_date(found[0], known, sources, said):
            return found[0]
    if _DATE.search(words):
        return None
    for found in _WEEKDAY.finditer(words):
        index = WEEKDAYS.index(found[1].casefold())
        if found[1].casefold() not in said.casefold() and not any(
            start == end and start.weekday() == index for start, end, _ in known
        ):
            return found[0]
    return None


_Span = tuple[date, date, bool]
"""First day, last day, and whether it counts from the day of speaking."""


def _days_of(source: Source) -> Iterator[_Span]:
    """Yield the days a line speaks of; without any, the days around the one it was said on."""
    day = source.said
    if day is None:
        return
    began = _DURATION.sub(r"\1 ago", source.text)
    for when in [*find_dates(source.text, day), *find_dates(began, day)]:
        yield when.start, when.end, when.relative
    yield day, day, True


def _is_known_date(text: str, known: Sequence[_Span], sources: Sequence[Source], said: str) -> bool:
    """Say whether a date of a fact is one that was told, or follows from one."""
    if text in said:
        return True
    days = [source.said for source in sources if source.said is not None]
    mine = next(iter(find_dates(f"in {text}", max(days, default=date(2000, 1, 1)))), None)
    if mine is None or not days:
        return not days and all(year in said for year in _YEAR.findall(text))
    if mine.start == mine.end and _is_weekday_told(mine.start, days, said):
        return True
    return any(_meets((mine.start, mine.end), span, bool(_YEAR.search(text))) for span in known)


def _meets(mine: tuple[date, date], told: _Span, with_year: bool) -> bool:
    start, end, relative = told
    if not with_year and not relative:
        return (mine[0].month, mine[0].day) == (start.month, start.day)
    slack = timedelta(1) if relative and start == end and mine[0] == mine[1] else timedelta(0)
    return mine[0] <= end + slack and start - slack <= mine[1]


def _is_weekday_told(day: date, said_on: Sequence[date], said: str) -> bool:
    """Say whether "on Thursday" can be that day: the one before or one of the two after."""
    name = WEEKDAYS[day.weekday()]
    near = any(-timedelta(8) < day - said <= _WEEKDAY_AHEAD for said in said_on)
    return near and bool(re.search(rf"\b{name}\b|\b{name[:3]}\b", said, re.IGNORECASE))


# Numbers, names, words.


def _numbers(text: str) -> set[str]:
    """Return a text's numbers as digits, those in words too."""
    text = _THOUSANDS.sub("", text)
    return set(_NUMBER.findall(text)) | {
        word for word in content_sequence(text) if word.isdecimal() and word.isascii()
    }


def _missing_number(words: str, said: str) -> str | None:
    known = _numbers(said)
    known |= {part for number in known for part in re.split(r"[.,:]", number)}
    return next((one for one in sorted(_numbers(words)) if one not in known and one != "1"), None)


def _missing_name(words: str, said: str) -> str | None:
    """Return a word with a capital, but for the first, that is not said letter by letter."""
    have = content_words(said)
    for name in words_of(words)[1:]:
        plain = stem(name.casefold())
        if not name[0].isupper() or _CALENDAR.match(name) or plain not in content_words(name):
            continue
        if plain not in have:
            return name
    return None


def _missing_words(words: str, said: str) -> str | None:
    want, have = list(dict.fromkeys(content_sequence(words))), content_words(said)
    if not want:
        return None
    frame = telling_words()
    exact = names_in(said) | names_in(" ".join(words_of(words)[1:]))
    missing = [word for word in want if not has_word(have, word, exact)]
    counted = [word for word in missing if word not in frame]
    if counted[:1] == want[:1] and len(want) > 1 and _FOREIGN.search(said):
        counted = counted[1:]  # a verb: its endings are known in English only
    specific = [word for word in want if word not in frame]
    if not specific:
        counted = missing
    return ", ".join(sorted(missing)) if len(counted) > len(specific) // WORDS_FOR_A_SLIP else None


def _disagreement(words: str, plain: str, sources: Sequence[Source]) -> str | None:
    said = " ".join(f"{source.text}." for source in sources)
    if in_another_order(plain, said):
        return "it is said the other way round"
    days = [source.said for source in sources if source.said is not None]
    ahead = (
        any(
            when.end > max(days)
            for found in _DATE.finditer(words)
            for when in find_dates(found[0], max(days))
        )
        if days
        else False
    )
    return disagreement(plain, said, dated_ahead=ahead) or None
