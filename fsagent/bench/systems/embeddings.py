"""`embeddings`: turns ranked by the cosine of small sentence vectors (all-MiniLM-L6-v2).

Speakers' names are left out of turns and question: kept, they outweigh the content (recall@10 of
.42 against .59 on LoCoMo), and the baseline should be the better of the two.
"""

from __future__ import annotations

import re
from functools import cache

from fsagent.bench.systems.base import RankedContext, Response, Setup
from fsagent.search.minilm import MiniLM


class Embeddings:
    """A matrix of a sample's turns."""

    def __init__(self, setup: Setup) -> None:
        turns = setup.sample.turns
        names = sorted({turn.speaker for turn in turns}, key=len, reverse=True)
        self._names = re.compile(rf"\b({'|'.join(map(re.escape, names))})(['’]s)?\b")
        self._dia_ids = [turn.dia_id for turn in turns]
        texts = [self._bare(f"{turn.text} {turn.caption or ''}") for turn in turns]
        self._turns = _model().vectors(texts)
        self._context = RankedContext(setup.sample, setup.budget_tokens)

    def respond(self, question: str) -> Response:
        """Rank all turns against the question."""
        (vector,) = _model().vectors([self._bare(question)])
        scores = self._turns @ vector
        order = sorted(range(len(scores)), key=lambda i: (-float(scores[i]), i))
        return self._context.response(self._dia_ids[i] for i in order)

    def close(self) -> None:
        """Nothing is held."""

    def _bare(self, text: str) -> str:
        return " ".join(self._names.sub(" ", text).split())


@cache
def _model() -> MiniLM:
    return MiniLM()
