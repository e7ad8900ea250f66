"""The facts of a core block: its lines with their citations, and when two of them say the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fsagent.attributes import KIN, Stated, contradict, read_fact, same_subject, same_value
from fsagent.memory.words import (
    content_sequence,
    content_words,
    has_word,
    is_negated,
    names_in,
    telling_words,
    words_of,
)
from fsagent.workspace.references import references_in, without_references

_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_HEADING = re.compile(r"^\s*(#+)(.*)")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_KIN = re.compile(rf"{KIN}$", re.IGNORECASE)
_COMPARING = re.compile(
    r"\b(?:(?P<from>from) (?P<a>.+?) (?:to|into) (?P<b>.+)|prefer\w* (?P<c>.+?) (?:to|over|rather than) (?P<d>.+)|"
    r"(?P<e>.+?) (?:over|rather than|instead of|than) (?P<f>.+))",
    re.IGNORECASE,
)
_MIN_SIZE_RATIO = 0.75
_MIN_SHARED = 1 / 3
"""The share of the shorter line's words that a line has in common with the one whose place it takes."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a block that says something.

    `text` is the whole line, `line` its 1-based number in the block's value, `words` the line
    without bullet and citations, `citations` the (path, line) pairs it names. `under` holds the
    headings and the list items it stands under, `leads` tells that lines stand under it, `fixed`
    that it is part of a table or of code.
    """

    text: str
    line: int
    words: str
    citations: tuple[tuple[str, int], ...]
    under: str = ""
    leads: bool = False
    fixed: bool = False


def facts_of(value: str) -> tuple[Fact, ...]:
    """Return the facts of a block's value; empty lines and headings are none."""
    return tuple(_facts_of(value.split("\n")))


def fact_of(text: str, line: int = 1) -> Fact:
    """Return one line as a fact."""
    words = " ".join(_BULLET.sub("", without_references(text)).split())
    return Fact(text, line, words, tuple(references_in(text)))


def first_section(value: str) -> int | None:
    """Return the index of the first line that heads a section, the title of the whole left out."""
    heads = [(place, len(match[1])) for place, match in _headings(value.split("\n"))]
    if heads and heads[0][1] == 1 and sum(level == 1 for _, level in heads) == 1:
        first = value.split("\n")[: heads[0][0]]
        heads = heads[1:] if not any(line.strip() for line in first) else heads
    return heads[0][0] if heads else None


def covers(known: str, new: str, *, speakers: frozenset[str] = frozenset()) -> bool:
    """Say whether `known` says all that `new` does: its words, its numbers, its negation.

    Names stand letter by letter, and what is compared in the same order: who prefers tea to coffee
    does not prefer coffee to tea. What is said of a sister is not said of the person; a line that
    begins with the name of one of the `speakers` is.
    """
    if is_negated(known) != is_negated(new) or _clash(known, new):
        return False
    have, want = content_words(known), content_words(new)
    exact = names_in(known) | names_in(new)
    if not want or not all(has_word(have, word, exact) for word in want):
        return False
    return not _subject(known) - want - speakers


def near_duplicates(a: str, b: str) -> bool:
    """Say whether two lines say the same in nearly the same words.

    One covers the other and is not much shorter. A differing name or number makes two facts.
    """
    sizes = sorted((len(content_words(a)), len(content_words(b))))
    if sizes[0] == 0 or sizes[0] / sizes[1] < _MIN_SIZE_RATIO:
        return False
    return covers(a, b) or covers(b, a)


def may_supersede(new: str, old: str) -> bool:
    """Say whether a line may take another's place: it says of the same thing something newer.

    That somebody likes tea does not end their liking of coffee, nor a car a dog: of an attribute
    that has many values a line takes the place of its contrary only, or of the same thing told anew.
    """
    one, other = read_fact(new), read_fact(old)
    if one is not None and other is not None and same_subject(one, other):
        return _renewed(one, other)
    leading = _subject(new) & _subject(old)
    first, second = (content_words(text) - telling_words() - leading for text in (new, old))
    shared = {word for word in first if has_word(second, word, names_in(new) | names_in(old))}
    return bool(shared) and len(shared) >= _MIN_SHARED * min(len(first), len(second))


def in_another_order(fact: str, said: str) -> bool:
    """Say whether a fact compares two things, or goes from one to the other, and a text the other way round."""
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


def _facts_of(lines: list[str]) -> Iterator[Fact]:
    heads = dict(_headings(lines))
    start = first_section("\n".join(lines))
    sections: dict[int, str] = {}
    parents: list[tuple[int, str]] = []
    fenced = False
    for place, text in enumerate(lines):
        if not text.strip():
            continue
        if head := heads.get(place):
            level, parents = len(head[1]), []
            sections = {known: name for known, name in sections.items() if known < level}
            if start is not None and place >= start:
                sections[level] = head[2].strip()
            continue
        fence = bool(_FENCE.match(text))
        fenced = fenced != fence
        indent = _indent(text)
        parents = [one for one in parents if one[0] < indent]
        fact = fact_of(text, place + 1)
        below = next((line for line in lines[place + 1 :] if line.strip()), "")
        yield replace(
            fact,
            under=" ".join([*sections.values(), *(words for _, words in parents)]),
            leads=_indent(below) > indent,
            fixed=fenced or fence or text.lstrip().startswith("|"),
        )
        parents.append((indent, fact.words))


def _headings(lines: list[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the headings with their index; a line of code that begins so is none, nor a fact."""
    for place, text in enumerate(lines):
        if match := _HEADING.match(text):
            yield place, match


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _renewed(one: Stated, other: Stated) -> bool:
    if contradict(one, other):
        return True
    if one.attribute != other.attribute:
        return False
    return one.single or same_value(one.value, other.value) or _head(one) == _head(other) != ""


def _head(stated: Stated) -> str:
    """Return what a value is about: of "two old cats in the attic" the cats."""
    noun = re.split(r"\b(?:named|called|with|in|at|on|of|for|from|who|that)\b|,", stated.value)[0]
    return (content_sequence(noun) or [""])[-1]


def _clash(one: str, other: str) -> bool:
    """Say whether two lines cannot both hold, or compare the same things the other way round."""
    first, second = read_fact(one), read_fact(other)
    if first is not None and second is not None and contradict(first, second):
        return True
    return in_another_order(one, other) or in_another_order(other, one)


def _subject(text: str) -> frozenset[str]:
    """Return the names and relations that a line begins with, or a verb with a capital."""
    leading: list[str] = []
    for word in words_of(text):
        if not word[0].isupper() and not _KIN.match(word):
            break
        leading.append(word)
    return content_words(" ".join(leading)) - telling_words()
