"""Scores of an answer beside the official F1: EM, BLEU-1, ROUGE-L, words, refusals, traps."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from fsagent.bench.metrics.official import REFUSALS, normalized, token_f1

TRAP_F1 = 0.5
"""From this token F1 against the trap on, an adversarial answer has fallen for it."""

_REFUSING = re.compile(
    "|".join(
        (
            *map(re.escape, REFUSALS),
            r"\bno (relevant |such )?(information|mention|record|evidence)\b",
            r"\bnot (specified|stated|known|enough information|provided|available)\b",
            r"\b(do|does|did|is|are|was|were)(n['’]t| not) (mention|know|say|specif|state|record)",
            r"\b(can|could)(not|n['’]t| not) (be )?(determine|find|found|answer|tell)",
            r"\bi (have no|don['’]t have( any)?) (information|record|memory)\b",
            r"^\W*(unknown|none|n/?a|unanswerable)\W*$",
        )
    ),
    re.IGNORECASE,
)


def exact_match(prediction: str, gold: str) -> float:
    """Return 1 where the normalized tokens are the same in the same order."""
    return float(normalized(prediction) == normalized(gold))


def bleu1(prediction: str, gold: str) -> float:
    """Return BLEU with unigrams only: clipped precision times the brevity penalty."""
    ours, theirs = normalized(prediction), normalized(gold)
    if not ours or not theirs:
        return 0.0
    clipped = sum((Counter(ours) & Counter(theirs)).values())
    brevity = 1.0 if len(ours) >= len(theirs) else math.exp(1 - len(theirs) / len(ours))
    return brevity * clipped / len(ours)


def rouge_l(prediction: str, gold: str) -> float:
    """Return the F1 of the longest common subsequence (the true L, not a bag of words)."""
    ours, theirs = normalized(prediction), normalized(gold)
    common = _longest_common_subsequence(ours, theirs)
    return 0.0 if common == 0 else 2 * common / (len(ours) + len(theirs))


def answer_words(prediction: str) -> int:
    """Return how many words the answer has; long answers lift a judge's score and sink F1."""
    return len(prediction.split())


def is_refusal(prediction: str) -> bool:
    """Tell whether the answer says that it does not know. An empty answer is a refusal too."""
    return not prediction.strip() or _REFUSING.search(prediction) is not None


def falls_for(prediction: str, trap: str | None) -> bool:
    """Tell whether the answer gives the wrong answer that an adversarial question tempts to."""
    if not trap or is_refusal(prediction):
        return False
    return token_f1(prediction, trap) >= TRAP_F1


def _longest_common_subsequence(a: Sequence[str], b: Sequence[str]) -> int:
    row = [0] * (len(b) + 1)
    for word in a:
        diagonal = 0
        for j, other in enumerate(b, 1):
            above = row[j]
            row[j] = diagonal + 1 if word == other else max(above, row[j - 1])
            diagonal = above
    return row[-1]
