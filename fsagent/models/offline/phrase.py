"""Describe a phrase of a sentence by features: where it stands, what it is, what is asked."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass

from fsagent.models.offline.question import Question
from fsagent.models.offline.reader import Scored
from fsagent.models.offline.words import plain, word_set

_KINSHIP = word_set(
    "mother mom father dad sister brother son daughter friend friends family husband wife "
    "partner colleague colleagues grandma grandpa cousin aunt uncle boss teacher neighbor"
)
_REASON = ("because", "cause", "since")
_BEFORE_STATES = ("feel", "felt", "was", "is", "so", "really", "very", "am", "i'm", "be")
_GROUPS = {
    "who": "who", "where": "where", "why": "why", "how many": "number", "how long": "number",
    "how often": "number", "feel": "feel", "how": "how", "name": "name", "list": "list",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a sentence: a letter for its class, its stem if it has meaning, the gap before it.

    `asked` tells that the question holds it.
    """

    text: str
    kind: str
    stem: str
    gap: str
    asked: bool


@dataclass(frozen=True, slots=True)
class Span:
    """A candidate answer: the words `first` to `last` (excluded) of a scored sentence.

    `place` is the sentence's rank, `tail` what stands between the phrase and the next word.
    """

    scored: Scored
    place: int
    tokens: tuple[Token, ...]
    first: int
    last: int
    text: str
    tail: str

    @property
    def inside(self) -> tuple[Token, ...]:
        return self.tokens[self.first : self.last]

    @property
    def left(self) -> str:
        """The word before the phrase, empty at the start."""
        return plain(self.tokens[self.first - 1].text) if self.first else ""


def features(question: Question, span: Span) -> dict[str, float]:
    """Return all features of a candidate that are not zero."""
    found = _contents(question, span) | _borders(span)
    group = _GROUPS.get(question.kind) or _what_group(question)
    found |= {f"{group}: {name}": value for name, value in _by_kind(span).items()}
    return {name: value for name, value in found.items() if value}


def names_somebody(question: Question, span: Span, known: Collection[str]) -> bool:
    """Tell whether a phrase is a name or a relative, and neither asked with nor in `known`."""
    inside = span.inside
    if len(inside) > 4 or any(t.asked or plain(t.text).title() in known for t in inside):
        return False
    kin = inside[0].kind in "DPWN" and plain(inside[-1].text) in _KINSHIP
    return kin or (_all_names(span) and inside[0].kind in "DN")


def _contents(question: Question, span: Span) -> dict[str, float]:
    inside = span.inside
    kinds = [token.kind for token in inside]
    content = [token for token in inside if token.stem]
    new = [token for token in content if not token.asked]
    near = span.tokens[max(0, span.first - 3) : span.last + 3]
    return {
        "log words": math.log(len(inside)),
        "one word": float(len(inside) == 1),
        "long": float(len(inside) > 8),
        "new words": min(len(new), 6) / 6,
        "nothing new": float(not new),
        "asked share": 1 - len(new) / len(content) if content else 1.0,
        "subject inside": float("S" in kinds),
        "verb inside": float("A" in kinds),
        "conjunction inside": float("C" in kinds),
        "commas": min(sum("," in token.gap for token in inside[1:]), 3) / 3,
        "focus near": float(any(token.stem in question.focus for token in near if token.stem)),
        "number": float("#" in kinds),
        "capital": float(_all_names(span)),
        "speaker": float(bool(new) and all(_is_person(question, span, token) for token in new)),
    }


def _borders(span: Span) -> dict[str, float]:
    tokens, first, last = span.tokens, span.first, span.last
    gap, head = tokens[first].gap, plain(tokens[first].text)
    before = "start" if not first else "mark" if gap.strip(" '’") else tokens[first - 1].kind
    after = (
        "end" if last == len(tokens) else "mark" if span.tail.strip(" '’") else tokens[last].kind
    )
    back = next((n for n in range(1, 6) if n <= first and tokens[first - n].asked), 0)
    ahead = next((n for n, token in enumerate(tokens[last : last + 4]) if token.asked), None)
    return {
        f"before {before}": 1.0,
        f"after {after}": 1.0,
        f"first {tokens[first].kind}": 1.0,
        f"last {tokens[last - 1].kind}": 1.0,
        "asked before": 1 / back if back else 0.0,
        "asked next": float(back == 1),
        "asked after": 1 / (1 + ahead) if ahead is not None else 0.0,
        "quoted": float(gap.endswith(tuple("\"“'‘")) and span.tail.startswith(tuple("\"”'’,.!"))),
        "head to": float(head == "to"),
        "head ing": float(_is_ing(head)),
        "left is to": float(span.left == "to"),
        "left is because": float(span.left in (*_REASON, "so")),
    }


def _by_kind(span: Span) -> dict[str, float]:
    """Return the features that weigh differently for each kind of question."""
    inside = span.inside
    kinds, low = [token.kind for token in inside], [plain(token.text) for token in inside]
    return {
        "one word": float(len(inside) == 1),
        "log words": math.log(len(inside)),
        "clause": float("S" in kinds[:2]),
        "to": float(low[0] == "to"),
        "because": float(low[0] in ("because", "for") or span.left in _REASON),
        "ing": float(_is_ing(low[0])),
        "capital": float(_all_names(span)),
        "number": float("#" in kinds),
        "preposition": float(kinds[0] == "I"),
        "kin": float(any(word in _KINSHIP for word in low)),
        "adjective": float(span.left in _BEFORE_STATES),
        "quoted": float('"' in inside[0].gap and '"' in span.tail),
    }


def _all_names(span: Span) -> bool:
    new = [token for token in span.inside if token.stem and not token.asked]
    return bool(new) and all(token.kind == "N" for token in new)


def _is_person(question: Question, span: Span, token: Token) -> bool:
    return plain(token.text).title() in question.names or token.text == span.scored.line.speaker


def _is_ing(word: str) -> bool:
    return word.endswith("ing") and len(word) > 4


def _what_group(question: Question) -> str:
    """Split the many questions with what by what they ask for: a deed, a named noun, an object."""
    if re.search(r"\b(?:do|doing|done)\b(?:[^?]{0,40})\?*$", question.text) and not question.focus:
        return "deed"
    if re.match(r"what (?:is|are|was|were)\b", question.text, re.IGNORECASE):
        return "what is"
    return "what noun" if question.focus else "what"
