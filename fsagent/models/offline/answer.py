"""Answer a question from evidence: choose the lines, shorten them to a phrase, cite them."""

from __future__ import annotations

from dataclasses import dataclass

from fsagent.dates import find_dates, say_day
from fsagent.models.offline.evidence import Evidence
from fsagent.models.offline.question import Question
from fsagent.models.offline.reader import Scored, score_sentences

REFUSAL = "No information available"
# Below this share of the question's words, weighted by rarity, nothing is an answer.
MIN_COVERAGE = 0.3


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with the citations it rests on; `found` is False for a refusal."""

    text: str
    citations: tuple[str, ...] = ()
    found: bool = True

    def __str__(self) -> str:
        return " ".join([self.text, *self.citations])


def answer(question: Question, evidence: Evidence) -> Reply:
    """Return the best answer that the evidence holds, or a refusal."""
    scored = score_sentences(question, evidence)
    if not scored or scored[0].coverage < MIN_COVERAGE or not scored[0].fits_subject:
        return Reply(REFUSAL, found=False)
    best = scored[0]
    text = _when(best) if question.kind == "when" else best.sentence.rstrip(".!")
    return Reply(text, (best.line.citation,) if best.line.citation else ())


def _when(best: Scored) -> str:
    """Return the date that the sentence or its line names, else the day it was said."""
    if best.line.said is None:
        return best.sentence.rstrip(".!")
    for text in (best.sentence, best.line.body):
        if found := find_dates(text, best.line.said):
            return found[0].label
    return say_day(best.line.said.date())
