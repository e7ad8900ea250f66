"""Retrieval scores of one question: which gold turns were found, how early, for how many tokens.

The unit is the turn; the same by session, where the rank of a session is that of its first turn.
A question without evidence has no retrieval score: it is left out, never counted as found.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import TypeVar

from fsagent.bench.datasets.schema import session_of

T = TypeVar("T", bound=Hashable)

TURN_KS = (1, 5, 10, 20, 50)
SESSION_KS = (1, 5, 10)
TOKEN_BUDGETS = (500, 1000, 2000, 4000)


def retrieval_scores(
    ranked: Sequence[str],
    tokens: Sequence[int],
    gold: Collection[str],
    *,
    sessions: int,
    ranked_sessions: Sequence[int] | None = None,
) -> dict[str, float]:
    """Return every retrieval score of one question.

    `ranked` are `dia_id`s, best first, each once; `tokens[i]` is what showing `ranked[:i + 1]`
    costs. `gold` must not be empty. Session scores exist for k below `sessions` only, since at or
    above it any ranking finds everything; `ranked_sessions` is needed where `ranked` was cut.
    """
    if not gold:
        raise ValueError("a question without evidence has no retrieval score")
    scores = _at_ks(ranked, gold, TURN_KS, prefix="")
    scores.update(
        (f"recall@{budget}tok", recall_within(ranked, tokens, gold, budget))
        for budget in TOKEN_BUDGETS
    )
    by_session = sessions_of(ranked) if ranked_sessions is None else ranked_sessions
    gold_sessions = {session_of(dia_id) for dia_id in gold}
    ks = tuple(k for k in SESSION_KS if k < sessions)
    return scores | _at_ks(by_session, gold_sessions, ks, prefix="session_")


def sessions_of(ranked: Sequence[str]) -> list[int]:
    """Return the sessions of ranked turns, each at the place of its first turn."""
    return list(dict.fromkeys(session_of(dia_id) for dia_id in ranked))


def recall_at(ranked: Sequence[T], gold: Collection[T], k: int) -> float:
    """Return the share of `gold` within the first `k`."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold))


def reciprocal_rank(ranked: Sequence[T], gold: Collection[T]) -> float:
    """Return 1 / the rank of the first gold item, 0 where none was found."""
    return next((1 / rank for rank, item in enumerate(ranked, 1) if item in gold), 0.0)


def ndcg_at(ranked: Sequence[T], gold: Collection[T], k: int) -> float:
    """Return the normalized discounted cumulative gain with binary relevance."""
    gain = sum(1 / math.log2(rank + 1) for rank, item in enumerate(ranked[:k], 1) if item in gold)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))
    return gain / ideal


def recall_within(
    ranked: Sequence[str], tokens: Sequence[int], gold: Collection[str], budget: int
) -> float:
    """Return the share of `gold` that is shown before `budget` tokens are spent."""
    shown = {dia_id for dia_id, spent in zip(ranked, tokens, strict=True) if spent <= budget}
    return len(shown & set(gold)) / len(set(gold))


def _at_ks(
    ranked: Sequence[T], gold: Collection[T], ks: Sequence[int], *, prefix: str
) -> dict[str, float]:
    scores: dict[str, float] = {}
    for k in ks:
        recall = recall_at(ranked, gold, k)
        scores[f"{prefix}recall@{k}"] = recall
        scores[f"{prefix}any@{k}"] = float(recall > 0)
        scores[f"{prefix}all@{k}"] = float(recall == 1)
        scores[f"{prefix}ndcg@{k}"] = ndcg_at(ranked, gold, k)
    scores[f"{prefix}mrr"] = reciprocal_rank(ranked, gold)
    return scores
