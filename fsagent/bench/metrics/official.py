"""LoCoMo's official F1, as its published evaluation computes it, and the repaired F1 beside it.

Source: Maharana et al. (2024), `task_eval/evaluation.py` of snap-research/locomo, rebuilt here
from its rules: delete commas, lower-case, strip punctuation, drop a/an/the/and, squeeze spaces,
stem with NLTK's own Porter variant, F1 over bags of tokens.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from functools import cache, lru_cache
from typing import Protocol

from fsagent.errors import ConfigError

REFUSALS = ("no information available", "not mentioned")
"""What the official scorer takes for a refusal in category 5."""

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the|and)\b")
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_REPAIRS = (
    # "14September, 2022": the day glued to the month.
    (re.compile(rf"(\d)(?=(?:{_MONTHS})\b)", re.IGNORECASE), r"\1 "),
    # "September2022": the month glued to the year.
    (re.compile(rf"\b((?:{_MONTHS}))(?=\d)", re.IGNORECASE), r"\1 "),
    # "apples,pears": the official rule deletes the comma and makes one word of two.
    (re.compile(r"(?<=[^\W\d]),(?=[^\W\d])"), ", "),
    # "June.The", "loveShe": a sentence or a capital glued to the word before. Two letters each
    # side, so that "McCall" and "U.S." stay whole.
    (re.compile(r"(?<=[a-z]{2})\.(?=[A-Za-z]{2})"), ". "),
    (re.compile(r"(?<=[a-z]{3})(?=[A-Z][a-z]{2})"), " "),
)


class _Stemmer(Protocol):
    def stem(self, word: str, /) -> str: ...


def official_f1(prediction: str, gold: str | None, category: int) -> float:
    """Return the official score of one answer, 0 to 1, by the rule of its category."""
    if category == 5:
        return float(any(phrase in prediction.lower() for phrase in REFUSALS))
    if gold is None:
        return 0.0
    if category == 1:
        return _multi_hop_f1(prediction, gold)
    if category == 3:
        gold = gold.split(";")[0].strip()
    return token_f1(prediction, gold)


def repaired_f1(prediction: str, gold: str | None, category: int) -> float:
    """Return `official_f1` after the joins that glue words in gold and answer are undone."""
    return official_f1(repair(prediction), None if gold is None else repair(gold), category)


def repair(text: str) -> str:
    """Return `text` with glued words set apart; nothing else changes."""
    for pattern, replacement in _REPAIRS:
        text = pattern.sub(replacement, text)
    return text


def token_f1(prediction: str, gold: str) -> float:
    """Return the F1 of the two bags of stemmed tokens."""
    ours, theirs = stemmed(prediction), stemmed(gold)
    common = sum((Counter(ours) & Counter(theirs)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(ours), common / len(theirs)
    return 2 * precision * recall / (precision + recall)


def normalized(text: str) -> list[str]:
    """Return the official tokens of `text`, not yet stemmed."""
    bare = text.replace(",", "").lower().translate(_PUNCTUATION)
    return _ARTICLES.sub(" ", bare).split()


def stemmed(text: str) -> list[str]:
    """Return the official tokens of `text`, stemmed."""
    return [_stem(word) for word in normalized(text)]


def _multi_hop_f1(prediction: str, gold: str) -> float:
    given = [part.strip() for part in prediction.split(",")]
    wanted = [part.strip() for part in gold.split(",")]
    return sum(max(token_f1(part, target) for part in given) for target in wanted) / len(wanted)


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return _stemmer().stem(word)


@cache
def _stemmer() -> _Stemmer:
    try:
        from nltk.stem import PorterStemmer
    except ImportError as err:
        raise ConfigError(
            "official F1 needs NLTK's Porter stemmer, which is not installed: "
            "pip install 'fsagent[bench]'"
        ) from err
    stemmer: _Stemmer = PorterStemmer()
    return stemmer
