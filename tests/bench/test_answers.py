"""EM, BLEU-1, ROUGE-L, words, refusals and traps, by hand."""

import math

import pytest

from fsagent.bench.metrics.answers import (
    answer_words,
    bleu1,
    exact_match,
    falls_for,
    is_refusal,
    rouge_l,
)


def test_exact_match_ignores_case_articles_and_punctuation_but_not_order() -> None:
    assert exact_match("The red kite!", "red kite") == 1
    assert exact_match("kite red", "red kite") == 0
    assert exact_match("kites", "kite") == 0


def test_bleu1_clips_and_penalizes_short_answers() -> None:
    assert bleu1("red red red", "red kite flies") == pytest.approx(1 / 3)
    assert bleu1("red", "red kite flies") == pytest.approx(math.exp(1 - 3))
    assert bleu1("", "red") == 0


def test_rouge_l_follows_the_order() -> None:
    # LCS of (b a c d) and (a b c d) is 3: 2 * 3 / 8, where a bag of words would give 1.
    assert rouge_l("beta alpha gamma delta", "alpha beta gamma delta") == pytest.approx(0.75)
    assert rouge_l("x", "y") == 0


def test_answer_words() -> None:
    assert answer_words("  seven  May, 2023 ") == 3


@pytest.mark.parametrize(
    "text",
    [
        "No information available.",
        "It is not mentioned in the conversation",
        "I don't know.",
        "That cannot be determined from the lines.",
        "The conversation doesn't mention a cat.",
        "I have no information about that",
        "There is no mention of a cat",
        "Unknown",
        "",
    ],
)
def test_refusals_are_seen(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    ["7 May 2023", "No", "She knows nothing of boats", "Not a cat but a dog", "None of the boys"],
)
def test_answers_are_not_refusals(text: str) -> None:
    assert not is_refusal(text)


def test_a_trap_counts_only_when_it_is_answered() -> None:
    assert falls_for("The accordion", "accordion")
    assert not falls_for("the fiddle", "accordion")
    assert not falls_for("Not mentioned: the accordion", "accordion")
    assert not falls_for("the accordion", None)
