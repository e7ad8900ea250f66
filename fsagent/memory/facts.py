"""The facts of a core block: its lines with their citations, and when two of them say the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fsagent.fuzzy import similarity
from fsagent.workspace.references import references_in, without_references

_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
_NEGATIONS = frozenset(
    {"no", "not", "never", "nor", "none", "without", "longer", "cannot", "except"}
)
_STOP_WORDS = frozenset(
    re.split(
        r"\s+",
        "a an the and or of in on at to for from by with as is are was were be been has have had do "
        "does did she he they it its his her their him them this that these those i my me we our "
        "you your s t since about into than so",
    )
)
_WORD_SIMILARITY = 88
_MIN_FUZZY_LETTERS = 5
_MIN_SIZE_RATIO = 0.75


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a block that says something.

    `text` is the whole line, `line` its 1-based number in the block's value, `words` the line
    without bullet and citations, `citations` the (path, line) pairs it names.
    """

    text: str
    line: int
    words: str
    citations: tuple[tuple[str, int], ...]


def facts_of(value: str) -> tuple[Fact, ...]:
    """Return the facts of a block's value; empty lines and headings are none."""
    return tuple(
        fact_of(text, line)
        for line, text in enumerate(value.split("\n"), 1)
        if text.strip() and not text.lstrip().startswith("#")
    )


def fact_of(text: str, line: int = 1) -> Fact:
    """Return one line as a fact."""
    words = " ".join(_BULLET.sub("", without_references(text)).split())
    return Fact(text, line, words, tuple(references_in(text)))


def covers(known: str, new: str) -> bool:
    """Say whether `known` says all that `new` does: its words, its numbers, its negation."""
    if _is_negated(known) != _is_negated(new):
        return False
    have, want = content_words(known), content_words(new)
    return bool(want) and all(has_word(have, word) for word in want)


def near_duplicates(a: str, b: str) -> bool:
    """Say whether two lines say the same in nearly the same words.

    One covers the other and is not much shorter. A differing name or number makes two facts.
    """
    sizes = sorted((len(content_words(a)), len(content_words(b))))
    if sizes[0] == 0 or sizes[0] / sizes[1] < _MIN_SIZE_RATIO:
        return False
    return covers(a, b) or covers(b, a)


def content_words(text: str) -> frozenset[str]:
    """Return the words that carry a text's meaning, lower-case, without endings."""
    words = (word.casefold().replace("’", "'") for word in _WORD.findall(text))
    return frozenset(
        stem(word) for word in words if word not in _STOP_WORDS and word not in _NEGATIONS
    )


def has_word(known: Iterable[str], word: str) -> bool:
    """Say whether a word stands among others, a slip of the pen allowed in a long word."""
    if word in (known := frozenset(known)):
        return True
    if len(word) < _MIN_FUZZY_LETTERS or not word.isalpha():
        return False
    return any(
        len(other) >= _MIN_FUZZY_LETTERS
        and other[0] == word[0]
        and similarity(word, other) >= _WORD_SIMILARITY
        for other in known
    )


def stem(word: str) -> str:
    """Return a word without the commonest English endings; an ordinal as its number."""
    if match := _ORDINAL.match(word):
        return match[1]
    word = word.removesuffix("'s")
    if not word.isascii():
        return word
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
    for ending in ("ing", "ied", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            word = f"{word[:-3]}y" if ending == "ied" else word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > 3 else word


def _is_negated(text: str) -> bool:
    words = [word.casefold() for word in _WORD.findall(text)]
    return any(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in words)
