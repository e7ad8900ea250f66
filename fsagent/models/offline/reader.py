"""Score the sentences of the evidence by how well they fit a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

from fsagent.dates import find_dates
from fsagent.models.offline.evidence import Evidence, Line, speakers
from fsagent.models.offline.question import Question, weight
from fsagent.models.offline.words import NUMBER_WORDS, content_stems, sentences, stem, words

_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|we|our|us|i'm|i've|i'd|i'll|we're|we've)\b", re.I)
_REASON = re.compile(
    r"\b(?:because|cause|since|so that|to help|reason|inspired|motivated|want)\b", re.I
)
_PLACE = re.compile(r"\b(?:in|at|to|from|near|by)\s+(?:the\s+)?[A-Z]|\b(?:here|there|place|home)\b")
_DURATION = re.compile(
    r"\b(?:for|since|\d+|\w+)\s+(?:\d+|\w+)?\s*(?:years?|months?|weeks?|days?|hours?)\b|\bsince\b",
    re.I,
)
_FEELING = re.compile(r"\b(?:feel|felt|feeling|was|were|so|am|i'm|it's)\b", re.I)
_OFTEN = re.compile(
    r"\b(?:every|once|twice|times|always|usually|daily|weekly|monthly|often)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Scored:
    """One sentence of a line with its score; `coverage` is the share of the question it holds."""

    line: Line
    sentence: str
    score: float
    coverage: float
    fits_subject: bool


def score_sentences(question: Question, evidence: Evidence) -> list[Scored]:
    """Return all sentences of the evidence, best first; equal ones in the order shown."""
    subjects = question.subjects(speakers(evidence.lines))
    weights = term_weights(question, evidence, subjects)
    scored = [
        one
        for line in evidence.lines
        for one in _score_line(question, evidence, line, weights, subjects)
    ]
    return sorted(scored, key=lambda one: -one.score)


def term_weights(
    question: Question, evidence: Evidence, subjects: frozenset[str]
) -> dict[str, float]:
    """Return a weight for each question term: rare among the lines shown is heavy."""
    names = {stem(part) for name in subjects for part in words(name)}
    holds = Counter(term for line in evidence.lines for term in set(content_stems(line.body)))
    total = len(evidence.lines) or 1
    return {
        term: weight(term) * math.log(1 + total / (0.5 + holds[term])) * (0 if term in names else 1)
        for term in question.terms
    }


def _score_line(
    question: Question,
    evidence: Evidence,
    line: Line,
    weights: dict[str, float],
    subjects: frozenset[str],
) -> list[Scored]:
    around = _terms_before(evidence, line)
    parts = sentences(line.body)
    stems = [set(content_stems(part)) for part in parts]
    whole = set().union(*stems) if stems else set()
    total = sum(weights.values()) or 1.0
    scored = []
    for part, own in zip(parts, stems, strict=True):
        held = sum(
            w * (1.0 if t in own else 0.6 if t in whole else 0.35 if t in around else 0.0)
            for t, w in weights.items()
        )
        coverage = held / total
        fits = _fits_subject(part, line, subjects)
        score = (
            coverage
            + (0.25 / (1 + line.rank / 3) if line.rank is not None else 0.0)
            + (0.12 if subjects and line.speaker in subjects else 0.0)
            - (0.0 if fits else 0.3)
            - (0.35 if part.endswith("?") else 0.0)
            + 0.15 * _cue(question, part, line)
            - (0.1 if len(part) < 15 else 0.0)
        )
        scored.append(Scored(line, part, score, coverage, fits))
    return scored


def _terms_before(evidence: Evidence, line: Line) -> set[str]:
    """Return the terms of the two lines above: an answer follows its question."""
    above = [evidence.before(line, back) for back in (1, 2)]
    return {term for one in above if one for term in content_stems(one.body)}


def _fits_subject(sentence: str, line: Line, subjects: frozenset[str]) -> bool:
    """Tell whether a sentence can speak of a subject: said by it, or to or about it."""
    if not subjects or line.speaker is None or line.speaker in subjects:
        return True
    return not _FIRST_PERSON.search(sentence)


def _cue(question: Question, sentence: str, line: Line) -> float:
    """Return 1 where the sentence holds what this kind of question asks for."""
    kind = question.kind
    if kind == "when":
        return float(bool(line.said and find_dates(sentence, line.said)))
    if kind in ("how many", "how long", "how often"):
        numbers = any(w.isdigit() or w.lower() in NUMBER_WORDS for w in words(sentence))
        pattern = {"how long": _DURATION, "how often": _OFTEN}.get(kind)
        return float(bool(pattern.search(sentence)) if pattern else numbers)
    pattern = {"why": _REASON, "where": _PLACE, "feel": _FEELING}.get(kind)
    if pattern:
        return float(bool(pattern.search(sentence)))
    if kind in ("who", "name"):
        return float(
            any(w[0].isupper() for w in words(sentence)[1:] if w != "I") or '"' in sentence
        )
    return 0.0
