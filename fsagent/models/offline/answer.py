"""Answer a question from evidence: choose the lines, shorten them to a phrase, cite them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fsagent.dates import find_dates, say_day
from fsagent.models.offline.evidence import Evidence, Line
from fsagent.models.offline.phrase import Span, names_somebody
from fsagent.models.offline.question import Question, negated
from fsagent.models.offline.reader import Scored, score_sentences
from fsagent.models.offline.spans import best_spans
from fsagent.models.offline.words import NUMBER_WORDS, content_stems, is_content, words

REFUSAL = "No information available"
# Below this share of the question's words, weighted by rarity, nothing is an answer.
MIN_COVERAGE = 0.1
# How much better the words of another person may fit than all that the person asked about says.
MAX_MISFIT = 0.75
# A fact of core that holds this share of the question, and about as much as any line, is preferred.
CORE_COVERAGE, CORE_SLACK = 0.5, 0.1
POOL = 10  # sentences in which a phrase is sought
FEW = 4  # sentences in which somebody is sought
LIST_GAP, LIST_LENGTH = 6.0, 4  # a further item of a list scores at most so much below the first
_DURATION = re.compile(
    r"\b(?:(?:about|around|over|almost|nearly) )?(?:\d+|an?|(?:a )?(?:few|couple of)|several|"
    + "|".join(sorted(NUMBER_WORDS))
    + r")[ -](?:more )?(?:year|month|week|day|hour|minute)s?(?: (?:and a half|ago|old))?\b"
    r"|\bsince (?:I was )?(?:\d{4}|\w+)\b",
    re.IGNORECASE,
)

_CALLED = re.compile(
    r"\b(?:called|named|names? (?:is|are|was)|call (?:him|her|it|them)|titled|'s name is)\s+"
    r"(?:the\s+)?[\"“'‘]?((?:[A-Z][\w'’-]*)(?:(?:,? and |, | of | the | )[A-Z][\w'’-]*)*)"
)


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
    scored = [one for one in score_sentences(question, evidence) if not one.asks]
    if not scored or scored[0].coverage < MIN_COVERAGE or _wrong_person(scored):
        return Reply(REFUSAL, found=False)
    scored = _of_core(scored) or scored
    special = _SPECIAL.get(question.kind)
    return (special and special(question, scored)) or _phrases(question, scored)


def _of_core(scored: Sequence[Scored]) -> list[Scored]:
    """Return the facts of core that hold as much of the question as anything else does."""
    most = max(one.coverage for one in scored)
    enough = max(CORE_COVERAGE, most - CORE_SLACK)
    return [one for one in scored if one.line.is_core and one.coverage >= enough]


def _wrong_person(scored: Sequence[Scored]) -> bool:
    """Tell whether the evidence is what somebody else says."""
    fitting = max((one.neutral for one in scored if one.fits_subject), default=None)
    misfit = max((one.neutral for one in scored if not one.fits_subject), default=None)
    return misfit is not None and (fitting is None or misfit - fitting > MAX_MISFIT)


def _phrases(question: Question, scored: Sequence[Scored]) -> Reply:
    """Return the best phrase; of a question for several things, the best of several sentences."""
    ranked = best_spans(question, scored[:POOL])
    if not ranked:
        return _reply(scored[0].sentence.rstrip(".! "), [scored[0].line])
    chosen: list[Span] = [ranked[0][1]]
    for score, span in ranked[1:] if question.kind == "list" else []:
        if len(chosen) == LIST_LENGTH or score < ranked[0][0] - LIST_GAP:
            break
        if not any(span.place == other.place or _alike(span, other) for other in chosen):
            chosen.append(span)
    return _reply(", ".join(span.text for span in chosen), [span.scored.line for span in chosen])


def _alike(one: Span, other: Span) -> bool:
    first, second = Counter(content_stems(one.text)), Counter(content_stems(other.text))
    both = (first & second).total()
    return 2 * both > 0.3 * (first.total() + second.total())


def _reply(text: str, lines: Sequence[Line]) -> Reply:
    cited = dict.fromkeys(line.citation for line in lines if line.citation)
    # "My" would mean the one who answers.
    text = re.sub(r"^(?:my|our)\s+", "", text.strip(" ,;:"), flags=re.IGNORECASE)
    return Reply(text, tuple(cited))


def _when(question: Question, scored: Sequence[Scored]) -> Reply | None:
    """Return the date that the best sentence or its line names, else the day it was said."""
    best = scored[0]
    if best.line.said is None:
        return None
    for text in (best.sentence, best.line.body):
        if found := find_dates(text, best.line.said):
            return _reply(found[0].label, [best.line])
    return _reply(say_day(best.line.said.date()), [best.line])


def _how_long(question: Question, scored: Sequence[Scored]) -> Reply | None:
    for one in scored[:POOL]:
        if match := _DURATION.search(one.sentence):
            return _reply(match[0], [one.line])
    return None


def _how_many(question: Question, scored: Sequence[Scored]) -> Reply | None:
    """Return the number that stands before what is counted."""
    for one in scored[:POOL]:
        found = words(one.sentence)
        for place, word in enumerate(found):
            near = content_stems(" ".join(found[place + 1 : place + 4]))
            if _is_number(word) and (not question.focus or set(near) & set(question.focus)):
                much = question.text.lower().startswith("how much")
                return _reply(" ".join(found[place : place + 1 + much]), [one.line])
    return None


def _who(question: Question, scored: Sequence[Scored]) -> Reply | None:
    """Return the best phrase that is somebody."""
    spans = (span for _, span in best_spans(question, scored[:FEW]))
    known = {one.line.speaker for one in scored if one.line.speaker} | set(question.names)
    best = next((span for span in spans if names_somebody(question, span, known)), None)
    return _reply(best.text, [best.scored.line]) if best else None


def _is_number(word: str) -> bool:
    return word[0].isdigit() or word.lower().split("-")[0] in NUMBER_WORDS


def _name(question: Question, scored: Sequence[Scored]) -> Reply | None:
    """Return what a sentence says that something is called."""
    for one in scored[:POOL]:
        if one.features["own"] > 0 and (match := _CALLED.search(one.sentence)):
            return _reply(match[1], [one.line])
    return None


def _yes_or_no(question: Question, scored: Sequence[Scored]) -> Reply:
    best = scored[0]
    no = negated(best.sentence) != negated(question.text)
    likely = "Likely " if question.kind == "would" else ""
    return _reply((likely + ("no" if no else "yes")).capitalize(), [best.line])


def _choice(question: Question, scored: Sequence[Scored]) -> Reply | None:
    """Return which of two options the evidence speaks of more."""
    match = re.search(r"([\w' -]+?),? or ((?:\w|[' -])+)\??$", question.text)
    if match is None:
        return None
    right = match[2].strip()
    length = max(1, len(right.split()))
    options = (" ".join(match[1].split()[-length:]), right)
    points = [0.0, 0.0]
    for place, one in enumerate(scored[: 2 * POOL]):
        held = set(content_stems(one.sentence))
        for which, option in enumerate(options):
            asked = set(content_stems(option)) - set(content_stems(options[1 - which]))
            points[which] += len(held & asked) / (1 + place)
    best = options[0] if points[0] >= points[1] else options[1]
    said = [w for w in best.split() if is_content(w)] or best.split()
    return _reply(" ".join(said), [scored[0].line])


_SPECIAL: dict[str, Callable[[Question, Sequence[Scored]], Reply | None]] = {
    "when": _when,
    "how long": _how_long,
    "how many": _how_many,
    "yes/no": _yes_or_no,
    "name": _name,
    "who": _who,
    "would": _yes_or_no,
    "choice": _choice,
}
