"""Read a question: its terms, the speakers it names, the dates it speaks of, what it asks for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from fsagent.search.analysis import detect
from fsagent.search.text import find_tokens, is_stop_word, token_terms, tokens

Asks = Literal["when", "who", "count", "what"]
MAX_TERMS = 64
NO_NAMES = frozenset({"", "user", "assistant", "system", "tool"})
"""Speakers who are roles and no names."""

_WHEN = re.compile(
    r"\s*(when|what (date|day|month|year|time)|which (month|year|day)|how long|since when)"
)
_WHO = re.compile(r"\s*(who|where|which)")
_COUNT = re.compile(r"\s*how (many|much|often|old)")
_DAY_NUMBER = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTH_NAMES = (
    "january february march april may june july august september october november december"
)
_MONTHS = _MONTH_NAMES.split(" ")
_RELATIVE_WORDS = (
    "yesterday today tonight tomorrow ago last past previous this coming upcoming next"
)
_RELATIVE = frozenset(_RELATIVE_WORDS.split(" "))
_FIRST_PERSON = frozenset({"i", "my", "me", "mine", "i'm", "i've"})


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a query with its terms in each language of the index: any of them counts."""

    word: str
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A question, read. `months`, `years` and `days` are soft: they raise, they never exclude."""

    text: str
    terms: tuple[QueryTerm, ...]
    speakers: frozenset[str] = frozenset()
    asks: Asks = "what"
    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    spans: tuple[tuple[date, date], ...] = ()

    @property
    def has_dates(self) -> bool:
        """Whether the question speaks of a time."""
        return bool(self.months or self.years or self.spans)


def read_query(
    text: str, *, names: Collection[str], languages: Iterable[str], default: str, now: datetime
) -> Query:
    """Read `text`. `names` are the lower-cased names of the speakers the index knows.

    A speaker's name is not a term but a boost, unless nothing else is left.
    """
    words = tokens(text)
    language = detect(find_tokens(text.lower()), default)
    known = _name_words(names)
    named = frozenset(full for word in words for full in known.get(word, ()))
    rest = [word for word in words if word not in known]
    codes = dict.fromkeys([language, default, *languages])
    terms = _terms(rest, language, codes) or _terms(words, language, codes)
    months = _months(text)
    return Query(
        text=text,
        terms=terms,
        speakers=named,
        asks=_asks(text.lower()),
        months=months,
        years=frozenset(int(word) for word in words if _YEAR.fullmatch(word)),
        days=_days(text) if months else frozenset(),
        spans=_spans(text, words, now),
    )


def speaks_of_self(text: str) -> bool:
    """Say whether the one who asks speaks of himself."""
    return not _FIRST_PERSON.isdisjoint(tokens(text))


def _name_words(names: Collection[str]) -> dict[str, list[str]]:
    """Return the full names each word of a name stands for; short and common words stand for none."""
    found: dict[str, list[str]] = {}
    for name in names:
        for word in tokens(name):
            if len(word) > 1 and not is_stop_word(word):
                found.setdefault(word, []).append(name)
    return found


def _terms(words: list[str], language: str, codes: Iterable[str]) -> tuple[QueryTerm, ...]:
    found: dict[tuple[str, ...], QueryTerm] = {}
    for word in words:
        if is_stop_word(word, language):
            continue
        if len(token_terms(word, language)) > 1:  # a run without spaces: each piece is a term
            for piece in token_terms(word, language):
                found.setdefault((piece,), QueryTerm(piece, (piece,)))
            continue
        forms = tuple(dict.fromkeys(t for code in codes for t in token_terms(word, code)))
        if forms:
            found.setdefault(forms, QueryTerm(word, forms))
    return tuple(found.values())[:MAX_TERMS]


def _asks(lowered: str) -> Asks:
    if _WHEN.match(lowered):
        return "when"
    if _WHO.match(lowered):
        return "who"
    return "count" if _COUNT.match(lowered) else "what"


def _months(text: str) -> frozenset[int]:
    """Return the months named in `text`; "may" and "march" count with a capital only."""
    found = set()
    for word in re.findall(r"[A-Za-z]+", text):
        for number, month in enumerate(_MONTHS, 1):
            if word.lower() in (month, month[:3]) and (word[0].isupper() or len(word) > 5):
                found.add(number)
    return frozenset(found)


def _days(text: str) -> frozenset[int]:
    return frozenset(n for n in map(int, _DAY_NUMBER.findall(text.lower())) if 1 <= n <= 31)


def _spans(text: str, words: Collection[str], now: datetime) -> tuple[tuple[date, date], ...]:
    """Return the times that words such as last week name, counted from `now`."""
    if _RELATIVE.isdisjoint(words):
        return ()
    from fsagent.dates import find_dates

    return tuple((when.start, when.end) for when in find_dates(text, now) if when.relative)
