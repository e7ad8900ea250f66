"""Score the sentences of the evidence by how well they fit a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

from fsagent.dates import When, find_dates
from fsagent.models.offline.evidence import Evidence, Line, speakers
from fsagent.models.offline.question import Question, weight
from fsagent.models.offline.weights import SENTENCE
from fsagent.models.offline.words import NUMBER_WORDS, content_stems, sentences, stem, words

_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|we|our|us|i'm|i've|i'd|i'll|we're|we've)\b", re.I)
_SECOND_PERSON = re.compile(r"\b(?:you|your|you're|you've|you'd|yours)\b", re.I)
_REACTION = re.compile(
    r"(?:thanks?|wow|congrats|congratulations|great|awesome|cool|nice|yeah|sounds|that's|hey|hi|oh|so"
    r"|sorry|good|glad|amazing|absolutely|definitely|sure|no worries)\b",
    re.I,
)
_PHOTO = re.compile(
    r"\b(?:photo|picture|image|pic|poster|sign|painting|drawing|show|shown|see|look)", re.I
)
_CUES: Mapping[str, re.Pattern[str]] = {
    "why": re.compile(r"\b(?:because|cause|since|so that|to help|reason|inspired|motivated|want(?:ed)?)\b", re.I),
    "where": re.compile(r"\b(?:in|at|to|from|near|by)\s+(?:the\s+)?[A-Z]|\b(?:here|there|place|home)\b"),
    "feel": re.compile(r"\b(?:feel|felt|feeling|was|were|so|am|i'm|it's)\b", re.I),
    "how often": re.compile(r"\b(?:every|once|twice|times|always|usually|daily|weekly|monthly|often)\b", re.I),
    "how long": re.compile(r"\b(?:\w+\s+(?:years?|months?|weeks?|days?|hours?)|since)\b", re.I),
}  # fmt: skip


_OF_PERSON = ("subject speaks", "subject of himself", "other person", "misfit", "spoken to")


@dataclass(frozen=True, slots=True)
class Scored:
    """One sentence of a line with its score; `coverage` is the share of the question it holds.

    `neutral` is the score with no regard to who speaks; `fits_subject` is False where somebody
    else than the person asked about speaks, and does not name that person.
    """

    line: Line
    sentence: str
    score: float
    neutral: float
    coverage: float
    features: Mapping[str, float]

    @property
    def asks(self) -> bool:
        """Tell whether the sentence is a question itself."""
        return self.features["question"] > 0

    @property
    def fits_subject(self) -> bool:
        return not self.features["other person"]


def score_sentences(question: Question, evidence: Evidence) -> list[Scored]:
    """Return all sentences of the evidence, best first; equal ones in the order shown."""
    reading = _Reading(question, evidence)
    scored = [one for line in evidence.lines for one in reading.score(line)]
    return sorted(scored, key=lambda one: -one.score)


class _Reading:
    """What the scoring of one question against one evidence shares between its lines."""

    def __init__(self, question: Question, evidence: Evidence) -> None:
        self.question, self.evidence = question, evidence
        self.subjects = question.subjects(speakers(evidence.lines))
        self.weights = term_weights(question, evidence, self.subjects)
        self.total = sum(self.weights.values()) or 1.0
        said = [line.said.date() for line in evidence.lines if line.said]
        self.asked_dates = question.dates(max(said)) if said else []

    def score(self, line: Line) -> Iterator[Scored]:
        parts = sentences(line.body)
        stems = [content_stems(part) for part in parts]
        whole = {term for own in stems for term in own}
        shared = self._line_features(line, whole)
        for place, (part, own) in enumerate(zip(parts, stems, strict=True)):
            found = shared | self._sentence_features(line, part, own, whole)
            earlier = set(stems[place - 1]) if place else set()
            found["sentence before"] = self._held(earlier - set(own))
            found["rest"] = self._held(whole - earlier - set(own))
            found |= {
                "first sentence": float(place == 0),
                "last sentence": float(place == len(parts) - 1),
            }
            score = sum(SENTENCE.get(name, 0.0) * value for name, value in found.items())
            of_person = sum(SENTENCE.get(name, 0.0) * found[name] for name in _OF_PERSON)
            coverage = (
                found["own"] + found["sentence before"] + found["rest"] + found["above"] * 0.5
            )
            yield Scored(line, part, score, score - of_person, coverage, found)

    def held(self, line: Line) -> float:
        """Return how well a line fits by its words, those of the line above, and its speaker."""
        own = set(content_stems(line.body))
        above = self.evidence.before(line)
        near = set(content_stems(above.body)) if above else set()
        speaks = 1.25 if line.speaker in self.subjects else 1.0
        return speaks * (self._held(own) + 0.4 * self._held(near - own))

    def _line_features(self, line: Line, whole: set[str]) -> dict[str, float]:
        above = [self.evidence.before(line, back) for back in (1, 2)]
        below = self.evidence.before(line, -1)
        near = {t for one in above if one for t in content_stems(one.body)}
        after = set(content_stems(below.body)) if below else set()
        rank = line.rank
        return {
            "above": self._held(near - whole),
            "below": self._held(after - near - whole),
            "after a question": float(bool(above[0] and "?" in above[0].body)),
            "above asks": self._asked_above(above[0]),
            "first hit": float(rank == 0),
            "rank": 1 / (1 + rank / 3) if rank is not None else 0.0,
            "window only": float(rank is None),
            "subject speaks": float(bool(self.subjects) and line.speaker in self.subjects),
            "right time": float(any(_covers(when, line) for when in self.asked_dates)),
            "wrong time": float(
                bool(self.asked_dates) and not any(_covers(w, line) for w in self.asked_dates)
            ),
        }

    def _sentence_features(
        self, line: Line, part: str, own: list[str], whole: set[str]
    ) -> dict[str, float]:
        held = set(own)
        pairs = set(pairwise(self.question.terms))
        first, second = bool(_FIRST_PERSON.search(part)), bool(_SECOND_PERSON.search(part))
        speaks = line.speaker in self.subjects
        named = any(name.split()[0] in part for name in self.subjects)
        other = not named and bool(self.subjects) and line.speaker is not None and not speaks
        caption = part.startswith("[image:")
        new = len(held - set(self.question.terms))
        cue = self._cue(part, line)
        return {
            "own": self._held(held),
            "pairs": min(2, sum(pair in pairs for pair in pairwise(own))) / 2,
            "subject of himself": float(bool(self.subjects) and speaks and first),
            "other person": float(other),
            "misfit": float(other and first and not second),
            "spoken to": float(other and second),
            "question": float(part.endswith("?")),
            "reaction": float(bool(_REACTION.match(part))),
            "caption": float(caption),
            "caption asked": float(caption and bool(_PHOTO.search(self.question.text))),
            "cue": cue if self.question.kind != "when" else 0.0,
            "cue when": cue if self.question.kind == "when" else 0.0,
            "new words": min(new, 8) / 8,
            "short": float(len(part) < 20),
        }

    def _asked_above(self, above: Line | None) -> float:
        """Return how much of the question stands in a question of the line above."""
        asks = [part for part in sentences(above.body) if part.endswith("?")] if above else []
        return max((self._held(set(content_stems(part))) for part in asks), default=0.0)

    def _held(self, terms: set[str]) -> float:
        return sum(value for term, value in self.weights.items() if term in terms) / self.total

    def _cue(self, sentence: str, line: Line) -> float:
        """Return 1 where the sentence holds what this kind of question asks for."""
        kind = self.question.kind
        if kind == "when":
            return float(bool(line.said and find_dates(sentence, line.said)))
        if kind in _CUES:
            return float(bool(_CUES[kind].search(sentence)))
        found = words(sentence)
        if kind == "how many":
            return float(any(w.isdigit() or w.lower() in NUMBER_WORDS for w in found))
        if kind in ("who", "name"):
            return float('"' in sentence or any(w[0].isupper() for w in found[1:] if w[0:2] != "I"))
        return 0.0


def ranked(question: Question, evidence: Evidence, *, keep: int = 20) -> Evidence:
    """Rank lines that came without a search by the question's words; keep the best and those near."""
    if not evidence.lines or evidence.hits():
        return evidence
    reading = _Reading(question, evidence)
    held = [reading.held(line) for line in evidence.lines]
    best = sorted(range(len(held)), key=lambda place: -held[place])[:keep]
    rank = {place: i for i, place in enumerate(best) if held[place] > 0}
    near = sorted({n for place in rank for n in range(place - 2, place + 4) if 0 <= n < len(held)})
    return Evidence(
        tuple(replace(evidence.lines[n], rank=rank.get(n)) for n in near), evidence.missing
    )


def term_weights(
    question: Question, evidence: Evidence, subjects: frozenset[str]
) -> dict[str, float]:
    """Return a weight for each question term: rare among the lines shown is heavy."""
    names = {stem(part) for name in subjects for part in words(name)}
    holds = Counter(term for line in evidence.lines for term in set(content_stems(line.body)))
    total = len(evidence.lines) or 1
    return {
        term: weight(term) * math.log(1 + total / (0.5 + holds[term]))
        for term in question.terms
        if term not in names
    }


def _covers(when: When, line: Line) -> bool:
    """Tell whether a line was said in the asked time, or speaks of it."""
    if line.said is None:
        return False
    day: date = line.said.date()
    if when.start <= day <= when.end:
        return True
    return any(
        other.start <= when.end and when.start <= other.end for other in find_dates(line.body, day)
    )
