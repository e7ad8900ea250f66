"""Propose the phrases of a sentence that could be an answer, and describe each by features."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fsagent.models.offline.question import Question
from fsagent.models.offline.reader import Scored
from fsagent.models.offline.weights import SPAN, SPAN_SENTENCE
from fsagent.models.offline.words import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    NUMBER_WORDS,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    SUBJECTS,
    is_content,
    is_verb,
    plain,
    stem,
    word_set,
    word_spans,
)

MAX_WORDS = 16
_CAPTION = re.compile(
    r"^\[image: (?:(?:a|an|the) )?(?:(?:photo|picture|image|photography|photograph|drawing) of )?"
)
_NO_START = frozenset(("C", "A"))
_NO_END = frozenset(("D", "P", "I", "C", "A", "S"))
_BREAK = re.compile(r"[;:()\n]|\s[-–—]+\s|\.\.\.|…")
_KINSHIP = word_set(
    "mother mom father dad sister brother son daughter friend friends family husband wife"
    " partner colleague colleagues grandma grandpa cousin aunt uncle boss teacher neighbor"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a sentence: its class, its stem if it has meaning, what stands before it."""

    text: str
    kind: str
    stem: str
    gap: str
    asked: bool


@dataclass(frozen=True, slots=True)
class Span:
    """A candidate answer: the words `first` to `last` (excluded) of a scored sentence."""

    scored: Scored
    place: int
    tokens: tuple[Token, ...]
    first: int
    last: int
    text: str
    tail: str


def best_spans(question: Question, best: Sequence[Scored]) -> list[tuple[float, Span]]:
    """Return the candidates with their scores, best first."""
    lent = {
        id(one): sum(SPAN_SENTENCE.get(name, 0.0) * value for name, value in one.features.items())
        for one in best
    }
    ranked = [
        (
            lent[id(span.scored)]
            + sum(SPAN.get(n, 0.0) * v for n, v in features(question, span).items()),
            span,
        )
        for span in candidates(question, best)
    ]
    return sorted(ranked, key=lambda pair: -pair[0])


def candidates(question: Question, best: Sequence[Scored]) -> Iterator[Span]:
    """Return every phrase of the sentences in `best` that has the borders of a phrase."""
    for place, scored in enumerate(best):
        text = _CAPTION.sub("", scored.sentence).rstrip("]")
        places = word_spans(text)
        tokens = tuple(_tokens(question, text, places))
        after = [
            text[end : places[i + 1][0] if i + 1 < len(places) else None]
            for i, (_, end) in enumerate(places)
        ]
        for first, token in enumerate(tokens):
            if token.kind in _NO_START and plain(token.text) != "because":
                continue
            for last in range(first + 1, min(first + MAX_WORDS, len(tokens)) + 1):
                if last - first > 1 and _BREAK.search(tokens[last - 1].gap):
                    break
                if tokens[last - 1].kind in _NO_END:
                    continue
                piece = text[places[first][0] : places[last - 1][1]]
                yield Span(scored, place, tokens, first, last, piece, after[last - 1])


def features(question: Question, span: Span) -> dict[str, float]:
    """Describe a candidate: where it stands, what it is, how it fits this kind of question."""
    inside = span.tokens[span.first : span.last]
    content = [t for t in inside if t.stem]
    new = [t for t in content if not t.asked]
    count = len(inside)
    found = {
        "log words": math.log(count),
        "one word": float(count == 1),
        "long": float(count > 8),
        "new words": min(len(new), 6) / 6,
        "nothing new": float(not new),
        "asked share": 1 - len(new) / len(content) if content else 1.0,
    }
    found |= _borders(span)
    found |= _inside(question, span, inside, new)
    return {name: value for name, value in found.items() if value}


def _borders(span: Span) -> dict[str, float]:
    tokens, first, last = span.tokens, span.first, span.last
    left = tokens[first - 1] if first else None
    right = tokens[last] if last < len(tokens) else None
    gap = tokens[first].gap
    before = "start" if left is None else "mark" if gap.strip(" '’") else left.kind
    after = "end" if right is None else "mark" if span.tail.strip(" '’") else right.kind
    asked_left = next((d for d in range(1, 6) if first - d >= 0 and tokens[first - d].asked), 0)
    asked_right = next(
        (d for d in range(4) if last + d < len(tokens) and tokens[last + d].asked), None
    )
    return {
        f"before {before}": 1.0,
        f"after {after}": 1.0,
        f"first {tokens[first].kind}": 1.0,
        f"last {tokens[last - 1].kind}": 1.0,
        "asked before": 1 / asked_left if asked_left else 0.0,
        "asked next": float(asked_left == 1),
        "asked after": 1 / (1 + asked_right) if asked_right is not None else 0.0,
        "quoted": float(
            gap[-1:] in "\"“'‘"
            and gap[-1:] != ""
            and span.tail[:1] in "\"”'’,.!"
            and span.tail[:1] != ""
        ),
    }


