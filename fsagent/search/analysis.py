"""Analyse a text for the index: its terms, their hashes, its language, its shape.

The terms of a text are found by the language of the text, message by message, so that a workspace
in two languages is searched in both. The hash of a term (CRC-32) stands for it in the columns: two
of a workspace's words share one with a chance of about one in a thousand per hundred thousand terms
squared, which costs a little rank and never a hit.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fsagent.search.text import find_tokens, is_stop_word, token_terms
from fsagent.search.wordlists import STOP_WORDS, TIME_WORDS

VERSION = 1
"""Counts changes of analysis and columns; an index of another version is rebuilt."""

QUESTION, ENDS_ASKING, TIME_WORD, PROPER_1, PROPER_2 = 1, 2, 4, 8, 16
_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
_SCRIPTS = (
    ("\u0370", "\u0400", "el"), ("\u0400", "\u0530", "ru"), ("\u0530", "\u0590", "hy"),
    ("\u0600", "\u0700", "ar"), ("\u0900", "\u0980", "hi"), ("\u0b80", "\u0c00", "ta"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Analysis:
    """The terms of a text in order, their hashes, the shape flags, and the language used."""

    terms: list[str]
    hashes: list[int]
    flags: int
    language: str


def term_hash(term: str) -> int:
    """Return the number that stands for a term in the columns."""
    return zlib.crc32(term.encode("utf-8", "replace"))


class Analyzer:
    """Analyses texts, remembering the words it has seen. `default` is the workspace's language."""

    def __init__(self, default: str) -> None:
        self.default = default
        self._words: dict[str, dict[str, _Word]] = {}

    def analyze(self, text: str) -> Analysis:
        """Return the analysis of `text`."""
        lowered = (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower()
        words = find_tokens(lowered)
        language = self.default
        known = self._words.setdefault(language, {})
        entries = [known.get(word) or self._learn(word, language) for word in words]
        if not text.isascii() or sum(entry.foreign for entry in entries) > 1:
            language = detect(words, self.default)
            if language != self.default:
                known = self._words.setdefault(language, {})
                entries = [known.get(word) or self._learn(word, language) for word in words]
        terms: list[str] = []
        hashes: list[int] = []
        flags = 0
        for entry in entries:
            terms += entry.terms
            hashes += entry.hashes
            flags |= entry.flags
        return Analysis(terms, hashes, flags | _shape(text), language)

    def _learn(self, word: str, language: str) -> _Word:
        known = self._words[language]
        if len(known) > 200_000:  # bounds the memory of a long build over strange text
            known.clear()
        terms = token_terms(word, language)
        entry = _Word(
            terms,
            [term_hash(term) for term in terms],
            TIME_WORD if word in TIME_WORDS or _is_year(word) else 0,
            word in _LANGUAGES and language not in _LANGUAGES[word],
        )
        known[word] = entry
        return entry


@dataclass(frozen=True, slots=True)
class _Word:
    terms: list[str]
    hashes: list[int]
    flags: int
    foreign: bool


def detect(words: Iterable[str], default: str) -> str:
    """Return the language of lower-cased words: by their script, else by the stop words among them.

    Two stop words more than the default language has decide; short or mixed text stays with it.
    """
    counts: Counter[str] = Counter()
    for word in words:
        if not word.isascii():
            script = next((code for low, high, code in _SCRIPTS if low <= word[0] < high), None)
            if script is not None:
                return default if script == "ru" and default == "sr" else script
        counts.update(_LANGUAGES.get(word.replace("’", "'"), ()))
    best = max(counts, key=lambda code: counts[code], default=default)
    return best if counts[best] >= counts[default] + 2 else default


def _languages() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for code, words in STOP_WORDS.items():
        for word in words:
            found.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in found.items()}


_LANGUAGES = _languages()


def _shape(text: str) -> int:
    flags = 0
    if "?" in text:
        flags |= QUESTION
        if text.rstrip().endswith("?"):
            flags |= ENDS_ASKING
    proper = len(_PROPER.findall(text))
    return flags | (PROPER_2 if proper > 1 else PROPER_1 if proper else 0)


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit()


def content_words(text: str, language: str) -> list[str]:
    """Return the lower-cased words of a query in order, stop words left out."""
    normal = unicodedata.normalize("NFKC", text).lower()
    return [word for word in find_tokens(normal) if not is_stop_word(word, language)]
