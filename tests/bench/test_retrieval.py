"""Retrieval scores by hand."""

import math

import pytest

from fsagent.bench.metrics.retrieval import ndcg_at, recall_within, retrieval_scores

RANKED = ["D2:1", "D1:1", "D3:4", "D1:2"]
TOKENS = [100, 450, 900, 2500]


def test_scores_by_turn() -> None:
    scores = retrieval_scores(RANKED, TOKENS, ["D1:1", "D1:2", "D9:9"], sessions=20)
    assert scores["recall@1"] == 0
    assert scores["recall@5"] == pytest.approx(2 / 3)
    assert (scores["any@5"], scores["all@5"]) == (1, 0)
    assert scores["mrr"] == 1 / 2
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    assert scores["ndcg@5"] == pytest.approx(gain / (1 + 1 / math.log2(3) + 1 / 2))


def test_scores_by_session_rank_a_session_by_its_first_turn() -> None:
    scores = retrieval_scores(RANKED, TOKENS, ["D3:9", "D3:8"], sessions=20)
    assert (scores["session_mrr"], scores["session_recall@1"], scores["session_recall@5"]) == (
        1 / 3,
        0,
        1,
    )


def test_a_session_k_at_or_above_the_number_of_sessions_is_refused() -> None:
    scores = retrieval_scores(RANKED, TOKENS, ["D3:9"], sessions=5)
    assert "session_recall@1" in scores
    assert not {"session_recall@5", "session_recall@10"} & set(scores)


def test_recall_at_a_token_budget_counts_what_is_shown_within_it() -> None:
    gold = ["D1:1", "D1:2"]
    found = [recall_within(RANKED, TOKENS, gold, budget) for budget in (449, 450, 2499, 2500)]
    assert found == [0, 0.5, 0.5, 1]


def test_nothing_found_scores_nothing() -> None:
    scores = retrieval_scores([], [], ["D1:1"], sessions=20)
    assert set(scores.values()) == {0.0}


def test_ndcg_is_one_when_more_gold_than_k_fills_the_page() -> None:
    assert ndcg_at(["a", "b"], ["a", "b", "c"], 2) == 1


def test_a_question_without_evidence_has_no_score() -> None:
    with pytest.raises(ValueError, match="evidence"):
        retrieval_scores(RANKED, TOKENS, [], sessions=20)
