"""Turn text into the terms that search compares: split, drop stop words, stem, fold accents.

Words in a script that needs no splitting are lower-cased, mapped from irregular forms (English),
stemmed with Snowball and stripped of accents. Chinese, Japanese and Korean runs become their
single characters and pairs, so that a query of one or two characters finds its text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

from fsagent.wordlists import CJK, IRREGULAR, STOP_WORDS

# Three times as fast as a regular expression over a message.
_SPACED = "".join(chr(n) if chr(n).isalnum() or chr(n) == "'" else " " for n in range(128))
_POSSESSIVE = ("'s", "’s")

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Language codes with a Snowball stemmer."""


def terms(text: str, language: str = "en") -> list[str]:
    """Return the index terms of `text` in order, stop words removed, repetitions kept."""
    return [term for token in tokens(text) for term in token_terms(token, language)]


def tokens(text: str) -> list[str]:
    """Return the lower-cased words and whole CJK runs of `text`, possessive endings removed."""
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return [_without_possessive(word) for word in find_tokens(normal.lower())]


def find_tokens(lowered: str) -> list[str]:
    """Return the words and CJK runs of a text that is NFKC and lower case already."""
    if not lowered.isascii():
        found: list[str] = _token().findall(lowered)
        return found
    words = lowered.translate(_SPACED).split()
    if "'" not in lowered:
        return words
    return [word for word in (word.strip("'") for word in words) if word]


def token_terms(token: str, language: str) -> list[str]:
    """Return the terms of one token: a word's stem, a CJK run's characters and pairs."""
    if not token.isascii() and _is_cjk().match(token):
        return [*token, *(token[i : i + 2] for i in range(len(token) - 1))]
    term = _stem(language)(_without_possessive(token))
    return [term] if term else []


@cache
def _token() -> re.Pattern[str]:
    # Compiled when a text is not ASCII: the ranges cost 7 ms of a process's start.
    word = rf"(?:(?![{CJK}])[^\W_])+"
    return re.compile(rf"[{CJK}]+|{word}(?:['’]{word})*")


@cache
def _is_cjk() -> re.Pattern[str]:
    return re.compile(f"[{CJK}]")


def _without_possessive(word: str) -> str:
    return word[:-2] if word.endswith(_POSSESSIVE) else word


def is_stop_word(word: str, language: str = "en") -> bool:
    """Say whether a lower-cased word carries nothing for ranking in `language`."""
    return word.replace("’", "'") in STOP_WORDS.get(language, frozenset())


def fold(text: str) -> str:
    """Strip accents from Latin and Greek letters; other scripts keep their marks.

    A mark there makes another letter (the Japanese voicing mark, the Cyrillic short i).
    """
    if text.isascii():
        return text
    out: list[str] = []
    for ch in unicodedata.normalize("NFD", text):
        if unicodedata.combining(ch) and out and _folds(out[-1]):
            continue
        out.append(ch)
    return unicodedata.normalize("NFC", "".join(out).translate(_LIGATURES))


_LIGATURES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i"}
)


def _folds(base: str) -> bool:
    return base < "\u0250" or "\u0370" <= base < "\u0400" or "\u1e00" <= base < "\u2000"


@cache
def _stem(language: str) -> Callable[[str], str]:
    """Return the word -> term function of a language, memorised for the words it has seen."""
    stop = STOP_WORDS.get(language, frozenset())
    irregular = IRREGULAR.get(language, {})
    snowball = _snowball(language)
    seen: dict[str, str] = {}

    def stem(word: str) -> str:
        term = seen.get(word)
        if term is None:
            plain = word.replace("’", "'")
            term = "" if plain in stop else fold(snowball(irregular.get(plain, plain)))
            if len(seen) > 200_000:  # bounds the memory of a long process on strange text
                seen.clear()
            seen[word] = term
        return term

    return stem


def _snowball(language: str) -> Callable[[str], str]:
    if language not in STEMMERS:
        return str
    import Stemmer

    stem: Callable[[str], str] = Stemmer.Stemmer(STEMMERS[language]).stemWord
    return stem
