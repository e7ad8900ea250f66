"""Official F1: each category's rule by hand, and against an implementation written apart."""

import random
import re
import sys
from pathlib import Path

import pytest

from fsagent.bench.datasets import locomo
from fsagent.bench.metrics.official import official_f1, repair, repaired_f1
from fsagent.errors import ConfigError


@pytest.mark.parametrize(
    ("category", "prediction", "gold", "expected"),
    [
        # Plain: 2 of 3 tokens shared on both sides, "the" and "and" dropped, comma deleted.
        pytest.param(2, "7 May, 2022", "7 May 2023", 2 / 3, id="temporal-two-of-three"),
        pytest.param(4, "the cat and a dog", "cats, dogs", 1.0, id="articles-stems-commas"),
        # Bags, not sets: "dog dog" shares one "dog" with "dog": P 1/2, R 1.
        pytest.param(4, "dog dog", "dog", 2 / 3, id="multiset"),
        # The comma is deleted, not replaced: "a,b" is one token.
        pytest.param(4, "red blue", "red,blue", 0.0, id="comma-glues"),
        # Open-domain: only what stands before the first semicolon.
        pytest.param(
            3, "likely no", "Likely no; she said so; twice", 1.0, id="open-domain-semicolon"
        ),
        # Other categories keep the semicolon's rest: P 2/2, R 2/5.
        pytest.param(4, "likely no", "Likely no; he said so", 4 / 7, id="single-hop-semicolon"),
        # Multi-hop: parts (pottery: 1, camping: 0, painting: 1) averaged.
        pytest.param(
            1, "painting, pottery", "pottery, camping, painting", 2 / 3, id="multi-hop-parts"
        ),
        # One long part against two: "pottery painting" gives each 2*(1/2)/(1/2+1) = 2/3.
        pytest.param(1, "pottery painting", "pottery, painting", 2 / 3, id="multi-hop-no-commas"),
        pytest.param(5, "No information available.", None, 1.0, id="adversarial-refused"),
        pytest.param(5, "This is Not Mentioned here", None, 1.0, id="adversarial-not-mentioned"),
        pytest.param(5, "I don't know", None, 0.0, id="adversarial-other-words"),
        pytest.param(5, "No", "No", 0.0, id="adversarial-gold-ignored"),
        pytest.param(4, "", "cat", 0.0, id="empty-answer"),
        pytest.param(4, "the", "the", 0.0, id="nothing-left"),
    ],
)
def test_rules_by_hand(category: int, prediction: str, gold: str | None, expected: float) -> None:
    assert official_f1(prediction, gold, category) == pytest.approx(expected)


def reference_f1(prediction: str, gold: str, category: int) -> float:
    """The published rules once more, written from their description and sharing no code."""
    from nltk.stem.porter import PorterStemmer

    porter = PorterStemmer()

    def tokens(text: str) -> list[str]:
        kept = re.sub(r"[!-/:-@\[-`{-~]", "", text.replace(",", "").lower())
        words = re.split(r"\s+", re.sub(r"\b(?:and|the|an|a)\b", " ", kept).strip())
        return sorted(porter.stem(word) for word in words if word)

    def bag_f1(one: str, two: str) -> float:
        left, right = tokens(one), tokens(two)
        rest, same = list(right), 0
        for token in left:
            if token in rest:
                rest.remove(token)
                same += 1
        return 2 * same / (len(left) + len(right)) if same else 0.0

    if category == 5:
        low = prediction.lower()
        return 1.0 if "not mentioned" in low or "no information available" in low else 0.0
    if category == 1:
        best = [max(bag_f1(p, g) for p in prediction.split(",")) for g in gold.split(",")]
        return sum(best) / len(best)
    return bag_f1(prediction, gold.partition(";")[0] if category == 3 else gold)


def test_agrees_with_an_independent_implementation(locomo_file: Path) -> None:
    questions = locomo.load(locomo_file).questions
    golds = [q.gold or "Not mentioned" for q in questions]
    draw = random.Random(1)
    for question, gold in zip(questions, golds, strict=True):
        other = draw.choice(golds)
        words = (gold + " " + other).split()
        draw.shuffle(words)
        for prediction in (gold, other, " ".join(words), f"{other}, {gold}"):
            assert official_f1(prediction, gold, question.category) == pytest.approx(
                reference_f1(prediction, gold, question.category)
            )


@pytest.mark.parametrize(
    ("glued", "apart"),
    [
        ("14September, 2022", "14 September, 2022"),
        ("September2022", "September 2022"),
        ("apples,pears", "apples, pears"),
        ("in June.The next", "in June. The next"),
        ("her loveShe stayed", "her love She stayed"),
        ("1,000 km", "1,000 km"),
        ("the U.S. and 3.5 McCall", "the U.S. and 3.5 McCall"),
        ("2nd of May, 3pm", "2nd of May, 3pm"),
    ],
)
def test_repair_sets_glued_words_apart_and_changes_nothing_else(glued: str, apart: str) -> None:
    assert repair(glued) == apart


def test_repaired_f1_gives_the_glued_date_its_due() -> None:
    assert official_f1("14 September 2022", "14September, 2022", 2) == pytest.approx(2 / 5)
    assert repaired_f1("14 September 2022", "14September, 2022", 2) == 1.0


def test_a_missing_stemmer_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from fsagent.bench.metrics import official

    official._stemmer.cache_clear()
    monkeypatch.setitem(sys.modules, "nltk.stem", None)
    try:
        with pytest.raises(ConfigError, match=r"fsagent\[bench\]"):
            official_f1("unheard-of", "unheard-of", 4)
    finally:
        official._stemmer.cache_clear()
