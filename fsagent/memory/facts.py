"""The facts of a core block: its lines with their citations, and when two of them say the same."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fsagent.attributes import contradict, read_fact
from fsagent.memory.words import content_sequence, content_words, has_word, is_negated, names_in
from fsagent.workspace.references import references_in, without_references

_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_COMPARING = re.compile(
    r"\b(?:(?P<from>from) (?P<a>.+?) (?:to|into) (?P<b>.+)|prefer\w* (?P<c>.+?) (?:to|over|rather than) (?P<d>.+)|"
    r"(?P<e>.+?) (?:over|rather than|instead of|than) (?P<f>.+))",
    re.IGNORECASE,
)
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
    """Say whether `known` says all that `new` does: its words, its numbers, its negation.

    Names stand letter by letter, and what is compared in the same order: who prefers tea to coffee
    does not prefer coffee to tea.
    """
    if is_negated(known) != is_negated(new) or _clash(known, new):
        return False
    have, want = content_words(known), content_words(new)
    exact = names_in(known) | names_in(new)
    return bool(want) and all(has_word(have, word, exact) for word in want)


def near_duplicates(a: str, b: str) -> bool:
    """Say whether two lines say the same in nearly the same words.

    One covers the other and is not much shorter. A differing name or number makes two facts.
    """
    sizes = sorted((len(content_words(a)), len(content_words(b))))
    if sizes[0] == 0 or sizes[0] / sizes[1] < _MIN_SIZE_RATIO:
        return False
    return covers(a, b) or covers(b, a)


def in_another_order(fact: str, said: str) -> bool:
    """Say whether a fact compares or moves between two things, and the text names them the other way round."""
    match = _COMPARING.search(fact)
    if match is None:
        return False
    before, after = (
        content_sequence(next(part for part in pair if part))
        for pair in ((match["a"], match["c"], match["e"]), (match["b"], match["d"], match["f"]))
    )
    there = content_sequence(said)
    if not before or not after or not {before[-1], after[0]} <= set(there):
        return False
    return _COMPARING.search(said) is not None and there.index(before[-1]) > there.index(after[0])


def _clash(one: str, other: str) -> bool:
    """Say whether two lines cannot both hold, or compare the same things the other way round."""
    first, second = read_fact(one), read_fact(other)
    if first is not None and second is not None and contradict(first, second):
        return True
    return in_another_order(one, other) or in_another_order(other, one)
