"""Understand a question: what kind it is, whom it is about, and which words carry it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from typing import Literal

from fsagent.dates import When, find_dates
from fsagent.models.offline.words import VAGUE, content_stems, is_content, plain, stem, words

Kind = Literal[
    "when", "how long", "how many", "how often", "who", "where", "why", "feel", "how",
    "yes/no", "choice", "would", "name", "list", "what",
]  # fmt: skip

_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"(?:when|(?:in|on|by|around|since) (?:what|which) (?:date|day|week|month|year)|what (?:date|day|month|year)"
     r"|which (?:date|day|week|month|year))\b", "when"),
    (r"(?:for )?how (?:long|old)\b", "how long"),
    (r"how (?:many|much)\b", "how many"),
    (r"how (?:often|frequently)\b", "how often"),
    (r"(?:who|whom|whose|(?:with|to|from|by|for) whom?)\b", "who"),
    (r"(?:(?:from|to|in) )?where\b|(?:in )?(?:what|which) (?:city|town|country|place|state)\b", "where"),
    (r"why\b|what (?:made|makes|motivated?s?|inspired?s?|prompted|caused?)\b|(?:for )?what .*\breason", "why"),
    (r"how (?:did|does|do|is|was|were|are) .*\b(?:feel|feeling|react)|what .*\b(?:emotions?|reaction)\b", "feel"),
    (r"how\b", "how"),
    (r"(?:would|will|could|might|should)\b", "would"),
    (r"(?:what|which) (?:is|was|are|were)(?: the)? .*\bnames?\b|what .*\b(?:called|titled|named)\b", "name"),
    (r"(?:is|are|was|were|do|does|did|has|have|had|can|am)\b", "yes/no"),
)  # fmt: skip
_DENIAL = re.compile(
    r"\b(?:not|no|never|nobody|nothing|neither|without|hardly|hate[sd]?)\b|n['’]t\b", re.IGNORECASE
)
_OPENERS = re.compile(
    r"^(?:and |but |so |ok(?:ay)?,? |please |hey,? |hi,? |(?:can|could|do) you (?:tell me|know|remember),? )+",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|am|do|does|did|has|have|had"
    r"|can|could|would|will|should|might|in (?:what|which)|on (?:what|which)|tell me|remind me"
    r"|(?:with|to|from|for|by|around|at|about) (?:what|which|whom|who))\b",
    re.IGNORECASE,
)

ASSISTANT = "assistant"
"""The speaker of the agent's own lines in recall."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart. Stems are in `terms`; names written with a capital in `names`."""

    text: str
    kind: Kind
    terms: tuple[str, ...]
    names: tuple[str, ...]
    plural: bool
    focus: tuple[str, ...] = ()
    own: bool = False

    def subjects(self, speakers: Collection[str]) -> frozenset[str]:
        """Return which of `speakers` the question names; one about "me" is not about us."""
        named = {name.lower() for name in self.names}
        if self.own:
            return frozenset(speakers) - {ASSISTANT}
        return frozenset(s for s in speakers if s.lower() in named or s.split()[0].lower() in named)

    def dates(self, now: date) -> list[When]:
        """Return the dates that the question names."""
        return find_dates(self.text, now)


def is_question(text: str) -> bool:
    """Tell a question from a statement."""
    last = text.strip().splitlines()[-1] if text.strip() else ""
    return last.rstrip(" \"')*_").endswith("?") or bool(_ASKING.match(_OPENERS.sub("", last)))


def analyse(text: str) -> Question:
    """Take a question apart."""
    bare = _OPENERS.sub("", " ".join(text.split()))
    kind = _kind(bare)
    names = _names(bare)
    focus = _focus(bare)
    plural = kind in ("what", "who", "where", "name", "would") and _is_plural(focus)
    return Question(
        text=bare,
        kind="list" if plural and kind in ("what", "name") else kind,
        terms=tuple(dict.fromkeys(content_stems(bare))),
        names=names,
        plural=plural,
        focus=tuple(stem(word) for word in focus if is_content(word)),
        own=bool(re.search(r"\b(?:i|my|me|mine|we|our|us)\b", bare, re.IGNORECASE)),
    )


def negated(text: str) -> bool:
    """Tell whether a sentence denies something."""
    return bool(_DENIAL.search(text))


def weight(term: str) -> float:
    """Return how much a term says by itself: vague words say little."""
    return 0.35 if term in _VAGUE_STEMS else 1.0


_VAGUE_STEMS = frozenset(stem(word) for word in VAGUE)


def _kind(text: str) -> Kind:
    low = text.lower()
    for pattern, kind in _KINDS:
        if re.match(pattern, low):
            if kind in ("yes/no", "would") and re.search(r"\w,? or (?:a |an |the |more )?\w", low):
                return "choice"
            return kind
    return "what"


def _names(text: str) -> tuple[str, ...]:
    found = words(text)
    capital = [w for i, w in enumerate(found) if w[0].isupper() and (i > 0 or not _ASKING.match(w))]
    return tuple(dict.fromkeys(plain(word).title() for word in capital if plain(word) != "i"))


def _focus(text: str) -> list[str]:
    """Return the noun phrase that is asked for: `outdoor activities` in `What outdoor activities did`."""
    match = re.match(
        r"(?:\w+ )?(?:what|which|whose|how many|how much)\s+(.*?)"
        r"(?:\s+(?:is|are|was|were|do|des|does|did|has|have|had|can|could|would|will|might|to|that)\b|[?,]|$)",
        text,
        re.IGNORECASE,
    )
    if match and match[1]:
        return words(match[1])[:5]
    match = re.match(
        r"(?:what|which|who) (?:is|are|was|were) (?:the |some of )?(.+?)(?:\?|$)",
        text,
        re.IGNORECASE,
    )
    return words(match[1])[-1:] if match else []


def _is_plural(focus: list[str]) -> bool:
    head = [word.lower() for word in focus]
    if "of" in head[1:]:
        head = head[: head.index("of")]
    last = head[-1] if head else ""
    return (last.endswith("s") and not last.endswith(("ss", "us", "is"))) or last in (
        "people",
        "children",
    )
