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
from itertools import chain
from typing import NamedTuple

from fsagent.search.text import find_tokens, token_terms
from fsagent.wordlists import LETTERS, STOP_WORDS, TIME_WORDS

VERSION = 3
"""Counts changes of analysis and columns; an index of another version is rebuilt."""

MAX_WORDS = 200_000
"""Words remembered a language: bounds the memory of a long build over strange text."""

QUESTION, ENDS_ASKING, TIME_WORD, PROPER_1, PROPER_2 = 1, 2, 4, 8, 16
_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
_SCRIPTS = (
    ("\u0370", "\u0400", "el"), ("\u0400", "\u0530", "ru"), ("\u0530", "\u0590", "hy"),
    ("\u0600", "\u0700", "ar"), ("\u0900", "\u0980", "hi"), ("\u0b80", "\u0c00", "ta"),
)  # fmt: skip


class Analysis(NamedTuple):
    """The terms of a text in order, joined by spaces; their hashes, the shape, the language used."""

    body: str
    hashes: list[int]
    flags: int
    language: str

    @property
    def terms(self) -> list[str]:
        """The terms in order."""
        return self.body.split()


def term_hash(term: str) -> int:
    """Return the number that stands for a term in the columns."""
    return zlib.crc32(term.encode("utf-8", "replace"))


class Analyzer:
    """Analyses texts, remembering the words it has seen. `default` is the workspace's language."""

    def __init__(self, default: str) -> None:
        self.default = default
        self._words: dict[str, _Words] = {}

    def analyze(self, text: str) -> Analysis:
        """Return the analysis of `text`."""
        ascii_only = text.isascii()
        lowered = (text if ascii_only else unicodedata.normalize("NFKC", text)).lower()
        words = find_tokens(lowered)
        language = self.default
        entries = self._look_up(words, language)
        if not ascii_only or sum([entry[3] for entry in entries]) > 1:
            language = detect(words, language)
            if language != self.default:
                entries = self._look_up(words, language)
        flags = _shape(text)
        if not entries:
            return Analysis("", [], flags, language)
        texts, hashes, times, _ = zip(*entries, strict=True)
        flat = list(chain.from_iterable(hashes))
        return Analysis(" ".join(texts), flat, flags | (TIME_WORD if any(times) else 0), language)

    def _look_up(self, words: list[str], language: str) -> list[_Word]:
        known = self._words.get(language)
        if known is None or len(known) > MAX_WORDS:
            known = self._words[language] = _Words(language)
        # A word that says nothing is an empty entry; map() calls no Python for a word seen before.
        return list(filter(None, map(known.__getitem__, words)))


_Word = tuple[str, tuple[int, ...], bool, bool]
"""A word's terms, their hashes, whether it tells a time, whether it is another language's stop word."""


class _Words(dict[str, "_Word | None"]):
    """The words of one language that were seen, each learnt when it is first asked for."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, word: str) -> _Word | None:
        terms = token_terms(word, self._language)
        tells_time = word in TIME_WORDS or _is_year(word)
        foreign = word in _LANGUAGES and self._language not in _LANGUAGES[word]
        entry: _Word | None = None
        if terms or tells_time or foreign:
            entry = (" ".join(terms), tuple(map(term_hash, terms)), tells_time, foreign)
        self[word] = entry
        return entry


def detect(words: Iterable[str], default: str) -> str:
    """Return the language of lower-cased words: by their script, else by stop words and letters.

    Two of these more than the default language has decide; short or mixed text stays with it.
    """
    counts: Counter[str] = Counter()
    for word in words:
        if not word.isascii():
            script = next((code for low, high, code in _SCRIPTS if low <= word[0] < high), None)
            if script is not None:
                return default if script == "ru" and default == "sr" else script
            for letter in LETTERS.keys() & set(word):
                counts.update(LETTERS[letter])
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