def _inside(
    question: Question, span: Span, inside: tuple[Token, ...], new: list[Token]
) -> dict[str, float]:
    kind, low = question.kind, [plain(t.text) for t in inside]
    kinds = [t.kind for t in inside]
    head = low[0]
    capital = bool(new) and all(t.kind == "N" for t in new)
    number = any(t.kind == "#" for t in inside)
    clause = "S" in kinds[:2]
    ing = head.endswith("ing") and len(head) > 4
    to, because = head == "to", head in ("because", "for")
    near = span.tokens[max(0, span.first - 3) : span.last + 3]
    focus = any(t.stem in question.focus for t in near if t.stem)
    left = plain(span.tokens[span.first - 1].text) if span.first else ""
    commas = sum("," in t.gap for t in inside[1:])
    found = {
        "subject inside": float("S" in kinds),
        "verb inside": float("A" in kinds),
        "conjunction inside": float("C" in kinds),
        "commas": min(commas, 3) / 3,
        "head to": float(to),
        "head ing": float(ing),
        "left is to": float(left == "to"),
        "left is because": float(left in ("because", "cause", "since", "so")),
        "focus near": float(bool(question.focus) and focus),
        "number": float(number),
        "capital": float(capital),
        "speaker": float(
            bool(new)
            and all(
                plain(t.text).title() in question.names or t.text == span.scored.line.speaker
                for t in new
            )
        ),
    }
    typed = {
        "one word": len(inside) == 1,
        "log words": math.log(len(inside)),
        "clause": clause,
        "to": to,
        "because": because or left in ("because", "cause", "since"),
        "ing": ing,
        "capital": capital,
        "number": number,
        "preposition": kinds[0] == "I",
        "kin": any(w in _KINSHIP for w in low),
        "adjective": left
        in ("feel", "felt", "was", "is", "so", "really", "very", "am", "i'm", "be"),
        "quoted": '"' in inside[0].gap and '"' in span.tail,
    }
    group = _GROUPS.get(kind) or _what_group(question)
    found |= {f"{group}: {name}": float(value) for name, value in typed.items()}
    return found


_GROUPS = {
    "who": "who", "where": "where", "why": "why", "how many": "number", "how long": "number",
    "how often": "number", "feel": "feel", "how": "how", "name": "name", "list": "list",
}  # fmt: skip


def _what_group(question: Question) -> str:
    """Split the many questions with what by what they ask for: a deed, a named noun, an object."""
    if re.search(r"\b(?:do|doing|done)\b(?:[^?]{0,40})\?*$", question.text) and not question.focus:
        return "deed"
    if re.match(r"what (?:is|are|was|were)\b", question.text, re.IGNORECASE):
        return "what is"
    return "what noun" if question.focus else "what"


def _tokens(question: Question, text: str, places: list[tuple[int, int]]) -> Iterator[Token]:
    end = 0
    for start, stop in places:
        word = text[start:stop]
        meaning = stem(word) if is_content(word) else ""
        kind = _class(word, first=start == 0)
        yield Token(
            word, kind, meaning, text[end:start], bool(meaning) and meaning in question.terms
        )
        end = stop


def _class(word: str, *, first: bool) -> str:
    """Return a letter for what a word is: D P S R I C A B are small words, # a number, N a name."""
    low = word.lower().replace("’", "'")
    for letter, members in _CLASSES:
        if low in members:
            return letter
    if word[0].isdigit() or low in NUMBER_WORDS:
        return "#"
    if word[0].isupper() and not first:
        return "N"
    if low.endswith("ly"):
        return "B"
    if low.endswith("ing") and len(low) > 4:
        return "G"
    return "V" if (low.endswith("ed") and len(low) > 3) or is_verb(word) else "W"


_CLASSES = (
    ("S", SUBJECTS - {"that", "this", "there", "who"}), ("A", AUXILIARIES), ("C", CONJUNCTIONS),
    ("D", DETERMINERS), ("P", POSSESSIVES), ("R", PRONOUNS), ("I", PREPOSITIONS), ("B", ADVERBS),
)  # fmt: skip
