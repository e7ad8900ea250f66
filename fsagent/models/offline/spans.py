"""Propose the phrases of a sentence that could be an answer, and choose among them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fsagent.models.offline.phrase import Span, Token, features
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
    word_spans,
)

MAX_WORDS = 16
_CAPTION = re.compile(
    r"^\[image: (?:(?:a|an|the) )?(?:(?:photo|picture|image|photography|photograph|drawing) of )?"
)
_NO_START = frozenset(("C", "A"))
_NO_END = frozenset(("D", "P", "I", "C", "A", "S"))
_BREAK = re.compile(r"[;:()\n]|\s[-–—]+\s|\.\.\.|…")


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
