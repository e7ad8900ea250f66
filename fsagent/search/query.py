"""What a query asks for: terms to match, speakers and dates to prefer, the kind of its answer."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from fsagent.search.text import terms, tokens

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH_NUMBERS = {name: number for number, name in enumerate(_MONTHS, 1)}
_MONTH_NUMBERS.update({name[:3]: number for name, number in list(_MONTH_NUMBERS.items())})
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_ASKS_WHEN = re.compile(
    r"\s*(when|what (date|day|month|year|time)|which (month|year|day)|how long|since when)"
)
_ASKS_WHO = ("who", "whom", "where", "which")


@dataclass(frozen=True, slots=True)
class Query:
    """A query taken apart. `speakers` are casefolded names that speak in the corpus."""

    terms: tuple[str, ...]
    speakers: frozenset[str] = frozenset()
    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    asks_when: bool = False
    asks_who: bool = False


def read_query(text: str, names: Collection[str], language: str) -> Query:
    """Take a query apart. A speaker's name is a preference, not a term, unless it stands alone."""
    words = list(tokens(text))
    speakers = _speakers(words, names)
    wanted = [word for word in words if not any(word in name.split() for name in speakers)]
    found = dict.fromkeys(term for word in wanted for term in terms(word, language))
    months = {_MONTH_NUMBERS[word] for word in words if _is_month(word, text)}
    low = text.lower()
    return Query(
        terms=tuple(found) or tuple(dict.fromkeys(terms(text, language))),
        speakers=frozenset(speakers),
        months=frozenset(months),
        years=frozenset(int(word) for word in words if _YEAR.fullmatch(word)),
        days=frozenset(
            day for day in map(int, _DAY.findall(low) if months else []) if 1 <= day <= 31
        ),
        asks_when=bool(_ASKS_WHEN.match(low)),
        asks_who=low.startswith(_ASKS_WHO),
    )


def _speakers(words: list[str], names: Collection[str]) -> set[str]:
    """Return the speakers a query names by any word of their name."""
    said = set(words)
    folded = {name.casefold() for name in names}
    return {name for name in folded if said & set(name.split())}


def _is_month(word: str, text: str) -> bool:
    """Say whether a word is a month; `may` and `march` only where they are capitals."""
    if word not in _MONTH_NUMBERS:
        return False
    return (
        word not in ("may", "march", "mar") or re.search(rf"\b{word.title()}\b", text) is not None
    )
