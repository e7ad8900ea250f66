"""The named baseline: plain BM25 over turns, and over whole sessions.

k1 0.9, b 0.3, Snowball stems, stop words removed; no context, no dates, no speakers' boost. Its
index is its own, so that changes to our search cannot move the baseline.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from fsagent.bench.datasets.schema import Turn
from fsagent.bench.systems.base import RankedContext, Response, Setup
from fsagent.search.text import is_stop_word, tokens

K1 = 0.9
B = 0.3


class BM25:
    """An inverted index of documents that are bags of terms."""

    def __init__(self, documents: Mapping[str, Sequence[str]]) -> None:
        self._names = list(documents)
        lengths = [len(terms) for terms in documents.values()]
        average = sum(lengths) / len(lengths) if lengths else 1.0
        self._norms = [K1 * (1 - B + B * length / (average or 1.0)) for length in lengths]
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, terms in enumerate(documents.values()):
            for term, count in Counter(terms).items():
                self._postings.setdefault(term, []).append((number, count))

    def rank(self, query: Sequence[str]) -> list[str]:
        """Return the documents that hold a term, best first, ties in the order they were given."""
        scores: dict[int, float] = {}
        total = len(self._names)
        for term in dict.fromkeys(query):
            postings = self._postings.get(term, [])
            idf = math.log(1 + (total - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, count in postings:
                gain = idf * count * (K1 + 1) / (count + self._norms[number])
                scores[number] = scores.get(number, 0.0) + gain
        order = sorted(scores, key=lambda number: (-scores[number], number))
        return [self._names[number] for number in order]


class TurnBM25:
    """`bm25`: each turn a document."""

    def __init__(self, setup: Setup) -> None:
        self._context = RankedContext(setup.sample, setup.budget_tokens)
        self._index = BM25({turn.dia_id: terms(_text(turn)) for turn in setup.sample.turns})

    def respond(self, question: str) -> Response:
        """Rank the turns against the question's words."""
        return self._context.response(self._index.rank(terms(question)))

    def close(self) -> None:
        """Nothing is held."""


class SessionBM25:
    """`bm25-session`: each session a document, shown turn by turn from its start."""

    def __init__(self, setup: Setup) -> None:
        self._context = RankedContext(setup.sample, setup.budget_tokens)
        self._turns = {
            str(session.number): [turn.dia_id for turn in session.turns]
            for session in setup.sample.sessions
        }
        self._index = BM25(
            {
                str(session.number): [term for turn in session.turns for term in terms(_text(turn))]
                for session in setup.sample.sessions
            }
        )

    def respond(self, question: str) -> Response:
        """Rank the sessions against the question's words."""
        ranked = self._index.rank(terms(question))
        return self._context.response(dia_id for name in ranked for dia_id in self._turns[name])

    def close(self) -> None:
        """Nothing is held."""


def terms(text: str) -> list[str]:
    """Return the stems of a text's words without stop words, repetitions kept."""
    stem = _snowball()
    return [stem(word) for word in tokens(text) if not is_stop_word(word)]


def _text(turn: Turn) -> str:
    return f"{turn.speaker} {turn.text} {turn.caption or ''}"


@cache
def _snowball() -> Callable[[str], str]:
    import Stemmer

    stemmer = Stemmer.Stemmer("english")

    def stem(word: str) -> str:
        return str(stemmer.stemWord(word))

    return stem
